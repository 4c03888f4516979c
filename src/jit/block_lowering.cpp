// What the lowering of SIMT code (code_lowering.hpp) is made of: the instructions of a block, the phis of an edge, the
// slots of masks.
#include <algorithm>

#include "jit/code_lowering.hpp"
#include "jit/emitter.hpp"

namespace ordito::jit {

void CodeLowering::emitCode(BlockId b) {
  c_.at.block = &f_.blocks[b];
  events_.beginBlock();
  alignment_.beginBlock();
  parts_.instructions.comparisons().beginBlock();
  counting_.raiseIssues(f_.blocks[b]);
  for (const Instruction& i : f_.blocks[b].code) {
    c_.setLine(i.line);
    counting_.raiseGuardedIssue(i);
    parts_.instructions.emit(i);
  }
  c_.setLine(f_.blocks[b].end.line);
}

void CodeLowering::runApart() {
  auto* apart = c_.declare(nameOfApart(c_.function->getName().str()), {b_.getPtrTy(), b_.getInt32Ty()});
  b_.CreateCall(apart, {c_.frame, c_.at.firstWarp})->setDoesNotThrow();
}

/// Gives the phis of `to` the values that come along the edge from `from`; with a mask only in its lanes. All are read
/// before one is written.
void CodeLowering::assignPhis(BlockId from, BlockId to, const Parts& mask, const std::vector<ValueId>& freely) {
  const ir::Block& block = f_.blocks[to];
  if (block.phis.empty()) return;
  const size_t edge = static_cast<size_t>(std::find(block.predecessors.begin(), block.predecessors.end(), from) -
                                          block.predecessors.begin());
  std::vector<CachedValue> values;
  for (const ir::Phi& phi : block.phis) {
    const ValueId v = phi.incoming[edge];
    const ir::Shape& s = shapes_[phi.value];
    CachedValue h;
    h.vectors.assign(warps(), nullptr);
    for (unsigned p = 0; p < warps(); ++p) {
      if (!s.isSegmented()) {
        LlvmValue x = values_.vectorOf(v, p);
        h.vectors[p] = values_.convertBits(plan_.nans.isMixed(phi.value) ? operands_.mended(v, x) : x,
                                           values_.valueType(phi.value, true));
        continue;
      }
      Parts bases;
      for (unsigned g = 0; g < s.segments; ++g) {
        LlvmValue x = values_.resegment(shapes_[v], values_.cached(v).bases[p], s.segments, g, s.pattern == 0);
        bases.push_back(plan_.nans.isMixed(phi.value) ? operands_.mended(v, x) : x);
      }
      h.bases.push_back(bases);
    }
    values.push_back(std::move(h));
  }
  for (size_t i = 0; i < values.size(); ++i) {
    const ir::Phi& phi = block.phis[i];
    if (shapes_[phi.value].isSegmented()) events_.notePhi(phi.value, phi.incoming[edge], values[i].bases, mask);
    const bool isFree = std::ranges::find(freely, phi.value) != freely.end();
    values_.store(phi.value, values[i], isFree ? Parts() : mask);
  }
}

std::vector<llvm::AllocaInst*>& CodeLowering::waitingSlots(BlockId b) {
  auto& slots = state_.waiting[b];
  while (slots.size() < warps())
    slots.push_back(llvm::IRBuilder<>(c_.entry).CreateAlloca(masks_.storageType(), nullptr, "pending"));
  return slots;
}

void CodeLowering::emitTrap(const ir::Terminator& end) {
  c_.helper("ordito_trap", b_.getVoidTy(),
            {c_.frame, b_.getInt32(end.line), b_.getInt32(static_cast<uint32_t>(end.cause))}, true);
  b_.CreateUnreachable();
}

/// The mask of lanes that exist: only the last warp of a block can be partial.
Parts CodeLowering::launched() {
  const auto& block = shapes_.launch().block;
  const uint64_t threads = uint64_t{block[0]} * block[1] * block[2];
  Parts live;
  for (unsigned p = 0; p < warps(); ++p) {
    LlvmValue warp = c_.warp(p);
    LlvmValue left = b_.CreateSub(b_.getInt32(static_cast<uint32_t>(threads)), b_.CreateMul(warp, b_.getInt32(kLanes)));
    live.push_back(b_.CreateICmpSGT(values_.splat(left), values_.patternVector(
                                                             [] {
                                                               ir::Pattern p{};
                                                               for (unsigned l = 0; l < kLanes; ++l) p[l] = l;
                                                               return p;
                                                             }(),
                                                             b_.getInt32Ty())));
  }
  return live;
}

}  // namespace ordito::jit
