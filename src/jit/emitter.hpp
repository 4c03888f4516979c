// Emits the LLVM function that runs thread blocks of one kernel.
//
// The function is a loop over blocks (block_range.hpp), in it one over the regions between barriers; a region is a loop
// over the block's warps, as many at a time as advance together; inside, every PTX instruction is done for a whole warp
// ("part" below) at a time. CodeLowering turns SIMT code, the kernel's control flow, into LLVM blocks; Instructions
// holds the chapters; Values keeps SSA values in stack slots (LLVM turns them into registers).
#pragma once

#include "jit/block_range.hpp"
#include "jit/kernel_parts.hpp"
#include "jit/scheduled_regions.hpp"
#include "simt/warp_order.hpp"

namespace ordito::jit {

class Emitter : private Chapter {
 public:
  explicit Emitter(KernelParts& parts)
      : Chapter(parts.tools),
        parts_(parts),
        state_(parts.state),
        scheduled_(parts),
        order_(simt::findWarpOrder(f_, plan_.regions, plan_.facts)) {}

  /// f(frame, blocks) runs the block of the frame, and those behind it if `EmittedKernel::runsRanges`.
  EmittedKernel emit(const std::string& name);
  /// Emits the function that `run-apart` calls (simt/parting.hpp), from the plan of a single warp: f(frame, first warp)
  /// runs `warps` warps. It is called `name` in the code of those that advance together; see nameOfApart.
  EmittedKernel emitApart(const std::string& name, unsigned warps);
  /// Emits the function that `run-threads` calls for the plan's stretch `number` (simt/thread_plan.hpp): f(frame, first
  /// thread, lanes, record) runs it for one lane after the other.
  void emitStretch(const std::string& name, uint32_t number);

 private:
  /// `blocks`: how many it runs; null for the frame's alone.
  void emitFunction(unsigned warps, LlvmValue blocks);
  void beginFunction();
  void endFunction();
  void emitPrologue();
  void makeState();
  void resetState();
  /// Where the regions of a block begin, and how one leads to the next.
  struct Dispatch {
    llvm::BasicBlock* done;
    std::vector<llvm::BasicBlock*> heads = {};  // of the regions, by resume point
    llvm::BasicBlock* round = nullptr;          // chooses among them, where threads can get diverged,
    llvm::PHINode* state = nullptr;             // by this
  };
  void emitRegions();
  void emitScheduling(Dispatch& to);
  void goOn(uint32_t resumePoint, const Dispatch& to);
  void emitRegion(uint32_t resumePoint);
  const simt::RegionCode& codeOf(uint32_t resumePoint) const;
  void noteSharedValues(uint32_t resumePoint);

  KernelParts& parts_;
  RegionState& state_;
  ScheduledRegions scheduled_;
  const simt::WarpOrder order_;
  llvm::BasicBlock* body_ = nullptr;                    // where the function goes on behind its allocas
  LlvmValue firstWarp_ = nullptr, warpsEnd_ = nullptr;  // of those that the function runs
};

/// What the function of single warps is called, of the kernel whose function is called `name`.
inline std::string nameOfApart(const std::string& name) { return name + "_apart"; }

/// What the function of a thread loop is called, of the function called `name`.
inline std::string nameOfStretch(const std::string& name, BlockId header) {
  return name + "_threads" + std::to_string(header);
}

}  // namespace ordito::jit
