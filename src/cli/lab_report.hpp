// From what a lab program measured and what the profiler counted to the table that stands beside the published one.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "cli/lab_catalogue.hpp"
#include "report/sheet.hpp"

namespace ordito::cli {

/// The program's own document, with `metrics` added to each variant: the sums over its launches, taken from the
/// profile. Launches are matched by their order, and checked by the kernel's name.
Expected<> addMetrics(nlohmann::json& document, const nlohmann::json& counted, const nlohmann::json& profile);

/// "NVIDIA H200" is the H200 for a heading.
std::string shortName(const std::string& device);

/// The value that a column or a row of a study shows of a variant: a metric, or what follows from several.
std::optional<double> labValue(const std::string& key, const nlohmann::json& variant);

/// What a GPU's profiler said (LabCatalogue::profiled), in the form of a variant, so that the same values follow from
/// it.
nlohmann::json profiledVariant(const nlohmann::json& metrics, const nlohmann::json& ours);

/// A count is a whole number; times, rates and percentages keep their decimals even when they happen to be whole.
report::Cell labCell(std::optional<double> value, const LabColumn& column);

/// One row per variant: the catalogue's columns, ours beside the published.
report::Sheet labSheet(const LabCatalogue& catalogue, const LabProgram& program, const nlohmann::json& document);

}  // namespace ordito::cli
