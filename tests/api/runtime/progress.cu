// Forward progress: threads, warps and blocks that wait for one another in the ways that CUDA programs do, and must
// all end.
#include <cooperative_groups.h>

#include <numeric>
#include <vector>

#include "expect.hpp"

namespace cg = cooperative_groups;

template <class T>
struct Device {
  T* data = nullptr;
  size_t count;
  explicit Device(size_t n) : count(n) {
    EXPECT_OK(cudaMalloc(&data, n * sizeof(T)));
    EXPECT_OK(cudaMemset(data, 0, n * sizeof(T)));
  }
  ~Device() { cudaFree(data); }
  void set(const std::vector<T>& from) {
    EXPECT_OK(cudaMemcpy(data, from.data(), count * sizeof(T), cudaMemcpyHostToDevice));
  }
  std::vector<T> get() const {
    std::vector<T> host(count);
    EXPECT_OK(cudaMemcpy(host.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost));
    return host;
  }
};

// --- a barrier across the grid: each round a cell becomes the sum of itself and its right neighbour
static std::vector<unsigned> pascal(unsigned cells, int rounds) {
  std::vector<unsigned> now(cells);
  std::iota(now.begin(), now.end(), 1u);
  for (int r = 0; r < rounds; ++r) {
    std::vector<unsigned> next(cells);
    for (unsigned i = 0; i < cells; ++i) next[i] = now[i] + now[(i + 1) % cells];
    now = next;
  }
  return now;
}

__global__ void withGridSync(unsigned* a, unsigned* b, int rounds) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  a[i] = i + 1;
  cg::this_grid().sync();
  for (int r = 0; r < rounds; ++r) {
    const unsigned* from = r % 2 ? b : a;
    (r % 2 ? a : b)[i] = from[i] + from[(i + 1) % n];
    cg::this_grid().sync();
  }
}

__device__ unsigned arrived;

__device__ void gridBarrier(unsigned target) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(&arrived, 1u);
    while (*(volatile unsigned*)&arrived < target) {
    }
    __threadfence();
  }
  __syncthreads();
}

__global__ void withOwnBarrier(unsigned* a, unsigned* b, int rounds) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  a[i] = i + 1;
  gridBarrier(gridDim.x);
  for (int r = 0; r < rounds; ++r) {
    const unsigned* from = r % 2 ? b : a;
    (r % 2 ? a : b)[i] = from[i] + from[(i + 1) % n];
    gridBarrier((r + 2) * gridDim.x);
  }
}

static void barriersAcrossTheGrid() {
  constexpr int kRounds = 9, kBlocks = 40, kThreads = 96;
  Device<unsigned> a(kBlocks * kThreads), b(kBlocks * kThreads);
  int rounds = kRounds;
  void* arguments[] = {&a.data, &b.data, &rounds};
  EXPECT_OK(cudaLaunchCooperativeKernel((void*)withGridSync, kBlocks, kThreads, arguments, 0, nullptr));
  EXPECT(b.get() == pascal(kBlocks * kThreads, kRounds));
  EXPECT_OK(cudaMemset(b.data, 0, kBlocks * kThreads * sizeof(unsigned)));
  withOwnBarrier<<<kBlocks, kThreads>>>(a.data, b.data, kRounds);
  EXPECT(b.get() == pascal(kBlocks * kThreads, kRounds));
}

// --- a scan in one pass: blocks take numbers, publish their sums, and look back at their predecessors'
constexpr unsigned kAggregate = 1u << 30, kPrefix = 2u << 30, kValue = kAggregate - 1;
__device__ unsigned tickets;

__device__ unsigned scanOfWarp(unsigned value) {
  for (int distance = 1; distance < 32; distance *= 2) {
    const unsigned other = __shfl_up_sync(0xffffffffu, value, distance);
    if (threadIdx.x % 32 >= (unsigned)distance) value += other;
  }
  return value;
}

// One warp looks at 32 predecessors at a time, from the nearest one that has its prefix on.
__device__ unsigned lookBack(volatile unsigned* states, int tile) {
  unsigned sum = 0;
  for (int last = tile - 1; last >= 0; last -= 32) {
    const int at = last - (int)(threadIdx.x % 32);
    unsigned state;
    do {
      state = at >= 0 ? states[at] : kPrefix;
    } while (__any_sync(0xffffffffu, state == 0));
    const unsigned prefixes = __ballot_sync(0xffffffffu, state >= kPrefix);
    const unsigned nearest = prefixes ? __ffs((int)prefixes) - 1 : 31;
    unsigned part = threadIdx.x % 32 <= nearest ? state & kValue : 0;
    for (int distance = 16; distance > 0; distance /= 2) part += __shfl_xor_sync(0xffffffffu, part, distance);
    sum += part;
    if (prefixes) break;
  }
  return sum;
}

__global__ void scan(const unsigned* in, unsigned* out, volatile unsigned* states) {
  __shared__ unsigned tile, before, sums[32];
  if (threadIdx.x == 0) tile = atomicAdd(&tickets, 1u);
  __syncthreads();
  const unsigned i = tile * blockDim.x + threadIdx.x, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  unsigned value = scanOfWarp(in[i]);
  if (threadIdx.x % 32 == 31) sums[warp] = value;
  __syncthreads();
  if (warp == 0) {
    const unsigned total = scanOfWarp(threadIdx.x < warps ? sums[threadIdx.x] : 0);
    if (threadIdx.x < warps) sums[threadIdx.x] = total;
    const unsigned all = __shfl_sync(0xffffffffu, total, (int)warps - 1);
    if (threadIdx.x == 0) states[tile] = (tile == 0 ? kPrefix : kAggregate) | all;
    const unsigned prefix = tile == 0 ? 0 : lookBack(states, (int)tile);
    if (threadIdx.x == 0) {
      __threadfence();
      states[tile] = kPrefix | (prefix + all);
      before = prefix;
    }
  }
  __syncthreads();
  out[i] = before + (warp ? sums[warp - 1] : 0) + value;
}

static void scanInOnePass() {
  constexpr unsigned kBlocks = 200, kThreads = 128, kCount = kBlocks * kThreads;
  Device<unsigned> in(kCount), out(kCount), states(kBlocks);
  std::vector<unsigned> numbers(kCount), expected(kCount);
  for (unsigned i = 0; i < kCount; ++i) numbers[i] = i * 2654435761u >> 26;
  std::partial_sum(numbers.begin(), numbers.end(), expected.begin());
  in.set(numbers);
  scan<<<kBlocks, kThreads>>>(in.data, out.data, states.data);
  EXPECT(out.get() == expected);
}

// --- locks between lanes, warps and blocks
__device__ int mutex;
__device__ unsigned guarded;

__global__ void lockInEveryLane(unsigned* order) {
  while (atomicCAS(&mutex, 0, 1) != 0) {
  }
  __threadfence();
  const unsigned mine = *(volatile unsigned*)&guarded;
  *(volatile unsigned*)&guarded = mine + 1;
  __threadfence();
  atomicExch(&mutex, 0);
  order[blockIdx.x * blockDim.x + threadIdx.x] = mine;
}

__global__ void lockInOneThread(unsigned* sums, int rounds) {
  __shared__ unsigned mine;
  for (int r = 0; r < rounds; ++r) {
    if (threadIdx.x == 0) {
      while (atomicExch(&mutex, 1) != 0) __nanosleep(100);
      __threadfence();
      mine = *(volatile unsigned*)&guarded;
      *(volatile unsigned*)&guarded = mine + 1;
      __threadfence();
      atomicExch(&mutex, 0);
    }
    __syncthreads();
    if (threadIdx.x == 7) atomicAdd(sums, mine);
    __syncthreads();
  }
}

static void locks() {
  constexpr unsigned kBlocks = 6, kThreads = 64, kCount = kBlocks * kThreads;
  Device<unsigned> order(kCount), sums(1);
  lockInEveryLane<<<kBlocks, kThreads>>>(order.data);
  std::vector<char> seen(kCount, 0);
  for (unsigned o : order.get()) {
    EXPECT(o < kCount && !seen[o]);
    seen[o % kCount] = 1;
  }
  lockInOneThread<<<kBlocks, kThreads>>>(sums.data, 10);
  const unsigned n = kCount + kBlocks * 10;
  EXPECT(sums.get()[0] == n * (n - 1) / 2 - kCount * (kCount - 1) / 2);
}

// --- producers and consumers: warps of one block, with flags in shared memory and with named barriers
__global__ void flagsInShared(unsigned* out) {
  __shared__ volatile unsigned box[32], full[32];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (warp == 0) full[lane] = 0;
  __syncthreads();
  unsigned sum = 0;
  for (unsigned turn = 1; turn <= 8; ++turn) {
    if (warp == 0) {  // waits until the lane's box is empty
      while (full[lane] != 0) {
      }
      box[lane] = turn * 100 + lane;
      __threadfence_block();
      full[lane] = 1;
    } else {
      while (full[lane] == 0) {
      }
      __threadfence_block();
      sum += box[lane];
      __threadfence_block();
      full[lane] = 0;
    }
  }
  if (warp == 1) out[lane] = sum;
}

__device__ void arriveAt(int barrier, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}
__device__ void waitAt(int barrier, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

__global__ void namedBarriers(unsigned* out, int turns) {
  constexpr int kFull = 1, kEmpty = 2, kThreads = 128;
  __shared__ unsigned box[64];
  const unsigned i = threadIdx.x % 64;
  unsigned sum = 0;
  if (threadIdx.x < 64) {
    for (int t = 0; t < turns; ++t) {
      if (t > 0) waitAt(kEmpty, kThreads);
      box[i] = t * 64 + i;
      __threadfence_block();
      arriveAt(kFull, kThreads);
    }
  } else {
    for (int t = 0; t < turns; ++t) {
      waitAt(kFull, kThreads);
      sum += box[63 - i];
      if (t + 1 < turns) arriveAt(kEmpty, kThreads);
    }
    out[i] = sum;
  }
}

static void producersAndConsumers() {
  Device<unsigned> out(32), sums(64);
  flagsInShared<<<1, 64>>>(out.data);
  const std::vector<unsigned> got = out.get();
  for (unsigned l = 0; l < 32; ++l) EXPECT(got[l] == 3600 + 8 * l);
  namedBarriers<<<3, 128>>>(sums.data, 5);
  const std::vector<unsigned> sum = sums.get();
  for (unsigned i = 0; i < 64; ++i) EXPECT(sum[i] == 640 + 5 * (63 - i));
}

// --- a flag from a later block, seen by all threads of earlier ones
__global__ void lastBlockFirst(volatile unsigned* turn, unsigned* out) {
  const unsigned mine = gridDim.x - 1 - blockIdx.x;
  while (*turn != mine) {
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    out[mine] = blockIdx.x;
    __threadfence();
    *turn = mine + 1;
  }
}

static void blocksInReverse() {
  constexpr unsigned kBlocks = 24;
  Device<unsigned> turn(1), out(kBlocks);
  lastBlockFirst<<<kBlocks, 64>>>(turn.data, out.data);
  const std::vector<unsigned> got = out.get();
  for (unsigned i = 0; i < kBlocks; ++i) EXPECT(got[i] == kBlocks - 1 - i);
}

int main() {
  barriersAcrossTheGrid();
  scanInOnePass();
  locks();
  producersAndConsumers();
  blocksInReverse();
  return finish();
}
