// What compiled code calls for a step of a matrix product of floats: up to 16 products and a number, summed as the
// tensor cores of an H200 do it. All terms are brought to the largest exponent among them, where a product's exponent
// is the sum of its factors', and lose what they have below the 25th bit behind the point; what is left is summed
// exactly and cut, or rounded to f16. Each loop over lanes becomes vector instructions.
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

__attribute__((target("avx512f,avx512dq,avx512vl"))) void sumWide(const Lanes* x, const Lanes* y, float* sum,
                                                                  uint32_t count, uint32_t least, bool half) {
  sumLanes(x, y, sum, count, least, half);
}
__attribute__((target("avx2"))) void sumAvx2(const Lanes* x, const Lanes* y, float* sum, uint32_t count, uint32_t least,
                                             bool half) {
  sumLanes(x, y, sum, count, least, half);
}
void sumBaseline(const Lanes* x, const Lanes* y, float* sum, uint32_t count, uint32_t least, bool half) {
  sumLanes(x, y, sum, count, least, half);
}

using Sum = void (*)(const Lanes*, const Lanes*, float*, uint32_t, uint32_t, bool);

Sum bestSum() {
  if (__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) return sumWide;
  return __builtin_cpu_supports("avx2") ? sumAvx2 : sumBaseline;
}

void matrixSum(const Lanes* x, const Lanes* y, float* sum, uint32_t count, uint32_t least, uint32_t roundsToHalf) {
  static const Sum best = bestSum();
  best(x, y, sum, count, least, roundsToHalf != 0);
}

}  // namespace

std::vector<std::pair<std::string_view, void*>> matrixHelperTable() {
  return {{"ordito_matrix_sum", reinterpret_cast<void*>(matrixSum)}};
}

}  // namespace ordito::rt
