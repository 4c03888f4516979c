// Kernels that show how a grid is laid on a machine: who runs where, in which order, and how much each thread does.
#pragma once

constexpr unsigned kTile = 16;

/// The number of the multiprocessor that runs this thread now.
__device__ inline unsigned multiprocessor() {
  unsigned number;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(number));
  return number;
}

/// Every thread counts itself, and says where it was at the beginning and at the end.
__global__ void machineVisit(unsigned* visits, unsigned* first, unsigned* last) {
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const unsigned threads = blockDim.x * blockDim.y * blockDim.z;
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const unsigned id = block * threads + thread;
  first[id] = multiprocessor();
  atomicAdd(&visits[id], 1u);
  __syncthreads();
  last[id] = multiprocessor();
}

/// A tile of the product c = a b of n x n numbers for each block. Which tile says `order`: any order must do.
__global__ void machineProduct(const float* a, const float* b, float* c, unsigned n, const unsigned* order) {
  __shared__ float left[kTile][kTile], right[kTile][kTile];
  const unsigned tiles = n / kTile, tile = order[blockIdx.x];
  const unsigned row = tile / tiles * kTile + threadIdx.y, column = tile % tiles * kTile + threadIdx.x;
  float sum = 0;
  for (unsigned k = 0; k < n; k += kTile) {
    left[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
    right[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
    __syncthreads();
    for (unsigned i = 0; i < kTile; ++i) sum += left[threadIdx.y][i] * right[i][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

/// A block takes all of the shared memory that it may have, so that no other fits beside it where there is no more.
__global__ void machineAlone(const int* in, int* out, unsigned each) {
  extern __shared__ int sums[];
  int sum = 0;
  for (unsigned i = threadIdx.x; i < each; i += blockDim.x) sum += in[blockIdx.x * each + i];
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = sums[0];
}

/// What one thread did, counted as it does it.
struct Work {
  unsigned long long operations, accesses;
};

/// A row of the product for each thread.
__global__ void machineRow(const float* a, const float* b, float* c, unsigned n, Work* work) {
  const unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n) return;
  Work own = {0, 0};
  for (unsigned column = 0; column < n; ++column) {
    float sum = 0;
    for (unsigned k = 0; k < n; ++k) {
      sum += a[row * n + k] * b[k * n + column];
      own.operations += 2;
      own.accesses += 2;
    }
    c[row * n + column] = sum;
    ++own.accesses;
  }
  work[row] = own;
}

/// An element of the product for each thread.
__global__ void machineElement(const float* a, const float* b, float* c, unsigned n, Work* work) {
  const unsigned column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= n || column >= n) return;
  Work own = {0, 0};
  float sum = 0;
  for (unsigned k = 0; k < n; ++k) {
    sum += a[row * n + k] * b[k * n + column];
    own.operations += 2;
    own.accesses += 2;
  }
  c[row * n + column] = sum;
  ++own.accesses;
  work[row * n + column] = own;
}

/// x^3 - 2 x + 1, from a table or computed again: two loads and a store, or one of each.
__device__ __host__ inline int polynomial(int x) { return x * x * x - 2 * x + 1; }

__global__ void machineTable(const int* in, const int* table, int* out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = table[in[i]];
}

__global__ void machineCompute(const int* in, int* out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = polynomial(in[i]);
}
