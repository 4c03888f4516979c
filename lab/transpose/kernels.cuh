// Transposes of an n x n matrix of floats, out[j][i] = in[i][j], and the copy that bounds their speed. The interest is
// in the addresses that the 32 lanes of a warp touch at once; all kernels move the same data.
#pragma once

/// The upper bound: reads and writes consecutive addresses.
__global__ void copyElements(const float* in, float* out, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < n && y < n) out[y * n + x] = in[y * n + x];
}

/// One thread for each row (y index): a warp reads 32 rows at once, 4n bytes apart, and writes consecutively.
__global__ void transposeRows(const float* in, float* out, int n) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= n) return;
  for (int column = 0; column < n; ++column) out[column * n + row] = in[row * n + column];
}

/// One thread for each column: a warp reads consecutively and writes 32 rows at once.
__global__ void transposeColumns(const float* in, float* out, int n) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= n) return;
  for (int row = 0; row < n; ++row) out[column * n + row] = in[row * n + column];
}

/// One thread for each element: reads consecutively, writes with a stride of n.
__global__ void transposeElements(const float* in, float* out, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < n && y < n) out[x * n + y] = in[y * n + x];
}

/// Through a tile in shared memory: both global accesses are consecutive, the turn happens in the tile. Reading a
/// column of the tile makes the lanes meet in the same banks: 32-, 8- and 2-way for tiles of 32, 16 and 8. `Padding`
/// shifts each row by one word and so spreads a column over the banks.
template <int Tile, int Padding>
__global__ void transposeTiled(const float* in, float* out, int n) {
  __shared__ float tile[Tile][Tile + Padding];
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int x = blockIdx.x * Tile + tx;
  const int y = blockIdx.y * Tile + ty;
  if (x < n && y < n) tile[ty][tx] = in[y * n + x];
  __syncthreads();

  const int outX = blockIdx.y * Tile + tx;
  const int outY = blockIdx.x * Tile + ty;
  if (outX < n && outY < n) out[outY * n + outX] = tile[tx][ty];
}

/// The same with a tile of Rows x Columns that need not be square: the threads are renumbered in the order of the
/// turned tile (Columns x Rows), so that neighbours still write neighbouring addresses.
template <int Columns, int Rows>
__global__ void transposeRectangle(const float* in, float* out, int n) {
  __shared__ float tile[Rows][Columns + 1];
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int x = blockIdx.x * Columns + tx;
  const int y = blockIdx.y * Rows + ty;
  if (x < n && y < n) tile[ty][tx] = in[y * n + x];
  __syncthreads();

  const int id = ty * Columns + tx;
  const int turnedX = id % Rows;
  const int turnedY = id / Rows;
  const int outX = blockIdx.y * Rows + turnedX;
  const int outY = blockIdx.x * Columns + turnedY;
  if (outX < n && outY < n) out[outY * n + outX] = tile[turnedX][turnedY];
}

/// Without padding: element (y, x) of the tile lies in column x ^ y, so that a column, too, is spread over all banks.
/// (As NVIDIA's CUTLASS lays out its tiles: "CUTLASS: Fast Linear Algebra in CUDA C++", 2017.)
__global__ void transposeSwizzled(const float* in, float* out, int n) {
  constexpr int kTile = 32;
  __shared__ float tile[kTile][kTile];
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int x = blockIdx.x * kTile + tx;
  const int y = blockIdx.y * kTile + ty;
  if (x < n && y < n) tile[ty][tx ^ ty] = in[y * n + x];
  __syncthreads();

  const int outX = blockIdx.y * kTile + tx;
  const int outY = blockIdx.x * kTile + ty;
  if (outX < n && outY < n) out[outY * n + outX] = tile[tx][ty ^ tx];
}

/// Four elements for each of 32x8 threads: four loads on their way at once, and a quarter of the index arithmetic.
/// (After G. Ruetsch and P. Micikevicius, "Optimizing Matrix Transpose in CUDA", NVIDIA 2009.)
__global__ void transposeFourRows(const float* in, float* out, int n) {
  constexpr int kTile = 32;
  constexpr int kRows = 8;
  __shared__ float tile[kTile][kTile + 1];
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int x = blockIdx.x * kTile + tx;
  const int y = blockIdx.y * kTile + ty;
#pragma unroll
  for (int row = 0; row < kTile; row += kRows) {
    if (x < n && y + row < n) tile[ty + row][tx] = in[static_cast<size_t>(y + row) * n + x];
  }
  __syncthreads();

  const int outX = blockIdx.y * kTile + tx;
  const int outY = blockIdx.x * kTile + ty;
#pragma unroll
  for (int row = 0; row < kTile; row += kRows) {
    if (outX < n && outY + row < n) out[static_cast<size_t>(outY + row) * n + outX] = tile[tx][ty + row];
  }
}

constexpr int kWideTile = 64;

/// 16 bytes for each load and store: tiles of 64 x 64 and 16x16 threads, each with four quads. The tile's rows are 65
/// words apart, so the quads of a warp meet in a bank at most two by two. n is a multiple of 4. (For wide
/// accesses see J. Luitjens, "CUDA Pro Tip: Increase Performance with Vectorized Memory Access", NVIDIA 2013.)
__global__ void transposeWide(const float* in, float* out, int n) {
  __shared__ float tile[kWideTile][kWideTile + 1];
  const int tx = 4 * threadIdx.x;
  const int x = blockIdx.x * kWideTile + tx;
#pragma unroll
  for (int ty = threadIdx.y; ty < kWideTile; ty += 16) {
    const int y = blockIdx.y * kWideTile + ty;
    if (x >= n || y >= n) continue;
    const float4 quad = *reinterpret_cast<const float4*>(in + static_cast<size_t>(y) * n + x);
    tile[ty][tx] = quad.x;
    tile[ty][tx + 1] = quad.y;
    tile[ty][tx + 2] = quad.z;
    tile[ty][tx + 3] = quad.w;
  }
  __syncthreads();

  const int outX = blockIdx.y * kWideTile + tx;
#pragma unroll
  for (int ty = threadIdx.y; ty < kWideTile; ty += 16) {
    const int outY = blockIdx.x * kWideTile + ty;
    if (outX >= n || outY >= n) continue;
    *reinterpret_cast<float4*>(out + static_cast<size_t>(outY) * n + outX) =
        make_float4(tile[tx][ty], tile[tx + 1][ty], tile[tx + 2][ty], tile[tx + 3][ty]);
  }
}
