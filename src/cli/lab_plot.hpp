// `ordito lab run --plot`: a program's ladder as a bar chart in SVG.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "cli/lab_catalogue.hpp"

namespace ordito::cli {

/// A row for each variant, and a panel of bars for each source of numbers: ours, the published ones if there are any,
/// and a GPU's if they were recorded at this size. Every panel has a scale of its own.
std::string plotLadder(const LabCatalogue& catalogue, const LabProgram& program, const nlohmann::json& document);

}  // namespace ordito::cli
