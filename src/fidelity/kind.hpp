// The kinds of relation between a result of ours and a real GPU's. docs/fidelity.md explains them to users.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ordito::fidelity {

/// From the best to the worst.
enum class Kind : uint8_t {
  Exact,        // an H200's very bits
  NanPayload,   // so, but which payload a NaN has
  Order,        // depends on an order that a GPU may choose otherwise, from run to run or from model to model
  Bounded,      // within a stated error
  Approximate,  // an approximation without a stated error
  Machine,      // says something of the machine, such as its clock
  Unproven,     // follows the manual; no GPU's answers were at hand
  Differs,      // known to give other values than a GPU
};

std::string_view nameOf(Kind kind);
/// The names, with commas.
std::string allKinds();
/// Nothing if there is no such kind.
std::optional<Kind> kindOf(std::string_view name);

}  // namespace ordito::fidelity
