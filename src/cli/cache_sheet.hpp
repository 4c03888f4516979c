// What `ordito profile --caches` prints: a row for each launch.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "base/error.hpp"
#include "report/sheet.hpp"

namespace ordito::cli {

/// The listener's report as a sheet. Rates are left out where nothing was asked.
Expected<report::Sheet> cacheSheet(const nlohmann::ordered_json& caches);

}  // namespace ordito::cli
