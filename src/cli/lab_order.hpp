// Whether a GPU's recorded times come in the published order.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "cli/lab_catalogue.hpp"

namespace ordito::cli {

/// For each two variants that are neighbours in the published order of times, a sentence if the recorded ones are in
/// the other order or equal but for noise; empty if there is nothing to say.
std::string orderRemarks(const LabCatalogue& catalogue, const LabProgram& program, const nlohmann::json& document);

}  // namespace ordito::cli
