// PTX ISA, "Data Movement and Conversion Instructions": moves, loads and stores, address spaces, conversions. (shfl is
// in warp.cpp, prmt in logic.cpp.)
#include <cmath>

#include "interp/executor.hpp"

namespace ordito::interp {

using isa::mod;
using isa::ModifierKind;
using isa::Type;
using ptx::Space;

/// Also packs {a, b} into a wider register and unpacks one: operands see to that.
void Executor::Mov() { write(operand(0), type(), read(operand(1), type())); }

// Every load and store here is as strong as .sc, so the cache and ordering modifiers need no code.
void Executor::Ld() { loadInstruction(); }
void Executor::Ldu() { loadInstruction(); }
void Executor::St() { storeInstruction(); }
void Executor::Prefetch() {}
void Executor::PrefetchEvict() {}
void Executor::Prefetchu() {}
void Executor::ApplyPriority() {}
/// What discarded memory holds is undefined; here it keeps what it held.
void Executor::Discard() {}

// A cache policy is a number for ld and st, which ignore it.
void Executor::CreatePolicy() { write(0, Type::b64, 0); }
void Executor::CreatePolicyRange() { write(0, Type::b64, 0); }
void Executor::CreatePolicyCvt() { write(0, Type::b64, 0); }

/// A cluster is one block, of rank 0; the address of any other is one where nothing is.
void Executor::Mapa() { write(0, type(), read(2, Type::u32) == 0 ? read(1, type()) : ~uint64_t{0}); }
void Executor::GetCtaRank() { write(0, Type::u32, 0); }

void Executor::Isspacep() {
  uint64_t address = read(1, Type::u64);
  switch (isa::spaceOf(instruction_->mods)) {
    case Space::Shared: return writePredicate(0, inShared(address));
    case Space::Local: return writePredicate(0, inLocalMemory(address));
    case Space::Param: return writePredicate(0, inParameters(address));
    case Space::Const: return writePredicate(0, inConstant(address));
    default:
      writePredicate(0,
                     !inShared(address) && !inLocalMemory(address) && !inParameters(address) && !inConstant(address));
  }
}

/// Only shared addresses differ from generic ones.
void Executor::Cvta() {
  uint64_t address = read(1, Type::u64);
  uint64_t window =
      isa::spaceOf(instruction_->mods) == Space::Shared ? reinterpret_cast<uint64_t>(block_.frame.shared) : 0;
  write(0, Type::u64, has(ModifierKind::To) ? address - window : address + window);
}

/// GPUs ignore .ftz on the way to f16.
bool Executor::flushes(Type to) const { return has(ModifierKind::Flush) && to != Type::f16; }

/// .sat, .satfinite, .relu and .ftz on a floating-point result of a conversion.
uint64_t Executor::clampConverted(uint64_t bits, Type to) const {
  Format f = formatOf(to);
  if (flushes(to)) bits = flush(bits, f);
  if (has(ModifierKind::Relu) && !isNan(bits, f) && isNegative(bits, f)) bits = 0;
  if (is(mod<ModifierKind::Saturate>("sat"))) return saturate(bits, f);
  if (is(mod<ModifierKind::Saturate>("satfinite")) && isInfinite(bits, f)) return (bits & f.signBit()) | f.largest();
  return bits;
}

namespace {

/// An integer clamped to the range of another integer type.
uint64_t clampInteger(uint64_t bits, Type from, Type to) {
  unsigned width = isa::bits(to);
  bool negative = isa::isSigned(from) && signExtend(bits, isa::bits(from)) < 0;
  uint64_t largest = lowBits(~uint64_t{0}, width - isa::isSigned(to));
  if (!negative) return std::min(bits, largest);
  if (!isa::isSigned(to)) return 0;
  int64_t least = -int64_t(largest) - 1;
  return uint64_t(std::max(signExtend(bits, isa::bits(from)), least));
}

}  // namespace

/// One value of the source type as a value of the destination type.
uint64_t Executor::convert(uint64_t bits) const {
  Type to = type(0), from = type(1);
  bool rounds = has(ModifierKind::IntegerRounding);
  bool onlyMoves =
      from == Type::f32 && to == from && !rounds && !has(ModifierKind::Flush) && !has(ModifierKind::Saturate);
  if (onlyMoves) return bits;
  if (isa::isFloat(from)) {
    // Arithmetic flushes, and makes a NaN canonical.
    if (flushes(to) && from == Type::f32)
      bits = isNan(bits, formatOf(from)) ? canonicalNan(from) : flush(bits, formatOf(from));
    if (flushes(to) && from == Type::bf16 && isNan(bits, formatOf(from))) return canonicalNan(to);
    if (!isa::isFloat(to)) return convertToInteger(bits, from, to, integerRoundingOf(instruction_->mods));
    if (rounds) bits = roundToIntegral(bits, from, integerRoundingOf(instruction_->mods));
    uint64_t result = from == to ? bits
                                 : convertFloat(bits, from, to, roundingOf(instruction_->mods),
                                                flushes(to) ? Tiny::Flush : Tiny::Keep);
    if (to == Type::tf32 && isNan(bits, formatOf(from)) && roundingOf(instruction_->mods) == Rounding::NearestAway)
      result = bits & ~uint64_t{0x1FFF};  // .rna alone keeps the payload
    if (from == to && isNan(bits, formatOf(from)) && from != Type::f64) result = canonicalNan(to);
    return clampConverted(result, to);
  }
  uint64_t wide = isa::isSigned(from) ? uint64_t(signExtend(bits, isa::bits(from))) : bits;
  if (isa::isFloat(to))
    return clampConverted(convertInteger(wide, isa::isSigned(from), to, roundingOf(instruction_->mods)), to);
  return has(ModifierKind::Saturate) ? clampInteger(bits, from, to) : wide;
}

namespace {

/// The formats of 8 bits and less, without the sign.
struct SmallFormat {
  int exponentBits, mantissaBits, bias;
  double largest;
  bool hasNan;  // else a NaN becomes the largest number
  int bits() const { return 1 + exponentBits + mantissaBits; }
};

SmallFormat smallFormat(Type t) {
  switch (t) {
    case Type::e4m3x2: return {4, 3, 7, 448, true};
    case Type::e5m2x2: return {5, 2, 15, 57344, true};
    case Type::e2m3x2: return {2, 3, 1, 7.5, false};
    case Type::e3m2x2: return {3, 2, 3, 28, false};
    default: return {2, 1, 1, 6, false};  // e2m1x2
  }
}

/// Rounded to nearest even; what is too large becomes the largest number.
uint64_t toSmall(double value, const SmallFormat& f, bool relu) {
  const uint64_t signBit = uint64_t{1} << (f.bits() - 1);
  if (std::isnan(value)) return signBit - 1;  // all ones: the NaN, or the largest number
  if (relu && std::signbit(value)) return 0;
  const uint64_t sign = std::signbit(value) ? signBit : 0;
  const double magnitude = std::fabs(value);
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  const int unit = std::max(exponent - 1, 1 - f.bias) - f.mantissaBits;  // exponent of the last place
  const double rounded = std::isinf(magnitude)
                             ? f.largest
                             : std::min(std::ldexp(std::nearbyint(std::ldexp(magnitude, -unit)), unit), f.largest);
  if (rounded == 0) return sign;
  std::frexp(rounded, &exponent);
  const bool isSubnormal = exponent - 1 < 1 - f.bias;
  const int base = isSubnormal ? 1 - f.bias : exponent - 1;
  const auto significand = uint64_t(std::ldexp(rounded, f.mantissaBits - base));
  const uint64_t field = isSubnormal ? 0 : uint64_t(base + f.bias);
  return sign | field << f.mantissaBits | (significand & ((uint64_t{1} << f.mantissaBits) - 1));
}

/// As an f16, which holds them all.
uint64_t fromSmall(uint64_t bits, Type t) {
  // e5m2 is the upper half of an f16.
  if (t == Type::e5m2x2) return isNan(bits << 8, formatOf(Type::f16)) ? canonicalNan(Type::f16) : bits << 8;
  const SmallFormat f = smallFormat(t);
  const uint64_t signBit = uint64_t{1} << (f.bits() - 1), magnitudeBits = bits & (signBit - 1);
  if (f.hasNan && magnitudeBits == signBit - 1) return canonicalNan(Type::f16);
  const int exponent = int(magnitudeBits >> f.mantissaBits), implicit = exponent ? 1 << f.mantissaBits : 0;
  const int mantissa = int(lowBits(magnitudeBits, unsigned(f.mantissaBits)));
  const double magnitude = std::ldexp(mantissa | implicit, std::max(exponent, 1) - f.bias - f.mantissaBits);
  return convertFloat(std::bit_cast<uint64_t>(bits & signBit ? -magnitude : magnitude), Type::f64, Type::f16,
                      Rounding::NearestEven);
}

/// The exponent of an f32, rounded towards zero or upwards: a power of two from 2^-127 on, and 255 for NaN. The sign is
/// lost.
uint64_t toScale(uint32_t bits, bool up, bool isFinite) {
  const uint32_t exponent = bits >> 23 & 0xFF, mantissa = bits & 0x7FFFFF;
  if (exponent == 255 && mantissa) return 255;
  if (exponent == 255) return isFinite ? 254 : 255;
  const bool isBetween = exponent ? mantissa != 0 : mantissa > 0x400000;
  const uint32_t rounded = exponent + (up && isBetween);
  return isFinite ? std::min(rounded, 254u) : rounded;
}

}  // namespace

/// Operand a goes to the upper part of the pair: a byte, or four bits.
void Executor::packSmall() {
  const SmallFormat f = smallFormat(type(0));
  auto small = [&](size_t k) {
    return toSmall(toDouble(read(k, Type::f32), formatOf(Type::f32)), f, has(ModifierKind::Relu));
  };
  write(0, type(0), small(1) << isa::bits(type(0)) / 2 | small(2));
}

void Executor::CvtPairToFloat8() {
  const uint64_t pair = read(1, Type::b32);
  auto byte = [&](uint64_t half) {
    return toSmall(toDouble(half, formatOf(Type::f16)), smallFormat(type(0)), has(ModifierKind::Relu));
  };
  write(0, Type::b16, byte(pair >> 16) << 8 | byte(pair & 0xFFFF));
}

void Executor::unpackSmall() {
  const unsigned width = isa::bits(type(1)) / 2;
  const uint64_t pair = read(1, type(1));
  auto half = [&](uint64_t bits) {
    const uint64_t value = fromSmall(bits, type(1));
    const Format f = formatOf(Type::f16);
    return has(ModifierKind::Relu) && !isNan(value, f) && isNegative(value, f) ? 0 : value;
  };
  write(0, Type::b32, half(pair >> width) << 16 | half(lowBits(pair, width)));
}

void Executor::CvtToFloat8() { packSmall(); }
void Executor::CvtToFloat6() { packSmall(); }
void Executor::CvtFromFloat8() { unpackSmall(); }
void Executor::CvtFromFloat6() { unpackSmall(); }

void Executor::CvtToScale() {
  auto scale = [&](size_t k) {
    return toScale(uint32_t(read(k, Type::f32)), is(mod<ModifierKind::Rounding>("rp")), has(ModifierKind::Saturate));
  };
  write(0, Type::b16, scale(1) << 8 | scale(2));
}

/// A bf16 is the upper half of an f32.
void Executor::CvtPairToScale() {
  const uint64_t pair = read(1, Type::b32);
  auto scale = [&](uint64_t bits) {
    return toScale(uint32_t(bits), is(mod<ModifierKind::Rounding>("rp")), has(ModifierKind::Saturate));
  };
  write(0, Type::b16, scale(pair & 0xFFFF0000) << 8 | scale(pair << 16));
}

void Executor::CvtFromScale() {
  const uint64_t pair = read(1, Type::b16);
  auto bfloat = [](uint64_t exponent) {
    return exponent == 255 ? canonicalNan(Type::bf16) : exponent ? exponent << 7 : 0x40;  // 2^-127 is subnormal
  };
  write(0, Type::b32, bfloat(pair >> 8) << 16 | bfloat(pair & 0xFF));
}

/// Both numbers clamped to the small type, a above b, and above them what c has below.
void Executor::packIntegers(bool hasC) {
  const unsigned width = isa::bits(type(0));
  const bool isSigned = isa::isSigned(type(0));
  auto clamped = [&](size_t k) {
    const int64_t high = (int64_t{1} << (width - isSigned)) - 1, low = isSigned ? -high - 1 : 0;
    return lowBits(uint64_t(std::clamp(readSigned(k, Type::s32), low, high)), width);
  };
  const uint64_t above = hasC ? read(3, Type::b32) << 2 * width : 0;
  write(0, Type::b32, above | clamped(1) << width | clamped(2));
}

void Executor::CvtPackInteger() { packIntegers(false); }
void Executor::CvtPackNarrow() { packIntegers(true); }

void Executor::Cvt() { write(0, type(0), convert(read(1, type(1)))); }

/// Two f32 values into one packed register: a goes to the upper half.
void Executor::CvtPack() {
  Type element = isa::element(type(0));
  auto half = [&](size_t i) {
    return clampConverted(convertFloat(read(i, Type::f32), Type::f32, element, roundingOf(instruction_->mods)),
                          element);
  };
  write(0, type(0), half(1) << 16 | half(2));
}

}  // namespace ordito::interp
