// cuFFT as programs use it: a shift by two transforms, with kernels before, between and after, in the stream's
// order.
#include <cufft.h>

#include <vector>

#include "expect.hpp"

constexpr int kSize = 48, kHalf = kSize / 2 + 1;

__global__ void fill(float* cells) { cells[threadIdx.x] = threadIdx.x == 2 ? 1.0f : 0.0f; }

/// The transform, turned: the sequence moved by one place.
__global__ void shift(cufftComplex* cells) {
  const float angle = -2 * 3.14159265f * threadIdx.x / kSize;
  const cufftComplex turn = {cosf(angle), sinf(angle)};
  cells[threadIdx.x] = cuCmulf(cells[threadIdx.x], turn);
}

__global__ void scale(float* cells) { cells[threadIdx.x] /= kSize; }

int main() {
  cufftReal* cells = nullptr;
  cufftComplex* spectrum = nullptr;
  EXPECT_OK(cudaMalloc(&cells, kSize * sizeof(float)));
  EXPECT_OK(cudaMalloc(&spectrum, kHalf * sizeof(cufftComplex)));
  cudaStream_t stream = nullptr;
  EXPECT_OK(cudaStreamCreate(&stream));
  cufftHandle forward = 0, back = 0;
  EXPECT(cufftPlan1d(&forward, kSize, CUFFT_R2C, 1) == CUFFT_SUCCESS);
  EXPECT(cufftPlan1d(&back, kSize, CUFFT_C2R, 1) == CUFFT_SUCCESS);
  EXPECT(cufftSetStream(forward, stream) == CUFFT_SUCCESS);
  EXPECT(cufftSetStream(back, stream) == CUFFT_SUCCESS);
  fill<<<1, kSize, 0, stream>>>(cells);
  EXPECT(cufftExecR2C(forward, cells, spectrum) == CUFFT_SUCCESS);
  shift<<<1, kHalf, 0, stream>>>(spectrum);
  EXPECT(cufftExecC2R(back, spectrum, cells) == CUFFT_SUCCESS);
  scale<<<1, kSize, 0, stream>>>(cells);
  std::vector<float> result(kSize);
  EXPECT_OK(cudaMemcpyAsync(result.data(), cells, kSize * sizeof(float), cudaMemcpyDeviceToHost, stream));
  EXPECT_OK(cudaStreamSynchronize(stream));
  for (int i = 0; i < kSize; ++i) EXPECT(fabsf(result[i] - (i == 3 ? 1.0f : 0.0f)) < 1e-5f);
  EXPECT(cufftDestroy(forward) == CUFFT_SUCCESS && cufftDestroy(back) == CUFFT_SUCCESS);
  int version = 0;
  EXPECT(cufftGetVersion(&version) == CUFFT_SUCCESS && version >= 11000);
  return finish();
}
