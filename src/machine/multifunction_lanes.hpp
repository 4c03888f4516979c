// The special function unit on N lanes at once, N the width of the host's registers. Included by one source file per
// instruction set, which are compiled with different options: so everything here is local to the file, and nothing of
// the standard library with code in it may be included.
//
// A segment's quadratic is evaluated in double, where it is exact (below 2^53). Clearing the lower 29 of a double's 52
// bits cuts it to 24 as the hardware does, and the rest is arithmetic on exponents.
#pragma once

#pragma clang diagnostic ignored "-Wpsabi"  // nothing but the last few functions is called from elsewhere

#include <cstddef>
#include <cstdint>
#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace ordito::machine {
namespace {

struct Segment {
  int32_t constant, linear, quadratic;
};

#include "machine/multifunction_table.inc"

/// A table by columns. To every constant comes what the truncated square and the final cut lose on average, in 2^-17 of
/// the last bit.
template <size_t Size>
struct Coefficients {
  static constexpr size_t kColumn = (Size + 63) / 64 * 64;  // lookUp takes 64 at a time
  int32_t constant[kColumn], linear[kColumn], quadratic[kColumn];
  double compensation;

  constexpr Coefficients(const Segment (&rows)[Size], double c) : constant(), linear(), quadratic(), compensation(c) {
    for (size_t k = 0; k < Size; ++k) {
      constant[k] = rows[k].constant;
      linear[k] = rows[k].linear;
      quadratic[k] = rows[k].quadratic;
    }
  }
};

constexpr Coefficients kRcp(kReciprocal, 8092);
constexpr Coefficients kRsqrt(kReciprocalRoot, 32766);
constexpr Coefficients kSqrt(kRoot, 32767);
constexpr Coefficients kEx2(kExponential, 24456);
constexpr Coefficients kLg2(kLogarithm, 6696);
constexpr Coefficients kSin(kSine, 0);
constexpr Coefficients kTanh(kTangent, 0);

template <int N>
struct Unit {
  using Float = float __attribute__((ext_vector_type(N)));
  using Int = int32_t __attribute__((ext_vector_type(N)));
  using Unsigned = uint32_t __attribute__((ext_vector_type(N)));
  using Long = int64_t __attribute__((ext_vector_type(N)));
  using Double = double __attribute__((ext_vector_type(N)));

#define LANES __attribute__((always_inline)) static inline

  static constexpr int kFractionBits = 23, kSegmentBits = 17, kUnits = 41;  // 1 is 2^41 units
  static constexpr double kTurnsPerRadian = 0x1.45F306p-3;                  // a float
  static constexpr int32_t kFraction = 0x7FFFFF, kInfinity = 0x7F800000, kNan = 0x7FFFFFFF, kSmallestNormal = 0x800000;

  LANES Int select(Int condition, Int yes, Int no) { return condition ? yes : no; }
  LANES Int bits(Float x) { return __builtin_bit_cast(Int, x); }
  LANES Float real(Int x) { return __builtin_bit_cast(Float, x); }

  /// table[index], as double. AVX-512 looks 32 entries up at once in two registers, which takes less time than fetching
  /// lane by lane.
  template <size_t Size>
  LANES Double lookUp(const int32_t (&table)[Size], Int index) {
    Int r;
#if defined(__AVX512F__)
    static_assert(N == 16 && Size % 64 == 0);
    const auto i = __builtin_bit_cast(__m512i, index);
    auto pick = [&](size_t first) __attribute__((always_inline)) {
      return _mm512_permutex2var_epi32(_mm512_loadu_si512(table + first), i, _mm512_loadu_si512(table + first + 16));
    };
    auto choose = [&](size_t first) __attribute__((always_inline)) {
      return _mm512_mask_mov_epi32(pick(first), _mm512_test_epi32_mask(i, _mm512_set1_epi32(32)), pick(first + 32));
    };
    __m512i found = choose(0);
    if constexpr (Size == 128)
      found = _mm512_mask_mov_epi32(found, _mm512_test_epi32_mask(i, _mm512_set1_epi32(64)), choose(64));
    r = __builtin_bit_cast(Int, found);
#elif defined(__AVX2__)
    r = __builtin_bit_cast(Int, _mm256_i32gather_epi32(table, __builtin_bit_cast(__m256i, index), 4));
#else
    for (int k = 0; k < N; ++k) r[k] = table[index[k]];
#endif
    return __builtin_convertvector(r, Double);
  }

  /// The 15 bits that remain of the square of 17. Bit i times bit j < i weighs 2^(i+j+1), bit i with itself 2^2i, and
  /// nothing below 2^19 is formed. So the lower 10 bits meet only the upper 7, and bit 10+k of those takes them without
  /// their lowest 8-k.
  LANES Int square(Int x) {
    const Int upper = x >> 10, lower = x & 0x3FF;
    Int sum = 2 * upper * upper;
    for (int k = 0; k < 7; ++k) sum += select((upper & (1 << k)) != 0, lower >> (8 - k), Int{});
    return sum;
  }

  template <size_t Size>
  LANES Double interpolate(const Coefficients<Size>& table, Int segment, Int x) {
    return lookUp(table.constant, segment) * 0x1p15 + table.compensation +
           lookUp(table.linear, segment) * __builtin_convertvector(x, Double) +
           lookUp(table.quadratic, segment) * __builtin_convertvector(square(x), Double);
  }

  /// The segments of [0, 1) in 23 bits.
  template <size_t Size>
  LANES Double interpolate(const Coefficients<Size>& table, Int fraction) {
    return interpolate(table, fraction >> kSegmentBits, fraction & ((1 << kSegmentBits) - 1));
  }

  /// Cut to 24 bits; |x| may not be subnormal as a float.
  LANES Float cut(Double x) {
    const Long kept = __builtin_bit_cast(Long, x) & ~int64_t{0x1FFFFFFF};
    return __builtin_convertvector(__builtin_bit_cast(Double, kept), Float);
  }

  /// `units` cut, times 2^power: zero if that is subnormal, infinity if it is too large. Units are above zero.
  LANES Int scaled(Double units, Int power) {
    const Int result = bits(cut(units)) + ((power - kUnits) << kFractionBits);
    return select(result < kSmallestNormal, Int{}, select(result >= kInfinity, kInfinity + Int{}, result));
  }

  LANES Int magnitude(Int x) { return x & 0x7FFFFFFF; }
  LANES Int sign(Int x) { return x & INT32_MIN; }
  LANES Int exponent(Int x) { return (magnitude(x) >> kFractionBits) - 127; }
  LANES Int isNan(Int x) { return magnitude(x) > kInfinity; }
  LANES Int isZero(Int x) { return magnitude(x) < kSmallestNormal; }

  LANES Int rcp(Int x) {
    const Int fraction = x & kFraction;  // 128 segments: one bit more for them, one less for the rest
    const Double y = interpolate(kRcp, fraction >> 16, (fraction & 0xFFFF) << 1);
    Int r = scaled(y, -exponent(x));
    r = select(isZero(x), kInfinity + Int{}, select(magnitude(x) == kInfinity, Int{}, r));
    return select(isNan(x), kNan + Int{}, r | sign(x));
  }

  /// Square roots see the exponent's lowest bit as part of the fraction.
  template <size_t Size>
  LANES Double interpolateRoot(const Coefficients<Size>& table, Int x) {
    const Int odd = exponent(x) & 1, fraction = x & kFraction;
    return interpolate(table, (fraction >> kSegmentBits) + odd * 64, fraction & ((1 << kSegmentBits) - 1));
  }

  LANES Int rsqrt(Int x) {
    Int r = scaled(interpolateRoot(kRsqrt, x), -(exponent(x) >> 1));
    const Int isPowerOfFour = ((exponent(x) & 1) == 0) & ((x & kFraction) == 0);
    r = select(isPowerOfFour, (127 - (exponent(x) >> 1)) << kFractionBits, r);
    r = select(x < 0, kNan + Int{}, select(x == kInfinity, Int{}, r));
    r = select(isZero(x), sign(x) | kInfinity, r);
    return select(isNan(x), kNan + Int{}, r);
  }

  LANES Int sqrt(Int x) {
    Int r = scaled(interpolateRoot(kSqrt, x), (exponent(x) >> 1) + 1);
    r = select(x < 0, kNan + Int{}, select(x == kInfinity, x, r));
    r = select(isZero(x), sign(x), r);
    return select(isNan(x), kNan + Int{}, r);
  }

  LANES Int atLeastZero(Int x) { return select(x > 0, x, Int{}); }
  LANES Int atMost(Int x, int32_t limit) { return select(x < limit, x, limit + Int{}); }

  /// The significand, shifted to the left by `places` (to the right if negative); nothing is left after 31.
  LANES Int shifted(Int x, Int places) {
    const Unsigned significand = __builtin_bit_cast(Unsigned, (x & kFraction) | kSmallestNormal);
    const auto left = __builtin_bit_cast(Unsigned, atMost(atLeastZero(places), 31));
    const auto right = __builtin_bit_cast(Unsigned, atMost(atLeastZero(-places), 31));
    return __builtin_bit_cast(Int, (significand << left) >> right);
  }

  LANES Int ex2(Int x) {
    const Int size = shifted(x, atMost(exponent(x), 7));  // 23 bits behind the point, 8 before it
    const Int below = select((size & kFraction) != 0, ~size, -size);
    const Int fixed = select(x < 0, below, size);
    Int r = scaled(interpolate(kEx2, fixed & kFraction), (fixed >> kFractionBits) + 1);
    const Int tooLarge = magnitude(x) >= 0x43000000;  // 128
    r = select((x >= 0) & tooLarge, kInfinity + Int{}, r);
    r = select((x < 0) & (magnitude(x) >= 0x43800000), Int{}, r);  // where 8 bits no longer hold it
    return select(isNan(x), kNan + Int{}, r);
  }

  LANES Double floor(Double x) {
#if defined(__AVX2__)
    return __builtin_elementwise_floor(x);
#else
    Double whole = __builtin_convertvector(__builtin_convertvector(x, Long), Double);
    return whole;  // x is not negative
#endif
  }

  LANES Int lg2(Int x) {
    // 36 bits behind the point. A negative sum is complemented.
    const Double fraction = floor(interpolate(kLg2, x & kFraction) * 0x1p-5);
    const Double sum = __builtin_convertvector(exponent(x), Double) * 0x1p36 + fraction;
    const Double complement = -1.0 - sum;
    const Float size = cut(sum < 0.0 ? complement : sum) * 0x1p-36f;
    Int r = bits(size) | select(exponent(x) < 0, INT32_MIN + Int{}, Int{});
    r = select(x == 0x3F800000, Int{}, r);  // 1
    r = select(x < 0, kNan + Int{}, select(x == kInfinity, x, r));
    r = select(isZero(x), INT32_MIN + (kInfinity + Int{}), r);
    return select(isNan(x), kNan + Int{}, r);
  }

  /// Sine of `phase` quarter turns in units of 2^-23.
  LANES Int sineOf(Int phase) {
    const Int quadrant = phase >> kFractionBits, within = phase & kFraction;
    const Int fraction = select((quadrant & 1) != 0, kFraction - within, within);
    const Int size = bits(cut(interpolate(kSin, fraction)) * 0x1p-41f);
    return size ^ select((quadrant & 2) != 0, INT32_MIN + Int{}, Int{});
  }

  /// |x| in turns, cut to 25 bits behind the point, the whole turns left out. The multiplication rounds toward zero.
  LANES Int phase(Int x) {
    const Float turns = cut(__builtin_convertvector(real(magnitude(x)), Double) * kTurnsPerRadian);
    const Int r = bits(turns);
    return select(isZero(r), Int{}, shifted(r, exponent(r) + 2)) & 0x1FFFFFF;
  }

  LANES Int sin(Int x) {
    const Int r = sineOf(phase(x)) ^ sign(x);
    return select(magnitude(x) >= kInfinity, kNan + Int{}, r);
  }
  LANES Int cos(Int x) {
    const Int r = sineOf((phase(x) + (1 << kFractionBits)) & 0x1FFFFFF);
    return select(magnitude(x) >= kInfinity, kNan + Int{}, r);
  }

  LANES Int tanh(Int x) {
    // By octave: how many bits choose the segment, and which is the first.
    constexpr int32_t kBits[] = {0, 0, 0, 1, 1, 2, 2, 2, 3, 4, 3}, kFirst[] = {0, 1, 2, 3, 5, 7, 11, 15, 19, 27, 43};
    const Int octave = exponent(x) + 8, fraction = x & kFraction;
    Int chosen = {}, first = {};
    for (int k = 1; k <= 10; ++k) {
      chosen += select(octave >= k, Int{} + (kBits[k] - kBits[k - 1]), Int{});
      first += select(octave >= k, Int{} + (kFirst[k] - kFirst[k - 1]), Int{});
    }
    const Int segment = first + (fraction >> (kFractionBits - chosen));
    const Int within = (fraction >> (kFractionBits - kSegmentBits - chosen)) & ((1 << kSegmentBits) - 1);
    Int r = bits(cut(interpolate(kTanh, segment, within)) * 0x1p-41f) | sign(x);
    r = select(exponent(x) >= 3, 0x3F800000 | sign(x), r);
    r = select(exponent(x) < -8, x, r);
    return select(isNan(x), kNan + Int{}, r);
  }

#undef LANES
};

}  // namespace
}  // namespace ordito::machine

/// Defines mufu_rcp_NAME and the others, on LANES lanes.
#define MULTIFUNCTION(function, lanes, name)                                                                       \
  extern "C" ordito::machine::Unit<lanes>::Float mufu_##function##_##name(ordito::machine::Unit<lanes>::Float x) { \
    using U = ordito::machine::Unit<lanes>;                                                                        \
    return U::real(U::function(U::bits(x)));                                                                       \
  }
// clang-format off
#define MULTIFUNCTIONS(lanes, name) \
  MULTIFUNCTION(rcp, lanes, name)   \
  MULTIFUNCTION(rsqrt, lanes, name) \
  MULTIFUNCTION(sqrt, lanes, name)  \
  MULTIFUNCTION(ex2, lanes, name)   \
  MULTIFUNCTION(lg2, lanes, name)   \
  MULTIFUNCTION(sin, lanes, name)   \
  MULTIFUNCTION(cos, lanes, name)   \
  MULTIFUNCTION(tanh, lanes, name)
// clang-format on
