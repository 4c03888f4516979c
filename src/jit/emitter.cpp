// The skeleton of a compiled kernel: prologue, the loop over regions, and what moves between a region and the next.
//
//   state = entry
//   while (state != done)
//     switch (state)                        one case for each region: code from one barrier to the next
//       for (group of warps in block)       "loop over the warps of the block" replaces a fiber switch at every barrier
//         reload what the group kept; run; keep what the next region reads
//
// Where the threads of a block can get diverged, the run time says which region which lanes of a warp run next,
// until all meet again: stepping.cpp. A kernel with such places may be left in the middle (machine::Turn) and called
// again: all that its regions share then lies in scratch memory.
#include "jit/emitter.hpp"

#include <llvm/IR/DIBuilder.h>
#include <llvm/IR/Verifier.h>

#include <algorithm>
#include <cstddef>

#include "jit/code_lowering.hpp"

namespace ordito::jit {

using Kind = ir::Terminator::Kind;
using machine::BlockFrame;

namespace {
constexpr uint32_t kDone = ~0u;
}  // namespace

Emitter::Emitter(llvm::Module& module, const simt::Plan& plan, const machine::KernelLayout& layout,
                 const Target& target)
    : t_(module, plan, layout, target),
      context_(module.getContext()),
      module_(module),
      plan_(plan),
      f_(plan.function),
      syncPoints_(plan.syncPoints),
      shapes_(plan.shapes),
      layout_(layout),
      target_(target),
      counting_(plan.facts.counters),
      baseline_(plan.facts.baseline),
      coarsening_(plan.facts.launch.coarsening),
      warps_(plan.facts.warps()),
      groups_(plan.facts.groups()),
      diverges_(plan.syncPoints.diverges()) {}

EmittedKernel Emitter::emit(const std::string& name) {
  function_ = declare(name, {b_.getPtrTy()});
  firstGroup_ = b_.getInt32(0);
  emitFunction(groups_);
  return std::move(result_);
}

EmittedKernel Emitter::emitApart(const std::string& name, unsigned warps) {
  function_ = declare(name, {b_.getPtrTy(), b_.getInt32Ty()});
  function_->setLinkage(llvm::GlobalValue::InternalLinkage);
  function_->addFnAttr(llvm::Attribute::NoInline);
  firstGroup_ = function_->getArg(1);
  emitFunction(warps);
  return std::move(result_);
}

llvm::Function* Emitter::declare(const std::string& name, llvm::ArrayRef<llvm::Type*> parameters) {
  auto* type = llvm::FunctionType::get(b_.getInt32Ty(), parameters, false);
  return llvm::cast<llvm::Function>(module_.getOrInsertFunction(name, type).getCallee());
}

/// The body of `function_`, which runs the `groups` groups of warps from firstGroup_ on.
void Emitter::emitFunction(unsigned groups) {
  function_->addFnAttr("target-cpu", target_.cpu);
  function_->addFnAttr("target-features", target_.features);
  // LLVM's tuning for server processors prefers 256-bit vectors; a warp is wider (measured: 1.4 times slower).
  function_->addFnAttr("prefer-vector-width", "512");
  function_->addFnAttr("min-legal-vector-width", "512");
  function_->addFnAttr(llvm::Attribute::NoUnwind);
  frame_ = function_->getArg(0);
  function_->addParamAttr(0, llvm::Attribute::NoAlias);
  entry_ = llvm::BasicBlock::Create(context_, "entry", function_);
  auto* body = llvm::BasicBlock::Create(context_, "prologue", function_);
  b_.SetInsertPoint(body);
  beginLines(function_->getName().str());
  groupsEnd_ = b_.CreateAdd(firstGroup_, b_.getInt32(groups));
  makeState();
  makePrivateSlots();
  makeSlots();
  emitPrologue();
  emitRegions();
  finishCounters();
  llvm::IRBuilder<>(entry_).CreateBr(body);
  result_.scratchBytes = llvm::alignTo(plan_.spills.total + 64, 64);
  result_.nonTemporalBytes = plan_.nonTemporal.bytes;
}

/// Line tables, so that a fault in the machine code can name its line of PTX.
void Emitter::beginLines(const std::string& name) {
  llvm::DIBuilder di(module_);
  if (!module_.getModuleFlag("Debug Info Version"))
    module_.addModuleFlag(llvm::Module::Warning, "Debug Info Version", llvm::DEBUG_METADATA_VERSION);
  auto* file = di.createFile("kernel.ptx", ".");
  di.createCompileUnit(llvm::dwarf::DW_LANG_C, file, "ordito", true, "", 0, "", llvm::DICompileUnit::LineTablesOnly);
  lines_ = di.createFunction(file, name, name, file, 1, di.createSubroutineType(di.getOrCreateTypeArray({})), 1,
                             llvm::DINode::FlagZero,
                             llvm::DISubprogram::SPFlagDefinition | llvm::DISubprogram::SPFlagOptimized);
  function_->setSubprogram(lines_);
  di.finalize();
  setLine(f_.kernel->line);
}

void Emitter::setLine(uint32_t line) {
  currentLine_ = line;
  b_.SetCurrentDebugLocation(llvm::DILocation::get(context_, line, 0, lines_));
}

void Emitter::emitPrologue() {
  parameters_ = frameField(offsetof(BlockFrame, parameters), b_.getPtrTy(), "parameters");
  shared_ = frameField(offsetof(BlockFrame, shared), b_.getPtrTy(), "shared");
  scratch_ = frameField(offsetof(BlockFrame, scratch), b_.getPtrTy(), "scratch");
  local_ = frameField(offsetof(BlockFrame, local), b_.getPtrTy(), "local");
  globals_ = frameField(offsetof(BlockFrame, globals), b_.getPtrTy(), "globals");
  for (int d = 0; d < 3; ++d) {
    ctaid_[d] = frameField(offsetof(BlockFrame, ctaid) + 4 * d, b_.getInt32Ty(), "ctaid");
    nctaid_[d] = frameField(offsetof(BlockFrame, nctaid) + 4 * d, b_.getInt32Ty(), "nctaid");
  }
  if (counting_) counters_ = llvm::IRBuilder<>(entry_).CreateAlloca(b_.getInt64Ty(), b_.getInt64(1), "counters");
}

/// Which lanes have not ended, where the block goes on, and how often a loop has spun.
void Emitter::makeState() {
  for (unsigned p = 0; p < coarsening_; ++p)
    live_.push_back(llvm::IRBuilder<>(entry_).CreateAlloca(storageType(), nullptr, "live"));
  nextState_ = llvm::IRBuilder<>(entry_).CreateAlloca(b_.getInt32Ty(), nullptr, "next");
  spins_ = llvm::IRBuilder<>(entry_).CreateAlloca(b_.getInt32Ty(), nullptr, "spins");
  b_.CreateStore(b_.getInt32(0), spins_);
  for (unsigned p = 0; p < coarsening_; ++p) b_.CreateStore(toStorage(allOnes()), live_[p]);
}

/// The mask of lanes that exist: only the last warp of a block can be partial.
Parts Emitter::initialLive() {
  const auto& block = shapes_.launch().block;
  const uint64_t threads = uint64_t{block[0]} * block[1] * block[2];
  Parts live;
  for (unsigned p = 0; p < coarsening_; ++p) {
    LlvmValue warp = b_.CreateAdd(b_.CreateMul(group_, b_.getInt32(coarsening_)), b_.getInt32(p));
    LlvmValue left = b_.CreateSub(b_.getInt32(static_cast<uint32_t>(threads)), b_.CreateMul(warp, b_.getInt32(kLanes)));
    live.push_back(b_.CreateICmpSGT(splat(left), patternVector(
                                                     [] {
                                                       ir::Pattern p{};
                                                       for (unsigned l = 0; l < kLanes; ++l) p[l] = l;
                                                       return p;
                                                     }(),
                                                     b_.getInt32Ty())));
  }
  return live;
}

void Emitter::emitRegions() {
  clearPrivateCopies();
  auto* done = newBlock("done");
  auto* round = newBlock("round");
  std::vector<llvm::BasicBlock*> heads;
  for (uint32_t p = 0; p < plan_.regions.resumePoints.size(); ++p)
    heads.push_back(newBlock(("region" + std::to_string(p)).c_str()));
  llvm::PHINode* state = nullptr;
  if (plan_.regions.resumePoints.size() == 1 && !diverges_) {
    clearBarrierReduction();
    b_.CreateBr(heads[0]);
    llvm::IRBuilder<>(round).CreateBr(done);
  } else {
    llvm::IRBuilder<> at(round);
    state = at.CreatePHI(b_.getInt32Ty(), 2, "state");
    auto* select = at.CreateSwitch(state, done, static_cast<unsigned>(plan_.regions.resumePoints.size()));
    for (uint32_t p = 0; p < plan_.regions.resumePoints.size(); ++p)
      if (plan_.regions.entries[p].converged) select->addCase(b_.getInt32(p), heads[p]);
    if (diverges_) {
      emitScheduledStart(round, state);
      emitScheduledRegions(round, state, done);
    } else {
      clearBarrierReduction();
      state->addIncoming(b_.getInt32(0), b_.GetInsertBlock());
      b_.CreateBr(round);
    }
  }
  for (uint32_t p = 0; p < plan_.regions.resumePoints.size(); ++p) {
    b_.SetInsertPoint(heads[p]);
    currentResumePoint_ = p;
    if (!plan_.regions.entries[p].converged) {
      b_.CreateUnreachable();
    } else if (plan_.regions.entries[p].isIndependent) {
      enterScheduled(p);
    } else {
      if (diverges_ && syncPoints_.polls && p > 0) emitBreak(p);
      emitRegion(p);
      if (plan_.counters.regions[p]) addPrivateCopies();
      // The region has left its loop over the groups; `nextState_` says where the block goes on.
      LlvmValue next = b_.CreateLoad(b_.getInt32Ty(), nextState_);
      if (state) state->addIncoming(next, b_.GetInsertBlock());
      b_.CreateBr(round);
    }
  }
  b_.SetInsertPoint(done);
  emitReturn(machine::BlockStatus::Ended);
}

void Emitter::emitReturn(machine::BlockStatus status) {
  flushCounters();
  b_.CreateRet(b_.getInt32(static_cast<uint32_t>(status)));
}

/// The code for threads that come to the region converged.
const simt::RegionCode& Emitter::codeOf(uint32_t resumePoint) const {
  for (const simt::RegionCode& code : plan_.code.regions)
    if (!code.isScheduled && code.entries[0].resumePoint == resumePoint) return code;
  llvm_unreachable("a region without code");
}

/// One region: a loop over the groups of warps.
void Emitter::emitRegion(uint32_t resumePoint) {
  auto* head = b_.GetInsertBlock();
  const simt::RegionCode& code = codeOf(resumePoint);
  region_ = &code.region;
  b_.CreateStore(b_.getInt32(kDone), nextState_);
  takeBarrierReduction(resumePoint);
  if (!diverges_) deliverBarrierReduction(resumePoint);
  // Values that all warps share and this region changes must start from the same value for each group, and have then
  // the value that a group gave them which came to the end, and not ended before.
  sharedValues_.clear();
  for (ValueId v : plan_.liveness.at[resumePoint])
    if (!diverges_ && shapes_[v].isGrouped() && !shapes_[v].warpVarying && isDefinedHere(v))
      for (llvm::AllocaInst* slot : slots_[v].bases[0]) {
        llvm::Type* type = slot->getAllocatedType();
        sharedValues_.push_back({slot, b_.CreateLoad(type, slot), llvm::IRBuilder<>(entry_).CreateAlloca(type)});
        b_.CreateStore(sharedValues_.back().before, sharedValues_.back().after);
      }

  auto* loop = llvm::BasicBlock::Create(context_, "groups", function_);
  auto* latch = llvm::BasicBlock::Create(context_, "nextgroup", function_);
  auto* advance = llvm::BasicBlock::Create(context_, "advance", function_);
  auto* after = llvm::BasicBlock::Create(context_, "endregion", function_);
  b_.CreateBr(loop);
  b_.SetInsertPoint(loop);
  auto* group = b_.CreatePHI(b_.getInt32Ty(), 2, "group");
  group->addIncoming(firstGroup_, head);
  group_ = group;
  regionLatch_ = latch;
  regionAdvance_ = plan_.exits.mayMiss[resumePoint] && resumePoint != 0 ? advance : nullptr;
  for (const SharedValue& v : sharedValues_) b_.CreateStore(v.before, v.slot);
  for (ValueId v = 0; v < f_.values.size(); ++v)
    if (isDefinedHere(v) && !plan_.liveness.crossesResume[v]) forget(v);
  reloadAfterBarrier(resumePoint);
  if (diverges_) deliverBarrierReduction(resumePoint);

  CodeLowering lowering(*this, code);
  lowering.enterHere(resumePoint);
  lowering.lower();

  b_.SetInsertPoint(latch);
  if (plan_.exits.mayMissLater()) {
    LlvmValue spillSlot = scratchOfGroup(plan_.spills.live, plan_.spills.liveBytes);
    for (unsigned p = 0; p < coarsening_; ++p)
      b_.CreateStore(laneBits(fromStorage(b_.CreateLoad(storageType(), live_[p]))),
                     b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), spillSlot, 4 * p));
  }
  b_.CreateBr(advance);
  b_.SetInsertPoint(advance);
  LlvmValue next = b_.CreateAdd(group_, b_.getInt32(1), "group.next", true, true);
  group->addIncoming(next, advance);
  b_.CreateCondBr(b_.CreateICmpULT(next, groupsEnd_), loop, after);
  b_.SetInsertPoint(after);
  for (const SharedValue& v : sharedValues_) b_.CreateStore(b_.CreateLoad(v.slot->getAllocatedType(), v.after), v.slot);
}

}  // namespace ordito::jit
