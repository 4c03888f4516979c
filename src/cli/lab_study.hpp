// A published profile of a few launches beside ours and a GPU's: `ordito lab run matmul --study`.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "cli/lab_catalogue.hpp"
#include "report/sheet.hpp"

namespace ordito::cli {

/// For each metric of the program's study a line with the published values, one with ours and one with those that the
/// profiler of a GPU reported; a column for each launch. `document` has the study's variants, with their metrics.
report::Sheet studySheet(const LabCatalogue& catalogue, const LabProgram& program, const nlohmann::json& document);

/// What people must know to read it: whose limits ours are, and of which device, day and size the last line is.
std::string studyNotes(const LabCatalogue& catalogue, const LabProgram& program, const nlohmann::json& document);

}  // namespace ordito::cli
