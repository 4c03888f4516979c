// What a block costs beside its instructions: saxpy of 131,072 numbers, which stay in the caches, in blocks of
// 32 to 1,024 threads. `ORDITO_ENGINE=jit ORDITO_THREADS=1 ordito run blocks [numbers]`.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

__global__ void saxpy(int n, float a, const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 1 << 17;
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  cudaMemset(x, 0, n * sizeof(float));
  cudaMemset(y, 0, n * sizeof(float));
  for (int block = 32; block <= 1024; block *= 2) {
    const int blocks = (n + block - 1) / block;
    double least = 1e30;
    for (int round = 0; round < 100; ++round) {
      const auto begin = std::chrono::steady_clock::now();
      saxpy<<<blocks, block>>>(n, 2.0f, x, y);
      cudaDeviceSynchronize();
      const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
      least = std::min(least, took.count());
    }
    std::printf("blocks of %4d threads: %9.2f us, %7.2f ns for each block\n", block, least / 1000, least / blocks);
  }
}
