// See lab_study.hpp.
#include "cli/lab_study.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/lab_explain.hpp"
#include "cli/lab_report.hpp"

namespace ordito::cli {
namespace {

using nlohmann::json;
using report::Cell;

const json* find(const json& document, const std::string& variant) {
  for (const json& candidate : document.at("variants")) {
    if (candidate.at("name") == variant) return &candidate;
  }
  return nullptr;
}

/// A row has a unit of its own, so its values come scaled.
Cell scaled(std::optional<double> value, const LabColumn& row) {
  if (!value) return {};
  if (row.scale == 1) return labCell(value, row);
  return *value * row.scale;
}

/// One line for each source that has anything to say of the row.
class RowWriter {
 public:
  RowWriter(const LabStudy& study, const LabColumn& row, report::Sheet& sheet)
      : study_(study), row_(row), sheet_(sheet) {}

  /// `value(variant)` for each launch; left out if all are empty and there is no `note` that says why.
  template <class Value>
  void line(const std::string& source, const std::string& note, Value value) {
    std::vector<Cell> cells;
    for (const LabStudy::Launch& launch : study_.launches) cells.push_back(value(launch.variant));
    const bool empty = std::ranges::all_of(cells, [](const Cell& cell) { return cell.index() == 0; });
    if (empty && note.empty()) return;
    std::vector<Cell> line = {first_ ? row_.title : "", row_.key, first_ ? row_.unit : "", source};
    line.insert(line.end(), cells.begin(), cells.end());
    line.emplace_back(note);
    sheet_.add(std::move(line));
    first_ = false;
  }

 private:
  const LabStudy& study_;
  const LabColumn& row_;
  report::Sheet& sheet_;
  bool first_ = true;
};

std::vector<report::Column> columns(const LabStudy& study) {
  std::vector<report::Column> all = {{.key = "title", .title = "metric"},
                                     {.key = "metric", .title = "", .audience = report::Audience::Programs},
                                     {.key = "unit", .title = "unit"},
                                     {.key = "source", .title = ""}};
  for (const LabStudy::Launch& launch : study.launches) all.push_back({.key = launch.variant, .title = launch.title});
  all.push_back({.key = "note", .title = "note"});
  return all;
}

}  // namespace

report::Sheet studySheet(const LabCatalogue& catalogue, const LabProgram& program, const json& document) {
  const LabStudy& study = *program.study;
  const std::uint64_t size = document.value("size", program.size);
  const std::string device = shortName(catalogue.profiling().device);
  report::Sheet sheet(columns(study));
  for (const LabColumn& row : study.rows) {
    RowWriter writer(study, row, sheet);
    writer.line("published", "", [&](const std::string& variant) {
      const auto figure = catalogue.published(program, variant, row);
      return figure ? scaled(figure->value / row.scale, row) : Cell{};
    });
    writer.line("ours", row.why, [&](const std::string& variant) {
      const json* measured = find(document, variant);
      return row.ours && measured != nullptr ? scaled(labValue(row.key, *measured), row) : Cell{};
    });
    writer.line(device, "", [&](const std::string& variant) {
      const json metrics = catalogue.profiled(program, size, variant);
      const json* measured = find(document, variant);
      if (metrics.is_null() || measured == nullptr) return Cell{};
      return scaled(labValue(row.key, profiledVariant(metrics, *measured)), row);
    });
  }
  return sheet;
}

std::string studyNotes(const LabCatalogue& catalogue, const LabProgram& program, const json& document) {
  const std::uint64_t size = document.value("size", program.size);
  std::string text = fmt::format("ours: counted, and timed, on the CPU; limits and registers as on {}\n",
                                 document.at("device").get<std::string>());
  const LabRecording from = catalogue.profiling();
  const bool recorded = std::ranges::any_of(program.study->launches, [&](const LabStudy::Launch& launch) {
    return !catalogue.profiled(program, size, launch.variant).is_null();
  });
  if (recorded) {
    text += fmt::format("{}: {}, {}, its profiler, the same program built by nvcc\n", shortName(from.device),
                        from.device, from.date);
  }
  if (size != program.size) text += fmt::format("the published numbers are of {} {}\n", program.size, program.unit);
  for (const std::string& note : program.study->notes) text += wrapped("published: " + note) + "\n";
  for (const LabStudy::Launch& launch : program.study->launches) {
    const json* variant = find(document, launch.variant);
    const std::string note = variant != nullptr ? variant->value("note", std::string()) : "";
    if (!note.empty()) text += wrapped(fmt::format("{}: {}", launch.variant, note)) + "\n";
  }
  return text;
}

}  // namespace ordito::cli
