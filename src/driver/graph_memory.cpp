// See graph_memory.hpp.
#include "driver/graph_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "driver/managed_advice.hpp"
#include "driver/memory_pool.hpp"
#include "driver/results.hpp"
#include "machine/memory.hpp"

namespace ordito::driver {
namespace {

/// Whose it is, as streams see it.
enum class State : uint8_t { Graphs, GraphsAndLive, Nobodys };

struct Entry {
  const Device* device;
  uint64_t bytes;
  State state = State::Graphs;
  bool isOut = false;     // a launch has been asked for that allocates it, and nobody to free it
  bool isBacked = false;  // it counts as used
};

struct Known {
  std::mutex mutex;
  std::map<uint64_t, Entry> entries;
  std::map<const Device*, uint64_t> left;  // bytes of ended entries that were backed and have not been trimmed
  std::map<const Device*, uint64_t> high;

  uint64_t use(const Device& device) {
    uint64_t bytes = left[&device];
    for (const auto& [address, entry] : entries)
      if (entry.isBacked && entry.device == &device) bytes += entry.bytes;
    return inChunks(bytes);
  }

  void back(Entry& entry) {
    entry.isBacked = true;
    uint64_t& most = high[entry.device];
    most = std::max(most, use(*entry.device));
  }

  void end(std::map<uint64_t, Entry>::iterator at) {
    if (at->second.isBacked) left[at->second.device] += at->second.bytes;
    entries.erase(at);
  }

  Entry* find(uint64_t address) {
    const auto found = entries.find(address);
    return found == entries.end() ? nullptr : &found->second;
  }
};
Known& known() {
  static auto* memory = new Known;
  return *memory;
}

bool freeManaged(CUdeviceptr pointer) {
  const auto allocation = machine::allocations().find(pointer);
  if (!machine::freeHost(pointer, machine::MemoryKind::Managed)) return false;
  adviceOfMemory().forget(pointer, allocation->bytes);
  return true;
}

}  // namespace

GraphMemory::GraphMemory(Device& device, uint64_t a, uint64_t size) : address(a), bytes(size), device_(device) {
  std::lock_guard lock(known().mutex);
  known().entries[address] = {.device = &device, .bytes = bytes};
}

GraphMemory::~GraphMemory() {
  {
    std::lock_guard lock(known().mutex);
    const auto found = known().entries.find(address);
    if (found->second.state == State::GraphsAndLive) {
      found->second.state = State::Nobodys;
      return;
    }
    known().end(found);
  }
  if (!device_.memory.free(address)) freeManaged(address);
}

void GraphMemory::begin() const {
  std::lock_guard lock(known().mutex);
  known().entries.at(address).state = State::GraphsAndLive;
}

bool isGraphMemory(uint64_t address) {
  std::lock_guard lock(known().mutex);
  return known().find(address) != nullptr;
}

bool endGraphMemory(uint64_t address) {
  std::lock_guard lock(known().mutex);
  const auto found = known().entries.find(address);
  if (found == known().entries.end()) return false;
  if (found->second.state == State::Nobodys) {
    known().end(found);
    return false;
  }
  found->second.state = State::Graphs;
  return true;
}

CUresult claimGraphMemory(const GraphMemoryOfLaunch& memory, bool isAutomatic) {
  const auto isIn = [](const std::vector<uint64_t>& all, uint64_t address) {
    return std::ranges::find(all, address) != all.end();
  };
  std::lock_guard lock(known().mutex);
  for (const uint64_t address : memory.allocated)
    if (known().entries.at(address).isOut && !isAutomatic)
      return remember(
          CUDA_ERROR_INVALID_VALUE,
          fmt::format("the graph's memory at {:#x}, allocated by an earlier launch, has not been freed: free "
                      "it, or instantiate the graph with automatic freeing",
                      address));
  for (const uint64_t address : memory.freed) {
    const Entry* entry = known().find(address);
    if (!isIn(memory.allocated, address) && entry && !entry->isOut)
      return remember(
          CUDA_ERROR_INVALID_VALUE,
          fmt::format("the graph frees memory at {:#x}, which no launch has allocated since it was freed", address));
  }
  for (const uint64_t address : memory.allocated) {
    Entry& entry = known().entries.at(address);
    entry.isOut = true;
    known().back(entry);
  }
  for (const uint64_t address : memory.freed)
    if (Entry* entry = known().find(address)) entry->isOut = false;
  return CUDA_SUCCESS;
}

bool releaseGraphMemory(uint64_t address) {
  std::lock_guard lock(known().mutex);
  Entry* entry = known().find(address);
  return !entry || std::exchange(entry->isOut, false);
}

void backGraphMemory(const GraphMemoryOfLaunch& memory) {
  std::lock_guard lock(known().mutex);
  for (const uint64_t address : memory.allocated) known().back(known().entries.at(address));
}

void trimGraphMemory(const Device& device) {
  std::lock_guard lock(known().mutex);
  known().left[&device] = 0;
  for (auto& [address, entry] : known().entries)
    if (entry.device == &device && !entry.isOut) entry.isBacked = false;
}

GraphMemoryUse graphMemoryUse(const Device& device) {
  std::lock_guard lock(known().mutex);
  return {known().use(device), known().high[&device]};
}

void resetGraphMemoryHigh(const Device& device) {
  std::lock_guard lock(known().mutex);
  known().high[&device] = known().use(device);
}

CUresult allocationTask(Context& context, uint64_t bytes, NodeTask& task, CUdeviceptr* pointer) {
  if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
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

CUresult freeMemory(CUdeviceptr pointer, bool isPools) {
  if (endGraphMemory(pointer)) return CUDA_SUCCESS;
  auto allocation = machine::allocations().find(pointer);
  if (allocation) memoryPools().leave(pointer, allocation->bytes);
  if (allocation && Context::of(*allocation).device.memory.free(pointer)) return CUDA_SUCCESS;
  if (freeManaged(pointer) || (isPools && machine::freeHost(pointer, machine::MemoryKind::Host))) return CUDA_SUCCESS;
  return remember(CUDA_ERROR_INVALID_VALUE, fmt::format("{:#x} was not allocated or is freed already: {}", pointer,
                                                        machine::describeAddress(pointer)));
}

}  // namespace ordito::driver
