// Matrix products C = A * B of n x n floats, row major: one thread per column, per row or per element, and tiles in
// shared memory.
#pragma once

/// One thread for each column of C: neighbours read neighbouring elements of B, but only n threads share the work.
__global__ void matmulColumns(const float* a, const float* b, float* c, int n) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= n) return;
  for (int row = 0; row < n; ++row) {
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
  }
}

/// One thread for each row of C (y index): neighbours read A and write C with a stride of a whole row.
__global__ void matmulRows(const float* a, const float* b, float* c, int n) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= n) return;
  for (int column = 0; column < n; ++column) {
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
  }
}

/// One thread for each element of C: 2n loads and 2n operations, so the memory decides.
__global__ void matmulNaive(const float* a, const float* b, float* c, int n) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n || column >= n) return;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}

/// The same, adding into C in global memory at each step, as one listing of the matrix report has it: C must be zero.
__global__ void matmulNaiveInPlace(const float* a, const float* b, float* c, int n) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n || column >= n) return;
  for (int k = 0; k < n; ++k) c[row * n + column] += a[row * n + k] * b[k * n + column];
}

/// By rows again, A given transposed: neighbours now read neighbouring elements of A. C is still written with a stride.
__global__ void matmulRowsTransposed(const float* at, const float* b, float* c, int n) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= n) return;
  for (int column = 0; column < n; ++column) {
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += at[k * n + row] * b[k * n + column];
    c[row * n + column] = sum;
  }
}

/// The copy that it needs.
__global__ void matmulTransposeCopy(const float* a, float* at, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < n && y < n) at[x * n + y] = a[y * n + x];
}

/// What a thread of a tiled product has to do with: the row of A and the column of B are its own for good, the column
/// of A and the row of B move with the step.
template <int Tile>
struct TileRoles {
  int tx = threadIdx.x;
  int ty = threadIdx.y;
  int row = blockIdx.y * Tile + ty;
  int column = blockIdx.x * Tile + tx;
  __device__ int columnOfA(int first) const { return first + tx; }
  __device__ int rowOfB(int first) const { return first + ty; }
};

/// Which of the two barriers of the tiled product are there. Both are needed; the others are specimens of a race.
enum class Barriers { both, onlyFirst, onlySecond };

/// Tile x Tile threads compute a tile of C. Each step loads one tile of A and of B, so every element is read n/Tile
/// times instead of n. The first barrier waits until the tiles are whole, the second until nobody needs them any more.
/// Tiles that stick out of the matrix are filled with zeros.
template <int Tile, Barriers Which = Barriers::both>
__global__ void matmulTiled(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int n) {
  __shared__ float tileA[Tile][Tile];
  __shared__ float tileB[Tile][Tile];
  const TileRoles<Tile> my;
  float sum = 0;
  for (int first = 0; first < n; first += Tile) {
    const int k = my.columnOfA(first);
    const int l = my.rowOfB(first);
    tileA[my.ty][my.tx] = my.row < n && k < n ? a[my.row * n + k] : 0;
    tileB[my.ty][my.tx] = l < n && my.column < n ? b[l * n + my.column] : 0;
    if (Which != Barriers::onlySecond) __syncthreads();
#pragma unroll
    for (int i = 0; i < Tile; ++i) sum += tileA[my.ty][i] * tileB[i][my.tx];
    if (Which != Barriers::onlyFirst) __syncthreads();
  }
  if (my.row < n && my.column < n) c[my.row * n + my.column] = sum;
}

/// The same walk, only counted: how often each element of A and B is loaded and each of C written.
template <int Tile>
__global__ void matmulCountRoles(unsigned* loadsOfA, unsigned* loadsOfB, unsigned* writesOfC, int n) {
  const TileRoles<Tile> my;
  for (int first = 0; first < n; first += Tile) {
    const int k = my.columnOfA(first);
    const int l = my.rowOfB(first);
    if (my.row < n && k < n) atomicAdd(&loadsOfA[my.row * n + k], 1u);
    if (l < n && my.column < n) atomicAdd(&loadsOfB[l * n + my.column], 1u);
  }
  if (my.row < n && my.column < n) atomicAdd(&writesOfC[my.row * n + my.column], 1u);
}

constexpr int kStudyTile = 32;

/// The kernel whose shared memory the matrix report profiled with blocks of 8x8, 16x16 and 32x32 threads. Its counters
/// prove that the tile constant stayed 32 while the block changed: rows of the tiles are 32 words apart, so the 4 (or
/// 2) rows that one warp of a narrower block covers fall into the same banks. Reading tileA then takes 4 (2, 1)
/// wavefronts and tileB one; storing takes 4 (2, 1). With a block smaller than the tile most of the tile is never
/// loaded, so only the 32x32 launch computes a product. n is a multiple of 32.
__global__ void matmulStudy(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int n) {
  __shared__ float tileA[kStudyTile * kStudyTile];
  __shared__ float tileB[kStudyTile * kStudyTile];
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int row = blockIdx.y * blockDim.y + ty;
  const int column = blockIdx.x * blockDim.x + tx;
  float sum = 0;
  for (int first = 0; first < n; first += kStudyTile) {
    tileA[ty * kStudyTile + tx] = a[row * n + first + tx];
    tileB[ty * kStudyTile + tx] = b[(first + ty) * n + column];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kStudyTile; ++k) sum += tileA[ty * kStudyTile + k] * tileB[k * kStudyTile + tx];
    __syncthreads();
  }
  c[row * n + column] = sum;
}
