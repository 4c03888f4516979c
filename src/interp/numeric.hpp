// Numbers as PTX defines them, on plain bit patterns: the five floating-point formats, exact rounding in every mode,
// canonical NaNs.
//
// Conversions go through one exact intermediate form (sign, integer significand, power of two), so that each rounds
// exactly once. Arithmetic on f32 and f64 uses the host's IEEE operations under the asked rounding mode; f16 and bf16
// are computed in double rounded to odd, which makes the second rounding exact.
#pragma once

#include <cstdint>

#include "isa/isa.hpp"

namespace ordito::interp {

enum class Rounding : uint8_t { NearestEven, NearestAway, Zero, Down, Up };

/// The rounding mode that `mods` names with .rn/.rna/.rz/.rm/.rp, or round to nearest even.
Rounding roundingOf(const isa::Modifiers& mods);
/// The same for the integer rounding modifiers .rni/.rzi/.rmi/.rpi.
Rounding integerRoundingOf(const isa::Modifiers& mods);

/// An IEEE binary interchange format. tf32 is a 19-bit format kept in the upper bits of a 32-bit word.
struct Format {
  int exponentBits;
  int mantissaBits;
  int shift;  // position of the lowest mantissa bit in the word

  constexpr int bias() const { return (1 << (exponentBits - 1)) - 1; }
  constexpr uint64_t infinity() const { return ((uint64_t{1} << exponentBits) - 1) << mantissaBits << shift; }
  constexpr uint64_t signBit() const { return uint64_t{1} << (exponentBits + mantissaBits + shift); }
  constexpr uint64_t largest() const { return infinity() - (uint64_t{1} << shift); }
  constexpr uint64_t one() const { return uint64_t(bias()) << mantissaBits << shift; }
};

/// The format of a floating-point type (the element's for packed types).
Format formatOf(isa::Type type);

bool isNan(uint64_t bits, Format format);
bool isInfinite(uint64_t bits, Format format);
bool isZero(uint64_t bits, Format format);
bool isSubnormal(uint64_t bits, Format format);
inline bool isNegative(uint64_t bits, Format format) { return bits & format.signBit(); }

/// The NaN that the GPU's arithmetic generates.
uint64_t canonicalNan(isa::Type type);
/// A NaN with its quiet bit set.
uint64_t quieted(uint64_t bits, Format format);
/// Subnormal numbers become zeros of the same sign (.ftz).
uint64_t flush(uint64_t bits, Format format);
/// .sat: clamps to [0, 1]; NaN becomes +0.
uint64_t saturate(uint64_t bits, Format format);
/// The exact value of a finite or infinite number; any NaN for a NaN. All formats fit in a double.
double toDouble(uint64_t bits, Format format);

/// significand × 2^exponent rounded once to `format`.
uint64_t pack(bool negative, uint64_t significand, int exponent, Format format, Rounding rounding);
/// What becomes of results below the smallest normal number.
enum class Tiny : uint8_t { Keep, Flush };

/// A number of one format in another. NaNs become canonical, except that conversions from and to f64 keep sign and
/// upper payload, as the GPU's do, and that bf16 to f32 only moves bits. Of tf32, canonicalNan gives what is left of
/// f32's in its upper bits.
uint64_t convertFloat(uint64_t bits, isa::Type from, isa::Type to, Rounding rounding, Tiny tiny = Tiny::Keep);
/// A 64-bit integer (`isSigned`: two's complement) as a number of `to`.
uint64_t convertInteger(uint64_t value, bool isSigned, isa::Type to, Rounding rounding);
/// A number rounded to an integer that is clamped to the range of `to`; NaN gives what the manual's cvt says.
uint64_t convertToInteger(uint64_t bits, isa::Type from, isa::Type to, Rounding rounding);
/// A number rounded to an integral value in its own format; -0 and the sign of results that become zero are kept.
uint64_t roundToIntegral(uint64_t bits, isa::Type type, Rounding rounding);

enum class FloatOp : uint8_t { Add, Sub, Mul, Fma, Div, Sqrt };

/// a op b (op c) on one element of f16, bf16, f32 or f64. NaN results are canonical; in f64 a NaN operand passes
/// through: the first one for quotients, else the second, the third, the first.
uint64_t compute(FloatOp op, isa::Type type, uint64_t a, uint64_t b, uint64_t c, Rounding rounding,
                 Tiny tiny = Tiny::Keep);

/// The result of an operation whose value is `wide` (exact, or rounded to odd in double), with .ftz: the GPU decides
/// before it limits the exponent range, so that a value just below the smallest normal number is flushed even where
/// rounding would make it normal.
uint64_t flushTiny(uint64_t result, double wide, Format format, Rounding rounding);

/// The bits that an immediate written as a double has in a value of `type`; NaN payloads stay in place.
uint64_t immediateBits(uint64_t doubleBits, isa::Type type);

inline uint64_t lowBits(uint64_t value, unsigned bits) {
  return bits >= 64 ? value : value & ((uint64_t{1} << bits) - 1);
}
inline int64_t signExtend(uint64_t value, unsigned bits) {
  return bits >= 64 ? int64_t(value) : int64_t(value << (64 - bits)) >> (64 - bits);
}

}  // namespace ordito::interp
