// Races that are less than errors (equal values, plain loads beside atomics, relaxed tickets) and copies that go on
// while others work; right ones look alike. The first argument names one of the cases; the test (check_test.py) has the
// verdicts. A case that begins with "ok" is right.
#include <cuda_pipeline.h>

#include "cases.cuh"

constexpr int kThreads = 64;

// The same value, by many.
__global__ void flag(const int* in, int* found) {
  if (in[blockIdx.x * blockDim.x + threadIdx.x] == 0) *found = 1;
}
__global__ void flagVolatile(const int* in, volatile int* found) {
  if (in[blockIdx.x * blockDim.x + threadIdx.x] == 0) *found = 1;
}
__global__ void flagAtomic(const int* in, int* found) {
  if (in[blockIdx.x * blockDim.x + threadIdx.x] == 0) atomicExch(found, 1);
}
__global__ void mark(const int* to, bool* seen) { seen[to[blockIdx.x * blockDim.x + threadIdx.x]] = true; }
__global__ void markOwn(bool* seen) { seen[blockIdx.x * blockDim.x + threadIdx.x] = true; }
__global__ void sharedFlag(int* out, bool isFirst) {
  __shared__ int any;
  if (threadIdx.x == 0) any = 0;
  __syncthreads();
  if (!isFirst || threadIdx.x == 0) any = 1;
  __syncthreads();
  out[threadIdx.x] = any;
}
__global__ void leader(float* scale, bool isFirst) {
  const float value = 0.5f;
  if (threadIdx.x % 32 == 0 && (!isFirst || threadIdx.x + blockIdx.x == 0)) *scale = value;
}
__global__ void pairs(double* out, bool isOwn) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[isOwn ? i : i / 2] = 1.0;
}
__global__ void zeroHalo(int* out, bool isOwn) {
  if (threadIdx.x < 2) out[isOwn ? blockIdx.x * 2 + threadIdx.x : threadIdx.x] = 0;
}

// A look at what others change by atomic operations.
__global__ void greatest(const int* in, int* most) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (in[i] >= *most) atomicMax(most, in[i]);
}
__global__ void greatestVolatile(const int* in, int* most) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (in[i] >= *static_cast<volatile int*>(most)) atomicMax(most, in[i]);
}
__global__ void countAndLook(int* count, int* out) {
  atomicAdd(count, 1);
  if (threadIdx.x == 0) out[blockIdx.x] = *count;
}
__global__ void countAndTake(int* count, int* out) {
  const int mine = atomicAdd(count, 1);
  if (threadIdx.x == 0) out[blockIdx.x] = mine;
}
__global__ void lookInShared(int* out, bool waits) {
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  atomicAdd(&count, 1);
  if (waits) __syncthreads();
  if (threadIdx.x == 40) *out = count;
}
__global__ void stopAtLimit(int* count, int limit) {
  if (*count < limit) atomicAdd(count, 1);
}
__global__ void stopAtLimitOnce(int* count, int limit) {
  if (atomicAdd(count, 0) < limit) atomicAdd(count, 1);
}
__global__ void lockLook(int* lock, int* out) {
  if (threadIdx.x) return;
  if (*lock == 0) atomicCAS(lock, 0, 1);
  out[blockIdx.x] = 1;
}
__global__ void lockTry(int* lock, int* out) {
  if (threadIdx.x) return;
  out[blockIdx.x] = atomicCAS(lock, 0, 1) == 0;
}
__global__ void binsLook(int* bins, int* out) {
  const int bin = threadIdx.x % 4;
  atomicAdd(&bins[bin], 1);
  out[blockIdx.x * blockDim.x + threadIdx.x] = bins[(bin + 1) % 4];
}
__global__ void binsOnly(int* bins) { atomicAdd(&bins[threadIdx.x % 4], 1); }

// The last block adds up; `fences` behind the ticket.
template <int kKind, bool kFences>
__global__ void last(int* parts, unsigned* tickets) {
  if (threadIdx.x != 0) return;
  parts[blockIdx.x] = blockIdx.x + 1;
  __threadfence();
  unsigned ticket = 0;
  if (kKind == 0) ticket = atomicAdd(tickets, 1u);
  if (kKind == 1) ticket = atomicInc(tickets, 1000u);
  if (kKind == 2) ticket = __popc(atomicOr(tickets, 1u << blockIdx.x));
  if (kKind == 3) ticket = 3u - (atomicSub(tickets + 1, 1u) - 1u);
  if (kKind == 4) ticket = atomicAdd(reinterpret_cast<unsigned long long*>(tickets + 2), 1ull);
  if (kKind == 5) ticket = atomicAdd_system(tickets, 1u);
  if (ticket != gridDim.x - 1) return;
  if (kFences) __threadfence();
  int sum = 0;
  for (unsigned i = 0; i < gridDim.x; ++i) sum += parts[i];
  parts[gridDim.x] = sum;
}

// Copies that go on.
template <bool kWaits, bool kMeets>
__global__ void stage(const int4* in, int* out) {
  __shared__ int4 rows[kThreads];
  __pipeline_memcpy_async(&rows[threadIdx.x], &in[threadIdx.x], sizeof(int4));
  __pipeline_commit();
  if (kWaits) __pipeline_wait_prior(0);
  if (kMeets) __syncthreads();
  out[threadIdx.x] = rows[kMeets ? kThreads - 1 - threadIdx.x : threadIdx.x].x;
}
template <int kPrior>
__global__ void twoGroups(const int* in, int* out) {
  __shared__ int first[kThreads], second[kThreads];
  __pipeline_memcpy_async(&first[threadIdx.x], &in[threadIdx.x], sizeof(int));
  __pipeline_commit();
  __pipeline_memcpy_async(&second[threadIdx.x], &in[threadIdx.x], sizeof(int));
  __pipeline_commit();
  __pipeline_wait_prior(kPrior);
  out[threadIdx.x] = first[threadIdx.x] + (kPrior == 2 ? 0 : second[threadIdx.x]);
  __pipeline_wait_prior(0);
}
__global__ void firstGroup(const int* in, int* out) {
  __shared__ int first[kThreads], second[kThreads];
  __pipeline_memcpy_async(&first[threadIdx.x], &in[threadIdx.x], sizeof(int));
  __pipeline_commit();
  __pipeline_memcpy_async(&second[threadIdx.x], &in[threadIdx.x], sizeof(int));
  __pipeline_commit();
  __pipeline_wait_prior(1);
  out[threadIdx.x] = first[threadIdx.x];
  __pipeline_wait_prior(0);
}
template <bool kWaits>
__global__ void overwritten(const int* in, int* out) {
  __shared__ int words[kThreads];
  __pipeline_memcpy_async(&words[threadIdx.x], &in[threadIdx.x], sizeof(int));
  __pipeline_commit();
  if (kWaits) __pipeline_wait_prior(0);
  words[threadIdx.x] = 3;
  if (!kWaits) __pipeline_wait_prior(0);
  out[threadIdx.x] = words[threadIdx.x];
}
template <bool kCommits>
__global__ void uncommitted(const int* in, int* out) {
  __shared__ int words[kThreads];
  __pipeline_memcpy_async(&words[threadIdx.x], &in[threadIdx.x], sizeof(int));
  if (kCommits) __pipeline_commit();
  __pipeline_wait_prior(0);
  out[threadIdx.x] = words[threadIdx.x];
  __pipeline_commit();
  __pipeline_wait_prior(0);
}
// The source is written before the copy has arrived.
template <bool kWaits>
__global__ void sourceChanged(int* in, int* out) {
  __shared__ int words[kThreads];
  __pipeline_memcpy_async(&words[threadIdx.x], &in[threadIdx.x], sizeof(int));
  __pipeline_commit();
  if (kWaits) __pipeline_wait_prior(0);
  in[threadIdx.x] = 7;
  if (!kWaits) __pipeline_wait_prior(0);
  out[threadIdx.x] = words[threadIdx.x];
}

template <class F>
void run(F launch) {
  int* a = zeros(1024);
  int* b = zeros(1024);
  launch(a, b);
  cudaDeviceSynchronize();
  cudaFree(a);
  cudaFree(b);
}
template <int kKind, bool kFences>
void runLast() {
  run([](int* a, int* b) {
    const unsigned four = 4;
    cudaMemcpy(b + 1, &four, sizeof four, cudaMemcpyHostToDevice);
    last<kKind, kFences><<<4, 32>>>(a, reinterpret_cast<unsigned*>(b));
  });
}

const Case cases[] = {
    {"flag", [] { run([](int* a, int* b) { flag<<<2, kThreads>>>(a, b); }); }},
    {"mark", [] { run([](int* a, int* b) { mark<<<2, kThreads>>>(a, reinterpret_cast<bool*>(b)); }); }},
    {"shared_flag", [] { run([](int* a, int*) { sharedFlag<<<1, kThreads>>>(a, false); }); }},
    {"leader", [] { run([](int* a, int*) { leader<<<2, kThreads>>>(reinterpret_cast<float*>(a), false); }); }},
    {"pairs", [] { run([](int* a, int*) { pairs<<<2, kThreads>>>(reinterpret_cast<double*>(a), false); }); }},
    {"zero_halo", [] { run([](int* a, int*) { zeroHalo<<<3, kThreads>>>(a, false); }); }},
    {"ok_flag_volatile", [] { run([](int* a, int* b) { flagVolatile<<<2, kThreads>>>(a, b); }); }},
    {"ok_flag_atomic", [] { run([](int* a, int* b) { flagAtomic<<<2, kThreads>>>(a, b); }); }},
    {"ok_mark", [] { run([](int*, int* b) { markOwn<<<2, kThreads>>>(reinterpret_cast<bool*>(b)); }); }},
    {"ok_shared_flag", [] { run([](int* a, int*) { sharedFlag<<<1, kThreads>>>(a, true); }); }},
    {"ok_leader", [] { run([](int* a, int*) { leader<<<2, kThreads>>>(reinterpret_cast<float*>(a), true); }); }},
    {"ok_pairs", [] { run([](int* a, int*) { pairs<<<2, kThreads>>>(reinterpret_cast<double*>(a), true); }); }},
    {"ok_zero_halo", [] { run([](int* a, int*) { zeroHalo<<<3, kThreads>>>(a, true); }); }},
    {"greatest", [] { run([](int* a, int* b) { greatest<<<2, kThreads>>>(a, b); }); }},
    {"count_and_look", [] { run([](int* a, int* b) { countAndLook<<<2, kThreads>>>(a, b); }); }},
    {"look_in_shared", [] { run([](int* a, int*) { lookInShared<<<1, kThreads>>>(a, false); }); }},
    {"stop_at_limit", [] { run([](int* a, int*) { stopAtLimit<<<2, kThreads>>>(a, 1000); }); }},
    {"lock_look", [] { run([](int* a, int* b) { lockLook<<<2, kThreads>>>(a, b); }); }},
    {"bins_look", [] { run([](int* a, int* b) { binsLook<<<2, kThreads>>>(a, b); }); }},
    {"ok_greatest", [] { run([](int* a, int* b) { greatestVolatile<<<2, kThreads>>>(a, b); }); }},
    {"ok_count_and_take", [] { run([](int* a, int* b) { countAndTake<<<2, kThreads>>>(a, b); }); }},
    {"ok_look_in_shared", [] { run([](int* a, int*) { lookInShared<<<1, kThreads>>>(a, true); }); }},
    {"ok_stop_at_limit", [] { run([](int* a, int*) { stopAtLimitOnce<<<2, kThreads>>>(a, 1000); }); }},
    {"ok_lock_try", [] { run([](int* a, int* b) { lockTry<<<2, kThreads>>>(a, b); }); }},
    {"ok_bins", [] { run([](int* a, int*) { binsOnly<<<2, kThreads>>>(a); }); }},
    {"last_add", runLast<0, false>},
    {"last_inc", runLast<1, false>},
    {"last_or", runLast<2, false>},
    {"last_sub", runLast<3, false>},
    {"last_wide", runLast<4, false>},
    {"last_system", runLast<5, false>},
    {"ok_last_add", runLast<0, true>},
    {"ok_last_inc", runLast<1, true>},
    {"ok_last_or", runLast<2, true>},
    {"ok_last_sub", runLast<3, true>},
    {"ok_last_wide", runLast<4, true>},
    {"ok_last_system", runLast<5, true>},
    {"stage_no_wait",
     [] { run([](int* a, int* b) { stage<false, false><<<1, kThreads>>>(reinterpret_cast<int4*>(a), b); }); }},
    {"stage_no_barrier",
     [] { run([](int* a, int* b) { stage<false, true><<<1, kThreads>>>(reinterpret_cast<int4*>(a), b); }); }},
    {"two_groups_early", [] { run([](int* a, int* b) { twoGroups<1><<<1, kThreads>>>(a, b); }); }},
    {"two_groups_none", [] { run([](int* a, int* b) { twoGroups<2><<<1, kThreads>>>(a, b); }); }},
    {"overwritten", [] { run([](int* a, int* b) { overwritten<false><<<1, kThreads>>>(a, b); }); }},
    {"source_changed", [] { run([](int* a, int* b) { sourceChanged<false><<<1, kThreads>>>(a, b); }); }},
    {"ok_stage",
     [] { run([](int* a, int* b) { stage<true, false><<<1, kThreads>>>(reinterpret_cast<int4*>(a), b); }); }},
    {"ok_stage_barrier",
     [] { run([](int* a, int* b) { stage<true, true><<<1, kThreads>>>(reinterpret_cast<int4*>(a), b); }); }},
    {"ok_two_groups", [] { run([](int* a, int* b) { twoGroups<0><<<1, kThreads>>>(a, b); }); }},
    {"ok_first_group", [] { run([](int* a, int* b) { firstGroup<<<1, kThreads>>>(a, b); }); }},
    {"ok_overwritten", [] { run([](int* a, int* b) { overwritten<true><<<1, kThreads>>>(a, b); }); }},
    {"ok_uncommitted", [] { run([](int* a, int* b) { uncommitted<true><<<1, kThreads>>>(a, b); }); }},
    {"ok_source_changed", [] { run([](int* a, int* b) { sourceChanged<true><<<1, kThreads>>>(a, b); }); }},
};

int main(int argc, char** argv) { return runCase(cases, argc, argv); }
