// `ordito lab`: the courses' programs, run, verified, profiled and set beside the published tables.
#pragma once

#include <string>
#include <vector>

namespace ordito::cli {

/// Takes the words after `ordito lab`; returns the exit status: 0 if every variant was right, 1 if not, 2 for a wrong
/// call.
int runLab(const std::vector<std::string>& arguments);

}  // namespace ordito::cli
