// A profile (the JSON that libcuda writes) as a sheet: one row for each launch.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "base/error.hpp"
#include "report/sheet.hpp"

namespace ordito::cli {

/// Fails when `profile` is not such a JSON.
Expected<report::Sheet> profileSheet(const nlohmann::ordered_json& profile);

}  // namespace ordito::cli
