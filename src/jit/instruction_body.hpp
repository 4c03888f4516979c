// What the bodies of pure instructions have in common: the instruction, where its operands come from, and the tools to
// emit code. A body sees operands as LLVM values, either 32-lane vectors or scalars (when all lanes of a segment
// agree), and is written once for both. It lasts as long as one instruction is emitted for one base or vector.
#pragma once

#include <array>

#include "jit/comparisons.hpp"
#include "jit/tools.hpp"

namespace ordito::jit {

/// What a pure instruction gives: destinations in syntax order, the carry last.
using PureResults = std::array<LlvmValue, 5>;

class InstructionBody {
 public:
  InstructionBody(Tools& tools, Comparisons& comparisons, const Instruction& i, const Source& s)
      : context(tools.context),
        values(tools.values),
        operands(tools.operands),
        addresses(tools.addresses),
        calls(tools.calls),
        comparisons(comparisons),
        b(context.b),
        i(i),
        s(s) {}

 protected:
  using Results = PureResults;
  static constexpr auto kHi = isa::mod<isa::ModifierKind::MulMode>("hi");
  static constexpr auto kWide = isa::mod<isa::ModifierKind::MulMode>("wide");

  LlvmValue in(size_t k, isa::Type t) { return operands.operand(i, k, t, s); }
  LlvmValue in(size_t k) { return in(k, i.type[0]); }
  LlvmValue passIn(size_t k);
  LlvmValue number(isa::Type t, uint64_t bits) { return values.constant(t, bits, s.vector()); }
  llvm::Type* type(isa::Type t) { return values.typeOf(t, s.vector()); }
  /// The unsigned integer type of `bits` bits.
  static isa::Type unsignedOf(unsigned bits);
  bool isSigned() const { return isa::isSigned(i.type[0]); }
  LlvmValue intrinsic(llvm::Intrinsic::ID id, llvm::ArrayRef<LlvmValue> arguments);
  LlvmValue part(LlvmValue word, unsigned at, unsigned width, bool isSigned, unsigned bits);
  LlvmValue clampTo(LlvmValue v, unsigned width, bool isSigned);
  LlvmValue product(LlvmValue x, LlvmValue y);

  EmissionContext& context;
  Values& values;
  Operands& operands;
  Addresses& addresses;
  RuntimeCalls& calls;
  Comparisons& comparisons;
  llvm::IRBuilder<>& b;
  const Instruction& i;
  const Source& s;

 private:
  LlvmValue mulHigh(LlvmValue x, LlvmValue y, unsigned bits, bool isSigned);
};

}  // namespace ordito::jit
