// What ordito check costs (docs/check.md): the processor's time for four kernels of the courses, which the program
// takes itself, so that it can be run alone and under the checker, in either engine. Each kernel has run once before,
// so that no time is that of the compiler.
#include <cstdio>
#include <ctime>
#include <initializer_list>

constexpr int kSide = 512, kElements = kSide * kSide, kTile = 16, kThreads = 256;

__global__ void saxpy(int n, float a, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

__global__ void reduce(const float* in, float* out) {
  __shared__ float part[kThreads];
  part[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
  for (int stride = kThreads / 2; stride > 0; stride /= 2) {
    __syncthreads();
    if (threadIdx.x < stride) part[threadIdx.x] += part[threadIdx.x + stride];
  }
  if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}

__global__ void transpose(const float* in, float* out) {
  __shared__ float tile[kTile][kTile + 1];
  tile[threadIdx.y][threadIdx.x] = in[(blockIdx.y * kTile + threadIdx.y) * kSide + blockIdx.x * kTile + threadIdx.x];
  __syncthreads();
  out[(blockIdx.x * kTile + threadIdx.y) * kSide + blockIdx.y * kTile + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

__global__ void multiply(const float* a, const float* b, float* c, int n) {
  __shared__ float x[kTile][kTile], y[kTile][kTile];
  const int row = blockIdx.y * kTile + threadIdx.y, column = blockIdx.x * kTile + threadIdx.x;
  float sum = 0;
  for (int first = 0; first < n; first += kTile) {
    x[threadIdx.y][threadIdx.x] = a[row * n + first + threadIdx.x];
    y[threadIdx.y][threadIdx.x] = b[(first + threadIdx.y) * n + column];
    __syncthreads();
    for (int k = 0; k < kTile; ++k) sum += x[threadIdx.y][k] * y[k][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

template <class Launch>
void measure(const char* name, Launch launch) {
  launch();
  cudaDeviceSynchronize();
  double best = 1e30;
  for (int round = 0; round < 3; ++round) {
    const std::clock_t start = std::clock();
    launch();
    cudaDeviceSynchronize();
    const double ms = 1e3 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    if (ms < best) best = ms;
  }
  std::printf("%-10s %10.3f ms\n", name, best);
}

int main() {
  float *a = nullptr, *b = nullptr, *c = nullptr;
  for (float** p : {&a, &b, &c}) {
    if (cudaMalloc(p, kElements * sizeof(float)) != cudaSuccess) return 1;
    cudaMemset(*p, 0, kElements * sizeof(float));
  }
  const dim3 tile(kTile, kTile), tiles(kSide / kTile, kSide / kTile), few(128 / kTile, 128 / kTile);
  measure("saxpy", [&] { saxpy<<<kElements / kThreads, kThreads>>>(kElements, 2, a, b); });
  measure("reduce", [&] { reduce<<<kElements / kThreads, kThreads>>>(a, b); });
  measure("transpose", [&] { transpose<<<tiles, tile>>>(a, b); });
  measure("multiply", [&] { multiply<<<few, tile>>>(a, b, c, 128); });
  return cudaGetLastError() != cudaSuccess;
}
