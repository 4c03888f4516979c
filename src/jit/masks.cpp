// Masks of active lanes. In registers a mask is <32 x i1>. Across blocks it is kept in the form that the host computes
// with: mask registers on AVX-512, vectors of 32-bit sign masks elsewhere (LLVM would otherwise widen <32 x i1> through
// bytes at every use).
#include "jit/masks.hpp"

namespace ordito::jit {

llvm::Type* Masks::storageType() {
  return llvm::FixedVectorType::get(c_.target.avx512 ? b_.getInt1Ty() : b_.getInt32Ty(), kLanes);
}

LlvmValue Masks::toStorage(LlvmValue mask) { return c_.target.avx512 ? mask : b_.CreateSExt(mask, storageType()); }

LlvmValue Masks::fromStorage(LlvmValue stored) {
  return c_.target.avx512 ? stored : b_.CreateICmpSLT(stored, llvm::Constant::getNullValue(storageType()));
}

LlvmValue Masks::allOnes() {
  return llvm::Constant::getAllOnesValue(llvm::FixedVectorType::get(b_.getInt1Ty(), kLanes));
}
LlvmValue Masks::noLanes() { return llvm::Constant::getNullValue(llvm::FixedVectorType::get(b_.getInt1Ty(), kLanes)); }

LlvmValue Masks::laneBits(LlvmValue mask) { return b_.CreateBitCast(mask, b_.getInt32Ty()); }

LlvmValue Masks::laneBits(const Parts& mask) {
  LlvmValue all = llvm::PoisonValue::get(llvm::FixedVectorType::get(b_.getInt32Ty(), unsigned(mask.size())));
  for (unsigned p = 0; p < mask.size(); ++p) all = b_.CreateInsertElement(all, laneBits(mask[p]), p);
  return all;
}

LlvmValue Masks::anyLane(LlvmValue mask) { return b_.CreateICmpNE(laneBits(mask), b_.getInt32(0)); }

/// Is any lane of any part active?
LlvmValue Masks::anyLane(const Parts& mask) {
  LlvmValue all = mask[0];
  for (unsigned p = 1; p < mask.size(); ++p) all = b_.CreateOr(all, mask[p]);
  return anyLane(all);
}

/// A select rather than an `and`: it says "b where a holds, else nothing", also where `b` is poison. That happens to
/// lanes that are off, and to a warp of a coarsened batch that is not in the block: nobody gave its registers a value
/// there. An `and` would be poison too, and LLVM takes a branch on poison for code that cannot be reached.
LlvmValue Masks::both(LlvmValue a, LlvmValue b) { return a ? b_.CreateSelect(a, b, noLanes()) : b; }

Parts Masks::both(const Parts& a, const Parts& b) {
  if (b.empty()) return a;
  Parts r;
  for (unsigned p = 0; p < warps(); ++p) r.push_back(both(maskOf(a, p), b[p]));
  return r;
}

Parts Masks::butNot(const Parts& a, const Parts& b) {
  Parts r;
  for (unsigned p = 0; p < warps(); ++p) r.push_back(both(maskOf(a, p), b_.CreateNot(b[p])));
  return r;
}

LlvmValue Masks::lanesOrAll(const Parts& mask, unsigned part) {
  return mask.empty() ? b_.getInt32(~0u) : laneBits(mask[part]);
}

}  // namespace ordito::jit
