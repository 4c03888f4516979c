// Which SLEEF vector function computes each __nv_* math function (bound 1.0 ulp for u10, 1.5 for u15). The rest are
// called lane by lane: math_functions.hpp.
#pragma once

#include <cstdint>
#include <string>

namespace ordito::rt {

struct MathFunction {
  enum class Kind : uint8_t { Sleef, SinCos };
  const char* name;  // in PTX
  Kind kind;
  const char* implementation;  // SLEEF's name without lanes
  bool isDouble;
  unsigned arguments;  // of floating-point type
};

const MathFunction* findMath(const std::string& name);

}  // namespace ordito::rt
