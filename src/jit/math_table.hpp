// Which function computes each __nv_* math function. SLEEF's vector functions where it has them (bound 1.0 ulp for u10, 1.5 for u15), the C library lane
// by lane elsewhere.
#pragma once

#include <cstdint>
#include <string>

namespace ordito::jit {

struct MathFunction {
  enum class Kind : uint8_t { Sleef, Scalar, SinCos };
  const char* name;            // in PTX
  Kind kind;
  const char* implementation;  // SLEEF's name without lanes, or a C function
  bool isDouble;
  unsigned arguments;          // of floating-point type
  bool intArgument = false;    // one int argument behind them
  bool intResult = false;
};

const MathFunction* findMath(const std::string& name);

}  // namespace ordito::jit
