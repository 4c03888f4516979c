// Runs a case of a text test on a real GPU through NVIDIA's driver, found at run time, so that hardware can judge the
// expected results.
#pragma once

#include <string>
#include <vector>

#include "run_case.hpp"
#include "text_case.hpp"

namespace ordito::test {

bool gpuAvailable();
/// "NVIDIA H200".
std::string gpuName();

/// What the GPU leaves behind. A module that NVIDIA's compiler refuses is an outcome with that compiler's words as its
/// error.
Outcome outcomeOnGpu(const TextTest& test, const Case& c);

/// A kernel failed, and no more can be asked of the GPU by this process.
bool gpuIsLost();

/// Differences between what the GPU did and what the case expects. Cases about refusals and faults are skipped.
std::vector<std::string> runOnGpu(const TextTest& test, const Case& c);

}  // namespace ordito::test
