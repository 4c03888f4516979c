// See program.hpp.
#include "cli/program.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "frontend/process.hpp"

namespace ordito::cli {
namespace {

using Json = nlohmann::ordered_json;

Expected<Json> read(const std::filesystem::path& path) {
  std::ifstream in(path);
  if (!in)
    return fail(
        "the program has launched no kernel with Ordito's libraries, or died before it could report (is it linked "
        "with -cudart static?)");
  Json report = Json::parse(in, nullptr, false);
  if (report.is_discarded()) return fail("the report is damaged");
  return report;
}

}  // namespace

std::vector<std::string> programBehind(const CLI::App& command) {
  std::vector<std::string> program = command.remaining();
  if (!program.empty()) return program;
  fmt::print(stderr, "ordito {}: no program given\n{}", command.get_name(), command.help());
  std::exit(2);
}

ReportedRun runForReport(const char* variable, const std::string& path, const std::vector<std::string>& command) {
  const frontend::TemporaryFolder folder;
  const std::filesystem::path file = path.empty() ? folder.path() / "report.json" : std::filesystem::path(path);
  // A device or a link such as /dev/stdout is not ours to remove, and holds no earlier report.
  if (std::filesystem::is_regular_file(std::filesystem::symlink_status(file))) std::filesystem::remove(file);
  setenv(variable, file.c_str(), 1);
  const int status = frontend::runInForeground(command);
  return {status, read(file)};
}

void limitKernels(std::optional<unsigned> running, std::optional<unsigned> waiting) {
  if (running) setenv("ORDITO_KERNEL_TIMEOUT", std::to_string(*running).c_str(), 1);
  if (waiting) setenv("ORDITO_HANG_TIMEOUT", std::to_string(*waiting).c_str(), 1);
}

}  // namespace ordito::cli
