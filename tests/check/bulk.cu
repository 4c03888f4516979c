// Bulk copies (cp.async.bulk): who may use what they read and write, and when. The first argument names one of the
// cases; one that begins with "ok" is right.
#include "cases.cuh"

constexpr int kN = 64;
constexpr unsigned kBytes = kN * sizeof(int);

using Barrier = unsigned long long;

__device__ unsigned shared(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

__device__ void init(Barrier* b) { asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared(b)) : "memory"); }
/// The one arrival that a phase waits for, and the bytes that come with it.
__device__ void expect(Barrier* b, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared(b)), "r"(bytes) : "memory");
}
__device__ void wait(Barrier* b, unsigned parity) {
  unsigned isOver = 0;
  while (!isOver)
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(isOver)
                 : "r"(shared(b)), "r"(parity)
                 : "memory");
}
__device__ void load(int* to, const int* from, unsigned bytes, Barrier* b) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared(to)),
      "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(shared(b))
      : "memory");
}
__device__ void move(int* to, const int* from, unsigned bytes, Barrier* b) {
  asm volatile(
      "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared(to)),
      "r"(shared(from)), "r"(bytes), "r"(shared(b))
      : "memory");
}
__device__ void store(int* to, const int* from, unsigned bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(__cvta_generic_to_global(to)),
               "r"(shared(from)), "r"(bytes)
               : "memory");
}
__device__ void commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
template <int open>
__device__ void waitForGroups() {
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(open) : "memory");
}
template <int open>
__device__ void waitForReads() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(open) : "memory");
}
__device__ void fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

__device__ void fenceOfGlobal() { asm volatile("fence.proxy.async.global;" ::: "memory"); }
__device__ void fenceOfAll() { asm volatile("fence.proxy.async;" ::: "memory"); }

enum class Waits { Nobody, One, OneAndBarrier, All };

__global__ void loads(int* out, const int* in, Waits who) {
  __shared__ alignas(16) int tile[kN];
  __shared__ Barrier barrier;
  if (threadIdx.x == 0) init(&barrier);
  __syncthreads();
  if (threadIdx.x == 0) expect(&barrier, kBytes), load(tile, in, kBytes, &barrier);
  __syncthreads();
  if (who == Waits::All) wait(&barrier, 0);
  if ((who == Waits::One || who == Waits::OneAndBarrier) && threadIdx.x == 0) wait(&barrier, 0);
  if (who == Waits::OneAndBarrier) __syncthreads();
  out[threadIdx.x] = tile[kN - 1 - threadIdx.x];
}

/// A copy for each of two barriers, in that order; all wait for one of them, or for both, and use one copy.
__global__ void twoBarriers(int* out, const int* in, int used, bool waitsForFirst, bool waitsForSecond) {
  __shared__ alignas(16) int tile[2 * kN];
  __shared__ Barrier barriers[2];
  if (threadIdx.x == 0) init(&barriers[0]), init(&barriers[1]);
  __syncthreads();
  if (threadIdx.x == 0)
    for (int k = 0; k < 2; ++k) expect(&barriers[k], kBytes), load(tile + k * kN, in, kBytes, &barriers[k]);
  if (waitsForFirst) wait(&barriers[0], 0);
  if (waitsForSecond) wait(&barriers[1], 0);
  out[threadIdx.x] = tile[used * kN + threadIdx.x];
}

/// The second copy comes while others may still read what the first has brought.
__global__ void nextTile(int* out, const int* in, bool meets) {
  __shared__ alignas(16) int tile[kN];
  __shared__ Barrier barriers[2];
  if (threadIdx.x == 0) init(&barriers[0]), init(&barriers[1]);
  __syncthreads();
  int sum = 0;
  for (int k = 0; k < 2; ++k) {
    if (threadIdx.x == 0) expect(&barriers[k], kBytes), load(tile, in, kBytes, &barriers[k]);
    wait(&barriers[k], 0);
    sum += tile[threadIdx.x];
    if (meets) __syncthreads();
  }
  out[threadIdx.x] = sum;
}

/// Two copies to one place at once.
__global__ void samePlace(int* out, const int* in) {
  __shared__ alignas(16) int tile[kN];
  __shared__ Barrier barrier;
  if (threadIdx.x == 0) init(&barrier);
  __syncthreads();
  if (threadIdx.x == 0) {
    expect(&barrier, 2 * kBytes);
    load(tile, in, kBytes, &barrier);
    load(tile, in + kN, kBytes, &barrier);
  }
  wait(&barrier, 0);
  out[threadIdx.x] = tile[threadIdx.x];
}

enum class Store { NoBarrier, NoWait, Read, ReadOnly, All, OpenGroup, Groups };

/// A tile is made, stored by the copy engine, and then used again, or what was stored is read.
__global__ void stores(int* out, int* again, Store how) {
  __shared__ alignas(16) int tile[2 * kN];
  tile[threadIdx.x] = threadIdx.x;
  tile[kN + threadIdx.x] = 1;
  fence();
  if (how != Store::NoBarrier) __syncthreads();
  if (threadIdx.x == 0) {
    store(out, tile, kBytes);
    commit();
    if (how == Store::OpenGroup || how == Store::Groups) {
      store(out + kN, tile + kN, kBytes);
      commit();
    }
    if (how == Store::Read || how == Store::ReadOnly) waitForReads<0>();
    if (how == Store::All || how == Store::NoBarrier || how == Store::Groups) waitForGroups<0>();
    if (how == Store::OpenGroup) waitForGroups<1>();
  }
  __syncthreads();
  if (how == Store::ReadOnly || how == Store::All) again[threadIdx.x] = out[threadIdx.x];
  if (how == Store::NoWait || how == Store::Read) tile[threadIdx.x] = 0;
  if (how == Store::OpenGroup || how == Store::Groups) tile[kN + threadIdx.x] = 0;
}

__global__ void withinShared(int* out, bool waits, bool fences = true) {
  __shared__ alignas(16) int from[kN], to[kN];
  __shared__ Barrier barrier;
  from[threadIdx.x] = threadIdx.x;
  if (fences) fence();
  if (threadIdx.x == 0) init(&barrier);
  __syncthreads();
  if (threadIdx.x == 0) expect(&barrier, kBytes), move(to, from, kBytes, &barrier);
  if (waits) wait(&barrier, 0);
  __syncthreads();
  out[threadIdx.x] = to[threadIdx.x];
}

enum class Fence { None, Writers, Issuer, All, One, Early, Global, Thread };

/// Copies see what the threads have written only behind a fence of proxies.
__global__ void fences(int* out, Fence how) {
  __shared__ alignas(16) int tile[kN];
  if (how == Fence::Early) fence();
  tile[threadIdx.x] = threadIdx.x;
  if (how == Fence::Writers || (how == Fence::One && threadIdx.x == 0)) fence();
  if (how == Fence::Global) fenceOfGlobal();
  if (how == Fence::Thread) __threadfence();
  __syncthreads();
  if (threadIdx.x != 0) return;
  if (how == Fence::Issuer) fence();
  if (how == Fence::All) fenceOfAll();
  store(out, tile, kBytes), commit();
  waitForGroups<0>();
}
__global__ void counts(int* out, bool fences) {
  __shared__ alignas(16) int bins[kN];
  bins[threadIdx.x] = 0;
  fence();
  __syncthreads();
  atomicAdd(&bins[threadIdx.x / 8], 1);
  if (fences) fence();
  __syncthreads();
  if (threadIdx.x == 0) store(out, bins, kBytes), commit(), waitForGroups<0>();
}
/// The same tile twice.
__global__ void rounds(int* out, bool isLastFenced) {
  __shared__ alignas(16) int tile[kN];
  for (int k = 0; k < 2; ++k) {
    tile[threadIdx.x] = k;
    if (k == 0 || isLastFenced) fence();
    __syncthreads();
    if (threadIdx.x == 0) store(out + k * kN, tile, kBytes), commit(), waitForGroups<0>();
    __syncthreads();
  }
}
/// What a copy has brought is taken away by one; beside it threads write an array of their own.
__global__ void through(int* out, const int* in) {
  __shared__ alignas(16) int tile[kN], own[kN];
  __shared__ Barrier barrier;
  if (threadIdx.x == 0) init(&barrier);
  own[threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (threadIdx.x == 0) expect(&barrier, kBytes), load(tile, in, kBytes, &barrier);
  wait(&barrier, 0);
  if (threadIdx.x == 0) store(out, tile, kBytes), commit(), waitForGroups<0>();
  out[kN + threadIdx.x] = own[kN - 1 - threadIdx.x];
}
__global__ void ofWarp(int* out, bool fences) {
  __shared__ alignas(16) int tile[32];
  tile[threadIdx.x] = threadIdx.x;
  if (fences) fence();
  __syncwarp();
  if (threadIdx.x == 0) store(out, tile, sizeof(tile)), commit(), waitForGroups<0>();
}

__device__ void copyWord(int* to, const int* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared(to)), "l"(__cvta_generic_to_global(from))
               : "memory");
}

enum class Words { NoFence, EarlyFence, Fence };

/// Words that cp.async has brought are taken away by a bulk copy: the fence belongs behind the wait.
__global__ void ofWords(int* out, const int* in, Words how) {
  __shared__ alignas(16) int tile[kN];
  if (how == Words::EarlyFence) fence();
  copyWord(&tile[threadIdx.x], &in[threadIdx.x]);
  asm volatile("cp.async.wait_all;" ::: "memory");
  if (how == Words::Fence) fence();
  __syncthreads();
  if (threadIdx.x == 0) store(out, tile, kBytes), commit(), waitForGroups<0>();
}

/// A bulk copy reads what the block has just written to global memory, or what lies beside it.
__global__ void ofGlobal(int* out, int* made, Fence how, int beside = 0) {
  __shared__ alignas(16) int tile[kN];
  __shared__ Barrier barrier;
  made[beside + threadIdx.x] = threadIdx.x;
  if (how == Fence::Writers) fenceOfGlobal();
  if (how == Fence::One && threadIdx.x == 0) fenceOfGlobal();
  if (how == Fence::Thread) __threadfence();
  if (how == Fence::None) fence();  // of shared memory
  if (threadIdx.x == 0) init(&barrier);
  __syncthreads();
  if (how == Fence::All && threadIdx.x == 0) fenceOfAll();
  if (threadIdx.x == 0) expect(&barrier, kBytes), load(tile, made, kBytes, &barrier);
  wait(&barrier, 0);
  out[threadIdx.x] = tile[kN - 1 - threadIdx.x];
}

template <class Launch>
void with(Launch launch) {
  int *in = zeros(2 * kN), *out = zeros(2 * kN);
  launch(in, out);
  cudaDeviceSynchronize();
  cudaFree(in), cudaFree(out);
}

const Case kCases[] = {
    {"no_wait", [] { with([](int* in, int* out) { loads<<<1, kN>>>(out, in, Waits::Nobody); }); }},
    {"one_waits", [] { with([](int* in, int* out) { loads<<<1, kN>>>(out, in, Waits::One); }); }},
    {"ok_one_waits", [] { with([](int* in, int* out) { loads<<<1, kN>>>(out, in, Waits::OneAndBarrier); }); }},
    {"ok_wait", [] { with([](int* in, int* out) { loads<<<1, kN>>>(out, in, Waits::All); }); }},
    {"wrong_barrier", [] { with([](int* in, int* out) { twoBarriers<<<1, kN>>>(out, in, 1, true, false); }); }},
    {"later_barrier", [] { with([](int* in, int* out) { twoBarriers<<<1, kN>>>(out, in, 0, false, true); }); }},
    {"ok_later_copy", [] { with([](int* in, int* out) { twoBarriers<<<1, kN>>>(out, in, 1, false, true); }); }},
    {"ok_two_barriers", [] { with([](int* in, int* out) { twoBarriers<<<1, kN>>>(out, in, 1, true, true); }); }},
    {"into_use", [] { with([](int* in, int* out) { nextTile<<<1, kN>>>(out, in, false); }); }},
    {"ok_in_turn", [] { with([](int* in, int* out) { nextTile<<<1, kN>>>(out, in, true); }); }},
    {"twice", [] { with([](int* in, int* out) { samePlace<<<1, kN>>>(out, in); }); }},
    {"early_source", [] { with([](int* in, int* out) { stores<<<1, kN>>>(out, in, Store::NoBarrier); }); }},
    {"store_no_wait", [] { with([](int* in, int* out) { stores<<<1, kN>>>(out, in, Store::NoWait); }); }},
    {"ok_read", [] { with([](int* in, int* out) { stores<<<1, kN>>>(out, in, Store::Read); }); }},
    {"read_only", [] { with([](int* in, int* out) { stores<<<1, kN>>>(out, in, Store::ReadOnly); }); }},
    {"ok_store", [] { with([](int* in, int* out) { stores<<<1, kN>>>(out, in, Store::All); }); }},
    {"open_group", [] { with([](int* in, int* out) { stores<<<1, kN>>>(out, in, Store::OpenGroup); }); }},
    {"ok_groups", [] { with([](int* in, int* out) { stores<<<1, kN>>>(out, in, Store::Groups); }); }},
    {"shared_no_wait", [] { with([](int*, int* out) { withinShared<<<1, kN>>>(out, false); }); }},
    {"ok_shared", [] { with([](int*, int* out) { withinShared<<<1, kN>>>(out, true); }); }},
    {"no_fence", [] { with([](int*, int* out) { fences<<<1, kN>>>(out, Fence::None); }); }},
    {"ok_writers", [] { with([](int*, int* out) { fences<<<1, kN>>>(out, Fence::Writers); }); }},
    {"ok_issuer", [] { with([](int*, int* out) { fences<<<1, kN>>>(out, Fence::Issuer); }); }},
    {"ok_all", [] { with([](int*, int* out) { fences<<<1, kN>>>(out, Fence::All); }); }},
    {"one_fences", [] { with([](int*, int* out) { fences<<<1, kN>>>(out, Fence::One); }); }},
    {"early_fence", [] { with([](int*, int* out) { fences<<<1, kN>>>(out, Fence::Early); }); }},
    {"global_fence", [] { with([](int*, int* out) { fences<<<1, kN>>>(out, Fence::Global); }); }},
    {"thread_fence", [] { with([](int*, int* out) { fences<<<1, kN>>>(out, Fence::Thread); }); }},
    {"counted", [] { with([](int*, int* out) { counts<<<1, kN>>>(out, false); }); }},
    {"ok_counted", [] { with([](int*, int* out) { counts<<<1, kN>>>(out, true); }); }},
    {"second_round", [] { with([](int*, int* out) { rounds<<<1, kN>>>(out, false); }); }},
    {"ok_rounds", [] { with([](int*, int* out) { rounds<<<1, kN>>>(out, true); }); }},
    {"ok_through", [] { with([](int* in, int* out) { through<<<1, kN>>>(out, in); }); }},
    {"warp_no_fence", [] { with([](int*, int* out) { ofWarp<<<1, 32>>>(out, false); }); }},
    {"ok_warp", [] { with([](int*, int* out) { ofWarp<<<1, 32>>>(out, true); }); }},
    {"words_no_fence", [] { with([](int* in, int* out) { ofWords<<<1, kN>>>(out, in, Words::NoFence); }); }},
    {"words_early_fence", [] { with([](int* in, int* out) { ofWords<<<1, kN>>>(out, in, Words::EarlyFence); }); }},
    {"ok_words", [] { with([](int* in, int* out) { ofWords<<<1, kN>>>(out, in, Words::Fence); }); }},
    {"global_shared_fence", [] { with([](int* in, int* out) { ofGlobal<<<1, kN>>>(out, in, Fence::None); }); }},
    {"global_thread_fence", [] { with([](int* in, int* out) { ofGlobal<<<1, kN>>>(out, in, Fence::Thread); }); }},
    {"global_one_fences", [] { with([](int* in, int* out) { ofGlobal<<<1, kN>>>(out, in, Fence::One); }); }},
    {"ok_global_writers", [] { with([](int* in, int* out) { ofGlobal<<<1, kN>>>(out, in, Fence::Writers); }); }},
    {"ok_global_issuer", [] { with([](int* in, int* out) { ofGlobal<<<1, kN>>>(out, in, Fence::All); }); }},
    {"ok_global_beside", [] { with([](int* in, int* out) { ofGlobal<<<1, kN>>>(out, in, Fence::Thread, kN); }); }},
    {"shared_no_fence", [] { with([](int*, int* out) { withinShared<<<1, kN>>>(out, true, false); }); }},
};

int main(int argc, char** argv) { return runCase(kCases, argc, argv); }
