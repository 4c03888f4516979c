// cuda::barrier, cuda::pipeline and their relatives in kernels and on the host: each kernel's result would be another
// one if somebody went on too early.
#include <cooperative_groups.h>

#include <cstdio>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/pipeline>
#include <cuda/semaphore>
#include <thread>
#include <utility>
#include <vector>

#include "expect.hpp"

namespace cg = cooperative_groups;
constexpr int kThreads = 128;

/// Each phase, thread i writes its cell and reads its neighbour's.
template <class Barrier>
__device__ int rounds(Barrier& barrier, int* cells) {
  int sum = 0;
  for (int round = 0; round < 5; ++round) {
    cells[threadIdx.x] = round * 1000 + threadIdx.x;
    auto token = barrier.arrive();
    barrier.wait(std::move(token));
    sum += cells[(threadIdx.x + 1) % blockDim.x];
    barrier.arrive_and_wait();
  }
  return sum;
}

__global__ void inShared(int* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ int cells[kThreads];
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  __syncthreads();
  out[threadIdx.x] = rounds(barrier, cells);
}

struct CountPhases {
  int* phases;
  __host__ __device__ void operator()() const { ++*phases; }
};

__global__ void withCompletion(int* out, int* phases) {
  __shared__ cuda::barrier<cuda::thread_scope_block, CountPhases> barrier;
  __shared__ int cells[kThreads];
  if (threadIdx.x == 0) init(&barrier, blockDim.x, CountPhases{phases});
  __syncthreads();
  out[threadIdx.x] = rounds(barrier, cells);
}

/// Blocks wait for each other in global memory.
__global__ void acrossBlocks(cuda::barrier<cuda::thread_scope_device>* barrier, int* cells, int* out) {
  if (threadIdx.x != 0) return;
  cells[blockIdx.x] = 10 + blockIdx.x;
  barrier->arrive_and_wait();
  out[blockIdx.x] = cells[(blockIdx.x + 1) % gridDim.x];
}

__global__ void dropped(int* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  __syncthreads();
  if (threadIdx.x >= 32) return barrier.arrive_and_drop();
  for (int i = 0; i < 3; ++i) barrier.arrive_and_wait();
  out[threadIdx.x] = 7;
}

/// A block adds up tiles that arrive in two stages.
__global__ void staged(const int* in, int* out, int tiles) {
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  __shared__ int tile[2][kThreads];
  auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  int sum = 0;
  for (int compute = 0, fetch = 0; compute < tiles; ++compute) {
    for (; fetch < tiles && fetch < compute + 2; ++fetch) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, tile[fetch % 2], in + fetch * kThreads, cuda::aligned_size_t<4>(sizeof(tile[0])), pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    sum += tile[compute % 2][(threadIdx.x + 1) % kThreads];
    pipe.consumer_release();
  }
  out[threadIdx.x] = sum;
}

/// One warp fetches, the others add up.
__global__ void specialised(const int* in, int* out, int tiles) {
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 3> state;
  __shared__ int tile[3][kThreads];
  auto block = cg::this_thread_block();
  const bool isProducer = threadIdx.x < 32;
  auto pipe =
      cuda::make_pipeline(block, &state, isProducer ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
  int sum = 0;
  for (int i = 0; i < tiles; ++i) {
    if (isProducer) {
      pipe.producer_acquire();
      for (int k = threadIdx.x; k < kThreads; k += 32)
        cuda::memcpy_async(&tile[i % 3][k], &in[i * kThreads + k], sizeof(int), pipe);
      pipe.producer_commit();
    } else {
      pipe.consumer_wait();
      sum += tile[i % 3][threadIdx.x];
      pipe.consumer_release();
    }
  }
  out[threadIdx.x] = sum;
}

__global__ void ownBatches(const int4* in, int* out) {
  __shared__ int4 tile[4][32];
  auto pipe = cuda::make_pipeline();
  for (int i = 0; i < 4; ++i) {
    pipe.producer_acquire();
    cuda::memcpy_async(&tile[i][threadIdx.x], &in[i * 32 + threadIdx.x], cuda::aligned_size_t<16>(sizeof(int4)), pipe);
    pipe.producer_commit();
  }
  int sum = 0;
  cuda::pipeline_consumer_wait_prior<2>(pipe);
  sum += tile[0][threadIdx.x].x + tile[1][threadIdx.x].y;
  pipe.consumer_wait();
  sum += tile[2][threadIdx.x].z;
  pipe.consumer_wait();
  out[threadIdx.x] = sum + tile[3][threadIdx.x].w;
}

__global__ void copiedToBarrier(const int* in, int* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ int tile[kThreads];
  auto block = cg::this_thread_block();
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  block.sync();
  cuda::memcpy_async(block, tile, in, sizeof(tile), barrier);
  barrier.arrive_and_wait();
  out[threadIdx.x] = tile[kThreads - 1 - threadIdx.x];
}

__global__ void permits(cuda::counting_semaphore<cuda::thread_scope_device>* doors,
                        cuda::latch<cuda::thread_scope_device>* all,
                        cuda::atomic<int, cuda::thread_scope_device>* inside, int* most, int* out) {
  if (threadIdx.x != 0) return;
  doors->acquire();
  cuda::atomic_ref<int, cuda::thread_scope_device>(*most).fetch_max(inside->fetch_add(1) + 1);
  inside->fetch_sub(1);
  doors->release();
  all->arrive_and_wait();
  out[blockIdx.x] = inside->load(cuda::memory_order_relaxed);
}

void onTheHost() {
  cuda::barrier<cuda::thread_scope_system> barrier(4);
  cuda::atomic<int> sum(0);
  cuda::latch<cuda::thread_scope_system> started(4);
  std::vector<std::thread> threads;
  std::vector<int> seen(4);
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      started.arrive_and_wait();
      sum += i;
      barrier.arrive_and_wait();
      seen[i] = sum;
    });
  for (auto& thread : threads) thread.join();
  for (int value : seen) EXPECT(value == 6);
}

int expectedRounds(int thread) {
  int sum = 0;
  for (int round = 0; round < 5; ++round) sum += round * 1000 + (thread + 1) % kThreads;
  return sum;
}

template <class T>
T* managed(size_t count) {
  void* memory = nullptr;
  EXPECT(cudaMallocManaged(&memory, count * sizeof(T)) == cudaSuccess);
  for (size_t i = 0; i < count * sizeof(T); ++i) static_cast<char*>(memory)[i] = 0;
  return static_cast<T*>(memory);
}

int main() {
  int* out = managed<int>(kThreads);
  int* in = managed<int>(8 * kThreads);
  int* cells = managed<int>(kThreads);
  for (int i = 0; i < 8 * kThreads; ++i) in[i] = i * i % 1013;

  inShared<<<1, kThreads>>>(out);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  for (int i = 0; i < kThreads; ++i) EXPECT(out[i] == expectedRounds(i));

  withCompletion<<<1, kThreads>>>(out, cells);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  for (int i = 0; i < kThreads; ++i) EXPECT(out[i] == expectedRounds(i));
  EXPECT(cells[0] == 10);

  auto* barrier = managed<cuda::barrier<cuda::thread_scope_device>>(1);
  init(barrier, 4);
  acrossBlocks<<<4, 32>>>(barrier, cells, out);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  for (int i = 0; i < 4; ++i) EXPECT(out[i] == 10 + (i + 1) % 4);

  dropped<<<1, kThreads>>>(out);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  EXPECT(out[0] == 7 && out[31] == 7);

  staged<<<1, kThreads>>>(in, out, 8);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  for (int i = 0; i < kThreads; ++i) {
    int sum = 0;
    for (int t = 0; t < 8; ++t) sum += in[t * kThreads + (i + 1) % kThreads];
    EXPECT(out[i] == sum);
  }

  specialised<<<1, kThreads>>>(in, out, 8);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  for (int i = 32; i < kThreads; ++i) {
    int sum = 0;
    for (int t = 0; t < 8; ++t) sum += in[t * kThreads + i];
    EXPECT(out[i] == sum);
  }

  ownBatches<<<1, 32>>>(reinterpret_cast<const int4*>(in), out);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  for (int i = 0; i < 32; ++i)
    EXPECT(out[i] == in[4 * i] + in[4 * (32 + i) + 1] + in[4 * (64 + i) + 2] + in[4 * (96 + i) + 3]);

  copiedToBarrier<<<1, kThreads>>>(in, out);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  for (int i = 0; i < kThreads; ++i) EXPECT(out[i] == in[kThreads - 1 - i]);

  auto* doors = new (managed<cuda::counting_semaphore<cuda::thread_scope_device>>(1))
      cuda::counting_semaphore<cuda::thread_scope_device>(2);
  auto* all = new (managed<cuda::latch<cuda::thread_scope_device>>(1)) cuda::latch<cuda::thread_scope_device>(8);
  auto* inside = managed<cuda::atomic<int, cuda::thread_scope_device>>(1);
  int* most = managed<int>(1);
  permits<<<8, 32>>>(doors, all, inside, most, out);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  EXPECT(*most >= 1 && *most <= 2);
  for (int i = 0; i < 8; ++i) EXPECT(out[i] == 0);

  onTheHost();
  return finish();
}
