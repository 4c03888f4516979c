// Non-temporal stores (simt/non_temporal.hpp), if the launch is that large (BlockFrame::nonTemporal). They are in no
// order with others; locked instructions, which PTX's fences and atomics become, and the scheduler, after its last
// block, put them in order again.
#include <cstddef>

#include "jit/lane_access.hpp"

namespace ordito::jit {

/// A warp's contiguous store: the streaming way if the launch is large and the address starts a cache line.
void LaneAccess::storeWhole(LlvmValue address, LlvmValue value) {
  constexpr uint64_t kLine = 64;
  const llvm::Align align(std::max(1u, value->getType()->getScalarSizeInBits() / 8));
  auto *streaming = c_.newBlock("streaming"), *cached = c_.newBlock("cached"), *stored = c_.newBlock("stored");
  LlvmValue large = b_.CreateICmpNE(
      c_.frameField(offsetof(machine::BlockFrame, nonTemporal), b_.getInt32Ty(), "nonTemporal"), b_.getInt32(0));
  LlvmValue within = b_.CreateAnd(b_.CreatePtrToInt(address, b_.getInt64Ty()), b_.getInt64(kLine - 1));
  b_.CreateCondBr(b_.CreateAnd(large, b_.CreateICmpEQ(within, b_.getInt64(0))), streaming, cached);
  b_.SetInsertPoint(streaming);
  auto* store = b_.CreateAlignedStore(value, address, llvm::Align(kLine));
  store->setMetadata(llvm::LLVMContext::MD_nontemporal,
                     llvm::MDNode::get(b_.getContext(), {llvm::ConstantAsMetadata::get(b_.getInt32(1))}));
  b_.CreateBr(stored);
  b_.SetInsertPoint(cached);
  b_.CreateAlignedStore(value, address, align);
  b_.CreateBr(stored);
  b_.SetInsertPoint(stored);
}

}  // namespace ordito::jit
