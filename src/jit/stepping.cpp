// Code for regions in which threads can get diverged (ir/sync_points.hpp), and the polite end of loops that spin.
//
// Each stop ends a region for the lanes that reach it: they keep what the code behind it reads, each lane for itself,
// and park. From where they may get diverged until all have met again the block function is a loop around
// rt::LaneScheduler::next(), which says what to run. A lane that runs sees the others as if they had ended, so regions
// need nothing else that the code for early exits does not have already. When nobody can do anything but wait for other
// blocks, the function returns, and is called again when those have had a turn.
#include <algorithm>

#include "jit/code_lowering.hpp"
#include "rt/lane_scheduler.hpp"

namespace ordito::jit {

using isa::ModifierKind;
using isa::Type;
using Kind = ir::Terminator::Kind;

LlvmValue Emitter::laneScheduler() { return scratchAddress(plan_.spills.scheduler); }

/// A block starts converged at the entry, or goes on where it was suspended.
void Emitter::emitScheduledStart(llvm::BasicBlock* round, llvm::PHINode* state) {
  const auto& block = shapes_.launch().block;
  auto* fresh = newBlock("fresh");
  auto* resumed = newBlock("resumed");
  LlvmValue resumes = b_.CreateLoad(
      b_.getInt32Ty(), b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), frame_, offsetof(machine::BlockFrame, resumes)));
  b_.CreateCondBr(b_.CreateICmpEQ(resumes, b_.getInt32(0)), fresh, resumed);
  b_.SetInsertPoint(fresh);
  clearBarrierReduction();
  helper("ordito_schedule_begin", b_.getVoidTy(),
         {laneScheduler(), frame_, b_.getInt32(warps_), b_.getInt32(block[0] * block[1] * block[2]),
          scratchAddress(plan_.spills.live), scratchAddress(plan_.spills.reduction)});
  state->addIncoming(b_.getInt32(0), fresh);
  b_.CreateBr(round);
  b_.SetInsertPoint(resumed);
  state->addIncoming(
      b_.CreateLoad(b_.getInt32Ty(), scratchAddress(plan_.spills.scheduler + offsetof(rt::LaneScheduler, resumeAt))),
      resumed);
  b_.CreateBr(round);
  scheduledIteration_ = newBlock("turn");
  suspend_ = newBlock("suspend");
  llvm::cast<llvm::SwitchInst>(round->getTerminator())
      ->addCase(b_.getInt32(rt::LaneScheduler::kScheduled), scheduledIteration_);
  b_.SetInsertPoint(suspend_);
  emitReturn(machine::BlockStatus::Suspended);
}

/// The loop over regions while lanes can be diverged.
void Emitter::emitScheduledRegions(llvm::BasicBlock* round, llvm::PHINode* state, llvm::BasicBlock* done) {
  auto* select = newBlock("select");
  auto* together = newBlock("together");
  b_.SetInsertPoint(scheduledIteration_);
  LlvmValue next = helper("ordito_schedule_next", b_.getInt64Ty(), {laneScheduler()});
  group_ = b_.CreateTrunc(b_.CreateLShr(next, 48), b_.getInt32Ty());
  LlvmValue lanes = b_.CreateTrunc(next, b_.getInt32Ty());
  LlvmValue resumePoint = b_.CreateAnd(b_.CreateTrunc(b_.CreateLShr(next, 32), b_.getInt32Ty()), b_.getInt32(0xFFFF));
  b_.CreateCondBr(b_.CreateICmpEQ(lanes, b_.getInt32(0)), together, select);
  b_.SetInsertPoint(together);
  auto* outcome = b_.CreateSwitch(resumePoint, round, 2);
  outcome->addCase(b_.getInt32(rt::LaneScheduler::kEnded), done);
  outcome->addCase(b_.getInt32(rt::LaneScheduler::kWaits), suspend_);
  state->addIncoming(resumePoint, together);
  b_.SetInsertPoint(select);
  auto* nowhere = newBlock("nowhere");
  auto* choice = b_.CreateSwitch(resumePoint, nowhere, static_cast<unsigned>(plan_.regions.resumePoints.size()));
  llvm::IRBuilder<>(nowhere).CreateUnreachable();
  regionLatch_ = scheduledIteration_, regionAdvance_ = nullptr;
  for (const simt::RegionCode& code : plan_.code.regions)
    if (code.isScheduled) emitScheduledRegion(code, lanes, choice);
}

void Emitter::emitScheduledRegion(const simt::RegionCode& code, LlvmValue lanes, llvm::SwitchInst* choice) {
  region_ = &code.region;
  CodeLowering lowering(*this, code);
  lowering.give(lanes);
  for (const simt::CodeEntry& entry : code.entries) {
    auto* head = newBlock("parked");
    choice->addCase(b_.getInt32(entry.resumePoint), head);
    currentResumePoint_ = entry.resumePoint;
    b_.SetInsertPoint(head);
    enterScheduledRegion(entry.resumePoint, lanes);
    lowering.enterHere(entry.resumePoint);
  }
  lowering.lower();
}

/// The lanes of a warp begin the region at a resume point. Where regions share their code, what they compute themselves
/// must not seem to come from the iteration before.
void Emitter::enterScheduledRegion(uint32_t resumePoint, LlvmValue lanes) {
  if (plan_.regions.sharesScheduled)
    for (ValueId v = 0; v < f_.values.size(); ++v)
      if (isDefinedHere(v)) forget(v);
  b_.CreateStore(b_.getInt32(0), spins_);
  takeBarrierResults(resumePoint, lanes);
  reloadAfterBarrier(resumePoint);
  deliverBarrierReduction(resumePoint);
}

/// All threads are at `point`, behind which they may get diverged.
void Emitter::enterScheduled(uint32_t resumePoint) {
  takeBarrierReduction(resumePoint);
  helper(
      "ordito_schedule_enter", b_.getVoidTy(),
      {laneScheduler(), b_.getInt32(resumePoint), b_.getInt32(resumePoint == 0 || !plan_.exits.mayMiss[resumePoint])});
  b_.CreateBr(scheduledIteration_);
}

/// Lets other blocks run now and then: this one may wait for them in a loop with barriers in it.
void Emitter::emitBreak(uint32_t resumePoint) {
  LlvmValue tired = helper("ordito_schedule_takes_break", b_.getInt32Ty(), {laneScheduler(), b_.getInt32(resumePoint)});
  auto* on = newBlock("on");
  b_.CreateCondBr(b_.CreateICmpNE(tired, b_.getInt32(0)), suspend_, on);
  b_.SetInsertPoint(on);
}

/// The results of the bar.red in front of `point`, lane by lane, go where the region looks for what was kept.
void Emitter::takeBarrierResults(uint32_t resumePoint, LlvmValue lanes) {
  for (BlockId from : f_.blocks[plan_.regions.resumePoints[resumePoint]].predecessors) {
    const ir::Terminator& end = f_.blocks[from].end;
    if (!syncPoints_.isIndependent(f_, from) || !end.barrier.has(ModifierKind::RedOp)) continue;
    auto* vector = llvm::FixedVectorType::get(b_.getInt32Ty(), kLanes);
    LlvmValue at =
        b_.CreateInBoundsGEP(b_.getInt8Ty(), scratchAddress(plan_.spills.scheduler + rt::LaneScheduler::resultOffset()),
                             b_.CreateMul(group_, b_.getInt32(static_cast<uint32_t>(sizeof(rt::ScheduledWarp)))));
    LlvmValue result = b_.CreateAlignedLoad(vector, at, llvm::Align(4));
    ir::forEachDefinition(end.barrier, [&](ValueId v, unsigned) {
      if (slots_[v].vectors.empty() || !plan_.liveness.crossesResume[v]) return;
      LlvmValue x = f_.values[v].type == Type::pred
                        ? toStorage(b_.CreateICmpNE(result, llvm::Constant::getNullValue(vector)))
                        : result;
      LlvmValue mask = b_.CreateBitCast(lanes, llvm::FixedVectorType::get(b_.getInt1Ty(), kLanes));
      keepLanes(x, spillSlotOf(v), mask);
    });
  }
}

/// The operand of a barrier that is called `name`; null if it has none.
const ptx::Operand* Emitter::barrierOperand(const Instruction& i, std::string_view name) {
  const auto forms = i.info().form.operandList();
  for (size_t k = 0; k < i.operands.size(); ++k)
    if (forms[k].name == name && i.operands[k].kind != ptx::Operand::Kind::None) return &i.operands[k];
  return nullptr;
}

/// Ends the launch if a number that is known at run time only names no barrier. (The verifier has seen constants;
/// where threads are diverged, the lane scheduler looks.)
void Emitter::checkBarrierNumber(const Instruction& i, uint32_t line) {
  const ptx::Operand* number = barrierOperand(i, "a");
  if (!number || number->kind != ptx::Operand::Kind::Register || !shapes_.shapeOf(*number).isUniform()) return;
  Source s;
  s.group = 0;
  LlvmValue n = operand(*number, Type::u32, s);
  auto *fault = newBlock("nobarrier"), *on = newBlock("barrier");
  b_.CreateCondBr(b_.CreateICmpULT(n, b_.getInt32(rt::LaneScheduler::kBarriers)), on, fault);
  b_.SetInsertPoint(fault);
  helper("ordito_no_barrier", b_.getVoidTy(), {frame_, b_.getInt32(line), n}, true);
  b_.CreateUnreachable();
  b_.SetInsertPoint(on);
}

/// The lanes of `mask` (empty: all) stop at the end of block `b`.
void Emitter::emitSyncPoint(BlockId b, const Parts& mask) {
  const ir::Terminator& end = f_.blocks[b].end;
  const Instruction& i = end.barrier;
  const uint32_t resumePoint = plan_.regions.pointOf[end.target[0]];
  Source vector, scalar;
  scalar.group = 0;
  LlvmValue lanes = mask.empty() ? b_.getInt32(~0u) : laneBits(mask[0]);
  LlvmValue where = b_.getInt32(resumePoint), line = b_.getInt32(end.line);
  if (i.op == isa::Op::BarWarpSync) {
    LlvmValue members = operand(i.operands[0], Type::u32, vector);
    auto* stack = llvm::IRBuilder<>(entry_).CreateAlloca(members->getType());
    b_.CreateStore(members, stack);
    helper("ordito_schedule_for_warp", b_.getVoidTy(),
           {laneScheduler(), lanes, where, line, stack, b_.getInt32(!end.isInstruction)});
  } else {
    const bool isOld = !i.info().form.mnemonic.starts_with("barrier");
    const auto reduction = i.mods.name(ModifierKind::RedOp);
    const ptx::Operand *number = barrierOperand(i, "a"), *count = barrierOperand(i, "b"),
                       *predicate = barrierOperand(i, "c");
    const uint32_t flags = (syncPoints_.meets[b] ? uint32_t{rt::kMeets} : 0) | (number ? 0 : uint32_t{rt::kCluster}) |
                           (isOld || i.has(ModifierKind::Aligned) ? uint32_t{rt::kByWarp} : 0) |
                           (i.op == isa::Op::BarArrive || i.op == isa::Op::BarrierArrive ? rt::kArriveOnly : 0) |
                           (reduction == "popc"  ? rt::kPopcount
                            : reduction == "and" ? rt::kAll
                            : reduction == "or"  ? rt::kAny
                                                 : 0);
    LlvmValue isTrue = predicate ? laneBits(operand(*predicate, Type::pred, vector)) : b_.getInt32(0);
    auto park = [&](LlvmValue which, LlvmValue barrier, LlvmValue threads) {
      helper("ordito_schedule_at_barrier", b_.getVoidTy(),
             {laneScheduler(), which, where, line, b_.getInt32(flags), barrier, threads, isTrue});
    };
    const bool same =
        (!number || shapes_.shapeOf(*number).isUniform()) && (!count || shapes_.shapeOf(*count).isUniform());
    if (same) {
      park(lanes, number ? operand(*number, Type::u32, scalar) : b_.getInt32(0),
           count ? operand(*count, Type::u32, scalar) : b_.getInt32(0));
    } else {
      LlvmValue numbers = operand(*number, Type::u32, vector);
      LlvmValue counts = count ? operand(*count, Type::u32, vector) : constant(Type::u32, 0, true);
      forEachLane(mask.empty() ? nullptr : mask[0], [&](LlvmValue lane) {
        park(b_.CreateShl(b_.getInt32(1), lane), b_.CreateExtractElement(numbers, lane),
             b_.CreateExtractElement(counts, lane));
      });
    }
  }
  assignPhis(b, end.target[0], mask);
  spillForBarrier(resumePoint, mask);
}

/// Counts an iteration of the loop with `header`, in code that all running lanes go through together; after `limit`,
/// they stop so that others can go on.
void Emitter::noteSpin(BlockId header, const Parts& lanes, uint32_t limit) {
  LlvmValue iterations = b_.CreateAdd(b_.CreateLoad(b_.getInt32Ty(), spins_), b_.getInt32(1));
  b_.CreateStore(iterations, spins_);
  auto* tired = newBlock("tired");
  auto* on = newBlock("spinon");
  b_.CreateCondBr(b_.CreateICmpUGE(iterations, b_.getInt32(limit)), tired, on);
  b_.SetInsertPoint(tired);
  stopSpinning(header, lanes.empty() ? b_.getInt32(~0u) : laneBits(lanes[0]), lanes);
  b_.CreateBr(regionLatch_);
  b_.SetInsertPoint(on);
}

/// The lanes, also given as `bits`, stop in front of the loop's next iteration.
void Emitter::stopSpinning(BlockId header, LlvmValue bits, const Parts& lanes) {
  const uint32_t resumePoint = plan_.regions.pointOf[header];
  helper("ordito_schedule_spinning", b_.getVoidTy(),
         {laneScheduler(), bits, b_.getInt32(resumePoint), b_.getInt32(f_.blocks[header].line)});
  spillForBarrier(resumePoint, lanes);
}

}  // namespace ordito::jit
