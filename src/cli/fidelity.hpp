// `ordito run --fidelity`: runs a program and then says which of its executed instructions gave a GPU's very bits.
#pragma once

#include <string>
#include <vector>

namespace ordito::cli {

struct FidelityOptions {
  bool wanted = false;
  std::string json;                 // a file for the report as JSON
  std::vector<std::string> failOn;  // kinds (fidelity/judge.hpp)
};

/// Runs `command` in an environment that is set up already, and reports to stderr. The result is the program's exit
/// status; 3 if that is 0 and an instruction of a kind of `failOn` ran; 2 for a kind that does not exist.
int runWithFidelity(const FidelityOptions& options, const std::vector<std::string>& command);

}  // namespace ordito::cli
