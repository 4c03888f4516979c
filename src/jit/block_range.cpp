// See block_range.hpp.
#include "jit/block_range.hpp"

#include <cstddef>

namespace ordito::jit {

using machine::BlockFrame;

LlvmValue BlockRange::addressOf(size_t field, unsigned d) {
  return b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), c_.frame, field + 4 * d);
}

void BlockRange::begin(LlvmValue count) {
  auto* before = b_.GetInsertBlock();
  head_ = c_.newBlock("block");
  b_.CreateBr(head_);
  b_.SetInsertPoint(head_);
  left_ = b_.CreatePHI(b_.getInt32Ty(), 2, "blocks.left");
  left_->addIncoming(count, before);
  for (unsigned d = 0; d < 3; ++d)
    c_.memory.ctaid[d] = b_.CreateLoad(b_.getInt32Ty(), addressOf(offsetof(BlockFrame, ctaid), d), "ctaid");
}

/// x counts fastest, then y, then z. The frame always names the block that runs: a fault's message asks it, and code
/// for single warps; so the stores may neither go nor move. What they are made of is read anew: registers that kept it
/// through the block would have to be spilled there.
void BlockRange::end() {
  auto* next = c_.newBlock("nextblock");
  auto* after = c_.newBlock("endrange");
  LlvmValue left = b_.CreateSub(left_, b_.getInt32(1));
  b_.CreateCondBr(b_.CreateICmpEQ(left, b_.getInt32(0)), after, next);
  b_.SetInsertPoint(next);
  left_->addIncoming(left, next);
  LlvmValue carry = b_.getInt32(1);
  auto read = [&](size_t field, unsigned d) {
    return b_.CreateLoad(b_.getInt32Ty(), addressOf(field, d), /*isVolatile=*/true);
  };
  for (unsigned d = 0; d < 3; ++d) {
    LlvmValue up = b_.CreateAdd(read(offsetof(BlockFrame, ctaid), d), carry);
    LlvmValue wraps = d < 2 ? b_.CreateICmpEQ(up, read(offsetof(BlockFrame, nctaid), d)) : b_.getFalse();
    b_.CreateStore(b_.CreateSelect(wraps, b_.getInt32(0), up), addressOf(offsetof(BlockFrame, ctaid), d),
                   /*isVolatile=*/true);
    carry = b_.CreateZExt(wraps, b_.getInt32Ty());
  }
  b_.CreateBr(head_);
  b_.SetInsertPoint(after);
}

}  // namespace ordito::jit
