// PTX ISA, "Asynchronous copy: bulk": a thread copies a run of bytes between global and shared memory. It is copied at
// once, which is one of the orders that the manual allows, so groups are always complete, and an mbarrier learns of the
// bytes when the instruction ends. Nothing is counted: on a GPU these copies bypass the units whose counters we have.
#include "rt/bulk_copy.hpp"

#include "jit/emitter.hpp"

namespace ordito::jit {

using isa::Op;
using isa::Type;
using rt::kSharedSource;
using rt::kSharedTarget;

void Emitter::emitBulkCopy(const Instruction& i) {
  const bool completes = i.op != Op::CpBulkStore;
  const uint32_t shared = i.op == Op::CpBulkShared ? kSharedTarget | kSharedSource
                          : completes              ? kSharedTarget
                                                   : kSharedSource;
  const Parts mask = guardedMask(i), outer = mask_;
  if (completes) checkAlignment(i, 3, 8, mask);
  const Address to = addressOf(i, 0), from = addressOf(i, 1), barrier = completes ? addressOf(i, 3) : to;
  mask_ = mask;
  for (unsigned p = 0; p < coarsening_; ++p) {
    Source s;
    s.part = p;
    LlvmValue bytes = b_.CreateZExt(operand(i, 2, Type::u32, s), llvm::FixedVectorType::get(b_.getInt64Ty(), kLanes));
    callLanes("ordito_bulk_copy", nullptr,
              {splat(b_.CreatePtrToInt(frame_, b_.getInt64Ty())), constant(Type::u32, i.line, true),
               constant(Type::u32, shared, true), addressVector(to, p, i.operands[0].offset),
               addressVector(from, p, i.operands[1].offset), bytes,
               addressVector(barrier, p, i.operands[completes ? 3 : 0].offset)},
              p);
  }
  mask_ = outer;
}

}  // namespace ordito::jit
