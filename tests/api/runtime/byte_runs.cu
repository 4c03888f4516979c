// Runs of bytes at addresses that are multiples of nothing: no access may become wider than the bytes are aligned.
#include "expect.hpp"

constexpr int kRun = 19, kThreads = 64;

/// Passes the runs on from thread to thread, `turns` times, through shared memory.
__global__ void rotate(const unsigned char* in, unsigned char* out, int turns) {
  __shared__ unsigned char runs[kThreads * kRun];
  unsigned char run[kRun];
#pragma unroll
  for (int i = 0; i < kRun; ++i) run[i] = in[i * kThreads + threadIdx.x];
  for (int turn = 0; turn < turns; ++turn) {
    const int to = static_cast<int>((threadIdx.x + 1) % kThreads);
#pragma unroll
    for (int i = 0; i < kRun; ++i) runs[to * kRun + i] = run[i];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kRun; ++i) run[i] = runs[threadIdx.x * kRun + i];
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < kRun; ++i) out[i * kThreads + threadIdx.x] = run[i];
}

int main() {
  unsigned char *in, *out;
  EXPECT_OK(cudaMallocManaged(&in, kThreads * kRun));
  EXPECT_OK(cudaMallocManaged(&out, kThreads * kRun));
  for (int i = 0; i < kThreads * kRun; ++i) in[i] = static_cast<unsigned char>(i * 7);
  constexpr int kTurns = 5;
  rotate<<<1, kThreads>>>(in, out, kTurns);
  EXPECT_OK(cudaDeviceSynchronize());
  int wrong = 0;
  for (int i = 0; i < kRun; ++i)
    for (int t = 0; t < kThreads; ++t) wrong += out[i * kThreads + (t + kTurns) % kThreads] != in[i * kThreads + t];
  EXPECT(wrong == 0);
  return finish();
}
