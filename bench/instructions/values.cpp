// Ordinary numbers: integers whose sizes are spread evenly, floats of magnitudes 1/4 to 4, as most programs have them.
// A processor may be a hundred times slower on subnormal numbers, which would be all that is seen.
#include "values.hpp"

#include "operands.hpp"

namespace ordito::bench {

using isa::Type;

namespace {

struct Fields {
  unsigned exponent, mantissa;
};

Fields fieldsOf(Type t) {
  switch (isa::element(t)) {
    case Type::f16: return {5, 10};
    case Type::bf16: return {8, 7};
    case Type::f64: return {11, 52};
    default: return {8, 23};
  }
}

uint64_t low(uint64_t value, unsigned bits) { return bits >= 64 ? value : value & ((uint64_t{1} << bits) - 1); }

uint64_t ordinaryFloat(Type t, uint64_t noise, bool isPositive) {
  const Fields f = fieldsOf(t);
  const uint64_t bias = (uint64_t{1} << (f.exponent - 1)) - 1, sign = isPositive ? 0 : noise >> 63;
  return sign << (f.exponent + f.mantissa) | (bias - 2 + (noise >> 60 & 3)) << f.mantissa | low(noise, f.mantissa);
}

uint64_t ordinaryValue(Type t, uint64_t noise, bool isPositive) {
  const unsigned bits = isa::bits(t);
  const Type half = t == Type::f32x2 ? Type::f32 : isa::element(t);
  if (half != t && isa::isFloat(half) && isa::bits(half) * 2 == bits)
    return ordinaryFloat(half, noise, isPositive) | ordinaryFloat(half, noise * 0x9E3779B97F4A7C15u, isPositive)
                                                        << bits / 2;
  if (isa::isFloat(t) && !isa::isPacked(t) && bits >= 16) return ordinaryFloat(t, noise, isPositive);
  return low(noise >> (noise >> 58) % std::min(bits, 64u), bits);
}

}  // namespace

std::vector<uint64_t> valuesFor(Type type, Values values, bool isPositive, std::string_view seed) {
  if (values == Values::Corners && isa::bits(type) >= 16 && isa::bits(type) <= 64)
    return gpu::operandValues({type}, kTuples, seed)[0];
  std::vector<uint64_t> all;
  uint64_t state = gpu::hashOf(seed);
  for (unsigned k = 0; k < kTuples; ++k) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const uint64_t noise = (state ^ state >> 29) * 0xBF58476D1CE4E5B9u;
    all.push_back(type == Type::pred ? noise >> 63 : ordinaryValue(type, noise ^ noise >> 32, isPositive));
  }
  return all;
}

}  // namespace ordito::bench
