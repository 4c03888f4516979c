// The engine: from a parsed kernel to an Executable, as a list of passes.
#include "jit/jit.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <set>

#include "base/cache_folder.hpp"
#include "base/environment.hpp"
#include "jit/code_maker.hpp"
#include "jit/racing_kernel.hpp"
#include "machine/background.hpp"
#include "rt/math_table.hpp"

namespace ordito::jit {
namespace {

constexpr size_t kSurelyLarge = 2000;  // nobody has to emit its optimised code to see that it is a large kernel

using Code = std::shared_ptr<const machine::Executable>;
using Maker = std::shared_ptr<CodeMaker>;

/// Code that another way of doing the same will race against, if it runs for long. That is made in the background.
Code racing(const Maker& maker, const Request& request, const Linked& code) {
  auto kernel = std::make_shared<RacingKernel>(code.function, code.needs,
                                               RacingKernel::Rules{.patience = maker->options().racePatience});
  auto make = [maker, request, weak = std::weak_ptr(kernel)] {
    auto contender = maker->makeAnew(request, Copy::Contender);
    if (const auto kernel = weak.lock(); kernel && contender) kernel->enter(contender->function, contender->needs);
  };
  auto settle = [maker, request](Race::Variant winner, double nanoseconds) {
    const Copy copy = winner == Race::Variant::Contender ? Copy::Contender : Copy::Optimised;
    machine::inBackground([=] { maker->settle(request, copy, nanoseconds); }, machine::Urgency::Improvement,
                          request.owner);
  };
  kernel->set({[=] { machine::inBackground(make, machine::Urgency::Improvement, request.owner); }, settle});
  return kernel;
}

Code executableOf(const Maker& maker, const Request& request, const Linked& code) {
  if (maker->options().races && code.choice == Choice::Close) return racing(maker, request, code);
  return std::make_shared<const CompiledKernel>(code.function, code.needs, request.heard());
}

class Jit final : public machine::Engine {
 public:
  explicit Jit(Options options) : options_(std::move(options)) {
    const auto folder = !options_.caches               ? std::filesystem::path()
                        : options_.cacheFolder.empty() ? defaultCacheFolder()
                                                       : options_.cacheFolder;
    maker_ = std::make_shared<CodeMaker>(Target::host(options_.cpu), CodeCache(folder), options_);
    base_ = buildDigest()
                .add(maker_->target().cpu)
                .add(maker_->target().features)
                .add(static_cast<unsigned>(options_.byThread))
                .add(options_.races);
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

  Expected<Code> executable(const Request& request, const Expected<Linked>& code) const {
    if (!code) return tl::unexpected(code.error());
    return executableOf(maker_, request, *code);
  }

  Expected<Code> produce(const Request& request) {
    if (auto kept = maker_->find(request, Copy::Optimised)) return executable(request, *kept);
    if (options_.baseline == BaselineCode::First)
      if (auto kept = maker_->find(request, Copy::Baseline); kept && *kept) return tieringUp(request, **kept, nullptr);
    auto analysed = maker_->analyse(request);
    if (!analysed) return tl::unexpected(analysed.error());
    if (options_.baseline == BaselineCode::Only)
      return executable(request, maker_->make(request, *analysed, Copy::Baseline));
    return options_.baseline == BaselineCode::First
               ? makeInSteps(request, std::move(*analysed))
               : makeOptimised(request, *analysed, maker_->emit(request, *analysed, Copy::Optimised));
  }

  /// Optimised code, or baseline code where LLVM gives up on optimised code.
  Expected<Code> makeOptimised(const Request& request, const Analysed& kernel, Expected<Emission> optimised) {
    if (!optimised) return tl::unexpected(optimised.error());
    auto code = maker_->make(request, std::move(*optimised), Copy::Optimised);
    if (!code && code.error().code == kNotSupported) code = maker_->make(request, kernel, Copy::Baseline);
    return executable(request, code);
  }

  /// Of a large kernel, baseline code now and optimised code later.
  Expected<Code> makeInSteps(const Request& request, Analysed kernel) {
    if (instructionCount(kernel.function) < kSurelyLarge) {
      auto optimised = maker_->emit(request, kernel, Copy::Optimised);
      if (!optimised || optimised->code->getInstructionCount() < options_.largeKernel)
        return makeOptimised(request, kernel, std::move(optimised));
    }
    auto baseline = maker_->make(request, kernel, Copy::Baseline);
    if (baseline) return tieringUp(request, *baseline, std::make_shared<const Analysed>(std::move(kernel)));
    if (baseline.error().code != kNotSupported) return tl::unexpected(baseline.error());
    return executable(request, maker_->make(request, kernel, Copy::Optimised));  // it has smaller frames
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
              kernel ? maker->make(request, *kernel, Copy::Optimised) : maker->makeAnew(request, Copy::Optimised);
          if (!better) return code->stay();
          code->tierUp(executableOf(maker, request, *better));
          if (request.caches) maker->cache().remove(request.keyFor(Copy::Baseline));
        },
        machine::Urgency::Improvement, request.owner);
  }

  Options options_;
  Maker maker_;
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
  if (e.byThread == "contrary") options.byThread = simt::ByThread::Contrary;
  // Whoever says what is to run thread by thread wants that, and no race.
  options.races &= e.race != "off" && e.byThread.empty();
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
