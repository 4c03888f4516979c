// A convolution as a matrix product whose left matrix is never built, on tensor cores: a 3x3 filter over images of
// 32 channels, in f16 with sums in f32. The nine places of the filter and the steps over the channels are unrolled, and
// a warp holds 64x64 results: about a thousand mma instructions in one straight piece of code.
#include <cuda_fp16.h>

#include <cstdlib>
#include <vector>

#include "first_result.cuh"

constexpr int kSize = 32, kChannels = 32, kFilters = 128, kImages = 1;
constexpr int kTileRows = 128, kTileColumns = 128, kWarps = 4;
constexpr int kRows = kImages * kSize * kSize;

__device__ void multiply(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/// Two neighbouring channels of a pixel, zero outside of the image.
__device__ unsigned pixel(const __half* in, int row, int r, int s, int c) {
  const int x = row % kSize + s - 1, y = row / kSize % kSize + r - 1, n = row / (kSize * kSize);
  if (x < 0 || x >= kSize || y < 0 || y >= kSize) return 0;
  return *reinterpret_cast<const unsigned*>(&in[((n * kSize + y) * kSize + x) * kChannels + c]);
}

// in[image][y][x][channel], filter[filter][r][s][channel], out[image][y][x][filter]
__global__ void __launch_bounds__(kWarps * 32) convolve(const __half* in, const __half* filter, float* out) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int row0 = blockIdx.x * kTileRows + warp / 2 * 64, column0 = blockIdx.y * kTileColumns + warp % 2 * 64;
  float sums[4][8][4] = {};
#pragma unroll
  for (int r = 0; r < 3; ++r)
#pragma unroll
    for (int s = 0; s < 3; ++s)
#pragma unroll
      for (int c = 0; c < kChannels; c += 16) {
        unsigned a[4][4], b[8][2];
#pragma unroll
        for (int i = 0; i < 4; ++i)
#pragma unroll
          for (int k = 0; k < 4; ++k)
            a[i][k] = pixel(in, row0 + i * 16 + lane / 4 + k % 2 * 8, r, s, c + lane % 4 * 2 + k / 2 * 8);
#pragma unroll
        for (int j = 0; j < 8; ++j)
#pragma unroll
          for (int k = 0; k < 2; ++k)
            b[j][k] = *reinterpret_cast<const unsigned*>(
                &filter[((column0 + j * 8 + lane / 4) * 9 + r * 3 + s) * kChannels + c + lane % 4 * 2 + k * 8]);
#pragma unroll
        for (int i = 0; i < 4; ++i)
#pragma unroll
          for (int j = 0; j < 8; ++j) multiply(sums[i][j], a[i], b[j]);
      }
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int j = 0; j < 8; ++j)
#pragma unroll
      for (int k = 0; k < 4; ++k)
        out[(row0 + i * 16 + lane / 4 + k / 2 * 8) * kFilters + column0 + j * 8 + lane % 4 * 2 + k % 2] = sums[i][j][k];
}

int main() {
  sinceStart();
  std::vector<__half> in(kRows * kChannels), filter(kFilters * 9 * kChannels);
  for (size_t k = 0; k < in.size(); ++k) in[k] = __float2half(float(k * 7 % 13) - 6);
  for (size_t k = 0; k < filter.size(); ++k) filter[k] = __float2half(float(k * 5 % 11) - 5);
  __half *deviceIn, *deviceFilter;
  float* deviceOut;
  cudaMalloc(&deviceIn, in.size() * 2);
  cudaMalloc(&deviceFilter, filter.size() * 2);
  cudaMalloc(&deviceOut, kRows * kFilters * 4);
  cudaMemcpy(deviceIn, in.data(), in.size() * 2, cudaMemcpyHostToDevice);
  cudaMemcpy(deviceFilter, filter.data(), filter.size() * 2, cudaMemcpyHostToDevice);
  convolve<<<dim3(kRows / kTileRows, kFilters / kTileColumns), kWarps * 32>>>(deviceIn, deviceFilter, deviceOut);
  if (!launched()) return 1;
  std::vector<float> out(kRows * kFilters);
  cudaMemcpy(out.data(), deviceOut, out.size() * 4, cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int row = 0; row < kRows; row += 37)
    for (int f = 0; f < kFilters; f += 11) {
      float sum = 0;  // whole numbers below 2^24: exact in any order
      for (int r = 0; r < 3; ++r)
        for (int s = 0; s < 3; ++s)
          for (int c = 0; c < kChannels; ++c) {
            const int x = row % kSize + s - 1, y = row / kSize % kSize + r - 1;
            if (x < 0 || x >= kSize || y < 0 || y >= kSize) continue;
            sum += __half2float(in[(y * kSize + x) * kChannels + c]) *
                   __half2float(filter[(f * 9 + r * 3 + s) * kChannels + c]);
          }
      wrong += sum != out[row * kFilters + f];
    }
  std::printf("%s\n", wrong ? "FAILED" : "PASSED");
  return wrong != 0;
}
