// Privatised counters (simt/privatised_counters.hpp): their copies are cleared when a block starts, and added up at the
// end of each region that counts in them.
#include "jit/privatised_copies.hpp"

#include <algorithm>

namespace ordito::jit {

/// The address of a copy, 0 being shared memory itself. Places in it differ from the same places in the others in their
/// last 12 bits, by which hosts judge at first whether a load has to wait for a store.
LlvmValue PrivatisedCopies::address(unsigned copy) {
  if (copy == 0) return c_.sharedBase();
  LlvmValue spillSlot = b_.CreatePtrToInt(c_.scratchAddress(plan_.kept.spills.counters), b_.getInt64Ty());
  LlvmValue skew = b_.CreateAnd(b_.CreateSub(c_.sharedBase(), spillSlot), simt::cost::kPage - 1);
  return b_.CreateAdd(b_.CreateAdd(spillSlot, skew), b_.getInt64(copy * plan_.kept.counters.pitch));
}

/// At the start of a block, whose scratch memory may hold anything.
void PrivatisedCopies::clear() {
  if (!plan_.kept.counters.any()) return;
  for (unsigned copy = 1; copy < plan_.kept.counters.copies; ++copy)
    b_.CreateMemSet(c_.pointer(address(copy)), b_.getInt8(0), plan_.kept.counters.bytes, llvm::Align(4));
}

/// Behind the loop over the batches: what was counted in copies goes where it belongs, and the copies are zero again.
void PrivatisedCopies::addUp() {
  auto *before = b_.GetInsertBlock(), *loop = c_.newBlock("copies"), *after = c_.newBlock("copiesadded");
  const unsigned rowBytes = plan_.kept.counters.bytes % 64 == 0 ? 64 : 16;
  auto* row = llvm::FixedVectorType::get(b_.getInt32Ty(), rowBytes / 4);
  const llvm::Align align(4);
  b_.CreateBr(loop);
  b_.SetInsertPoint(loop);
  auto* at = b_.CreatePHI(b_.getInt64Ty(), 2);
  at->addIncoming(b_.getInt64(0), before);
  auto place = [&](unsigned copy) { return c_.pointer(b_.CreateAdd(address(copy), at)); };
  LlvmValue sum = b_.CreateAlignedLoad(row, place(0), align);
  for (unsigned copy = 1; copy < plan_.kept.counters.copies; ++copy) {
    sum = b_.CreateAdd(sum, b_.CreateAlignedLoad(row, place(copy), align));
    b_.CreateAlignedStore(llvm::Constant::getNullValue(row), place(copy), align);
  }
  b_.CreateAlignedStore(sum, place(0), align);
  LlvmValue next = b_.CreateAdd(at, b_.getInt64(rowBytes));
  at->addIncoming(next, loop);
  b_.CreateCondBr(b_.CreateICmpULT(next, b_.getInt64(plan_.kept.counters.bytes)), loop, after);
  b_.SetInsertPoint(after);
}

/// Are the offsets of all lanes inside the shared memory that has copies? What lies outside is the other code's
/// business.
LlvmValue PrivatisedCopies::contain(const Parts& offsets) {
  LlvmValue last = values_.splat(b_.getInt32(plan_.kept.counters.bytes - isa::bytes(isa::Type::u32)));
  LlvmValue inside = nullptr;
  for (LlvmValue o : offsets) {
    LlvmValue here = b_.CreateICmpULE(o, last);
    inside = inside ? b_.CreateAnd(inside, here) : here;
  }
  return b_.CreateICmpEQ(masks_.laneBits(inside), b_.getInt32(~0u));
}

}  // namespace ordito::jit
