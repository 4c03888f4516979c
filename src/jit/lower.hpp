// The meaning of pure instructions, one member for each row of the table. A body sees operands as LLVM values, either 32-lane vectors or
// scalars (when all lanes of a group agree), and is written once for both.
#pragma once

#include "jit/emitter.hpp"

namespace ordito::jit {

class Lower {
 public:
  using Results = std::array<LlvmValue, 3>;  // destinations in syntax order, then the carry
  Lower(Emitter& e, const Instruction& i, const Emitter::Source& s) : e(e), b(e.ir()), i(i), s(s) {}
  Results run();

  // One body for each pure row; a missing one does not link.
#define ORDITO_PURE(name) Results name();
#define ORDITO_OTHER(name)
#define ORDITO_EFFECT_Pure ORDITO_PURE
#define ORDITO_EFFECT_Load ORDITO_OTHER
#define ORDITO_EFFECT_Store ORDITO_OTHER
#define ORDITO_EFFECT_Atomic ORDITO_OTHER
#define ORDITO_EFFECT_Warp ORDITO_OTHER
#define ORDITO_EFFECT_Barrier ORDITO_OTHER
#define ORDITO_EFFECT_Fence ORDITO_OTHER
#define ORDITO_EFFECT_Control ORDITO_OTHER
#define ORDITO_EFFECT_Call ORDITO_OTHER
#define PTX(name, syntax, types, effect, ...) ORDITO_EFFECT_##effect(name)
#include "isa/ptx.def"

 private:
  LlvmValue in(size_t k, isa::Type t) { return e.operand(i, k, t, s); }
  LlvmValue in(size_t k) { return in(k, i.type[0]); }
  LlvmValue number(isa::Type t, uint64_t bits) { return e.number(t, bits, s); }
  llvm::Type* type(isa::Type t) { return e.type(t, s); }
  /// The unsigned integer type of `bits` bits.
  static isa::Type unsignedOf(unsigned bits);
  static isa::Type signedOf(unsigned bits);
  LlvmValue intrinsic(llvm::Intrinsic::ID id, llvm::ArrayRef<LlvmValue> arguments);
  bool isSigned() const { return isa::isSigned(i.type[0]); }

  // floating_point.cpp
  LlvmValue flush(LlvmValue v, isa::Type t);  // .ftz
  LlvmValue floatIn(size_t k);
  LlvmValue floatIn(size_t k, isa::Type t);
  Results floatOut(LlvmValue v, isa::Type t);
  Results floatBinary(unsigned opcode);
  LlvmValue directed(const char* operation, llvm::ArrayRef<LlvmValue> arguments, isa::Type t);
  Results floatMinMax(bool isMax);
  bool isNearest() const;
  LlvmValue canonicalNan(LlvmValue v, isa::Type t);
  template <class F>
  Results packed(F&& f);
  // comparison.cpp
  LlvmValue compare(LlvmValue a, LlvmValue b, isa::Type t);
  LlvmValue compareOperands(size_t a, size_t b, isa::Type t);
  LlvmValue combine(LlvmValue test, LlvmValue with);
  Results predicatePair(LlvmValue p, LlvmValue q);
  // integer.cpp
  LlvmValue mulHigh(LlvmValue a, LlvmValue b, unsigned bits, bool isSigned);
  LlvmValue product(LlvmValue a, LlvmValue b);
  LlvmValue divide(LlvmValue a, LlvmValue b, bool remainder);
  Results carryAdd(LlvmValue a, LlvmValue b, LlvmValue carry);
  Results carrySub(LlvmValue a, LlvmValue b, LlvmValue borrow);
  LlvmValue carryIn();
  // logic.cpp
  LlvmValue shift(LlvmValue a, LlvmValue amount, unsigned bits, bool left, bool arithmetic);
  LlvmValue lop3(uint8_t table);
  LlvmValue smear(LlvmValue v, LlvmValue bit);
  // data_movement.cpp
  LlvmValue convertFloatToInt(LlvmValue v, isa::Type from, isa::Type to);
  LlvmValue convertFloatToFloat(LlvmValue v, isa::Type from, isa::Type to);
  LlvmValue convertIntToFloat(LlvmValue v, isa::Type from, isa::Type to);
  LlvmValue saturateInteger(LlvmValue v, isa::Type from, isa::Type to);
  LlvmValue roundToIntegral(LlvmValue v, isa::Type t, std::string_view mode);

  Emitter& e;
  llvm::IRBuilder<>& b;
  const Instruction& i;
  const Emitter::Source& s;
};

}  // namespace ordito::jit
