// See worker.hpp.
#include "machine/worker.hpp"

#include <immintrin.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <fstream>

namespace ordito::machine {

namespace {

constexpr size_t kPage = 4096;

/// Bytes of the last cache, as the kernel reports it: what sysconf answers on virtual machines was seen to be ten times
/// too large.
uint64_t lastCacheBytes() {
  std::ifstream size("/sys/devices/system/cpu/cpu0/cache/index3/size");
  uint64_t kilobytes = 0;
  return size >> kilobytes && kilobytes ? kilobytes << 10 : uint64_t{32} << 20;
}

/// Does the grid write so much that nothing of it would still be in the cache when somebody reads it? The C library's
/// memcpy draws the same line, at three quarters of the last cache.
bool outgrowsCaches(const GridLaunch& launch) {
  static const uint64_t limit = lastCacheBytes() / 4 * 3;
  return launch.grid.count() * launch.block.count() * launch.executable->streamedBytes() >= limit;
}

}  // namespace

GrowingBuffer::~GrowingBuffer() {
  if (base_) munmap(base_, bytes_ + kPage);
}

std::byte* GrowingBuffer::get(size_t bytes) {
  if (bytes <= bytes_ && base_) return base_;
  size_t size = std::max(bytes_ * 2, (bytes + kPage - 1) / kPage * kPage);
  size = std::max(size, size_t{64} * 1024);
  void* memory =
      mmap(nullptr, size + kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  if (base_) munmap(base_, bytes_ + kPage);
  base_ = static_cast<std::byte*>(memory);
  bytes_ = size;
  mprotect(base_ + size, kPage, PROT_NONE);
  return base_;
}

Worker::Worker()
    : number_([] {
        static std::atomic<uint32_t> next{0};
        return next++;
      }()) {}

Worker& Worker::current() {
  static thread_local Worker worker;
  return worker;
}

bool Worker::begin(const GridLaunch& launch, uint64_t gridId, uint32_t threads) {
  frame_ = {};
  frame_.parameters = launch.parameters;
  frame_.shared = shared_.place(launch.totalSharedBytes, launch.sharedAlignment);
  frame_.scratch = scratch_.get(launch.executable->scratchBytes());
  frame_.local = local_.get(launch.executable->localBytes());
  frame_.globals = launch.globals;
  frame_.functions = launch.functions;
  std::fill(std::begin(counters_), std::end(counters_), 0);
  frame_.counters = launch.counters ? counters_ : nullptr;
  const uint32_t grid[3] = {launch.grid.x, launch.grid.y, launch.grid.z};
  const uint32_t block[3] = {launch.block.x, launch.block.y, launch.block.z};
  std::copy(grid, grid + 3, frame_.nctaid);
  std::copy(block, block + 3, frame_.ntid);
  frame_.dynamicSharedBytes = launch.dynamicSharedBytes;
  frame_.totalSharedBytes = launch.totalSharedBytes;
  frame_.nsmid = std::max(threads, 1u);
  frame_.streams = outgrowsCaches(launch);
  frame_.smid = number_ % frame_.nsmid;
  frame_.gridid = gridId;
  frame_.kernelName = launch.kernelName;
  frame_.gridWorkspace = launch.gridWorkspace;
  return frame_.shared && frame_.scratch && frame_.local;
}

std::optional<Fault> Worker::runBlocks(const GridLaunch& launch, uint64_t first, uint64_t last,
                                       const std::atomic<bool>& stop) {
  frame_.ctaid[0] = static_cast<uint32_t>(first % launch.grid.x);
  frame_.ctaid[1] = static_cast<uint32_t>(first / launch.grid.x % launch.grid.y);
  frame_.ctaid[2] = static_cast<uint32_t>(first / launch.grid.x / launch.grid.y);
  for (uint64_t block = first; block < last; ++block) {
    if (stop.load(std::memory_order_relaxed)) return std::nullopt;
    if (auto fault = runGuarded(*launch.executable, frame_)) return fault;
    if (++frame_.ctaid[0] < launch.grid.x) continue;
    frame_.ctaid[0] = 0;
    if (++frame_.ctaid[1] < launch.grid.y) continue;
    frame_.ctaid[1] = 0;
    ++frame_.ctaid[2];
  }
  if (frame_.streams) _mm_sfence();  // stores that went round the caches are in no order with the others
  return std::nullopt;
}

}  // namespace ordito::machine
