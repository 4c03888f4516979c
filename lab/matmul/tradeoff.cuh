// `matmul --trace`: what a tile in shared memory gains and what it costs, as a model of one multiprocessor.
//
// A block alternates: it loads its two tiles and waits at the first barrier until they are there, then it computes and
// waits at the second. It cannot do both at once, so alone it computes only a part of the time; other blocks of the
// multiprocessor may be in other phases and fill the rest. A larger tile is used more often, so it needs less of the
// memory's bandwidth, but fewer blocks fit.
#pragma once

#include "report.cuh"

namespace report {

constexpr double kLatency = 500;  // clocks from a load to its value
constexpr double kLanes = 128;    // multiplications and additions of a multiprocessor in a clock

struct Phases {
  double load = 0;  // clocks
  double compute = 0;
  double alone() const { return compute / (load + compute); }
  double with(int blocks) const { return std::min(1.0, blocks * alone()); }
};

/// `bytesPerClock` is a multiprocessor's share of the memory's bandwidth.
inline Phases phasesOf(int tile, double bytesPerClock) {
  const double threads = tile * tile;
  return {kLatency + 8 * threads / bytesPerClock, threads * tile / kLanes};
}

inline bool showTradeOff() {
  cudaDeviceProp card;
  LAB_CHECK(cudaGetDeviceProperties(&card, 0));
  int kilohertz = 0;
  LAB_CHECK(cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, 0));
  const double bandwidth = lab::peakBandwidth();
  const double peak = 2 * kLanes * card.multiProcessorCount * kilohertz * 1e-6;
  const double bytesPerClock = bandwidth * 1e6 / kilohertz / card.multiProcessorCount;
  const Fit fits[] = {fitOf<8>(), fitOf<16>(), fitOf<32>()};
  std::printf(
      "what a tile gains and costs on %s: %d multiprocessors of %g lanes, %.0f GB/s, %g clocks of waiting for a "
      "load\n",
      card.name, card.multiProcessorCount, kLanes, bandwidth, kLatency);
  bool right = true;
  double loadsBefore = 1e9;
  double aloneBefore = 0;
  int blocksBefore = 1 << 30;
  for (const Fit& fit : fits) {
    const Phases phases = phasesOf(fit.tile, bytesPerClock);
    const double loads = 2.0 / fit.tile;
    const double share = phases.with(fit.blocks);
    std::printf(
        "  %2dx%-2d: %.4f loads for each product; a block computes %2.0f %% of the time, %2d blocks %3.0f %%; "
        "at most %.0f GFLOP/s by computing, %.0f by memory\n",
        fit.tile, fit.tile, loads, 100 * phases.alone(), fit.blocks, 100 * share, share * peak,
        lab::attainable(1e9, bandwidth, fit.tile / 4.0));
    right = right && loads < loadsBefore && phases.alone() > aloneBefore && fit.blocks <= blocksBefore;
    loadsBefore = loads;
    aloneBefore = phases.alone();
    blocksBefore = fit.blocks;
  }
  return right;
}

}  // namespace report
