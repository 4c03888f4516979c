// Shuffles from lanes that do not take part, and mbarriers that are not used as they must be; and others that only look
// so. The first argument names one of the cases; the test (check_test.py) has the verdicts. A case that begins with
// "ok" is right.
#include <cstdint>
#include <cstdio>
#include <cstring>

constexpr unsigned kAll = 0xffffffff;

// ------------------------------------------------------------------------------------------------------------ shuffles

// A sum over a warp; in a block of 16 threads the upper half of it is not there.
__global__ void sum(int* out) {
  int v = threadIdx.x;
  for (int step = 16; step > 0; step /= 2) v += __shfl_down_sync(kAll, v, step);
  if (threadIdx.x == 0) *out = v;
}

// The upper eight lanes take garbage, which nobody uses.
__global__ void sumOfHalf(int* out) {
  if (threadIdx.x >= 16) return;
  int v = threadIdx.x;
  for (int step = 8; step > 0; step /= 2) v += __shfl_down_sync(0xffff, v, step);
  if (threadIdx.x == 0) *out = v;
}

__global__ void broadcast(int* out, int from) {
  if (threadIdx.x < 16) out[threadIdx.x] = __shfl_sync(0xffff, threadIdx.x, from);
}

template <int kWidth>
__global__ void exchange(int* out) {
  if (threadIdx.x < 16) out[threadIdx.x] = __shfl_xor_sync(0xffff, threadIdx.x, 16 % kWidth + 1, kWidth);
}

__global__ void partner(int* out, int distance) {
  if (threadIdx.x < 16) out[threadIdx.x] = __shfl_xor_sync(0xffff, threadIdx.x, distance);
}

template <bool kGuards>
__global__ void fromBelow(int* out) {
  if (threadIdx.x < 16) return;
  const int below = __shfl_up_sync(0xffff0000, threadIdx.x, 1);
  out[threadIdx.x] = !kGuards || threadIdx.x > 16 ? below : 0;
}

// The lane that all ask has ended.
__global__ void ended(int* out, int lane) {
  if (threadIdx.x == lane) return;
  out[threadIdx.x] = __shfl_sync(kAll, threadIdx.x, 5);
}

// What came from nowhere decides.
__global__ void decides(int* out, int from) {
  if (threadIdx.x >= 16) return;
  if (__shfl_sync(0xffff, threadIdx.x, from) > 3) out[threadIdx.x] = 1;
}

// ----------------------------------------------------------------------------------------------------------- mbarriers

__device__ unsigned addressOf(uint64_t* barrier) { return static_cast<unsigned>(__cvta_generic_to_shared(barrier)); }
__device__ void initialise(uint64_t* barrier, unsigned count) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(addressOf(barrier)), "r"(count) : "memory");
}
__device__ void invalidate(uint64_t* barrier) {
  asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(addressOf(barrier)) : "memory");
}
__device__ uint64_t arrive(uint64_t* barrier) {
  uint64_t state;
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(addressOf(barrier)) : "memory");
  return state;
}
__device__ bool isOver(uint64_t* barrier, uint64_t state) {
  unsigned over;
  asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
               : "=r"(over)
               : "r"(addressOf(barrier)), "l"(state)
               : "memory");
  return over;
}
__device__ void wait(uint64_t* barrier, uint64_t state) {
  while (!isOver(barrier, state)) {
  }
}

__global__ void notInitialised(int* out) {
  __shared__ uint64_t barrier;
  if (threadIdx.x == 0) *out = static_cast<int>(arrive(&barrier));
}
__global__ void waitsForNothing(int* out) {
  __shared__ uint64_t barrier;
  if (threadIdx.x == 0) *out = isOver(&barrier, 0);
}
template <bool kInvalidates>
__global__ void twice(int* out) {
  __shared__ uint64_t barrier;
  if (threadIdx.x == 0) {
    initialise(&barrier, 1);
    if (kInvalidates) invalidate(&barrier);
    initialise(&barrier, 1);
    wait(&barrier, arrive(&barrier));
  }
  out[threadIdx.x] = 1;
}
// A second one is initialised for each turn of a loop.
__global__ void eachTurn(int* out) {
  __shared__ uint64_t barrier;
  for (int turn = 0; turn < 2; ++turn) {
    if (threadIdx.x == 0) initialise(&barrier, blockDim.x);
    __syncthreads();
    wait(&barrier, arrive(&barrier));
    __syncthreads();
  }
  out[threadIdx.x] = 1;
}
template <bool kFirst>
__global__ void invalidated(int* out) {
  __shared__ uint64_t barrier;
  if (threadIdx.x == 0) initialise(&barrier, blockDim.x);
  __syncthreads();
  if (kFirst) {
    wait(&barrier, arrive(&barrier));
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    invalidate(&barrier);
    if (!kFirst) arrive(&barrier);
  }
  out[threadIdx.x] = 1;
}
// Of two there is one.
template <int kCount>
__global__ void second(int* out) {
  __shared__ uint64_t barriers[2];
  if (threadIdx.x < kCount) initialise(&barriers[threadIdx.x], blockDim.x);
  __syncthreads();
  wait(&barriers[1], arrive(&barriers[1]));
  out[threadIdx.x] = 1;
}
template <bool kSyncs>
__global__ void early(int* out) {
  __shared__ uint64_t barrier;
  if (threadIdx.x == 0) initialise(&barrier, blockDim.x);
  if (kSyncs) __syncthreads();
  wait(&barrier, arrive(&barrier));
  out[threadIdx.x] = 1;
}
// What is written before an arrival is read behind the wait.
template <bool kWaits>
__global__ void handOver(int* out) {
  __shared__ uint64_t barrier;
  __shared__ int words[64];
  if (threadIdx.x == 0) initialise(&barrier, 64);
  __syncthreads();
  for (int turn = 0; turn < 3; ++turn) {
    words[threadIdx.x] = turn;
    uint64_t state = arrive(&barrier);
    if (kWaits) wait(&barrier, state);
    out[threadIdx.x] = words[63 - threadIdx.x];
    state = arrive(&barrier);
    if (kWaits) wait(&barrier, state);
  }
}
// `arrivals` of 64 threads at one that waits for 64.
__global__ void count(int* out, int arrivals) {
  __shared__ uint64_t barrier;
  if (threadIdx.x == 0) initialise(&barrier, 64);
  __syncthreads();
  if (threadIdx.x < arrivals) wait(&barrier, arrive(&barrier));
  out[threadIdx.x] = 1;
}

int main(int, char** arguments) {
  const char* which = arguments[1];
  const auto is = [&](const char* name) { return std::strcmp(which, name) == 0; };
  int* a = nullptr;
  cudaMalloc(&a, 128 * sizeof(int));
  if (is("short_block"))
    sum<<<1, 16>>>(a);
  else if (is("ok_sum"))
    sum<<<1, 32>>>(a);
  else if (is("ok_half"))
    sumOfHalf<<<1, 32>>>(a);
  else if (is("outside_mask"))
    broadcast<<<1, 32>>>(a, 20);
  else if (is("ok_broadcast"))
    broadcast<<<1, 32>>>(a, 15);
  else if (is("other_half"))
    partner<<<1, 32>>>(a, 16);
  else if (is("ok_partner"))
    partner<<<1, 32>>>(a, 8);
  else if (is("ok_width"))
    exchange<16><<<1, 32>>>(a);
  else if (is("below_the_first"))
    fromBelow<false><<<1, 32>>>(a);
  else if (is("ok_below"))
    fromBelow<true><<<1, 32>>>(a);
  else if (is("ended"))
    ended<<<1, 32>>>(a, 5);
  else if (is("ok_ended"))
    ended<<<1, 32>>>(a, 6);
  else if (is("decides"))
    decides<<<1, 32>>>(a, 31);
  else if (is("ok_decides"))
    decides<<<1, 32>>>(a, 7);
  else if (is("not_initialised"))
    notInitialised<<<1, 32>>>(a);
  else if (is("waits_for_nothing"))
    waitsForNothing<<<1, 32>>>(a);
  else if (is("twice"))
    twice<false><<<1, 32>>>(a);
  else if (is("ok_again"))
    twice<true><<<1, 32>>>(a);
  else if (is("each_turn"))
    eachTurn<<<1, 64>>>(a);
  else if (is("invalidated"))
    invalidated<false><<<1, 64>>>(a);
  else if (is("ok_invalidated"))
    invalidated<true><<<1, 64>>>(a);
  else if (is("only_first"))
    second<1><<<1, 64>>>(a);
  else if (is("ok_both"))
    second<2><<<1, 64>>>(a);
  else if (is("early"))
    early<false><<<1, 64>>>(a);
  else if (is("ok_early"))
    early<true><<<1, 64>>>(a);
  else if (is("no_wait"))
    handOver<false><<<1, 64>>>(a);
  else if (is("ok_hand_over"))
    handOver<true><<<1, 64>>>(a);
  else if (is("ok_count"))
    count<<<1, 64>>>(a, 64);
  else if (is("ok_one_warp"))
    second<2><<<1, 32>>>(a);
  else
    return printf("no case %s\n", which), 2;
  const cudaError_t result = cudaDeviceSynchronize();
  cudaFree(a);
  return result == cudaSuccess ? 0 : 1;
}
