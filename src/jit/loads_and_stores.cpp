// Loads and stores. A segmented address becomes scalar loads, broadcasts and vector accesses at addresses known
// relative to a scalar base; only a general one becomes a gather or a scatter. Lanes that are masked off must not touch
// memory: contiguous accesses use the host's masked instructions, everything else sends those lanes to a dummy word of
// the block's scratch memory, which needs no branches.
#include "jit/loads_and_stores.hpp"

#include <algorithm>

#include "ir/build.hpp"
#include "ptx/operands.hpp"

namespace ordito::jit {

using isa::ModifierKind;
using isa::Type;
using Operand = ptx::Operand;
using ptx::Space;
using ptx::Symbol;

/// A number of lane 0 with 64 bits.
LlvmValue LoadsAndStores::firstLane(const Operand& o, Type type) {
  if (o.kind == Operand::Kind::Integer) return b_.getInt64(o.bits);
  LlvmValue x = values_.baseOf(o.reg, 0, 0);
  return isa::isSigned(type) ? b_.CreateSExtOrTrunc(x, b_.getInt64Ty()) : b_.CreateZExtOrTrunc(x, b_.getInt64Ty());
}

/// Bytes from what is read now.
LlvmValue LoadsAndStores::distance(const simt::Advance& advance) {
  LlvmValue factor = b_.getInt64(static_cast<uint64_t>(advance.factor));
  if (advance.isToNextBlock()) return factor;
  LlvmValue step = b_.CreateSExtOrTrunc(values_.baseOf(advance.step, 0, 0), b_.getInt64Ty());
  return b_.CreateMul(step, b_.CreateMul(factor, b_.getInt64(simt::cost::kPrefetchedIterations)));
}

/// What the loop reads some iterations on, if it gets so far; and in its first iterations, which nobody asked for in
/// this block, what the next block reads in them. The line that is read now, asked for again instead, would cost as
/// much as one from memory.
void LoadsAndStores::prefetchInLoop(const simt::Advance& advance, const Load& l, unsigned bytes) {
  if (!advance.staysWhile) return prefetch(distance(advance), l, bytes, {});
  const auto& [counter, by, limit, type] = *advance.staysWhile;
  LlvmValue now = firstLane(ir::registerOperand(counter), type);
  LlvmValue steps = b_.CreateMul(firstLane(by, Type::s32), b_.getInt64(simt::cost::kPrefetchedIterations));
  const auto askIf = [&](LlvmValue condition, LlvmValue far) {
    auto *ahead = c_.newBlock("ahead"), *next = c_.newBlock("asked");
    b_.CreateCondBr(condition, ahead, next);
    b_.SetInsertPoint(ahead);
    prefetch(far, l, bytes, {});
    b_.CreateBr(next);
    b_.SetInsertPoint(next);
  };
  askIf(b_.CreateICmpSLT(b_.CreateAdd(now, steps), firstLane(limit, type)), distance(advance));
  if (advance.nextBlock) askIf(b_.CreateICmpSLT(now, steps), b_.getInt64(static_cast<uint64_t>(advance.nextBlock)));
}

/// Asks for the lines that are read some iterations on, or by the next block (simt/prefetch.hpp).
void LoadsAndStores::prefetch(LlvmValue far, const Load& l, unsigned bytes, llvm::ArrayRef<llvm::Instruction*> among) {
  constexpr unsigned kLocality = 4 - simt::cost::kPrefetchedCache;  // as LLVM counts
  const Address& a = l.address;
  std::vector<std::pair<LlvmValue, int64_t>> lines;
  for (unsigned p = 0; p < (a.warpVarying ? warps() : 1); ++p)
    for (unsigned g = 0; g < a.segments; ++g) {
      const unsigned width = kLanes / a.segments;
      const auto [low, high] = std::minmax_element(a.pattern.begin() + g * width, a.pattern.begin() + (g + 1) * width);
      const int64_t last = std::min<int64_t>(*high + bytes - 1, *low + simt::cost::kPrefetchedBytes - 1);
      for (int64_t at = *low; at <= last; at += simt::cost::kCacheLine)
        lines.emplace_back(a.bases[p][g], l.offset(0) + at);
    }
  llvm::IRBuilderBase::InsertPointGuard guard(b_);
  for (size_t k = 0; k < lines.size(); ++k) {
    if (!among.empty()) b_.SetInsertPoint(among[k * among.size() / lines.size()]);
    b_.CreateIntrinsic(llvm::Intrinsic::prefetch, {b_.getPtrTy()},
                       {c_.pointer(b_.CreateAdd(lines[k].first, far), lines[k].second), b_.getInt32(0),
                        b_.getInt32(kLocality), b_.getInt32(1)});
  }
}

/// Its vectors in memory, where all of them are read in one block.
std::vector<llvm::Instruction*> LoadsAndStores::emitLoadToGoAmong(const Load& l) {
  llvm::BasicBlock* block = b_.GetInsertBlock();
  const auto before = static_cast<std::ptrdiff_t>(block->size());
  emitLoad(l);
  std::vector<llvm::Instruction*> vectors;
  if (b_.GetInsertBlock() == block)
    for (llvm::Instruction& made : llvm::drop_begin(*block, before))
      if (llvm::isa<llvm::LoadInst>(made) && made.getType()->isVectorTy()) vectors.push_back(&made);
  return vectors;
}

void LoadsAndStores::load(const Instruction& i) {
  const simt::Access& access = plan_.memory.accesses.at(i, 1);
  if (access.whole.transfer == Transfer::Slot) return privates_.load(i);
  if (access.whole.transfer == Transfer::Merged) return loadNeighbours(i);
  const Address a = addresses_.addressOf(i, 1);
  const Operand& to = i.operands[0];
  const bool isVector = to.kind == Operand::Kind::Vector;
  const unsigned each = isa::bytes(i.type[0]);
  const unsigned bytes = each * std::max(1u, static_cast<unsigned>(to.elements.size()));
  const Allowance allowance =
      events_.raise(i, {machine::AccessKind::Load, a, i.operands[1].offset, values_.guardedMask(i), bytes});
  const Parts& mask = allowance.mask;
  const Load l{
      i,   a, access, allowance, mask, isVector ? to.elements : std::vector<Operand>{to}, values_.memoryType(i.type[0]),
      each};
  alignment_.check(i, 1, bytes, mask);
  if (isOrdered(i)) c_.compilerFence();
  const auto advance = plan_.memory.prefetches.find(&i);
  if (advance == plan_.memory.prefetches.end()) return emitLoad(l);
  using When = simt::Advance::When;
  const When when = advance->second.when;
  if (when == When::Among) return prefetch(distance(advance->second), l, bytes, emitLoadToGoAmong(l));
  if (when == When::Ahead) prefetchInLoop(advance->second, l, bytes);
  emitLoad(l);
  if (when == When::Behind) prefetchInLoop(advance->second, l, bytes);
}

void LoadsAndStores::emitLoad(const Load& l) {
  for (unsigned k = 0; k < l.targets.size(); ++k)
    if (l.targets[k].kind == Operand::Kind::Register && shapes_[l.targets[k].reg].isSegmented()) loadBases(l, k);
  if (l.access.whole.transfer == Transfer::None || l.access.whole.transfer == Transfer::Scalars) return;
  if (isa::bits(l.i.type[0]) > 64) return wide_.load(l.i, l.address, l.allowance);
  if (l.access.transfer(!l.mask.empty()).transfer == Transfer::Structure) return loadStructure(l.i, l.address);
  loadVectors(l);
}

/// Element `k`, of which the lanes of each segment read the same: a scalar load for each segment.
void LoadsAndStores::loadBases(const Load& l, unsigned k) {
  const ValueId v = l.targets[k].reg;
  const unsigned segments = shapes_[v].segments, width = kLanes / segments;
  const bool invariant = l.address.space == Space::Param;
  const bool isOfAllWarps = values_.partsOf(v) == 1 && warps() > 1;
  // A segment whose lanes are all off may hold a wild address.
  const bool mayBeRefused = !l.allowance.refused.empty();
  const bool mayBeOff =
      mayBeRefused || (!l.mask.empty() && !invariant && (warps() > 1 || segments > 1) && !isOfAllWarps);
  CachedValue h;
  for (unsigned p = 0; p < warps(); ++p) {
    if (p >= values_.partsOf(v)) {
      h.bases.push_back(h.bases[0]);
      continue;
    }
    Parts bases;
    for (unsigned g = 0; g < segments; ++g) {
      LlvmValue any = mayBeOff ? b_.CreateOrReduce(values_.lanesOf(l.mask[p], g * width, width)) : nullptr;
      LlvmValue address = l.address.bases[p][g * l.address.segments / segments];
      LlvmValue x = access_.loadScalar(address, l.offset(k), l.element, any);
      if (invariant)
        llvm::cast<llvm::LoadInst>(x)->setMetadata(llvm::LLVMContext::MD_invariant_load,
                                                   llvm::MDNode::get(b_.getContext(), {}));
      // Where lanes read the same, all of them are refused or none.
      if (mayBeRefused) x = b_.CreateSelect(any, x, llvm::Constant::getNullValue(x->getType()));
      bases.push_back(values_.extendLoaded(x, l.i, v, false));
    }
    h.bases.push_back(bases);
  }
  values_.define(v, std::move(h));
}

/// Does it get a vector of lanes?
bool LoadsAndStores::isGeneral(const Operand& target) const {
  return target.kind == Operand::Kind::Register && !shapes_[target.reg].isSegmented();
}

void LoadsAndStores::loadVectors(const Load& l) {
  const Instruction& i = l.i;
  std::vector<Parts> vectors(l.targets.size());
  const bool isInRows =
      l.access.transfer(!l.mask.empty()).transfer == Transfer::Columns && warps() % (simt::kColumnBytes / l.bytes) == 0;
  const Parts columns = isInRows ? loadColumns(l) : Parts();
  for (unsigned p = 0; p < warps(); ++p) {
    const std::vector<LlvmValue> together = loadTogether(l, p);
    for (unsigned k = 0; k < l.targets.size(); ++k) {
      if (!isGeneral(l.targets[k])) continue;
      LlvmValue x = !columns.empty() ? columns[p]
                    : together.empty()
                        ? access_.load(l.address, p, l.offset(k), l.element, masks_.maskOf(l.mask, p), l.access)
                        : together[k];
      x = values_.extendLoaded(events_.butRefused(l.allowance, p, x), i, l.targets[k].reg, true);
      if (i.guard && k < i.prior.size() && i.prior[k] != ir::kNoValue) {
        LlvmValue guard = values_.vectorOf(i.guard.reg, p), prior = values_.vectorOf(i.prior[k], p);
        x = i.guard.negated ? b_.CreateSelect(guard, prior, x) : b_.CreateSelect(guard, x, prior);
      }
      vectors[k].push_back(x);
    }
  }
  for (unsigned k = 0; k < vectors.size(); ++k)
    if (!vectors[k].empty()) values_.defineVector(l.targets[k].reg, vectors[k]);
}

/// The columns of all warps of the batch.
Parts LoadsAndStores::loadColumns(const Load& l) {
  const unsigned together = simt::kColumnBytes / l.bytes;
  Parts columns;
  for (unsigned p = 0; p < warps(); p += together) {
    auto addressOf = [&](unsigned lane) {
      return b_.CreateAdd(l.address.bases[p][0],
                          b_.getInt64(static_cast<uint64_t>(l.address.pattern[lane] + l.offset(0))));
    };
    for (LlvmValue column : general_.loadColumns(addressOf, l.element)) columns.push_back(column);
  }
  return columns;
}

/// All elements of a vector, or the places that lanes share, at once; none where words go one by one.
std::vector<LlvmValue> LoadsAndStores::loadTogether(const Load& l, unsigned part) {
  const unsigned count = static_cast<unsigned>(l.targets.size());
  const Transfer transfer = l.access.transfer(!l.mask.empty()).transfer;
  LlvmValue mask = masks_.maskOf(l.mask, part);
  if (transfer == Transfer::Words)
    return general_.loadVectors(addresses_.addressVector(l.address, part, l.offset(0)), count, l.element, mask);
  if (transfer != Transfer::Interleaved && transfer != Transfer::Permuted) return {};
  Address shifted = l.address;
  for (auto& lane : shifted.pattern) lane += l.offset(0);
  return transfer == Transfer::Permuted ? access_.loadPermuted(shifted, part, count, l.element)
                                        : access_.loadInterleaved(shifted, part, count, l.element, mask);
}

void LoadsAndStores::store(const Instruction& i) {
  const simt::Access& access = plan_.memory.accesses.at(i, 0);
  if (access.whole.transfer == Transfer::Slot) return privates_.store(i);
  if (isa::bits(i.type[0]) > 64) return wide_.store(i);
  const Address a = addresses_.addressOf(i, 0);
  const Operand& from = i.operands[1];
  const unsigned bytes = isa::bytes(i.type[0]);
  const std::vector<Operand> sources = from.kind == Operand::Kind::Vector ? from.elements : std::vector<Operand>{from};
  const unsigned all = bytes * static_cast<unsigned>(sources.size());
  auto* type = llvm::FixedVectorType::get(values_.memoryType(i.type[0]), kLanes);
  auto elementsOf = [&](unsigned part) {
    Source s;
    s.part = part;
    std::vector<LlvmValue> elements;
    for (const Operand& o : sources)
      elements.push_back(values_.convertBits(operands_.exactBits(o, i.type[0], s), type));
    return elements;
  };
  const std::vector<LlvmValue> told = eventCalls_.hearsAll() ? elementsOf(0) : std::vector<LlvmValue>();
  const Parts mask =
      events_.raise(i, {machine::AccessKind::Store, a, i.operands[0].offset, values_.guardedMask(i), all, told}).mask;
  alignment_.check(i, 0, all, mask);
  if (access.transfer(!mask.empty()).transfer == Transfer::Structure) return storeStructure(i, a);
  for (unsigned p = 0; p < warps(); ++p) storeElements(i, a, access, p, told.empty() ? elementsOf(p) : told, mask);
  if (isOrdered(i)) c_.compilerFence();
}

void LoadsAndStores::storeElements(const Instruction& i, const Address& a, const simt::Access& access, unsigned part,
                                   const std::vector<LlvmValue>& elements, const Parts& masks) {
  const int64_t offset = i.operands[0].offset;
  LlvmValue mask = masks_.maskOf(masks, part);
  switch (access.transfer(!masks.empty()).transfer) {
    case Transfer::Interleaved: {
      Address shifted = a;
      for (auto& lane : shifted.pattern) lane += offset;
      return access_.storeInterleaved(shifted, part, elements, mask);
    }
    case Transfer::Vectors: return general_.storeVectors(addresses_.addressVector(a, part, offset), elements, mask);
    default: break;
  }
  for (unsigned k = 0; k < elements.size(); ++k)
    access_.store(a, part, offset + int64_t{k} * access.bytes, elements[k], mask, access);
}

StructureShape LoadsAndStores::shapeOf(const simt::Structure& s) const {
  StructureShape shape{(c_.target.avx512 ? 64 : 32) / s.bytes, s.words, s.bytes, std::vector<bool>(s.words, false)};
  for (const auto& member : s.members) shape.isMember[member.place] = true;
  return shape;
}

/// The first load does the work of all.
void LoadsAndStores::loadStructure(const Instruction& i, const Address& a) {
  const auto found = plan_.memory.structures.byWorker.find(&i);
  if (found == plan_.memory.structures.byWorker.end()) return;
  const simt::Structure& s = found->second;
  std::vector<Parts> loaded(s.members.size());
  for (unsigned p = 0; p < warps(); ++p) {
    const auto words = access_.loadStructure(a.bases[p][0], a.pattern[0] + s.first, shapeOf(s));
    for (size_t k = 0; k < s.members.size(); ++k) {
      const auto& [access, target, place] = s.members[k];
      if (!isGeneral(*target)) continue;
      auto* type = llvm::FixedVectorType::get(values_.memoryType(access->type[0]), kLanes);
      loaded[k].push_back(values_.extendLoaded(b_.CreateBitCast(words[place], type), *access, target->reg, true));
    }
  }
  for (size_t k = 0; k < s.members.size(); ++k)
    if (!loaded[k].empty()) values_.defineVector(s.members[k].value->reg, loaded[k]);
}

/// The last store does the work of all.
void LoadsAndStores::storeStructure(const Instruction& i, const Address& a) {
  const auto found = plan_.memory.structures.byWorker.find(&i);
  if (found == plan_.memory.structures.byWorker.end()) return;
  const simt::Structure& s = found->second;
  auto* type = llvm::FixedVectorType::get(b_.getIntNTy(8 * s.bytes), kLanes);
  for (unsigned p = 0; p < warps(); ++p) {
    Parts words(s.words, nullptr);
    Source source;
    source.part = p;
    for (const auto& [access, value, place] : s.members)
      words[place] = values_.convertBits(operands_.exactBits(*value, access->type[0], source), type);
    access_.storeStructure(a.bases[p][0], a.pattern[0] + s.first, shapeOf(s), words);
  }
}

/// A load that is merged with others: the first of them does it for all, and each tells of itself.
void LoadsAndStores::loadNeighbours(const Instruction& i) {
  if (events_.listens())
    events_.raise(i, {machine::AccessKind::Load, addresses_.addressOf(i, 1), i.operands[1].offset,
                      values_.guardedMask(i), isa::bytes(i.type[0])});
  const auto leads = plan_.memory.mergedLoads.runs.find(&i);
  if (leads == plan_.memory.mergedLoads.runs.end()) return;
  const auto& run = leads->second;
  const Address a = addresses_.addressOf(i, 1);
  const Parts mask = values_.guardedMask(i);
  alignment_.check(i, 1, isa::bytes(i.type[0]), mask);
  std::vector<Parts> loaded(run.size());
  for (unsigned p = 0; p < warps(); ++p) {
    const auto words = general_.loadWords(addresses_.addressVector(a, p, run[0]->operands[1].offset),
                                          static_cast<unsigned>(run.size()), masks_.maskOf(mask, p));
    for (size_t k = 0; k < run.size(); ++k) {
      LlvmValue element =
          b_.CreateBitCast(words[k], llvm::FixedVectorType::get(values_.memoryType(run[k]->type[0]), kLanes));
      loaded[k].push_back(values_.extendLoaded(element, *run[k], run[k]->operands[0].reg, true));
    }
  }
  for (size_t k = 0; k < run.size(); ++k) values_.defineVector(run[k]->operands[0].reg, loaded[k]);
}

}  // namespace ordito::jit
