// What profiling and checking cost: the same case with and without.
#pragma once

#include <optional>
#include <string>

namespace ordito::bench {

/// Milliseconds of Ordito's kernel in child processes of this program, alternately with counters off and on.
struct CountersCost {
  double offMs;
  double onMs;
};

/// Counters are chosen when a process starts, so each measurement is a child. Throws if a child fails.
CountersCost measureCounters(const std::string& caseName, int rounds, int threads);

/// Milliseconds of the processor for Ordito's kernel on one host thread, as the checker runs it: alone; under
/// `ordito check --no-uninitialised`; under all rules. Nothing: a child took longer than its limit.
struct CheckerCost {
  double aloneMs;
  std::optional<double> compiledMs, allMs;
};

/// `limitSeconds`: of a child, input and warming up included. Throws if the child without the checker fails.
CheckerCost measureChecker(const std::string& caseName, int rounds, int limitSeconds);

}  // namespace ordito::bench
