// The engine: from a parsed kernel to an Executable, as a list of passes.
#include "jit/jit.hpp"

#include <llvm/IR/LLVMContext.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>

#include "ir/ir.hpp"
#include "ir/liveness.hpp"
#include "ir/selection.hpp"
#include "ir/shape.hpp"
#include "ir/single_group.hpp"
#include "ir/stops.hpp"
#include "jit/background.hpp"
#include "jit/code_cache.hpp"
#include "jit/compile.hpp"
#include "jit/emitter.hpp"
#include "jit/jam.hpp"
#include "jit/shadows.hpp"
#include "machine/layout.hpp"

namespace ordito::jit {
namespace {

using BlockFunction = uint32_t (*)(const machine::BlockFrame*);

/// What one copy of a kernel's code asks for.
struct Needs {
  size_t scratch, local, streamed;
  Needs(const EmittedKernel& k, size_t threads)
      : scratch(k.scratchBytes), local(k.localBytes * threads), streamed(k.streamedBytes) {}
  Needs(const CompiledObject& k, size_t threads)
      : scratch(k.scratchBytes), local(k.localBytes * threads), streamed(k.streamedBytes) {}
};

/// A kernel's code, whatever runs it.
class Kernel : public machine::Executable {
 public:
  explicit Kernel(const Needs& needs) : needs_(needs) {}
  bool canSuspend() const override { return true; }
  size_t scratchBytes() const override { return needs_.scratch; }
  size_t localBytes() const override { return needs_.local; }
  size_t streamedBytes() const override { return needs_.streamed; }

 private:
  const Needs needs_;
};

class CompiledKernel final : public Kernel {
 public:
  CompiledKernel(BlockFunction f, const Needs& needs) : Kernel(needs), function_(f) {}
  machine::Turn runBlock(const machine::BlockFrame& frame) const override {
    return static_cast<machine::Turn>(function_(&frame));
  }

 private:
  BlockFunction function_;
};

/// Runs quick code until there is good code. What the two keep in a block's memory differs, so a block ends in the code
/// in which it has begun; the last bytes of its scratch memory say which one that is.
class ImprovingKernel final : public Kernel {
 public:
  ImprovingKernel(BlockFunction quick, const Needs& quickNeeds, const Needs& goodNeeds)
      : Kernel(needsOfBoth(quickNeeds, goodNeeds)), function_(quick), choice_(scratchBytes() - kChoiceBytes) {}
  void improve(BlockFunction good) { function_.store(good, std::memory_order_release); }
  machine::Turn runBlock(const machine::BlockFrame& frame) const override {
    auto* chosen = reinterpret_cast<BlockFunction*>(frame.scratch + choice_);
    if (frame.resumes == 0) *chosen = function_.load(std::memory_order_acquire);
    return static_cast<machine::Turn>((*chosen)(&frame));
  }

 private:
  static constexpr size_t kChoiceBytes = 64;
  static Needs needsOfBoth(const Needs& quick, const Needs& good) {
    Needs both = good;
    both.scratch = (std::max(quick.scratch, good.scratch) + 63) / 64 * 64 + kChoiceBytes;
    both.local = std::max(quick.local, good.local);
    return both;
  }

  std::atomic<BlockFunction> function_;
  const size_t choice_;  // where in the scratch memory
};

/// Of a block, in whole warps.
size_t threadsOf(const machine::Dim3& block) { return (block.count() + kLanes - 1) / kLanes * kLanes; }

/// A kernel as the emitter wants it.
struct Analysed {
  ir::Function function;
  ir::Stops stops;
  ir::LaunchShape launch;
  machine::KernelLayout layout;
  bool counters = false;
};

/// A kernel as LLVM wants it, on its own: nothing of the program's module is needed any more.
struct Emission {
  std::unique_ptr<llvm::LLVMContext> context = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> code;
  std::string symbol;
  EmittedKernel emitted;
  size_t threads = 0;
  Needs needs() const { return {emitted, threads}; }
  /// LLVM has stopped in the middle of its work on it: it must not be destroyed.
  void abandon() { [[maybe_unused]] const std::pair lost{code.release(), context.release()}; }
};

Expected<Analysed> analyse(const ptx::Module& module, const ptx::Function& kernel,
                           const machine::Specialisation& specialisation, bool dump) {
  ir::LaunchShape launch;
  launch.block = {specialisation.block.x, specialisation.block.y, specialisation.block.z};
  // Lanes that are out of step have to meet before they can work together, and may be so in more places then.
  std::set<uint32_t> warpStops;
  auto function = ir::buildCfg(module, kernel);
  if (!function) return tl::unexpected(function.error());
  const auto finish = [&] {
    ir::buildSsa(*function);
    if (!specialisation.counters) ir::selectForBranches(*function, launch);  // counters count the branches
  };
  finish();
  ir::Stops stops = ir::findStops(*function, launch);
  while (ir::addWarpStops(*function, stops, warpStops)) {
    function = ir::buildCfg(module, kernel, warpStops);
    finish();
    stops = ir::findStops(*function, launch);
  }
  if (auto ok = ir::verify(*function); !ok) return fail("internal error: {}", ok.error().message);
  if (dump) fmt::print(stderr, "{}", ir::print(*function));
  return Analysed{std::move(*function), std::move(stops), launch, machine::layoutKernel(module, kernel),
                  specialisation.counters};
}

/// The kernel for blocks whose warps run as one group; nothing where that makes no difference. Counters count barriers.
std::optional<Analysed> withoutBarriers(const Analysed& kernel, unsigned jam) {
  if (kernel.launch.warps() != jam || kernel.counters) return std::nullopt;
  // The end of a region is where counts from copies of shared memory are added up.
  const auto shadowed = shadowedRegions(kernel.function, kernel.stops, kernel.layout, ir::readValues(kernel.function));
  if (std::any_of(shadowed.begin(), shadowed.end(), [](char s) { return s != 0; })) return std::nullopt;
  auto function = ir::withoutPlainBarriers(kernel.function, kernel.stops);
  if (!function) return std::nullopt;
  ir::Stops stops = ir::findStops(*function, kernel.launch);
  if (stops.parks()) return std::nullopt;  // a loop that waits for other blocks, and was cut by a barrier so far
  return Analysed{std::move(*function), std::move(stops), kernel.launch, kernel.layout, false};
}

Expected<Emission> emit(const Analysed& analysed, unsigned jam, const Target& target, std::string symbol,
                        Effort effort) {
  const auto joined = withoutBarriers(analysed, jam);
  const Analysed& kernel = joined ? *joined : analysed;
  ir::LaunchShape launch = kernel.launch;
  Emission made;
  made.code = std::make_unique<llvm::Module>(kernel.function.kernel->name, *made.context);
  made.symbol = std::move(symbol);
  made.threads = threadsOf({launch.block[0], launch.block[1], launch.block[2]});
  auto shapesFor = [&](unsigned warps) {
    launch.jam = warps;
    return ir::Shapes(kernel.function, launch, &kernel.stops);
  };
  auto emitterFor = [&](const ir::Shapes& shapes) {
    return Emitter(*made.code, kernel.function, kernel.stops, shapes, kernel.layout, target, kernel.counters,
                   effort == Effort::Quick);
  };
  const std::string apart = made.symbol + "_apart";
  try {
    const ir::Shapes shapes = shapesFor(jam);
    Emitter together = emitterFor(shapes);
    if (jam > 1 && !joined && kernel.stops.points.size() == 1 && !kernel.stops.parks() && !kernel.counters)
      together.partWarps(apart);
    made.emitted = together.emit(made.symbol);
    if (together.hasParted()) {
      const ir::Shapes single = shapesFor(1);
      const EmittedKernel needs = emitterFor(single).emitApart(apart, jam);
      made.emitted.scratchBytes = std::max(made.emitted.scratchBytes, needs.scratchBytes);
      made.emitted.localBytes = std::max(made.emitted.localBytes, needs.localBytes);
    }
  } catch (const Refusal& refusal) {
    return tl::unexpected(Error{refusal.message, kNotSupported});
  }
  return made;
}

/// All that turns an emitted kernel into code; jobs in the background keep it alive.
class CodeMaker {
 public:
  CodeMaker(Target target, CodeCache cache) : target_(std::move(target)), cache_(std::move(cache)) {}
  const Target& target() const { return target_; }
  const CodeCache& cache() const { return cache_; }

  /// `key`: where the object is kept on disk, or null.
  Expected<BlockFunction> make(Emission& kernel, const CompileOptions& options, const Digest* key) {
    auto object = compileToObject(*kernel.code, target_, options);
    if (!object) {
      kernel.abandon();
      return tl::unexpected(object.error());
    }
    CompiledObject code{std::move(*object), kernel.emitted.scratchBytes, kernel.emitted.localBytes,
                        kernel.emitted.streamedBytes};
    if (key) cache_.add(*key, code);
    return link(std::move(code.object), kernel.symbol);
  }

  Expected<BlockFunction> link(std::string object, const std::string& symbol) {
    auto address = store_.link(std::move(object), symbol);
    if (!address) return tl::unexpected(address.error());
    return reinterpret_cast<BlockFunction>(*address);
  }

 private:
  const Target target_;
  const CodeCache cache_;
  CodeStore store_;
};

std::string goodSymbol(const Digest& key) { return "ordito_" + key.hex(); }

QuickCode quickCode(QuickCode otherwise) {
  const char* text = std::getenv("ORDITO_QUICK");
  const std::string_view name = text ? text : "";
  if (name == "never") return QuickCode::Never;
  if (name == "first") return QuickCode::First;
  return name == "only" ? QuickCode::Only : otherwise;
}

class Jit final : public machine::Engine {
  using Code = std::shared_ptr<const machine::Executable>;

 public:
  explicit Jit(Options options) : options_(std::move(options)) {
    if (const char* cpu = std::getenv("ORDITO_CPU")) options_.cpu = cpu;
    const char* dump = std::getenv("ORDITO_DUMP");
    options_.dumpIr |= dump && std::string_view(dump) == "ir";
    if (const char* jam = std::getenv("ORDITO_JAM")) options_.jam = static_cast<unsigned>(std::atoi(jam));
    options_.quick = quickCode(options_.quick);
    maker_ = std::make_shared<CodeMaker>(Target::host(options_.cpu),
                                         options_.caches ? CodeCache::fromEnvironment() : CodeCache({}));
    base_ = buildDigest().add(maker_->target().cpu).add(maker_->target().features).add(options_.jam);
    if (options_.caches) maker_->cache().trim();
  }

  Expected<Code> compile(const ptx::Module& module, const ptx::Function& kernel,
                         const machine::Specialisation& specialisation) override {
    const bool caches = options_.caches && !options_.dumpIr && !module.source.digest.isEmpty();
    const Digest key = caches ? keyOf(module, kernel, specialisation) : Digest().add(++count_);
    std::lock_guard lock(mutex_);
    if (auto known = executables_.find(key.hex()); known != executables_.end()) return known->second;
    auto kept = caches && options_.quick != QuickCode::Only ? maker_->cache().find(key) : std::nullopt;
    auto code = kept ? reuse(std::move(*kept), key, threadsOf(specialisation.block))
                     : make(module, kernel, specialisation, key, caches);
    if (code && caches) executables_[key.hex()] = *code;
    return code;
  }

 private:
  Digest keyOf(const ptx::Module& module, const ptx::Function& kernel, const machine::Specialisation& s) const {
    return Digest(base_)
        .add(module.source.digest)
        .add(kernel.name)
        .add(s.block.x)
        .add(s.block.y)
        .add(s.block.z)
        .add(s.counters);
  }

  static Expected<Code> executable(const Expected<BlockFunction>& function, const Needs& needs) {
    if (!function) return tl::unexpected(function.error());
    return std::make_shared<const CompiledKernel>(*function, needs);
  }

  Expected<Code> reuse(CompiledObject kept, const Digest& key, size_t threads) {
    return executable(maker_->link(std::move(kept.object), goodSymbol(key)), Needs(kept, threads));
  }

  Expected<Code> make(const ptx::Module& module, const ptx::Function& kernel,
                      const machine::Specialisation& specialisation, const Digest& key, bool caches) {
    auto analysed = analyse(module, kernel, specialisation, options_.dumpIr);
    if (!analysed) return tl::unexpected(analysed.error());
    if (options_.quick == QuickCode::Only) return makeQuick(*analysed, key);
    auto good = emit(*analysed, jamFor(*analysed), maker_->target(), goodSymbol(key), Effort::Full);
    if (!good) return tl::unexpected(good.error());
    if (options_.quick == QuickCode::First && good->code->getInstructionCount() >= options_.largeKernel)
      return makeInTwoSteps(*analysed, std::move(*good), key, caches);
    auto function = maker_->make(*good, {.dump = options_.dumpIr}, caches ? &key : nullptr);
    if (!function && function.error().code == kNotSupported) return makeQuick(*analysed, key);
    return executable(function, good->needs());
  }

  Expected<Code> makeQuick(const Analysed& kernel, const Digest& key) {
    auto quick = emitQuick(kernel, key);
    if (!quick) return tl::unexpected(quick.error());
    return executable(maker_->make(*quick, quickly(), nullptr), quick->needs());
  }

  CompileOptions quickly() const { return {.effort = Effort::Quick, .dump = options_.dumpIr}; }
  Expected<Emission> emitQuick(const Analysed& kernel, const Digest& key) const {
    return emit(kernel, 1, maker_->target(), "ordito_quick_" + key.hex(), Effort::Quick);
  }

  /// Quick code now, good code later. The disk keeps good code only.
  Expected<Code> makeInTwoSteps(const Analysed& kernel, Emission good, const Digest& key, bool caches) {
    auto quick = emitQuick(kernel, key);
    if (!quick) return tl::unexpected(quick.error());
    auto function = maker_->make(*quick, quickly(), nullptr);
    if (!function) return tl::unexpected(function.error());
    auto code = std::make_shared<ImprovingKernel>(*function, quick->needs(), good.needs());
    inBackground(
        [maker = maker_, emission = std::make_shared<Emission>(std::move(good)), key, caches,
         code](const std::atomic<bool>& stops) {
          if (auto better = maker->make(*emission, {.stops = &stops}, caches ? &key : nullptr)) code->improve(*better);
        },
        caches ? AtExit::Finish : AtExit::Drop);
    return code;
  }

  unsigned jamFor(const Analysed& kernel) const {
    if (kernel.stops.parks()) return 1;
    if (!options_.jam) return chooseJam(kernel.function, kernel.launch, maker_->target());
    return kernel.launch.warps() % options_.jam == 0 ? options_.jam : 1;
  }

  Options options_;
  std::shared_ptr<CodeMaker> maker_;
  Digest base_;  // what the code depends on besides the kernel
  std::mutex mutex_;
  std::map<std::string, Code> executables_;  // by the key's digits
  std::atomic<uint64_t> count_{0};
};

}  // namespace

std::unique_ptr<machine::Engine> makeJit(Options options) { return std::make_unique<Jit>(std::move(options)); }

}  // namespace ordito::jit
