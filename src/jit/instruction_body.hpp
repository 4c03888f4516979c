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
      : context_(tools.context),
        values_(tools.values),
        operands_(tools.operands),
        addresses_(tools.addresses),
        calls_(tools.calls),
        comparisons_(comparisons),
        b_(context_.b),
        i_(i),
        s_(s) {}

 protected:
  using Results = PureResults;
  static constexpr auto kHi = isa::mod<isa::ModifierKind::MulMode>("hi");
  static constexpr auto kWide = isa::mod<isa::ModifierKind::MulMode>("wide");

  LlvmValue in(size_t k, isa::Type t) { return operands_.operand(i_, k, t, s_); }
  LlvmValue in(size_t k) { return in(k, i_.type[0]); }
  LlvmValue passIn(size_t k);
  LlvmValue number(isa::Type t, uint64_t bits) { return values_.constant(t, bits, s_.vector()); }
  llvm::Type* type(isa::Type t) { return values_.typeOf(t, s_.vector()); }
  /// The unsigned integer type of `bits` bits.
  static isa::Type unsignedOf(unsigned bits);
  bool isSigned() const { return isa::isSigned(i_.type[0]); }
  LlvmValue intrinsic(llvm::Intrinsic::ID id, llvm::ArrayRef<LlvmValue> arguments);
  LlvmValue part(LlvmValue word, unsigned at, unsigned width, bool isSigned, unsigned bits);
  LlvmValue clampTo(LlvmValue v, unsigned width, bool isSigned);
  LlvmValue product(LlvmValue x, LlvmValue y);

  EmissionContext& context_;
  Values& values_;
  Operands& operands_;
  Addresses& addresses_;
  RuntimeCalls& calls_;
  Comparisons& comparisons_;
  llvm::IRBuilder<>& b_;
  const Instruction& i_;
  const Source& s_;

 private:
  LlvmValue mulHigh(LlvmValue x, LlvmValue y, unsigned bits, bool isSigned);
};

}  // namespace ordito::jit
