// From the CFG to LLVM blocks: plain branches where all lanes of the group agree, masks where they may not.
//
// A masked component (simt/masks.hpp) is emitted as one straight sequence in topological order: each block has a
// pending mask, is skipped when that is empty, and adds its lanes to the pending masks of its successors; a loop is
// repeated until nothing waits at its header. Behind the component lanes are together again and code is plain. Old
// values survive in lanes that do not take part because phis are blended on edges and everything else is only read
// where it was written (LCSSA).
//
// Code is specialised in versions. A divergent branch on which, as it happens, all lanes agree continues in a version
// that assumes so and needs no masks: `if (i < n)` costs one test per warp, not a mask on every access. When a lane
// ends early, code goes on in the version that knows of dead lanes.
#include <algorithm>

#include "ir/liveness.hpp"
#include "jit/emitter.hpp"

namespace ordito::jit {

using ir::kNoBlock;
using Kind = ir::Terminator::Kind;

namespace {
constexpr uint32_t kDone = ~0u;
/// Where the turns of a masked loop begin: where lanes come in first, which is in its middle if a region starts there.
/// One that spins has turns from its own header on, where its lanes can stop.
BlockId headerOf(const std::vector<BlockId>& loop, const ir::SyncPoints& syncPoints, const simt::Region& region) {
  for (BlockId n : loop)
    if (const auto* spin = syncPoints.spinAt(n);
        spin && std::all_of(loop.begin(), loop.end(), [&](BlockId m) { return spin->members[m] != 0; }))
      return n;
  return *std::ranges::min_element(loop, {}, [&](BlockId b) { return region.position(b); });
}
}  // namespace

uint32_t Emitter::versionNumber(const Version& v) {
  auto [it, isNew] = versionNumbers_.try_emplace(v, static_cast<uint32_t>(versions_.size()));
  if (isNew) versions_.push_back(v);
  return it->second;
}

/// Outside the influence of a branch, what was assumed of it says nothing.
uint32_t Emitter::versionAt(uint32_t version, BlockId block) {
  Version v = versions_[version];
  std::erase_if(v.assumed, [&](BlockId b) { return !plan_.versions.influence[b][block]; });
  return versionNumber(v);
}

const simt::Masks& Emitter::masksOf(uint32_t version) {
  auto [it, isNew] = masks_.try_emplace(version);
  if (isNew) it->second = simt::findMasks(shapes_, plan_.versions, plan_.regions, *region_, versions_[version].assumed);
  return it->second;
}

llvm::BasicBlock* Emitter::blockFor(BlockId b, uint32_t version) {
  auto [it, isNew] = blocks_.try_emplace({version, b}, nullptr);
  if (!isNew) return it->second;
  auto* block = it->second =
      llvm::BasicBlock::Create(context_, fmt::format("B{}v{}r{}", b, version, currentResumePoint_), function_);
  asked_ += f_.blocks[b].code.size();
  work_.push_back([this, b, version, block] {
    b_.SetInsertPoint(block);
    emitUniformBlock(b, version);
  });
  return block;
}

llvm::BasicBlock* Emitter::componentFor(uint32_t component, uint32_t version) {
  auto [it, isNew] = components_.try_emplace({version, component}, nullptr);
  if (!isNew) return it->second;
  auto* block = it->second = llvm::BasicBlock::Create(
      context_, fmt::format("masked{}v{}r{}", component, version, currentResumePoint_), function_);
  for (BlockId b : masksOf(version).components[component].blocks) asked_ += f_.blocks[b].code.size();
  work_.push_back([this, component, version, block] {
    b_.SetInsertPoint(block);
    emitComponent(component, version);
  });
  return block;
}

void Emitter::drainWork() {
  while (!work_.empty()) {
    auto next = std::move(work_.back());
    work_.pop_back();
    next();
  }
}

void Emitter::emitUniformBlock(BlockId b, uint32_t version) {
  valueCache_.clear();
  mask_ = liveMask(version);
  maskHasLane_ = false;
  emitCode(b);
  emitUniformEnd(b, version);
}

void Emitter::emitCode(BlockId b) {
  countedGroups_.clear();
  checkedRoots_.clear();
  emitted_ = &f_.blocks[b];
  comparisons_.clear();
  raiseIssues(f_.blocks[b]);
  for (const Instruction& i : f_.blocks[b].code) {
    setLine(i.line);
    raiseGuardedIssue(i);
    emitInstruction(i);
  }
  setLine(f_.blocks[b].end.line);
}

void Emitter::emitUniformEnd(BlockId b, uint32_t version) {
  const ir::Terminator& end = f_.blocks[b].end;
  raiseEnd(end, mask_, shapes_.isDivergent(b), end.condition);
  switch (end.kind) {
    case Kind::Jump: return goTo(b, end.target[0], version);
    case Kind::Exit:
      if (plan_.exits.needsLive)
        for (auto* slot : live_) b_.CreateStore(llvm::Constant::getNullValue(storageType()), slot);
      return endRegion(kDone);
    case Kind::Trap: return emitTrap(end, mask_);
    case Kind::Barrier: {
      if (inScheduled_) {
        emitSyncPoint(b, mask_);
        return endRegion(kDone);
      }
      checkBarrierNumber(end.barrier, end.line);
      if (end.barrier.has(isa::ModifierKind::RedOp)) arriveAtBarrierReduction(end.barrier, mask_);
      assignPhis(b, end.target[0], {});
      spillForBarrier(plan_.regions.pointOf[end.target[0]]);
      for (const SharedValue& v : sharedValues_)
        b_.CreateStore(b_.CreateLoad(v.slot->getAllocatedType(), v.slot), v.after);
      return endRegion(plan_.regions.pointOf[end.target[0]], versions_[version].full);
    }
    case Kind::Branch: break;
  }
  if (const unsigned side = simt::exitSide(f_, end); side < 2) return emitRetire(b, version, side);
  if (shapes_.isDivergent(b)) return emitDivergentEnd(b, version);
  LlvmValue condition = baseOf(end.condition, 0, 0);
  auto* taken = newBlock("taken");
  auto* other = newBlock("other");
  b_.CreateCondBr(condition, end.negated ? other : taken, end.negated ? taken : other);
  const auto cachedHere = valueCache_;
  for (unsigned k = 0; k < 2; ++k) {
    b_.SetInsertPoint(k == 0 ? taken : other);
    valueCache_ = cachedHere;
    goTo(b, end.target[k], version);
  }
}

/// Control passes from `from` to `to` with all lanes of the group.
void Emitter::goTo(BlockId from, BlockId to, uint32_t version) {
  assignPhis(from, to, {});
  if (const auto* spin = syncPoints_.spinAt(to); spin && spin->members[from]) noteSpin(to, version);
  arrive(to, version);
}

/// All live lanes are at `to`, whose phis have their values.
void Emitter::arrive(BlockId to, uint32_t version) {
  version = optimisticVersion(to, versionAt(version, to));
  if (!masksOf(version).masked[to]) {
    b_.CreateBr(blockFor(to, version));
    return;
  }
  const uint32_t component = masksOf(version).component[to];
  clearPending(component, version);
  Parts live = liveMask(version);
  if (live.empty()) live.assign(coarsening_, allOnes());
  addPending(to, live);
  b_.CreateBr(componentFor(component, version));
}

/// Lanes that enter a loop together stay so until a branch parts them: the version that assumes the loop's divergent
/// branches to have agreed so far.
uint32_t Emitter::optimisticVersion(BlockId to, uint32_t version) {
  Version v = versions_[version];
  for (BlockId b : region_->order()) {
    if (!shapes_.isDivergent(b) || !plan_.versions.influence[b][to] ||
        std::find(v.assumed.begin(), v.assumed.end(), b) != v.assumed.end())
      continue;
    if (!isWorthSpecialising(b, version) || v.assumed.size() >= simt::cost::kMostAssumptions) return version;
    v.assumed.push_back(b);
  }
  std::sort(v.assumed.begin(), v.assumed.end());
  return versionNumber(v);
}

void Emitter::clearPending(uint32_t component, uint32_t version) {
  for (BlockId n : masksOf(version).components[component].blocks)
    for (auto* slot : pendingSlots(n)) b_.CreateStore(llvm::Constant::getNullValue(storageType()), slot);
}

bool Emitter::isWorthSpecialising(BlockId b, uint32_t version) const {
  const auto& assumed = versions_[version].assumed;
  if (baseline_ || (plan_.regions.sharesScheduled && inScheduled_) ||
      asked_ > std::max(simt::cost::kSmallKernel, simt::cost::kMostCopies * plan_.regions.instructions))
    return false;
  if (std::find(assumed.begin(), assumed.end(), b) != assumed.end()) return true;
  if (assumed.size() >= simt::cost::kMostAssumptions) return false;
  return plan_.versions.isWorthCopy[b];
}

/// A warp whose base alone decides goes where all its lanes go; the others need to ask their lanes only, and from here
/// on `valueCache_` has the condition as it is for them.
void Emitter::branchOnBase(const ir::Terminator& end, llvm::BasicBlock* const all[2]) {
  const auto found = comparisons_.find(end.condition);
  if (found == comparisons_.end()) return;
  const Comparison& c = found->second;
  auto* open = newBlock("open");
  b_.CreateCondBr(c.open, open, all[c.negated == end.negated ? 1 : 0]);
  b_.SetInsertPoint(open);
  valueCache_[end.condition].vectors[0] = c.negated ? b_.CreateNot(c.lanes) : c.lanes;
}

void Emitter::emitDivergentEnd(BlockId b, uint32_t version) {
  const ir::Terminator& end = f_.blocks[b].end;
  Version base = versions_[version];
  std::erase(base.assumed, b);
  const bool specialises = isWorthSpecialising(b, version);
  llvm::BasicBlock* all[2] = {};
  const auto heldByAll = valueCache_;
  if (specialises) {
    all[0] = newBlock("alltaken"), all[1] = newBlock("nonetaken");
    branchOnBase(end, all);
  }
  const Parts condition = conditionMask(end.condition, end.negated);
  const Parts live = liveMask(version);
  const Parts side[2] = {both(live, condition), butNot(live, condition)};
  if (specialises) {
    Version agreed = base;
    agreed.assumed.push_back(b);
    std::sort(agreed.assumed.begin(), agreed.assumed.end());
    auto* someTaken = newBlock("sometaken");
    auto* mixed = newBlock("mixed");
    b_.CreateCondBr(anyLane(side[1]), someTaken, all[0]);
    b_.SetInsertPoint(someTaken);
    b_.CreateCondBr(anyLane(side[0]), mixed, all[1]);
    const auto cachedHere = valueCache_;
    for (unsigned k = 0; k < 2; ++k) {
      b_.SetInsertPoint(all[k]);
      valueCache_ = heldByAll;
      goTo(b, end.target[k], versionNumber(agreed));
    }
    valueCache_ = cachedHere;
    b_.SetInsertPoint(mixed);
  }
  const uint32_t masked = versionNumber(base);
  const simt::Masks& info = masksOf(masked);
  const BlockId inside = info.masked[end.target[0]] ? end.target[0] : end.target[1];
  const uint32_t component = info.component[inside];
  clearPending(component, masked);
  for (unsigned k = 0; k < 2; ++k) {
    assignPhis(b, end.target[k], side[k]);
    if (masksOf(masked).masked[end.target[k]]) addPending(end.target[k], side[k]);
  }
  b_.CreateBr(componentFor(component, masked));
}

/// A branch one side of which ends the thread: `if (i >= n) return`.
void Emitter::emitRetire(BlockId b, uint32_t version, unsigned side) {
  const ir::Terminator& end = f_.blocks[b].end;
  const BlockId onward = end.target[1 - side];
  const bool exitsOnTrue = (side == 0) != end.negated;
  auto* die = newBlock("die");
  if (!shapes_.isDivergent(b)) {
    auto* on = newBlock("goon");
    LlvmValue condition = baseOf(end.condition, 0, 0);
    b_.CreateCondBr(condition, exitsOnTrue ? die : on, exitsOnTrue ? on : die);
    b_.SetInsertPoint(on);
    const auto cachedHere = valueCache_;
    goTo(b, onward, version);
    valueCache_ = cachedHere;
    b_.SetInsertPoint(die);
    if (counting_) raiseExit(f_.blocks[end.target[side]].end, liveMask(version));
  } else {
    const Parts retiring = conditionMask(end.condition, !exitsOnTrue);
    if (counting_) raiseExit(f_.blocks[end.target[side]].end, both(liveMask(version), retiring));
    Version partial = versions_[version];
    partial.full = false;
    if (versions_[version].full) {
      auto* some = newBlock("someend");
      auto* none = newBlock("noneends");
      b_.CreateCondBr(anyLane(retiring), some, none);
      b_.SetInsertPoint(none);
      const auto cachedHere = valueCache_;
      goTo(b, onward, version);
      valueCache_ = cachedHere;
      b_.SetInsertPoint(some);
      if (canPartAt(b)) {
        runApart();
        b_.CreateBr(die);
        return endRetiring(die);
      }
    }
    const Parts left = butNot(liveMask(version), retiring);
    for (unsigned p = 0; p < coarsening_; ++p) b_.CreateStore(toStorage(left[p]), live_[p]);
    auto* on = newBlock("goon");
    b_.CreateCondBr(anyLane(left), on, die);
    b_.SetInsertPoint(on);
    const auto cachedHere = valueCache_;
    goTo(b, onward, versionNumber(partial));
    valueCache_ = cachedHere;
  }
  endRetiring(die);
}

/// All lanes of the group have ended.
void Emitter::endRetiring(llvm::BasicBlock* die) {
  b_.SetInsertPoint(die);
  if (plan_.exits.needsLive)
    for (auto* slot : live_) b_.CreateStore(llvm::Constant::getNullValue(storageType()), slot);
  endRegion(kDone);
}

/// May the group's warps start anew, one by one, instead of going on behind the branch that ends `b`? If nothing that
/// led here left a trace.
bool Emitter::canPartAt(BlockId b) const { return !apartName_.empty() && plan_.parting.startsAnew[b]; }

void Emitter::runApart() {
  if (!apart_) apart_ = declare(apartName_, {b_.getPtrTy(), b_.getInt32Ty()});
  b_.CreateCall(apart_, {frame_, b_.CreateMul(group_, b_.getInt32(coarsening_))})->setDoesNotThrow();
}

/// `isWhole`: no lane has ended.
void Emitter::endRegion(uint32_t nextState, bool isWhole) {
  if (nextState != kDone) b_.CreateStore(b_.getInt32(nextState), nextState_);
  b_.CreateBr(isWhole && regionAdvance_ ? regionAdvance_ : regionLatch_);
}

void Emitter::emitComponent(uint32_t component, uint32_t version) {
  const simt::Masks::Component info = masksOf(version).components[component];
  emitSequence(info.blocks, version, kNoBlock);
  valueCache_.clear();
  if (info.next == kNoBlock) {
    if (plan_.exits.needsLive)
      for (auto* slot : live_) b_.CreateStore(llvm::Constant::getNullValue(storageType()), slot);
    return endRegion(kDone);
  }
  if (!info.loses) return arrive(info.next, version);
  Version after = versions_[version];
  after.full = false;
  const uint32_t partial = versionNumber(after);
  auto* on = newBlock("goon");
  auto* die = newBlock("die");
  b_.CreateCondBr(anyLane(liveMask(partial)), on, die);
  b_.SetInsertPoint(die);
  endRegion(kDone);
  b_.SetInsertPoint(on);
  arrive(info.next, partial);
}

/// The region's graph, in which the stops among `nodes` lead to where their lanes will come back to one of `nodes`. So
/// a stop belongs to the loops around it, as in the kernel, also if the way back leads over the region's start, `cut`;
/// and lanes reach it in the turn in which they set out for it: at its end, what they have computed dies.
ir::Graph Emitter::graphWithSyncPoints(const std::vector<BlockId>& nodes, BlockId cut) const {
  ir::Graph graph = plan_.regions.graph;
  std::vector<char> isNode(f_.blocks.size(), 0);
  for (BlockId n : nodes) isNode[n] = 1;
  for (BlockId b : nodes) {
    if (f_.blocks[b].end.kind != Kind::Barrier) continue;
    std::vector<char> seen(f_.blocks.size(), 0);
    std::vector<BlockId> work{b};
    while (!work.empty()) {
      const ir::Terminator& end = f_.blocks[work.back()].end;
      work.pop_back();
      for (unsigned k = 0; k < end.targetCount(); ++k) {
        const BlockId to = end.target[k];
        if (seen[to]) continue;
        seen[to] = 1;
        if (isNode[to] && to != cut)
          graph.edge(b, to);
        else
          work.push_back(to);
      }
    }
  }
  return graph;
}

/// Emits masked blocks in topological order, loops as loops. Edges into `cut`, the header of the loop around `nodes`,
/// do not count.
void Emitter::emitSequence(const std::vector<BlockId>& nodes, uint32_t version, BlockId cut) {
  const bool syncPoints =
      std::any_of(nodes.begin(), nodes.end(), [&](BlockId n) { return f_.blocks[n].end.kind == Kind::Barrier; });
  for (const auto& component :
       ir::components(syncPoints ? graphWithSyncPoints(nodes, cut) : plan_.regions.graph, nodes, cut)) {
    const BlockId header = headerOf(component, syncPoints_, *region_);
    const bool repeats = header != cut && std::any_of(component.begin(), component.end(), [&](BlockId n) {
                           const auto& successors = plan_.regions.graph.successors[n];
                           return std::find(successors.begin(), successors.end(), header) != successors.end();
                         });
    if (!repeats && component.size() == 1) {
      emitMaskedBlock(component[0], version);
      continue;
    }
    if (!repeats) {
      emitSequence(component, version, header);  // who comes back to the header has stopped on the way
      continue;
    }
    if (emitUniformLoop(component, version)) continue;
    if (inScheduled_) noteWhatOutlivesIterations(component, header);
    auto* loop = newBlock("loop");
    auto* after = newBlock("afterloop");
    const bool spins = syncPoints_.spinAt(header) != nullptr;
    const SpinIterations turns = spins ? beginSpinIterations() : SpinIterations{};
    b_.CreateBr(loop);
    b_.SetInsertPoint(loop);
    emitSequence(component, version, header);
    forgetDefinitions(component);
    Parts waiting;
    for (auto* slot : pendingSlots(header)) waiting.push_back(fromStorage(b_.CreateLoad(storageType(), slot)));
    if (spins)
      endSpinIteration(header, waiting[0], loop, after, turns);
    else
      b_.CreateCondBr(anyLane(waiting), loop, after);
    b_.SetInsertPoint(after);
  }
}

/// In a natural loop a value reaches other turns, and code behind the loop, through phis only, which each lane is given
/// for itself. Around stops a loop need not be natural: it may begin in the middle of one of the kernel's loops, and
/// some lanes are already in that one's next turn while others still wait, in front of the loop's header or behind it,
/// to read what they have computed in the last. Such values are written under masks, and kept.
void Emitter::noteWhatOutlivesIterations(const std::vector<BlockId>& loop, BlockId header) {
  std::vector<char> isInside(f_.blocks.size(), 0);
  for (BlockId b : loop) isInside[b] = 1;
  std::vector<BlockId> waits{header};
  for (BlockId b : loop)
    for (BlockId s : plan_.regions.graph.successors[b])
      if (!isInside[s] && std::find(waits.begin(), waits.end(), s) == waits.end()) waits.push_back(s);
  std::vector<char> isComputed(f_.values.size(), 0);
  for (BlockId b : loop)
    for (const Instruction& i : f_.blocks[b].code)
      ir::forEachDefinition(i, [&](ValueId v, unsigned) { isComputed[v] = 1; });
  for (const auto& live : ir::liveIns(f_, waits))
    for (ValueId v : live)
      if (isComputed[v]) outlivesIteration_[v] = 1;
}

/// For the end of an iteration: what an instruction of the loop computed, no block reads in the next iteration, or
/// behind the loop, but through a phi, or it is known to be read. Without this LLVM would carry the old values of all
/// skipped blocks around the loop, more than there are registers (4.5 times slower on an unrolled Mandelbrot).
void Emitter::forgetDefinitions(const std::vector<BlockId>& loop) {
  for (BlockId b : loop)
    for (const Instruction& i : f_.blocks[b].code)
      ir::forEachDefinition(i, [&](ValueId v, unsigned) {
        if (!outlivesIteration_[v]) forget(v);
      });
}

void Emitter::emitMaskedBlock(BlockId b, uint32_t version) {
  auto* body = newBlock("body");
  auto* skip = newBlock("skip");
  Parts mask;
  for (auto* slot : pendingSlots(b)) mask.push_back(fromStorage(b_.CreateLoad(storageType(), slot)));
  b_.CreateCondBr(anyLane(mask), body, skip);
  b_.SetInsertPoint(body);
  for (auto* slot : pendingSlots(b)) b_.CreateStore(llvm::Constant::getNullValue(storageType()), slot);
  valueCache_.clear();
  mask_ = mask;
  maskHasLane_ = true;
  emitCode(b);
  emitMaskedEnd(b, version, mask);
  if (!b_.GetInsertBlock()->getTerminator()) b_.CreateBr(skip);
  b_.SetInsertPoint(skip);
}

void Emitter::emitMaskedEnd(BlockId b, uint32_t version, const Parts& mask) {
  const ir::Terminator& end = f_.blocks[b].end;
  raiseEnd(end, mask, shapes_.isDivergent(b), end.condition);
  auto kill = [&](const Parts& retiring) {
    for (unsigned p = 0; p < coarsening_; ++p) {
      LlvmValue live = fromStorage(b_.CreateLoad(storageType(), live_[p]));
      b_.CreateStore(toStorage(b_.CreateAnd(live, b_.CreateNot(retiring[p]))), live_[p]);
    }
  };
  auto leave = [&](BlockId to, const Parts& lanes) {
    if (ir::isExitOnly(f_.blocks[to])) return raiseExit(f_.blocks[to].end, lanes), kill(lanes);
    assignPhis(b, to, lanes);
    if (masksOf(version).masked[to]) addPending(to, lanes);
  };
  switch (end.kind) {
    case Kind::Jump: return leave(end.target[0], mask);
    case Kind::Exit: return kill(mask);
    case Kind::Trap: return emitTrap(end, mask);
    case Kind::Barrier: emitSyncPoint(b, mask); return kill(mask);
    case Kind::Branch: break;
  }
  const Parts condition = conditionMask(end.condition, end.negated);
  const Parts taken = both(mask, condition), other = butNot(mask, condition);
  leave(end.target[0], taken);
  leave(end.target[1], other);
}

/// A loop under a mask whose own branches all lanes take alike stays a plain loop: the mask is tested once, before it.
bool Emitter::emitUniformLoop(const std::vector<BlockId>& loop, uint32_t version) {
  auto inside = [&](BlockId n) { return std::find(loop.begin(), loop.end(), n) != loop.end(); };
  BlockId header = kNoBlock;
  for (BlockId n : loop)
    if (syncPoints_.spinAt(n)) return false;
  for (BlockId n : loop) {
    const ir::Terminator& end = f_.blocks[n].end;
    if ((end.kind != Kind::Jump && end.kind != Kind::Branch) || shapes_.isDivergent(n) || simt::exitSide(f_, end) < 2)
      return false;
    for (BlockId p : f_.blocks[n].predecessors) {
      if (inside(p)) continue;
      if (header != kNoBlock && header != n) return false;
      header = n;
    }
  }
  if (header == kNoBlock) return false;
  auto* after = newBlock("afterloop");
  std::map<BlockId, llvm::BasicBlock*> at;
  for (BlockId n : loop) at[n] = newBlock("uniformloop");
  Parts mask;
  for (auto* slot : pendingSlots(header)) mask.push_back(fromStorage(b_.CreateLoad(storageType(), slot)));
  for (auto* slot : pendingSlots(header)) b_.CreateStore(llvm::Constant::getNullValue(storageType()), slot);
  b_.CreateCondBr(anyLane(mask), at[header], after);
  for (BlockId n : loop) {
    b_.SetInsertPoint(at[n]);
    valueCache_.clear();
    mask_ = mask;
    maskHasLane_ = true;
    emitCode(n);
    const ir::Terminator& end = f_.blocks[n].end;
    raiseEnd(end, mask, false, end.condition);
    auto leave = [&](BlockId to) {
      if (inside(to)) {
        assignPhis(n, to, {});
        b_.CreateBr(at[to]);
        return;
      }
      assignPhis(n, to, mask);
      if (masksOf(version).masked[to]) addPending(to, mask);
      b_.CreateBr(after);
    };
    if (end.kind == Kind::Jump) {
      leave(end.target[0]);
      continue;
    }
    auto* side0 = newBlock("taken");
    auto* side1 = newBlock("other");
    b_.CreateCondBr(baseOf(end.condition, 0, 0), end.negated ? side1 : side0, end.negated ? side0 : side1);
    const auto cachedHere = valueCache_;
    b_.SetInsertPoint(side0);
    leave(end.target[0]);
    valueCache_ = cachedHere;
    b_.SetInsertPoint(side1);
    leave(end.target[1]);
  }
  b_.SetInsertPoint(after);
  return true;
}

/// Gives the phis of `to` the values that come along the edge from `from`; with a mask only in its lanes. All are read
/// before one is written.
void Emitter::assignPhis(BlockId from, BlockId to, const Parts& mask) {
  const ir::Block& block = f_.blocks[to];
  if (block.phis.empty()) return;
  const size_t edge = static_cast<size_t>(std::find(block.predecessors.begin(), block.predecessors.end(), from) -
                                          block.predecessors.begin());
  std::vector<CachedValue> values;
  for (const ir::Phi& phi : block.phis) {
    const ValueId v = phi.incoming[edge];
    const ir::Shape& s = shapes_[phi.value];
    CachedValue h;
    h.vectors.assign(coarsening_, nullptr);
    for (unsigned p = 0; p < coarsening_; ++p) {
      if (!s.isGrouped()) {
        LlvmValue x = vectorOf(v, p);
        h.vectors[p] = convertBits(plan_.nans.isMixed(phi.value) ? mended(v, x) : x, valueType(phi.value, true));
        continue;
      }
      Parts bases;
      for (unsigned g = 0; g < s.groups; ++g) {
        LlvmValue x = regroup(shapes_[v], cached(v).bases[p], s.groups, g, s.pattern == 0);
        bases.push_back(plan_.nans.isMixed(phi.value) ? mended(v, x) : x);
      }
      h.bases.push_back(bases);
    }
    values.push_back(std::move(h));
  }
  for (size_t i = 0; i < values.size(); ++i) store(block.phis[i].value, values[i], mask);
}

std::vector<llvm::AllocaInst*>& Emitter::pendingSlots(BlockId b) {
  auto& slots = pending_[b];
  while (slots.size() < coarsening_)
    slots.push_back(llvm::IRBuilder<>(entry_).CreateAlloca(storageType(), nullptr, "pending"));
  return slots;
}

void Emitter::addPending(BlockId b, const Parts& mask) {
  auto& slots = pendingSlots(b);
  for (unsigned p = 0; p < coarsening_; ++p)
    b_.CreateStore(b_.CreateOr(b_.CreateLoad(storageType(), slots[p]), toStorage(mask[p])), slots[p]);
}

void Emitter::emitTrap(const ir::Terminator& end, const Parts&) {
  helper("ordito_trap", b_.getVoidTy(), {frame_, b_.getInt32(end.line), b_.getInt32(static_cast<uint32_t>(end.cause))},
         true);
  b_.CreateUnreachable();
}

Parts Emitter::liveMask(uint32_t version) {
  if (versions_[version].full) return {};
  Parts r;
  for (unsigned p = 0; p < coarsening_; ++p) r.push_back(fromStorage(b_.CreateLoad(storageType(), live_[p])));
  return r;
}

}  // namespace ordito::jit
