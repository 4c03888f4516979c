// The engine: from a parsed kernel to an Executable, as a list of passes.
#include "jit/jit.hpp"

#include <llvm-c/Core.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "base/environment.hpp"
#include "jit/code_cache.hpp"
#include "jit/compile.hpp"
#include "jit/pipeline.hpp"
#include "machine/background.hpp"
#include "machine/listener.hpp"
#include "machine/memory_digest.hpp"
#include "rt/math_table.hpp"
#include "rt/trial.hpp"

namespace ordito::jit {
namespace {

using BlockFunction = uint32_t (*)(const machine::BlockFrame*, uint32_t blocks);

/// What one copy of a kernel's code asks for.
struct Needs {
  size_t scratch, local, streamed;
  CounterTerms counters;
  bool runsRanges;
  Needs(const CompiledObject& k, size_t threads)
      : scratch(k.scratchBytes),
        local(k.localBytes * threads),
        streamed(k.nonTemporalBytes),
        counters(k.counters),
        runsRanges(k.runsRanges) {}
};

/// A kernel's code, whatever runs it.
class Kernel : public machine::Executable {
 public:
  explicit Kernel(const Needs& needs) : needs_(needs) {}
  bool canSuspend() const override { return true; }
  std::optional<Digest> suspendedState(const machine::BlockFrame& frame) const override {
    Digest state;
    for (const auto [memory, bytes] : {std::pair<const std::byte*, uint64_t>{frame.scratch, needs_.scratch},
                                       {frame.local, needs_.local},
                                       {frame.shared, frame.totalSharedBytes}})
      machine::addMemory(state, reinterpret_cast<uint64_t>(memory), bytes);
    return state;
  }
  size_t scratchBytes() const override { return needs_.scratch; }
  size_t localBytes() const override { return needs_.local; }
  size_t nonTemporalBytes() const override { return needs_.streamed; }
  size_t counterWords() const override { return needs_.counters.words; }
  void addCounters(const uint64_t* words, machine::SiteCounters& sites) const override {
    needs_.counters.addTo(words, sites);
  }

 private:
  const Needs needs_;
};

class CompiledKernel : public Kernel {
 public:
  /// `heard`: the kernel's number in its module, where listeners hear of its blocks.
  CompiledKernel(BlockFunction f, const Needs& needs, std::optional<size_t> heard)
      : Kernel(needs), function_(f), heard_(heard), runsRanges_(needs.runsRanges) {}
  machine::BlockStatus runBlock(const machine::BlockFrame& frame) const override {
    using Kind = machine::BlockEvent::Kind;
    if (heard_ && frame.resumes == 0) tell(Kind::Begin, frame);
    const auto status = static_cast<machine::BlockStatus>(function_(&frame, 1));
    if (heard_ && status == machine::BlockStatus::Ended) tell(Kind::End, frame);
    return status;
  }

  machine::BlockStatus runBlocks(machine::BlockFrame& frame, uint32_t count) const override {
    if (!runsRanges_) return Kernel::runBlocks(frame, count);
    return static_cast<machine::BlockStatus>(function_(&frame, count));
  }

 private:
  void tell(machine::BlockEvent::Kind kind, const machine::BlockFrame& frame) const {
    const machine::BlockEvent event{kind, frame, frame.functions[*heard_]};
    if (frame.trial)
      static_cast<rt::Trial*>(frame.trial)->block(event);
    else
      machine::raise(event);
  }
  const BlockFunction function_;
  const std::optional<size_t> heard_;
  const bool runsRanges_;
};

/// Baseline code, until there is optimised code.
class TieringKernel final : public CompiledKernel {
 public:
  using CompiledKernel::CompiledKernel;
  /// Once.
  void tierUp(std::unique_ptr<const CompiledKernel> optimised) {
    optimised_ = std::move(optimised);
    published_.store(optimised_.get(), std::memory_order_release);
    isFinal_ = true;
  }
  void stay() { isFinal_ = true; }
  /// There is optimised code, or there will never be any.
  bool isFinal() const { return isFinal_; }
  const Executable& latest() const override {
    const Executable* optimised = published_.load(std::memory_order_acquire);
    return optimised ? *optimised : *this;
  }

 private:
  std::unique_ptr<const CompiledKernel> optimised_;
  std::atomic<const Executable*> published_{nullptr};
  std::atomic<bool> isFinal_{false};
};

constexpr size_t kSurelyLarge = 2000;  // nobody has to emit its optimised code to see that it is a large kernel

/// A kernel to compile, and what its code is called.
struct Request {
  const ptx::Module* module;
  std::weak_ptr<const ptx::Module> owner;
  const ptx::Function* kernel;
  machine::Specialisation specialisation;
  Digest key;
  bool caches;  // the disk keeps its code

  size_t threads() const { return threadsOf(specialisation.block); }
  std::optional<size_t> heard() const {
    if (!specialisation.accesses || !specialisation.lines.empty()) return std::nullopt;
    return static_cast<size_t>(kernel - module->functions.data());
  }
  Digest keyFor(Effort effort) const { return effort == Effort::Optimised ? key : Digest(key).add("baseline"); }
  std::string symbolFor(Effort effort) const {
    return (effort == Effort::Optimised ? "ordito_" : "ordito_baseline_") + key.hex();
  }
};

/// A kernel's code in this process.
struct Linked {
  BlockFunction function;
  Needs needs;
};

/// All that turns a kernel into code; jobs in the background keep it alive.
class CodeMaker {
 public:
  CodeMaker(Target target, CodeCache cache, const Options& options)
      : target_(std::move(target)), cache_(std::move(cache)), options_(options) {}
  const Target& target() const { return target_; }
  const CodeCache& cache() const { return cache_; }

  Expected<Analysed> analyse(const Request& r) const {
    const machine::Haltable guard(kLlvmCode);
    return jit::analyse(*r.module, *r.kernel, r.specialisation, options_.dumpIr);
  }

  Expected<Emission> emit(const Request& r, const Analysed& kernel, Effort effort) const {
    const machine::Haltable guard(kLlvmCode);
    return jit::emit(kernel, {options_.coarsening, options_.byThread}, target_, r.symbolFor(effort), effort);
  }

  Expected<Linked> make(const Request& r, Emission kernel, Effort effort) {
    delay();
    auto object = generate(kernel, effort);
    if (!object) return tl::unexpected(object.error());
    CompiledObject code{std::move(*object),        kernel.emitted.scratchBytes,
                        kernel.emitted.localBytes, kernel.emitted.nonTemporalBytes,
                        kernel.emitted.counters,   kernel.emitted.runsRanges};
    if (r.caches) cache_.add(r.keyFor(effort), code);
    return link(r, std::move(code), effort);
  }

  Expected<Linked> make(const Request& r, const Analysed& kernel, Effort effort) {
    auto emission = emit(r, kernel, effort);
    if (!emission) return tl::unexpected(emission.error());
    return make(r, std::move(*emission), effort);
  }

  Expected<Linked> makeAnew(const Request& r, Effort effort) {
    auto analysed = analyse(r);
    if (!analysed) return tl::unexpected(analysed.error());
    return make(r, *analysed, effort);
  }

  /// What the disk has kept; nothing if it has not.
  std::optional<Expected<Linked>> find(const Request& r, Effort effort) {
    if (!r.caches) return std::nullopt;
    auto kept = cache_.find(r.keyFor(effort));
    if (!kept) return std::nullopt;
    return link(r, std::move(*kept), effort);
  }

 private:
  // Any function of LLVM's.
  static inline const void* const kLlvmCode = reinterpret_cast<const void*>(&LLVMContextCreate);

  Expected<std::string> generate(Emission& kernel, Effort effort) const {
    const machine::Haltable guard(kLlvmCode);
    return compileToObject(
        kernel, target_,
        {.effort = effort, .dump = options_.dumpIr, .times = options_.times, .mostPhis = options_.mostPhis});
  }

  Expected<Linked> link(const Request& r, CompiledObject code, Effort effort) {
    const Needs needs(code, r.threads());
    auto address = store_.link(std::move(code.object), r.symbolFor(effort));
    if (!address) return tl::unexpected(address.error());
    return Linked{reinterpret_cast<BlockFunction>(*address), needs};
  }

  void delay() const {
    const auto end = std::chrono::steady_clock::now() + options_.delay;
    while (std::chrono::steady_clock::now() < end && !machine::processEnds())
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  const Target target_;
  const CodeCache cache_;
  const Options options_;
  CodeStore store_;
};

class Jit final : public machine::Engine {
  using Code = std::shared_ptr<const machine::Executable>;

 public:
  explicit Jit(Options options) : options_(std::move(options)) {
    const auto folder = !options_.caches               ? std::filesystem::path()
                        : options_.cacheFolder.empty() ? CodeCache::defaultFolder()
                                                       : options_.cacheFolder;
    maker_ = std::make_shared<CodeMaker>(Target::host(options_.cpu), CodeCache(folder), options_);
    base_ = buildDigest()
                .add(maker_->target().cpu)
                .add(maker_->target().features)
                .add(static_cast<unsigned>(options_.byThread));
    for (const unsigned factor : options_.coarsening) base_.add(factor);
    if (options_.caches) maker_->cache().trim();
  }

  Expected<Code> compile(const machine::ModulePtr& module, const ptx::Function& kernel,
                         const machine::Specialisation& specialisation) override {
    const bool caches = options_.caches && !options_.dumpIr && !module->source.digest.isEmpty();
    const Digest key = caches ? keyOf(*module, kernel, specialisation) : Digest().add(++count_);
    const Request request{module.get(),   module, &kernel,
                          specialisation, key,    caches && options_.baseline != BaselineCode::Only};
    if (auto known = begin(request)) return known;
    auto code = produce(request);
    end(key, code && caches ? *code : nullptr);
    return code;
  }

 private:
  Digest keyOf(const ptx::Module& module, const ptx::Function& kernel, const machine::Specialisation& s) const {
    Digest key(base_);
    for (const uint32_t line : s.lines) key.add(line);
    return key.add(module.source.digest)
        .add(kernel.name)
        .add(s.block.x)
        .add(s.block.y)
        .add(s.block.z)
        .add(s.counters)
        .add(s.accesses)
        .add(s.trial);
  }

  /// The kernel's code if there is some already; else it is this thread's to make, and others wait for it.
  Code begin(const Request& request) {
    const std::string key = request.key.hex();
    std::unique_lock lock(mutex_);
    made_.wait(lock, [&] { return !inWork_.contains(key); });
    if (auto known = executables_.find(key); known != executables_.end()) {
      // The module that has asked for better code may be unloaded before that is made.
      if (auto tiering = tiering_.find(key); tiering != tiering_.end() && !tiering->second->isFinal())
        improve(request, nullptr, tiering->second);
      return known->second;
    }
    inWork_.insert(key);
    return nullptr;
  }

  void end(const Digest& key, Code code) {
    std::lock_guard lock(mutex_);
    inWork_.erase(key.hex());
    if (code) executables_[key.hex()] = std::move(code);
    made_.notify_all();
  }

  static Expected<Code> executable(const Request& request, const Expected<Linked>& code) {
    if (!code) return tl::unexpected(code.error());
    return std::make_shared<const CompiledKernel>(code->function, code->needs, request.heard());
  }

  Expected<Code> produce(const Request& request) {
    if (auto kept = maker_->find(request, Effort::Optimised)) return executable(request, *kept);
    if (options_.baseline == BaselineCode::First)
      if (auto kept = maker_->find(request, Effort::Baseline); kept && *kept)
        return tieringUp(request, **kept, nullptr);
    auto analysed = maker_->analyse(request);
    if (!analysed) return tl::unexpected(analysed.error());
    if (options_.baseline == BaselineCode::Only)
      return executable(request, maker_->make(request, *analysed, Effort::Baseline));
    return options_.baseline == BaselineCode::First
               ? makeInSteps(request, std::move(*analysed))
               : makeOptimised(request, *analysed, maker_->emit(request, *analysed, Effort::Optimised));
  }

  /// Optimised code, or baseline code where LLVM gives up on optimised code.
  Expected<Code> makeOptimised(const Request& request, const Analysed& kernel, Expected<Emission> optimised) {
    if (!optimised) return tl::unexpected(optimised.error());
    auto code = maker_->make(request, std::move(*optimised), Effort::Optimised);
    if (!code && code.error().code == kNotSupported) code = maker_->make(request, kernel, Effort::Baseline);
    return executable(request, code);
  }

  /// Of a large kernel, baseline code now and optimised code later.
  Expected<Code> makeInSteps(const Request& request, Analysed kernel) {
    if (instructionCount(kernel.function) < kSurelyLarge) {
      auto optimised = maker_->emit(request, kernel, Effort::Optimised);
      if (!optimised || optimised->code->getInstructionCount() < options_.largeKernel)
        return makeOptimised(request, kernel, std::move(optimised));
    }
    auto baseline = maker_->make(request, kernel, Effort::Baseline);
    if (baseline) return tieringUp(request, *baseline, std::make_shared<const Analysed>(std::move(kernel)));
    if (baseline.error().code != kNotSupported) return tl::unexpected(baseline.error());
    return executable(request, maker_->make(request, kernel, Effort::Optimised));  // it has smaller frames
  }

  /// Baseline code that gives way to optimised code, which a thread makes from now on. The disk keeps the optimised
  /// code only.
  Code tieringUp(const Request& request, const Linked& baseline, const std::shared_ptr<const Analysed>& kernel) {
    auto code = std::make_shared<TieringKernel>(baseline.function, baseline.needs, request.heard());
    improve(request, kernel, code);
    if (request.caches) {
      std::lock_guard lock(mutex_);
      tiering_[request.key.hex()] = code;
    }
    return code;
  }

  /// Nobody waits for the better code of a module that has been unloaded.
  void improve(const Request& request, const std::shared_ptr<const Analysed>& kernel,
               const std::shared_ptr<TieringKernel>& code) {
    machine::inBackground(
        [maker = maker_, request, kernel, code] {
          if (code->isFinal()) return;
          auto better =
              kernel ? maker->make(request, *kernel, Effort::Optimised) : maker->makeAnew(request, Effort::Optimised);
          if (!better) return code->stay();
          code->tierUp(std::make_unique<const CompiledKernel>(better->function, better->needs, request.heard()));
          if (request.caches) maker->cache().remove(request.keyFor(Effort::Baseline));
        },
        machine::Urgency::Improvement, request.owner);
  }

  Options options_;
  std::shared_ptr<CodeMaker> maker_;
  Digest base_;  // what the code depends on besides the kernel
  std::mutex mutex_;
  std::condition_variable made_;
  std::set<std::string> inWork_;                                   // by the key's digits
  std::map<std::string, Code> executables_;                        // likewise
  std::map<std::string, std::shared_ptr<TieringKernel>> tiering_;  // those that began with baseline code
  std::atomic<uint64_t> count_{0};
};

}  // namespace

Options optionsFromEnvironment(Options options) {
  const Environment e = readEnvironment();
  if (!e.cpu.empty()) options.cpu = e.cpu;
  if (e.coarsening) options.coarsening = {e.coarsening};
  if (e.byThread == "cheaper") options.byThread = simt::ByThread::Cheaper;
  if (e.byThread == "never") options.byThread = simt::ByThread::Never;
  if (e.byThread == "possible") options.byThread = simt::ByThread::Possible;
  if (!e.cache.empty()) options.cacheFolder = e.cache;
  options.caches &= e.cache != "off";
  options.delay += std::chrono::milliseconds(e.compileDelay);
  options.dumpIr |= e.dump == "ir";
  options.times |= e.dump == "times";
  if (e.baseline == "never") options.baseline = BaselineCode::Never;
  if (e.baseline == "first" || e.baseline == "interp") options.baseline = BaselineCode::First;
  if (e.baseline == "only") options.baseline = BaselineCode::Only;
  return options;
}

std::unique_ptr<machine::Engine> makeJit(Options options) { return std::make_unique<Jit>(std::move(options)); }

bool approximates(const std::string& name) {
  // The root of an f32 is rounded before it is divided by; the library divides in double.
  return rt::findMath(name) || name == "__nv_rsqrtf" || name == "__nv_frsqrt_rn";
}

}  // namespace ordito::jit
