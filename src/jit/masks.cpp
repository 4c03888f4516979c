// Masks of active lanes. In registers a mask is <32 x i1>. Across blocks it is kept in the form that the host computes
// with: mask registers on AVX-512, vectors of 32-bit sign masks elsewhere (LLVM would otherwise widen <32 x i1> through
// bytes at every use).
#include "jit/emitter.hpp"

namespace ordito::jit {

llvm::Type* Emitter::storageType() {
  return llvm::FixedVectorType::get(target_.avx512 ? b_.getInt1Ty() : b_.getInt32Ty(), kLanes);
}

LlvmValue Emitter::toStorage(LlvmValue mask) { return target_.avx512 ? mask : b_.CreateSExt(mask, storageType()); }

LlvmValue Emitter::fromStorage(LlvmValue stored) {
  return target_.avx512 ? stored : b_.CreateICmpSLT(stored, llvm::Constant::getNullValue(storageType()));
}

LlvmValue Emitter::allOnes() {
  return llvm::Constant::getAllOnesValue(llvm::FixedVectorType::get(b_.getInt1Ty(), kLanes));
}
LlvmValue Emitter::noLanes() {
  return llvm::Constant::getNullValue(llvm::FixedVectorType::get(b_.getInt1Ty(), kLanes));
}

LlvmValue Emitter::laneBits(LlvmValue mask) { return b_.CreateBitCast(mask, b_.getInt32Ty()); }

LlvmValue Emitter::anyLane(LlvmValue mask) { return b_.CreateICmpNE(laneBits(mask), b_.getInt32(0)); }

/// Is any lane of any part active?
LlvmValue Emitter::anyLane(const Parts& mask) {
  LlvmValue all = mask[0];
  for (unsigned p = 1; p < mask.size(); ++p) all = b_.CreateOr(all, mask[p]);
  return anyLane(all);
}

/// Lanes on which `condition` (or its negation) holds.
Parts Emitter::conditionMask(ValueId condition, bool negated) {
  Parts parts;
  for (unsigned p = 0; p < coarsening_; ++p) {
    LlvmValue m = vectorOf(condition, p);
    parts.push_back(negated ? b_.CreateNot(m) : m);
  }
  return parts;
}

Parts Emitter::both(const Parts& a, const Parts& b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  Parts r;
  for (unsigned p = 0; p < coarsening_; ++p) r.push_back(b_.CreateAnd(a[p], b[p]));
  return r;
}

Parts Emitter::butNot(const Parts& a, const Parts& b) {
  Parts r;
  for (unsigned p = 0; p < coarsening_; ++p) {
    LlvmValue n = b_.CreateNot(b[p]);
    r.push_back(a.empty() ? n : b_.CreateAnd(a[p], n));
  }
  return r;
}

Parts Emitter::liveMask(uint32_t version) {
  if (versions_[version].full) return {};
  Parts r;
  for (unsigned p = 0; p < coarsening_; ++p) r.push_back(fromStorage(b_.CreateLoad(storageType(), live_[p])));
  return r;
}

/// The current mask, cut by the instruction's guard.
Parts Emitter::guardedMask(const Instruction& i) {
  if (!i.guard) return mask_;
  return both(mask_, conditionMask(i.guard.reg, i.guard.negated));
}

}  // namespace ordito::jit
