// A profile (the JSON that libcuda writes) as a sheet: one row for each launch, or for each instruction that moved
// most.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "base/error.hpp"
#include "report/sheet.hpp"

namespace ordito::cli {

/// Fails when `profile` is not such a JSON.
Expected<report::Sheet> profileSheet(const nlohmann::ordered_json& profile);
Expected<report::Sheet> hotspotSheet(const nlohmann::ordered_json& hotspots, size_t most);

}  // namespace ordito::cli
