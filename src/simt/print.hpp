// The parts of a plan as text: for people and tests.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "simt/plan.hpp"

namespace ordito::simt {

/// A pass that finds a part of the plan.
struct Part {
  std::string_view name;
  std::string_view summary;
  std::string (*print)(const Plan& plan);
};

/// In the order in which they are computed.
std::span<const Part> parts();

/// The part with this name, or null.
const Part* findPart(std::string_view name);

}  // namespace ordito::simt
