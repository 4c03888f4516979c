// See code_lowering.hpp.
#include "jit/code_lowering.hpp"

#include <utility>

#include "rt/lane_scheduler.hpp"

namespace ordito::jit {
namespace {

/// Iterations of a loop after which a warp that spins lets the others go on, and after which lanes do so for the other
/// lanes of their warp. (Of the same order as the cost of a stop.)
constexpr uint32_t kSpinsForOthers = 64, kSpinsForLanes = 4;

}  // namespace

CodeLowering::CodeLowering(Emitter& emitter, const simt::RegionCode& region)
    : e_(emitter),
      b_(emitter.b_),
      region_(region),
      masks_(region.masks),
      blocks_(region.blocks.size()),
      heirs_(region.blocks.size()) {
  for (simt::CodeBlockId b = 0; b < region.blocks.size(); ++b)
    if (region.blocks[b].inherits != simt::kNoCodeBlock) heirs_[region.blocks[b].inherits].push_back(b);
}

void CodeLowering::enterHere(uint32_t resumePoint) {
  for (const simt::CodeEntry& entry : region_.entries)
    if (entry.resumePoint == resumePoint) blocks_[entry.block] = b_.GetInsertBlock();
}

void CodeLowering::lower() {
  for (simt::CodeBlockId b = 0; b < region_.blocks.size(); ++b) lower(b);
}

void CodeLowering::lower(simt::CodeBlockId b) {
  block_ = b;
  b_.SetInsertPoint(at(b));
  e_.valueCache_.clear();
  if (const auto start = starts_.find(b); start != starts_.end()) {
    e_.valueCache_ = std::move(start->second);
    starts_.erase(start);
  }
  for (const Operation& o : region_.blocks[b].operations) {
    if (o.isTerminator())
      for (simt::CodeBlockId heir : heirs_[b]) starts_[heir] = e_.valueCache_;
    lower(o);
  }
}

llvm::BasicBlock* CodeLowering::at(simt::CodeBlockId b) {
  if (!blocks_[b]) blocks_[b] = e_.newBlock(region_.blocks[b].label);
  return blocks_[b];
}

llvm::BasicBlock* CodeLowering::target(const Operation& o, unsigned k) {
  return o.targets[k] == simt::kRegionEnd ? e_.regionLatch_ : at(o.targets[k]);
}

void CodeLowering::lower(const Operation& o) {
  if (o.givesMask())
    masks_[o.result] = makeMask(o);
  else if (o.isTerminator())
    lowerEnd(o);
  else if (!lowerState(o) && !lowerSynchronisation(o))
    llvm_unreachable("an operation that nobody lowers");
}

Parts CodeLowering::makeMask(const Operation& o) {
  Parts lanes;
  switch (o.op) {
    case Op::Live:
      for (llvm::AllocaInst* slot : e_.live_) lanes.push_back(e_.fromStorage(b_.CreateLoad(e_.storageType(), slot)));
      return lanes;
    case Op::Waiting:
      for (llvm::AllocaInst* slot : e_.pendingSlots(o.block))
        lanes.push_back(e_.fromStorage(b_.CreateLoad(e_.storageType(), slot)));
      return lanes;
    case Op::Launched: return e_.initialLive();
    case Op::Kept: return kept();
    case Op::Given: return {b_.CreateBitCast(given_, llvm::FixedVectorType::get(b_.getInt1Ty(), kLanes))};
    case Op::Condition: return e_.conditionMask(o.predicate, o.negated);
    case Op::And: return e_.both(maskOf(o.a), maskOf(o.b));
    case Op::AndNot: return e_.butNot(maskOf(o.a), maskOf(o.b));
    default: llvm_unreachable("no mask");
  }
}

/// What the region before has left in the group's spill slot.
Parts CodeLowering::kept() {
  LlvmValue spillSlot = e_.scratchOfGroup(e_.plan_.spills.live, e_.plan_.spills.liveBytes);
  Parts lanes;
  for (unsigned p = 0; p < e_.coarsening_; ++p) {
    LlvmValue bits = b_.CreateLoad(b_.getInt32Ty(), b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), spillSlot, 4 * p));
    lanes.push_back(b_.CreateBitCast(bits, llvm::FixedVectorType::get(b_.getInt1Ty(), kLanes)));
  }
  return lanes;
}

bool CodeLowering::lowerState(const Operation& o) {
  switch (o.op) {
    case Op::SetLive: setLive(maskOf(o.a)); break;
    case Op::EndAll: setLive(Parts(e_.coarsening_, e_.noLanes())); break;
    case Op::Retire: retire(maskOf(o.a)); break;
    case Op::Wait: wait(o.block, maskOf(o.a)); break;
    case Op::ClearWaiting: clearWaiting(o.block); break;
    case Op::Run: run(o); break;
    case Op::Assign: e_.assignPhis(o.block, o.to, maskOf(o.a)); break;
    case Op::Forget:
      for (ValueId v : o.values) e_.forget(v);
      break;
    case Op::EndEvent: {
      const ir::Terminator& end = e_.f_.blocks[o.block].end;
      e_.raiseEnd(end, maskOf(o.a), e_.shapes_.isDivergent(o.block), end.condition);
      break;
    }
    case Op::ExitEvent: e_.raiseExit(e_.f_.blocks[o.block].end, maskOf(o.a)); break;
    default: return false;
  }
  return true;
}

bool CodeLowering::lowerSynchronisation(const Operation& o) {
  switch (o.op) {
    case Op::CheckBarrier: {
      const ir::Terminator& end = e_.f_.blocks[o.block].end;
      e_.checkBarrierNumber(end.barrier, end.line);
      break;
    }
    case Op::ReduceBarrier: e_.arriveAtBarrierReduction(e_.f_.blocks[o.block].end.barrier, maskOf(o.a)); break;
    case Op::Spill: e_.spillForBarrier(o.resumePoint, maskOf(o.a)); break;
    case Op::KeepShared:
      for (const Emitter::SharedValue& v : e_.sharedValues_)
        b_.CreateStore(b_.CreateLoad(v.slot->getAllocatedType(), v.slot), v.after);
      break;
    case Op::Park: e_.emitSyncPoint(o.block, maskOf(o.a)); break;
    case Op::BeginSpin: spins_[o.block] = beginSpin(); break;
    case Op::CountSpin: e_.noteSpin(o.block, maskOf(o.a), kSpinsForOthers); break;
    case Op::RunApart: e_.runApart(); break;
    default: return false;
  }
  return true;
}

void CodeLowering::lowerEnd(const Operation& o) {
  switch (o.op) {
    case Op::Branch: b_.CreateBr(target(o, 0)); return;
    case Op::BranchUniform: {
      LlvmValue condition = e_.baseOf(o.predicate, 0, 0);
      auto *first = target(o, 0), *second = target(o, 1);
      b_.CreateCondBr(condition, o.negated ? second : first, o.negated ? first : second);
      return;
    }
    case Op::BranchOnBase: return branchOnBase(o);
    case Op::BranchAny: {
      auto *any = target(o, 0), *none = target(o, 1);
      b_.CreateCondBr(e_.anyLane(maskOf(o.a)), any, none);
      return;
    }
    case Op::BranchWhole: return branchWhole(o);
    case Op::BranchSpin: return branchSpin(o);
    case Op::NextRegion:
      b_.CreateStore(b_.getInt32(o.resumePoint), e_.nextState_);
      b_.CreateBr(o.isWhole && e_.regionAdvance_ ? e_.regionAdvance_ : e_.regionLatch_);
      return;
    case Op::Trap: return e_.emitTrap(e_.f_.blocks[o.block].end);
    default: llvm_unreachable("no end");
  }
}

void CodeLowering::run(const Operation& o) {
  e_.mask_ = maskOf(o.a);
  e_.maskHasLane_ = o.isWhole;
  e_.keeping_ = &o.values;
  e_.emitCode(o.block);
  e_.keeping_ = nullptr;
}

void CodeLowering::setLive(const Parts& lanes) {
  for (unsigned p = 0; p < e_.coarsening_; ++p)
    b_.CreateStore(e_.toStorage(lanes.empty() ? e_.allOnes() : lanes[p]), e_.live_[p]);
}

void CodeLowering::retire(const Parts& lanes) {
  for (unsigned p = 0; p < e_.coarsening_; ++p) {
    LlvmValue live = e_.fromStorage(b_.CreateLoad(e_.storageType(), e_.live_[p]));
    b_.CreateStore(e_.toStorage(b_.CreateAnd(live, b_.CreateNot(lanes[p]))), e_.live_[p]);
  }
}

void CodeLowering::wait(BlockId b, const Parts& lanes) {
  const auto& slots = e_.pendingSlots(b);
  for (unsigned p = 0; p < e_.coarsening_; ++p) {
    LlvmValue more = e_.toStorage(lanes.empty() ? e_.allOnes() : lanes[p]);
    b_.CreateStore(b_.CreateOr(b_.CreateLoad(e_.storageType(), slots[p]), more), slots[p]);
  }
}

void CodeLowering::clearWaiting(BlockId b) {
  for (auto* slot : e_.pendingSlots(b)) b_.CreateStore(llvm::Constant::getNullValue(e_.storageType()), slot);
}

/// A warp whose base alone decides goes where all its lanes go; the others need to ask their lanes only, and from here
/// on the values in registers have the condition as it is for them.
void CodeLowering::branchOnBase(const Operation& o) {
  const auto found = e_.comparisons_.find(o.predicate);
  if (found == e_.comparisons_.end()) {
    at(o.targets[0]), at(o.targets[1]);
    blocks_[o.targets[2]] = b_.GetInsertBlock();
    return;
  }
  const Comparison& c = found->second;
  llvm::BasicBlock* all[2] = {at(o.targets[0]), at(o.targets[1])};
  auto* open = at(o.targets[2]);
  b_.CreateCondBr(c.open, open, all[c.negated == o.negated ? 1 : 0]);
  b_.SetInsertPoint(open);
  starts_[o.targets[2]][o.predicate].vectors[0] = c.negated ? b_.CreateNot(c.lanes) : c.lanes;
}

void CodeLowering::branchWhole(const Operation& o) {
  LlvmValue whole = nullptr;
  for (LlvmValue lanes : maskOf(o.a)) {
    LlvmValue full = b_.CreateICmpEQ(e_.laneBits(lanes), b_.getInt32(~0u));
    whole = whole ? b_.CreateAnd(whole, full) : full;
  }
  auto *yes = target(o, 0), *no = target(o, 1);
  b_.CreateCondBr(whole, yes, no);
}

CodeLowering::Spin CodeLowering::beginSpin() {
  llvm::IRBuilder<> at(e_.entry_);
  Spin spin{at.CreateAlloca(b_.getInt32Ty(), nullptr, "before"), at.CreateAlloca(b_.getInt32Ty(), nullptr, "spins")};
  b_.CreateStore(b_.getInt32(0), spin.before);
  b_.CreateStore(b_.getInt32(0), spin.count);
  return spin;
}

/// If for some iterations nobody has left, those who go round again stop, and the lanes that did leave go on.
void CodeLowering::branchSpin(const Operation& o) {
  const Spin& spin = spins_.at(o.block);
  LlvmValue again = maskOf(o.a)[0], bits = e_.laneBits(again);
  LlvmValue same = b_.CreateICmpEQ(bits, b_.CreateLoad(b_.getInt32Ty(), spin.before));
  LlvmValue count = b_.CreateAdd(b_.CreateLoad(b_.getInt32Ty(), spin.count), b_.getInt32(1));
  count = b_.CreateSelect(same, count, b_.getInt32(0));
  b_.CreateStore(bits, spin.before);
  b_.CreateStore(count, spin.count);
  LlvmValue live = e_.fromStorage(b_.CreateLoad(e_.storageType(), e_.live_[0]));
  LlvmValue others = b_.CreateICmpNE(b_.CreateAnd(e_.laneBits(live), b_.CreateNot(bits)), b_.getInt32(0));
  LlvmValue limit = b_.CreateSelect(others, b_.getInt32(kSpinsForLanes), b_.getInt32(kSpinsForOthers));
  auto *loop = target(o, 0), *after = target(o, 1);
  auto *some = e_.newBlock("again"), *tired = e_.newBlock("tired");
  b_.CreateCondBr(b_.CreateICmpEQ(bits, b_.getInt32(0)), after, some);
  b_.SetInsertPoint(some);
  b_.CreateCondBr(b_.CreateICmpUGE(count, limit), tired, loop);
  b_.SetInsertPoint(tired);
  e_.stopSpinning(o.block, bits, maskOf(o.a));
  retire(maskOf(o.a));
  clearWaiting(o.block);
  b_.CreateBr(after);
}

}  // namespace ordito::jit
