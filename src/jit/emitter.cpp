// The skeleton of a compiled kernel: prologue, the loop over regions, and what moves between a region and the next.
//
//   region:                          code from one barrier to the next
//     for (some warps of the block)    replaces a fiber switch at every barrier
//       reload what they kept; run; keep what the next region reads
//     go to the region behind the barrier that they have come to, or to the end
//
// Where the threads of a block can get diverged, the run time says which region which lanes of a warp run next,
// until all meet again: scheduled_regions.cpp. A kernel with such places may be left in the middle
// (machine::BlockStatus) and called again: all that its regions share then lies in scratch memory.
#include "jit/emitter.hpp"

#include <algorithm>
#include <cstddef>
#include <set>

#include "jit/code_lowering.hpp"

namespace ordito::jit {

using Kind = ir::Terminator::Kind;
using machine::BlockFrame;

namespace {
constexpr uint32_t kDone = ~0u;
}  // namespace

EmittedKernel Emitter::emit(const std::string& name) {
  c_.function = c_.declare(name, {b_.getPtrTy(), b_.getInt32Ty()});
  firstWarp_ = b_.getInt32(0);
  c_.result.runsRanges = runsRanges(plan_);
  emitFunction(plan_.facts.warps(), c_.result.runsRanges ? c_.function->getArg(1) : nullptr);
  return std::move(c_.result);
}

EmittedKernel Emitter::emitApart(const std::string& name, unsigned warps) {
  c_.function = c_.declare(name, {b_.getPtrTy(), b_.getInt32Ty()});
  c_.function->setLinkage(llvm::GlobalValue::InternalLinkage);
  c_.function->addFnAttr(llvm::Attribute::NoInline);
  firstWarp_ = c_.function->getArg(1);
  emitFunction(warps, nullptr);
  return std::move(c_.result);
}

/// The body of `c_.function`, which runs the `warps` warps from firstWarp_ on.
void Emitter::emitFunction(unsigned warps, LlvmValue blocks) {
  beginFunction();
  warpsEnd_ = b_.CreateAdd(firstWarp_, b_.getInt32(warps));
  BlockRange range(c_);
  if (blocks) range.begin(blocks);
  resetState();
  emitRegions();
  if (blocks) range.end();
  parts_.emitReturn(machine::BlockStatus::Ended);
  endFunction();
}

/// What all functions of a kernel begin with: slots, and what the frame says.
void Emitter::beginFunction() {
  c_.function->addFnAttr("target-cpu", c_.target.cpu);
  c_.function->addFnAttr("target-features", c_.target.features);
  // LLVM's tuning for server processors prefers 256-bit vectors; a warp is wider (measured: 1.4 times slower).
  c_.function->addFnAttr("prefer-vector-width", "512");
  c_.function->addFnAttr("min-legal-vector-width", "512");
  c_.function->addFnAttr(llvm::Attribute::NoUnwind);
  c_.frame = c_.function->getArg(0);
  c_.function->addParamAttr(0, llvm::Attribute::NoAlias);
  c_.entry = c_.newBlock("entry");
  body_ = c_.newBlock("prologue");
  b_.SetInsertPoint(body_);
  c_.beginLines(c_.function->getName().str());
  makeState();
  c_.result.localBytes = plan_.memory.privateSlots.localBytes;
  privates_.makeSlots();
  values_.makeSlots();
  emitPrologue();
}

void Emitter::endFunction() {
  counting_.finish();
  llvm::IRBuilder<>(c_.entry).CreateBr(body_);
  c_.result.scratchBytes = llvm::alignTo(plan_.kept.spills.total + 64, 64);
  c_.result.nonTemporalBytes = plan_.memory.nonTemporal.bytes;
}

void Emitter::emitPrologue() {
  c_.memory.parameters = c_.frameField(offsetof(BlockFrame, parameters), b_.getPtrTy(), "parameters");
  c_.memory.shared = c_.frameField(offsetof(BlockFrame, shared), b_.getPtrTy(), "shared");
  c_.memory.scratch = c_.frameField(offsetof(BlockFrame, scratch), b_.getPtrTy(), "scratch");
  c_.memory.local = c_.frameField(offsetof(BlockFrame, local), b_.getPtrTy(), "local");
  c_.memory.globals = c_.frameField(offsetof(BlockFrame, globals), b_.getPtrTy(), "globals");
  if (plan_.memory.combined.any())
    c_.memory.combining = c_.frameField(offsetof(BlockFrame, combining), b_.getPtrTy(), "combining");
  for (int d = 0; d < 3; ++d) {
    c_.memory.ctaid[d] = c_.frameField(offsetof(BlockFrame, ctaid) + 4 * d, b_.getInt32Ty(), "ctaid");
    c_.memory.nctaid[d] = c_.frameField(offsetof(BlockFrame, nctaid) + 4 * d, b_.getInt32Ty(), "nctaid");
  }
  counting_.begin();
}

/// Which lanes have not ended, where the block goes on, and how often a loop has spun.
void Emitter::makeState() {
  for (unsigned p = 0; p < plan_.facts.coarsening.most(); ++p)
    state_.live.push_back(llvm::IRBuilder<>(c_.entry).CreateAlloca(masks_.storageType(), nullptr, "live"));
  state_.next = llvm::IRBuilder<>(c_.entry).CreateAlloca(b_.getInt32Ty(), nullptr, "next");
  state_.spins = llvm::IRBuilder<>(c_.entry).CreateAlloca(b_.getInt32Ty(), nullptr, "spins");
}

/// A block begins: it has nothing of the one before, whose values LLVM would carry along.
void Emitter::resetState() {
  b_.CreateStore(b_.getInt32(0), state_.spins);
  for (llvm::AllocaInst* lanes : state_.live) b_.CreateStore(masks_.toStorage(masks_.allOnes()), lanes);
  for (ValueId v = 0; v < f_.values.size(); ++v)
    if (plan_.kept.liveness.crossesResume[v]) values_.forget(v);  // a region forgets the others
  privates_.forget();
}

void Emitter::emitRegions() {
  parts_.copies.clear();
  parts_.tools.eventCalls.beginBarriers();
  Dispatch to{.done = c_.newBlock("done")};
  for (uint32_t p = 0; p < plan_.regions.resumePoints.size(); ++p)
    to.heads.push_back(c_.newBlock(("region" + std::to_string(p)).c_str()));
  if (plan_.syncPoints.diverges()) {
    emitScheduling(to);
  } else {
    parts_.reductions.clear();
    b_.CreateBr(to.heads[0]);
  }
  for (uint32_t p = 0; p < plan_.regions.resumePoints.size(); ++p) {
    b_.SetInsertPoint(to.heads[p]);
    c_.at.resumePoint = p;
    if (!plan_.regions.entries[p].converged) {
      b_.CreateUnreachable();
    } else if (plan_.regions.entries[p].isIndependent) {
      scheduled_.enter(p);
    } else {
      if (plan_.syncPoints.diverges() && plan_.syncPoints.polls && p > 0) scheduled_.emitBreak(p);
      emitRegion(p);
      if (plan_.kept.counters.regions[p]) parts_.copies.addUp();
      goOn(p, to);
    }
  }
  b_.SetInsertPoint(to.done);
}

/// Where threads can get diverged the lane scheduler, too, says which region is next.
void Emitter::emitScheduling(Dispatch& to) {
  to.round = c_.newBlock("round");
  llvm::IRBuilder<> at(to.round);
  to.state = at.CreatePHI(b_.getInt32Ty(), 2, "state");
  auto* select = at.CreateSwitch(to.state, to.done, static_cast<unsigned>(to.heads.size()));
  for (uint32_t p = 0; p < to.heads.size(); ++p)
    if (plan_.regions.entries[p].converged) select->addCase(b_.getInt32(p), to.heads[p]);
  scheduled_.start(to.round, to.state);
  scheduled_.emit(to.round, to.state, to.done);
}

/// The region has left its loop over the warps; `state_.next` says where the block goes on, unless all lanes have
/// ended. Each region branches itself to those that can follow it: the kernel's loops stay loops that LLVM knows.
void Emitter::goOn(uint32_t resumePoint, const Dispatch& to) {
  LlvmValue next = b_.CreateLoad(b_.getInt32Ty(), state_.next);
  if (to.state) {
    to.state->addIncoming(next, b_.GetInsertBlock());
    b_.CreateBr(to.round);
    return;
  }
  std::set<uint32_t> successors;
  for (const simt::CodeBlock& block : codeOf(resumePoint).blocks)
    for (const simt::CodeOperation& o : block.operations)
      if (o.op == simt::CodeOp::NextRegion) successors.insert(o.resumePoint);
  auto* choice = b_.CreateSwitch(next, to.done, static_cast<unsigned>(successors.size()));
  for (uint32_t p : successors) choice->addCase(b_.getInt32(p), to.heads[p]);
}

/// The code for threads that come to the region converged.
const simt::RegionCode& Emitter::codeOf(uint32_t resumePoint) const {
  for (const simt::RegionCode& code : plan_.code.regions)
    if (!code.isScheduled && code.entries[0].resumePoint == resumePoint) return code;
  llvm_unreachable("a region without code");
}

/// Values that all warps share and this region changes must start from the same value for each batch of warps, and have
/// then the value that a batch gave them which came to the end, and not ended before.
void Emitter::noteSharedValues(uint32_t resumePoint) {
  state_.sharedValues.clear();
  if (plan_.syncPoints.diverges()) return;
  for (ValueId v : plan_.kept.liveness.at[resumePoint]) {
    if (!shapes_[v].isSegmented() || shapes_[v].warpVarying || !parts_.spills.isDefinedHere(v)) continue;
    for (llvm::AllocaInst* slot : values_.slots()[v].bases[0]) {
      llvm::Type* type = slot->getAllocatedType();
      auto* after = llvm::IRBuilder<>(c_.entry).CreateAlloca(type);
      LlvmValue before = b_.CreateLoad(type, slot);
      state_.sharedValues.push_back({slot, before, after});
      b_.CreateStore(before, after);
    }
  }
}

/// One region: a loop over the block's warps, as many at a time as advance together.
void Emitter::emitRegion(uint32_t resumePoint) {
  auto* head = b_.GetInsertBlock();
  const simt::RegionCode& code = codeOf(resumePoint);
  c_.at.region = &code.region;
  c_.at.warps = plan_.facts.coarsening.at(resumePoint);
  b_.CreateStore(b_.getInt32(kDone), state_.next);
  parts_.reductions.take(resumePoint);
  if (!plan_.syncPoints.diverges()) parts_.reductions.deliver(resumePoint);
  noteSharedValues(resumePoint);
  auto* loop = c_.newBlock("warps");
  auto* latch = c_.newBlock("nextwarps");
  auto* advance = c_.newBlock("advance");
  auto* after = c_.newBlock("endregion");
  const bool lastFirst = order_.lastFirst[resumePoint] != 0;
  LlvmValue begin = lastFirst ? b_.CreateSub(warpsEnd_, b_.getInt32(warps()), "warp.last") : firstWarp_;
  b_.CreateBr(loop);
  b_.SetInsertPoint(loop);
  auto* warp = b_.CreatePHI(b_.getInt32Ty(), 2, "warp");
  warp->addIncoming(begin, head);
  c_.at.firstWarp = warp;
  state_.latch = latch;
  state_.advance = plan_.exits.mayMiss[resumePoint] && resumePoint != 0 ? advance : nullptr;
  for (const SharedValue& v : state_.sharedValues) b_.CreateStore(v.before, v.slot);
  for (ValueId v = 0; v < f_.values.size(); ++v)
    if (parts_.spills.isDefinedHere(v) && !plan_.kept.liveness.crossesResume[v]) values_.forget(v);
  parts_.spills.reload(resumePoint);
  if (plan_.syncPoints.diverges()) parts_.reductions.deliver(resumePoint);

  CodeLowering lowering(parts_, scheduled_, code);
  lowering.enterHere(resumePoint);
  lowering.lower();

  b_.SetInsertPoint(latch);
  if (plan_.exits.mayMissLater()) {
    for (unsigned p = 0; p < warps(); ++p)
      b_.CreateStore(masks_.laneBits(masks_.fromStorage(b_.CreateLoad(masks_.storageType(), state_.live[p]))),
                     c_.scratchOfWarp(plan_.kept.spills.live, simt::SpillSlots::kLiveBytes, p));
  }
  b_.CreateBr(advance);
  b_.SetInsertPoint(advance);
  LlvmValue next = lastFirst ? b_.CreateSub(warp, b_.getInt32(warps()), "warp.next")
                             : b_.CreateAdd(warp, b_.getInt32(warps()), "warp.next", true, true);
  warp->addIncoming(next, advance);
  LlvmValue goesOn = lastFirst ? b_.CreateICmpNE(warp, firstWarp_) : b_.CreateICmpULT(next, warpsEnd_);
  b_.CreateCondBr(goesOn, loop, after);
  b_.SetInsertPoint(after);
  parts_.tools.eventCalls.endBarriers();
  for (const SharedValue& v : state_.sharedValues)
    b_.CreateStore(b_.CreateLoad(v.slot->getAllocatedType(), v.after), v.slot);
}

}  // namespace ordito::jit
