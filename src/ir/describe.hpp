// What the analyses find, as text: for people and tests.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "ir/ir.hpp"
#include "ir/shape.hpp"

namespace ordito::ir {

struct Analysis {
  std::string_view name;
  std::string_view summary;
  /// A line for each value or block of which there is something to say.
  std::string (*describe)(const Function& function, const LaunchShape& launch);
};

std::span<const Analysis> analyses();

/// The analysis with this name, or null.
const Analysis* findAnalysis(std::string_view name);

}  // namespace ordito::ir
