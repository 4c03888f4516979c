// See instructions.hpp.
#include "jit/instructions.hpp"

namespace ordito::jit {

using isa::Effect;
using isa::Op;

void Instructions::emit(const Instruction& i) {
  atomics_.combined().comeBefore(i);
  if (i.info().unit == isa::Unit::Tensor) return emitMatrix(i);
  if (i.info().unit == isa::Unit::Texture && i.info().effect != Effect::Pure) return textures_.emit(i);
  switch (i.op) {
    case Op::CpAsync: return asyncCopies_.emit(i);
    case Op::CpBulkLoad:
    case Op::CpBulkShared:
    case Op::CpBulkStore: return asyncCopies_.emitBulk(i);
    case Op::CpAsyncCommit:
    case Op::CpAsyncWait:
    case Op::CpAsyncWaitAll: return asyncCopies_.order(i);
    case Op::CpBulkCommit:
    case Op::CpBulkWait: return asyncCopies_.orderBulk(i);
    case Op::AtomVector:
    case Op::RedVector: return atomics_.emitVector(i);
    case Op::AtomExch128:
    case Op::AtomCas128: return wide_.atomic(i);
    default: return emitByEffect(i);
  }
}

void Instructions::emitByEffect(const Instruction& i) {
  switch (i.info().effect) {
    case Effect::Pure: eventCalls_.operands(i); return pure_.emit(i);
    case Effect::Load: return loadsAndStores_.load(i);
    case Effect::Store: return loadsAndStores_.store(i);
    case Effect::Atomic:
      if (i.info().unit == isa::Unit::Sync) return mbarriers_.emit(i);
      return atomics_.emit(i);
    case Effect::Warp: return warps_.emit(i);
    case Effect::Call: return functions_.emit(i);
    case Effect::Fence:
      if (i.op == Op::Membar || i.op == Op::Fence || i.op == Op::FenceProxy || i.op == Op::FenceProxySpace ||
          i.op == Op::FenceProxyGeneric || i.op == Op::FenceRestricted || i.op == Op::MembarProxy ||
          i.op == Op::FenceMbarrierInit || i.op == Op::BarrierClusterArrive) {
        b_.CreateFence(llvm::AtomicOrdering::SequentiallyConsistent);
        eventCalls_.fence(i);
      }
      return;  // prefetch, nanosleep and their like change no result
    case Effect::Barrier:
    case Effect::Control: return;  // terminators
  }
}

void Instructions::rematerialise(ValueId v) {
  const Instruction& i = *plan_.definitions().instruction(v);
  for (size_t k = 1; k < i.operands.size(); ++k)
    if (i.operands[k].kind == ptx::Operand::Kind::Register) rematerialise(i.operands[k].reg);
  pure_.emitAgain(i);  // listeners have heard of it where it stands, and here no mask says for whom it would be
}

void Instructions::emitMatrix(const Instruction& i) {
  switch (i.op) {
    case Op::LdMatrix: return tiles_.load(i);
    case Op::StMatrix: return tiles_.store(i);
    case Op::MovMatrix: return tiles_.move(i);
    default: break;
  }
  const auto work = i.mods.name(isa::ModifierKind::WmmaOp);
  if (work == "load") return fragments_.load(i);
  if (work == "store") return fragments_.store(i);
  products_.emit(i);
}

}  // namespace ordito::jit
