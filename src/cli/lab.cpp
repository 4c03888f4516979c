// See lab.hpp. A program is run twice (lab_runner.hpp): once as it is, for the times, and once with counters on, for
// what a GPU profiler would show.
#include "cli/lab.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include "cli/lab_catalogue.hpp"
#include "cli/lab_coverage.hpp"
#include "cli/lab_exercise.hpp"
#include "cli/lab_explain.hpp"
#include "cli/lab_order.hpp"
#include "cli/lab_plot.hpp"
#include "cli/lab_read.hpp"
#include "cli/lab_report.hpp"
#include "cli/lab_runner.hpp"
#include "cli/lab_study.hpp"
#include "cli/lab_timeline.hpp"
#include "machine/gpu.hpp"

namespace ordito::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kRight = 0;
constexpr int kWrong = 1;
constexpr int kUsage = 2;

int complain(int status, std::string_view message) {
  fmt::print(stderr, "ordito lab: {}\n", message);
  return status;
}

/// "1000" or "2^20", as the courses write sizes; the program itself knows what is too large for it.
bool isSize(std::string_view text) {
  if (text.starts_with("2^")) text.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

// ---------------------------------------------------------------------------------------------------------- output

void printPublishedNote(const LabProgram& program, const json& document) {
  fmt::print("\npublished: {}\n", program.publishedOn);
  if (document.value("size", program.size) != program.size) {
    fmt::print("this run has another size ({}): compare percentages, not times or counts\n",
               document.at("size").dump());
  }
}

void printVerdict(const json& document) {
  int right = 0;
  int judged = 0;
  for (const json& variant : document.at("variants")) {
    if (!variant.at("verified").is_boolean()) continue;  // skipped, or known to compute nothing
    ++judged;
    if (variant.at("verified").get<bool>()) ++right;
  }
  fmt::print("{}{} of {} variants equal their sequential reference\n", right == judged ? "" : "WRONG: only ", right,
             judged);
}

void printRecording(const LabCatalogue& catalogue, const report::Sheet& sheet) {
  const LabRecording times = catalogue.recording();
  const LabRecording profile = catalogue.profiling();
  std::set<std::string> lines;
  for (const report::Column& column : sheet.columns()) {
    if (!column.key.starts_with("recorded ")) continue;
    const bool time = column.key.ends_with("_ms");
    lines.insert(fmt::format("recorded: {}, {}, {}the same program built by nvcc\n", (time ? times : profile).device,
                             (time ? times : profile).date, time ? "" : "its profiler, "));
  }
  for (const std::string& line : lines) fmt::print("{}", line);
}

/// Joins with ", " what `keep` keeps.
template <class Keep, class Show>
std::string listed(const std::vector<std::string>& names, Keep keep, Show show) {
  std::string text;
  for (const std::string& name : names) {
    if (keep(name)) text += (text.empty() ? "" : ", ") + show(name);
  }
  return text;
}

/// Where a GPU counts something else, because its compiler makes other code of the same source.
void printDifferences(const LabCatalogue& catalogue, const LabProgram& program, const json& document) {
  auto shown = [&](const std::string& name) {
    return std::ranges::any_of(document.at("variants"), [&](const json& variant) {
      return variant.at("name") == name && variant.value("launch_count", 0) > 0;
    });
  };
  for (const LabDifference& difference : catalogue.differences(program)) {
    const std::string variants = listed(difference.variants, shown, [](const std::string& name) { return name; });
    if (variants.empty()) continue;
    const std::string counts = listed(difference.metrics, [](const std::string&) { return true; }, metricInWords);
    fmt::print("{}\n", wrapped(fmt::format("an {} counts otherwise for {} ({}): {}", catalogue.recording().device,
                                           variants, counts, difference.why)));
  }
}

void printTable(const LabCatalogue& catalogue, const LabProgram& program, const json& document,
                const report::Sheet& sheet) {
  fmt::print("{}\n{} {} on {}\n\n{}", program.title, document.at("size").dump(), program.unit,
             document.at("device").get<std::string>(), sheet.table(report::styleForStdout()));
  printVerdict(document);
  for (const json& note : document.at("notes")) fmt::print("{}\n", note.get<std::string>());
  printPublishedNote(program, document);
  printRecording(catalogue, sheet);
  fmt::print("{}", orderRemarks(catalogue, program, document));
  printDifferences(catalogue, program, document);
}

void printJson(const LabProgram& program, json document, const report::Sheet& sheet) {
  document["published_on"] = program.publishedOn;
  document["spec"] = program.spec;
  document["table"] = json::parse(sheet.json().dump());
  fmt::print("{}\n", document.dump(1));
}

void print(const LabRequest& request, const LabCatalogue& catalogue, const LabProgram& program, const json& document) {
  const report::Sheet sheet = labSheet(catalogue, program, document);
  if (request.json) {
    printJson(program, document, sheet);
  } else if (request.csv) {
    fmt::print("{}", sheet.csv());
  } else {
    printTable(catalogue, program, document, sheet);
    if (request.explain) fmt::print("\n{}", explainLadder(document));
  }
}

void printStudy(const LabRequest& request, const LabCatalogue& catalogue, const LabProgram& program, json document) {
  const report::Sheet sheet = studySheet(catalogue, program, document);
  if (request.csv) {
    fmt::print("{}", sheet.csv());
  } else if (request.json) {
    document["study"] = json::parse(sheet.json().dump());
    fmt::print("{}\n", document.dump(1));
  } else {
    fmt::print("{}\n{} {}\n\n{}{}", program.study->title, document.at("size").dump(), program.unit,
               sheet.table(report::styleForStdout()), studyNotes(catalogue, program, document));
  }
}

/// True if the chart can be written, or was not asked for; found out before the program runs.
bool canPlot(const LabRequest& request) {
  return request.plot.empty() || std::ofstream(request.plot, std::ios::app).good();
}

/// True if the chart could be written, or was not asked for.
bool plot(const LabRequest& request, const std::string& chart) {
  if (request.plot.empty()) return true;
  std::ofstream file(request.plot);
  file << chart;
  file.close();
  if (!file) complain(kUsage, fmt::format("cannot write {}", request.plot));
  return static_cast<bool>(file);
}

// -------------------------------------------------------------------------------------------------------- commands

/// The words in lines of at most `width` characters; at least one line.
std::vector<std::string> wrappedWords(const std::vector<std::string>& words, std::size_t width) {
  std::vector<std::string> lines = {""};
  for (const std::string& word : words) {
    if (!lines.back().empty() && lines.back().size() + 1 + word.size() > width) lines.emplace_back();
    lines.back() += (lines.back().empty() ? "" : " ") + word;
  }
  return lines;
}

std::vector<std::string> wordsOf(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

int list(const LabCatalogue& catalogue) {
  report::Sheet sheet({{.key = "name", .title = "name"},
                       {.key = "size", .title = "size"},
                       {.key = "unit", .title = ""},
                       {.key = "title", .title = "what it is"},
                       {.key = "spec", .title = "rows of the specification"}});
  for (const LabProgram& program : catalogue.programs()) {
    std::vector<std::string> titles = wrappedWords(wordsOf(program.title), 44);
    std::vector<std::string> rows = wrappedWords(program.spec, 52);
    const std::size_t count = std::max(titles.size(), rows.size());
    titles.resize(count);
    rows.resize(count);
    sheet.add({program.name, static_cast<std::int64_t>(program.size), program.unit, titles[0], rows[0]});
    for (std::size_t i = 1; i < count; ++i) sheet.add({{}, {}, {}, titles[i], rows[i]});
  }
  fmt::print(
      "{}\nordito lab run NAME runs one; --size N changes its size, --all adds the variants left out by default.\n",
      sheet.table(report::styleForStdout()));
  return kRight;
}

int coverage(const LabRequest& request) {
  const auto groups = loadCoverage(labFolder());
  if (!groups) return complain(kWrong, groups.error().message);
  const report::Sheet rows = coverageSheet(*groups);
  if (request.json) {
    fmt::print("{}\n", rows.json().dump(1));
  } else if (request.csv) {
    fmt::print("{}", rows.csv());
  } else {
    const report::Style style = report::styleForStdout();
    fmt::print("{}\n{}", rows.table(style), coverageTotals(*groups).table(style));
  }
  return kRight;
}

/// What another command ended with; that it could not be run at all is said on standard error.
int statusOf(const Expected<int>& status) { return status ? *status : complain(kWrong, status.error().message); }

/// Says on standard error why a program left no document; it may have said so itself.
int noDocument(const LabProgram& program, const LabRun& run) {
  if (run.status == kUsage) return kUsage;
  return complain(kWrong, fmt::format("{} ended with status {}", program.name, run.status));
}

/// Runs the variants of the program's study one by one, and lays what they count beside the published profile.
int runStudy(const LabCatalogue& catalogue, const LabProgram& program, const fs::path& binary, LabRequest request) {
  if (!program.study) return complain(kUsage, fmt::format("{} has no study; matmul has", program.name));
  if (request.gpu.empty()) request.gpu = program.study->gpu;
  json all;
  bool right = true;
  for (const LabStudy::Launch& launch : program.study->launches) {
    request.variant = launch.variant;
    auto timed = runLabProgram(binary, request);
    if (!timed) return complain(kWrong, timed.error().message);
    if (timed->document.is_null()) return noDocument(program, *timed);
    timed->document.at("variants").at(0)["metrics"] = json::object();
    const auto counted = countLabProgram(binary, request, timed->document);
    if (!counted) complain(kWrong, "no counters: " + counted.error().message);
    right = right && timed->status == 0 && counted;
    if (all.is_null()) {
      all = std::move(timed->document);
    } else {
      all.at("variants").push_back(timed->document.at("variants").at(0));
    }
  }
  printStudy(request, catalogue, program, std::move(all));
  return right ? kRight : kWrong;
}

/// The rest of `run` for a program that is drawn on a line of time. It has no counters: launches of several streams are
/// made in one order and end in another, so nothing says which is whose.
int runTimelines(const LabCatalogue& catalogue, const LabProgram& program, const fs::path& binary,
                 const LabRequest& request, LabRun& timed) {
  fmt::print(stderr, "{}: recording its operations\n", program.name);
  const auto all = labProgramTimelines(binary, request);
  if (!all) complain(kWrong, "no timeline: " + all.error().message);
  if (all) timed.document["timeline"] = timelineJson(*all);
  print(request, catalogue, program, timed.document);
  if (all && !request.json && !request.csv) fmt::print("\n{}", timelineText(*all));
  if (all && !plot(request, timelinePicture(program.title, *all))) return kUsage;
  return timed.status == 0 && all ? kRight : kWrong;
}

/// The program's worked examples, and then what kernels of its variants really did.
int trace(const LabProgram& program, const fs::path& binary, const LabRequest& request) {
  const int status = statusOf(traceLabProgram(binary, request));
  if (status != kRight) return status;
  for (const std::string& variant : program.traced) {
    const auto text = labWarpText(binary, request, variant);
    if (!text) return complain(kWrong, text.error().message);
    fmt::print("a warp of the kernel of {}, access by access\n{}", variant, *text);
  }
  return kRight;
}

/// What --plot draws of a program that is not drawn on a line of time.
Expected<std::string> chart(const LabCatalogue& catalogue, const LabProgram& program, const fs::path& binary,
                            LabRequest request, const json& document) {
  if (program.drawn != "accesses" || request.plot.empty()) return plotLadder(catalogue, program, document);
  if (request.size.empty()) request.size = std::to_string(program.checkedSize);  // the first warp is all that is drawn
  const auto accesses = labProgramAccesses(binary, request);
  if (!accesses) return tl::unexpected(accesses.error());
  return accessPicture(program.title, *accesses);
}

const Exercise* findExercise(const std::vector<Exercise>& exercises, const std::string& name) {
  const auto found = std::ranges::find(exercises, name, &Exercise::name);
  return found == exercises.end() ? nullptr : &*found;
}

int noExercise(const std::vector<Exercise>& exercises, const std::string& name) {
  std::string names;
  for (const Exercise& known : exercises) names += " " + known.name;
  return complain(kUsage, fmt::format("no exercise '{}'; there are:{}", name, names));
}

int run(const LabCatalogue& catalogue, const LabRequest& request) {
  const LabProgram* program = catalogue.find(request.program);
  if (program == nullptr) {
    std::string names;
    for (const LabProgram& known : catalogue.programs()) names += " " + known.name;
    return complain(kUsage, fmt::format("no program '{}'; there are:{}", request.program, names));
  }
  if (!request.gpu.empty()) {
    const auto gpu = machine::findGpu(request.gpu);
    if (!gpu) return complain(kUsage, gpu.error().message);
  }
  if (!canPlot(request)) return complain(kUsage, fmt::format("cannot write {}", request.plot));
  const auto binary = labExecutable(*program);
  if (!binary) return complain(kWrong, binary.error().message);
  if (request.trace) return trace(*program, *binary, request);
  if (request.check) return statusOf(checkLabProgram(*program, *binary, request));
  if (request.study) return runStudy(catalogue, *program, *binary, request);

  auto timed = runLabProgram(*binary, request);
  if (!timed) return complain(kWrong, timed.error().message);
  if (timed->document.is_null()) return noDocument(*program, *timed);
  json& document = timed->document;
  for (json& variant : document.at("variants")) variant["metrics"] = json::object();
  if (program->drawn == "timeline") return runTimelines(catalogue, *program, *binary, request, *timed);
  fmt::print(stderr, "{}: counting\n", program->name);
  const auto counted = countLabProgram(*binary, request, document);
  if (!counted) complain(kWrong, "no counters: " + counted.error().message);
  print(request, catalogue, *program, document);
  const auto picture = chart(catalogue, *program, *binary, request, document);
  if (!picture) return complain(kWrong, picture.error().message);
  if (!plot(request, *picture)) return kUsage;
  return timed->status == 0 && counted ? kRight : kWrong;
}

/// The exercises, or what a student begins one with.
int exercise(const LabRequest& request) {
  const auto exercises = loadExercises(labFolder());
  if (!exercises) return complain(kWrong, exercises.error().message);
  if (request.program.empty()) {
    report::Sheet sheet({{.key = "name", .title = "name"}, {.key = "title", .title = "what it is"}});
    for (const Exercise& one : *exercises) sheet.add({one.name, one.title});
    fmt::print("{}\nordito lab exercise NAME > FILE.cu begins one; ordito lab check NAME FILE.cu judges it.\n",
               sheet.table(report::styleForStdout()));
    return kRight;
  }
  const Exercise* found = findExercise(*exercises, request.program);
  if (found == nullptr) return noExercise(*exercises, request.program);
  const auto start = exerciseStart(labFolder(), *found);
  if (!start) return complain(kWrong, start.error().message);
  fmt::print("{}", *start);
  return kRight;
}

/// The chapters, or one of them.
int read(const LabRequest& request) {
  const auto chapters = courseChapters(labFolder().parent_path() / "course");
  if (!chapters) return complain(kWrong, chapters.error().message);
  if (request.program.empty()) {
    report::Sheet sheet(
        {{.key = "number", .title = "chapter"}, {.key = "name", .title = "name"}, {.key = "title", .title = "title"}});
    for (const Chapter& chapter : *chapters) sheet.add({chapter.number, chapter.name, chapter.title});
    fmt::print("{}\nordito lab read NAME prints one.\n", sheet.table(report::styleForStdout()));
    return kRight;
  }
  const auto text = chapterText(*chapters, request.program);
  if (!text) return complain(kUsage, text.error().message);
  fmt::print("{}", *text);
  return kRight;
}

int checkSolution(const LabRequest& request) {
  const auto exercises = loadExercises(labFolder());
  if (!exercises) return complain(kWrong, exercises.error().message);
  const Exercise* found = findExercise(*exercises, request.program);
  if (found == nullptr) return noExercise(*exercises, request.program);
  if (!fs::is_regular_file(request.file)) return complain(kUsage, fmt::format("cannot read {}", request.file));
  const auto isPassed = checkExercise(labFolder(), *found, request.file);
  if (!isPassed) return complain(kWrong, isPassed.error().message);
  fmt::print("{}: {}\n", found->name, *isPassed ? "passed" : "not yet");
  return *isPassed ? kRight : kWrong;
}

void describe(CLI::App& app, LabRequest& request) {
  app.require_subcommand(1);
  app.add_subcommand("list", "The programs of the lab");
  CLI::App* coverage = app.add_subcommand("coverage", "Which rows of the specification something shows to work");
  CLI::Option* coverageCsv = coverage->add_flag("--csv", request.csv, "Print CSV");
  coverage->add_flag("--json", request.json, "Print JSON")->excludes(coverageCsv);
  CLI::App* exercise = app.add_subcommand("exercise", "The exercises, or the file to begin one with");
  exercise->add_option("name", request.program, "An exercise");
  CLI::App* read = app.add_subcommand("read", "The chapters of the course, or one of them");
  read->add_option("chapter", request.program, "Its number or name");
  CLI::App* check = app.add_subcommand("check", "Judge an exercise: result, counters, memory errors and races");
  check->add_option("name", request.program, "An exercise from 'ordito lab exercise'")->required();
  check->add_option("file", request.file, "Your file")->required();
  CLI::App* run = app.add_subcommand("run", "Run a program, verify it, and set its counters beside the published ones");
  run->add_option("name", request.program, "A program from 'ordito lab list'")->required();
  auto validSize = [](const std::string& text) {
    return isSize(text) ? std::string() : "'" + text + "' is not a size (try 1000 or 2^20)";
  };
  run->add_option("--size", request.size, "Elements, or rows of a matrix; 2^26 is understood")->check(validSize);
  run->add_option("--block", request.block, "Threads per block, where a variant lets one choose")->check(validSize);
  run->add_option("--gpu", request.gpu, "The GPU to show to the program (see 'ordito gpus')");
  run->add_option("--file", request.file, "A text or image, for the programs that work on one");
  run->add_option("--rounds", request.rounds, "Repetitions, the median is reported")->check(CLI::Range(1, 1000));
  CLI::Option* variant = run->add_option("--variant", request.variant, "Only this variant");
  run->add_flag("--all", request.all, "Also the variants left out by default")->excludes(variant);
  run->add_option("--plot", request.plot, "Write the ladder as a bar chart, or a timeline, to this file (SVG)");
  run->add_flag("--explain", request.explain, "Say of each rung which counters changed");
  run->add_flag("--trace", request.trace, "The program's worked examples, step by step, instead of the table");
  run->add_flag("--study", request.study, "The published profile, metric by metric, instead of the table (matmul)")
      ->excludes(variant);
  run->add_flag("--check", request.check, "Look for memory errors and races instead, at a small size");
  CLI::Option* csv = run->add_flag("--csv", request.csv, "Print CSV");
  run->add_flag("--json", request.json, "Print JSON")->excludes(csv);
}

}  // namespace

int runLab(const std::vector<std::string>& arguments) {
  CLI::App app("The courses' programs beside their published figures", "ordito lab");
  LabRequest request;
  describe(app, request);
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));  // CLI11 takes them from the back
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}",
               app.help("", app.get_subcommands().empty() ? CLI::AppFormatMode::All : CLI::AppFormatMode::Normal));
    return kRight;
  } catch (const CLI::ParseError& error) {
    return complain(kUsage, std::string(error.what()) + " (see ordito lab --help)");
  }
  if (app.got_subcommand("exercise")) return exercise(request);
  if (app.got_subcommand("read")) return read(request);
  if (app.got_subcommand("check")) return checkSolution(request);
  const auto catalogue = LabCatalogue::load(labFolder());
  if (!catalogue) return complain(kWrong, catalogue.error().message);
  if (app.got_subcommand("list")) return list(*catalogue);
  if (app.got_subcommand("coverage")) return coverage(request);
  return run(*catalogue, request);
}

}  // namespace ordito::cli
