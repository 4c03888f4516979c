// What an instruction promises about the order of memory accesses, and among whom: from its words in the PTX to the
// vocabulary of events (PTX ISA, "Memory Consistency Model").
#pragma once

#include "machine/events.hpp"

namespace ordito::machine {

/// Of an access.
MemoryOrder memoryOrder(const ptx::Instruction& i);
/// Of a fence.
MemoryOrder fenceOrder(const ptx::Instruction& i);
MemoryScope memoryScope(const ptx::Instruction& i);
/// Of a fence: between ordinary accesses to which memory and the async proxy's, in bits of SyncEvent.
uint32_t fencedProxies(const ptx::Instruction& i);

}  // namespace ordito::machine
