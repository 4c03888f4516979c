// Kernels with races in shared and global memory, and others that only look so. The first argument names one of the
// cases; the test (check_test.py) has the verdicts. A case that begins with "ok" is right.
#include <cuda_pipeline.h>

#include <cstdio>
#include <cstring>

constexpr int kThreads = 128;

// One block after the other gets the same memory from the heap, which is each block's own while it has it.
__global__ void fromHeap(int* out) {
  int* mine = static_cast<int*>(malloc(kThreads * sizeof(int)));
  if (mine == nullptr) return;
  for (int k = 0; k < kThreads; ++k) mine[k] = k + blockIdx.x;
  out[blockIdx.x] = mine[kThreads - 1];
  free(mine);
}

template <bool kSyncs>
__global__ void reverse(int* out) {
  __shared__ int words[kThreads];
  words[threadIdx.x] = threadIdx.x;
  if (kSyncs) __syncthreads();
  out[threadIdx.x] = words[kThreads - 1 - threadIdx.x];
}

// The barrier behind the reads is missing: the next turn writes what others still read.
template <bool kSyncs>
__global__ void turns(int* out) {
  __shared__ int words[kThreads];
  int sum = 0;
  for (int turn = 0; turn < 3; ++turn) {
    words[threadIdx.x] = turn + threadIdx.x;
    __syncthreads();
    sum += words[kThreads - 1 - threadIdx.x];
    if (kSyncs) __syncthreads();
  }
  out[threadIdx.x] = sum;
}

template <bool kSyncs>
__global__ void inWarp(int* out) {
  __shared__ int words[32];
  words[threadIdx.x] = threadIdx.x;
  if (kSyncs) __syncwarp();
  out[threadIdx.x] = words[31 - threadIdx.x];
}

// A sum in a tree whose last steps leave out the barrier.
template <bool kVolatile>
__global__ void tree(int* out) {
  __shared__ int words[kThreads];
  words[threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (threadIdx.x < 32) {
    volatile int* v = words;
    for (int step = 16; step > 0; step /= 2) {
      if (kVolatile) {
        if (threadIdx.x < step) v[threadIdx.x] += v[threadIdx.x + step];
      } else if (threadIdx.x < step) {
        words[threadIdx.x] += words[threadIdx.x + step];
      }
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) *out = words[0];
}

template <bool kAtomic>
__global__ void count(int* out) {
  __shared__ int bins[4];
  if (threadIdx.x < 4) bins[threadIdx.x] = 0;
  __syncthreads();
  if (kAtomic)
    atomicAdd(&bins[threadIdx.x % 4], 1);
  else
    bins[threadIdx.x % 4] += 1;
  __syncthreads();
  if (threadIdx.x < 4) out[threadIdx.x] = bins[threadIdx.x];
}

template <bool kSyncs>
__global__ void initialiseLate(int* out) {
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  if (kSyncs) __syncthreads();
  atomicAdd(&sum, 1);
  __syncthreads();
  if (threadIdx.x == 0) *out = sum;
}

// Bytes of a word that belong to different threads are no race.
__global__ void bytes(char* out) {
  __shared__ char own[kThreads];
  own[threadIdx.x] = char(threadIdx.x);
  own[threadIdx.x] += 1;
  out[threadIdx.x] = own[threadIdx.x];
}

// Two halves of the block that meet at barriers of their own.
template <bool kSame>
__global__ void halves(int* out) {
  __shared__ int words[kThreads];
  const int half = threadIdx.x / 64, base = half * 64;
  words[threadIdx.x] = threadIdx.x;
  asm volatile("bar.sync %0, 64;" ::"r"(half + 1) : "memory");
  const int from = kSame ? base + 63 - threadIdx.x % 64 : kThreads - 1 - threadIdx.x;
  out[threadIdx.x] = words[from];
}

// bar.arrive lets the producer go on; the consumer waits.
template <bool kArrives>
__global__ void produce(int* out) {
  __shared__ int words[64];
  if (threadIdx.x < 64) {
    words[threadIdx.x] = threadIdx.x;
    if (kArrives) asm volatile("bar.arrive 3, 128;" ::: "memory");
  } else {
    if (kArrives) asm volatile("bar.sync 3, 128;" ::: "memory");
    out[threadIdx.x] = words[threadIdx.x - 64];
  }
}

// A message by a flag in shared memory.
template <bool kFences>
__global__ void message(int* out) {
  __shared__ int payload;
  __shared__ volatile int flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    payload = 42;
    if (kFences) __threadfence_block();
    flag = 1;
  } else if (threadIdx.x == 64) {
    while (flag == 0) {
    }
    if (kFences) __threadfence_block();
    *out = payload;
  }
}

template <bool kWaits>
__global__ void copies(int* out, const int* in) {
  __shared__ int words[kThreads];
  __pipeline_memcpy_async(&words[threadIdx.x], &in[threadIdx.x], sizeof(int));
  __pipeline_commit();
  if (kWaits) __pipeline_wait_prior(0);
  out[threadIdx.x] = words[threadIdx.x];
}

// The memory of a block is another block's behind its end, whatever its copies were and who has waited for them.
__global__ void copiesInTurns(int* out, const int* in) {
  __shared__ int words[2][kThreads];
  const int first = blockIdx.x * kThreads;
  for (int turn = 0; turn < 4; ++turn) {
    __pipeline_memcpy_async(&words[turn % 2][threadIdx.x], &in[threadIdx.x], sizeof(int));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[first + threadIdx.x] = words[turn % 2][kThreads - 1 - threadIdx.x];
  }
}
__global__ void copiesOfNoUse(int* out, const int* in) {
  __shared__ int words[kThreads];
  __pipeline_memcpy_async(&words[threadIdx.x], &in[threadIdx.x], sizeof(int));
  __pipeline_commit();
  if (threadIdx.x % 2) return;
  __pipeline_wait_prior(0);
  out[blockIdx.x * kThreads + threadIdx.x] = words[threadIdx.x];
}

__global__ void copyWithoutBarrier(int* out, const int* in) {
  __shared__ int words[kThreads];
  __pipeline_memcpy_async(&words[threadIdx.x], &in[threadIdx.x], sizeof(int));
  __pipeline_commit();
  __pipeline_wait_prior(0);
  out[threadIdx.x] = words[kThreads - 1 - threadIdx.x];
}
__global__ void copyWithBarrier(int* out, const int* in) {
  __shared__ int words[kThreads];
  __pipeline_memcpy_async(&words[threadIdx.x], &in[threadIdx.x], sizeof(int));
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[threadIdx.x] = words[kThreads - 1 - threadIdx.x];
}

__global__ void sameWord(int* out) { out[0] = threadIdx.x + blockIdx.x; }
__global__ void sameFlag(int* out) { out[0] = 1; }
__global__ void neighbours(int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + 1 < int(gridDim.x * blockDim.x)) out[i] = out[i + 1] + 1;
}
__global__ void edges(int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = i;
  __syncthreads();
  if (threadIdx.x == 0 && i > 0) out[i] += out[i - 1];
}
__global__ void total(int* out) { atomicAdd(out, 1); }
__global__ void totalPlain(int* out) {
  if (threadIdx.x == 0) *out += 1;
}
__global__ void apart(int* out, const int* in) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i] + in[0];
}

int main(int argc, char** argv) {
  const char* which = argc > 1 ? argv[1] : "";
  const auto is = [&](const char* name) { return !strcmp(which, name); };
  int *a, *b;
  cudaMalloc(&a, 1024 * sizeof(int));
  cudaMalloc(&b, 1024 * sizeof(int));
  cudaMemset(a, 0, 1024 * sizeof(int));
  cudaMemset(b, 0, 1024 * sizeof(int));
  constexpr int n = kThreads;
  bool isKnown = true;
  if (is("no_barrier"))
    reverse<false><<<1, n>>>(a);
  else if (is("ok_barrier"))
    reverse<true><<<1, n>>>(a);
  else if (is("second_barrier"))
    turns<false><<<1, n>>>(a);
  else if (is("ok_two_barriers"))
    turns<true><<<1, n>>>(a);
  else if (is("no_syncwarp"))
    inWarp<false><<<1, 32>>>(a);
  else if (is("ok_syncwarp"))
    inWarp<true><<<1, 32>>>(a);
  else if (is("tree"))
    tree<false><<<1, n>>>(a);
  else if (is("ok_volatile_tree"))
    tree<true><<<1, n>>>(a);
  else if (is("bins"))
    count<false><<<1, n>>>(a);
  else if (is("ok_bins"))
    count<true><<<1, n>>>(a);
  else if (is("late_zero"))
    initialiseLate<false><<<1, n>>>(a);
  else if (is("ok_late_zero"))
    initialiseLate<true><<<1, n>>>(a);
  else if (is("ok_bytes"))
    bytes<<<1, n>>>(reinterpret_cast<char*>(a));
  else if (is("other_half"))
    halves<false><<<1, n>>>(a);
  else if (is("ok_halves"))
    halves<true><<<1, n>>>(a);
  else if (is("no_arrival"))
    produce<false><<<1, n>>>(a);
  else if (is("ok_arrival"))
    produce<true><<<1, n>>>(a);
  else if (is("message"))
    message<false><<<1, n>>>(a);
  else if (is("ok_message"))
    message<true><<<1, n>>>(a);
  else if (is("copy_no_wait"))
    copies<false><<<1, n>>>(a, b);
  else if (is("ok_copy"))
    copies<true><<<1, n>>>(a, b);
  else if (is("copy_no_barrier"))
    copyWithoutBarrier<<<1, n>>>(a, b);
  else if (is("ok_copy_barrier"))
    copyWithBarrier<<<1, n>>>(a, b);
  else if (is("ok_copies_in_turns"))
    copiesInTurns<<<4, n>>>(a, b);
  else if (is("ok_copies_of_no_use"))
    copiesOfNoUse<<<4, n>>>(a, b);
  else if (is("same_word"))
    sameWord<<<2, 1>>>(a);
  else if (is("same_flag"))
    sameFlag<<<2, n>>>(a);
  else if (is("neighbours"))
    neighbours<<<1, n>>>(a);
  else if (is("edges"))
    edges<<<2, n>>>(a);
  else if (is("total_plain"))
    totalPlain<<<4, n>>>(a);
  else if (is("ok_total"))
    total<<<4, n>>>(a);
  else if (is("ok_apart"))
    apart<<<4, n>>>(a, b);
  else if (is("ok_in_turn")) {
    for (int k = 0; k < 3; ++k) totalPlain<<<1, n>>>(a);
  } else if (is("ok_heap"))
    fromHeap<<<4, 1>>>(a);
  else
    return printf("no case %s\n", which), 2;
  const cudaError_t result = cudaDeviceSynchronize();
  cudaFree(a);
  cudaFree(b);
  return result == cudaSuccess ? 0 : 1;
}
