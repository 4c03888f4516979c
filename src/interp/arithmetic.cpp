// Floating-point arithmetic on bit patterns. This file alone changes the host's rounding mode, and is compiled with
// -frounding-math so that the compiler neither folds nor moves an operation across the change.
#include <bit>
#include <cfenv>
#include <cmath>

#include "interp/numeric.hpp"

#pragma STDC FENV_ACCESS ON

namespace ordito::interp {

using isa::Type;

namespace {

int hostMode(Rounding rounding) {
  switch (rounding) {
    case Rounding::Zero: return FE_TOWARDZERO;
    case Rounding::Down: return FE_DOWNWARD;
    case Rounding::Up: return FE_UPWARD;
    default: return FE_TONEAREST;
  }
}

template <class T>
T apply(FloatOp op, T a, T b, T c) {
  switch (op) {
    case FloatOp::Add: return a + b;
    case FloatOp::Sub: return a - b;
    case FloatOp::Mul: return a * b;
    case FloatOp::Fma: return std::fma(a, b, c);
    case FloatOp::Div: return a / b;
    case FloatOp::Sqrt: return std::sqrt(a);
  }
  return a;
}

template <class T>
T applyRounded(FloatOp op, T a, T b, T c, Rounding rounding) {
  if (rounding == Rounding::NearestEven) return apply(op, a, b, c);
  int before = std::fegetround();
  std::fesetround(hostMode(rounding));
  T result = apply(op, a, b, c);
  std::fesetround(before);
  return result;
}

/// x + y in double, rounded to odd: when the sum is inexact, the neighbour whose last bit is 1. Rounding that again to
/// a format of at most 50 bits gives the correctly rounded sum (Boldo and Melquiond 2008, "Emulation of FMA and
/// correctly rounded sums").
double addToOdd(double x, double y) {
  double sum = x + y;
  if (!std::isfinite(sum)) return sum;
  double yPart = sum - x;
  double error = (x - (sum - yPart)) + (y - yPart);
  if (error == 0 || (std::bit_cast<uint64_t>(sum) & 1)) return sum;
  return std::nextafter(sum, error > 0 ? INFINITY : -INFINITY);
}

/// f16 and bf16: products of two are exact in double, sums are rounded to odd, so the conversion is the only rounding.
uint64_t computeHalf(FloatOp op, Type type, uint64_t a, uint64_t b, uint64_t c, Rounding rounding) {
  Format f = formatOf(type);
  double x = toDouble(a, f), y = toDouble(b, f), z = toDouble(c, f), result;
  switch (op) {
    case FloatOp::Add: result = addToOdd(x, y); break;
    case FloatOp::Sub: result = addToOdd(x, -y); break;
    case FloatOp::Mul: result = x * y; break;
    case FloatOp::Fma: result = addToOdd(x * y, z); break;
    default: result = apply(op, x, y, z); break;
  }
  return convertFloat(std::bit_cast<uint64_t>(result), Type::f64, type, rounding);
}

}  // namespace

uint64_t compute(FloatOp op, Type type, uint64_t a, uint64_t b, uint64_t c, Rounding rounding) {
  uint64_t result;
  if (type == Type::f32) {
    auto value = [](uint64_t bits) { return std::bit_cast<float>(uint32_t(bits)); };
    result = std::bit_cast<uint32_t>(applyRounded(op, value(a), value(b), value(c), rounding));
  } else if (type == Type::f64) {
    auto value = [](uint64_t bits) { return std::bit_cast<double>(bits); };
    result = std::bit_cast<uint64_t>(applyRounded(op, value(a), value(b), value(c), rounding));
  } else {
    return computeHalf(op, type, a, b, c, rounding);
  }
  return isNan(result, formatOf(type)) ? canonicalNan(type) : result;
}

}  // namespace ordito::interp
