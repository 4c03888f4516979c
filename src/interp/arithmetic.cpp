// Floating-point arithmetic on bit patterns. This file alone changes the host's rounding mode, and is compiled with
// -frounding-math so that the compiler neither folds nor moves an operation across the change.
#include <array>
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

/// The operation on elements that are exact in double: products of two are exact, sums are rounded to odd. Quotients
/// and roots of at most 24-bit numbers never come close enough to a 25-bit number for their rounding in double to
/// matter.
double applyWide(FloatOp op, double x, double y, double z) {
  switch (op) {
    case FloatOp::Add: return addToOdd(x, y);
    case FloatOp::Sub: return addToOdd(x, -y);
    case FloatOp::Fma: return addToOdd(x * y, z);
    default: return apply(op, x, y, z);
  }
}

uint64_t computeDouble(FloatOp op, uint64_t a, uint64_t b, uint64_t c, Rounding rounding) {
  auto value = [](uint64_t bits) { return std::bit_cast<double>(bits); };
  Format f = formatOf(Type::f64);
  auto result = std::bit_cast<uint64_t>(applyRounded(op, value(a), value(b), value(c), rounding));
  if (!isNan(result, f)) return result;
  bool firstWins = op == FloatOp::Div || op == FloatOp::Sqrt;
  for (uint64_t operand : firstWins ? std::array{a, b, c} : std::array{b, c, a})
    if (isNan(operand, f)) return quieted(operand, f);
  return canonicalNan(Type::f64);
}

}  // namespace

uint64_t compute(FloatOp op, Type type, uint64_t a, uint64_t b, uint64_t c, Rounding rounding, Tiny tiny) {
  if (type == Type::f64) return computeDouble(op, a, b, c, rounding);
  Format f = formatOf(type);
  double wide = applyWide(op, toDouble(a, f), toDouble(b, f), toDouble(c, f));
  uint64_t result;
  if (type == Type::f32) {
    auto value = [](uint64_t bits) { return std::bit_cast<float>(uint32_t(bits)); };
    result = std::bit_cast<uint32_t>(applyRounded(op, value(a), value(b), value(c), rounding));
  } else {
    result = convertFloat(std::bit_cast<uint64_t>(wide), Type::f64, type, rounding);
  }
  if (isNan(result, f)) return canonicalNan(type);
  return tiny == Tiny::Flush ? flushTiny(result, wide, f, rounding) : result;
}

}  // namespace ordito::interp
