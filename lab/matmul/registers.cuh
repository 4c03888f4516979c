// The best known matrix product without tensor cores: a block computes a tile of 128 x 128, each thread Rows x 8 of it
// in registers, so that one value from shared memory serves 8 or 16 products instead of one. With more than one stage
// the next tiles of A and B are on their way (cp.async, which needs no registers) while this one is used.
//
// After V. Volkov and J. Demmel, "Benchmarking GPUs to tune dense linear algebra", SC 2008 (registers before shared
// memory), and the structure of NVIDIA's CUTLASS ("CUTLASS: Fast Linear Algebra in CUDA C++", 2017): block, warp and
// thread tiles.
//
// The lanes of a warp are a grid; a lane in grid row g has the rows g, g + height, g + 2 height ..., one in grid column
// h four columns of each half of the warp's tile. Rows of A's tile are Depth + 4 floats apart, so that the rows that a
// warp reads at once (16 bytes each) lie in different banks. A 16-byte load serves 16 lanes in a pass instead of 8 if
// each lane reads what a lane one or two further reads (measured on an H200); so bit 0 of the lane counts for the
// column only, and bit 1 for the row only.
#pragma once

#include <cuda_pipeline_primitives.h>

constexpr int kRegisterSide = 128;

/// How the tile is shared out. 8 rows for each thread: 8 warps, each 64 x 32, lanes 8 x 4. 16 rows: 4 warps, each
/// 64 x 64, lanes 4 x 8; twice the registers and three quarters of the loads from shared memory.
template <int Rows>
struct RegisterGrid {
  static constexpr int kThreads = kRegisterSide * kRegisterSide / (8 * Rows);
  static constexpr int kWarpColumns = Rows == 8 ? 4 : 2;  // warps side by side
  static constexpr int kWarpWidth = kRegisterSide / kWarpColumns;
  static constexpr int kHeight = 64 / Rows;  // of the grid of lanes

  __device__ static int row(int lane) { return (lane >> 1 & 1) + (Rows == 8 ? lane >> 3 : lane >> 4) * 2; }
  __device__ static int column(int lane) { return (lane & 1) + (Rows == 8 ? lane >> 2 & 1 : lane >> 2 & 3) * 2; }
};

/// Shared memory of a stage, in floats.
template <int Depth>
struct RegisterStage {
  static constexpr int kStrideA = Depth + 4;
  static constexpr int kFloatsA = kRegisterSide * kStrideA;
  static constexpr int kFloats = kFloatsA + Depth * kRegisterSide;
};

template <int Depth, int Stages>
constexpr int kRegisterBytes = Stages * RegisterStage<Depth>::kFloats * 4;

/// Begins to copy tile `first` ... `first + Depth - 1` (columns of A, rows of B) to a stage, 16 bytes at a time. What
/// sticks out of the matrices becomes zero. n is a multiple of 4, so that 16 bytes are wholly inside or outside.
template <int Depth, int Threads>
__device__ __forceinline__ void beginStage(float* stage, const float* a, const float* b, int first, int n) {
  constexpr int kQuadsOfRow = Depth / 4;
  const int row0 = blockIdx.y * kRegisterSide;
  const int column0 = blockIdx.x * kRegisterSide;
#pragma unroll
  for (int i = 0; i < kRegisterSide * kQuadsOfRow / Threads; ++i) {
    const int quad = i * Threads + threadIdx.x;
    const int row = quad / kQuadsOfRow;
    const int k = quad % kQuadsOfRow * 4;
    const bool inside = row0 + row < n && first + k < n;
    const float* from = inside ? a + static_cast<size_t>(row0 + row) * n + first + k : a;
    __pipeline_memcpy_async(stage + row * RegisterStage<Depth>::kStrideA + k, from, 16, inside ? 0 : 16);
  }
  constexpr int kQuadsOfLine = kRegisterSide / 4;
#pragma unroll
  for (int i = 0; i < Depth * kQuadsOfLine / Threads; ++i) {
    const int quad = i * Threads + threadIdx.x;
    const int k = quad / kQuadsOfLine;
    const int column = quad % kQuadsOfLine * 4;
    const bool inside = first + k < n && column0 + column < n;
    const float* from = inside ? b + static_cast<size_t>(first + k) * n + column0 + column : b;
    __pipeline_memcpy_async(stage + RegisterStage<Depth>::kFloatsA + k * kRegisterSide + column, from, 16,
                            inside ? 0 : 16);
  }
}

__device__ __forceinline__ float4 quadAt(const float* shared) { return *reinterpret_cast<const float4*>(shared); }

__device__ __forceinline__ void multiplyAdd(float (&sums)[8], float a, const float4& low, const float4& high) {
  sums[0] += a * low.x;
  sums[1] += a * low.y;
  sums[2] += a * low.z;
  sums[3] += a * low.w;
  sums[4] += a * high.x;
  sums[5] += a * high.y;
  sums[6] += a * high.z;
  sums[7] += a * high.w;
}

/// Adds the products of one stage, four values of k at a time: 8 + Rows loads of 16 bytes for 32 Rows multiply-adds.
template <int Depth, int Rows>
__device__ __forceinline__ void multiplyStage(float (&sums)[Rows][8], const float* stage, int row, int column) {
  const float* tileA = stage + row * RegisterStage<Depth>::kStrideA;
  const float* tileB = stage + RegisterStage<Depth>::kFloatsA + column;
  constexpr int kHalf = RegisterGrid<Rows>::kWarpWidth / 2;
#pragma unroll
  for (int k = 0; k < Depth; k += 4) {
    float4 low[4];
    float4 high[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      low[i] = quadAt(tileB + (k + i) * kRegisterSide);
      high[i] = quadAt(tileB + (k + i) * kRegisterSide + kHalf);
    }
#pragma unroll
    for (int r = 0; r < Rows; ++r) {
      const float4 a = quadAt(tileA + RegisterGrid<Rows>::kHeight * r * RegisterStage<Depth>::kStrideA + k);
      multiplyAdd(sums[r], a.x, low[0], high[0]);
      multiplyAdd(sums[r], a.y, low[1], high[1]);
      multiplyAdd(sums[r], a.z, low[2], high[2]);
      multiplyAdd(sums[r], a.w, low[3], high[3]);
    }
  }
}

/// n is a multiple of 4. kRegisterBytes<Depth, Stages> of dynamic shared memory, RegisterGrid<Rows>::kThreads threads.
/// Stages = 1 copies and computes in turn.
template <int Depth, int Stages, int Rows>
__global__ void __launch_bounds__(RegisterGrid<Rows>::kThreads, 2)
    matmulRegisters(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int n) {
  using Grid = RegisterGrid<Rows>;
  extern __shared__ float4 stageMemory[];
  float* stages = reinterpret_cast<float*>(stageMemory);
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  const int row = warp / Grid::kWarpColumns * 64 + Grid::row(lane);
  const int column = warp % Grid::kWarpColumns * Grid::kWarpWidth + Grid::column(lane) * 4;
  const int steps = (n + Depth - 1) / Depth;
  auto begin = [&](int step, int stage) {
    if (step >= steps) return;
    beginStage<Depth, Grid::kThreads>(stages + stage * RegisterStage<Depth>::kFloats, a, b, step * Depth, n);
  };
  for (int step = 0; step < Stages - 1; ++step) {
    begin(step, step);
    __pipeline_commit();  // also an empty batch, so that the count of batches stays the count of steps
  }

  float sums[Rows][8] = {};
  int stage = 0;             // the one to use now
  int filling = Stages - 1;  // the one that was used last, and may be overwritten
  for (int step = 0; step < steps; ++step) {
    if constexpr (Stages == 1) {
      __syncthreads();  // nobody uses the only stage any more
      begin(step, 0);
      __pipeline_commit();
      __pipeline_wait_prior(0);
      __syncthreads();
    } else {
      __pipeline_wait_prior(Stages - 2);
      __syncthreads();  // this step's tiles are whole, and all are done with the step before
      begin(step + Stages - 1, filling);
      __pipeline_commit();
    }
    multiplyStage<Depth, Rows>(sums, stages + stage * RegisterStage<Depth>::kFloats, row, column);
    filling = stage;
    stage = stage + 1 == Stages ? 0 : stage + 1;
  }

  const int outRow = blockIdx.y * kRegisterSide + row;
  const int outColumn = blockIdx.x * kRegisterSide + column;
#pragma unroll
  for (int r = 0; r < Rows; ++r) {
    if (outRow + Grid::kHeight * r >= n) break;
    float* line = c + static_cast<size_t>(outRow + Grid::kHeight * r) * n + outColumn;
    if (outColumn < n) *reinterpret_cast<float4*>(line) = make_float4(sums[r][0], sums[r][1], sums[r][2], sums[r][3]);
    if (outColumn + Grid::kWarpWidth / 2 < n) {
      *reinterpret_cast<float4*>(line + Grid::kWarpWidth / 2) =
          make_float4(sums[r][4], sums[r][5], sums[r][6], sums[r][7]);
    }
  }
}
