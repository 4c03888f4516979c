// Barriers in shared memory and pipelines as CUDA 11.0 had them: functions, and classes of nvcuda::experimental.
#include <cuda_awbarrier.h>
#include <cuda_pipeline.h>

#include "expect.hpp"

using namespace nvcuda::experimental;

// Half of the block makes numbers, the other half reads them a phase later.
__global__ void handOver(int* out) {
  __shared__ __mbarrier_t ready;
  __shared__ int numbers[32];
  const int i = threadIdx.x;
  if (i == 0) __mbarrier_init(&ready, blockDim.x);
  __syncthreads();
  if (i < 32) numbers[i] = 3 * i;
  const __mbarrier_token_t token = __mbarrier_arrive(&ready);
  while (!__mbarrier_test_wait(&ready, token)) {
  }
  if (i >= 32) out[i - 32] = numbers[i - 32];
}

__global__ void reverse(int* out, const int* in) {
  __shared__ char room[sizeof(awbarrier)];
  __shared__ int tile[64];
  auto* barrier = reinterpret_cast<awbarrier*>(room);
  const int i = threadIdx.x;
  if (i == 0) init(barrier, blockDim.x);
  __syncthreads();
  pipeline copies;
  memcpy_async(tile[i], in[i], copies);
  copies.commit_and_wait();
  barrier->arrive_and_wait();
  out[i] = tile[63 - i];
}

int main() {
  int *in = nullptr, *out = nullptr;
  EXPECT_OK(cudaMallocManaged(&in, 64 * sizeof(int)));
  EXPECT_OK(cudaMallocManaged(&out, 64 * sizeof(int)));
  handOver<<<1, 64>>>(out);
  EXPECT_OK(cudaDeviceSynchronize());
  for (int i = 0; i < 32; ++i) EXPECT(out[i] == 3 * i);
  for (int i = 0; i < 64; ++i) in[i] = i * i;
  reverse<<<1, 64>>>(out, in);
  EXPECT_OK(cudaDeviceSynchronize());
  for (int i = 0; i < 64; ++i) EXPECT(out[i] == (63 - i) * (63 - i));
  return finish();
}
