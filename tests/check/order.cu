// Blocks that hand data to each other through global memory, by fences, flags, locks and the barrier of the grid: what
// orders them, and what only looks so. The first argument names one of the cases; the test (check_test.py) has the
// verdicts. A case that begins with "ok" is right.
#include <cooperative_groups.h>

#include <cstdio>
#include <cstring>

enum class Fence { None, Block, Device };

template <Fence F>
__device__ void fence() {
  if (F == Fence::Block) __threadfence_block();
  if (F == Fence::Device) __threadfence();
}

// Block 0 leaves a number and says so; block 1 waits for that.
template <Fence Before, Fence Behind>
__global__ void message(int* data, volatile int* flag) {
  if (blockIdx.x == 0) {
    data[0] = 42;
    fence<Before>();
    *flag = 1;
  } else {
    while (*flag == 0) {
    }
    fence<Behind>();
    data[1] = data[0];
  }
}

// The payload is written behind the fence.
__global__ void late(int* data, volatile int* flag) {
  if (blockIdx.x == 0) {
    __threadfence();
    data[0] = 42;
    *flag = 1;
  } else {
    while (*flag == 0) {
    }
    __threadfence();
    data[1] = data[0];
  }
}

// The flag is a plain variable: the compiler may do anything, and so may the memory.
__global__ void plainFlag(int* data, int* flag) {
  if (blockIdx.x == 0) {
    data[0] = 42;
    __threadfence();
    *flag = 1;
  } else if (*flag) {
    __threadfence();
    data[1] = data[0];
  }
}

template <bool kDevice>
__device__ int acquire(int* flag) {
  int seen;
  if (kDevice)
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
  else
    asm volatile("ld.acquire.cta.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
  return seen;
}

template <bool kDevice>
__device__ void release(int* flag) {
  if (kDevice)
    asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(flag) : "memory");
  else
    asm volatile("st.release.cta.global.u32 [%0], 1;" ::"l"(flag) : "memory");
}

// All threads of one block fill the data, one of them says so, and all of the other block read.
template <bool kReleasesToDevice, bool kAcquiresFromDevice, bool kBarriers>
__global__ void handOver(int* data, int* flag) {
  if (blockIdx.x == 0) {
    data[threadIdx.x] = threadIdx.x;
    if (kBarriers) __syncthreads();
    if (threadIdx.x == 0) release<kReleasesToDevice>(flag);
  } else {
    if (threadIdx.x == 0)
      while (acquire<kAcquiresFromDevice>(flag) == 0) {
      }
    __syncthreads();
    data[256 + threadIdx.x] = data[blockDim.x - 1 - threadIdx.x];
  }
}

template <Fence F, bool kUnlocks>
__global__ void locked(int* sum, int* lock) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  fence<F>();
  *sum += 1;
  fence<F>();
  if (kUnlocks)
    atomicExch(lock, 0);
  else
    *lock = 0;
}

// The last block that is done adds up what all have left.
template <bool kFences, bool kAcquires>
__global__ void lastBlock(int* parts, unsigned* done) {
  if (threadIdx.x != 0) return;
  parts[blockIdx.x] = blockIdx.x;
  if (kFences) __threadfence();
  if (atomicAdd(done, 1u) != gridDim.x - 1) return;
  if (kAcquires) __threadfence();
  int sum = 0;
  for (unsigned i = 0; i < gridDim.x; ++i) sum += parts[i];
  parts[gridDim.x] = sum;
}

// It resets the counter, too. A ticket behind a fence is part of what it makes known.
template <bool kBarrier, bool kAcquires>
__global__ void resets(int* parts, unsigned* done) {
  parts[blockIdx.x * blockDim.x + threadIdx.x] = 1;
  __threadfence();
  if (kBarrier) __syncthreads();
  if (threadIdx.x != 0 || atomicInc(done, gridDim.x) != gridDim.x - 1) return;
  if (kAcquires) __threadfence();
  *done = 0;
}

// What is counted behind the message is no part of it.
template <bool kLate>
__global__ void countsLate(int* count, volatile int* flag) {
  if (blockIdx.x == 0) {
    if (!kLate) atomicAdd(count, 1);
    __threadfence();
    *flag = 1;
    if (kLate) atomicAdd(count, 1);
  } else {
    while (*flag == 0) {
    }
    __threadfence();
    *count = 0;
  }
}

template <bool kDevice>
__global__ void total(int* sum) {
  if (kDevice)
    atomicAdd(sum, 1);
  else
    atomicAdd_block(sum, 1);
}

// Of each block its own counter.
__global__ void totalOfBlock(int* sums) { atomicAdd_block(&sums[blockIdx.x], 1); }

template <bool kSyncs>
__global__ void steps(int* data) {
  const unsigned n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  data[i] = i;
  if (kSyncs)
    cooperative_groups::this_grid().sync();
  else
    __threadfence();
  data[n + i] = data[n - 1 - i];
}

// Neighbours pass a sum along the blocks.
template <bool kFences>
__global__ void chain(int* sums, volatile int* flags) {
  if (threadIdx.x != 0) return;
  int before = 0;
  if (blockIdx.x > 0) {
    while (flags[blockIdx.x - 1] == 0) {
    }
    if (kFences) __threadfence();
    before = sums[blockIdx.x - 1];
  }
  sums[blockIdx.x] = before + 1;
  if (kFences) __threadfence();
  flags[blockIdx.x] = 1;
}

__global__ void gridSync(int* data) {
  data[threadIdx.x] = 1;
  cooperative_groups::this_grid().sync();
}

// A block that leaves before the barrier of the grid.
__global__ void oneLeaves(int* data) {
  if (blockIdx.x == 1) return;
  cooperative_groups::this_grid().sync();
  data[blockIdx.x] = 1;
}

template <class Kernel>
void cooperative(Kernel kernel, int* data) {
  void* arguments[] = {&data};
  cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel), 4, 64, arguments);
}

int main(int, char** arguments) {
  const char* which = arguments[1];
  const auto is = [&](const char* name) { return std::strcmp(which, name) == 0; };
  int *a = nullptr, *flag = nullptr;
  cudaMalloc(&a, 1024 * sizeof(int));
  cudaMalloc(&flag, 64 * sizeof(int));
  cudaMemset(a, 0, 1024 * sizeof(int));
  cudaMemset(flag, 0, 64 * sizeof(int));
  const auto counter = reinterpret_cast<unsigned*>(flag);
  const int n = 64;
  if (is("message_no_fence"))
    message<Fence::None, Fence::None><<<2, 1>>>(a, flag);
  else if (is("message_first_fence"))
    message<Fence::Device, Fence::None><<<2, 1>>>(a, flag);
  else if (is("message_second_fence"))
    message<Fence::None, Fence::Device><<<2, 1>>>(a, flag);
  else if (is("message_block_fence"))
    message<Fence::Block, Fence::Device><<<2, 1>>>(a, flag);
  else if (is("message_block_fence_behind"))
    message<Fence::Device, Fence::Block><<<2, 1>>>(a, flag);
  else if (is("ok_message"))
    message<Fence::Device, Fence::Device><<<2, 1>>>(a, flag);
  else if (is("late_payload"))
    late<<<2, 1>>>(a, flag);
  else if (is("plain_flag"))
    plainFlag<<<2, 1>>>(a, flag);
  else if (is("release_to_block"))
    handOver<false, true, true><<<2, n>>>(a, flag);
  else if (is("acquire_from_block"))
    handOver<true, false, true><<<2, n>>>(a, flag);
  else if (is("release_of_one"))
    handOver<true, true, false><<<2, n>>>(a, flag);
  else if (is("ok_hand_over"))
    handOver<true, true, true><<<2, n>>>(a, flag);
  else if (is("lock_no_fence"))
    locked<Fence::None, true><<<8, n>>>(a, flag);
  else if (is("lock_block_fence"))
    locked<Fence::Block, true><<<8, n>>>(a, flag);
  else if (is("lock_plain_unlock"))
    locked<Fence::Device, false><<<8, n>>>(a, flag);
  else if (is("ok_lock"))
    locked<Fence::Device, true><<<8, n>>>(a, flag);
  else if (is("last_no_fence"))
    lastBlock<false, true><<<8, n>>>(a, counter);
  else if (is("last_hoped"))
    lastBlock<true, false><<<8, n>>>(a, counter);
  else if (is("ok_last"))
    lastBlock<true, true><<<8, n>>>(a, counter);
  else if (is("reset_hoped"))
    resets<false, false><<<8, n>>>(a, counter);
  else if (is("ok_reset"))
    resets<false, true><<<8, n>>>(a, counter);
  else if (is("ok_reset_barrier"))
    resets<true, true><<<8, n>>>(a, counter);
  else if (is("counts_late"))
    countsLate<true><<<2, 1>>>(a, flag);
  else if (is("ok_counts"))
    countsLate<false><<<2, 1>>>(a, flag);
  else if (is("total_of_blocks"))
    total<false><<<4, n>>>(a);
  else if (is("ok_total"))
    total<true><<<4, n>>>(a);
  else if (is("ok_total_of_block"))
    totalOfBlock<<<4, n>>>(a);
  else if (is("no_grid_sync"))
    steps<false><<<4, n>>>(a);
  else if (is("ok_grid_sync"))
    cooperative(steps<true>, a);
  else if (is("chain_no_fence"))
    chain<false><<<6, n>>>(a, flag);
  else if (is("ok_chain"))
    chain<true><<<6, n>>>(a, flag);
  else if (is("not_cooperative"))
    gridSync<<<4, n>>>(a);
  else if (is("not_by_all"))
    cooperative(oneLeaves, a);
  else
    return printf("no case %s\n", which), 2;
  const cudaError_t result = cudaDeviceSynchronize();
  cudaFree(a);
  cudaFree(flag);
  return result == cudaSuccess ? 0 : 1;
}
