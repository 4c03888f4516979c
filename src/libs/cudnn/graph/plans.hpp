// Plans as text: what a program said of a graph, so that a later one need not say it again.
#pragma once

#include <string>

#include "libs/cudnn/graph/descriptor.hpp"

namespace ordito::libs::cudnn::graph {

/// A graph's descriptor, and all that it is made of, in JSON.
std::string toJson(const Said& graph);
/// The graph's descriptor again; null if the text is none of `toJson`'s.
Said fromJson(const std::string& text);

}  // namespace ordito::libs::cudnn::graph
