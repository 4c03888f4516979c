#include "driver/stream_memory.hpp"

#include <atomic>
#include <thread>
#include <type_traits>

#include "driver/results.hpp"
#include "machine/memory.hpp"
#include "machine/undefined.hpp"

namespace ordito::driver {
namespace {

/// Whether memory that holds `value` ends the wait. The cyclic comparison is of the operand's own width.
template <class T>
bool holds(T value, T wanted, unsigned flags) {
  switch (flags & 3) {
    case CU_STREAM_WAIT_VALUE_GEQ: return static_cast<std::make_signed_t<T>>(value - wanted) >= 0;
    case CU_STREAM_WAIT_VALUE_EQ: return value == wanted;
    case CU_STREAM_WAIT_VALUE_AND: return (value & wanted) != 0;
    default: return static_cast<T>(~(value | wanted)) != 0;
  }
}

template <class T>
void waitFor(CUdeviceptr from, T wanted, unsigned flags) {
  std::atomic_ref value(*reinterpret_cast<T*>(from));
  while (!holds(value.load(std::memory_order_acquire), wanted, flags)) std::this_thread::yield();
}

template <class T>
void store(CUdeviceptr to, T value) {
  ordito::machine::noteWritten(to, sizeof value);
  std::atomic_ref(*reinterpret_cast<T*>(to)).store(value, std::memory_order_release);
}

void perform(const CUstreamBatchMemOpParams& operation) {
  const auto& wait = operation.waitValue;
  const auto& write = operation.writeValue;
  switch (operation.operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32: return waitFor<uint32_t>(wait.address, wait.value, wait.flags);
    case CU_STREAM_MEM_OP_WAIT_VALUE_64: return waitFor<uint64_t>(wait.address, wait.value64, wait.flags);
    case CU_STREAM_MEM_OP_WRITE_VALUE_32: return store<uint32_t>(write.address, write.value);
    case CU_STREAM_MEM_OP_WRITE_VALUE_64: return store<uint64_t>(write.address, write.value64);
    default: std::atomic_thread_fence(std::memory_order_seq_cst);  // all memory is the host's
  }
}

bool isPlace(CUdeviceptr address, size_t bytes) {
  return address % bytes == 0 && ordito::machine::allocations().find(address);
}

CUresult check(const CUstreamBatchMemOpParams& operation) {
  constexpr unsigned kWaitFlags = 3 | CU_STREAM_WAIT_VALUE_FLUSH;
  switch (operation.operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
    case CU_STREAM_MEM_OP_WAIT_VALUE_64: {
      const size_t bytes = operation.operation == CU_STREAM_MEM_OP_WAIT_VALUE_32 ? 4 : 8;
      const bool good = isPlace(operation.waitValue.address, bytes) && !(operation.waitValue.flags & ~kWaitFlags);
      return good ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    }
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
      return isPlace(operation.writeValue.address, 4) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
      return isPlace(operation.writeValue.address, 8) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    case CU_STREAM_MEM_OP_BARRIER:
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES: return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

}  // namespace

CUresult batchTask(const CUstreamBatchMemOpParams* operations, unsigned count, unsigned flags, NodeTask& task) {
  constexpr unsigned kMost = 256;
  if (!operations || count == 0 || count > kMost || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  for (unsigned i = 0; i < count; ++i)
    if (CUresult bad = check(operations[i])) return bad;
  auto batch = std::make_shared<const Batch>(operations, operations + count);
  task.type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
  task.work = [batch](std::string&) {
    for (const CUstreamBatchMemOpParams& operation : *batch) perform(operation);
    return CUDA_SUCCESS;
  };
  task.parameters = std::move(batch);
  return CUDA_SUCCESS;
}

}  // namespace ordito::driver
