// What lives across a barrier, for each group of warps in the block's scratch memory: its home.
#include "jit/spill_slots.hpp"

#include <algorithm>
#include <set>

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

/// Has this region done no more to the phi `v` than to give it the value that it found in the same home?
bool SpillSlots::isWhereItWas(ValueId v) const {
  const ir::Definition& definition = plan_.definitions[v];
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

LlvmValue SpillSlots::addressOf(ValueId v) {
  return c_.scratchOfGroup(plan_.kept.spills.offset(v), plan_.kept.spills.bytes(v));
}

/// Keeps what the region at `point` will read, for this group. With a mask, each of its lanes keeps its own; bases are
/// then the same for all lanes, whenever they come (ir/sync_points.hpp).
void SpillSlots::spill(uint32_t resumePoint, const Parts& mask) {
  for (ValueId v : plan_.kept.liveness.at[resumePoint]) {
    if (!isDefinedHere(v) || !plan_.kept.spills.isKept(v) || isWhereItWas(v)) continue;
    forEachSlot(values_.slots()[v], [&](llvm::AllocaInst* slot, size_t offset) {
      LlvmValue value = b_.CreateLoad(slot->getAllocatedType(), slot);
      keepLanes(value, b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), addressOf(v), offset),
                mask.empty() || !value->getType()->isVectorTy() ? nullptr : mask[0]);
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
    forEachSlot(values_.slots()[v], [&](llvm::AllocaInst* slot, size_t offset) {
      LlvmValue spillSlot = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), addressOf(v), offset);
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
