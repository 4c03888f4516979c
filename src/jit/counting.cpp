// Counters of instructions, branches and barriers, compiled in on request. Definitions are in machine/counters.hpp.
#include "jit/emitter.hpp"

namespace ordito::jit {

using isa::ModifierKind;
using machine::Counter;

void Emitter::count(Counter c, LlvmValue amount) {
  auto* slot = counters_[static_cast<size_t>(c)];
  b_.CreateStore(b_.CreateAdd(b_.CreateLoad(b_.getInt64Ty(), slot), amount), slot);
}

/// Adds the number of active lanes of all parts.
void Emitter::countLanes(Counter c, const Parts& mask) {
  if (mask.empty()) return count(c, b_.getInt64(uint64_t{kLanes} * jam_));
  for (LlvmValue m : mask)
    count(c,
          b_.CreateZExt(b_.CreateIntrinsic(llvm::Intrinsic::ctpop, {b_.getInt32Ty()}, {laneBits(m)}), b_.getInt64Ty()));
}

/// Adds `times` for every part with an active lane.
void Emitter::countWarps(Counter c, uint64_t times, const Parts& mask) {
  if (times == 0) return;
  if (mask.empty()) return count(c, b_.getInt64(times * jam_));
  for (LlvmValue m : mask) count(c, b_.CreateSelect(anyLane(m), b_.getInt64(times), b_.getInt64(0)));
}

void Emitter::countInstructions(const ir::Block& block) {
  uint64_t issued = block.code.size() + (block.end.isInstruction ? 1 : 0), unguarded = issued;
  for (const Instruction& i : block.code) unguarded -= i.guard ? 1 : 0;
  // Of a conditional branch, too, only the lanes that take it are counted as threads; see countTerminator.
  if (block.end.isInstruction && block.end.kind == ir::Terminator::Kind::Branch) --unguarded;
  countWarps(Counter::WarpInstructions, issued, mask_);
  if (unguarded == 0) return;
  if (mask_.empty()) return count(Counter::ThreadInstructions, b_.getInt64(unguarded * kLanes * jam_));
  for (LlvmValue m : mask_) {
    LlvmValue lanes =
        b_.CreateZExt(b_.CreateIntrinsic(llvm::Intrinsic::ctpop, {b_.getInt32Ty()}, {laneBits(m)}), b_.getInt64Ty());
    count(Counter::ThreadInstructions, b_.CreateMul(lanes, b_.getInt64(unguarded)));
  }
}

/// A conditional branch counts; one of whose sides only ends the thread is a predicated exit and does not, like on a
/// GPU.
void Emitter::countTerminator(const ir::Terminator& end, const Parts& mask, bool divergent, ValueId condition) {
  using Kind = ir::Terminator::Kind;
  if (end.kind == Kind::Barrier && end.barrier.op == isa::Op::BarWarpSync) return;
  if (end.kind == Kind::Barrier) return countWarps(Counter::Barriers, 1, mask);
  if (end.kind != Kind::Branch || !end.isInstruction) return;
  for (unsigned p = 0; p < jam_; ++p) {
    LlvmValue taken = laneBits(conditionMask(condition, end.negated)[p]);
    if (!mask.empty()) taken = b_.CreateAnd(taken, laneBits(mask[p]));
    count(Counter::ThreadInstructions,
          b_.CreateZExt(b_.CreateIntrinsic(llvm::Intrinsic::ctpop, {b_.getInt32Ty()}, {taken}), b_.getInt64Ty()));
  }
  if (simt::exitSide(f_, end) < 2) return;
  countWarps(Counter::Branches, 1, mask);
  if (!divergent) return;
  for (unsigned p = 0; p < jam_; ++p) {
    LlvmValue active = mask.empty() ? b_.getInt32(~0u) : laneBits(mask[p]);
    LlvmValue taken = b_.CreateAnd(laneBits(vectorOf(condition, p)), active);
    LlvmValue mixed = b_.CreateAnd(b_.CreateICmpNE(taken, b_.getInt32(0)), b_.CreateICmpNE(taken, active));
    count(Counter::DivergentBranches, b_.CreateZExt(mixed, b_.getInt64Ty()));
  }
}

void Emitter::flushCounters() {
  if (!counting_) return;
  LlvmValue out = b_.CreateLoad(
      b_.getPtrTy(), b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), frame_, offsetof(machine::BlockFrame, counters)));
  for (size_t c = 0; c < counters_.size(); ++c) {
    LlvmValue at = b_.CreateConstInBoundsGEP1_64(b_.getInt64Ty(), out, c);
    b_.CreateStore(b_.CreateAdd(b_.CreateLoad(b_.getInt64Ty(), at), b_.CreateLoad(b_.getInt64Ty(), counters_[c])), at);
  }
}

}  // namespace ordito::jit
