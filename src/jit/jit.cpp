// The engine: from a parsed kernel to an Executable, as a list of passes.
#include "jit/jit.hpp"

#include <llvm/IR/LLVMContext.h>

#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>

#include "ir/ir.hpp"
#include "ir/shape.hpp"
#include "ir/stops.hpp"
#include "jit/code_cache.hpp"
#include "jit/compile.hpp"
#include "jit/emitter.hpp"
#include "jit/jam.hpp"
#include "machine/layout.hpp"

namespace ordito::jit {
namespace {

using BlockFunction = uint32_t (*)(const machine::BlockFrame*);

class CompiledKernel final : public machine::Executable {
 public:
  CompiledKernel(BlockFunction f, const CompiledObject& k, size_t threads)
      : function_(f), scratch_(k.scratchBytes), local_(k.localBytes * threads), streamed_(k.streamedBytes) {}
  machine::Turn runBlock(const machine::BlockFrame& frame) const override {
    return static_cast<machine::Turn>(function_(&frame));
  }
  bool canSuspend() const override { return true; }
  size_t scratchBytes() const override { return scratch_; }
  size_t localBytes() const override { return local_; }
  size_t streamedBytes() const override { return streamed_; }

 private:
  BlockFunction function_;
  size_t scratch_, local_, streamed_;
};

class Jit final : public machine::Engine {
 public:
  explicit Jit(Options options)
      : options_(std::move(options)), cache_(options_.caches ? CodeCache::fromEnvironment() : CodeCache({})) {
    if (const char* cpu = std::getenv("ORDITO_CPU")) options_.cpu = cpu;
    target_ = Target::host(options_.cpu);
    const char* dump = std::getenv("ORDITO_DUMP");
    options_.dumpIr |= dump && std::string_view(dump) == "ir";
    if (const char* jam = std::getenv("ORDITO_JAM")) options_.jam = static_cast<unsigned>(std::atoi(jam));
    base_ = buildDigest().add(target_.cpu).add(target_.features).add(options_.jam);
    if (options_.caches) cache_.trim();
  }

  Expected<std::shared_ptr<const machine::Executable>> compile(const ptx::Module& module, const ptx::Function& kernel,
                                                               const machine::Specialisation& specialisation) override {
    const bool caches = options_.caches && !options_.dumpIr && !module.source.digest.isEmpty();
    const Digest key = caches ? keyOf(module, kernel, specialisation) : Digest().add(++count_);
    const std::string symbol = "ordito_" + key.hex();
    std::lock_guard lock(mutex_);
    if (auto known = executables_.find(symbol); known != executables_.end()) return known->second;
    std::optional<CompiledObject> code = caches ? cache_.find(key) : std::nullopt;
    if (!code) {
      auto made = makeObject(module, kernel, specialisation, symbol);
      if (!made) return tl::unexpected(made.error());
      code = std::move(*made);
      if (caches) cache_.add(key, *code);
    }
    auto address = store_.link(std::move(code->object), symbol);
    if (!address) return tl::unexpected(address.error());
    const uint64_t warps = (specialisation.block.count() + kLanes - 1) / kLanes;
    auto executable = std::make_shared<const CompiledKernel>(reinterpret_cast<BlockFunction>(*address), *code,
                                                             size_t{warps} * kLanes);
    if (caches) executables_[symbol] = executable;
    return executable;
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

  /// From PTX to an object file in which the block function is called `symbol`.
  Expected<CompiledObject> makeObject(const ptx::Module& module, const ptx::Function& kernel,
                                      const machine::Specialisation& specialisation, const std::string& symbol) {
    ir::LaunchShape launch;
    launch.block = {specialisation.block.x, specialisation.block.y, specialisation.block.z};
    // Lanes that are out of step have to meet before they can work together, and may be so in more places then.
    std::set<uint32_t> warpStops;
    auto function = ir::buildCfg(module, kernel);
    if (!function) return tl::unexpected(function.error());
    ir::buildSsa(*function);
    ir::Stops stops = ir::findStops(*function, launch);
    while (ir::addWarpStops(*function, stops, warpStops)) {
      function = ir::buildCfg(module, kernel, warpStops);
      ir::buildSsa(*function);
      stops = ir::findStops(*function, launch);
    }
    if (auto ok = ir::verify(*function); !ok) return fail("internal error: {}", ok.error().message);
    if (options_.dumpIr) fmt::print(stderr, "{}", ir::print(*function));

    launch.jam = stops.parks()                                        ? 1
                 : options_.jam && launch.warps() % options_.jam == 0 ? options_.jam
                 : options_.jam                                       ? 1
                                                                      : chooseJam(*function, launch, target_);
    const ir::Shapes shapes(*function, launch, &stops);
    const auto layout = machine::layoutKernel(module, kernel);

    llvm::LLVMContext context;
    llvm::Module code(kernel.name, context);
    EmittedKernel emitted;
    try {
      emitted = Emitter(code, *function, stops, shapes, layout, target_, specialisation.counters).emit(symbol);
    } catch (const Refusal& refusal) {
      return tl::unexpected(Error{refusal.message, 801});
    }
    auto object = compileToObject(code, target_, options_.dumpIr);
    if (!object) return tl::unexpected(object.error());
    return CompiledObject{std::move(*object), emitted.scratchBytes, emitted.localBytes, emitted.streamedBytes};
  }

  Options options_;
  Target target_;
  CodeStore store_;
  CodeCache cache_;
  Digest base_;  // what the code depends on besides the kernel
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const machine::Executable>> executables_;  // by symbol
  std::atomic<uint64_t> count_{0};
};

}  // namespace

std::unique_ptr<machine::Engine> makeJit(Options options) { return std::make_unique<Jit>(std::move(options)); }

}  // namespace ordito::jit
