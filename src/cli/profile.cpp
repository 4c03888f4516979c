// `ordito profile [--csv|--json] [--gpu NAME] [-o FILE] prog args…`: runs a program and then tells what each of its
// launches did, in the terms of a GPU profiler; with --hotspots which of its instructions moved most through memory,
// with --caches what modelled caches would have answered.
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

#include "cli/cache_sheet.hpp"
#include "cli/profile_sheet.hpp"
#include "cli/program.hpp"

namespace ordito::cli {
namespace {

struct Options {
  bool csv = false, json = false, caches = false;
  size_t hotspots = 0;  // how many; 0: a row for each launch
  std::string gpu, output, l1;
};

report::Style styleFor(const Options& options) {
  return options.output.empty() ? report::styleForStdout() : report::Style::Plain;
}

Expected<std::string> renderHotspots(const Options& options, nlohmann::ordered_json& hotspots) {
  auto sheet = hotspotSheet(hotspots, options.hotspots);
  if (!sheet) return tl::unexpected(sheet.error());
  if (options.json) return sheet->json().dump(1) + "\n";
  if (options.csv) return sheet->csv();
  return fmt::format("\n{} of {} instructions that touched memory, by what they moved\n\n{}", sheet->rows().size(),
                     hotspots.at("sites").size(), sheet->table(styleFor(options)));
}

Expected<std::string> renderCaches(const Options& options, const nlohmann::ordered_json& caches) {
  auto sheet = cacheSheet(caches);
  if (!sheet) return tl::unexpected(sheet.error());
  if (options.json) return caches.dump(1) + "\n";
  if (options.csv) return sheet->csv();
  return fmt::format("\n{} launches; a model of the caches of a {}\n\n{}", sheet->rows().size(),
                     caches.value("gpu", ""), sheet->table(styleFor(options)));
}

Expected<std::string> render(const Options& options, nlohmann::ordered_json& profile) {
  if (options.caches) return renderCaches(options, profile);
  if (options.hotspots) return renderHotspots(options, profile);
  if (options.json) return profile.dump(1) + "\n";
  auto sheet = profileSheet(profile);
  if (!sheet) return tl::unexpected(sheet.error());
  if (options.csv) return sheet->csv();
  std::string gpu = profile.value("gpu", "");
  const auto calls = libraryCallSheet(profile);
  if (!calls) return tl::unexpected(calls.error());
  std::string text = fmt::format("\n{} launches; occupancy as on a {}\n\n{}", sheet->rows().size(), gpu,
                                 sheet->table(styleFor(options)));
  if (!calls->rows().empty()) text += "\nCalls of libraries\n\n" + calls->table(styleFor(options));
  return text;
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
  findOurLibraries(command);
  chooseGpu("profile", options.gpu);
  if (options.caches) setenv("ORDITO_THREADS", "1", 1);  // so that blocks come one after the other, always alike
  if (!options.l1.empty()) setenv("ORDITO_CACHES_L1", options.l1.c_str(), 1);
  const char* variable = options.caches ? "ORDITO_CACHES" : options.hotspots ? "ORDITO_HOTSPOTS" : "ORDITO_PROFILE";
  auto [status, report] = runForReport(variable, {}, command);
  if (status == 127) return status;
  const auto text = report ? render(options, *report) : tl::unexpected(report.error());
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
  profile->add_flag("--caches", options->caches,
                    "Print what modelled caches of the GPU would have answered instead (every access is interpreted)");
  profile->add_option("--l1", options->l1, "With --caches: global loads go through the first cache, or not (on, off)")
      ->check(CLI::IsMember({"on", "off"}));
  profile->add_option("--gpu", options->gpu, "The GPU to show to the program (see ordito gpus)");
  profile->add_option("-o,--output", options->output, "Write the result to a file");
  profile->prefix_command();
  profile->callback([profile, options] { std::exit(profileProgram(*options, programBehind(*profile))); });
}

}  // namespace ordito::cli
