// Memory that graphs allocate and free.
#pragma once

#include "driver/graph.hpp"

namespace ordito::driver {

/// Taken when the node is made, so that its address is known, and given back with the last graph that has the node.
/// What a launch has allocated and nobody has freed by then lives on, as any other memory.
class GraphMemory {
 public:
  GraphMemory(Device& device, uint64_t address, uint64_t bytes);
  ~GraphMemory();
  void begin() const;  // a launch has come to the allocation
  const uint64_t address, bytes;

 private:
  Device& device_;
};

/// True for the address of memory that a graph has allocated, until it is freed for good.
bool isGraphMemory(uint64_t address);
/// True for memory that a graph still has, which another launch may allocate again.
bool endGraphMemory(uint64_t address);

/// What a launch allocates and frees, by address.
struct GraphMemoryOfLaunch {
  std::vector<uint64_t> allocated, freed;
};
/// At the call of a launch: what it does not free itself is the program's to free from then on. Nothing happens and the
/// answer is CUDA_ERROR_INVALID_VALUE if an earlier launch's has not been freed (unless that `isAutomatic`), or if
/// something is freed that nobody has.
CUresult claimGraphMemory(const GraphMemoryOfLaunch& memory, bool isAutomatic);
/// At the call that frees it, before its turn in the stream: false if it is a graph's and nobody has it.
bool releaseGraphMemory(uint64_t address);

// What a GPU's driver says about it: memory counts from the first launch or upload on, in pieces of 32 MiB, and until
// it is trimmed (seen on an H200 with driver 580).
void backGraphMemory(const GraphMemoryOfLaunch& memory);
void trimGraphMemory(const Device& device);
struct GraphMemoryUse {
  uint64_t now = 0, high = 0;  // in bytes
};
GraphMemoryUse graphMemoryUse(const Device& device);
void resetGraphMemoryHigh(const Device& device);

/// Takes the memory; its address goes to `pointer`.
CUresult allocationTask(Context& context, uint64_t bytes, NodeTask& task, CUdeviceptr* pointer);
NodeTask allocationTask(std::shared_ptr<GraphMemory> memory);
NodeTask freeTask(CUdeviceptr pointer);

/// Frees device or managed memory of any device, a graph's too, and host memory of a pool; waits are the caller's
/// business.
CUresult freeMemory(CUdeviceptr pointer, bool isPools = false);

}  // namespace ordito::driver
