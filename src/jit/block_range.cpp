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

/// Written out, the next block's number is twenty instructions, which LLVM takes longer for than for one call.
void BlockRange::end() {
  auto* next = c_.newBlock("nextblock");
  auto* after = c_.newBlock("endrange");
  LlvmValue left = b_.CreateSub(left_, b_.getInt32(1));
  b_.CreateCondBr(b_.CreateICmpEQ(left, b_.getInt32(0)), after, next);
  b_.SetInsertPoint(next);
  left_->addIncoming(left, next);
  auto* call = llvm::cast<llvm::CallInst>(c_.helper("ordito_next_block", b_.getVoidTy(), {c_.frame}));
  call->setMemoryEffects(llvm::MemoryEffects::argMemOnly());
  call->addFnAttr(llvm::Attribute::WillReturn);
  b_.CreateBr(head_);
  b_.SetInsertPoint(after);
}

}  // namespace ordito::jit
