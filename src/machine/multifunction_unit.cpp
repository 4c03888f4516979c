// Single results, and what the GPU's compiler puts around the unit: scaling where numbers are subnormal (read in the
// machine code that ptxas makes of the forms without .ftz), and the quotients.
#include "machine/multifunction_unit.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <limits>

#define FUNCTIONS(OF) OF(rcp) OF(rsqrt) OF(sqrt) OF(ex2) OF(lg2) OF(sin) OF(cos) OF(tanh)

namespace {
using Four = float __attribute__((ext_vector_type(4)));
}  // namespace
extern "C" {
#define DECLARE(f)            \
  Four mufu_##f##_sse2(Four); \
  void mufu_##f##_avx2();     \
  void mufu_##f##_avx512f();
FUNCTIONS(DECLARE)
#undef DECLARE
}

namespace ordito::machine {
namespace {

constexpr uint32_t kSign = 0x80000000, kInfinity = 0x7F800000, kNan = 0x7FFFFFFF, kSmallestNormal = 0x00800000;

float real(uint32_t x) { return std::bit_cast<float>(x); }
uint32_t bits(float x) { return std::bit_cast<uint32_t>(x); }
uint32_t magnitude(uint32_t x) { return x & ~kSign; }
bool isSubnormal(uint32_t x) { return magnitude(x) < kSmallestNormal; }
uint32_t flushed(uint32_t x) { return isSubnormal(x) ? x & kSign : x; }

/// A product or sum of the GPU's ordinary units: their NaN is always the same.
uint32_t ordinary(float x) { return std::isnan(x) ? kNan : bits(x); }

uint32_t scaledReciprocal(uint32_t x) {
  const float scale = isSubnormal(x) ? 0x1p24f : magnitude(x) > 0x7E800000 ? 0.25f : 1.0f;  // above 2^126
  return ordinary(real(multifunction(Multifunction::Rcp, bits(real(x) * scale))) * scale);
}

}  // namespace

uint32_t multifunction(Multifunction function, uint32_t x) {
  constexpr std::array kFunctions = {
#define ENTRY(f) &mufu_##f##_sse2,
      FUNCTIONS(ENTRY)
#undef ENTRY
  };
  const float v = real(x);
  return bits(kFunctions[static_cast<size_t>(function)](Four{v, v, v, v})[0]);
}

uint32_t approximate(Multifunction function, uint32_t x, bool flush) {
  const auto unit = [&](uint32_t v) { return multifunction(function, v); };
  if (flush) return unit(flushed(x));
  const bool small = isSubnormal(x);
  switch (function) {
    case Multifunction::Rcp: return scaledReciprocal(x);
    case Multifunction::Rsqrt: return small ? ordinary(real(unit(bits(real(x) * 0x1p24f))) * 0x1p12f) : unit(x);
    case Multifunction::Sqrt: return small ? ordinary(real(unit(bits(real(x) * 0x1p24f))) * 0x1p-12f) : unit(x);
    case Multifunction::Lg2: return small ? ordinary(real(unit(bits(real(x) * 0x1p24f))) - 24.0f) : unit(x);
    case Multifunction::Ex2: {
      if (!(real(x) < -126)) return unit(x);
      const float half = real(unit(bits(real(x) * 0.5f)));
      return ordinary(half * half);
    }
    default: return unit(x);
  }
}

uint32_t approximateQuotient(uint32_t x, uint32_t y, bool full, bool flush) {
  if (flush) x = flushed(x), y = flushed(y);
  float scale = 1;
  if (full && magnitude(y) > 0x7E800000 && magnitude(y) <= kInfinity) scale = 0.25f;  // above 2^126
  if (!flush && isSubnormal(y)) scale = 0x1p24f;
  const auto scaled = [&](uint32_t v) { return flush ? flushed(bits(real(v) * scale)) : bits(real(v) * scale); };
  const uint32_t product = ordinary(real(multifunction(Multifunction::Rcp, scaled(y))) * real(scaled(x)));
  return flush ? flushed(product) : product;
}

namespace {

struct UpperWord {
  uint32_t sign;
  int exponent;       // unbiased
  uint32_t fraction;  // 20 bits
};

UpperWord split(uint32_t upper) {
  return {upper & kSign, static_cast<int>(upper >> 20 & 0x7FF) - 1023, upper & 0xFFFFF};
}

/// The unit's answer for 1.fraction·2^odd as the upper word of a double, times 2^power.
uint32_t answer(Multifunction function, uint32_t fraction, int odd, int power) {
  const uint32_t r = multifunction(function, (127U + static_cast<uint32_t>(odd)) << 23 | fraction << 3);
  const int exponent = static_cast<int>(r >> 23) - 127 + power + 1023;
  return exponent <= 0 ? 0 : static_cast<uint32_t>(exponent) << 20 | (r >> 3 & 0xFFFFF);
}

}  // namespace

uint32_t reciprocalOfDouble(uint32_t upper) {
  const UpperWord x = split(upper);
  if (x.exponent == 1024) return x.fraction ? kNan : x.sign;
  if (x.exponent == -1023) return x.sign | 0x7FF00000;
  return x.sign | answer(Multifunction::Rcp, x.fraction, 0, -x.exponent);
}

uint32_t reciprocalRootOfDouble(uint32_t upper) {
  const UpperWord x = split(upper);
  if (x.exponent == 1024 && x.fraction) return kNan;
  if (x.exponent == -1023) return x.sign | 0x7FF00000;
  if (x.sign) return kNan;
  if (x.exponent == 1024) return 0;
  return answer(Multifunction::Rsqrt, x.fraction, x.exponent & 1, -(x.exponent >> 1));
}

double reciprocalRoot(double x) {
  if (std::isnan(x)) return x + x;
  if (x == 0) return std::copysign(std::numeric_limits<double>::infinity(), x);
  if (x < 0) return std::bit_cast<double>(uint64_t{0xFFF80000} << 32);
  if (std::isinf(x)) return 0;
  const bool isSmall = x < 0x1p-1022;
  if (isSmall) x *= 0x1p54;
  const auto upper = static_cast<uint32_t>(std::bit_cast<uint64_t>(x) >> 32);
  const double y = std::bit_cast<double>(uint64_t{reciprocalRootOfDouble(upper)} << 32);
  const double error = std::fma(-(y * y), x, 1.0);
  const double result = std::fma(std::fma(error, 0.375, 0.5), y * error, y);
  return isSmall ? result * 0x1p27 : result;
}

uint16_t cutToHalf(uint32_t x) {
  if (magnitude(x) > kInfinity) return 0x7FFF;
  const auto sign = static_cast<uint16_t>(x >> 16 & 0x8000);
  const int exponent = static_cast<int>(magnitude(x) >> 23) - 127;
  const uint32_t significand = (x & 0x7FFFFF) | kSmallestNormal;
  if (exponent > 15) return sign | 0x7C00;
  if (exponent >= -14)
    return static_cast<uint16_t>(sign | (exponent + 14) << 10) + static_cast<uint16_t>(significand >> 13);
  return exponent < -24 ? sign : static_cast<uint16_t>(sign | significand >> (-1 - exponent));
}

uint16_t cutToBfloat(uint32_t x) { return magnitude(x) > kInfinity ? 0x7FFF : static_cast<uint16_t>(x >> 16); }

std::vector<std::pair<std::string_view, void*>> multifunctionTable() {
#define ENTRIES(f)                                                     \
  {"mufu_" #f "_sse2", reinterpret_cast<void*>(&mufu_##f##_sse2)},     \
      {"mufu_" #f "_avx2", reinterpret_cast<void*>(&mufu_##f##_avx2)}, \
      {"mufu_" #f "_avx512f", reinterpret_cast<void*>(&mufu_##f##_avx512f)},
  return {FUNCTIONS(ENTRIES)};
#undef ENTRIES
}

}  // namespace ordito::machine
