// See barrier_reductions.hpp.
#include "jit/barrier_reductions.hpp"

namespace ordito::jit {

using isa::ModifierKind;
using isa::Type;

static bool reduces(const ir::Terminator& end) {
  return end.kind == ir::Terminator::Kind::Barrier && end.barrier.has(ModifierKind::RedOp);
}

/// What is being counted, and the last result, in kernels that have any.
void BarrierReductions::clear() {
  if (std::ranges::none_of(f_.blocks, [](const ir::Block& block) { return reduces(block.end); })) return;
  b_.CreateStore(b_.getInt64(0), c_.scratchAddress(plan_.kept.spills.reduction));
  b_.CreateStore(b_.getInt64(0), c_.scratchAddress(plan_.kept.spills.reduction + 8));
}

/// bar.red: the region before the barrier adds up arrivals and true values, batch after batch; the region behind it
/// starts with the answer.
void BarrierReductions::arrive(const Instruction& i, const Parts& mask) {
  for (unsigned p = 0; p < warps(); ++p) {
    Source s;
    s.part = p;
    LlvmValue active = mask.empty() ? b_.getInt32(~0u) : masks_.laneBits(mask[p]);
    LlvmValue holds = b_.CreateAnd(masks_.laneBits(operands_.operand(i, 3, Type::pred, s)), active);
    auto addTo = [&](size_t offset, LlvmValue lanes) {
      LlvmValue spillSlot = c_.scratchAddress(plan_.kept.spills.reduction + offset);
      LlvmValue number = b_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, lanes);
      b_.CreateStore(b_.CreateAdd(b_.CreateLoad(b_.getInt32Ty(), spillSlot), number), spillSlot);
    };
    addTo(0, holds);
    addTo(4, active);
  }
}

/// At the start of the region at `point`: what the bar.red before it has counted becomes the last result.
void BarrierReductions::take(uint32_t resumePoint) {
  for (BlockId from : f_.blocks[plan_.regions.resumePoints[resumePoint]].predecessors) {
    if (!reduces(f_.blocks[from].end)) continue;
    b_.CreateStore(b_.CreateLoad(b_.getInt64Ty(), c_.scratchAddress(plan_.kept.spills.reduction)),
                   c_.scratchAddress(plan_.kept.spills.reduction + 8));
    b_.CreateStore(b_.getInt64(0), c_.scratchAddress(plan_.kept.spills.reduction));
  }
}

/// Gives the result of the bar.red before the region at `point`, the same for all threads, to those who read it.
void BarrierReductions::deliver(uint32_t resumePoint) {
  for (BlockId from : f_.blocks[plan_.regions.resumePoints[resumePoint]].predecessors) {
    const ir::Terminator& end = f_.blocks[from].end;
    if (!reduces(end) || !plan_.syncPoints.meets[from]) continue;
    LlvmValue holds = b_.CreateLoad(b_.getInt32Ty(), c_.scratchAddress(plan_.kept.spills.reduction + 8)),
              arrived = b_.CreateLoad(b_.getInt32Ty(), c_.scratchAddress(plan_.kept.spills.reduction + 12));
    const auto op = end.barrier.mods.name(ModifierKind::RedOp);
    LlvmValue answer = op == "popc"  ? holds
                       : op == "and" ? b_.CreateICmpEQ(holds, arrived)
                                     : b_.CreateICmpNE(holds, b_.getInt32(0));
    ir::forEachDefinition(end.barrier, [&](ValueId v, unsigned) {
      if (!values_.slots()[v].bases.empty())
        b_.CreateStore(values_.convertBits(answer, values_.valueType(v, false)), values_.slots()[v].bases[0][0]);
    });
  }
}

}  // namespace ordito::jit
