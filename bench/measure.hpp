// Runs the contenders of a case in turn, round after round, so that whatever disturbs the machine disturbs all of them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cases.hpp"

namespace ordito::bench {

/// A contender's milliseconds over the rounds. Wall time is what a user waits; CPU time of the process is less moved by
/// neighbours.
struct Timing {
  std::string name;
  std::string failure;         ///< empty, or why it could not run or what was wrong with its result
  double prepareMs = 0;        ///< buffers, uploads and what compiles ahead
  double firstMs = 0;          ///< the first run, which compiles the kernel
  std::vector<double> wallMs;  ///< one for each round
  std::vector<double> cpuMs;

  bool ok() const { return failure.empty(); }
};

double median(std::vector<double> values);
double minimum(const std::vector<double>& values);

struct Factory {
  std::string name;
  std::unique_ptr<Contender> (*make)(const Problem&);
};

struct CaseResult {
  const CaseSpec* spec;
  double disturbance;  ///< share of the machine's CPU time that other processes took during the rounds
  std::vector<Timing> timings;

  /// Null if that contender did not take part or failed.
  const Timing* find(const std::string& name) const;
};

/// Prepares every contender, checks its first result against the reference, warms up and times `rounds` rounds.
CaseResult measureCase(const CaseSpec& spec, const std::vector<Factory>& factories, int rounds);

}  // namespace ordito::bench
