// `ordito lab run --explain`: a paragraph for each rung of a ladder, from the counters that changed.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace ordito::cli {

/// What each variant with counters has more or less of than the one before it, and whether that goes with its time.
/// Nothing is claimed that the numbers do not bear out: a gain that no counter explains is said to be one.
std::string explainLadder(const nlohmann::json& document);

}  // namespace ordito::cli
