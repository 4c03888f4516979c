// See graph_memory.hpp.
#include "driver/graph_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "driver/memory_pool.hpp"
#include "driver/results.hpp"
#include "machine/memory.hpp"

namespace ordito::driver {
namespace {

/// Whose it is.
enum class State : uint8_t { Graphs, GraphsAndLive, Nobodys };

struct Known {
  std::mutex mutex;
  std::map<uint64_t, State> states;
  GraphMemoryUse use;
};
Known& known() {
  static auto* memory = new Known;
  return *memory;
}

}  // namespace

GraphMemory::GraphMemory(Device& device, uint64_t a, uint64_t size) : address(a), bytes(size), device_(device) {
  std::lock_guard lock(known().mutex);
  known().states[address] = State::Graphs;
  known().use.now += bytes;
  known().use.high = std::max(known().use.high, known().use.now);
}

GraphMemory::~GraphMemory() {
  {
    std::lock_guard lock(known().mutex);
    known().use.now -= bytes;
    const auto found = known().states.find(address);
    if (found->second == State::GraphsAndLive) {
      found->second = State::Nobodys;
      return;
    }
    known().states.erase(found);
  }
  device_.memory.free(address);
}

void GraphMemory::begin() const {
  std::lock_guard lock(known().mutex);
  known().states[address] = State::GraphsAndLive;
}

bool isGraphMemory(uint64_t address) {
  std::lock_guard lock(known().mutex);
  return known().states.contains(address);
}

bool endGraphMemory(uint64_t address) {
  std::lock_guard lock(known().mutex);
  const auto found = known().states.find(address);
  if (found == known().states.end()) return false;
  if (found->second == State::Nobodys) {
    known().states.erase(found);
    return false;
  }
  found->second = State::Graphs;
  return true;
}

GraphMemoryUse graphMemoryUse() {
  std::lock_guard lock(known().mutex);
  return known().use;
}

void resetGraphMemoryHigh() {
  std::lock_guard lock(known().mutex);
  known().use.high = known().use.now;
}

CUresult allocationTask(Context& context, uint64_t bytes, NodeTask& task, CUdeviceptr* pointer) {
  auto address = context.device.memory.allocate(bytes, false, &context);
  if (!address) return CUDA_ERROR_OUT_OF_MEMORY;
  *pointer = *address;
  task = allocationTask(std::make_shared<GraphMemory>(context.device, *address, bytes));
  return CUDA_SUCCESS;
}

NodeTask allocationTask(std::shared_ptr<GraphMemory> memory) {
  Work begin = [memory](std::string&) {
    memory->begin();
    return CUDA_SUCCESS;
  };
  return {CU_GRAPH_NODE_TYPE_MEM_ALLOC, std::move(memory), std::move(begin)};
}

NodeTask freeTask(CUdeviceptr pointer) {
  return {CU_GRAPH_NODE_TYPE_MEM_FREE, pointer, [pointer](std::string&) { return freeMemory(pointer); }};
}

CUresult freeMemory(CUdeviceptr pointer) {
  if (endGraphMemory(pointer)) return CUDA_SUCCESS;
  auto allocation = machine::allocations().find(pointer);
  if (allocation) memoryPools().leave(pointer, allocation->bytes);
  if ((allocation && Context::of(*allocation).device.memory.free(pointer)) ||
      machine::freeHost(pointer, machine::MemoryKind::Managed))
    return CUDA_SUCCESS;
  return remember(CUDA_ERROR_INVALID_VALUE, fmt::format("{:#x} was not allocated or is freed already: {}", pointer,
                                                        machine::describeAddress(pointer)));
}

}  // namespace ordito::driver
