// What lives across a barrier, for each group of warps in the block's scratch memory: its home.
#include <llvm/ADT/IntEqClasses.h>

#include <algorithm>
#include <set>

#include "jit/emitter.hpp"

namespace ordito::jit {

namespace {

/// Calls f(slot, byte offset in the home) for each slot of a value.
template <class F>
void forEachSlot(const Slots& slots, F&& f) {
  size_t offset = 0;
  std::set<llvm::AllocaInst*> seen;
  for (const auto& part : slots.bases)
    for (llvm::AllocaInst* slot : part)
      if (seen.insert(slot).second) f(slot, offset), offset += 8;
  offset = llvm::alignTo(offset, 64);
  for (llvm::AllocaInst* slot : slots.vectors) f(slot, offset), offset += 8 * kLanes;
}

}  // namespace

/// From one group's copy to the next: vectors are aligned, and a few words are packed, since a store for each group to
/// a cache line of its own would fill the processor's store buffer.
size_t Emitter::scratchStride(size_t bytesPerGroup) {
  return llvm::alignTo(bytesPerGroup, bytesPerGroup > 32 ? 64 : 4);
}

/// Bytes of scratch memory that every group has one copy of; the offset is that of group 0.
size_t Emitter::allocateScratch(size_t bytesPerGroup) {
  const size_t at = scratchBytes_;
  scratchBytes_ += llvm::alignTo(scratchStride(bytesPerGroup) * groups_, 64);
  return at;
}

/// Address of the first group's copy. All copies of one value lie together, so that neighbouring groups share pages and
/// prefetch streams.
LlvmValue Emitter::scratchAddress(size_t offset) {
  return b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), scratch_, offset);
}

/// That of the current group, whose copy has `bytesPerGroup`.
LlvmValue Emitter::scratchOfGroup(size_t offset, size_t bytesPerGroup) {
  const auto stride = static_cast<uint32_t>(scratchStride(bytesPerGroup));
  return b_.CreateInBoundsGEP(b_.getInt8Ty(), scratchAddress(offset), b_.CreateMul(group_, b_.getInt32(stride)));
}

/// What a value takes in the memory of one group: bases a double word each, vectors a full register width.
size_t Emitter::homeBytes(ValueId v) const {
  const ir::Shape& s = shapes_[v];
  const size_t vectors = size_t{8} * kLanes * jam_;
  const size_t bases = size_t{8} * partsOf(v) * s.groups;
  return !s.isGrouped() ? vectors : isDual(v) ? llvm::alignTo(bases, 64) + vectors : bases;
}

/// Has every group a copy? Values shared by all warps stay in their slots, unless warps can be out of step.
bool Emitter::isKept(ValueId v) const {
  const ir::Shape& s = shapes_[v];
  return crossesBarrier_[v] && !madeFromPlace_[v] && (!s.isGrouped() || s.warpVarying || isDual(v) || parks_);
}

/// A phi and the values that come into it share a home where no region starts with two of them, so that a sum which is
/// added to in one region and only passes through the next is not moved there.
void Emitter::allocateHomes() {
  const auto count = static_cast<unsigned>(f_.values.size());
  llvm::IntEqClasses homes(count);
  if (!parks_) shareHomes(homes);
  homes.compress();
  std::vector<size_t> allocated(homes.getNumClasses());
  home_.assign(count, 0);
  for (ValueId v = 0; v < count; ++v) {
    if (!isKept(v)) continue;
    size_t& home = allocated[homes[v]];
    home_[v] = home ? home : home = allocateScratch(homeBytes(v));
  }
}

void Emitter::shareHomes(llvm::IntEqClasses& homes) const {
  std::vector<std::set<uint32_t>> starts(f_.values.size());  // of a class, at its leader: where one of it is live
  for (uint32_t point = 0; point < points_.size(); ++point)
    for (ValueId v : liveAt_[point]) starts[v].insert(point);
  auto meet = [&](const std::set<uint32_t>& a, const std::set<uint32_t>& b) {
    return std::ranges::any_of(a, [&](uint32_t point) { return b.contains(point); });
  };
  for (const ir::Block& block : f_.blocks)
    for (const ir::Phi& phi : block.phis)
      for (ValueId from : phi.incoming) {
        if (from == ir::kNoValue || !isKept(phi.value) || !isKept(from) || !haveLikeHomes(phi.value, from)) continue;
        const unsigned a = homes.findLeader(phi.value), b = homes.findLeader(from);
        if (a == b || meet(starts[a], starts[b])) continue;
        const unsigned leader = homes.join(a, b);
        starts[leader].insert(starts[leader == a ? b : a].begin(), starts[leader == a ? b : a].end());
      }
}

bool Emitter::haveLikeHomes(ValueId a, ValueId b) const {
  const ir::Shape &x = shapes_[a], &y = shapes_[b];
  return f_.values[a].type == f_.values[b].type && x.isGrouped() == y.isGrouped() && x.groups == y.groups &&
         x.pattern == y.pattern && partsOf(a) == partsOf(b) && isDual(a) == isDual(b);
}

/// Has this region done no more to the phi `v` than to give it the value that it found in the same home?
bool Emitter::isWhereItWas(ValueId v) const {
  const auto found = phiOf_.find(v);
  if (found == phiOf_.end() || parks_) return false;
  const auto& [block, phi] = found->second;
  const auto& predecessors = f_.blocks[block].predecessors;
  for (size_t p = 0; p < predecessors.size(); ++p) {
    const ValueId from = phi->incoming[p];
    if (!inRegion_[predecessors[p]] || from == v) continue;
    if (from == ir::kNoValue || definedInRegion_[from] || !isKept(from) || home_[from] != home_[v]) return false;
    if (nans_.isMixed(v) && nans_.isDirty(from)) return false;  // the edge mends it
  }
  return true;
}

LlvmValue Emitter::homeOf(ValueId v) { return scratchOfGroup(home_[v], homeBytes(v)); }

/// Keeps what the region at `point` will read, for this group. With a mask, each of its lanes keeps its own; bases are
/// then the same for all lanes, whenever they come (ir/stops.hpp).
void Emitter::spillForBarrier(uint32_t point, const Parts& mask) {
  for (ValueId v : liveAt_[point]) {
    if (!definedInRegion_[v] || !isKept(v) || isWhereItWas(v)) continue;
    forEachSlot(slots_[v], [&](llvm::AllocaInst* slot, size_t offset) {
      LlvmValue value = b_.CreateLoad(slot->getAllocatedType(), slot);
      keepLanes(value, b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), homeOf(v), offset),
                mask.empty() || !value->getType()->isVectorTy() ? nullptr : mask[0]);
    });
  }
}

void Emitter::reloadAfterBarrier(uint32_t point) {
  for (ValueId v : liveAt_[point]) {
    if (madeFromPlace_[v]) {
      makeFromPlace(v);
      continue;
    }
    if (!isKept(v)) continue;
    forEachSlot(slots_[v], [&](llvm::AllocaInst* slot, size_t offset) {
      LlvmValue home = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), homeOf(v), offset);
      b_.CreateStore(b_.CreateAlignedLoad(slot->getAllocatedType(), home, llvm::Align(8)), slot);
    });
  }
}

}  // namespace ordito::jit
