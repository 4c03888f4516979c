// `ordito check prog args...`: runs a program and says which memory errors and races its kernels had. The program
// writes what the checker found as JSON when it ends (src/check); here it becomes text, files for other programs, and
// an exit status.
#include "cli/check.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "cli/check_findings.hpp"
#include "cli/program.hpp"

namespace ordito::cli {
namespace {

constexpr int kToolFailed = 98;
constexpr const char* kHangSeconds = "10";

int complain(const std::string& message) {
  fmt::print(stderr, "ordito check: {}\n", message);
  return kToolFailed;
}

Expected<Suppressions> readKnown(const CheckOptions& options) {
  Suppressions known;
  if (!options.suppressions.empty())
    if (auto read = known.readFile(options.suppressions); !read) return tl::unexpected(read.error());
  if (!options.baseline.empty())
    if (auto read = known.readBaseline(options.baseline); !read) return tl::unexpected(read.error());
  return known;
}

Expected<> writeText(const std::string& path, const std::string& text) {
  std::ofstream out(path);
  out << text;
  if (!out.flush()) return fail("{}: cannot be written", path);
  return {};
}

Expected<> writeFiles(const CheckOptions& options, const std::vector<FindingJson>& told) {
  if (!options.sarif.empty())
    if (auto written = writeText(options.sarif, sarifOf(told)); !written) return written;
  if (!options.junit.empty())
    if (auto written = writeText(options.junit, junitOf(told)); !written) return written;
  if (!options.newBaseline.empty()) return writeBaseline(options.newBaseline, told);
  return {};
}

/// What is told of the findings, the worst first.
std::string textOfAll(const CheckOptions& options, const std::vector<FindingJson>& told, size_t suppressed) {
  const bool isSanitizer = options.format == "compute-sanitizer";
  size_t counts[3] = {}, printed = 0;
  std::string text = isSanitizer ? "========= COMPUTE-SANITIZER\n" : "";
  for (const FindingJson& f : told) ++counts[rankOf(f)];
  for (int rank = 2; rank >= (options.wantsNotes ? 0 : 1); --rank)
    for (const FindingJson& f : told)
      if (rankOf(f) == rank && printed++ < options.limit) text += isSanitizer ? sanitizerTextOf(f) : "\n" + textOf(f);
  if (isSanitizer) return text + fmt::format("========= ERROR SUMMARY: {} errors\n", counts[2] + counts[1]);
  if (printed > options.limit) text += fmt::format("\n{} more findings are not printed\n", printed - options.limit);
  return text + fmt::format("\nordito check: {} errors, {} warnings, {} notes{}\n", counts[2], counts[1], counts[0],
                            suppressed ? fmt::format(", {} suppressed", suppressed) : "");
}

/// What was not looked at, because there was so much.
std::string textOfRest(const FindingJson& report) {
  const auto number = [&](const char* of, const char* what) {
    return report.contains(of) && report.at(of).contains(what) ? report.at(of).at(what).get<uint64_t>() : 0;
  };
  std::string text;
  if (const uint64_t blocks = number("blocks", "unheard"))
    text += fmt::format("{} blocks were not looked at: others of their launches had 100,000 findings\n", blocks);
  if (const uint64_t findings = number("dropped", "findings"))
    text += fmt::format("{} findings at still other lines were dropped\n", findings);
  return text;
}

/// Tells what is not suppressed and gives the exit status.
int conclude(const FindingJson& report, const CheckOptions& options, const Suppressions& known, int status) {
  size_t suppressed = 0;
  bool fails = false;
  std::vector<FindingJson> told;
  for (FindingJson f : report.at("findings")) {
    locateCall(f);
    if (options.takes && !options.takes(f.at("rule").get<std::string>())) continue;
    if (known.covers(f)) {
      ++suppressed;
      continue;
    }
    fails |= options.failOn != "never" && rankOf(f) >= rankOf(options.failOn);
    told.push_back(std::move(f));
  }
  if (auto written = writeFiles(options, told); !written) return complain(written.error().message);
  if (options.isForGithub)
    for (const FindingJson& f : told)
      if (rankOf(f) > 0 || options.wantsNotes) fmt::print("{}", githubTextOf(f));
  const std::string text = textOfAll(options, told, suppressed) + textOfRest(report);
  if (options.log.empty())
    fmt::print(stderr, "{}", text);
  else if (auto written = writeText(options.log, text); !written)
    return complain(written.error().message);
  return fails ? options.exitCode : status;
}

}  // namespace

int check(const CheckOptions& options, const std::vector<std::string>& program) {
  const auto known = readKnown(options);
  if (!known) return complain(known.error().message);
  setenv("ORDITO_THREADS", "1", 1);  // events come in the order in which memory changes
  if (options.wantsLeaks) setenv("ORDITO_CHECK_LEAKS", "1", 1);
  setenv("ORDITO_HANG_TIMEOUT", kHangSeconds, 0);
  limitKernels(options.kernelTimeout, options.hangTimeout);
  if (options.skipsValues) setenv("ORDITO_CHECK_VALUES", "0", 1);
  const auto [status, report] = runForReport("ORDITO_CHECK", options.json, program);
  if (status == 127) return status;
  if (!report) return complain(report.error().message);
  return conclude(*report, options, *known, status);
}

void addCheckCommand(CLI::App& app) {
  auto options = std::make_shared<CheckOptions>();
  CLI::App* command = app.add_subcommand("check", "Run a program and report memory errors and races of its kernels");
  command->add_option("--gpu", options->gpu, "The GPU to show to the program (see ordito gpus)");
  command->add_option("--json", options->json, "Write the findings to a file, as JSON");
  command->add_option("--sarif", options->sarif, "The same as SARIF 2.1.0");
  command->add_option("--junit", options->junit, "The same as JUnit's XML");
  command->add_flag("--github", options->isForGithub, "Print remarks for the log of a job on GitHub");
  command->add_option("--format", options->format, "How to word findings")
      ->check(CLI::IsMember({"text", "compute-sanitizer"}));
  command->add_option("--fail-on", options->failOn, "End with status 99 if there is a finding as bad as this")
      ->check(CLI::IsMember({"error", "warning", "note", "never"}));
  command->add_option("--exit-code", options->exitCode, "The status instead of 99");
  command->add_option("--suppress", options->suppressions, "A file of lines 'rule kernel file:line' of what is known");
  command->add_option("--baseline", options->baseline, "A file of the findings that are known already");
  command->add_option("--write-baseline", options->newBaseline, "Write such a file of this run's findings");
  command->add_option("--log", options->log, "Write the text to a file");
  command->add_option("--limit", options->limit, "Print at most so many findings");
  command->add_flag("--no-uninitialised", options->skipsValues,
                    "Do not follow uninitialised values: kernels run as compiled code, much faster");
  command->add_option("--kernel-timeout", options->kernelTimeout,
                      "Stop a kernel after so many seconds (default: never)");
  command->add_option("--hang-timeout", options->hangTimeout,
                      "Stop kernels that for so many seconds only wait (default: 10; 0: never)");
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
