// What profiling costs: the same case with and without counters.
#pragma once

#include <string>

namespace ordito::bench {

/// Milliseconds of Ordito's kernel in child processes of this program, alternately with profiling off and on.
struct CountersCost {
  double offMs;
  double onMs;
};

/// Counters are chosen when a process starts, so each measurement is a child. Throws if a child fails.
CountersCost measureCounters(const std::string& caseName, int rounds, int threads);

}  // namespace ordito::bench
