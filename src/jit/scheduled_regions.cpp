// Code for regions in which threads can get diverged (ir/sync_points.hpp), and the polite end of loops that spin.
//
// Each stop ends a region for the lanes that reach it: they keep what the code behind it reads, each lane for itself,
// and park. From where they may get diverged until all have met again the block function is a loop around
// rt::LaneScheduler::next(), which says what to run. A lane that runs sees the others as if they had ended, so regions
// need nothing else that the code for early exits does not have already. When nobody can do anything but wait for other
// blocks, the function returns, and is called again when those have had a turn.
#include <algorithm>

#include "ir/spin_loops.hpp"
#include "jit/code_lowering.hpp"
#include "rt/lane_scheduler.hpp"

namespace ordito::jit {

using isa::ModifierKind;
using isa::Type;

namespace {

/// How the lane scheduler has to take the barrier.
uint32_t barrierFlags(const Instruction& i, bool meets) {
  const bool isOld = !i.info().form.mnemonic.starts_with("barrier");
  const auto reduction = i.mods.name(ModifierKind::RedOp);
  return (meets ? uint32_t{rt::kMeets} : 0) | (operandNamed(i, "a") ? 0 : uint32_t{rt::kCluster}) |
         (isOld || i.has(ModifierKind::Aligned) ? uint32_t{rt::kByWarp} : 0) |
         (i.op == isa::Op::BarArrive || i.op == isa::Op::BarrierArrive ? rt::kArriveOnly : 0) |
         (reduction == "popc"  ? rt::kPopcount
          : reduction == "and" ? rt::kAll
          : reduction == "or"  ? rt::kAny
                               : 0);
}

}  // namespace

LlvmValue ScheduledRegions::laneScheduler() { return c_.scratchAddress(plan_.kept.spills.scheduler); }

/// A block starts converged at the entry, or goes on where it was suspended.
void ScheduledRegions::start(llvm::BasicBlock* round, llvm::PHINode* state) {
  const auto& block = shapes_.launch().block;
  auto* fresh = c_.newBlock("fresh");
  auto* resumed = c_.newBlock("resumed");
  LlvmValue resumes = b_.CreateLoad(
      b_.getInt32Ty(), b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), c_.frame, offsetof(machine::BlockFrame, resumes)));
  b_.CreateCondBr(b_.CreateICmpEQ(resumes, b_.getInt32(0)), fresh, resumed);
  b_.SetInsertPoint(fresh);
  parts_.reductions.clear();
  c_.helper("ordito_schedule_begin", b_.getVoidTy(),
            {laneScheduler(), c_.frame, b_.getInt32(plan_.facts.warps()), b_.getInt32(block[0] * block[1] * block[2]),
             c_.scratchAddress(plan_.kept.spills.live), c_.scratchAddress(plan_.kept.spills.reduction)});
  if (eventCalls_.hearsAll())
    c_.helper("ordito_schedule_listen", b_.getVoidTy(), {laneScheduler(), eventCalls_.functionLines()});
  state->addIncoming(b_.getInt32(0), fresh);
  b_.CreateBr(round);
  b_.SetInsertPoint(resumed);
  state->addIncoming(b_.CreateLoad(b_.getInt32Ty(), c_.scratchAddress(plan_.kept.spills.scheduler +
                                                                      offsetof(rt::LaneScheduler, resumeAt))),
                     resumed);
  b_.CreateBr(round);
  scheduledIteration_ = c_.newBlock("iteration");
  suspend_ = c_.newBlock("suspend");
  llvm::cast<llvm::SwitchInst>(round->getTerminator())
      ->addCase(b_.getInt32(rt::LaneScheduler::kScheduled), scheduledIteration_);
  b_.SetInsertPoint(suspend_);
  parts_.emitReturn(machine::BlockStatus::Suspended);
}

/// The loop over regions while lanes can be diverged.
void ScheduledRegions::emit(llvm::BasicBlock* round, llvm::PHINode* state, llvm::BasicBlock* done) {
  auto* select = c_.newBlock("select");
  auto* together = c_.newBlock("together");
  b_.SetInsertPoint(scheduledIteration_);
  LlvmValue next = c_.helper("ordito_schedule_next", b_.getInt64Ty(), {laneScheduler()});
  c_.at.firstWarp = b_.CreateTrunc(b_.CreateLShr(next, 48), b_.getInt32Ty());
  LlvmValue lanes = b_.CreateTrunc(next, b_.getInt32Ty());
  LlvmValue resumePoint = b_.CreateAnd(b_.CreateTrunc(b_.CreateLShr(next, 32), b_.getInt32Ty()), b_.getInt32(0xFFFF));
  b_.CreateCondBr(b_.CreateICmpEQ(lanes, b_.getInt32(0)), together, select);
  b_.SetInsertPoint(together);
  auto* outcome = b_.CreateSwitch(resumePoint, round, 2);
  outcome->addCase(b_.getInt32(rt::LaneScheduler::kEnded), done);
  outcome->addCase(b_.getInt32(rt::LaneScheduler::kWaits), suspend_);
  state->addIncoming(resumePoint, together);
  b_.SetInsertPoint(select);
  auto* nowhere = c_.newBlock("nowhere");
  auto* choice = b_.CreateSwitch(resumePoint, nowhere, static_cast<unsigned>(plan_.regions.resumePoints.size()));
  llvm::IRBuilder<>(nowhere).CreateUnreachable();
  state_.latch = scheduledIteration_, state_.advance = nullptr;
  for (const simt::RegionCode& code : plan_.code.regions)
    if (code.isScheduled) emitRegion(code, lanes, choice);
}

void ScheduledRegions::emitRegion(const simt::RegionCode& code, LlvmValue lanes, llvm::SwitchInst* choice) {
  c_.at.region = &code.region;
  CodeLowering lowering(parts_, *this, code);
  lowering.give(lanes);
  for (const simt::CodeEntry& entry : code.entries) {
    auto* head = c_.newBlock("parked");
    choice->addCase(b_.getInt32(entry.resumePoint), head);
    c_.at.resumePoint = entry.resumePoint;
    b_.SetInsertPoint(head);
    enterRegion(entry.resumePoint, lanes);
    lowering.enterHere(entry.resumePoint);
  }
  lowering.lower();
}

/// The lanes of a warp begin the region at a resume point. Where regions share their code, what they compute themselves
/// must not seem to come from the iteration before.
void ScheduledRegions::enterRegion(uint32_t resumePoint, LlvmValue lanes) {
  if (plan_.regions.sharesScheduled)
    for (ValueId v = 0; v < f_.values.size(); ++v)
      if (parts_.spills.isDefinedHere(v)) values_.forget(v);
  b_.CreateStore(b_.getInt32(0), state_.spins);
  takeBarrierResults(resumePoint, lanes);
  parts_.spills.reload(resumePoint);
  parts_.reductions.deliver(resumePoint);
}

/// All threads are at `point`, behind which they may get diverged.
void ScheduledRegions::enter(uint32_t resumePoint) {
  parts_.reductions.take(resumePoint);
  c_.helper(
      "ordito_schedule_enter", b_.getVoidTy(),
      {laneScheduler(), b_.getInt32(resumePoint), b_.getInt32(resumePoint == 0 || !plan_.exits.mayMiss[resumePoint])});
  b_.CreateBr(scheduledIteration_);
}

/// Lets other blocks run now and then: this one may wait for them in a loop with barriers in it.
void ScheduledRegions::emitBreak(uint32_t resumePoint) {
  LlvmValue tired =
      c_.helper("ordito_schedule_takes_break", b_.getInt32Ty(), {laneScheduler(), b_.getInt32(resumePoint)});
  auto* on = c_.newBlock("on");
  b_.CreateCondBr(b_.CreateICmpNE(tired, b_.getInt32(0)), suspend_, on);
  b_.SetInsertPoint(on);
}

/// The results of the bar.red in front of `point`, lane by lane, go where the region looks for what was kept.
void ScheduledRegions::takeBarrierResults(uint32_t resumePoint, LlvmValue lanes) {
  for (BlockId from : f_.blocks[plan_.regions.resumePoints[resumePoint]].predecessors) {
    const ir::Terminator& end = f_.blocks[from].end;
    if (!plan_.syncPoints.isIndependent(f_, from) || !end.barrier.has(ModifierKind::RedOp)) continue;
    auto* vector = llvm::FixedVectorType::get(b_.getInt32Ty(), kLanes);
    LlvmValue at = b_.CreateInBoundsGEP(
        b_.getInt8Ty(), c_.scratchAddress(plan_.kept.spills.scheduler + rt::LaneScheduler::resultOffset()),
        b_.CreateMul(c_.at.firstWarp, b_.getInt32(static_cast<uint32_t>(sizeof(rt::ScheduledWarp)))));
    LlvmValue result = b_.CreateAlignedLoad(vector, at, llvm::Align(4));
    ir::forEachDefinition(end.barrier, [&](ValueId v, unsigned) {
      if (values_.slots()[v].vectors.empty() || !plan_.kept.liveness.crossesResume[v]) return;
      LlvmValue x = f_.values[v].type == Type::pred
                        ? masks_.toStorage(b_.CreateICmpNE(result, llvm::Constant::getNullValue(vector)))
                        : result;
      LlvmValue mask = b_.CreateBitCast(lanes, llvm::FixedVectorType::get(b_.getInt1Ty(), kLanes));
      parts_.spills.keepLanes(x, parts_.spills.addressOf(v), mask);
    });
  }
}

/// Ends the launch if a number that is known at run time only names no barrier. (The verifier has seen constants;
/// where threads are diverged, the lane scheduler looks.)
void ScheduledRegions::checkBarrierNumber(const Instruction& i, uint32_t line) {
  const ptx::Operand* number = operandNamed(i, "a");
  if (!number || number->kind != ptx::Operand::Kind::Register || !shapes_.shapeOf(*number).isUniform()) return;
  Source s;
  s.segment = 0;
  LlvmValue n = operands_.operand(*number, Type::u32, s);
  auto *fault = c_.newBlock("nobarrier"), *on = c_.newBlock("barrier");
  b_.CreateCondBr(b_.CreateICmpULT(n, b_.getInt32(rt::LaneScheduler::kBarriers)), on, fault);
  b_.SetInsertPoint(fault);
  c_.helper("ordito_no_barrier", b_.getVoidTy(), {c_.frame, b_.getInt32(line), n}, true);
  b_.CreateUnreachable();
  b_.SetInsertPoint(on);
}

/// The lanes of `mask` (empty: all) stop at the end of block `b`.
void ScheduledRegions::stop(BlockId b, const Parts& mask) {
  const ir::Terminator& end = f_.blocks[b].end;
  LlvmValue lanes = masks_.lanesOrAll(mask, 0);
  if (end.barrier.op == isa::Op::BarWarpSync)
    stopForWarp(end, lanes);
  else
    stopAtBarrier(b, mask, lanes);
}

void ScheduledRegions::stopForWarp(const ir::Terminator& end, LlvmValue lanes) {
  LlvmValue members = c_.inMemory(operands_.operand(end.barrier.operands[0], Type::u32, {}));
  c_.helper("ordito_schedule_for_warp", b_.getVoidTy(),
            {laneScheduler(), lanes, b_.getInt32(plan_.regions.pointOf[end.target[0]]), b_.getInt32(end.line), members,
             b_.getInt32(!end.isInstruction)});
}

void ScheduledRegions::stopAtBarrier(BlockId b, const Parts& mask, LlvmValue lanes) {
  const ir::Terminator& end = f_.blocks[b].end;
  const Instruction& i = end.barrier;
  Source vector, scalar;
  scalar.segment = 0;
  const ptx::Operand *number = operandNamed(i, "a"), *count = operandNamed(i, "b"), *predicate = operandNamed(i, "c");
  LlvmValue isTrue = predicate ? masks_.laneBits(operands_.operand(*predicate, Type::pred, vector)) : b_.getInt32(0);
  auto park = [&](LlvmValue which, LlvmValue barrier, LlvmValue threads) {
    c_.helper("ordito_schedule_at_barrier", b_.getVoidTy(),
              {laneScheduler(), which, b_.getInt32(plan_.regions.pointOf[end.target[0]]), b_.getInt32(end.line),
               b_.getInt32(barrierFlags(i, plan_.syncPoints.meets[b])), barrier, threads, isTrue});
  };
  const bool same =
      (!number || shapes_.shapeOf(*number).isUniform()) && (!count || shapes_.shapeOf(*count).isUniform());
  if (same) {
    LlvmValue barrier = number ? operands_.operand(*number, Type::u32, scalar) : b_.getInt32(0);
    return park(lanes, barrier, count ? operands_.operand(*count, Type::u32, scalar) : b_.getInt32(0));
  }
  LlvmValue numbers = operands_.operand(*number, Type::u32, vector);
  LlvmValue counts = count ? operands_.operand(*count, Type::u32, vector) : values_.constant(Type::u32, 0, true);
  calls_.forEachLane(mask.empty() ? nullptr : mask[0], [&](LlvmValue lane) {
    park(b_.CreateShl(b_.getInt32(1), lane), b_.CreateExtractElement(numbers, lane),
         b_.CreateExtractElement(counts, lane));
  });
}

/// Counts an iteration of the loop with `header`, in code that all running lanes go through together; after `limit`,
/// they stop so that others can go on.
void ScheduledRegions::noteSpin(BlockId header, const Parts& lanes, uint32_t limit) {
  LlvmValue iterations = b_.CreateAdd(b_.CreateLoad(b_.getInt32Ty(), state_.spins), b_.getInt32(1));
  b_.CreateStore(iterations, state_.spins);
  auto* tired = c_.newBlock("tired");
  auto* on = c_.newBlock("spinon");
  b_.CreateCondBr(b_.CreateICmpUGE(iterations, b_.getInt32(limit)), tired, on);
  b_.SetInsertPoint(tired);
  stopSpinning(header, lanes.empty() ? b_.getInt32(~0u) : masks_.laneBits(lanes[0]), lanes);
  b_.CreateBr(state_.latch);
  b_.SetInsertPoint(on);
}

/// The lanes, also given as `bits`, stop in front of the loop's next iteration.
void ScheduledRegions::stopSpinning(BlockId header, LlvmValue bits, const Parts& lanes) {
  const uint32_t resumePoint = plan_.regions.pointOf[header];
  c_.helper("ordito_schedule_spinning", b_.getVoidTy(),
            {laneScheduler(), bits, b_.getInt32(resumePoint), b_.getInt32(f_.blocks[header].line),
             b_.getInt32(ir::onlyTestsPhases(f_, *plan_.syncPoints.spinAt(header)))});
  parts_.spills.spill(resumePoint, lanes);
}

}  // namespace ordito::jit
