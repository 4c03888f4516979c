// See lane_access.hpp; interleaved.cpp has the patterns that take shuffles.
#include "jit/lane_access.hpp"

#include <algorithm>
#include <map>

namespace ordito::jit {

/// One load; where `any` is given and false, from the dummy word.
LlvmValue LaneAccess::loadScalar(LlvmValue address, int64_t offset, llvm::Type* element, LlvmValue any) {
  LlvmValue p = c_.pointer(address, offset);
  if (any) p = b_.CreateSelect(any, p, c_.scratchAddress(plan_.kept.spills.dummy));
  return b_.CreateAlignedLoad(element, p, llvm::Align(std::max(1u, element->getScalarSizeInBits() / 8)));
}

LlvmValue LaneAccess::load(const Address& a, unsigned part, int64_t offset, llvm::Type* element, LlvmValue mask,
                           const simt::Access& access) {
  const simt::ElementTransfer& w = access.elementTransfer(mask != nullptr);
  if (w.transfer == Transfer::Runs) return loadRuns(a, part, offset, element, mask, w.width);
  if (w.transfer == Transfer::Strided) return loadStrided(a, part, offset, element);
  if (w.transfer == Transfer::Window) return loadWindow(a, part, offset, element, mask);
  LlvmValue addresses = addresses_.addressVector(a, part, offset);
  return w.transfer == Transfer::Tested && access.isTested ? general_.loadTested(addresses, element, mask)
                                                           : general_.gather(addresses, element, mask);
}

LlvmValue LaneAccess::loadRuns(const Address& a, unsigned part, int64_t offset, llvm::Type* element, LlvmValue mask,
                               unsigned width) {
  const unsigned bytes = std::max(1u, element->getScalarSizeInBits() / 8);
  const llvm::Align align(bytes);
  LlvmValue result = llvm::PoisonValue::get(llvm::FixedVectorType::get(element, kLanes));
  std::map<std::pair<LlvmValue, int64_t>, LlvmValue> loaded;  // two halves of a warp often read the same row
  for (unsigned first = 0; first < kLanes; first += width) {
    LlvmValue base = a.bases[part][first * a.segments / kLanes];
    const int64_t at = a.pattern[first] + offset;
    auto* type = llvm::FixedVectorType::get(element, width);
    LlvmValue run;
    if (auto it = loaded.find({base, at}); !mask && it != loaded.end()) {
      run = it->second;
    } else if (classify(a.pattern, first, width, bytes) == Run::Kind::Same) {
      LlvmValue any = mask ? b_.CreateOrReduce(values_.lanesOf(mask, first, width)) : nullptr;
      run = b_.CreateVectorSplat(width, loadScalar(base, at, element, any));
    } else if (!mask) {
      run = b_.CreateAlignedLoad(type, c_.pointer(base, at), align);
    } else {
      run = b_.CreateMaskedLoad(type, c_.pointer(base, at), align, values_.lanesOf(mask, first, width),
                                llvm::Constant::getNullValue(type));
    }
    loaded[{base, at}] = run;
    result = width == kLanes ? run : b_.CreateInsertVector(result->getType(), result, run, b_.getInt64(first));
  }
  return result;
}

void LaneAccess::store(const Address& a, unsigned part, int64_t offset, LlvmValue value, LlvmValue mask,
                       const simt::Access& access) {
  const simt::ElementTransfer& w = access.elementTransfer(mask != nullptr);
  if (w.transfer == Transfer::Runs) return storeRuns(a, part, offset, value, mask, w.width, access.isNonTemporal);
  if (w.transfer == Transfer::Strided) return storeStrided(a, part, offset, value);
  if (w.transfer == Transfer::Window) return storeWindow(a, part, offset, value, mask);
  LlvmValue addresses = addresses_.addressVector(a, part, offset);
  if (w.transfer == Transfer::Tested && access.isTested)
    general_.storeTested(addresses, value, mask);
  else
    general_.scatter(addresses, value, mask);
}

void LaneAccess::storeRuns(const Address& a, unsigned part, int64_t offset, LlvmValue value, LlvmValue mask,
                           unsigned width, bool isNonTemporal) {
  llvm::Type* element = value->getType()->getScalarType();
  const unsigned bytes = std::max(1u, element->getScalarSizeInBits() / 8);
  const llvm::Align align(bytes);
  for (unsigned first = 0; first < kLanes; first += width) {
    LlvmValue base = a.bases[part][first * a.segments / kLanes];
    const int64_t at = a.pattern[first] + offset;
    LlvmValue run = values_.lanesOf(value, first, width);
    if (classify(a.pattern, first, width, bytes) == Run::Kind::Same) {
      storeSame(c_.pointer(base, at), run, mask ? values_.lanesOf(mask, first, width) : nullptr);
    } else if (!mask && width == kLanes && isNonTemporal) {
      storeWhole(c_.pointer(base, at), run);
    } else if (!mask) {
      b_.CreateAlignedStore(run, c_.pointer(base, at), align);
    } else if (c_.target.slowMaskedStores && width == kLanes) {
      const unsigned bits = element->getScalarSizeInBits();
      LlvmValue words = b_.CreateBitCast(run, llvm::FixedVectorType::get(b_.getIntNTy(bits), kLanes));
      auto* call = b_.CreateCall(sparseStore(bits), {c_.pointer(base, at), words, masks_.laneBits(mask)});
      call->setDoesNotThrow();
    } else {
      b_.CreateMaskedStore(run, c_.pointer(base, at), align, values_.lanesOf(mask, first, width));
    }
  }
}

/// All lanes of `run` write one place; PTX lets any of them win: the highest active one does.
void LaneAccess::storeSame(LlvmValue p, LlvmValue run, LlvmValue lanes) {
  auto* type = llvm::cast<llvm::FixedVectorType>(run->getType());
  const unsigned width = type->getNumElements();
  LlvmValue lane = b_.getInt64(width - 1);
  if (lanes) {
    LlvmValue bits = b_.CreateZExt(b_.CreateBitCast(lanes, b_.getIntNTy(width)), b_.getInt64Ty());
    LlvmValue any = b_.CreateICmpNE(bits, b_.getInt64(0));
    p = b_.CreateSelect(any, p, c_.scratchAddress(plan_.kept.spills.dummy));
    LlvmValue before = b_.CreateIntrinsic(llvm::Intrinsic::ctlz, {b_.getInt64Ty()}, {bits, b_.getFalse()});
    lane = b_.CreateAnd(b_.CreateSub(b_.getInt64(63), before), b_.getInt64(width - 1));
  }
  const llvm::Align align(std::max(1u, type->getScalarSizeInBits() / 8));
  b_.CreateAlignedStore(b_.CreateExtractElement(run, lane), p, align);
}

}  // namespace ordito::jit
