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

/// Where variables have room around them (ptx/local_objects.hpp), an activation of small ones takes thrice as much.
inline constexpr uint64_t kStackBytesWithZones = 3 * 65536 + 192;

/// One such function in a kernel's instructions: [first, last), ending in a `ret` that stands for the return.
struct SharedBody {
  uint32_t function = 0;  // in the module
  uint32_t entryLabel = 0;
  uint32_t first = 0, last = 0;
  std::pair<uint32_t, uint32_t> registers, variables;  // that belong to an activation: [begin, end)
  std::vector<uint32_t> parameters, returns;           // variables
};

/// An activation of such a function, as it lies in the stack. It begins with the number of its call site, 4 bytes, or 0
/// where there is no activation.
struct Frame {
  uint32_t bytes = 0;
  std::vector<uint32_t> sites;                           // of calls that make it
  std::vector<std::pair<uint32_t, uint32_t>> variables;  // with their offsets
  bool operator==(const Frame&) const = default;
};

/// What is on a kernel's stack of calls. The frame of the first call begins where the variable does, each further one
/// where its caller's ends.
struct Stack {
  uint32_t variable = ptx::kNoVariable;
  std::vector<Frame> frames;
  bool operator==(const Stack&) const = default;
};

/// Replaces the calls of `bodies` and their returns. `origin` gets an entry for each variable that is added. With
/// `hasZones` variables have room around them, and the stack says what is on it: behind its last frame stands a 0.
Stack lowerCalls(ptx::Function& function, const std::vector<SharedBody>& bodies,
                 std::vector<std::pair<uint32_t, uint32_t>>& origin, bool hasZones);

}  // namespace ordito::ir
