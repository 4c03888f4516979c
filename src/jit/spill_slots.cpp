// What lives across a barrier, for each warp in the block's scratch memory: its spill slot.
#include "jit/spill_slots.hpp"

#include <algorithm>

namespace ordito::jit {

namespace {

/// Calls f(slot, byte offset in the spill slot) for what a warp has of a value: its bases, then its vector.
template <class F>
void forEachSlot(const Slots& slots, unsigned part, F&& f) {
  size_t offset = 0;
  if (!slots.bases.empty())
    for (llvm::AllocaInst* slot : slots.bases[part]) f(slot, offset), offset += 8;
  if (!slots.vectors.empty()) f(slots.vectors[part], llvm::alignTo(offset, simt::cost::kCacheLine));
}

}  // namespace

/// Has this region done no more to the phi `v` than to give it the value that it found in the same spill slot?
bool SpillSlots::isWhereItWas(ValueId v) const {
  const ir::Definition& definition = plan_.definitions()[v];
  const ir::Phi* phi = definition.phi;
  if (!phi || plan_.syncPoints.diverges()) return false;
  const auto& predecessors = f_.blocks[definition.block].predecessors;
  for (size_t p = 0; p < predecessors.size(); ++p) {
    const ValueId from = phi->incoming[p];
    if (!c_.at.region->contains(predecessors[p]) || from == v) continue;
    if (from == ir::kNoValue || isDefinedHere(from) || !plan_.kept.spills.isKept(from) ||
        plan_.kept.spills.offset(from) != plan_.kept.spills.offset(v))
      return false;
    if (plan_.nans.isMixed(v) && plan_.nans.isDirty(from)) return false;  // the edge mends it
  }
  return true;
}

LlvmValue SpillSlots::addressOf(ValueId v, unsigned part) {
  return c_.scratchOfWarp(plan_.kept.spills.offset(v), plan_.kept.spills.bytes(v), part);
}

/// Keeps what the region at `point` will read, for these warps. With a mask, each of its lanes keeps its own; bases are
/// then the same for all lanes, whenever they come (ir/sync_points.hpp).
void SpillSlots::spill(uint32_t resumePoint, const Parts& mask) {
  for (ValueId v : plan_.kept.liveness.at[resumePoint]) {
    if (!isDefinedHere(v) || !plan_.kept.spills.isKept(v) || isWhereItWas(v)) continue;
    for (unsigned p = 0; p < warps(); ++p)
      forEachSlot(values_.slots()[v], p, [&](llvm::AllocaInst* slot, size_t offset) {
        LlvmValue value = b_.CreateLoad(slot->getAllocatedType(), slot);
        keepLanes(value, b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), addressOf(v, p), offset),
                  mask.empty() || !value->getType()->isVectorTy() ? nullptr : mask[p]);
      });
  }
}

void SpillSlots::reload(uint32_t resumePoint) {
  for (ValueId v : plan_.kept.liveness.at[resumePoint]) {
    if (plan_.kept.rematerialised[v]) {
      instructions_.rematerialise(v);
      continue;
    }
    if (!plan_.kept.spills.isKept(v)) continue;
    for (unsigned p = 0; p < warps(); ++p)
      forEachSlot(values_.slots()[v], p, [&](llvm::AllocaInst* slot, size_t offset) {
        LlvmValue spillSlot = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), addressOf(v, p), offset);
        b_.CreateStore(b_.CreateAlignedLoad(slot->getAllocatedType(), spillSlot, llvm::Align(8)), slot);
      });
  }
}

/// Writes the lanes of `mask` to memory and leaves the others' values there.
void SpillSlots::keepLanes(LlvmValue value, LlvmValue spillSlot, LlvmValue mask) {
  llvm::Type* type = value->getType();
  const llvm::Align align(8);
  b_.CreateAlignedStore(mask ? b_.CreateSelect(mask, value, b_.CreateAlignedLoad(type, spillSlot, align)) : value,
                        spillSlot, align);
}

}  // namespace ordito::jit
