// Barriers and warp operations that some threads leave out, or wait for in other numbers than others, and phases that
// never end; right ones look alike. The first argument names one of the cases; the test (check_test.py) has the
// verdicts. A case that begins with "ok" is right.
#include <cooperative_groups.h>

#include <cuda/barrier>

#include "cases.cuh"

namespace cg = cooperative_groups;

constexpr int kThreads = 64;
constexpr unsigned kAll = 0xffffffff;

__global__ void beforeStore(int* out, int n) {
  __shared__ int words[kThreads];
  words[threadIdx.x] = threadIdx.x;
  if (threadIdx.x < n) __syncthreads();
  out[threadIdx.x] = words[threadIdx.x];
}
__global__ void withValue(int* out, int n) {
  __shared__ int words[kThreads];
  int value = 0;
  if (threadIdx.x < n) {
    words[threadIdx.x] = threadIdx.x;
    __syncthreads();
    value = words[n - 1 - threadIdx.x];
  }
  out[threadIdx.x] += value;
}
// The last turn is not for all.
__global__ void lastTurn(const int* in, int* out, int size) {
  __shared__ int words[kThreads];
  words[threadIdx.x] = 0;
  __syncthreads();
  for (int turn = 0; turn < 4; ++turn) {
    const int at = kThreads * turn + threadIdx.x;
    if (at < size) {
      words[threadIdx.x] += in[at];
      __syncthreads();
    }
  }
  if (threadIdx.x == 0)
    for (int i = 0; i < kThreads; ++i) *out += words[i];
}
__global__ void untilDone(int* out, int step) {
  for (int k = threadIdx.x * step; k < 100; k += 20) {
    out[threadIdx.x] += k;
    __syncthreads();
  }
  out[kThreads + threadIdx.x] = 1;
}
__device__ __noinline__ void meet(int* words) {
  words[threadIdx.x] += 1;
  __syncthreads();
}
__global__ void inFunction(int* out, int from) {
  __shared__ int words[kThreads];
  words[threadIdx.x] = 0;
  if (threadIdx.x >= from) meet(words);
  out[threadIdx.x] = words[threadIdx.x];
}
__global__ void tile(int* out, int n) {
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  if (threadIdx.x < n) warp.sync();
  out[threadIdx.x] = 1;
}
__global__ void voteBefore(int* out, int n) {
  int any = 0;
  if (threadIdx.x % 32 < n) any = __any_sync(kAll, threadIdx.x == 3);
  out[threadIdx.x] += any;
}

// Whoever returns early leaves nothing out.
__global__ void earlyReturn(int* out, int n) {
  __shared__ int words[kThreads];
  if (threadIdx.x >= n) return;
  words[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = words[n - 1 - threadIdx.x];
}
__global__ void storeAndReturn(int* out, int n) {
  __shared__ int words[kThreads];
  if (threadIdx.x >= n) {
    out[threadIdx.x] = 0;
    return;
  }
  words[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = words[n - 1 - threadIdx.x];
}
__global__ void returnInLoop(int* out, int n) {
  __shared__ int words[kThreads];
  for (int turn = 0;; ++turn) {
    if (turn * kThreads + threadIdx.x >= n) return;
    words[threadIdx.x] = turn;
    __syncthreads();
    out[threadIdx.x] = words[0];
    __syncthreads();
  }
}
__global__ void voteOfMembers(int* out, int n) {
  const unsigned members = __ballot_sync(kAll, threadIdx.x % 32 < n);
  int any = 0;
  if (threadIdx.x % 32 < n) any = __any_sync(members, threadIdx.x == 3);
  out[threadIdx.x] += any;
}

// Numbers of threads at barriers.
__global__ void twoCounts(int* out, int count) {
  if (threadIdx.x < 32)
    asm volatile("bar.sync 1, 64;" ::: "memory");
  else
    asm volatile("bar.sync 1, %0;" ::"r"(count) : "memory");
  out[threadIdx.x] = 1;
}
__global__ void arrivesFor(int* out, int count) {
  if (threadIdx.x < 32)
    asm volatile("bar.arrive 2, %0;" ::"r"(count) : "memory");
  else
    asm volatile("bar.sync 2, 64;" ::: "memory");
  out[threadIdx.x] = 1;
}
__global__ void allOrSome(int* out, bool isAll) {
  if (threadIdx.x < 32 || isAll)
    asm volatile("bar.sync 0;" ::: "memory");
  else
    asm volatile("bar.sync 0, 64;" ::: "memory");
  out[threadIdx.x] = 1;
}
__global__ void byWarp(int* out, int step) {
  const int count = 32 * (2 + threadIdx.x / 32 * step);
  asm volatile("barrier.sync 3, %0;" ::"r"(count) : "memory");
  out[threadIdx.x] = 1;
}
__global__ void reduces(int* out, int count) {
  int any;
  asm volatile("{ .reg .pred p, q; setp.eq.u32 p, %1, 3; bar.red.or.pred q, 4, %2, p; selp.s32 %0, 1, 0, q; }"
               : "=r"(any)
               : "r"(threadIdx.x), "r"(threadIdx.x < 32 ? 64 : count)
               : "memory");
  out[threadIdx.x] = any;
}
__global__ void inTurns(int* out, int last) {
  for (int turn = 0; turn < 2; ++turn) {
    const int count = turn && threadIdx.x >= 32 ? last : 64;
    asm volatile("bar.sync 5, %0;" ::"r"(count) : "memory");
    out[threadIdx.x] = turn;
  }
}

// mbarriers: `parties` come, `expected` are waited for.
using Barrier = cuda::barrier<cuda::thread_scope_block>;
__global__ void phases(int* out, int expected, int parties, int turns) {
  __shared__ alignas(8) unsigned char memory[sizeof(Barrier)];
  Barrier* barrier = reinterpret_cast<Barrier*>(memory);
  if (threadIdx.x == 0) init(barrier, expected);
  __syncthreads();
  if (threadIdx.x < parties)
    for (int turn = 0; turn < turns; ++turn) barrier->arrive_and_wait();
  out[threadIdx.x] = 1;
}
// One warp waits at the block's barrier, the other for a phase that it should end.
__global__ void waitsForAnother(int* out, bool arrives) {
  __shared__ alignas(8) unsigned char memory[sizeof(Barrier)];
  Barrier* barrier = reinterpret_cast<Barrier*>(memory);
  if (threadIdx.x == 0) init(barrier, kThreads);
  __syncthreads();
  if (threadIdx.x < 32) {
    barrier->arrive_and_wait();
  } else if (arrives) {
    auto token = barrier->arrive();
    barrier->wait(std::move(token));
  }
  __syncthreads();
  out[threadIdx.x] = 1;
}

template <class F>
void run(F launch) {
  int* out = zeros(4 * kThreads);
  int* in = zeros(4 * kThreads);
  launch(out, in);
  cudaDeviceSynchronize();
  cudaFree(out);
  cudaFree(in);
}

const Case cases[] = {
    {"before_store", [] { run([](int* o, int*) { beforeStore<<<1, kThreads>>>(o, 20); }); }},
    {"before_store_warp", [] { run([](int* o, int*) { beforeStore<<<1, kThreads>>>(o, 32); }); }},
    {"with_value", [] { run([](int* o, int*) { withValue<<<1, kThreads>>>(o, 40); }); }},
    {"last_turn", [] { run([](int* o, int* i) { lastTurn<<<1, kThreads>>>(i, o, 4 * kThreads - 16); }); }},
    {"until_done", [] { run([](int* o, int*) { untilDone<<<1, kThreads>>>(o, 1); }); }},
    {"in_function", [] { run([](int* o, int*) { inFunction<<<1, kThreads>>>(o, 32); }); }},
    {"tile", [] { run([](int* o, int*) { tile<<<1, kThreads>>>(o, 10); }); }},
    {"vote_before", [] { run([](int* o, int*) { voteBefore<<<1, kThreads>>>(o, 24); }); }},
    {"ok_before_store", [] { run([](int* o, int*) { beforeStore<<<1, kThreads>>>(o, kThreads); }); }},
    {"ok_with_value", [] { run([](int* o, int*) { withValue<<<1, kThreads>>>(o, kThreads); }); }},
    {"ok_last_turn", [] { run([](int* o, int* i) { lastTurn<<<1, kThreads>>>(i, o, 3 * kThreads); }); }},
    {"ok_until_done", [] { run([](int* o, int*) { untilDone<<<1, kThreads>>>(o, 0); }); }},
    {"ok_in_function", [] { run([](int* o, int*) { inFunction<<<1, kThreads>>>(o, 0); }); }},
    {"ok_tile", [] { run([](int* o, int*) { tile<<<1, kThreads>>>(o, 32); }); }},
    {"ok_vote_of_members", [] { run([](int* o, int*) { voteOfMembers<<<1, kThreads>>>(o, 24); }); }},
    {"ok_early_return", [] { run([](int* o, int*) { earlyReturn<<<1, kThreads>>>(o, 40); }); }},
    {"ok_store_and_return", [] { run([](int* o, int*) { storeAndReturn<<<1, kThreads>>>(o, 40); }); }},
    {"ok_return_in_loop", [] { run([](int* o, int*) { returnInLoop<<<1, kThreads>>>(o, 150); }); }},
    {"two_counts", [] { run([](int* o, int*) { twoCounts<<<1, 96>>>(o, 96); }); }},
    {"arrives_for", [] { run([](int* o, int*) { arrivesFor<<<1, kThreads>>>(o, 32); }); }},
    {"all_or_some", [] { run([](int* o, int*) { allOrSome<<<1, kThreads>>>(o, false); }); }},
    {"by_warp", [] { run([](int* o, int*) { byWarp<<<1, 96>>>(o, 1); }); }},
    {"reduces", [] { run([](int* o, int*) { reduces<<<1, kThreads>>>(o, 32); }); }},
    {"in_turns", [] { run([](int* o, int*) { inTurns<<<1, kThreads>>>(o, 32); }); }},
    {"ok_two_counts", [] { run([](int* o, int*) { twoCounts<<<1, kThreads>>>(o, 64); }); }},
    {"ok_arrives_for", [] { run([](int* o, int*) { arrivesFor<<<1, kThreads>>>(o, 64); }); }},
    {"ok_all_or_some", [] { run([](int* o, int*) { allOrSome<<<1, kThreads>>>(o, true); }); }},
    {"ok_by_warp", [] { run([](int* o, int*) { byWarp<<<1, kThreads>>>(o, 0); }); }},
    {"ok_reduces", [] { run([](int* o, int*) { reduces<<<1, kThreads>>>(o, 64); }); }},
    {"ok_in_turns", [] { run([](int* o, int*) { inTurns<<<1, kThreads>>>(o, 64); }); }},
    {"phase_one_missing", [] { run([](int* o, int*) { phases<<<1, kThreads>>>(o, kThreads, kThreads - 1, 1); }); }},
    {"phase_half", [] { run([](int* o, int*) { phases<<<1, kThreads>>>(o, kThreads, 32, 1); }); }},
    {"phase_and_barrier", [] { run([](int* o, int*) { waitsForAnother<<<1, kThreads>>>(o, false); }); }},
    {"ok_phase", [] { run([](int* o, int*) { phases<<<1, kThreads>>>(o, kThreads, kThreads, 3); }); }},
    {"ok_phase_half", [] { run([](int* o, int*) { phases<<<1, kThreads>>>(o, 32, 32, 2); }); }},
    {"ok_phase_and_barrier", [] { run([](int* o, int*) { waitsForAnother<<<1, kThreads>>>(o, true); }); }},
};

int main(int argc, char** argv) { return runCase(cases, argc, argv); }
