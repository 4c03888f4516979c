// Where a kernel's variables live: offsets of shared variables in the block's shared window and of local variables in a
// thread's local memory. Both engines and the driver (launch checks, occupancy, cudaFuncGetAttributes) ask here, so
// that they cannot disagree.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "ptx/module.hpp"

namespace ordito::machine {

/// Layout of one kernel together with every device function that it can call.
struct KernelLayout {
  /// Key: index of the function in Module::functions, or kModule for module variables; then index of the variable.
  static constexpr uint32_t kModule = ~0u;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> sharedOffset;  // bytes from the start of the shared window
  std::map<std::pair<uint32_t, uint32_t>, uint32_t>
      localOffset;                 // bytes from the start of the thread's local memory (no recursion)
  uint32_t staticSharedBytes = 0;  // sum of the static shared variables that the kernel can reach
  uint32_t dynamicSharedOffset =
      0;  // where `extern .shared x[]` starts: staticSharedBytes rounded up to the largest alignment asked for
  /// Can a thread wait for what other blocks write? It must then look at their memory again and again: by a volatile,
  /// relaxed or acquire load, one that passes the caches by, or an atomic operation that returns a value.
  bool mayAwaitBlocks = false;
  bool readsClock = false;  // what a thread does may change with time alone
  uint32_t localBytes = 0;  // per thread
};

/// Variables used by the kernel or by any function reachable from it through direct calls (all functions of the module
/// if a call is indirect).
KernelLayout layoutKernel(const ptx::Module& module, const ptx::Function& kernel);

}  // namespace ordito::machine
