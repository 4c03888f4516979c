// The lab's catalogue: which programs there are, which columns their tables have, and which published numbers belong
// beside them. Both are data (share/ordito/lab/catalogue.json and figures.json), so that a new program or a new column
// needs no code.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace ordito::cli {

/// A column of a program's table: one of our own numbers and, where a course printed it, the published one beside it.
struct LabColumn {
  std::string key;  // a metric name of the GPU profiler, or one of the names that lab_report.cpp computes
  std::string title;
  double scale = 1;
  int digits = 2;
  std::vector<std::string> published;  // metric names in figures.json; the first that a variant has is taken
  bool ours = true;                    // false: something that a course printed and we do not count
  double publishedScale = 1;           // from the printed unit to the column's
  std::string unit;                    // in a study, which has no headings
  std::string why;                     // why a study has no number of ours, or none to compare
};

/// A published profile of a few launches, metric by metric: the catalogue's columns turned into rows.
struct LabStudy {
  struct Launch {
    std::string variant;
    std::string title;
  };

  std::string title;
  std::string gpu;  // whose limits the published ones are
  std::vector<Launch> launches;
  std::vector<LabColumn> rows;
  std::vector<std::string> notes;  // what is wrong in the published one
};

/// Which records of figures.json belong to a variant.
struct FigureQuery {
  std::string experiment;
  nlohmann::json where;  // parameters that must be equal
  std::string hardware;  // if not empty, must be equal too
};

struct LabProgram {
  std::string name;
  std::string title;
  std::string source;                // below the lab's folder
  std::vector<std::string> options;  // that nvcc needs for it
  std::vector<std::string> spec;
  std::uint64_t size = 0;
  std::uint64_t checkedSize = 0;  // small enough for the interpreter
  std::string unit;
  std::string baseline;             // the variant that speed-ups refer to
  std::string drawn;                // "result": what a chart shows of programs whose times say nothing; else speed-ups
  std::vector<std::string> traced;  // variants of which --trace shows a warp's accesses, too
  std::string publishedOn;
  std::vector<LabColumn> columns;
  std::map<std::string, std::vector<FigureQuery>> figures;  // by variant
  std::optional<LabStudy> study;
};

struct PublishedFigure {
  double value = 0;
  std::string metric;
  std::string unit;
};

/// Where something was recorded on a real GPU: times (recorded.json; tests/gpu/lab_record.sh writes it) or what only
/// its profiler can tell (profiled.json, from tests/gpu/lab_profile.sh).
struct LabRecording {
  std::string device;  // empty if nothing has been recorded
  std::string date;
};

/// Counts of which a GPU's differ from ours, because its compiler makes other code or it counts otherwise.
struct LabDifference {
  std::vector<std::string> variants;
  std::vector<std::string> metrics;
  std::string why;
};

class LabCatalogue {
 public:
  /// Reads the files of `folder`; the recordings may be missing.
  static Expected<LabCatalogue> load(const std::filesystem::path& folder);

  const std::vector<LabProgram>& programs() const { return programs_; }
  const LabProgram* find(const std::string& name) const;
  std::optional<PublishedFigure> published(const LabProgram& program, const std::string& variant,
                                           const LabColumn& column) const;

  std::vector<LabDifference> differences(const LabProgram& program) const;

  LabRecording recording() const;
  LabRecording profiling() const;
  /// The recorded milliseconds under `key` (kernel_ms, total_ms), if the variant was recorded at this size.
  std::optional<double> recorded(const LabProgram& program, std::uint64_t size, const std::string& variant,
                                 const std::string& key) const;
  /// What the profiler said of the variant, by metric; null if it was not profiled at this size.
  nlohmann::json profiled(const LabProgram& program, std::uint64_t size, const std::string& variant) const;

 private:
  std::vector<LabProgram> programs_;
  nlohmann::json figures_;
  nlohmann::json recorded_;
  nlohmann::json profiled_;
  nlohmann::json differences_;
};

}  // namespace ordito::cli
