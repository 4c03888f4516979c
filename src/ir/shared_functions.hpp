// Functions that a kernel has once, recursive ones among them, without a host stack: calls become jumps.
//
// A call puts arguments, the number of the call
// site and the registers that are needed afterwards into frames in the thread's local memory and jumps there; a return
// looks up the call site and jumps back. So lanes may be at any depth, barriers and exits mean what they always do, and
// a stack that is exhausted is seen before it is.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "ptx/module.hpp"

namespace ordito::ir {

/// Bytes of the stack of calls of each thread. (Not a power of two, so that the lanes' stacks spread over the cache.)
inline constexpr uint64_t kStackBytes = 65536 + 192;

/// One such function in a kernel's instructions: [first, last), ending in a `ret` that stands for the return.
struct SharedBody {
  uint32_t function = 0;  // in the module
  uint32_t entryLabel = 0;
  uint32_t first = 0, last = 0;
  std::pair<uint32_t, uint32_t> registers, variables;  // that belong to an activation: [begin, end)
  std::vector<uint32_t> parameters, returns;           // variables
};

/// Replaces the calls of `bodies` and their returns. `origin` gets an entry for each variable that is added.
void lowerCalls(ptx::Function& function, const std::vector<SharedBody>& bodies,
                std::vector<std::pair<uint32_t, uint32_t>>& origin);

}  // namespace ordito::ir
