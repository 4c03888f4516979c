// What the commands that run a user's program share: the program behind the options, and the report that one of our
// listeners writes when the program ends.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "cli/commands.hpp"

namespace ordito::cli {

/// The program and its arguments, which stand behind the options. Without one, ends with the command's usage, status 2.
std::vector<std::string> programBehind(const CLI::App& command);

struct ReportedRun {
  int status = 0;  // of the program; 127: it could not be started, and that was told
  Expected<nlohmann::ordered_json> report;
};

/// Runs the program with the environment variable `variable` naming the file of its report: `path`, or a temporary one
/// if that is empty. A file that an earlier run has left there is removed first, so that it is never taken for this
/// one's.
ReportedRun runForReport(const char* variable, const std::string& path, const std::vector<std::string>& command);

/// Seconds after which kernels of the programs that this process starts are stopped: when they have run for so long, or
/// have only waited for so long. 0 is never; nothing leaves it to the environment.
void limitKernels(std::optional<unsigned> running, std::optional<unsigned> waiting);

}  // namespace ordito::cli
