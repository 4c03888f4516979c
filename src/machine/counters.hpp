// The numbers that compiled code counts per launch when asked to. Definitions are those of the GPU profiler; profile/
// maps them to its metric names.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>

namespace ordito::machine {

/// Order is part of the engine's ABI.
enum class Counter : uint8_t {
  WarpInstructions,    // an instruction issued once for a warp with at least one active lane
  ThreadInstructions,  // the same times its active (guard true) lanes
  Branches,  // conditional branches executed by a warp, uniform or not; neither plain jumps nor a branch to the end of
             // the kernel or forwards around it (on a GPU that is a predicated exit; but the branch back of a loop
             // behind which the kernel ends is one). See docs/lab.md for the check against a real profiler.
  DivergentBranches,   // … whose active lanes did not all go the same way
  GlobalLoadRequests,  // warp-level global (or generic that hit global) load instructions
  GlobalLoadSectors,   // distinct 32-byte sectors that they touched
  GlobalStoreRequests,
  GlobalStoreSectors,
  SharedLoadRequests,
  SharedLoadWavefronts,  // passes over the 32 banks of 4 bytes; distinct words in one bank serialise, equal words
                         // broadcast
  SharedStoreRequests,
  SharedStoreWavefronts,
  SharedLoadConflicts,  // wavefronts beyond the least that the access width needs
  SharedStoreConflicts,
  Barriers,       // bar.sync instructions executed by a warp
  GlobalAtomics,  // warp-level atomics on global memory that return a value
  SharedAtomics,
  LocalLoadRequests,
  LocalStoreRequests,
  TextureRequests,  // warp-level texture fetches (tex, tld4)
  SurfaceLoadRequests,
  SurfaceStoreRequests,
  SurfaceReductionRequests,
  GlobalReductions,  // warp-level atomics on global memory that return none
  MatrixLoads,       // ldmatrix; its wavefronts and conflicts are among those of shared loads
  MatrixStores,
  Count
};

inline constexpr size_t kCounterCount = static_cast<size_t>(Counter::Count);

using CounterValues = std::array<uint64_t, kCounterCount>;
/// What was counted at each site, by PTX line. Totals are the sums.
using SiteCounters = std::map<uint32_t, CounterValues>;

}  // namespace ordito::machine
