// See block_range.hpp.
#include "jit/block_range.hpp"

#include <cstddef>

namespace ordito::jit {

using machine::BlockFrame;

LlvmValue BlockRange::ctaidAddress(unsigned d) {
  return b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), c_.frame, offsetof(BlockFrame, ctaid) + 4 * d);
}

void BlockRange::begin(LlvmValue count) {
  LlvmValue first[3];
  for (unsigned d = 0; d < 3; ++d) first[d] = b_.CreateLoad(b_.getInt32Ty(), ctaidAddress(d), "first");
  auto* before = b_.GetInsertBlock();
  head_ = c_.newBlock("block");
  b_.CreateBr(head_);
  b_.SetInsertPoint(head_);
  left_ = b_.CreatePHI(b_.getInt32Ty(), 2, "blocks.left");
  left_->addIncoming(count, before);
  for (unsigned d = 0; d < 3; ++d) {
    ctaid_[d] = b_.CreatePHI(b_.getInt32Ty(), 2, "ctaid");
    ctaid_[d]->addIncoming(first[d], before);
    c_.memory.ctaid[d] = ctaid_[d];
  }
}

/// x counts fastest, then y, then z. The frame always names the block that runs: a fault's message asks it, and code
/// for single warps; so the stores may neither go nor move.
void BlockRange::end() {
  auto* next = c_.newBlock("nextblock");
  auto* after = c_.newBlock("endrange");
  LlvmValue left = b_.CreateSub(left_, b_.getInt32(1));
  b_.CreateCondBr(b_.CreateICmpEQ(left, b_.getInt32(0)), after, next);
  b_.SetInsertPoint(next);
  left_->addIncoming(left, next);
  LlvmValue carry = b_.getInt32(1);
  for (unsigned d = 0; d < 3; ++d) {
    LlvmValue up = b_.CreateAdd(ctaid_[d], carry);
    LlvmValue wraps = d < 2 ? b_.CreateICmpEQ(up, c_.memory.nctaid[d]) : b_.getFalse();
    LlvmValue place = b_.CreateSelect(wraps, b_.getInt32(0), up);
    carry = b_.CreateZExt(wraps, b_.getInt32Ty());
    b_.CreateStore(place, ctaidAddress(d), /*isVolatile=*/true);
    ctaid_[d]->addIncoming(place, next);
  }
  b_.CreateBr(head_);
  b_.SetInsertPoint(after);
}

}  // namespace ordito::jit
