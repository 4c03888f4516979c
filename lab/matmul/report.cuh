// `matmul --trace`: the worked example of nine rows, the bound that memory sets to the naive and the tiled product, and
// the tile size for this GPU.
#pragma once

#include <cstdio>

#include "../common/bandwidth.hpp"
#include "kernels.cuh"

namespace report {

using lab::attainable;

__global__ void matmulRecordIndices(int* rows, int* columns, int n) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int thread =
      (blockIdx.y * gridDim.x + blockIdx.x) * (blockDim.x * blockDim.y) + threadIdx.y * blockDim.x + threadIdx.x;
  rows[thread] = row < n ? row : -1;
  columns[thread] = column < n ? column : -1;
}

/// Nine rows, 3x3 blocks of 3x3 threads: who computes which element, as the threads themselves say. Linear order of the
/// threads is x + y * Dx within the block.
inline bool showNine() {
  constexpr int kThreads = 81;
  lab::DeviceArray<int> rows(kThreads), columns(kThreads);
  matmulRecordIndices<<<dim3(3, 3), dim3(3, 3)>>>(rows.get(), columns.get(), 9);
  lab::launched("matmulRecordIndices");
  std::vector<int> row(kThreads), column(kThreads);
  rows.download(row.data(), kThreads);
  columns.download(column.data(), kThreads);
  std::printf("nine rows, 3x3 blocks of 3x3 threads: block (x,y) thread (x,y) linear: row column\n");
  std::vector<int> times(kThreads, 0);
  for (int thread = 0; thread < kThreads; ++thread) {
    const int block = thread / 9;
    const int within = thread % 9;
    std::printf("  (%d,%d) (%d,%d) %2d: %d %d%s", block % 3, block / 3, within % 3, within / 3, within,
                row[static_cast<std::size_t>(thread)], column[static_cast<std::size_t>(thread)],
                thread % 3 == 2 ? "\n" : "");
    ++times[static_cast<std::size_t>(row[static_cast<std::size_t>(thread)] * 9 +
                                     column[static_cast<std::size_t>(thread)])];
  }
  return std::all_of(times.begin(), times.end(), [](int count) { return count == 1; });
}

/// A step of a tiled product: tile^2 threads load two elements each and do 2 tile operations each.
inline void showTileStep(int tile, double bandwidth) {
  const int loads = 2 * tile * tile;
  const int operations = 2 * tile * tile * tile;
  const double intensity = static_cast<double>(operations) / (4.0 * loads);
  std::printf(
      "  tile %2d: %6d operations, %5d loads (%g KB) in a step; %2d operations for each load, %g for each byte: "
      "at most %g GFLOP/s at %g GB/s\n",
      tile, operations, loads, 4.0 * loads / 1024, operations / loads, intensity, attainable(1e9, bandwidth, intensity),
      bandwidth);
}

inline void showBounds() {
  std::printf("what the memory allows, at the 150 GB/s of a Fermi card\n");
  std::printf("  naive: one operation for each 4 bytes: at most %g GFLOP/s; 1 TFLOP/s would need %g TB/s\n",
              attainable(1000, 150, 0.25), 1 / 0.25);
  for (const int tile : {8, 16, 32}) showTileStep(tile, 150);
}

/// The tiles of a product and next to no registers: what fits depends on threads and shared memory only.
template <int Tile>
__global__ void matmulHoldTiles(float* out) {
  __shared__ float tiles[2 * Tile * Tile];
  tiles[threadIdx.x] = 0;
  __syncthreads();
  if (threadIdx.x == 0) *out = tiles[1];
}

struct Fit {
  int tile = 0;
  int blocks = 0;
  int threads() const { return blocks * tile * tile; }
};

template <int Tile>
Fit fitOf() {
  Fit fit{Tile, 0};
  LAB_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit.blocks, matmulHoldTiles<Tile>, Tile * Tile, 0));
  return fit;
}

/// The more threads a multiprocessor holds the better it hides waiting; among equals the smaller tile, whose blocks
/// wait for fewer threads at a barrier.
inline void adviseTile() {
  cudaDeviceProp properties;
  LAB_CHECK(cudaGetDeviceProperties(&properties, 0));
  const Fit fits[] = {fitOf<8>(), fitOf<16>(), fitOf<32>()};
  Fit best = fits[0];
  std::printf("tiles on %s (a block needs 8 bytes of shared memory for each thread)\n", properties.name);
  for (const Fit& fit : fits) {
    std::printf("  %2dx%-2d: %2d blocks, %4d threads, %2d KB on a multiprocessor\n", fit.tile, fit.tile, fit.blocks,
                fit.threads(), fit.threads() * 8 / 1024);
    if (fit.threads() > best.threads()) best = fit;
  }
  std::printf("  best: %dx%d\n", best.tile, best.tile);
}

/// The rates that follow from the course's times for 2048 rows: 2 * 2048^3 / T.
inline void showRates() {
  constexpr double kOperations = 2.0 * 2048 * 2048 * 2048;
  constexpr double kMilliseconds[] = {48.20, 34.17, 45.19};
  std::printf("2 * 2048^3 operations");
  for (const double ms : kMilliseconds) std::printf(", in %.2f ms: %.2f GFLOP/s", ms, kOperations / ms * 1e-6);
  std::printf("\n");
}

inline bool show() {
  const bool right = showNine();
  showRates();
  showBounds();
  adviseTile();
  return right;
}

}  // namespace report
