// Runs a case of a text test on a real GPU through NVIDIA's driver, found at run time, so that hardware can judge the
// expected results.
#pragma once

#include <string>
#include <vector>

#include "text_case.hpp"

namespace ordito::test {

bool gpuAvailable();

/// Differences between what the GPU did and what the case expects. Cases about refusals and faults are skipped.
std::vector<std::string> runOnGpu(const TextTest& test, const Case& c);

}  // namespace ordito::test
