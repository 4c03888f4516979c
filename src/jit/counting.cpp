// Counters, compiled in on request (evidence: 1.0 to 1.7 times the time of the bare kernel). Accesses whose pattern is
// known are counted in closed form; only masked or general ones go to the runtime's counting functions. Definitions are
// in machine/counters.hpp.
#include "jit/access_counts.hpp"
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
  if (end.kind == Kind::Barrier) return countWarps(Counter::Barriers, 1, mask);
  if (end.kind != Kind::Branch || !end.isInstruction) return;
  for (unsigned p = 0; p < jam_; ++p) {
    LlvmValue taken = laneBits(conditionMask(condition, end.negated)[p]);
    if (!mask.empty()) taken = b_.CreateAnd(taken, laneBits(mask[p]));
    count(Counter::ThreadInstructions,
          b_.CreateZExt(b_.CreateIntrinsic(llvm::Intrinsic::ctpop, {b_.getInt32Ty()}, {taken}), b_.getInt64Ty()));
  }
  if (exitSide(end) < 2) return;
  countWarps(Counter::Branches, 1, mask);
  if (!divergent) return;
  for (unsigned p = 0; p < jam_; ++p) {
    LlvmValue active = mask.empty() ? b_.getInt32(~0u) : laneBits(mask[p]);
    LlvmValue taken = b_.CreateAnd(laneBits(vectorOf(condition, p)), active);
    LlvmValue mixed = b_.CreateAnd(b_.CreateICmpNE(taken, b_.getInt32(0)), b_.CreateICmpNE(taken, active));
    count(Counter::DivergentBranches, b_.CreateZExt(mixed, b_.getInt64Ty()));
  }
}

void Emitter::countAccess(const Instruction& i, const Address& a, const Parts& mask, unsigned bytes, bool store) {
  using ptx::Space;
  if (a.space == Space::Param || a.space == Space::Const) return;
  if (a.space == Space::Local)
    return countWarps(store ? Counter::LocalStoreRequests : Counter::LocalLoadRequests, 1, mask);
  const bool isAtomic = i.info().effect == isa::Effect::Atomic;
  const bool shared = a.space == Space::Shared;
  if (isAtomic) return countWarps(shared ? Counter::SharedAtomics : Counter::GlobalAtomics, 1, mask);
  const Counter requests = shared ? (store ? Counter::SharedStoreRequests : Counter::SharedLoadRequests)
                                  : (store ? Counter::GlobalStoreRequests : Counter::GlobalLoadRequests);
  const Counter units = shared ? (store ? Counter::SharedStoreWavefronts : Counter::SharedLoadWavefronts)
                               : (store ? Counter::GlobalStoreSectors : Counter::GlobalLoadSectors);
  const Counter conflicts = store ? Counter::SharedStoreConflicts : Counter::SharedLoadConflicts;
  const bool known = a.isGrouped() && a.groups == 1 && mask.empty() && a.space != Space::Generic;
  const int64_t offset = i.operands[store ? 0 : 1].offset;
  for (unsigned p = 0; p < jam_; ++p) {
    if (known && shared) {
      // Banks are relative: shifting all addresses alike by whole words changes nothing.
      const SharedCount c = countShared(a.pattern.data(), ~0u, bytes);
      count(requests, b_.getInt64(1));
      count(units, b_.getInt64(c.wavefronts));
      if (c.wavefronts > c.ideal) count(conflicts, b_.getInt64(c.wavefronts - c.ideal));
      continue;
    }
    bool contiguous = known, same = known;
    for (unsigned l = 0; l < kLanes && known; ++l)
      contiguous &= a.pattern[l] == a.pattern[0] + int64_t{bytes} * l, same &= a.pattern[l] == a.pattern[0];
    if (known && (contiguous || same)) {
      LlvmValue first = b_.CreateAdd(a.bases[p][0], b_.getInt64(static_cast<uint64_t>(a.pattern[0] + offset)));
      LlvmValue last = b_.CreateAdd(first, b_.getInt64(contiguous ? uint64_t{bytes} * kLanes - 1 : bytes - 1));
      count(requests, b_.getInt64(1));
      count(units, b_.CreateAdd(b_.CreateSub(b_.CreateLShr(last, 5), b_.CreateLShr(first, 5)), b_.getInt64(1)));
      continue;
    }
    llvm::IRBuilder<> entry(entry_);
    auto* addresses = entry.CreateAlloca(llvm::FixedVectorType::get(b_.getInt64Ty(), kLanes));
    b_.CreateStore(addressVector(a, p, offset), addresses);
    LlvmValue lanes = mask.empty() ? b_.getInt32(~0u) : laneBits(mask[p]);
    LlvmValue isRequest = b_.CreateZExt(b_.CreateICmpNE(lanes, b_.getInt32(0)), b_.getInt64Ty());
    if (shared) {
      LlvmValue packed = helper("ordito_count_shared", b_.getInt64Ty(), {addresses, lanes, b_.getInt32(bytes)});
      count(requests, isRequest);
      count(units, b_.CreateAnd(packed, b_.getInt64(UINT32_MAX)));
      count(conflicts, b_.CreateLShr(packed, 32));
    } else {
      count(requests, isRequest);
      count(units, helper("ordito_count_sectors", b_.getInt64Ty(), {addresses, lanes, b_.getInt32(bytes)}));
    }
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
