// How far the functions of CUDA's mathematical library are from the true value in compiled code.
#pragma once

#include <optional>
#include <string>

namespace ordito::rt {

struct MathError {
  bool isExact = true;        // every bit is defined, and right
  std::optional<double> ulp;  // else a bound in units in the last place, where there is one
};

/// Of an external function by its name in PTX; of a name that is no such function, exact.
MathError mathError(const std::string& name);

}  // namespace ordito::rt
