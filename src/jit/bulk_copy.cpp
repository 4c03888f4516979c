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

void AsyncCopies::emitBulk(const Instruction& i) {
  const bool completes = i.op != Op::CpBulkStore;
  const uint32_t shared = i.op == Op::CpBulkShared ? kSharedTarget | kSharedSource
                          : completes              ? kSharedTarget
                                                   : kSharedSource;
  const Parts mask = values_.guardedMask(i), outer = c_.at.mask;
  if (completes) alignment_.check(i, 3, 8, mask);
  const Address to = addresses_.addressOf(i, 0), from = addresses_.addressOf(i, 1),
                barrier = completes ? addresses_.addressOf(i, 3) : to;
  c_.at.mask = mask;
  for (unsigned p = 0; p < coarsening_; ++p) {
    Source s;
    s.part = p;
    LlvmValue bytes =
        b_.CreateZExt(operands_.operand(i, 2, Type::u32, s), llvm::FixedVectorType::get(b_.getInt64Ty(), kLanes));
    calls_.callLanes(
        "ordito_bulk_copy", nullptr,
        {values_.splat(b_.CreatePtrToInt(c_.frame, b_.getInt64Ty())), values_.constant(Type::u32, i.line, true),
         values_.constant(Type::u32, shared, true), addresses_.addressVector(to, p, i.operands[0].offset),
         addresses_.addressVector(from, p, i.operands[1].offset), bytes,
         addresses_.addressVector(barrier, p, i.operands[completes ? 3 : 0].offset)},
        p);
  }
  c_.at.mask = outer;
}

}  // namespace ordito::jit
