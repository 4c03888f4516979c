// Runs a subject's kernel and takes its time.
#pragma once

#include "base/error.hpp"
#include "machine/kernel.hpp"
#include "subject.hpp"

namespace ordito::bench {

struct Effort {
  double launchMicroseconds = 300;  // the least that a launch takes, by more rounds
  unsigned launches = 5;            // of which the median counts
};

/// CPU time of one warp that loads the operands, executes the instruction once and stores the results, in nanoseconds.
/// An error is what the engine says when it refuses the kernel, or the fault in it.
Expected<double> nanosecondsPerWarp(machine::Engine& engine, const Subject& subject, const Effort& effort);

/// The same of kThreadsOfLaunch threads with one round each: what a launch, its blocks and their threads cost is in it.
Expected<double> nanosecondsInLaunch(machine::Engine& engine, const Subject& subject, unsigned launches);

}  // namespace ordito::bench
