// The meaning of pure instructions, one member for each row of the table. A body sees operands as LLVM values, either
// 32-lane vectors or scalars (when all lanes of a group agree), and is written once for both.
#pragma once

#include "jit/pure.hpp"

namespace ordito::jit {

class Lower {
 public:
  using Results = PureResults;
  Lower(PureInstructions& pure, const Instruction& i, const Source& s)
      : pure(pure),
        context(pure.c_),
        values(pure.values_),
        operands(pure.operands_),
        addresses(pure.addresses_),
        calls(pure.calls_),
        comparisons(pure.comparisons_),
        b(context.b),
        i(i),
        s(s) {}
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
  LlvmValue in(size_t k, isa::Type t) { return operands.operand(i, k, t, s); }
  LlvmValue in(size_t k) { return in(k, i.type[0]); }
  LlvmValue passIn(size_t k);
  LlvmValue number(isa::Type t, uint64_t bits) { return values.constant(t, bits, s.vector()); }
  llvm::Type* type(isa::Type t) { return values.typeOf(t, s.vector()); }
  /// The unsigned integer type of `bits` bits.
  static isa::Type unsignedOf(unsigned bits);
  static isa::Type signedOf(unsigned bits);
  LlvmValue intrinsic(llvm::Intrinsic::ID id, llvm::ArrayRef<LlvmValue> arguments);
  bool isSigned() const { return isa::isSigned(i.type[0]); }

  // floating_point.cpp
  LlvmValue real(LlvmValue like, double value);
  LlvmValue flush(LlvmValue v, isa::Type t);
  LlvmValue flushBelow(LlvmValue v, LlvmValue judged, double limit);
  LlvmValue flushTiny(LlvmValue v, llvm::function_ref<LlvmValue()> scaled);
  LlvmValue scaleUp(LlvmValue v);
  LlvmValue widenHalf(LlvmValue bits, isa::Type t);
  LlvmValue halfIn(size_t k, isa::Type packedType, unsigned half);
  LlvmValue addToOdd(LlvmValue x, LlvmValue y);
  LlvmValue narrowToOdd(LlvmValue v);
  LlvmValue stepToOdd(LlvmValue v, LlvmValue inexact, LlvmValue grows);
  LlvmValue clamp(LlvmValue v);
  LlvmValue floatIn(size_t k);
  LlvmValue floatIn(size_t k, isa::Type t);
  Results floatOut(LlvmValue v, isa::Type t);
  Results multiplyAdd();
  LlvmValue zeroOutside(LlvmValue result);
  Results floatBinary(unsigned opcode);
  LlvmValue directed(const char* operation, llvm::ArrayRef<LlvmValue> arguments, isa::Type t);
  LlvmValue changeHalfSign(bool flips);
  LlvmValue chooseFloat(LlvmValue x, LlvmValue y, bool isMax);
  bool flushes(isa::Type to) const;
  LlvmValue minMaxElement(LlvmValue x, LlvmValue y, bool isMax);
  Results floatMinMax(bool isMax);
  bool isNearest() const;
  Results packed(llvm::function_ref<LlvmValue(llvm::function_ref<LlvmValue(size_t)>)> f);
  Results pairs(size_t sources, llvm::function_ref<LlvmValue(llvm::ArrayRef<LlvmValue>)> f);
  Results pairBinary(unsigned opcode, const char* name);
  // special_functions.cpp
  LlvmValue isSmaller(LlvmValue x, double limit);
  LlvmValue bitsOf(LlvmValue x);
  LlvmValue withSubnormals(std::string_view function, LlvmValue x);
  LlvmValue cutToHalf(LlvmValue v, isa::Type t);
  Results approximate(std::string_view function);
  Results approximateQuotient(bool full);
  LlvmValue approximateDouble(std::string_view function, LlvmValue x);
  LlvmValue reciprocalRootOfDouble(LlvmValue x);
  // comparison.cpp
  LlvmValue compare(LlvmValue a, LlvmValue b, isa::Type t);
  LlvmValue compareChosenBits(size_t x, size_t y, isa::Type t);
  LlvmValue compareOperands(size_t a, size_t b, isa::Type t);
  LlvmValue combine(LlvmValue test, LlvmValue with);
  LlvmValue compareHalves(size_t a, size_t b, unsigned half);
  LlvmValue setOne(LlvmValue test, isa::Type to);
  Results set(bool hasBool);
  Results setPredicates(bool hasBool);
  // integer.cpp
  LlvmValue mulHigh(LlvmValue a, LlvmValue b, unsigned bits, bool isSigned);
  LlvmValue product(LlvmValue a, LlvmValue b);
  LlvmValue divide(LlvmValue a, LlvmValue b, bool remainder);
  Results carryAdd(LlvmValue a, LlvmValue b, LlvmValue carry);
  Results carrySub(LlvmValue a, LlvmValue b, LlvmValue borrow);
  LlvmValue carryIn();
  LlvmValue fieldNumber(size_t k);
  Results minMax(bool isMax);
  template <class F>
  Results integerLanes(F&& f);
  // video.cpp
  LlvmValue part(LlvmValue word, unsigned at, unsigned width, bool isSigned, unsigned bits);
  LlvmValue videoSource(size_t k, isa::Type t);
  LlvmValue clampTo(LlvmValue v, unsigned width, bool isSigned);
  LlvmValue distance(LlvmValue x, LlvmValue y);
  LlvmValue average(LlvmValue x, LlvmValue y);
  Results finishVideo(LlvmValue wide, bool isSigned);
  Results video(llvm::function_ref<LlvmValue(LlvmValue, LlvmValue)> f);
  Results videoShift(bool left);
  Results videoParts(unsigned count, llvm::function_ref<LlvmValue(LlvmValue, LlvmValue)> f);
  Results videoCompare(unsigned count);
  // logic.cpp
  LlvmValue shift(LlvmValue a, LlvmValue amount, unsigned bits, bool left, bool arithmetic);
  LlvmValue lop3(size_t first, uint8_t table);
  LlvmValue smear(LlvmValue v, LlvmValue bit);
  // data_movement.cpp
  LlvmValue convertFloatToInt(LlvmValue v, isa::Type from, isa::Type to);
  LlvmValue convertFloatToFloat(LlvmValue v, isa::Type from, isa::Type to);
  LlvmValue halfBits(LlvmValue v, isa::Type to);
  LlvmValue roundToBfloat(LlvmValue v);
  LlvmValue narrowNan(LlvmValue wide, isa::Type to);
  LlvmValue finiteHalf(LlvmValue bits, isa::Type t);
  LlvmValue toOddDouble(LlvmValue v, isa::Type from);
  LlvmValue convertToTf32();
  LlvmValue convertIntToFloat(LlvmValue v, isa::Type from, isa::Type to);
  LlvmValue saturateInteger(LlvmValue v, isa::Type from, isa::Type to);
  LlvmValue roundToIntegral(LlvmValue v);
  LlvmValue toFloat8(LlvmValue v);
  LlvmValue fromFloat8(LlvmValue byte);
  LlvmValue toScale(LlvmValue bits);
  Results packSmall();
  Results unpackSmall();
  Results packIntegers(bool hasC);

  PureInstructions& pure;
  EmissionContext& context;
  Values& values;
  Operands& operands;
  Addresses& addresses;
  RuntimeCalls& calls;
  Comparisons& comparisons;
  llvm::IRBuilder<>& b;
  const Instruction& i;
  const Source& s;
};

}  // namespace ordito::jit
