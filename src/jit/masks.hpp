// Masks of active lanes. In registers a mask is <32 x i1>. Across blocks it is kept in the form that the host computes
// with: mask registers on AVX-512, vectors of 32-bit sign masks elsewhere (LLVM would otherwise widen <32 x i1> through
// bytes at every use).
#pragma once

#include "jit/emission_context.hpp"

namespace ordito::jit {

class Masks : private Emitting {
 public:
  explicit Masks(EmissionContext& context) : Emitting(context) {}

  llvm::Type* storageType();
  LlvmValue toStorage(LlvmValue mask);
  LlvmValue fromStorage(LlvmValue stored);

  LlvmValue allOnes();
  LlvmValue noLanes();
  LlvmValue maskOf(const Parts& mask, unsigned part) { return mask.empty() ? nullptr : mask[part]; }
  /// The lanes of `b` that are in `a`, which is the mask (null, empty: all lanes): `b` may be poison outside of it.
  LlvmValue both(LlvmValue a, LlvmValue b);
  Parts both(const Parts& a, const Parts& b);
  Parts butNot(const Parts& a, const Parts& b);

  LlvmValue laneBits(LlvmValue mask);     // i32
  LlvmValue laneBits(const Parts& mask);  // <parts x i32>
  LlvmValue lanesOrAll(const Parts& mask, unsigned part);
  LlvmValue anyLane(LlvmValue mask);
  LlvmValue anyLane(const Parts& mask);
};

}  // namespace ordito::jit
