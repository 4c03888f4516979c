// What emits the code of one kernel, and what it has to know of each other: the tools, the chapters, and the state that
// the skeleton (emitter.hpp), scheduled regions and the lowering of SIMT code share.
#pragma once

#include <map>

#include "jit/barrier_reductions.hpp"
#include "jit/spill_slots.hpp"

namespace ordito::jit {

/// A value of all warps that a region changes: where it is, what it was before the region, and what it is behind it.
struct SharedValue {
  llvm::AllocaInst* slot;
  LlvmValue before;
  llvm::AllocaInst* after;
};

/// Of the batch of warps, or the lanes, that run a region.
struct RegionState {
  std::vector<llvm::AllocaInst*> live;  // lanes that have not ended, per part
  llvm::AllocaInst* next = nullptr;     // the region at which the block goes on
  llvm::AllocaInst* spins = nullptr;    // iterations of spinning loops in the running region
  llvm::BasicBlock* latch = nullptr;    // where the region is over
  llvm::BasicBlock* advance = nullptr;  // past the store of the lanes that have not ended; null if all must store
  std::vector<SharedValue> sharedValues;
  std::map<BlockId, std::vector<llvm::AllocaInst*>> waiting;  // lanes that wait to run a block, per part
  std::map<BlockId, llvm::AllocaInst*> records;               // of stretches, by their first block
};

struct KernelParts {
  /// The plan must outlive the parts, which read it only.
  KernelParts(llvm::Module& module, const simt::Plan& plan, const machine::KernelLayout& layout, const Target& target)
      : tools(module, plan, layout, target) {}

  void emitReturn(machine::BlockStatus status) {
    llvm::IRBuilder<>& b = tools.context.b;
    tools.counting.flush();
    b.CreateRet(b.getInt32(static_cast<uint32_t>(status)));
  }

  Tools tools;
  Instructions instructions{tools};
  SpillSlots spills{tools, instructions};
  BarrierReductions reductions{tools};
  PrivatisedCopies copies{tools};
  RegionState state;
};

}  // namespace ordito::jit
