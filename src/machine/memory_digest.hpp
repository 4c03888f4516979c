// One number for all that kernels can write to: has anything changed since the last look? For somebody who suspects
// that a launch only waits.
#pragma once

#include <cstdint>

#include "base/digest.hpp"

namespace ordito::machine {

/// Adds `bytes` bytes of this process's memory. What cannot be read (a page that somebody has just given back) counts
/// as nothing.
void addMemory(Digest& digest, uint64_t address, uint64_t bytes);
/// Adds every allocation of the process that is live. Reads a few gigabytes a second.
void addAllocations(Digest& digest);

}  // namespace ordito::machine
