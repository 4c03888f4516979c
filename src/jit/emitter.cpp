// The skeleton of a compiled kernel: prologue, the loop over regions, and what moves between a region and the next.
//
//   state = entry
//   while (state != done)
//     switch (state)                        one case for each region: code from one barrier to the next
//       for (group of warps in block)       "loop over the warps of the block" replaces a fiber switch at every barrier
//         reload what the group kept; run; keep what the next region reads
//
// When a barrier stands under control that can differ between the threads of a block, each group instead keeps a mask
// of lanes waiting at each barrier
// (`parks_`), and every round releases all of them; that is slower and needs no fibers.
#include "jit/emitter.hpp"

#include <llvm/IR/DIBuilder.h>
#include <llvm/IR/Verifier.h>

#include <algorithm>
#include <cstddef>

#include "ir/graph.hpp"

namespace ordito::jit {

using ir::kNoBlock;
using ir::kNoValue;
using Kind = ir::Terminator::Kind;
using machine::BlockFrame;

namespace {
constexpr uint32_t kNoPoint = ~0u;
constexpr uint32_t kDone = ~0u;

size_t roundUp(size_t n, size_t to) { return (n + to - 1) / to * to; }
}  // namespace

Emitter::Emitter(llvm::Module& module, const ir::Function& function, const ir::Shapes& shapes,
                 const machine::KernelLayout& layout, const Target& target, bool counters)
    : context_(module.getContext()),
      module_(module),
      f_(function),
      shapes_(shapes),
      nans_(function),
      hoisted_(ir::hoistedValues(function)),
      layout_(layout),
      target_(target),
      counting_(counters),
      jam_(shapes.launch().jam),
      warps_(shapes.launch().warps()),
      groups_(warps_ / shapes.launch().jam),
      b_(module.getContext()) {}

void Emitter::refuse(const Instruction& i, const std::string& what) {
  throw Refusal{fmt::format("kernel '{}', PTX line {}: {} ({}); run with ORDITO_ENGINE=interp, or see 'ordito isa'",
                            f_.kernel->name, i.line, what, i.info().syntax)};
}

EmittedKernel Emitter::emit(const std::string& name) {
  auto* type = llvm::FunctionType::get(b_.getVoidTy(), {b_.getPtrTy()}, false);
  function_ = llvm::Function::Create(type, llvm::Function::ExternalLinkage, name, module_);
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
  beginLines(name);
  refuseSpinLocks();
  findPoints();
  findDefinitions();
  findStreams();
  findLiveness();
  findPrivateSlots();
  makeSlots();
  emitPrologue();
  emitRegions();
  llvm::IRBuilder<>(entry_).CreateBr(body);
  result_.scratchBytes = roundUp(scratchBytes_ + 64, 64);
  return std::move(result_);
}

/// Line tables, so that a fault in the machine code can name its line of PTX.
void Emitter::beginLines(const std::string& name) {
  llvm::DIBuilder di(module_);
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

/// `while (atomicCAS(lock, 0, 1)); …; *lock = 0` needs the lane that got the lock to go on while the others spin, which
/// lanes of a masked loop cannot. Loops that release what they acquire are fine. The interpreter runs such kernels.
void Emitter::refuseSpinLocks() const {
  ir::Graph graph(f_.blocks.size());
  std::vector<uint32_t> all;
  for (BlockId b = 0; b < f_.blocks.size(); ++b) {
    all.push_back(b);
    for (unsigned k = 0; k < f_.blocks[b].end.targetCount(); ++k) graph.edge(b, f_.blocks[b].end.target[k]);
  }
  for (const auto& loop : ir::components(graph, all)) {
    const auto& next = graph.successors[loop[0]];
    if (loop.size() == 1 && std::find(next.begin(), next.end(), loop[0]) == next.end()) continue;
    const Instruction* acquire = nullptr;
    unsigned writes = 0;
    bool divergent = false;
    for (BlockId b : loop) {
      divergent |= shapes_.isDivergent(b);
      for (const Instruction& i : f_.blocks[b].code) {
        const bool isAtomic = i.info().effect == isa::Effect::Atomic;
        if (i.op == isa::Op::AtomCas || (isAtomic && i.mods.name(isa::ModifierKind::AtomOp) == "exch")) acquire = &i;
        writes += isAtomic || i.info().effect == isa::Effect::Store;
      }
    }
    if (acquire && divergent && writes == 1)
      throw Refusal{
          fmt::format("kernel '{}', PTX line {}: lanes of a warp spin on a lock that is released outside of the loop",
                      f_.kernel->name, acquire->line)};
  }
}

LlvmValue Emitter::frameField(size_t offset, llvm::Type* type, const char* name) {
  auto* load = b_.CreateLoad(type, b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), frame_, offset), name);
  load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(context_, {}));
  return load;
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
  if (counting_)
    for (size_t c = 0; c < machine::kCounterCount; ++c) {
      llvm::IRBuilder<> at(entry_);
      counters_.push_back(at.CreateAlloca(b_.getInt64Ty(), nullptr, "counter"));
      b_.CreateStore(b_.getInt64(0), counters_.back());
    }
}

/// Regions start at the entry and behind each barrier.
void Emitter::findPoints() {
  pointOf_.assign(f_.blocks.size(), kNoPoint);
  auto add = [&](BlockId b) {
    if (pointOf_[b] == kNoPoint) pointOf_[b] = static_cast<uint32_t>(points_.size()), points_.push_back(b);
  };
  add(0);
  for (BlockId b = 0; b < f_.blocks.size(); ++b) {
    const ir::Block& block = f_.blocks[b];
    if (block.end.kind == Kind::Barrier) add(block.end.target[0]);
    if (block.end.kind != Kind::Branch || !(shapes_.isDivergent(b) || shapes_.isWarpVarying(b))) continue;
    for (BlockId n : shapes_.influence(b)) parks_ |= f_.blocks[n].end.kind == Kind::Barrier;
  }
  const auto& block = shapes_.launch().block;
  partialBlock_ = uint64_t{block[0]} * block[1] * block[2] % kLanes != 0;
  findEarlyExits();
  for (unsigned p = 0; p < jam_; ++p)
    live_.push_back(llvm::IRBuilder<>(entry_).CreateAlloca(storageType(), nullptr, "live"));
  nextState_ = llvm::IRBuilder<>(entry_).CreateAlloca(b_.getInt32Ty(), nullptr, "next");
  for (unsigned p = 0; p < jam_; ++p) b_.CreateStore(toStorage(allOnes()), live_[p]);
}

/// Where some lanes or warps of a block may have ended while others go on: behind branches that not all threads take
/// alike and that have an exit in their influence.
void Emitter::findEarlyExits() {
  std::vector<char> behind(f_.blocks.size(), 0);
  std::vector<BlockId> work;
  for (BlockId b = 0; b < f_.blocks.size(); ++b) {
    if (f_.blocks[b].end.kind != Kind::Branch || !(shapes_.isDivergent(b) || shapes_.isWarpVarying(b))) continue;
    for (BlockId n : shapes_.influence(b))
      if (f_.blocks[n].end.kind == Kind::Exit) {
        work.push_back(b);
        needsLive_ |= shapes_.isDivergent(b);
        break;
      }
  }
  while (!work.empty()) {
    const BlockId b = work.back();
    work.pop_back();
    for (unsigned k = 0; k < f_.blocks[b].end.targetCount(); ++k)
      if (!behind[f_.blocks[b].end.target[k]])
        behind[f_.blocks[b].end.target[k]] = 1, work.push_back(f_.blocks[b].end.target[k]);
  }
  for (uint32_t p = 0; p < points_.size(); ++p) mayMiss_.push_back(partialBlock_ || parks_ || behind[points_[p]]);
  for (char m : mayMiss_) needsLive_ |= m != 0;
}

void Emitter::findDefinitions() {
  isRead_.assign(f_.values.size(), 0);
  definition_.assign(f_.values.size(), nullptr);
  auto read = [&](ValueId v) { isRead_[v] = 1; };
  for (BlockId b = 0; b < f_.blocks.size(); ++b) {
    const ir::Block& block = f_.blocks[b];
    for (const ir::Phi& phi : block.phis) {
      phiOf_[phi.value] = {b, &phi};
      for (ValueId v : phi.incoming) read(v);
    }
    for (const Instruction& i : block.code) {
      ir::forEachUse(i, read);
      ir::forEachDefinition(i, [&](ValueId v, unsigned) { definition_[v] = &i; });
    }
    ir::forEachUse(block.end, read);
  }
}

/// Which values each region finds when it starts, and which cross block borders at all.
void Emitter::findLiveness() {
  const size_t values = f_.values.size();
  std::vector<BlockId> definedIn(values, kNoBlock);
  std::vector<std::vector<BlockId>> usedIn(values);
  for (BlockId b = 0; b < f_.blocks.size(); ++b) {
    const ir::Block& block = f_.blocks[b];
    auto use = [&](ValueId v) {
      if (usedIn[v].empty() || usedIn[v].back() != b) usedIn[v].push_back(b);
    };
    auto def = [&](ValueId v, unsigned) { definedIn[v] = b; };
    for (const ir::Phi& phi : block.phis) {
      def(phi.value, 0);
      for (size_t p = 0; p < phi.incoming.size(); ++p) usedIn[phi.incoming[p]].push_back(block.predecessors[p]);
    }
    for (const Instruction& i : block.code) ir::forEachUse(i, use), ir::forEachDefinition(i, def);
    ir::forEachUse(block.end, use);
    if (block.end.kind == Kind::Barrier) ir::forEachDefinition(block.end.barrier, def);
  }
  crossesBlock_.assign(values, 0);
  crossesBarrier_.assign(values, 0);
  liveAt_.assign(points_.size(), {});
  std::vector<uint32_t> stamp(f_.blocks.size(), ~0u);
  for (ValueId v = 0; v < values; ++v) {
    if (definedIn[v] == kNoBlock) continue;
    bool isPhi = false;
    for (const ir::Phi& phi : f_.blocks[definedIn[v]].phis) isPhi |= phi.value == v;
    const bool isBarrierResult = f_.blocks[definedIn[v]].end.kind == Kind::Barrier && [&] {
      bool found = false;
      ir::forEachDefinition(f_.blocks[definedIn[v]].end.barrier, [&](ValueId d, unsigned) { found |= d == v; });
      return found;
    }();
    std::vector<BlockId> work;
    for (BlockId b : usedIn[v])
      if (b != definedIn[v] || isBarrierResult) work.push_back(b);
    crossesBlock_[v] = isPhi || !work.empty();
    while (!work.empty()) {
      const BlockId b = work.back();
      work.pop_back();
      if (stamp[b] == v) continue;
      stamp[b] = v;
      if (pointOf_[b] != kNoPoint && b != 0) {
        bool behindBarrier = false;
        for (BlockId p : f_.blocks[b].predecessors) behindBarrier |= f_.blocks[p].end.kind == Kind::Barrier;
        if (behindBarrier) liveAt_[pointOf_[b]].push_back(v), crossesBarrier_[v] = 1;
      }
      for (BlockId p : f_.blocks[b].predecessors)
        if (p != definedIn[v]) work.push_back(p);
    }
    // A phi in a block behind a barrier is assigned by the region before it and read by the region that starts there.
    if (isPhi && pointOf_[definedIn[v]] != kNoPoint && definedIn[v] != 0)
      for (BlockId p : f_.blocks[definedIn[v]].predecessors)
        if (f_.blocks[p].end.kind == Kind::Barrier) {
          auto& live = liveAt_[pointOf_[definedIn[v]]];
          if (std::find(live.begin(), live.end(), v) == live.end()) live.push_back(v);
          crossesBarrier_[v] = 1;
        }
  }
}

/// Bytes of scratch memory that every group has one copy of; the offset is that of group 0.
size_t Emitter::allocateScratch(size_t bytesPerGroup) {
  const size_t at = scratchBytes_;
  scratchBytes_ += roundUp(bytesPerGroup, 64) * groups_;
  return at;
}

/// Address of this group's copy. All copies of one value lie together, so that neighbouring groups share pages and
/// prefetch streams.
LlvmValue Emitter::scratchAddress(size_t offset) {
  return b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), scratch_, offset);
}

/// The mask of lanes that exist: only the last warp of a block can be partial.
Parts Emitter::initialLive() {
  const auto& block = shapes_.launch().block;
  const uint64_t threads = uint64_t{block[0]} * block[1] * block[2];
  Parts live;
  for (unsigned p = 0; p < jam_; ++p) {
    LlvmValue warp = b_.CreateAdd(b_.CreateMul(group_, b_.getInt32(jam_)), b_.getInt32(p));
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
  dummyHome_ = scratchBytes_;
  scratchBytes_ += 64;
  liveHome_ = allocateScratch(4 * jam_);
  if (parks_) parkedHome_ = allocateScratch(2 * 4 * points_.size());
  reductionHome_ = scratchBytes_;
  scratchBytes_ += 64;
  home_.assign(f_.values.size(), 0);
  for (ValueId v = 0; v < f_.values.size(); ++v) {
    if (!crossesBarrier_[v]) continue;
    const ir::Shape& s = shapes_[v];
    // Bases take a double word each, vectors a full register width.
    home_[v] =
        allocateScratch(s.isGrouped() ? size_t{8} * partsOf(v) * s.groups + (isDual(v) ? size_t{8} * kLanes * jam_ : 0)
                                      : size_t{8} * kLanes * jam_);
  }
  auto* done = llvm::BasicBlock::Create(context_, "done", function_);
  auto* round = llvm::BasicBlock::Create(context_, "round", function_);
  std::vector<llvm::BasicBlock*> heads;
  for (uint32_t p = 0; p < points_.size(); ++p)
    heads.push_back(llvm::BasicBlock::Create(context_, "region" + std::to_string(p), function_));
  auto* prologueEnd = b_.GetInsertBlock();
  // Scratch memory of the barrier reductions starts at zero.
  b_.CreateStore(b_.getInt64(0), scratchAddress(reductionHome_));
  b_.CreateStore(b_.getInt64(0), scratchAddress(reductionHome_ + 8));

  llvm::PHINode* state = nullptr;
  if (points_.size() == 1 && !parks_) {
    b_.CreateBr(heads[0]);
    llvm::IRBuilder<>(round).CreateBr(done);
  } else if (!parks_) {
    b_.CreateBr(round);
    b_.SetInsertPoint(round);
    state = b_.CreatePHI(b_.getInt32Ty(), 2, "state");
    state->addIncoming(b_.getInt32(0), prologueEnd);
    auto* select = b_.CreateSwitch(state, done, static_cast<unsigned>(points_.size()));
    for (uint32_t p = 0; p < points_.size(); ++p) select->addCase(b_.getInt32(p), heads[p]);
  } else {
    throw Refusal{fmt::format("kernel '{}': a barrier under control flow that differs between the threads of a block",
                              f_.kernel->name)};
  }
  for (uint32_t p = 0; p < points_.size(); ++p) {
    currentPoint_ = p;
    b_.SetInsertPoint(heads[p]);
    emitRegion(p);
    // The region has left its loop over the groups; `nextState_` says where the block goes on.
    LlvmValue next = b_.CreateLoad(b_.getInt32Ty(), nextState_);
    if (state) state->addIncoming(next, b_.GetInsertBlock());
    b_.CreateBr(round);
  }
  b_.SetInsertPoint(done);
  flushCounters();
  b_.CreateRetVoid();
}

/// One region: a loop over the groups of warps.
void Emitter::emitRegion(uint32_t point) {
  auto* head = b_.GetInsertBlock();
  blocks_.clear(), components_.clear(), versionInfo_.clear(), componentInfo_.clear();
  // The blocks this region can reach without passing a barrier.
  regionGraph_ = ir::Graph(f_.blocks.size());
  for (BlockId b = 0; b < f_.blocks.size(); ++b)
    if (f_.blocks[b].end.kind != Kind::Barrier)
      for (unsigned k = 0; k < f_.blocks[b].end.targetCount(); ++k) regionGraph_.edge(b, f_.blocks[b].end.target[k]);
  regionOrder_ = ir::reversePostOrder(regionGraph_, points_[point]);
  inRegion_.assign(f_.blocks.size(), 0);
  regionPosition_.assign(f_.blocks.size(), 0);
  for (uint32_t i = 0; i < regionOrder_.size(); ++i)
    inRegion_[regionOrder_[i]] = 1, regionPosition_[regionOrder_[i]] = i;
  definedInRegion_.assign(f_.values.size(), 0);
  for (BlockId b : regionOrder_) {
    for (const ir::Phi& phi : f_.blocks[b].phis) definedInRegion_[phi.value] = 1;
    for (const Instruction& i : f_.blocks[b].code)
      ir::forEachDefinition(i, [&](ValueId v, unsigned) { definedInRegion_[v] = 1; });
    if (f_.blocks[b].end.kind == Kind::Barrier) {
      ir::forEachDefinition(f_.blocks[b].end.barrier, [&](ValueId v, unsigned) { definedInRegion_[v] = 1; });
      for (const ir::Phi& phi : f_.blocks[f_.blocks[b].end.target[0]].phis) definedInRegion_[phi.value] = 1;
    }
  }

  b_.CreateStore(b_.getInt32(kDone), nextState_);
  finishBarrierReduction(point);
  // Values that all warps share and this region changes must start from the same value for each group.
  std::vector<std::pair<llvm::AllocaInst*, LlvmValue>> snapshot;
  for (ValueId v : liveAt_[point])
    if (shapes_[v].isGrouped() && !shapes_[v].warpVarying && definedInRegion_[v])
      for (auto& part : slots_[v].bases)
        for (llvm::AllocaInst* slot : part) snapshot.push_back({slot, b_.CreateLoad(slot->getAllocatedType(), slot)});

  auto* loop = llvm::BasicBlock::Create(context_, "groups", function_);
  auto* latch = llvm::BasicBlock::Create(context_, "nextgroup", function_);
  auto* after = llvm::BasicBlock::Create(context_, "endregion", function_);
  b_.CreateBr(loop);
  b_.SetInsertPoint(loop);
  auto* group = b_.CreatePHI(b_.getInt32Ty(), 2, "group");
  group->addIncoming(b_.getInt32(0), head);
  group_ = group;
  regionLatch_ = latch;
  for (auto& [slot, value] : snapshot) b_.CreateStore(value, slot);
  for (ValueId v = 0; v < f_.values.size(); ++v)
    if (definedInRegion_[v] && !crossesBarrier_[v]) forget(v);
  reloadAfterBarrier(point);

  llvm::BasicBlock* start = nullptr;
  if (!mayMiss_[point]) {
    if (needsLive_)
      for (auto* slot : live_) b_.CreateStore(toStorage(allOnes()), slot);
    start = blockFor(points_[point], versionNumber({true, {}}));
    b_.CreateBr(start);
  } else {
    Parts live;
    if (point == 0) {
      live = initialLive();
    } else {
      LlvmValue home =
          b_.CreateInBoundsGEP(b_.getInt8Ty(), scratchAddress(liveHome_), b_.CreateMul(group_, b_.getInt32(64)));
      for (unsigned p = 0; p < jam_; ++p) {
        LlvmValue bits = b_.CreateLoad(b_.getInt32Ty(), b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), home, 4 * p));
        live.push_back(b_.CreateBitCast(bits, llvm::FixedVectorType::get(b_.getInt1Ty(), kLanes)));
      }
    }
    LlvmValue all = nullptr;
    for (unsigned p = 0; p < jam_; ++p) {
      b_.CreateStore(toStorage(live[p]), live_[p]);
      LlvmValue full = b_.CreateICmpEQ(laneBits(live[p]), b_.getInt32(~0u));
      all = all ? b_.CreateAnd(all, full) : full;
    }
    auto* partial = llvm::BasicBlock::Create(context_, "partial", function_);
    b_.CreateCondBr(all, blockFor(points_[point], versionNumber({true, {}})), partial);
    b_.SetInsertPoint(partial);
    b_.CreateCondBr(anyLane(live), blockFor(points_[point], versionNumber({false, {}})), latch);
  }
  drainWork();

  b_.SetInsertPoint(latch);
  if (std::any_of(mayMiss_.begin() + 1, mayMiss_.end(), [](char m) { return m != 0; })) {
    LlvmValue home =
        b_.CreateInBoundsGEP(b_.getInt8Ty(), scratchAddress(liveHome_), b_.CreateMul(group_, b_.getInt32(64)));
    for (unsigned p = 0; p < jam_; ++p)
      b_.CreateStore(laneBits(fromStorage(b_.CreateLoad(storageType(), live_[p]))),
                     b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), home, 4 * p));
  }
  LlvmValue next = b_.CreateAdd(group_, b_.getInt32(1), "group.next", true, true);
  group->addIncoming(next, latch);
  b_.CreateCondBr(b_.CreateICmpULT(next, b_.getInt32(groups_)), loop, after);
  b_.SetInsertPoint(after);
}

namespace {
/// Calls f(slot, byte offset in the home) for each slot of a value.
template <class F>
void forEachSlot(const Slots& slots, F&& f) {
  size_t offset = 0;
  std::set<llvm::AllocaInst*> seen;
  for (const auto& part : slots.bases)
    for (llvm::AllocaInst* slot : part)
      if (seen.insert(slot).second) f(slot, offset), offset += 8;
  offset = (offset + 63) / 64 * 64;
  for (llvm::AllocaInst* slot : slots.vectors) f(slot, offset), offset += 8 * kLanes;
}
}  // namespace

/// Keeps what the region at `point` will read, for this group. Values shared by all warps stay in their slots.
void Emitter::spillForBarrier(uint32_t point) {
  for (ValueId v : liveAt_[point]) {
    const ir::Shape& s = shapes_[v];
    if (!definedInRegion_[v] || (s.isGrouped() && !s.warpVarying && !isDual(v))) continue;
    forEachSlot(slots_[v], [&](llvm::AllocaInst* slot, size_t offset) {
      const size_t bytes = s.isGrouped()
                               ? size_t{8} * partsOf(v) * s.groups + (isDual(v) ? size_t{8} * kLanes * jam_ : 0)
                               : size_t{8} * kLanes * jam_;
      LlvmValue home =
          b_.CreateInBoundsGEP(b_.getInt8Ty(), scratchAddress(home_[v]),
                               b_.CreateMul(group_, b_.getInt32(static_cast<uint32_t>(roundUp(bytes, 64)))));
      b_.CreateAlignedStore(b_.CreateLoad(slot->getAllocatedType(), slot),
                            b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), home, offset), llvm::Align(8));
    });
  }
}

void Emitter::reloadAfterBarrier(uint32_t point) {
  for (ValueId v : liveAt_[point]) {
    const ir::Shape& s = shapes_[v];
    if (s.isGrouped() && !s.warpVarying && !isDual(v)) continue;
    forEachSlot(slots_[v], [&](llvm::AllocaInst* slot, size_t offset) {
      const size_t bytes = s.isGrouped()
                               ? size_t{8} * partsOf(v) * s.groups + (isDual(v) ? size_t{8} * kLanes * jam_ : 0)
                               : size_t{8} * kLanes * jam_;
      LlvmValue home =
          b_.CreateInBoundsGEP(b_.getInt8Ty(), scratchAddress(home_[v]),
                               b_.CreateMul(group_, b_.getInt32(static_cast<uint32_t>(roundUp(bytes, 64)))));
      b_.CreateStore(b_.CreateAlignedLoad(slot->getAllocatedType(),
                                          b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), home, offset), llvm::Align(8)),
                     slot);
    });
  }
}

}  // namespace ordito::jit
