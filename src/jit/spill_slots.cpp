// What lives across a barrier, for each group of warps in the block's scratch memory: its home.
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

/// Address of the first group's copy. All copies of one value lie together, so that neighbouring groups share pages and
/// prefetch streams.
LlvmValue Emitter::scratchAddress(size_t offset) {
  return b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), scratch_, offset);
}

/// That of the current group, whose copy has `bytesPerGroup`.
LlvmValue Emitter::scratchOfGroup(size_t offset, size_t bytesPerGroup) {
  const auto stride = static_cast<uint32_t>(simt::SpillSlots::stride(bytesPerGroup));
  return b_.CreateInBoundsGEP(b_.getInt8Ty(), scratchAddress(offset), b_.CreateMul(group_, b_.getInt32(stride)));
}

/// Has this region done no more to the phi `v` than to give it the value that it found in the same home?
bool Emitter::isWhereItWas(ValueId v) const {
  const ir::Definition& definition = plan_.definitions[v];
  const ir::Phi* phi = definition.phi;
  if (!phi || diverges_) return false;
  const auto& predecessors = f_.blocks[definition.block].predecessors;
  for (size_t p = 0; p < predecessors.size(); ++p) {
    const ValueId from = phi->incoming[p];
    if (!region_->contains(predecessors[p]) || from == v) continue;
    if (from == ir::kNoValue || isDefinedHere(from) || !plan_.spills.isKept(from) ||
        plan_.spills.offset(from) != plan_.spills.offset(v))
      return false;
    if (plan_.nans.isMixed(v) && plan_.nans.isDirty(from)) return false;  // the edge mends it
  }
  return true;
}

LlvmValue Emitter::spillSlotOf(ValueId v) { return scratchOfGroup(plan_.spills.offset(v), plan_.spills.bytes(v)); }

/// Keeps what the region at `point` will read, for this group. With a mask, each of its lanes keeps its own; bases are
/// then the same for all lanes, whenever they come (ir/sync_points.hpp).
void Emitter::spillForBarrier(uint32_t resumePoint, const Parts& mask) {
  for (ValueId v : plan_.liveness.at[resumePoint]) {
    if (!isDefinedHere(v) || !plan_.spills.isKept(v) || isWhereItWas(v)) continue;
    forEachSlot(slots_[v], [&](llvm::AllocaInst* slot, size_t offset) {
      LlvmValue value = b_.CreateLoad(slot->getAllocatedType(), slot);
      keepLanes(value, b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), spillSlotOf(v), offset),
                mask.empty() || !value->getType()->isVectorTy() ? nullptr : mask[0]);
    });
  }
}

void Emitter::reloadAfterBarrier(uint32_t resumePoint) {
  for (ValueId v : plan_.liveness.at[resumePoint]) {
    if (plan_.rematerialised[v]) {
      rematerialise(v);
      continue;
    }
    if (!plan_.spills.isKept(v)) continue;
    forEachSlot(slots_[v], [&](llvm::AllocaInst* slot, size_t offset) {
      LlvmValue spillSlot = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), spillSlotOf(v), offset);
      b_.CreateStore(b_.CreateAlignedLoad(slot->getAllocatedType(), spillSlot, llvm::Align(8)), slot);
    });
  }
}

}  // namespace ordito::jit
