// Memory that kernels take with cudaMalloc. Each piece has pages of its own in one reserved range, which are gone for
// good once it is freed: a child grid that still writes there ends with a fault that says so, where a GPU says nothing
// and the host's own heap would be destroyed. malloc() and new stay with the host's heap, since kernels call them by
// the thousand.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace ordito::machine {

/// Null if there is no room left, in addresses or in pieces.
void* allocateOnDeviceHeap(uint64_t bytes);

/// False if the memory is not of this heap.
bool freeOnDeviceHeap(void* pointer);

/// What the heap knows of an address in its range.
std::optional<std::string> describeDeviceHeap(uint64_t address);

}  // namespace ordito::machine
