// The engine's front: prepares a kernel once, then runs blocks of it.
#include "interp/interpreter.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "interp/block.hpp"
#include "machine/restart.hpp"

namespace ordito::interp {

namespace {

class Interpretation : public machine::Executable {
 public:
  explicit Interpretation(Program program) : program_(std::move(program)) {}

  /// A fault leaves by longjmp and skips destructors, so the block belongs to the host thread while it runs: the next
  /// one frees what a faulting one left. While it is suspended, its scratch memory holds it.
  machine::BlockStatus runBlock(const machine::BlockFrame& frame) const override {
    static thread_local std::unique_ptr<Block> block;
    block.reset(frame.resumes ? suspended(frame) : new Block(program_, frame));
    block->betterCode = std::exchange(machine::betterCode().place, nullptr);
    const machine::BlockStatus status = block->run();
    if (status == machine::BlockStatus::Suspended)
      suspended(frame) = block.release();
    else
      block.reset();
    return status;
  }

  bool canSuspend() const override { return true; }
  std::optional<Digest> suspendedState(const machine::BlockFrame& frame) const override {
    return suspended(frame)->state();
  }
  void abandon(const machine::BlockFrame& frame) const override { delete suspended(frame); }
  size_t scratchBytes() const override { return sizeof(Block*); }
  /// Activations bring their own .local memory, which is what lets functions with local arrays recurse.
  size_t localBytes() const override { return 0; }
  size_t counterWords() const override { return program_.sites * machine::kCounterCount; }
  void addCounters(const uint64_t* words, machine::SiteCounters& sites) const override {
    for (const FunctionPlan& plan : program_.functions)
      for (size_t i = 0; i < plan.source->instructions.size(); ++i) {
        const uint64_t* counts = words + (plan.firstSite + i) * machine::kCounterCount;
        if (std::all_of(counts, counts + machine::kCounterCount, [](uint64_t n) { return n == 0; })) continue;
        auto& sum = sites.try_emplace(plan.source->instructions[i].line).first->second;
        std::transform(counts, counts + machine::kCounterCount, sum.begin(), sum.begin(), std::plus<>());
      }
  }

 private:
  static Block*& suspended(const machine::BlockFrame& frame) { return *reinterpret_cast<Block**>(frame.scratch); }

  Program program_;
};

class Interpreter : public machine::Engine {
 public:
  Expected<std::shared_ptr<const machine::Executable>> compile(const machine::ModulePtr& module,
                                                               const ptx::Function& kernel,
                                                               const machine::Specialisation& specialisation) override {
    auto program = prepare(*module, kernel, specialisation);
    if (!program) return tl::unexpected(program.error());
    return std::make_shared<const Interpretation>(std::move(*program));
  }

  std::shared_ptr<const machine::Executable> replay(const ptx::Module& module, const ptx::Function& kernel,
                                                    const machine::Specialisation& specialisation) override {
    auto program = prepare(module, kernel, specialisation);
    if (!program) return nullptr;
    program->isReplay = true;
    return std::make_shared<const Interpretation>(std::move(*program));
  }
};

}  // namespace

std::unique_ptr<machine::Engine> makeInterpreter() { return std::make_unique<Interpreter>(); }

}  // namespace ordito::interp
