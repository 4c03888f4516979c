// How a program of the lab is found, built and run: as it is, under the checker, or with what it does recorded.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "cli/lab_accesses.hpp"
#include "cli/lab_catalogue.hpp"
#include "cli/lab_timeline.hpp"

namespace ordito::cli {

/// What the words after `ordito lab run NAME` ask for.
struct LabRequest {
  std::string program;
  std::string size;
  std::string block;
  std::string variant;
  std::string gpu;
  std::string file;
  std::string plot;
  int rounds = 3;
  bool all = false;
  bool csv = false;
  bool json = false;
  bool explain = false;
  bool trace = false;
  bool study = false;
  bool check = false;
};

/// What a run left: its exit status, and the document that it printed, or null.
struct LabRun {
  int status = 0;
  nlohmann::json document;
};

/// The folder with sources, catalogue and executables, in the build tree as in an installed prefix.
std::filesystem::path labFolder();

/// The program's executable: a script, the one that the build made, or one compiled from the installed source and kept.
Expected<std::filesystem::path> labExecutable(const LabProgram& program);

/// Prints the program's worked examples, as it writes them; its exit status.
Expected<int> traceLabProgram(const std::filesystem::path& binary, const LabRequest& request);

/// The variants once under `ordito check`, which tells its findings on standard error and whose status is ours. Every
/// access is looked at by itself, so the sizes are small.
Expected<int> checkLabProgram(const LabProgram& program, const std::filesystem::path& binary, LabRequest request);

/// Runs it as it is, for the times.
Expected<LabRun> runLabProgram(const std::filesystem::path& binary, const LabRequest& request);

/// The second run, with counters, which it adds to the document of the first. Whatever is wrong with it costs the
/// counters, not the verified times.
Expected<> countLabProgram(const std::filesystem::path& binary, const LabRequest& request, nlohmann::json& document);

/// The second run of the programs that are drawn on a line of time. In its first round kernels are compiled, so the
/// second one is shown.
Expected<std::vector<LabTimeline>> labProgramTimelines(const std::filesystem::path& binary, const LabRequest& request);

/// What the first warp of a variant's kernel touched (warpText), at the size of one warp.
Expected<std::string> labWarpText(const std::filesystem::path& binary, LabRequest request, const std::string& variant);

/// A run of the programs whose variants are drawn as accesses of a warp.
Expected<std::vector<LabAccess>> labProgramAccesses(const std::filesystem::path& binary, const LabRequest& request);

}  // namespace ordito::cli
