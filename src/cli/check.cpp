// `ordito check prog args...`: runs a program and says which memory errors and races its kernels had. The program
// writes what the checker found as JSON when it ends (src/check); here it becomes text and an exit status.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/error.hpp"
#include "cli/program.hpp"

namespace ordito::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFound = 99, kToolFailed = 98;

struct CheckOptions {
  std::string gpu, json, failOn = "error", suppressions;
  bool wantsLeaks = false, wantsNotes = false;
};

int rank(const std::string& severity) { return severity == "error" ? 2 : severity == "warning" ? 1 : 0; }

std::string triple(const Json& numbers) {
  return fmt::format("({},{},{})", numbers[0].get<uint32_t>(), numbers[1].get<uint32_t>(), numbers[2].get<uint32_t>());
}

std::string textOf(const Json& side) {
  const Json& source = side.at("source");
  const std::string where =
      source.is_null() ? fmt::format("PTX line {}", side.at("ptx_line").get<uint32_t>()) : source.get<std::string>();
  return fmt::format("  {}: {}, {} bytes, thread {} = warp {} lane {} of block {}\n", where,
                     side.at("kind").get<std::string>(), side.at("bytes").get<uint32_t>(), triple(side.at("thread")),
                     side.at("warp").get<uint32_t>(), side.at("lane").get<uint32_t>(), triple(side.at("block")));
}

std::string textOfFinding(const Json& f) {
  std::string text = fmt::format("{}[{}] {}\n", f.at("severity").get<std::string>(), f.at("rule").get<std::string>(),
                                 f.at("message").get<std::string>());
  for (const Json& side : f.at("accesses")) text += textOf(side);
  if (const auto object = f.at("object").get<std::string>(); !object.empty()) text += fmt::format("  {}\n", object);
  if (const auto kernel = f.at("kernel").get<std::string>(); !kernel.empty())
    text += fmt::format("  kernel {}, grid {}, block {}\n", kernel, triple(f.at("grid")), triple(f.at("block")));
  if (const auto count = f.at("count").get<uint64_t>(); count > 1)
    text += fmt::format("  {} more of these\n", count - 1);
  return text;
}

/// `*` stands for any text. What stands between two of them is looked for once, from the left: if the first place does
/// not do, none behind it does better.
bool matches(std::string_view pattern, std::string_view text) {
  size_t p = 0, t = 0, star = std::string_view::npos, behindStar = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++, behindStar = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p, ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1, t = ++behindStar;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

/// A line of the file of suppressions: rule, kernel, place; all may hold `*`.
struct Suppression {
  std::string rule, kernel = "*", place = "*";

  bool covers(const Json& f) const {
    if (!matches(rule, f.at("rule").get<std::string>()) || !matches(kernel, f.at("kernel").get<std::string>()))
      return false;
    if (place == "*") return true;
    return std::ranges::any_of(f.at("accesses"), [&](const Json& side) {
      return side.at("source").is_string() && matches(place, side.at("source").get<std::string>());
    });
  }
};

Expected<std::vector<Suppression>> readSuppressions(const std::string& path) {
  std::vector<Suppression> all;
  if (path.empty()) return all;
  std::ifstream in(path);
  if (!in) return fail("{}: cannot be read", path);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    Suppression s;
    if (!(words >> s.rule)) continue;
    words >> s.kernel >> s.place;
    all.push_back(std::move(s));
  }
  return all;
}

int complain(const std::string& message) {
  fmt::print(stderr, "ordito check: {}\n", message);
  return kToolFailed;
}

/// Prints what is not suppressed and gives the exit status.
int conclude(const Json& report, const CheckOptions& options, const std::vector<Suppression>& suppressions,
             int status) {
  size_t counts[3] = {}, suppressed = 0;
  bool fails = false;
  for (const Json& f : report.at("findings")) {
    if (std::ranges::any_of(suppressions, [&](const Suppression& s) { return s.covers(f); })) {
      ++suppressed;
      continue;
    }
    const auto severity = f.at("severity").get<std::string>();
    ++counts[rank(severity)];
    fails |= options.failOn != "never" && rank(severity) >= rank(options.failOn);
    if (rank(severity) > 0 || options.wantsNotes) fmt::print(stderr, "\n{}", textOfFinding(f));
  }
  fmt::print(stderr, "\nordito check: {} errors, {} warnings, {} notes{}\n", counts[2], counts[1], counts[0],
             suppressed ? fmt::format(", {} suppressed", suppressed) : "");
  return fails ? kFound : status;
}

int check(const CheckOptions& options, const std::vector<std::string>& command) {
  auto suppressions = readSuppressions(options.suppressions);
  if (!suppressions) return complain(suppressions.error().message);
  setenv("ORDITO_THREADS", "1", 1);  // events come in the order in which memory changes
  if (options.wantsLeaks) setenv("ORDITO_CHECK_LEAKS", "1", 1);
  const auto [status, report] = runForReport("ORDITO_CHECK", options.json, command);
  if (status == 127) return status;
  if (!report) return complain(report.error().message);
  return conclude(*report, options, *suppressions, status);
}

}  // namespace

void addCheckCommand(CLI::App& app) {
  auto options = std::make_shared<CheckOptions>();
  CLI::App* command = app.add_subcommand("check", "Run a program and report memory errors and races of its kernels");
  command->add_option("--gpu", options->gpu, "The GPU to show to the program (see ordito gpus)");
  command->add_option("--json", options->json, "Write the findings to a file, as JSON");
  command->add_option("--fail-on", options->failOn, "End with status 99 if there is a finding as bad as this")
      ->check(CLI::IsMember({"error", "warning", "note", "never"}));
  command->add_option("--suppress", options->suppressions, "A file of lines 'rule kernel file:line' of what is known");
  command->add_flag("--leaks", options->wantsLeaks, "Memory that is never freed is a finding");
  command->add_flag("--notes", options->wantsNotes, "Print notes too");
  command->prefix_command();
  command->callback([command, options] {
    const std::vector<std::string> program = programBehind(*command);
    findOurLibraries(program);
    chooseGpu("check", options->gpu);
    std::exit(check(*options, program));
  });
}

}  // namespace ordito::cli
