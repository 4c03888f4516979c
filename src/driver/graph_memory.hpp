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

struct GraphMemoryUse {
  uint64_t now = 0, high = 0;
};
GraphMemoryUse graphMemoryUse();
void resetGraphMemoryHigh();

/// Takes the memory; its address goes to `pointer`.
CUresult allocationTask(Context& context, uint64_t bytes, NodeTask& task, CUdeviceptr* pointer);
NodeTask allocationTask(std::shared_ptr<GraphMemory> memory);
NodeTask freeTask(CUdeviceptr pointer);

/// Frees device or managed memory of any device, a graph's too; waits are the caller's business.
CUresult freeMemory(CUdeviceptr pointer);

}  // namespace ordito::driver
