// From what a lab program measured and what the profiler counted to the table that stands beside the published one.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "base/error.hpp"
#include "cli/lab_catalogue.hpp"
#include "report/sheet.hpp"

namespace ordito::cli {

/// The program's own document, with `metrics` added to each variant: the sums over its launches, taken from the
/// profile. Launches are matched by their order, and checked by the kernel's name.
Expected<> addMetrics(nlohmann::json& document, const nlohmann::json& counted, const nlohmann::json& profile);

/// One row per variant: the catalogue's columns, ours beside the published.
report::Sheet labSheet(const LabCatalogue& catalogue, const LabProgram& program, const nlohmann::json& document);

}  // namespace ordito::cli
