// See lab_exercise.hpp. Four runs: the judge at all sizes, one call with counters or a line of time, and one small call
// under `ordito check`. A run is made only if the one before ended well.
#include "cli/lab_exercise.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/capture.hpp"
#include "frontend/prefix.hpp"
#include "frontend/process.hpp"

namespace ordito::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

ExerciseBound boundOf(const json& from) { return {from.at("metric"), from.at("at_most"), from.at("words")}; }

Exercise exerciseOf(const json& from) {
  Exercise exercise;
  exercise.name = from.at("name");
  exercise.title = from.at("title");
  exercise.countedSize = from.at("counted_size").dump();
  exercise.checkedSize = from.at("checked_size").dump();
  exercise.streamsAtLeast = from.value("streams_at_least", 0);
  exercise.copiesAtLeast = from.value("copies_at_least", 0);
  for (const json& bound : from.at("bounds")) exercise.bounds.push_back(boundOf(bound));
  return exercise;
}

Expected<std::string> fileText(const fs::path& path) {
  std::ifstream file(path);
  if (!file) return fail("cannot read {}", path.string());
  return std::string(std::istreambuf_iterator<char>(file), {});
}

/// One check of one file: its judge's executable, and where what a run records goes.
class Checking {
 public:
  Checking(const Exercise& exercise, const fs::path& labFolder, const fs::path& file)
      : exercise_(exercise),
        judge_(labFolder / "exercises" / exercise.name / "judge.cu"),
        file_(fs::absolute(file)),
        binary_(folder_.path() / "judge") {}

  Expected<bool> run() {
    const auto isCompiled = compile();
    if (!isCompiled || !*isCompiled) return isCompiled;
    const auto isRight = judgeResult();
    if (!isRight || !*isRight) return isRight;
    const auto isFrugal = judgeCounters();
    if (!isFrugal) return isFrugal;
    const auto isOverlapping = judgeTimeline();
    if (!isOverlapping) return isOverlapping;
    const auto isClean = judgeByChecker();
    if (!isClean) return isClean;
    return *isFrugal && *isOverlapping && *isClean;
  }

 private:
  static void say(const char* question, const std::string& answer) { fmt::print("{:<10} {}\n", question, answer); }

  /// An `ordito` command, its own options before the judge's.
  Expected<Outcome> ordito(std::vector<std::string> words, const char* variable = nullptr) const {
    CapturedCommand command;
    command.arguments = {(frontend::installPrefix() / "bin" / "ordito").string()};
    command.arguments.insert(command.arguments.end(), words.begin(), words.end());
    if (variable) command.environment.emplace_back(variable, recordingFile().string());
    return capture(command);
  }
  fs::path recordingFile() const { return folder_.path() / "recording.json"; }

  Expected<bool> compile() const {
    const std::string define = fmt::format("-DEXERCISE=\"{}\"", file_.string());
    const auto outcome =
        ordito({"nvcc", "-O3", "-std=c++17", "-lineinfo", define, judge_.string(), "-o", binary_.string()});
    if (!outcome) return tl::unexpected(outcome.error());
    if (outcome->status != 0) say("result", "it does not compile (see above)");
    return outcome->status == 0;
  }

  Expected<bool> judgeResult() const {
    const auto outcome = ordito({"run", binary_.string()});
    if (!outcome) return tl::unexpected(outcome.error());
    if (outcome->status == 0) {
      say("result", "right at every size");
    } else if (outcome->output.empty()) {
      say("result", fmt::format("it ended with status {} (see above)", outcome->status));
    } else {
      say("result", outcome->output.substr(0, outcome->output.find_last_not_of('\n') + 1));
    }
    return outcome->status == 0;
  }

  /// What one call of the counted size leaves in the file that `variable` names.
  Expected<json> recording(const char* variable) const {
    const auto outcome = ordito({"run", binary_.string(), "--size", exercise_.countedSize}, variable);
    if (!outcome) return tl::unexpected(outcome.error());
    if (outcome->status != 0) return fail("the counted run ended with status {}", outcome->status);
    const auto text = fileText(recordingFile());
    if (!text) return tl::unexpected(text.error());
    json recorded = json::parse(*text, nullptr, false);
    if (recorded.is_discarded()) return fail("what the counted run left is not JSON");
    return recorded;
  }

  Expected<bool> judgeCounters() const {
    if (exercise_.bounds.empty()) return true;
    const auto profile = recording("ORDITO_PROFILE");
    if (!profile) return tl::unexpected(profile.error());
    bool isFrugal = true;
    for (const ExerciseBound& bound : exercise_.bounds) {
      double all = 0;
      for (const json& launch : profile->at("launches")) all += launch.at("metrics").value(bound.metric, 0.0);
      isFrugal = isFrugal && all <= bound.atMost;
      say("counters", fmt::format("{} {}, {} {}", all, bound.words,
                                  all <= bound.atMost ? "at most" : "TOO MANY: at most", bound.atMost));
    }
    return isFrugal;
  }

  Expected<bool> judgeTimeline() const {
    if (exercise_.streamsAtLeast == 0) return true;
    const auto timeline = recording("ORDITO_TIMELINE");
    if (!timeline) return tl::unexpected(timeline.error());
    std::set<int> streams;
    int copies = 0;
    for (const json& event : timeline->at("traceEvents")) {
      if (event.value("ph", std::string()) != "X" || event.value("cat", std::string()) != "copy") continue;
      streams.insert(event.at("tid").get<int>());
      ++copies;
    }
    const bool isMany = static_cast<int>(streams.size()) >= exercise_.streamsAtLeast;
    const bool isCut = copies >= exercise_.copiesAtLeast;
    say("streams", fmt::format("{} with copies, {} {}", streams.size(), isMany ? "at least" : "TOO FEW: at least",
                               exercise_.streamsAtLeast));
    say("copies", fmt::format("{}, {} {}", copies, isCut ? "at least" : "TOO FEW: at least", exercise_.copiesAtLeast));
    return isMany && isCut;
  }

  Expected<bool> judgeByChecker() const {
    std::fflush(stdout);  // findings come on standard error
    const auto outcome = ordito({"check", binary_.string(), "--size", exercise_.checkedSize});
    if (!outcome) return tl::unexpected(outcome.error());
    say("checker", outcome->status == 0 ? "no memory error, no race" : "it found something (see above)");
    return outcome->status == 0;
  }

  const Exercise& exercise_;
  frontend::TemporaryFolder folder_;
  fs::path judge_, file_, binary_;
};

}  // namespace

Expected<std::vector<Exercise>> loadExercises(const fs::path& labFolder) {
  const fs::path path = labFolder / "exercises" / "exercises.json";
  const auto text = fileText(path);
  if (!text) return tl::unexpected(text.error());
  try {
    std::vector<Exercise> exercises;
    const json document = json::parse(*text);
    for (const json& exercise : document.at("exercises")) exercises.push_back(exerciseOf(exercise));
    return exercises;
  } catch (const json::exception& error) {
    return fail("{}: {}", path.string(), error.what());
  }
}

Expected<std::string> exerciseStart(const fs::path& labFolder, const Exercise& exercise) {
  return fileText(labFolder / "exercises" / exercise.name / "start.cu");
}

Expected<bool> checkExercise(const fs::path& labFolder, const Exercise& exercise, const fs::path& file) {
  return Checking(exercise, labFolder, file).run();
}

}  // namespace ordito::cli
