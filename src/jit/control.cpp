// What the lowering of SIMT code (code_lowering.hpp) is made of: the instructions of a block, the phis of an edge, the
// slots of masks.
#include <algorithm>

#include "jit/emitter.hpp"

namespace ordito::jit {

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

void Emitter::runApart() {
  auto* apart = declare(nameOfApart(function_->getName().str()), {b_.getPtrTy(), b_.getInt32Ty()});
  b_.CreateCall(apart, {frame_, b_.CreateMul(group_, b_.getInt32(coarsening_))})->setDoesNotThrow();
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

void Emitter::emitTrap(const ir::Terminator& end) {
  helper("ordito_trap", b_.getVoidTy(), {frame_, b_.getInt32(end.line), b_.getInt32(static_cast<uint32_t>(end.cause))},
         true);
  b_.CreateUnreachable();
}

}  // namespace ordito::jit
