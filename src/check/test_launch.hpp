// For tests of rules that hear of random blocks: a launch of a kernel that nothing runs.
#pragma once

#include "machine/counters.hpp"
#include "machine/events.hpp"
#include "machine/gpu.hpp"
#include "machine/lanes.hpp"
#include "ptx/parser.hpp"

namespace ordito::check {

inline constexpr uint32_t kWarps = 3, kBlocks = 3, kBytes = 1024;  // of the launch; of a block's shared memory
inline constexpr uint32_t kLanes = machine::kWarpSize;

inline ptx::Module testModule() {
  return *ptx::parse(R"(.version 8.3
.target sm_80
.address_size 64
.visible .entry k() { ret; }
)");
}

/// `module` must outlive it.
inline machine::LaunchEvent testLaunch(const ptx::Module& module) {
  static const machine::SiteCounters sites;
  static const machine::GpuDescription gpu{};
  return {.kernel = "k",
          .mangled = "k",
          .launcher = "",
          .grid = {kBlocks, 1, 1},
          .block = {kWarps * kLanes, 1, 1},
          .sites = sites,
          .counters = nullptr,
          .module = module,
          .function = module.functions[0],
          .gpu = gpu};
}

/// Of a block of the launch; without memory.
inline machine::BlockFrame testFrame(uint32_t block) {
  machine::BlockFrame frame{};
  frame.ctaid[0] = block;
  frame.nctaid[0] = kBlocks, frame.nctaid[1] = frame.nctaid[2] = 1;
  frame.ntid[0] = kWarps * kLanes, frame.ntid[1] = frame.ntid[2] = 1;
  frame.totalSharedBytes = kBytes;
  return frame;
}

}  // namespace ordito::check
