// PTX ISA, "Asynchronous copy: bulk": a thread copies a run of bytes between global and shared memory. It is copied at
// once, which is one of the orders that the manual allows, so groups are always complete, and an mbarrier learns of the
// bytes when the instruction ends. Nothing is counted: on a GPU these copies bypass the units whose counters we have.
#include "rt/bulk_copy.hpp"

#include "jit/async_copies.hpp"

namespace ordito::jit {

using isa::Op;
using isa::Type;
using rt::kSharedSource;
using rt::kSharedTarget;

void AsyncCopies::orderBulk(const Instruction& i) {
  using Kind = machine::SyncEvent::Kind;
  if (i.op == Op::CpBulkCommit) return eventCalls_.copies(i, Kind::BulkCommit, 0);
  eventCalls_.copies(i, i.has(isa::ModifierKind::ReadOfSource) ? Kind::BulkWaitRead : Kind::BulkWait,
                     static_cast<uint32_t>(i.operands[0].bits));
}

void AsyncCopies::emitBulk(const Instruction& i) {
  const bool completes = i.op != Op::CpBulkStore;
  const uint32_t shared = i.op == Op::CpBulkShared ? kSharedTarget | kSharedSource
                          : completes              ? kSharedTarget
                                                   : kSharedSource;
  Parts mask = values_.guardedMask(i);
  const Parts outer = c_.at.mask;
  const Address to = addresses_.addressOf(i, 0), from = addresses_.addressOf(i, 1),
                barrier = completes ? addresses_.addressOf(i, 3) : to;
  auto of = [&](const Address& a, size_t k, unsigned part) {
    return addresses_.addressVector(a, part, i.operands[k].offset);
  };
  if (eventCalls_.listens()) {
    auto* wide = llvm::FixedVectorType::get(b_.getInt64Ty(), kLanes);
    LlvmValue bits = eventCalls_.bulkCopy(i, shared, of(to, 0, 0), of(from, 1, 0),
                                          b_.CreateZExt(operands_.operand(i, 2, Type::u32, {}), wide),
                                          completes ? of(barrier, 3, 0) : nullptr, mask);
    mask = events_.allowed(mask, bits).mask;
  }
  if (completes) alignment_.check(i, 3, 8, mask);
  c_.at.mask = mask;
  for (unsigned p = 0; p < warps(); ++p) {
    Source s;
    s.part = p;
    LlvmValue bytes =
        b_.CreateZExt(operands_.operand(i, 2, Type::u32, s), llvm::FixedVectorType::get(b_.getInt64Ty(), kLanes));
    calls_.callLanes("ordito_bulk_copy", nullptr,
                     {values_.splat(b_.CreatePtrToInt(c_.frame, b_.getInt64Ty())),
                      values_.constant(Type::u32, i.line, true), values_.constant(Type::u32, shared, true),
                      of(to, 0, p), of(from, 1, p), bytes, of(barrier, completes ? 3 : 0, p)},
                     p);
  }
  c_.at.mask = outer;
}

}  // namespace ordito::jit
