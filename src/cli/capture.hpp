// Running another program and taking what it prints.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"

namespace ordito::cli {

struct CapturedCommand {
  std::vector<std::string> arguments;                            // the program's path first
  std::vector<std::pair<std::string, std::string>> environment;  // added to ours, or replacing it
};

struct Outcome {
  int status = 0;      // exit status; 128 + signal for a program that was killed, as a shell reports it
  std::string output;  // everything it wrote to standard output
};

/// Runs the command to its end. Its standard error is ours, so that its progress and complaints are seen at once.
Expected<Outcome> capture(const CapturedCommand& command);

}  // namespace ordito::cli
