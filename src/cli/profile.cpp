// `ordito profile [--csv|--json] [--gpu NAME] [-o FILE] prog args…`: runs a program and then tells what each of its
// launches did, in the terms of a GPU profiler; with --hotspots which of its instructions moved most through memory.
//
// The program runs with our libraries and ORDITO_PROFILE or ORDITO_HOTSPOTS set; libcuda writes what it counted when
// the program ends. This command ends with the program's own exit status.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/profile_sheet.hpp"
#include "frontend/prefix.hpp"
#include "frontend/process.hpp"

namespace ordito::cli {
namespace {

struct Options {
  bool csv = false, json = false;
  size_t hotspots = 0;  // how many; 0: a row for each launch
  std::string gpu, output;
};

void setUpEnvironment(const Options& options, const std::string& profile) {
  findOurLibraries();
  setenv(options.hotspots ? "ORDITO_HOTSPOTS" : "ORDITO_PROFILE", profile.c_str(), 1);
  chooseGpu("profile", options.gpu);
}

report::Style styleFor(const Options& options) {
  return options.output.empty() ? report::styleForStdout() : report::Style::plain;
}

Expected<std::string> renderHotspots(const Options& options, nlohmann::ordered_json& hotspots) {
  auto sheet = hotspotSheet(hotspots, options.hotspots);
  if (!sheet) return tl::unexpected(sheet.error());
  if (options.json) return sheet->json().dump(1) + "\n";
  if (options.csv) return sheet->csv();
  return fmt::format("\n{} of {} instructions that touched memory, by what they moved\n\n{}", sheet->rows().size(),
                     hotspots.at("sites").size(), sheet->table(styleFor(options)));
}

Expected<std::string> render(const Options& options, const std::string& path) {
  std::ifstream in(path);
  if (!in)
    return fail("the program has launched no kernel with Ordito's libraries (is it linked with -cudart static?)");
  auto profile = nlohmann::ordered_json::parse(in, nullptr, false);
  if (options.hotspots) return renderHotspots(options, profile);
  if (options.json) return profile.dump(1) + "\n";
  auto sheet = profileSheet(profile);
  if (!sheet) return tl::unexpected(sheet.error());
  if (options.csv) return sheet->csv();
  std::string gpu = profile.value("gpu", "");
  return fmt::format("\n{} launches; occupancy as on a {}\n\n{}", sheet->rows().size(), gpu,
                     sheet->table(styleFor(options)));
}

bool write(const Options& options, const std::string& text) {
  if (options.output.empty()) {
    fmt::print("{}", text);
    return true;
  }
  std::ofstream out(options.output);
  out << text;
  return static_cast<bool>(out.flush());
}

int profileProgram(const Options& options, const std::vector<std::string>& command) {
  frontend::TemporaryFolder folder;
  std::string path = (folder.path() / "profile.json").string();
  setUpEnvironment(options, path);
  int status = frontend::runProcess(command);
  if (status == 127) return status;
  auto text = render(options, path);
  if (!text) {
    fmt::print(stderr, "ordito profile: {}\n", text.error().message);
    return status ? status : 1;
  }
  if (write(options, *text)) return status;
  fmt::print(stderr, "ordito profile: cannot write {}\n", options.output);
  return status ? status : 1;
}

}  // namespace

void addProfileCommand(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* profile =
      app.add_subcommand("profile", "Run a program and count what its kernels do, as a GPU profiler does");
  profile->add_flag("--csv", options->csv, "Print comma-separated values, with the GPU profiler's metric names");
  profile->add_flag("--json", options->json, "Print JSON");
  profile->add_flag("--hotspots{10}", options->hotspots,
                    "Print the 10 instructions (=N: N of them) that moved most through memory instead");
  profile->add_option("--gpu", options->gpu, "The GPU to show to the program (see ordito gpus)");
  profile->add_option("-o,--output", options->output, "Write the result to a file");
  profile->prefix_command();
  profile->callback([profile, options] {
    const std::vector<std::string> command = profile->remaining();
    if (command.empty()) {
      fmt::print(stderr, "ordito profile: no program given\n{}", profile->help());
      std::exit(2);
    }
    std::exit(profileProgram(*options, command));
  });
}

}  // namespace ordito::cli
