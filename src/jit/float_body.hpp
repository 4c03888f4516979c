// What the bodies of floating-point instructions have in common: operands and results with their modifiers (.ftz, .sat,
// .relu, roundings), and f16 and bf16 by way of wider formats.
//
// Arithmetic is IEEE and never fused or split. f16 and bf16 are computed in wider formats and rounded once: f32 holds
// sums and products of them so exactly that rounding again is harmless (2p + 2 bits, Figueroa 1995); an fma is rounded
// to odd in f64 and again in f32, which makes the last rounding exact (Boldo and Melquiond 2008). Roundings other than
// to nearest are AVX-512's embedded ones or, on other hosts, the runtime's, which switches MXCSR for a warp at a time.
//
// An f16 or bf16 NaN gets NVIDIA's bits here. An f32 NaN gets them only where the bits are looked at (nan_plan.hpp).
#pragma once

#include "jit/instruction_body.hpp"

namespace ordito::jit {

class FloatBody : public InstructionBody {
 public:
  using InstructionBody::InstructionBody;

 protected:
  static constexpr double kScale = 0x1p64;  // brings products near the smallest normal f32 far into the normal range

  static bool isHalf(isa::Type t) { return t == isa::Type::f16 || t == isa::Type::bf16; }
  bool isNearest() const;
  LlvmValue real(LlvmValue like, double value);
  // Operands
  LlvmValue floatIn(size_t k);
  LlvmValue floatIn(size_t k, isa::Type t);
  LlvmValue halfIn(size_t k, isa::Type packedType, unsigned half);
  LlvmValue widenHalf(LlvmValue bits, isa::Type t);
  // Results
  Results floatOut(LlvmValue v, isa::Type t);
  Results packed(llvm::function_ref<LlvmValue(llvm::function_ref<LlvmValue(size_t)>)> f);
  LlvmValue halfBits(LlvmValue v, isa::Type to);
  LlvmValue clamp(LlvmValue v);
  // .ftz
  LlvmValue flush(LlvmValue v, isa::Type t);
  LlvmValue flushBelow(LlvmValue v, LlvmValue judged, double limit);
  LlvmValue flushTiny(LlvmValue v, llvm::function_ref<LlvmValue()> scaled);
  LlvmValue scaleUp(LlvmValue v);
  // Rounding
  LlvmValue directed(const char* operation, llvm::ArrayRef<LlvmValue> arguments, isa::Type t);
  LlvmValue narrowDirected(LlvmValue v, isa::Type to);
  LlvmValue addToOdd(LlvmValue x, LlvmValue y);
  LlvmValue narrowToOdd(LlvmValue v);
  Results floatBinary(unsigned opcode);

 private:
  LlvmValue stepToOdd(LlvmValue v, LlvmValue inexact, LlvmValue grows);
  LlvmValue roundToBfloat(LlvmValue v);
  LlvmValue narrowNan(LlvmValue wide, isa::Type to);
};

}  // namespace ordito::jit
