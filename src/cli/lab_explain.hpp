// `ordito lab run --explain`: a paragraph for each rung of a ladder, from the counters that changed.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace ordito::cli {

/// What each variant with counters has more or less of than the one before it, and whether that goes with its time.
/// Nothing is claimed that the numbers do not bear out: a gain that no counter explains is said to be one.
/// Variants that are not judged (deliberately wrong ones, say) are compared, but nothing is compared with them.
std::string explainLadder(const nlohmann::json& document);

/// What a metric counts, in words; the metric itself if it has none.
std::string metricInWords(const std::string& metric);

/// Breaks lines at blanks, so that a paragraph can be read in a terminal.
std::string wrapped(const std::string& text);

}  // namespace ordito::cli
