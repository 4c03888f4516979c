// The environment variables of Ordito's, all read here. Whoever wants one asks for the field; the table says which
// there are, what they may be, and what they mean.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace ordito {

struct Environment {
  using Text = std::string;
  using Word = std::string;
  using Number = unsigned;

#define VARIABLE(field, Type, name, otherwise, values, meaning) Type field = otherwise;
#include "base/environment.def"

  /// What is wrong with the first variable that has a value it cannot have, with the values that it can have; empty if
  /// all are right. A wrong variable counts as not set.
  std::string problem;
};

/// What the variables say now. Not kept, since programs (and tests) may set them before they call CUDA.
Environment readEnvironment();

struct EnvironmentVariable {
  std::string_view name, values, meaning;
};

std::span<const EnvironmentVariable> environmentVariables();

}  // namespace ordito
