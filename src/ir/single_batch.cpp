// Accesses to memory stay in the order of the program, as all lanes run on one host thread, so nothing takes the
// barrier's place. What it saves is the way through memory: at a barrier between batches of warps every value that
// lives across it is stored and loaded again, batch after batch.
#include "ir/single_batch.hpp"

namespace ordito::ir {
namespace {

bool isPlain(const Function& f, const SyncPoints& syncPoints, BlockId b) {
  const Terminator& end = f.blocks[b].end;
  if (end.kind != Terminator::Kind::Barrier || !syncPoints.meets[b]) return false;
  const bool isSync = end.barrier.op == isa::Op::BarSync || end.barrier.op == isa::Op::BarrierSync;
  bool hasRegisters = false;
  forEachUse(end, [&](ValueId) { hasRegisters = true; });
  return isSync && !hasRegisters;
}

}  // namespace

std::optional<Function> withoutPlainBarriers(const Function& function, const SyncPoints& syncPoints) {
  std::optional<Function> result;
  if (syncPoints.diverges()) return result;
  for (BlockId b = 0; b < function.blocks.size(); ++b) {
    if (!isPlain(function, syncPoints, b)) continue;
    if (!result) result = function;
    Terminator& end = result->blocks[b].end;
    end.kind = Terminator::Kind::Jump;
    end.isInstruction = false;
    end.barrier = {};
  }
  return result;
}

}  // namespace ordito::ir
