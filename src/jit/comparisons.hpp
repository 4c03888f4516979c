// Comparisons that the bases of values decide: `(threadIdx.x & m) == c` with the same m for all lanes.
#pragma once

#include <map>
#include <optional>

#include "jit/operands.hpp"

namespace ordito::jit {

/// Says of a comparison that no lane fulfils it (or, `negated`, all do) unless `open`, and then the lanes that `lanes`
/// says.
struct Comparison {
  LlvmValue open, lanes;
  bool negated;
};

class Comparisons : private Emitting {
 public:
  Comparisons(EmissionContext& context, Values& values, Operands& operands)
      : Emitting(context), values_(values), operands_(operands) {}

  /// `place & chosen`, with the same `chosen` for all lanes, where the warp's base of `place` and the lanes' pattern
  /// have no bit in common: each gives its own bits, those below 2^patternBits being the pattern's.
  struct ChosenBits {
    LlvmValue ofBase = nullptr, ofPattern = nullptr;  // a scalar, and a vector that may be the same for all warps
    unsigned patternBits = 0;
  };
  /// Is that the value of operand `k` of `i`, made in the block that is being emitted?
  std::optional<ChosenBits> chosenBits(const Instruction& i, size_t k, isa::Type t, const Source& s);
  void note(const Instruction& i, LlvmValue open, LlvmValue lanes, bool negated);
  /// The one of the block being emitted that gives `v`; null if it is no such comparison.
  const Comparison* find(ValueId v) const {
    const auto found = comparisons_.find(v);
    return found == comparisons_.end() ? nullptr : &found->second;
  }
  /// What follows is another block of the kernel.
  void beginBlock() { comparisons_.clear(); }

 private:
  bool isMadeHere(const Instruction& i) const;

  Values& values_;
  Operands& operands_;
  std::map<ValueId, Comparison> comparisons_;  // by result
};

}  // namespace ordito::jit
