// compute-sanitizer by NVIDIA's name: its command line, and its wording of findings for parsers that exist. Each of its
// tools is a set of our rules; all of them are looked at in one run.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "cli/check.hpp"
#include "cli/check_findings.hpp"
#include "cli/commands.hpp"

namespace ordito::cli {

namespace {

using Words = std::vector<std::string>;

std::string wordOf(const FindingJson& object, const char* name) { return object.at(name).get<std::string>(); }

std::string triple(const FindingJson& n) {
  return fmt::format("({},{},{})", n[0].get<uint32_t>(), n[1].get<uint32_t>(), n[2].get<uint32_t>());
}

/// "__shared__", by what the finding says of the memory.
const char* spaceOf(const FindingJson& f) {
  const std::string about = wordOf(f, "object") + wordOf(f, "message");
  const auto says = [&](const char* word) { return about.find(word) != std::string::npos; };
  return says("shared") ? "__shared__" : says("local memory") ? "__local__" : "__global__";
}

std::string at(const FindingJson& f, const FindingJson& access) {
  const SourcePlace place = placeOf(access);
  if (!place.line) return fmt::format("{} at PTX line {}", wordOf(f, "kernel"), access.at("ptx_line").get<uint32_t>());
  return fmt::format("{} in {}:{}", wordOf(f, "kernel"), place.file, place.line);
}

std::string capitalised(std::string word) {
  if (!word.empty()) word[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(word[0])));
  return word;
}

/// The lines of a finding at one access.
Words accessLines(const FindingJson& f) {
  const FindingJson& a = f.at("accesses")[0];
  const auto rule = wordOf(f, "rule");
  const auto kind = wordOf(a, "kind") == "atomic operation" ? "atomic" : wordOf(a, "kind");
  const auto bytes = a.at("bytes").get<uint32_t>();
  Words lines;
  if (rule == "memory.uninitialised")
    lines.push_back(fmt::format("Uninitialized {} memory read of size {} bytes", spaceOf(f), bytes));
  else
    lines.push_back(fmt::format("Invalid {} {} of size {} bytes", spaceOf(f), kind, bytes));
  lines.push_back("    at " + at(f, a));
  lines.push_back(fmt::format("    by thread {} in block {}", triple(a.at("thread")), triple(a.at("block"))));
  if (rule == "memory.misaligned")
    lines.push_back("    Access is misaligned");
  else if (rule != "memory.uninitialised")
    lines.push_back("    Access is out of bounds");
  lines.push_back("    " + wordOf(f, "object"));
  return lines;
}

Words raceLines(const FindingJson& f) {
  const FindingJson &one = f.at("accesses")[0], &two = f.at("accesses")[1];
  return {fmt::format("{}: Race reported between {} access at {}", rankOf(f) == 2 ? "Error" : "Warning",
                      capitalised(wordOf(one, "kind")), at(f, one)),
          fmt::format("    and {} access at {} [{} hazards]", capitalised(wordOf(two, "kind")), at(f, two),
                      f.at("count").get<uint64_t>())};
}

Words linesOf(const FindingJson& f) {
  if (wordOf(f, "rule").starts_with("race.") && f.at("accesses").size() == 2) return raceLines(f);
  if (!f.at("accesses").empty()) return accessLines(f);
  return {wordOf(f, "message")};
}

/// Which of our rules a tool of theirs stands for.
bool belongsTo(const std::string& tool, const std::string& rule) {
  const auto begins = [&](std::string_view prefix) { return rule.starts_with(prefix); };
  if (tool == "racecheck") return begins("race.");
  if (tool == "initcheck") return begins("memory.uninitialised");
  if (tool == "synccheck") return begins("sync.") || rule == "launch.failed";
  return !begins("race.") && !begins("memory.uninitialised") && !begins("sync.");
}

/// Those that ask for what we do anyhow, or for what has no meaning without a GPU, with the number of their values.
const std::map<std::string, int> kWithoutEffect = {{"--target-processes", 1},
                                                   {"--show-backtrace", 1},
                                                   {"--launch-timeout", 1},
                                                   {"--padding", 1},
                                                   {"--strip-paths", 1},
                                                   {"--demangle", 1},
                                                   {"--destroy-on-device-error", 1},
                                                   {"--print-level", 1},
                                                   {"--racecheck-report", 1},
                                                   {"--check-api-memory-access", 1},
                                                   {"--check-device-heap", 1},
                                                   {"--track-stream-ordered-races", 1},
                                                   {"--force-blocking-launches", 0},
                                                   {"--language", 1},
                                                   {"--port", 1},
                                                   {"--max-connections", 1},
                                                   {"--require-cuda-init", 1},
                                                   {"--nvtx", 1},
                                                   {"--report-api-errors", 1}};

[[noreturn]] void refuse(const std::string& message) {
  fmt::print(stderr, "compute-sanitizer (ordito): {}\n", message);
  std::exit(1);
}

struct Parsed {
  CheckOptions options;
  Words program;
};

/// `--option value` and `--option=value`.
Parsed parse(const Words& words) {
  Parsed parsed;
  CheckOptions& o = parsed.options;
  o.format = "compute-sanitizer";
  o.failOn = "never";
  size_t i = 0;
  for (; i < words.size() && words[i].starts_with("-"); ++i) {
    const size_t equals = words[i].find('=');
    const std::string name = words[i].substr(0, equals);
    const auto value = [&]() -> std::string {
      if (equals != std::string::npos) return words[i].substr(equals + 1);
      if (i + 1 == words.size()) refuse(fmt::format("{} needs a value", name));
      return words[++i];
    };
    const auto number = [&] {
      const std::string text = value();
      if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos)
        refuse(fmt::format("{} needs a number, not '{}'", name, text));
      return std::atoi(text.c_str());
    };
    if (name == "--tool" || name == "-t") {
      const std::string tool = value();
      if (tool != "memcheck" && tool != "racecheck" && tool != "initcheck" && tool != "synccheck")
        refuse(fmt::format("--tool {}: there are memcheck, racecheck, initcheck and synccheck", tool));
      o.takes = [tool](const std::string& rule) { return belongsTo(tool, rule); };
      o.skipsValues = tool != "initcheck";
    } else if (name == "--error-exitcode") {
      o.exitCode = number();
      o.failOn = "warning";
    } else if (name == "--leak-check") {
      o.wantsLeaks = value() == "full";
    } else if (name == "--log-file") {
      o.log = value();
    } else if (name == "--print-limit") {
      o.limit = static_cast<size_t>(number());
    } else if (name == "--racecheck-detect-level") {
      o.wantsNotes = value() == "info";
    } else if (name == "--version") {
      fmt::print("ordito check, with the command line of compute-sanitizer\n");
      std::exit(0);
    } else if (name == "--help" || name == "-h") {
      fmt::print(
          "usage: compute-sanitizer [--tool memcheck|racecheck|initcheck|synccheck] [--error-exitcode N] [--leak-check "
          "full|no]\n  [--log-file FILE] [--print-limit N] [--racecheck-detect-level info|warning|error] PROGRAM "
          "ARGS...\nRuns `ordito check`; without --tool all rules count.\n");
      std::exit(0);
    } else if (const auto known = kWithoutEffect.find(name); known != kWithoutEffect.end()) {
      if (known->second) value();
    } else {
      refuse(fmt::format("unknown option {}; ordito check --help has what can be asked for", words[i]));
    }
  }
  parsed.program.assign(words.begin() + static_cast<ptrdiff_t>(i), words.end());
  if (parsed.program.empty()) refuse("no program given");
  return parsed;
}

}  // namespace

std::string sanitizerTextOf(const FindingJson& f) {
  std::string text;
  for (const std::string& line : linesOf(f)) text += "========= " + line + "\n";
  return text + "=========\n";
}

int runComputeSanitizer(const std::vector<std::string>& words) {
  const Parsed parsed = parse(words);
  findOurLibraries(parsed.program);
  return check(parsed.options, parsed.program);
}

}  // namespace ordito::cli
