// Prints results as a table for people and as JSON for scripts.
#pragma once

#include <optional>
#include <string>

#include "measure.hpp"
#include "settings.hpp"

namespace ordito::bench {

struct Machine {
  std::string cpu;
  int threads;
  Level level;
  std::string openBlas;  ///< the core type in use, or why there is none
  std::string openCl;    ///< the PoCL device, or why there is none
};

/// Ordito's speed as a share of the case's baseline and of PoCL: ratios of median wall times. Empty if one of the two
/// did not run.
struct Ratios {
  std::optional<double> baselineWall, baselineCpu, poclWall, poclCpu;
};

Ratios ratiosOf(const CaseResult& result);
bool meetsTargets(const CaseResult& result, Level level);

void printMachine(const Machine& machine, int rounds);
void printCase(const CaseResult& result);
void printSummary(const std::vector<CaseResult>& results, Level level);
void printJson(const Machine& machine, int rounds, const std::vector<CaseResult>& results);

}  // namespace ordito::bench
