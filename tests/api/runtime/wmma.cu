// mma.h and cuda_pipeline.h: a matrix product by warps, whose tiles come to shared memory by asynchronous copies. The
// numbers are small whole ones, so every sum is exact.
#include <cuda_pipeline.h>
#include <mma.h>

#include "expect.hpp"

using namespace nvcuda;

constexpr int kSize = 64, kTile = 16;

__global__ void multiply(float* c, const half* a, const half* b) {
  __shared__ __align__(16) half tileA[kTile * kTile], tileB[kTile * kTile];
  const int row = blockIdx.y * kTile, column = blockIdx.x * kTile, lane = threadIdx.x;
  wmma::fragment<wmma::matrix_a, kTile, kTile, kTile, half, wmma::row_major> x;
  wmma::fragment<wmma::matrix_b, kTile, kTile, kTile, half, wmma::row_major> y;
  wmma::fragment<wmma::accumulator, kTile, kTile, kTile, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int k = 0; k < kSize; k += kTile) {
    // 32 lanes bring 8 numbers each.
    const int r = lane / 2, s = lane % 2 * 8;
    __pipeline_memcpy_async(&tileA[r * kTile + s], &a[(row + r) * kSize + k + s], 16);
    __pipeline_memcpy_async(&tileB[r * kTile + s], &b[(k + r) * kSize + column + s], 16);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncwarp();
    wmma::load_matrix_sync(x, tileA, kTile);
    wmma::load_matrix_sync(y, tileB, kTile);
    wmma::mma_sync(sum, x, y, sum);
    __syncwarp();
  }
  for (int i = 0; i < sum.num_elements; ++i) sum.x[i] *= 2;
  wmma::store_matrix_sync(c + row * kSize + column, sum, kSize, wmma::mem_row_major);
}

__global__ void integers(int* c, const unsigned char* a, const unsigned char* b) {
  wmma::fragment<wmma::matrix_a, 8, 32, 16, unsigned char, wmma::row_major> x;
  wmma::fragment<wmma::matrix_b, 8, 32, 16, unsigned char, wmma::col_major> y;
  wmma::fragment<wmma::accumulator, 8, 32, 16, int> sum;
  wmma::fill_fragment(sum, 1);
  wmma::load_matrix_sync(x, a, 16);
  wmma::load_matrix_sync(y, b, 16);
  wmma::mma_sync(sum, x, y, sum);
  wmma::store_matrix_sync(c, sum, 8, wmma::mem_col_major);
}

int main() {
  half *a = nullptr, *b = nullptr;
  float* c = nullptr;
  EXPECT_OK(cudaMallocManaged(&a, kSize * kSize * sizeof(half)));
  EXPECT_OK(cudaMallocManaged(&b, kSize * kSize * sizeof(half)));
  EXPECT_OK(cudaMallocManaged(&c, kSize * kSize * sizeof(float)));
  for (int i = 0; i < kSize * kSize; ++i) a[i] = __float2half(float(i % 7 - 3)), b[i] = __float2half(float(i % 5 - 2));
  multiply<<<dim3(kSize / kTile, kSize / kTile), 32>>>(c, a, b);
  EXPECT_OK(cudaDeviceSynchronize());
  int wrong = 0;
  for (int i = 0; i < kSize; ++i)
    for (int j = 0; j < kSize; ++j) {
      float sum = 0;
      for (int k = 0; k < kSize; ++k) sum += __half2float(a[i * kSize + k]) * __half2float(b[k * kSize + j]);
      wrong += c[i * kSize + j] != 2 * sum;
    }
  EXPECT(wrong == 0);

  unsigned char *p = nullptr, *q = nullptr;
  int* r = nullptr;
  EXPECT_OK(cudaMallocManaged(&p, 8 * 16));
  EXPECT_OK(cudaMallocManaged(&q, 16 * 32));
  EXPECT_OK(cudaMallocManaged(&r, 8 * 32 * sizeof(int)));
  for (int i = 0; i < 8 * 16; ++i) p[i] = static_cast<unsigned char>(i * 37);
  for (int i = 0; i < 16 * 32; ++i) q[i] = static_cast<unsigned char>(i * 11);
  integers<<<1, 32>>>(r, p, q);
  EXPECT_OK(cudaDeviceSynchronize());
  wrong = 0;
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 32; ++j) {
      int sum = 1;
      for (int k = 0; k < 16; ++k) sum += p[i * 16 + k] * q[j * 16 + k];
      wrong += r[j * 8 + i] != sum;
    }
  EXPECT(wrong == 0);
  return finish();
}
