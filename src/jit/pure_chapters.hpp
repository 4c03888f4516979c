// The meaning of pure instructions, a class for each chapter of the table (src/isa/ptx): a member function for each of
// the chapter's pure rows, declared by including it, so that a row without a body does not link; and what these share.
// Each chapter has a file of its name.
#pragma once

#include "jit/float_body.hpp"

namespace ordito::jit {

// What follows an effect: something for pure rows, nothing for others.
#define ORDITO_IF_Pure(...) __VA_ARGS__
#define ORDITO_IF_Load(...)
#define ORDITO_IF_Store(...)
#define ORDITO_IF_Atomic(...)
#define ORDITO_IF_Warp(...)
#define ORDITO_IF_Barrier(...)
#define ORDITO_IF_Fence(...)
#define ORDITO_IF_Control(...)
#define ORDITO_IF_Call(...)
#define PTX(name, syntax, types, effect, ...) ORDITO_IF_##effect(PureResults name();)

class IntegerArithmetic : public InstructionBody {
 public:
  using InstructionBody::InstructionBody;
#include "isa/ptx/integer.def"

 private:
  LlvmValue divide(LlvmValue a, LlvmValue b, bool remainder);
  LlvmValue divideAsFloats(LlvmValue x, LlvmValue y, LlvmValue safe, bool remainder);
  LlvmValue divideByUniform(LlvmValue x, ValueId d, bool remainder, llvm::function_ref<LlvmValue()> general);
  LlvmValue fieldNumber(size_t k);
  Results minMax(bool isMax);
  template <class F>
  Results integerLanes(F&& f);
};

class ExtendedPrecision : public InstructionBody {
 public:
  using InstructionBody::InstructionBody;
#include "isa/ptx/extended_precision.def"

 private:
  Results carryAdd(LlvmValue a, LlvmValue b, LlvmValue carry);
  Results carrySub(LlvmValue a, LlvmValue b, LlvmValue borrow);
  LlvmValue carryIn();
};

class FloatingPoint : public FloatBody {
 public:
  using FloatBody::FloatBody;
#include "isa/ptx/floating_point.def"

 private:
  Results multiplyAdd();
  LlvmValue zeroOutside(LlvmValue result);
  LlvmValue changeHalfSign(bool flips);
  LlvmValue chooseFloat(LlvmValue x, LlvmValue y, bool isMax);
  LlvmValue minMaxElement(LlvmValue x, LlvmValue y, bool isMax);
  Results floatMinMax(bool isMax);
  Results pairs(size_t sources, llvm::function_ref<LlvmValue(llvm::ArrayRef<LlvmValue>)> f);
  Results pairBinary(unsigned opcode, const char* name);
};

class SpecialFunctions : public FloatBody {
 public:
  using FloatBody::FloatBody;
#include "isa/ptx/special_functions.def"

 private:
  LlvmValue isSmaller(LlvmValue x, double limit);
  LlvmValue bitsOf(LlvmValue x);
  LlvmValue withSubnormals(std::string_view function, LlvmValue x);
  LlvmValue cutToHalf(LlvmValue v, isa::Type t);
  Results approximate(std::string_view function);
  Results approximateQuotient(bool full);
  LlvmValue approximateDouble(std::string_view function, LlvmValue x);
  LlvmValue reciprocalRootOfDouble(LlvmValue x);
};

class ComparisonAndSelection : public FloatBody {
 public:
  using FloatBody::FloatBody;
#include "isa/ptx/comparison.def"

 private:
  LlvmValue compare(LlvmValue a, LlvmValue b, isa::Type t);
  LlvmValue compareChosenBits(size_t x, size_t y, isa::Type t);
  LlvmValue compareOperands(size_t a, size_t b, isa::Type t);
  LlvmValue combine(LlvmValue test, LlvmValue with);
  LlvmValue compareHalves(size_t a, size_t b, unsigned half);
  LlvmValue setOne(LlvmValue test, isa::Type to);
  Results set(bool hasBool);
  Results setPredicates(bool hasBool);
};

class LogicAndShift : public InstructionBody {
 public:
  using InstructionBody::InstructionBody;
#include "isa/ptx/logic.def"

 private:
  LlvmValue shift(LlvmValue a, LlvmValue amount, unsigned bits, bool left, bool arithmetic);
  LlvmValue lop3(size_t first, uint8_t table);
  LlvmValue permute(LlvmValue selector);
};

class DataMovement : public InstructionBody {
 public:
  using InstructionBody::InstructionBody;
#include "isa/ptx/data_movement.def"
};

class Conversion : public FloatBody {
 public:
  using FloatBody::FloatBody;
#include "isa/ptx/conversion.def"

 private:
  bool flushes(isa::Type to) const;
  LlvmValue convertFloatToInt(LlvmValue v, isa::Type from, isa::Type to);
  LlvmValue convertFloatToFloat(LlvmValue v, isa::Type to);
  LlvmValue convertIntToFloat(LlvmValue v, isa::Type from, isa::Type to);
  LlvmValue toOddDouble(LlvmValue v, isa::Type from);
  std::pair<LlvmValue, LlvmValue> halvesAsDouble(LlvmValue v, isa::Type from);
  LlvmValue saturateInteger(LlvmValue v, isa::Type from, isa::Type to);
  LlvmValue roundToIntegral(LlvmValue v);
  LlvmValue finiteHalf(LlvmValue bits, isa::Type t);
  LlvmValue convertToTf32();
  LlvmValue toFloat8(LlvmValue v);
  LlvmValue fromFloat8(LlvmValue byte);
  LlvmValue toScale(LlvmValue bits);
  Results packSmall();
  Results unpackSmall();
  Results packIntegers(bool hasC);
};

class VideoInstructions : public InstructionBody {
 public:
  using InstructionBody::InstructionBody;
#include "isa/ptx/video.def"

 private:
  LlvmValue videoSource(size_t k, isa::Type t);
  LlvmValue distance(LlvmValue x, LlvmValue y);
  LlvmValue average(LlvmValue x, LlvmValue y);
  Results finishVideo(LlvmValue wide, bool isSigned);
  Results video(llvm::function_ref<LlvmValue(LlvmValue, LlvmValue)> f);
  Results videoShift(bool left);
  Results videoParts(unsigned count, llvm::function_ref<LlvmValue(LlvmValue, LlvmValue)> f);
  Results videoCompare(unsigned count);
};

/// Chapters that are about memory, threads or warps: they have hardly a pure row.
class OtherChapters : public InstructionBody {
 public:
  using InstructionBody::InstructionBody;
#include "isa/ptx/async_copy.def"
#include "isa/ptx/control_flow.def"
#include "isa/ptx/matrix.def"
#include "isa/ptx/surface.def"
#include "isa/ptx/synchronization.def"
#include "isa/ptx/texture.def"
};

#undef PTX

}  // namespace ordito::jit
