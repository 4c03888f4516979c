// How many registers a GPU's own compiler would give a kernel: the number that cudaFuncGetAttributes, the occupancy
// functions and the profiler answer.
//
// A kernel in SSA form goes through what an assembler does with PTX (values.hpp), becomes operations (program.hpp), and
// is scheduled for latency with at most so many registers. The limit is where occupancy would drop: an assembler uses
// what registers it has up to there and schedules closer before it goes to the next step. docs/accuracy.md has the
// errors against ptxas 13.0.
#pragma once

#include <cstdint>

#include "ptx/module.hpp"

namespace ordito::registers {

/// The GPU that the kernel is for.
struct Target {
  uint32_t sm = 80;  // compute capability × 10
  uint32_t registersPerBlock = 65536, registersPerMultiprocessor = 65536;
  uint32_t threadsPerMultiprocessor = 2048;
  uint32_t maxRegistersPerThread = 255;
};

/// What the compiler of this architecture assumes. Of one that Ordito has no description of, the next older one's.
Target targetFor(uint32_t sm);

/// Registers for each thread. Honours .maxntid, .reqntid, .minnctapersm and .maxnreg; a kernel without them keeps
/// blocks of 1,024 threads possible unless it surely needs more.
uint32_t estimate(const ptx::Module& module, const ptx::Function& kernel, const Target& target);

}  // namespace ordito::registers
