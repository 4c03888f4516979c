// See lab_catalogue.hpp.
#include "cli/lab_catalogue.hpp"

#include <fstream>

namespace ordito::cli {
namespace {

using nlohmann::json;

Expected<json> readJson(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) return fail("cannot read {}", path.string());
  try {
    return json::parse(file);
  } catch (const json::exception& error) {
    return fail("{}: {}", path.string(), error.what());
  }
}

LabColumn readColumn(const json& from) {
  return {from.at("key"),
          from.at("title"),
          from.value("scale", 1.0),
          from.value("digits", 2),
          from.value("published", std::vector<std::string>()),
          from.value("ours", true),
          from.value("published_scale", 1.0),
          from.value("unit", std::string()),
          from.value("why", std::string())};
}

LabStudy readStudy(const json& from) {
  LabStudy study{from.at("title"), from.at("gpu"), {}, {}, from.at("notes")};
  for (const json& launch : from.at("launches")) study.launches.push_back({launch.at("variant"), launch.at("title")});
  for (const json& row : from.at("rows")) study.rows.push_back(readColumn(row));
  return study;
}

FigureQuery readQuery(const json& from) {
  return {from.at("experiment"), from.value("where", json::object()), from.value("hardware", std::string())};
}

LabProgram readProgram(const json& from) {
  LabProgram program;
  program.name = from.at("name");
  program.title = from.at("title");
  program.source = from.at("source");
  program.options = from.value("options", std::vector<std::string>());
  program.spec = from.at("spec").get<std::vector<std::string>>();
  program.size = from.at("size");
  program.checkedSize = from.value("checked_size", std::uint64_t{1000});
  program.unit = from.at("unit");
  program.baseline = from.at("baseline");
  program.drawn = from.value("drawn", std::string());
  program.traced = from.value("traced", std::vector<std::string>());
  program.publishedOn = from.at("published_on");
  for (const json& column : from.at("columns")) program.columns.push_back(readColumn(column));
  for (const auto& [variant, queries] : from.at("figures").items()) {
    for (const json& query : queries) program.figures[variant].push_back(readQuery(query));
  }
  if (from.contains("study")) program.study = readStudy(from.at("study"));
  return program;
}

bool matches(const json& record, const FigureQuery& query, const std::string& metric) {
  if (record.at("experiment") != query.experiment || record.at("metric") != metric) return false;
  if (!query.hardware.empty() && record.at("hardware") != query.hardware) return false;
  const json& parameters = record.at("parameters");
  for (const auto& [name, value] : query.where.items()) {
    if (!parameters.contains(name) || parameters.at(name) != value) return false;
  }
  return record.at("value").is_number();
}

LabRecording originOf(const json& recording) {
  return {recording.value("device", std::string()), recording.value("date", std::string())};
}

/// What a recording has of the variant, null if the program was recorded at another size.
json variantAt(const json& recording, const LabProgram& program, std::uint64_t size, const std::string& variant) {
  const json::json_pointer entry = json::json_pointer("/programs") / program.name;
  if (!recording.contains(entry) || recording.at(entry).value("size", std::uint64_t{0}) != size) return nullptr;
  const json::json_pointer found = entry / "variants" / variant;
  return recording.contains(found) ? recording.at(found) : json();
}

}  // namespace

Expected<LabCatalogue> LabCatalogue::load(const std::filesystem::path& folder) {
  auto programs = readJson(folder / "catalogue.json");
  if (!programs) return tl::unexpected(programs.error());
  auto figures = readJson(folder / "figures.json");
  if (!figures) return tl::unexpected(figures.error());
  LabCatalogue catalogue;
  for (const auto& [name, target] :
       {std::pair{"recorded.json", &catalogue.recorded_}, std::pair{"profiled.json", &catalogue.profiled_},
        std::pair{"differences.json", &catalogue.differences_}}) {
    *target = json::object();
    if (!std::filesystem::exists(folder / name)) continue;
    auto read = readJson(folder / name);
    if (!read) return tl::unexpected(read.error());
    *target = std::move(*read);
  }
  try {
    for (const json& program : programs->at("programs")) catalogue.programs_.push_back(readProgram(program));
    catalogue.figures_ = figures->at("records");
  } catch (const json::exception& error) {
    return fail("{}: {}", (folder / "catalogue.json").string(), error.what());
  }
  return catalogue;
}

std::vector<LabDifference> LabCatalogue::differences(const LabProgram& program) const {
  const json::json_pointer entry = json::json_pointer("/programs") / program.name;
  std::vector<LabDifference> all;
  if (!differences_.contains(entry)) return all;
  for (const json& difference : differences_.at(entry)) {
    all.push_back({difference.at("variants"), difference.at("metrics"), difference.at("why")});
  }
  return all;
}

LabRecording LabCatalogue::recording() const { return originOf(recorded_); }
LabRecording LabCatalogue::profiling() const { return originOf(profiled_); }

std::optional<double> LabCatalogue::recorded(const LabProgram& program, std::uint64_t size, const std::string& variant,
                                             const std::string& key) const {
  const json entry = variantAt(recorded_, program, size, variant);
  return entry.contains(key) ? std::optional(entry.at(key).get<double>()) : std::nullopt;
}

json LabCatalogue::profiled(const LabProgram& program, std::uint64_t size, const std::string& variant) const {
  return variantAt(profiled_, program, size, variant);
}

const LabProgram* LabCatalogue::find(const std::string& name) const {
  for (const LabProgram& program : programs_) {
    if (program.name == name) return &program;
  }
  return nullptr;
}

std::optional<PublishedFigure> LabCatalogue::published(const LabProgram& program, const std::string& variant,
                                                       const LabColumn& column) const {
  const auto queries = program.figures.find(variant);
  if (queries == program.figures.end()) return std::nullopt;
  for (const std::string& metric : column.published) {
    for (const FigureQuery& query : queries->second) {
      for (const json& record : figures_) {
        if (matches(record, query, metric)) {
          const double value = record.at("value").get<double>() * column.publishedScale;
          return PublishedFigure{value, metric, record.at("unit")};
        }
      }
    }
  }
  return std::nullopt;
}

}  // namespace ordito::cli
