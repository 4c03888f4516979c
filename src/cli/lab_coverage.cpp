// See lab_coverage.hpp.
#include "cli/lab_coverage.hpp"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

namespace ordito::cli {
namespace {

using nlohmann::json;

CoverageRow readRow(const json& from) {
  return {from.at("id"),
          from.at("title"),
          from.value("program", std::string()),
          from.value("tests", std::vector<std::string>()),
          from.value("missing", std::string()),
          from.value("needs", std::string())};
}

CoverageGroup readGroup(const json& from) {
  CoverageGroup group{from.at("name"), {}};
  for (const json& row : from.at("rows")) group.rows.push_back(readRow(row));
  return group;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

/// What a person reads in the last column.
std::string evidence(const CoverageRow& row) {
  if (!row.tests.empty()) return joined(row.tests);
  return row.missing.empty() ? "not yet" : "not yet: " + row.missing;
}

}  // namespace

std::size_t CoverageGroup::covered() const {
  return static_cast<std::size_t>(
      std::count_if(rows.begin(), rows.end(), [](const CoverageRow& row) { return !row.tests.empty(); }));
}

Expected<std::vector<CoverageGroup>> loadCoverage(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / "coverage.json";
  std::ifstream file(path);
  if (!file) return fail("cannot read {}", path.string());
  try {
    const json document = json::parse(file);
    std::vector<CoverageGroup> groups;
    for (const json& group : document.at("groups")) groups.push_back(readGroup(group));
    return groups;
  } catch (const json::exception& error) {
    return fail("{}: {}", path.string(), error.what());
  }
}

report::Sheet coverageSheet(const std::vector<CoverageGroup>& groups) {
  report::Sheet sheet({{.key = "row", .title = "row"},
                       {.key = "title", .title = "what it is"},
                       {.key = "program", .title = "program"},
                       {.key = "covered", .title = "", .audience = report::Audience::Programs},
                       {.key = "needs", .title = "needs"},
                       {.key = "shown_by", .title = "shown by"}});
  for (const CoverageGroup& group : groups) {
    for (const CoverageRow& row : group.rows) {
      sheet.add({row.id, row.title, row.program, !row.tests.empty(), row.needs, evidence(row)});
    }
  }
  return sheet;
}

report::Sheet coverageTotals(const std::vector<CoverageGroup>& groups) {
  report::Sheet sheet(
      {{.key = "group", .title = "group"}, {.key = "covered", .title = "covered"}, {.key = "rows", .title = "rows"}});
  std::int64_t covered = 0;
  std::int64_t rows = 0;
  for (const CoverageGroup& group : groups) {
    const auto some = static_cast<std::int64_t>(group.covered());
    const auto all = static_cast<std::int64_t>(group.rows.size());
    sheet.add({group.name, some, all});
    covered += some;
    rows += all;
  }
  sheet.add({std::string("all"), covered, rows});
  return sheet;
}

}  // namespace ordito::cli
