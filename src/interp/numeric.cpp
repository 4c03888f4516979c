// Formats, conversions and immediates. Everything here is integer arithmetic: no host rounding mode can change it.
#include "interp/numeric.hpp"

#include <bit>
#include <cmath>
#include <limits>

namespace ordito::interp {

using isa::ModifierKind;
using isa::Type;

Rounding roundingOf(const isa::Modifiers& mods) {
  switch (mods[ModifierKind::Rounding]) {
    case isa::modifierValue(ModifierKind::Rounding, "rna"): return Rounding::NearestAway;
    case isa::modifierValue(ModifierKind::Rounding, "rz"): return Rounding::Zero;
    case isa::modifierValue(ModifierKind::Rounding, "rm"): return Rounding::Down;
    case isa::modifierValue(ModifierKind::Rounding, "rp"): return Rounding::Up;
    default: return Rounding::NearestEven;
  }
}

Rounding integerRoundingOf(const isa::Modifiers& mods) {
  switch (mods[ModifierKind::IntegerRounding]) {
    case isa::modifierValue(ModifierKind::IntegerRounding, "rzi"): return Rounding::Zero;
    case isa::modifierValue(ModifierKind::IntegerRounding, "rmi"): return Rounding::Down;
    case isa::modifierValue(ModifierKind::IntegerRounding, "rpi"): return Rounding::Up;
    default: return Rounding::NearestEven;
  }
}

Format formatOf(Type type) {
  switch (isa::element(type)) {
    case Type::f16: return {5, 10, 0};
    case Type::bf16: return {8, 7, 0};
    case Type::tf32: return {8, 10, 13};
    case Type::f64: return {11, 52, 0};
    default: return {8, 23, 0};
  }
}

namespace {

uint64_t magnitude(uint64_t bits, Format f) { return bits & (f.signBit() - 1); }

/// A finite number as significand × 2^exponent, exactly.
struct Unpacked {
  bool negative;
  uint64_t significand;
  int exponent;
};

Unpacked unpack(uint64_t bits, Format f) {
  uint64_t m = magnitude(bits, f) >> f.shift;
  uint64_t field = m >> f.mantissaBits;
  uint64_t fraction = lowBits(m, f.mantissaBits);
  int lowest = 1 - f.bias() - f.mantissaBits;
  if (field == 0) return {isNegative(bits, f), fraction, lowest};
  return {isNegative(bits, f), fraction | uint64_t{1} << f.mantissaBits, lowest + int(field) - 1};
}

/// What lies below the kept bits: exactly zero, less than half, half, more than half of the last kept bit.
enum class Rest : uint8_t { Zero, Below, Half, Above };

struct Split {
  uint64_t kept;
  Rest rest;
};

/// value / 2^shift as an integer and what was cut off.
Split shiftRight(uint64_t value, int shift) {
  if (shift <= 0) return {value << -shift, Rest::Zero};
  if (shift > 64) return {0, value ? Rest::Below : Rest::Zero};
  uint64_t kept = shift == 64 ? 0 : value >> shift;
  uint64_t cut = lowBits(value, shift);
  uint64_t half = uint64_t{1} << (shift - 1);
  return {kept, cut == 0 ? Rest::Zero : cut < half ? Rest::Below : cut == half ? Rest::Half : Rest::Above};
}

bool roundsUp(Split split, bool negative, Rounding rounding) {
  switch (rounding) {
    case Rounding::NearestEven: return split.rest == Rest::Above || (split.rest == Rest::Half && (split.kept & 1));
    case Rounding::NearestAway: return split.rest >= Rest::Half;
    case Rounding::Zero: return false;
    case Rounding::Down: return negative && split.rest != Rest::Zero;
    case Rounding::Up: return !negative && split.rest != Rest::Zero;
  }
  return false;
}

bool overflowsToInfinity(bool negative, Rounding rounding) {
  switch (rounding) {
    case Rounding::Zero: return false;
    case Rounding::Down: return negative;
    case Rounding::Up: return !negative;
    default: return true;
  }
}

}  // namespace

bool isNan(uint64_t bits, Format f) { return magnitude(bits, f) > f.infinity(); }
bool isInfinite(uint64_t bits, Format f) { return magnitude(bits, f) == f.infinity(); }
bool isZero(uint64_t bits, Format f) { return magnitude(bits, f) == 0; }
bool isSubnormal(uint64_t bits, Format f) {
  uint64_t m = magnitude(bits, f) >> f.shift;
  return m != 0 && m >> f.mantissaBits == 0;
}

uint64_t canonicalNan(Type type) {
  switch (isa::element(type)) {
    case Type::f16:
    case Type::bf16: return 0x7FFF;
    case Type::f64: return 0xFFF8000000000000u;
    case Type::tf32: return 0x7FFFE000;
    default: return 0x7FFFFFFF;
  }
}

uint64_t quieted(uint64_t bits, Format f) { return bits | uint64_t{1} << (f.mantissaBits - 1 + f.shift); }

uint64_t flush(uint64_t bits, Format f) { return isSubnormal(bits, f) ? bits & f.signBit() : bits; }

uint64_t saturate(uint64_t bits, Format f) {
  if (isNan(bits, f) || isNegative(bits, f)) return 0;
  return bits > f.one() ? f.one() : bits;
}

double toDouble(uint64_t bits, Format f) {
  if (isNan(bits, f)) return std::numeric_limits<double>::quiet_NaN();
  if (isInfinite(bits, f)) return isNegative(bits, f) ? -INFINITY : INFINITY;
  if (f.mantissaBits == 52) return std::bit_cast<double>(bits);
  Unpacked u = unpack(bits, f);
  // Exact: the significand has few bits, and in most formats the power of two is a normal number.
  double value = u.exponent < -1022 ? std::ldexp(double(u.significand), u.exponent)
                                    : double(u.significand) * std::bit_cast<double>(uint64_t(1023 + u.exponent) << 52);
  return u.negative ? -value : value;
}

uint64_t pack(bool negative, uint64_t significand, int exponent, Format f, Rounding rounding) {
  uint64_t sign = negative ? f.signBit() : 0;
  if (significand == 0) return sign;
  int top = exponent + 63 - std::countl_zero(significand);
  int smallest = 1 - f.bias() - f.mantissaBits;  // exponent of the last mantissa bit of subnormal numbers
  int quantum = std::max(top - f.mantissaBits, smallest);
  Split split = shiftRight(significand, quantum - exponent);
  if (top > f.bias()) split = {0, Rest::Zero};  // the result overflows whatever the low bits say
  uint64_t kept = split.kept + roundsUp(split, negative, rounding);
  // Adding the exponent above the mantissa, implicit one included, lets a rounding carry move on into the exponent.
  uint64_t word = (kept + (uint64_t(quantum - smallest) << f.mantissaBits)) << f.shift;
  if (top > f.bias() || word >= f.infinity())
    word = overflowsToInfinity(negative, rounding) ? f.infinity() : f.largest();
  return sign | word;
}

namespace {

uint64_t convertNan(uint64_t bits, Type from, Type to) {
  Format source = formatOf(from), target = formatOf(to);
  if (from == Type::bf16 && to == Type::f32) return bits << 16;
  if (from != Type::f64 && to != Type::f64) return canonicalNan(to);
  uint64_t fraction = lowBits(bits >> source.shift, source.mantissaBits);
  int widening = target.mantissaBits - source.mantissaBits;
  fraction = widening >= 0 ? fraction << widening : fraction >> -widening;
  return quieted((isNegative(bits, source) ? target.signBit() : 0) | target.infinity() | fraction, target);
}

}  // namespace

uint64_t convertFloat(uint64_t bits, Type from, Type to, Rounding rounding, Tiny tiny) {
  Format source = formatOf(from), target = formatOf(to);
  if (isNan(bits, source)) return convertNan(bits, from, to);
  if (isInfinite(bits, source)) return target.infinity() | (isNegative(bits, source) ? target.signBit() : 0);
  Unpacked u = unpack(bits, source);
  uint64_t result = pack(u.negative, u.significand, u.exponent, target, rounding);
  return tiny == Tiny::Flush ? flushTiny(result, toDouble(bits, source), target, rounding) : result;
}

uint64_t flushTiny(uint64_t result, double wide, Format f, Rounding rounding) {
  uint64_t smallestNormal = uint64_t{1} << f.mantissaBits << f.shift;
  if (magnitude(result, f) != smallestNormal) return flush(result, f);
  Format unlimited{11, f.mantissaBits, 0};
  Unpacked u = unpack(std::bit_cast<uint64_t>(wide), formatOf(Type::f64));
  uint64_t rounded = pack(false, u.significand, u.exponent, unlimited,
                          u.negative && rounding == Rounding::Down ? Rounding::Up
                          : u.negative && rounding == Rounding::Up ? Rounding::Down
                                                                   : rounding);
  bool isTiny = toDouble(rounded, unlimited) < toDouble(smallestNormal, f);
  return isTiny ? result & f.signBit() : result;
}

uint64_t convertInteger(uint64_t value, bool isSigned, Type to, Rounding rounding) {
  bool negative = isSigned && int64_t(value) < 0;
  return pack(negative, negative ? -value : value, 0, formatOf(to), rounding);
}

namespace {

/// The magnitude of a finite number rounded to an integer; saturates at 2^64 - 1 (`huge` then).
struct RoundedInteger {
  uint64_t magnitude;
  bool huge;
};

RoundedInteger roundToInteger(const Unpacked& u, Rounding rounding) {
  if (u.significand && u.exponent + 64 - std::countl_zero(u.significand) > 64) return {~uint64_t{0}, true};
  Split split = shiftRight(u.significand, -u.exponent);
  return {split.kept + roundsUp(split, u.negative, rounding), false};
}

uint64_t largestInteger(Type type) { return lowBits(~uint64_t{0}, isa::bits(type) - isa::isSigned(type)); }

}  // namespace

uint64_t convertToInteger(uint64_t bits, Type from, Type to, Rounding rounding) {
  Format f = formatOf(from);
  unsigned width = isa::bits(to);
  if (isNan(bits, f)) return from != Type::f64 && width < 64 ? 0 : uint64_t{1} << (width - 1);
  Unpacked u = unpack(bits, f);
  RoundedInteger r = isInfinite(bits, f) ? RoundedInteger{~uint64_t{0}, true} : roundToInteger(u, rounding);
  bool negative = isNegative(bits, f);
  if (!isa::isSigned(to)) return negative ? 0 : std::min(r.magnitude, largestInteger(to));
  uint64_t limit = largestInteger(to) + negative;
  uint64_t m = std::min(r.magnitude, limit);
  return lowBits(negative ? -m : m, width);
}

uint64_t roundToIntegral(uint64_t bits, Type type, Rounding rounding) {
  Format f = formatOf(type);
  if (isNan(bits, f)) return type == Type::f64 ? quieted(bits, f) : canonicalNan(type);
  Unpacked u = unpack(bits, f);
  if (isInfinite(bits, f) || u.exponent >= 0) return bits;
  return pack(u.negative, roundToInteger(u, rounding).magnitude, 0, f, Rounding::NearestEven);
}

uint64_t immediateBits(uint64_t doubleBits, Type type) {
  unsigned width = isa::bits(type);
  if (width == 64) return doubleBits;
  bool isHalf = width == 16;
  Type target = isHalf ? (isa::isFloat(type) ? type : Type::f16) : Type::f32;
  Format f = formatOf(target), wide = formatOf(Type::f64);
  if (!isNan(doubleBits, wide)) return convertFloat(doubleBits, Type::f64, target, Rounding::NearestEven);
  uint64_t payload = lowBits(doubleBits, 52) >> (52 - f.mantissaBits);
  return (doubleBits >> 63 ? f.signBit() : 0) | f.infinity() | payload;
}

}  // namespace ordito::interp
