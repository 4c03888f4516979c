// Runs one case of a text test on an engine of ours, and checks what it did.
#pragma once

#include <string>
#include <vector>

#include "event_streams.hpp"
#include "machine/counters.hpp"
#include "machine/fault.hpp"
#include "ptx/module.hpp"
#include "text_case.hpp"

namespace ordito::test {

/// Everything that a launch left behind.
struct Outcome {
  std::string error;  // refused before it ran
  std::optional<machine::Fault> fault;
  std::vector<std::vector<uint64_t>> buffers;  // by parameter
  std::vector<uint64_t> counters;              // empty unless they were asked for
  machine::SiteCounters sites;                 // what they are the sums of
  EventStreams events;                         // likewise
};

/// What is asked for besides the results.
enum class Wanted { Nothing, Counters, Events };

/// Parses, verifies and compiles the test's text and runs `c` on `engine`.
Outcome runCase(machine::Engine& engine, const TextTest& test, const Case& c, Wanted wanted);

/// The differences between an outcome and what the case expects, one per line; empty when there are none. `onGpu`: skip
/// what only emulators promise.
std::vector<std::string> check(const Case& c, const Outcome& outcome, bool onGpu = false);

/// The differences between two engines' outcomes.
std::vector<std::string> compare(const Case& c, const Outcome& interpreted, const Outcome& compiled);

}  // namespace ordito::test
