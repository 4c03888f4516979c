// See lab_runner.hpp. Everything goes through `ordito run` or `ordito check`, which make an executable find our
// libraries and give it the chosen GPU.
#include "cli/lab_runner.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "base/cache_folder.hpp"
#include "cli/capture.hpp"
#include "cli/lab_report.hpp"
#include "frontend/prefix.hpp"
#include "frontend/process.hpp"

namespace ordito::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

fs::path ourExecutable() { return frontend::installPrefix() / "bin" / "ordito"; }

std::vector<std::string> programArguments(const LabRequest& request, int rounds) {
  std::vector<std::string> arguments = {"--rounds", std::to_string(rounds)};
  auto add = [&](const char* option, const std::string& value) {
    if (value.empty()) return;
    arguments.emplace_back(option);
    arguments.push_back(value);
  };
  add("--size", request.size);
  add("--block", request.block);
  add("--file", request.file);
  add("--variant", request.all ? "all" : request.variant);
  return arguments;
}

fs::path binaryFolder() {
  const fs::path cache = defaultCacheFolder();
  return cache.empty() ? fs::temp_directory_path() / "ordito-lab" : cache / "lab";
}

/// True if `binary` exists and no source file of the lab is newer.
bool upToDate(const fs::path& binary, const fs::path& sources) {
  std::error_code error;
  const auto built = fs::last_write_time(binary, error);
  if (error) return false;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(sources, error)) {
    if (entry.is_regular_file(error) && entry.last_write_time(error) > built) return false;
  }
  return true;
}

/// `ordito run` or another such command with the chosen GPU; the program's own options follow.
CapturedCommand runCommand(const fs::path& binary, const LabRequest& request, const std::string& how) {
  CapturedCommand command;
  command.arguments = {ourExecutable().string(), how};
  if (!request.gpu.empty()) command.arguments.insert(command.arguments.end(), {"--gpu", request.gpu});
  command.arguments.push_back(binary.string());
  return command;
}

/// `variable`: the one that names the file for what is recorded of the run, if anything is.
Expected<LabRun> runProgram(const fs::path& binary, const LabRequest& request, int rounds,
                            const char* variable = nullptr, const fs::path& file = {}) {
  CapturedCommand command = runCommand(binary, request, "run");
  command.arguments.insert(command.arguments.end(), {"--json", "--progress"});
  for (std::string& argument : programArguments(request, rounds)) command.arguments.push_back(std::move(argument));
  if (variable) command.environment.emplace_back(variable, file.string());
  const auto outcome = capture(command);
  if (!outcome) return tl::unexpected(outcome.error());
  LabRun run;
  run.status = outcome->status;
  run.document = json::parse(outcome->output, nullptr, false);
  if (run.document.is_discarded()) run.document = nullptr;
  return run;
}

struct Recorded {
  json document, recording;
};

Expected<Recorded> runRecorded(const fs::path& binary, const LabRequest& request, int rounds, const char* variable) {
  const frontend::TemporaryFolder folder;
  const fs::path file = folder.path() / "recording.json";
  const auto run = runProgram(binary, request, rounds, variable, file);
  if (!run) return tl::unexpected(run.error());
  if (run->document.is_null() || run->status != 0) return fail("the recorded run ended with status {}", run->status);
  std::ifstream stream(file);
  if (!stream) return fail("the recorded run left no file for {}", variable);
  json recording = json::parse(stream, nullptr, false);
  if (recording.is_discarded()) return fail("what {} left is not JSON", variable);
  return Recorded{run->document, std::move(recording)};
}

}  // namespace

fs::path labFolder() { return frontend::installPrefix() / "share" / "ordito" / "lab"; }

Expected<fs::path> labExecutable(const LabProgram& program) {
  const fs::path folder = labFolder();
  if (program.source.ends_with(".py")) return folder / program.source;
  const fs::path built = folder / "bin" / program.name;
  std::error_code error;
  if (fs::exists(built, error)) return built;

  const fs::path binary = binaryFolder() / program.name;
  if (upToDate(binary, folder)) return binary;
  const fs::path source = folder / program.source;
  if (!fs::exists(source, error)) return fail("the source {} is missing: install Ordito again", source.string());
  fs::create_directories(binary.parent_path(), error);
  if (error) return fail("cannot make {}: {}", binary.parent_path().string(), error.message());
  fmt::print(stderr, "compiling {}\n", source.string());
  CapturedCommand command{{ourExecutable().string(), "nvcc", "-O3", "-std=c++17", "-lineinfo"}, {}};
  command.arguments.insert(command.arguments.end(), {source.string(), "-o", binary.string()});
  command.arguments.insert(command.arguments.end(), program.options.begin(), program.options.end());
  const auto outcome = capture(command);
  if (!outcome) return tl::unexpected(outcome.error());
  if (outcome->status != 0) return fail("{} does not compile (see above)", source.string());
  return binary;
}

Expected<int> traceLabProgram(const fs::path& binary, const LabRequest& request) {
  CapturedCommand command = runCommand(binary, request, "run");
  command.arguments.emplace_back("--trace");
  if (!request.size.empty()) command.arguments.insert(command.arguments.end(), {"--size", request.size});
  if (!request.file.empty()) command.arguments.insert(command.arguments.end(), {"--file", request.file});
  const auto outcome = capture(command);
  if (!outcome) return tl::unexpected(outcome.error());
  fmt::print("{}", outcome->output);
  return outcome->status;
}

Expected<int> checkLabProgram(const LabProgram& program, const fs::path& binary, LabRequest request) {
  if (request.size.empty() && request.file.empty()) request.size = std::to_string(program.checkedSize);
  CapturedCommand command = runCommand(binary, request, "check");
  for (std::string& argument : programArguments(request, 1)) command.arguments.push_back(std::move(argument));
  const auto outcome = capture(command);
  if (!outcome) return tl::unexpected(outcome.error());
  fmt::print("{}", outcome->output);
  return outcome->status;
}

Expected<LabRun> runLabProgram(const fs::path& binary, const LabRequest& request) {
  return runProgram(binary, request, request.rounds);
}

Expected<> countLabProgram(const fs::path& binary, const LabRequest& request, json& document) {
  const auto run = runRecorded(binary, request, 1, "ORDITO_PROFILE");
  if (!run) return tl::unexpected(run.error());
  return addMetrics(document, run->document, run->recording);
}

Expected<std::vector<LabTimeline>> labProgramTimelines(const fs::path& binary, const LabRequest& request) {
  const auto run = runRecorded(binary, request, 2, "ORDITO_TIMELINE");
  if (!run) return tl::unexpected(run.error());
  return labTimelines(run->document, run->recording);
}

Expected<std::vector<LabAccess>> labProgramAccesses(const fs::path& binary, const LabRequest& request) {
  const auto run = runRecorded(binary, request, 1, "ORDITO_LANES");
  if (!run) return tl::unexpected(run.error());
  return labAccesses(run->document, run->recording);
}

Expected<std::string> labWarpText(const fs::path& binary, LabRequest request, const std::string& variant) {
  request.variant = variant;
  request.size = "32";
  const auto run = runRecorded(binary, request, 1, "ORDITO_LANES");
  if (!run) return tl::unexpected(run.error());
  return warpText(run->recording);
}

}  // namespace ordito::cli
