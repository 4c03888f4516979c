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

CodeLowering::CodeLowering(KernelParts& parts, ScheduledRegions& scheduled, const simt::RegionCode& region)
    : Chapter(parts.tools),
      parts_(parts),
      state_(parts.state),
      scheduled_(scheduled),
      code_(region),
      lanes_(region.masks),
      blocks_(region.blocks.size()),
      heirs_(region.blocks.size()) {
  for (simt::CodeBlockId b = 0; b < region.blocks.size(); ++b)
    if (region.blocks[b].inherits != simt::kNoCodeBlock) heirs_[region.blocks[b].inherits].push_back(b);
}

void CodeLowering::enterHere(uint32_t resumePoint) {
  for (const simt::CodeEntry& entry : code_.entries)
    if (entry.resumePoint == resumePoint) blocks_[entry.block] = b_.GetInsertBlock();
}

void CodeLowering::lower() {
  for (simt::CodeBlockId b = 0; b < code_.blocks.size(); ++b) lower(b);
}

void CodeLowering::lower(simt::CodeBlockId b) {
  block_ = b;
  b_.SetInsertPoint(at(b));
  values_.cache().clear();
  if (const auto start = starts_.find(b); start != starts_.end()) {
    values_.cache() = std::move(start->second);
    starts_.erase(start);
  }
  for (const Operation& o : code_.blocks[b].operations) {
    if (o.isTerminator())
      for (simt::CodeBlockId heir : heirs_[b]) starts_[heir] = values_.cache();
    lower(o);
  }
}

llvm::BasicBlock* CodeLowering::at(simt::CodeBlockId b) {
  if (!blocks_[b]) blocks_[b] = c_.newBlock(code_.blocks[b].label.c_str());
  return blocks_[b];
}

llvm::BasicBlock* CodeLowering::target(const Operation& o, unsigned k) {
  return o.targets[k] == simt::kRegionEnd ? state_.latch : at(o.targets[k]);
}

void CodeLowering::lower(const Operation& o) {
  if (o.givesMask())
    lanes_[o.result] = makeMask(o);
  else if (o.isTerminator())
    lowerEnd(o);
  else if (!lowerState(o) && !lowerSynchronisation(o))
    llvm_unreachable("an operation that nobody lowers");
}

Parts CodeLowering::makeMask(const Operation& o) {
  Parts lanes;
  switch (o.op) {
    case Op::Live:
      for (unsigned p = 0; p < warps(); ++p)
        lanes.push_back(masks_.fromStorage(b_.CreateLoad(masks_.storageType(), state_.live[p])));
      return lanes;
    case Op::Waiting:
      for (unsigned p = 0; p < warps(); ++p)
        lanes.push_back(masks_.fromStorage(b_.CreateLoad(masks_.storageType(), waitingSlots(o.block)[p])));
      return lanes;
    case Op::Launched: return launched();
    case Op::Kept: return kept();
    case Op::Given: return {b_.CreateBitCast(given_, llvm::FixedVectorType::get(b_.getInt1Ty(), kLanes))};
    case Op::Condition: return values_.conditionMask(o.predicate, o.negated);
    case Op::And: return masks_.both(maskFor(o.a), maskFor(o.b));
    case Op::AndNot: return masks_.butNot(maskFor(o.a), maskFor(o.b));
    default: llvm_unreachable("no mask");
  }
}

/// What the region before has left in the batch's spill slot.
Parts CodeLowering::kept() {
  Parts lanes;
  for (unsigned p = 0; p < warps(); ++p) {
    LlvmValue bits =
        b_.CreateLoad(b_.getInt32Ty(), c_.scratchOfWarp(plan_.kept.spills.live, simt::SpillSlots::kLiveBytes, p));
    lanes.push_back(b_.CreateBitCast(bits, llvm::FixedVectorType::get(b_.getInt1Ty(), kLanes)));
  }
  return lanes;
}

bool CodeLowering::lowerState(const Operation& o) {
  switch (o.op) {
    case Op::SetLive: setLive(maskFor(o.a)); break;
    case Op::EndAll: setLive(Parts(warps(), masks_.noLanes())); break;
    case Op::Retire: retire(maskFor(o.a)); break;
    case Op::Wait: wait(o.block, maskFor(o.a)); break;
    case Op::ClearWaiting: clearWaiting(o.block); break;
    case Op::Run: run(o); break;
    case Op::Assign: assignPhis(o.block, o.to, maskFor(o.a), o.values); break;
    case Op::RunThreads: runThreads(o); break;
    case Op::Forget:
      for (ValueId v : o.values) values_.forget(v);
      break;
    case Op::EndEvent:
      counting_.raiseEnd(f_.blocks[o.block].end, maskFor(o.a));
      eventCalls_.barrier(f_.blocks[o.block].end, maskFor(o.a), !code_.isScheduled);
      break;
    case Op::TakenEvent: counting_.raiseTaken(f_.blocks[o.block].end, maskFor(o.a)); break;
    case Op::PartEvent: counting_.raiseParted(f_.blocks[o.block].end, maskFor(o.a), maskFor(o.b)); break;
    case Op::ExitEvent: counting_.raiseExit(f_.blocks[o.block].end, maskFor(o.a)); break;
    default: return false;
  }
  return true;
}

bool CodeLowering::lowerSynchronisation(const Operation& o) {
  switch (o.op) {
    case Op::CheckBarrier: {
      const ir::Terminator& end = f_.blocks[o.block].end;
      scheduled_.checkBarrierNumber(end.barrier, end.line);
      break;
    }
    case Op::ReduceBarrier: parts_.reductions.arrive(f_.blocks[o.block].end.barrier, maskFor(o.a)); break;
    case Op::Spill: parts_.spills.spill(o.resumePoint, maskFor(o.a)); break;
    case Op::KeepShared:
      for (const SharedValue& v : state_.sharedValues)
        b_.CreateStore(b_.CreateLoad(v.slot->getAllocatedType(), v.slot), v.after);
      break;
    case Op::Park: {
      const ir::Terminator& end = f_.blocks[o.block].end;
      scheduled_.stop(o.block, maskFor(o.a));
      assignPhis(o.block, end.target[0], maskFor(o.a));
      parts_.spills.spill(plan_.regions.pointOf[end.target[0]], maskFor(o.a));
      break;
    }
    case Op::BeginSpin: spinning_[o.block] = beginSpin(); break;
    case Op::CountSpin: scheduled_.noteSpin(o.block, maskFor(o.a), kSpinsForOthers); break;
    case Op::RunApart: runApart(); break;
    default: return false;
  }
  return true;
}

void CodeLowering::lowerEnd(const Operation& o) {
  switch (o.op) {
    case Op::Branch: b_.CreateBr(target(o, 0)); return;
    case Op::BranchUniform: {
      LlvmValue condition = values_.baseOf(o.predicate, 0, 0);
      auto *first = target(o, 0), *second = target(o, 1);
      b_.CreateCondBr(condition, o.negated ? second : first, o.negated ? first : second);
      return;
    }
    case Op::BranchOnBase: return branchOnBase(o);
    case Op::BranchAny: {
      auto *any = target(o, 0), *none = target(o, 1);
      b_.CreateCondBr(masks_.anyLane(maskFor(o.a)), any, none);
      return;
    }
    case Op::BranchWhole: return branchWhole(o);
    case Op::BranchSpin: return branchSpin(o);
    case Op::NextRegion:
      b_.CreateStore(b_.getInt32(o.resumePoint), state_.next);
      b_.CreateBr(o.isWhole && state_.advance ? state_.advance : state_.latch);
      return;
    case Op::Trap: return emitTrap(f_.blocks[o.block].end);
    default: llvm_unreachable("no end");
  }
}

void CodeLowering::run(const Operation& o) {
  c_.at.mask = maskFor(o.a);
  c_.at.hasLane = o.isWhole;
  c_.at.keeping = &o.values;
  emitCode(o.block);
  c_.at.keeping = nullptr;
}

void CodeLowering::setLive(const Parts& lanes) {
  for (unsigned p = 0; p < warps(); ++p)
    b_.CreateStore(masks_.toStorage(lanes.empty() ? masks_.allOnes() : lanes[p]), state_.live[p]);
}

void CodeLowering::retire(const Parts& lanes) {
  for (unsigned p = 0; p < warps(); ++p) {
    LlvmValue live = masks_.fromStorage(b_.CreateLoad(masks_.storageType(), state_.live[p]));
    b_.CreateStore(masks_.toStorage(b_.CreateAnd(live, b_.CreateNot(lanes[p]))), state_.live[p]);
  }
}

void CodeLowering::wait(BlockId b, const Parts& lanes) {
  const auto& slots = waitingSlots(b);
  for (unsigned p = 0; p < warps(); ++p) {
    LlvmValue more = masks_.toStorage(lanes.empty() ? masks_.allOnes() : lanes[p]);
    b_.CreateStore(b_.CreateOr(b_.CreateLoad(masks_.storageType(), slots[p]), more), slots[p]);
  }
}

void CodeLowering::clearWaiting(BlockId b) {
  for (auto* slot : waitingSlots(b)) b_.CreateStore(llvm::Constant::getNullValue(masks_.storageType()), slot);
}

/// A warp whose base alone decides goes where all its lanes go; the others need to ask their lanes only, and from here
/// on the values in registers have the condition as it is for them.
void CodeLowering::branchOnBase(const Operation& o) {
  const Comparison* found = parts_.instructions.comparisons().find(o.predicate);
  if (!found) {
    at(o.targets[0]), at(o.targets[1]);
    blocks_[o.targets[2]] = b_.GetInsertBlock();
    return;
  }
  const Comparison& c = *found;
  llvm::BasicBlock* all[2] = {at(o.targets[0]), at(o.targets[1])};
  auto* open = at(o.targets[2]);
  b_.CreateCondBr(c.open, open, all[c.negated == o.negated ? 1 : 0]);
  b_.SetInsertPoint(open);
  starts_[o.targets[2]][o.predicate].vectors[0] = c.negated ? b_.CreateNot(c.lanes) : c.lanes;
}

void CodeLowering::branchWhole(const Operation& o) {
  LlvmValue whole = nullptr;
  for (LlvmValue lanes : maskFor(o.a)) {
    LlvmValue full = b_.CreateICmpEQ(masks_.laneBits(lanes), b_.getInt32(~0u));
    whole = whole ? b_.CreateAnd(whole, full) : full;
  }
  auto *yes = target(o, 0), *no = target(o, 1);
  b_.CreateCondBr(whole, yes, no);
}

CodeLowering::Spin CodeLowering::beginSpin() {
  llvm::IRBuilder<> at(c_.entry);
  Spin spin{at.CreateAlloca(b_.getInt32Ty(), nullptr, "before"), at.CreateAlloca(b_.getInt32Ty(), nullptr, "spins")};
  b_.CreateStore(b_.getInt32(0), spin.before);
  b_.CreateStore(b_.getInt32(0), spin.count);
  return spin;
}

/// If for some iterations nobody has left, those who go round again stop, and the lanes that did leave go on.
void CodeLowering::branchSpin(const Operation& o) {
  const Spin& spin = spinning_.at(o.block);
  LlvmValue again = maskFor(o.a)[0], bits = masks_.laneBits(again);
  LlvmValue same = b_.CreateICmpEQ(bits, b_.CreateLoad(b_.getInt32Ty(), spin.before));
  LlvmValue count = b_.CreateAdd(b_.CreateLoad(b_.getInt32Ty(), spin.count), b_.getInt32(1));
  count = b_.CreateSelect(same, count, b_.getInt32(0));
  b_.CreateStore(bits, spin.before);
  b_.CreateStore(count, spin.count);
  LlvmValue live = masks_.fromStorage(b_.CreateLoad(masks_.storageType(), state_.live[0]));
  LlvmValue others = b_.CreateICmpNE(b_.CreateAnd(masks_.laneBits(live), b_.CreateNot(bits)), b_.getInt32(0));
  LlvmValue limit = b_.CreateSelect(others, b_.getInt32(kSpinsForLanes), b_.getInt32(kSpinsForOthers));
  auto *loop = target(o, 0), *after = target(o, 1);
  auto *some = c_.newBlock("again"), *tired = c_.newBlock("tired");
  b_.CreateCondBr(b_.CreateICmpEQ(bits, b_.getInt32(0)), after, some);
  b_.SetInsertPoint(some);
  b_.CreateCondBr(b_.CreateICmpUGE(count, limit), tired, loop);
  b_.SetInsertPoint(tired);
  scheduled_.stopSpinning(o.block, bits, maskFor(o.a));
  retire(maskFor(o.a));
  clearWaiting(o.block);
  b_.CreateBr(after);
}

}  // namespace ordito::jit
