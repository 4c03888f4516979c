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
