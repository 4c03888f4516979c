// See sector_rows.hpp.
#include "jit/sector_rows.hpp"

#include <llvm/IR/MDBuilder.h>

#include "rt/sector_rows.hpp"

namespace ordito::jit {

using Rows = rt::SectorRows;

LlvmValue SectorRows::field(size_t offset) const {
  return b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), rows_, offset);
}

/// The runtime keeps no pointer, so that LLVM knows that nothing else leads to the rows and the words.
LlvmValue SectorRows::call(const char* name, llvm::Type* result, llvm::ArrayRef<LlvmValue> arguments) {
  auto* made = llvm::cast<llvm::CallInst>(c_.helper(name, result, arguments));
  for (unsigned k = 0; k < arguments.size(); ++k)
    if (arguments[k]->getType()->isPointerTy()) made->addParamAttr(k, llvm::Attribute::NoCapture);
  return made;
}

void SectorRows::branch(LlvmValue usual, llvm::BasicBlock* where, llvm::BasicBlock* otherwise) {
  b_.CreateCondBr(usual, where, otherwise, llvm::MDBuilder(b_.getContext()).createLikelyBranchWeights());
}

void SectorRows::begin(LlvmValue counters) {
  counters_ = counters;
  llvm::IRBuilder<> entry(c_.entry);
  rows_ = entry.CreateAlloca(llvm::ArrayType::get(b_.getInt8Ty(), sizeof(Rows)), nullptr, "rows");
  rows_->setAlignment(llvm::Align(alignof(Rows)));
  auto clear = [&](size_t offset, llvm::Type* type) {
    auto* at = llvm::cast<llvm::Instruction>(entry.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), rows_, offset));
    whereUsed_.push_back(entry.CreateStore(llvm::Constant::getNullValue(type), at));
    whereUsed_.push_back(at);
  };
  clear(offsetof(Rows, count), b_.getInt32Ty());
  clear(offsetof(Rows, begin), b_.getInt64Ty());
}

LlvmValue SectorRows::add(uint32_t word, LlvmValue addresses, LlvmValue mask, unsigned bytes) {
  isUsed_ = true;
  if (mask) addresses = b_.CreateFreeze(addresses);  // lanes that are off may hold anything
  auto *here = c_.newBlock("write"), *elsewhere = c_.newBlock("elsewhere"), *join = c_.newBlock("counted");
  LlvmValue places =
      b_.CreateSub(addresses, values_.splat(b_.CreateLoad(b_.getInt64Ty(), field(offsetof(Rows, begin)))));
  LlvmValue isFar = b_.CreateICmpUGE(places, values_.splat(b_.getInt64(Rows::kWindow)));
  branch(b_.CreateICmpEQ(masks_.laneBits(masks_.both(mask, isFar)), b_.getInt32(0)), here, elsewhere);
  b_.SetInsertPoint(elsewhere);
  LlvmValue now =
      call("ordito_count_sectors_elsewhere", b_.getInt64Ty(),
           {rows_, c_.inMemory(addresses), mask ? masks_.laneBits(mask) : b_.getInt32(~0u), b_.getInt32(bytes)});
  b_.CreateBr(join);
  b_.SetInsertPoint(here);
  write(word, places, mask, join);
  b_.SetInsertPoint(join);
  auto* sum = b_.CreatePHI(b_.getInt64Ty(), 3);
  for (llvm::BasicBlock* from : llvm::predecessors(join))
    sum->addIncoming(from == elsewhere ? now : b_.getInt64(0), from);
  return sum;
}

/// Where no lane's address is below that of the lane before it, the lanes of a sector are neighbours. Addresses are
/// multiples of the size, so a lane touches one sector. Lanes that are off need not be in order, but often are: they
/// left a loop, or a condition does not hold for what they would access.
LlvmValue SectorRows::addOrdered(uint32_t word, LlvmValue addresses, LlvmValue mask, unsigned bytes) {
  std::vector<int> before(kLanes, 0);
  for (unsigned lane = 1; lane < kLanes; ++lane) before[lane] = static_cast<int>(lane) - 1;
  if (mask) addresses = b_.CreateFreeze(addresses);  // lanes that are off may hold anything
  LlvmValue sector = b_.CreateLShr(addresses, 5), last = b_.CreateShuffleVector(sector, before);
  LlvmValue ascends = b_.CreateICmpEQ(masks_.laneBits(b_.CreateICmpUGE(sector, last)), b_.getInt32(~0u));
  LlvmValue begins = masks_.laneBits(b_.CreateICmpNE(sector, last));
  LlvmValue sectors = mask ? runsWith(begins, masks_.laneBits(mask)) : b_.CreateOr(begins, b_.getInt32(1));
  LlvmValue sum = b_.CreateZExt(b_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, sectors), b_.getInt64Ty());
  auto *from = b_.GetInsertBlock(), *anywhere = c_.newBlock("anywhere"), *join = c_.newBlock("counted");
  b_.CreateCondBr(ascends, join, anywhere);
  b_.SetInsertPoint(anywhere);
  LlvmValue now = add(word, addresses, mask, bytes);
  auto* end = b_.GetInsertBlock();
  b_.CreateBr(join);
  b_.SetInsertPoint(join);
  auto* counted = b_.CreatePHI(b_.getInt64Ty(), 2);
  counted->addIncoming(sum, from);
  counted->addIncoming(now, end);
  return counted;
}

/// A bit for each run of lanes in which one of `lanes` is; runs begin at the bits of `begins`, and at the first lane.
/// Added to a run that is all ones but for its last lane, a lane that is on carries into the last, and not beyond.
LlvmValue SectorRows::runsWith(LlvmValue begins, LlvmValue lanes) {
  LlvmValue lasts = b_.CreateOr(b_.CreateLShr(begins, 1), b_.getInt32(1u << 31)), others = b_.CreateNot(lasts);
  LlvmValue carried = b_.CreateAdd(b_.CreateAnd(lanes, others), others);
  return b_.CreateAnd(b_.CreateOr(carried, lanes), lasts);
}

void SectorRows::write(uint32_t word, LlvmValue places, LlvmValue mask, llvm::BasicBlock* join) {
  auto* numbers = llvm::FixedVectorType::get(b_.getInt32Ty(), kLanes);
  LlvmValue sectors = b_.CreateTrunc(b_.CreateLShr(places, 5), numbers);
  if (mask) sectors = b_.CreateSelect(mask, sectors, llvm::Constant::getAllOnesValue(numbers));
  LlvmValue count = b_.CreateLoad(b_.getInt32Ty(), field(offsetof(Rows, count)));
  LlvmValue row = b_.CreateZExt(count, b_.getInt64Ty());
  b_.CreateAlignedStore(sectors, b_.CreateInBoundsGEP(numbers, rows_, row), llvm::Align(alignof(Rows)));
  b_.CreateStore(b_.getInt32(word), b_.CreateInBoundsGEP(b_.getInt32Ty(), field(offsetof(Rows, word)), row));
  LlvmValue next = b_.CreateAdd(count, b_.getInt32(1));
  b_.CreateStore(next, field(offsetof(Rows, count)));
  auto* full = c_.newBlock("full");
  branch(b_.CreateICmpNE(next, b_.getInt32(Rows::kRows)), join, full);
  b_.SetInsertPoint(full);
  call("ordito_count_rows", b_.getVoidTy(), {rows_, counters_});
  b_.CreateBr(join);
}

void SectorRows::flush() {
  whereUsed_.push_back(llvm::cast<llvm::Instruction>(call("ordito_count_rows", b_.getVoidTy(), {rows_, counters_})));
}

void SectorRows::finish() {
  if (isUsed_) return;
  for (llvm::Instruction* i : whereUsed_)
    if (!llvm::isa<llvm::AllocaInst>(i)) i->eraseFromParent();
  rows_->eraseFromParent();
}

}  // namespace ordito::jit
