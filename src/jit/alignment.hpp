// Misaligned accesses. A GPU refuses an access whose address is no multiple of its size (PTX ISA, "Operand Type
// Checking" of ld and st; cuda: "misaligned address"), a host does it.
#pragma once

#include <set>
#include <tuple>

#include "jit/operands.hpp"

namespace ordito::jit {

class Alignment : private Emitting {
 public:
  Alignment(EmissionContext& context, Masks& masks, Values& values, Operands& operands)
      : Emitting(context), masks_(masks), values_(values), operands_(operands) {}

  void check(const Instruction& i, size_t k, unsigned bytes, const Parts& mask);
  void failIfMisaligned(LlvmValue bad, const Instruction& i, const Parts& mask);

  /// What follows is another block of the kernel.
  void beginBlock() { checkedRoots_.clear(); }

 private:
  Masks& masks_;
  Values& values_;
  Operands& operands_;
  using Root = std::tuple<ValueId, unsigned, uint64_t>;  // value, low bits, offset
  std::set<Root> checkedRoots_;                          // in the block being emitted
};

}  // namespace ordito::jit
