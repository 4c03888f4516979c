// A profile (the JSON that libcuda writes) as sheets: one row for each launch, for each library call's name, or for
// each instruction that moved most.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "base/error.hpp"
#include "report/sheet.hpp"

namespace ordito::cli {

/// Fails when `profile` is not such a JSON.
Expected<report::Sheet> profileSheet(const nlohmann::ordered_json& profile);
Expected<report::Sheet> libraryCallSheet(const nlohmann::ordered_json& profile);
Expected<report::Sheet> hotspotSheet(const nlohmann::ordered_json& hotspots, size_t most);

}  // namespace ordito::cli
