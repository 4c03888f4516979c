// The functions that kernels call but PTX modules do not define: printf, assert, and the device heap. Both engines call
// these, once per active lane.
#pragma once

#include <cstdint>
#include <string>

#include "machine/kernel.hpp"

namespace ordito::machine {

/// Device printf (CUDA C++ guide, "Formatted Output"): `format` and `arguments` as clang and nvcc pass them to vprintf:
/// promoted arguments, each aligned to its size, strings as pointers. Prints atomically to stdout. Returns the number
/// of arguments, -1 for a null format.
int32_t devicePrintf(const char* format, const std::byte* arguments);
/// What it would print, behind what `out` holds.
int32_t formatDevicePrintf(std::string& out, const char* format, const std::byte* arguments);

/// Device assert: prints the line that CUDA prints to stderr, then raises FaultKind::Assert.
[[noreturn]] void deviceAssert(const BlockFrame& frame, const char* message, const char* file, uint32_t line,
                               const char* function, uint32_t threadX, uint32_t threadY, uint32_t threadZ);

/// Device-side malloc/free on the device heap (cudaLimitMallocHeapSize).
void* deviceMalloc(uint64_t bytes);
void deviceFree(void* pointer);

}  // namespace ordito::machine
