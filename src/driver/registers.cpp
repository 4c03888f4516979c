// See registers.hpp. Live ranges are intervals in the order of the text, extended over the backward branches they
// cross.
#include "driver/registers.hpp"

#include <algorithm>
#include <vector>

namespace ordito::driver {

namespace {

using ptx::Function;
using ptx::Operand;

struct Interval {
  uint32_t first = ~0u, last = 0;
  bool used() const { return first <= last && first != ~0u; }
};

uint32_t wordsOf(isa::Type type) {
  if (type == isa::Type::pred) return 0;  // predicates have a file of their own
  return std::max(1u, isa::bits(type) / 32);
}

class Liveness {
 public:
  explicit Liveness(const Function& function) : function_(function), intervals_(function.registers.size()) {}

  uint32_t peak() {
    const auto count = static_cast<uint32_t>(function_.instructions.size());
    for (uint32_t i = 0; i < count; ++i) {
      const auto& instruction = function_.instructions[i];
      mention(instruction.guard.reg, i);
      for (const Operand& operand : instruction.operands) mention(operand, i);
    }
    for (uint32_t i = count; i-- > 0;) extendOverLoop(i);
    return sweep(count);
  }

 private:
  void mention(ptx::RegisterId reg, uint32_t at) {
    if (reg == ptx::kNoRegister || reg >= intervals_.size()) return;
    intervals_[reg].first = std::min(intervals_[reg].first, at);
    intervals_[reg].last = std::max(intervals_[reg].last, at);
  }

  void mention(const Operand& operand, uint32_t at) {
    mention(operand.reg, at);
    for (const Operand& element : operand.elements) mention(element, at);
  }

  /// A value that lives on entry to a loop body and is mentioned in it lives until the loop's end.
  void extendOverLoop(uint32_t branch) {
    for (const Operand& operand : function_.instructions[branch].operands) {
      if (!operand.is(Operand::Kind::Label) || operand.label >= function_.labels.size()) continue;
      uint32_t target = function_.labels[operand.label].instruction;
      if (target > branch) continue;
      for (Interval& interval : intervals_)
        if (interval.used() && interval.first < target && interval.last >= target)
          interval.last = std::max(interval.last, branch);
    }
  }

  uint32_t sweep(uint32_t count) const {
    std::vector<int64_t> change(count + 1, 0);
    for (size_t i = 0; i < intervals_.size(); ++i) {
      if (!intervals_[i].used()) continue;
      uint32_t words = wordsOf(function_.registers[i].type);
      change[intervals_[i].first] += words;
      change[intervals_[i].last] -= words;  // the register is free for the last reader's result
    }
    int64_t live = 0, most = 0;
    for (int64_t delta : change) most = std::max(most, live += delta);
    return static_cast<uint32_t>(most);
  }

  const Function& function_;
  std::vector<Interval> intervals_;
};

}  // namespace

uint32_t estimateRegisters(const ptx::Module& module, const Function& kernel, uint32_t most) {
  uint32_t live = Liveness(kernel).peak();
  // Device functions run on top of their callers; the deepest is taken as the largest one.
  uint32_t callee = 0;
  bool calls = std::any_of(kernel.instructions.begin(), kernel.instructions.end(),
                           [](const auto& instruction) { return instruction.op == isa::Op::Call; });
  if (calls)
    for (const Function& function : module.functions)
      if (!function.isEntry && function.hasBody) callee = std::max(callee, Liveness(function).peak());
  constexpr uint32_t kReserved = 4;  // stack pointer, constants of the calling convention
  constexpr uint32_t kUnit = 8;      // assemblers hand out registers in eights
  uint32_t total = (live + callee + kReserved + kUnit - 1) / kUnit * kUnit;
  if (kernel.maxnreg) total = std::min(total, kernel.maxnreg);
  return std::clamp(total, kUnit, std::max(most, kUnit));
}

}  // namespace ordito::driver
