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

namespace ordito::jit {

class Emitter : private Chapter {
 public:
  explicit Emitter(KernelParts& parts) : Chapter(parts.tools), parts_(parts), state_(parts.state), scheduled_(parts) {}

  /// f(frame, blocks) runs the block of the frame, and those behind it if `EmittedKernel::runsRanges`.
  EmittedKernel emit(const std::string& name);
  /// Emits the function that `run-apart` calls (simt/parting.hpp), from the plan of a single warp: f(frame, first warp)
  /// runs `warps` warps. It is called `name` in the code of those that advance together; see nameOfApart.
  EmittedKernel emitApart(const std::string& name, unsigned warps);

 private:
  /// `blocks`: how many it runs; null for the frame's alone.
  void emitFunction(unsigned warps, LlvmValue blocks);
  void emitPrologue();
  void makeState();
  void resetState();
  void emitRegions();
  void emitRegion(uint32_t resumePoint);
  const simt::RegionCode& codeOf(uint32_t resumePoint) const;
  void noteSharedValues(uint32_t resumePoint);

  KernelParts& parts_;
  RegionState& state_;
  ScheduledRegions scheduled_;
  LlvmValue firstWarp_ = nullptr, warpsEnd_ = nullptr;  // of those that the function runs
};

/// What the function of single warps is called, of the kernel whose function is called `name`.
inline std::string nameOfApart(const std::string& name) { return name + "_apart"; }

}  // namespace ordito::jit
