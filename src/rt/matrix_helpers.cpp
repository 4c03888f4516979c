// What compiled code calls for a step of a matrix product of floats: up to 16 products and a number, summed as the
// tensor cores of an H200 do it. All terms are brought to the largest exponent among them, where a product's exponent
// is the sum of its factors', and lose what they have below the 25th bit behind the point; what is left is summed
// exactly and cut, or rounded to f16. Each loop over lanes becomes vector instructions.
//
// A dense product comes as columns of A, 16 rows each, and rows of B: a vector of 16 results has the same elements of
// B. Where no exponent is extreme it is computed in f32 and 32-bit integers. That is exact: a product of two
// significands of 12 bits at most has 24, times a power of two it is below 2^27 in units of the 25th bit, and so is the
// sum of eight of them below 2^31.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "rt/helpers.hpp"

namespace ordito::rt {
namespace {

constexpr unsigned kLanes = 32;
constexpr int32_t kFraction = 25, kBias = 127, kNone = -512;  // kNone is less than the exponent of any term

using Lanes = float[kLanes];

__attribute__((always_inline)) inline int32_t exponentField(float v, int32_t least) {
  return std::max(std::bit_cast<int32_t>(v) >> 23 & 255, least);
}

/// The exponent of a term, without bias.
__attribute__((always_inline)) inline int32_t exponentOf(float x, int32_t leastX, float y, int32_t leastY) {
  const int32_t sum = exponentField(x, leastX) + exponentField(y, leastY) - 2 * kBias;
  return x == 0 || y == 0 ? kNone : sum;
}

/// The whole part; zero for what is no number, which is dealt with apart.
__attribute__((always_inline)) inline double whole(double v) {
  return static_cast<double>(static_cast<int32_t>(std::fabs(v) < 0x1p30 ? v : 0.0));
}

__attribute__((always_inline)) inline float cut(double v) {
  const auto near = static_cast<float>(v);
  const bool isBeyond = std::fabs(static_cast<double>(near)) > std::fabs(v);
  const bool isNumber = std::fabs(v) < 0x1p128;
  return std::bit_cast<float>(std::bit_cast<int32_t>(near) - (isBeyond && isNumber ? 1 : 0));
}

__attribute__((always_inline)) inline void sumLanes(const Lanes* x, const Lanes* y, float* sum, uint32_t count,
                                                    uint32_t least, bool roundsToHalf) {
  const auto leastX = static_cast<int32_t>(least & 255), leastY = static_cast<int32_t>(least >> 8);
  int32_t largest[kLanes];
  double plain[kLanes], total[kLanes], scale[kLanes];
  for (unsigned l = 0; l < kLanes; ++l) largest[l] = exponentOf(sum[l], 1, 1.0f, 1), plain[l] = double(sum[l]);
  for (unsigned k = 0; k < count; ++k)
    for (unsigned l = 0; l < kLanes; ++l) {
      largest[l] = std::max(largest[l], exponentOf(x[k][l], leastX, y[k][l], leastY));
      plain[l] += double(x[k][l]) * double(y[k][l]);
    }
  for (unsigned l = 0; l < kLanes; ++l) {
    scale[l] = std::bit_cast<double>(int64_t{1023 + kFraction - largest[l]} << 52);
    total[l] = whole(double(sum[l]) * scale[l]);
  }
  for (unsigned k = 0; k < count; ++k)
    for (unsigned l = 0; l < kLanes; ++l) total[l] += whole(double(x[k][l]) * double(y[k][l]) * scale[l]);
  for (unsigned l = 0; l < kLanes; ++l) {
    const double back = std::bit_cast<double>(int64_t{1023 - kFraction + largest[l]} << 52);
    // Infinities and NaNs make what they make in any sum.
    const bool isFinite = std::fabs(plain[l]) <= std::numeric_limits<double>::max();
    total[l] = isFinite ? total[l] * back : plain[l];
  }
  if (roundsToHalf)
    for (unsigned l = 0; l < kLanes; ++l) sum[l] = static_cast<float>(static_cast<_Float16>(total[l]));
  else
    for (unsigned l = 0; l < kLanes; ++l) sum[l] = cut(total[l]);
}

constexpr unsigned kRows = 16, kMostColumns = 32, kMostProducts = 16;

using Floats = float __attribute__((ext_vector_type(kRows)));
using Ints = int32_t __attribute__((ext_vector_type(kRows)));
using Longs = int64_t __attribute__((ext_vector_type(kRows)));
using Doubles = double __attribute__((ext_vector_type(kRows)));
using Halves = _Float16 __attribute__((ext_vector_type(kRows)));

/// One step of a dense product: sums[column] += a[k] * b[k * columns + column] for each k.
struct Step {
  const Floats* a;
  const float* b;
  Floats* sums;
  uint32_t columns, count;
  int32_t leastX, leastY;
  bool roundsToHalf;
};

/// Exponent fields of numbers that f32 is enough for: of factors, so that their products are normal, and of sums, so
/// that the unit is.
struct Range {
  int32_t from, to;
};
constexpr Range kOfFactors = {kBias - 50, kBias + 60}, kOfSums = {kBias - 100, 254};

/// Adds to `extremes` what is beyond the range.
__attribute__((always_inline)) inline void exponentsOf(const Floats& v, int32_t least, Range range, Ints& exponents,
                                                       Ints& extremes) {
  const Ints bits = __builtin_bit_cast(Ints, v), field = bits >> 23 & 255, isZero = (bits << 1) == 0;
  extremes |= ((field < range.from) | (field > range.to)) & ~isZero;
  exponents = isZero ? Ints(kNone) : __builtin_elementwise_max(field, Ints(least)) - kBias;
}

/// The sum of two counts of the unit that is 25 bits below `largest`, as f32.
__attribute__((always_inline)) inline void finish(const Ints& even, const Ints& odd, const Ints& largest,
                                                  bool roundsToHalf, Floats& sum) {
  constexpr int64_t kBeyond = (int64_t{1} << 29) - 1;  // the bits of an f64 that f32 lacks
  const Longs unit = __builtin_convertvector(largest + (1023 - kFraction), Longs) << 52;
  const Doubles total = (__builtin_convertvector(even, Doubles) + __builtin_convertvector(odd, Doubles)) *
                        __builtin_bit_cast(Doubles, unit);
  const Longs bits = __builtin_bit_cast(Longs, total);
  Longs kept = bits & ~kBeyond;
  // Any bit below the last but one of f32 decides as all of them would how a half is rounded.
  if (roundsToHalf) kept |= (bits & kBeyond) != 0 ? Longs(kBeyond + 1) : Longs(0);
  sum = __builtin_convertvector(__builtin_bit_cast(Doubles, kept), Floats);
  if (roundsToHalf) sum = __builtin_convertvector(__builtin_convertvector(sum, Halves), Floats);
}

/// False, and nothing done, if an exponent is extreme.
__attribute__((always_inline)) inline bool multiplyInFloats(const Step& s) {
  Ints ofA[kMostProducts], ofSums[kMostColumns], extremes(0);
  union {
    Ints vectors[kMostColumns];
    int32_t of[kMostProducts * kMostColumns];
  } ofB;
  for (uint32_t k = 0; k < s.count; ++k) exponentsOf(s.a[k], s.leastX, kOfFactors, ofA[k], extremes);
  for (uint32_t n = 0; n < s.count * s.columns / kRows; ++n)
    exponentsOf(reinterpret_cast<const Floats*>(s.b)[n], s.leastY, kOfFactors, ofB.vectors[n], extremes);
  for (uint32_t n = 0; n < s.columns; ++n) exponentsOf(s.sums[n], 1, kOfSums, ofSums[n], extremes);
  if (__builtin_reduce_or(extremes) != 0) return false;
  for (uint32_t n = 0; n < s.columns; ++n) {
    Ints largest = __builtin_elementwise_max(ofSums[n], Ints(kOfSums.from - kBias));
    for (uint32_t k = 0; k < s.count; ++k)
      largest = __builtin_elementwise_max(largest, ofA[k] + ofB.of[k * s.columns + n]);
    const Floats scale = __builtin_bit_cast(Floats, (kBias + kFraction - largest) << 23);
    auto count = [&](uint32_t k, Ints& units) __attribute__((always_inline)) {
      units += __builtin_convertvector(s.a[k] * s.b[k * s.columns + n] * scale, Ints);
    };
    Ints even = __builtin_convertvector(s.sums[n] * scale, Ints), odd(0);
    for (uint32_t k = 0; k < s.count; k += 2) count(k, even), count(k + 1, odd);
    finish(even, odd, largest, s.roundsToHalf, s.sums[n]);
  }
  return true;
}

/// Two columns of sums are 32 lanes.
__attribute__((always_inline)) inline void multiplyInDoubles(const Step& s) {
  Lanes x[kMostProducts], y[kMostProducts];
  for (uint32_t n = 0; n < s.columns; n += 2) {
    for (uint32_t k = 0; k < s.count; ++k)
      for (unsigned l = 0; l < kLanes; ++l) x[k][l] = s.a[k][l % kRows], y[k][l] = s.b[k * s.columns + n + l / kRows];
    sumLanes(x, y, reinterpret_cast<float*>(s.sums + n), s.count, static_cast<uint32_t>(s.leastX | s.leastY << 8),
             s.roundsToHalf);
  }
}

#define WIDE __attribute__((target("avx512f,avx512dq,avx512vl,f16c")))
#define AVX2 __attribute__((target("avx2,f16c")))
WIDE void sumWide(const Lanes* x, const Lanes* y, float* sum, uint32_t count, uint32_t least, bool half) {
  sumLanes(x, y, sum, count, least, half);
}
AVX2 void sumAvx2(const Lanes* x, const Lanes* y, float* sum, uint32_t count, uint32_t least, bool half) {
  sumLanes(x, y, sum, count, least, half);
}
void sumBaseline(const Lanes* x, const Lanes* y, float* sum, uint32_t count, uint32_t least, bool half) {
  sumLanes(x, y, sum, count, least, half);
}
WIDE void multiplyWide(const Step& s) {
  if (!multiplyInFloats(s)) multiplyInDoubles(s);
}
AVX2 void multiplyAvx2(const Step& s) {
  if (!multiplyInFloats(s)) multiplyInDoubles(s);
}
void multiplyBaseline(const Step& s) {
  if (!multiplyInFloats(s)) multiplyInDoubles(s);
}
#undef WIDE
#undef AVX2

/// The best form that this processor runs.
template <class Function>
Function* best(Function* wide, Function* avx2, Function* baseline) {
  if (__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) return wide;
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c") ? avx2 : baseline;
}

void matrixSum(const Lanes* x, const Lanes* y, float* sum, uint32_t count, uint32_t least, uint32_t roundsToHalf) {
  static auto* const form = best(sumWide, sumAvx2, sumBaseline);
  form(x, y, sum, count, least, roundsToHalf != 0);
}

void matrixProduct(const Floats* a, const float* b, Floats* sums, uint32_t columns, uint32_t count, uint32_t least,
                   uint32_t roundsToHalf) {
  static auto* const form = best(multiplyWide, multiplyAvx2, multiplyBaseline);
  form({a, b, sums, columns, count, static_cast<int32_t>(least & 255), static_cast<int32_t>(least >> 8),
        roundsToHalf != 0});
}

}  // namespace

std::vector<std::pair<std::string_view, void*>> matrixHelperTable() {
  return {{"ordito_matrix_sum", reinterpret_cast<void*>(matrixSum)},
          {"ordito_matrix_product", reinterpret_cast<void*>(matrixProduct)}};
}

}  // namespace ordito::rt
