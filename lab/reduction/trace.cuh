// `reduction --trace`: both pairings step by step, and how many warps of a block still have work in each step.
#pragma once

#include "../common/lab.hpp"
#include "cpu.hpp"

/// In each step of neighbored pairs with less divergence: does any lane of this warp add?
__global__ void reduceCountActiveWarps(int* active) {
  int step = 0;
  for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
    const bool adds = 2 * stride * threadIdx.x < blockDim.x;
    if (__any_sync(0xffffffffu, adds) && threadIdx.x % 32 == 0) atomicAdd(&active[step], 1);
    ++step;
  }
}

namespace trace {

inline void showActiveWarps() {
  constexpr int kSteps = 9;
  int host[kSteps];
  lab::DeviceArray<int> active(kSteps);
  active.clear();
  reduceCountActiveWarps<<<1, 512>>>(active.get());
  lab::launched("reduceCountActiveWarps");
  active.download(host, kSteps);
  std::printf("active warps of 512 threads, neighbored pairs with less divergence:");
  for (const int warps : host) std::printf(" %d", warps);
  std::printf("\n");
}

inline void show() {
  cpu::tracePairs();
  cpu::traceOperators();
  showActiveWarps();
}

}  // namespace trace
