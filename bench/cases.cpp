// Inputs are small whole numbers, so that every float result is exact and the order of additions cannot hide a wrong
// kernel: each contender must give the expected bits. The sequential references are slow on purpose; they run once per
// case.
#include "cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <string_view>

namespace ordito::bench {

namespace {

constexpr double matmulFlops(double n) { return 2 * n * n * n; }

/// Half the keys are compared in each of the log n (log n + 1) / 2 steps.
constexpr double bitonicCompares(int log) { return (1 << (log - 1)) * (log * (log + 1) / 2.0); }

constexpr int spmvPerRow = 16;  // on average: rows have 0 to 32 elements

std::vector<float> smallFloats(std::size_t count, unsigned seed, int limit) {
  std::minstd_rand random(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(static_cast<int>(random() >> 8) % limit);
  return values;
}

/// i,k,j order: the inner loop walks rows, so that the reference takes tenths of a second and not several.
std::vector<float> matmulReference(const std::vector<float>& a, const std::vector<float>& b, std::size_t n) {
  std::vector<float> c(n * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t j = 0; j < n; ++j) c[i * n + j] += a[i * n + k] * b[k * n + j];
  return c;
}

/// Letters as often as English has them: a histogram of uniform bytes would hide the conflicts on 'e' and the blank.
std::vector<unsigned char> englishLikeText(std::size_t count) {
  constexpr std::string_view sample =
      "                  "
      "eeeeeeeeeeeetttttttttaaaaaaaaoooooooiiiiiiinnnnnnnsssssshhhhhhrrrrrrddddlllluuucccmmmwwffggyyppbvk\n.,ETA";
  std::minstd_rand random(48);
  std::vector<unsigned char> text(count);
  for (unsigned char& letter : text) letter = static_cast<unsigned char>(sample[(random() >> 8) % sample.size()]);
  return text;
}

template <class T>
std::string firstDifference(const std::vector<T>& expected, const std::vector<std::byte>& result) {
  if (result.size() != expected.size() * sizeof(T)) return fmt::format("{} bytes of result", result.size());
  if (std::memcmp(result.data(), expected.data(), result.size()) == 0) return {};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    T value;
    std::memcpy(&value, result.data() + i * sizeof(T), sizeof(T));
    if (value != expected[i]) return fmt::format("element {} is {}, expected {}", i, value, expected[i]);
  }
  return {};  // bytes differ but values do not: -0 and 0
}

/// More than 1e-9 of the largest value off.
std::string firstFarOff(const std::vector<double>& expected, const std::vector<std::byte>& result) {
  if (result.size() != expected.size() * sizeof(double)) return fmt::format("{} bytes of result", result.size());
  double largest = 0;
  for (double v : expected) largest = std::max(largest, std::abs(v));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    double value;
    std::memcpy(&value, result.data() + i * sizeof value, sizeof value);
    if (!(std::abs(value - expected[i]) <= 1e-9 * largest))
      return fmt::format("element {} is {}, expected {}", i, value, expected[i]);
  }
  return {};
}

}  // namespace

const std::vector<CaseSpec>& allCases() {
  constexpr std::size_t large = std::size_t{1} << 26;
  constexpr std::size_t textSize = 49175956;  // the text of the Barcelona course, "48 MB"
  static const std::vector<CaseSpec> cases = {
      {"saxpy", Kernel::Saxpy, 256, std::size_t{1} << 24, "native", 0.95, 0, 12.0 * (1 << 24), "GB/s"},
      {"reduce_best", Kernel::ReduceBest, 256, large, "native", 0.85, 3, 4.0 * large, "GB/s"},
      {"reduce_grid_stride", Kernel::ReduceGridStride, 256, large, "native", 0.6, 0, 4.0 * large, "GB/s"},
      {"reduce_neighbored", Kernel::ReduceNeighbored, 512, large, "native", 0.25, 3, 4.0 * large, "GB/s"},
      {"matmul_naive_32", Kernel::MatmulNaive, 32, 1024, "openblas", 0.35, 3, matmulFlops(1024), "GFLOP/s"},
      {"matmul_naive_16", Kernel::MatmulNaive, 16, 1024, "openblas", 0.35 / 1.5, 3, matmulFlops(1024), "GFLOP/s"},
      {"matmul_tiled_32", Kernel::MatmulTiled, 32, 1024, "openblas", 0.65, 3, matmulFlops(1024), "GFLOP/s"},
      {"matmul_tiled_16", Kernel::MatmulTiled, 16, 1024, "openblas", 0.65 / 1.5, 3, matmulFlops(1024), "GFLOP/s"},
      {"transpose", Kernel::Transpose, 256, 4096, "native", 0.55, 3, 8.0 * 4096 * 4096, "GB/s"},
      {"histogram", Kernel::Histogram, 256, textSize, "native", 0.5, 3, textSize, "GB/s"},
      {"histogram_global", Kernel::HistogramGlobal, 256, std::size_t{1} << 22, "native", 0, 0, 1 << 22, "Gcount/s"},
      {"mandelbrot", Kernel::Mandelbrot, 256, 2048, "native", 0.75, 3, 2048.0 * 2048, "Gpixel/s"},
      {"collatz", Kernel::Collatz, 256, std::size_t{1} << 22, "native", 0.75, 3, 1 << 22, "Gnumber/s"},
      // Six instructions of PTX for each step of 32 threads.
      {"xorshift", Kernel::Xorshift, 256, std::size_t{1} << 16, "native", 0.75, 3, 6.0 * xorshiftSteps * (1 << 16) / 32,
       "Gwarpinst/s"},
      {"scan", Kernel::Scan, 256, std::size_t{1} << 24, "native", 0, 3, 8.0 * (1 << 24), "GB/s"},
      {"bitonic_sort", Kernel::BitonicSort, 512, std::size_t{1} << 20, "native", 0, 3, bitonicCompares(20),
       "Gcompare/s"},
      {"spmv", Kernel::Spmv, 128, std::size_t{1} << 20, "native", 0, 3, 2.0 * spmvPerRow * (1 << 20), "GFLOP/s"},
      {"nbody", Kernel::Nbody, 256, 8192, "native", 0, 3, nbodyFlops * 8192 * 8192, "GFLOP/s"},
  };
  return cases;
}

CaseData::CaseData(const CaseSpec& spec)
    : problem_{spec.kernel, spec.block, spec.n, nullptr, nullptr, 0, nullptr, nullptr} {
  switch (spec.kernel) {
    case Kernel::Saxpy: makeSaxpy(); break;
    case Kernel::ReduceBest:
    case Kernel::ReduceGridStride:
    case Kernel::ReduceNeighbored: makeReduction(); break;
    case Kernel::MatmulNaive:
    case Kernel::MatmulTiled: makeMatmul(); break;
    case Kernel::Transpose: makeTranspose(); break;
    case Kernel::Histogram:
    case Kernel::HistogramGlobal: makeHistogram(); break;
    case Kernel::Mandelbrot: makeMandelbrot(); break;
    case Kernel::Collatz: makeCollatz(); break;
    case Kernel::Xorshift: makeXorshift(); break;
    case Kernel::Scan: makeScan(); break;
    case Kernel::BitonicSort: makeBitonicSort(); break;
    case Kernel::Spmv: makeSpmv(); break;
    case Kernel::Nbody: makeNbody(); break;
  }
}

void CaseData::makeSaxpy() {
  a_ = smallFloats(problem_.n, 1, 100);
  b_ = smallFloats(problem_.n, 2, 100);
  floats_.resize(problem_.n);
  for (std::size_t i = 0; i < problem_.n; ++i) floats_[i] = saxpyFactor * a_[i] + b_[i];
  problem_.a = a_.data();
  problem_.b = b_.data();
  problem_.bytes = floats_.size() * sizeof(float);
}

void CaseData::makeReduction() {
  std::minstd_rand random(3);
  ints_.resize(problem_.n);
  std::uint32_t sum = 0;
  for (std::int32_t& value : ints_) {
    value = static_cast<std::int32_t>((random() >> 8) % 10);
    sum += static_cast<std::uint32_t>(value);
  }
  integers_ = {sum};
  problem_.a = ints_.data();
  problem_.bytes = sizeof(std::uint32_t);
}

void CaseData::makeMatmul() {
  a_ = smallFloats(problem_.n * problem_.n, 4, 10);
  b_ = smallFloats(problem_.n * problem_.n, 5, 10);
  floats_ = matmulReference(a_, b_, problem_.n);
  problem_.a = a_.data();
  problem_.b = b_.data();
  problem_.bytes = floats_.size() * sizeof(float);
}

void CaseData::makeTranspose() {
  const std::size_t n = problem_.n;
  a_.resize(n * n);
  for (std::size_t i = 0; i < a_.size(); ++i) a_[i] = static_cast<float>(i % 16777216);
  floats_.resize(n * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) floats_[j * n + i] = a_[i * n + j];
  problem_.a = a_.data();
  problem_.bytes = floats_.size() * sizeof(float);
}

void CaseData::makeHistogram() {
  text_ = englishLikeText(problem_.n);
  integers_.assign(256, 0);
  for (unsigned char letter : text_) ++integers_[letter];
  problem_.a = text_.data();
  problem_.bytes = integers_.size() * sizeof(std::uint32_t);
}

/// Every step is a fused multiply-add by name, so that all contenders round alike.
void CaseData::makeMandelbrot() {
  const std::size_t n = problem_.n;
  const float step = mandelbrotWidth / static_cast<float>(n);
  integers_.resize(n * n);
  for (std::size_t row = 0; row < n; ++row)
    for (std::size_t column = 0; column < n; ++column) {
      const float cx = std::fma(static_cast<float>(column), step, mandelbrotLeft);
      const float cy = std::fma(static_cast<float>(row), step, mandelbrotTop);
      float x = 0, y = 0;
      std::uint32_t count = 0;
      while (count < mandelbrotLimit && std::fma(x, x, y * y) <= 4.0F) {
        const float next = std::fma(x, x, std::fma(-y, y, cx));
        y = std::fma(x + x, y, cy);
        x = next;
        ++count;
      }
      integers_[row * n + column] = count;
    }
  problem_.bytes = integers_.size() * sizeof(std::uint32_t);
}

void CaseData::makeCollatz() {
  integers_.resize(problem_.n);
  for (std::size_t i = 0; i < problem_.n; ++i) {
    std::uint32_t steps = 0;
    for (std::uint64_t x = i + 1; x != 1; ++steps) x = x % 2 ? 3 * x + 1 : x / 2;
    integers_[i] = steps;
  }
  problem_.bytes = integers_.size() * sizeof(std::uint32_t);
}

void CaseData::makeXorshift() {
  integers_.resize(problem_.n);
  for (std::size_t i = 0; i < problem_.n; ++i) {
    std::uint32_t x = static_cast<std::uint32_t>(i + 1);
    for (int step = 0; step < xorshiftSteps; ++step) x ^= x << 13, x ^= x >> 17, x ^= x << 5;
    integers_[i] = x;
  }
  problem_.bytes = integers_.size() * sizeof(std::uint32_t);
}

void CaseData::makeScan() {
  std::minstd_rand random(6);
  ints_.resize(problem_.n);
  integers_.resize(problem_.n);
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < problem_.n; ++i) {
    ints_[i] = static_cast<std::int32_t>((random() >> 8) % 10);
    integers_[i] = sum += static_cast<std::uint32_t>(ints_[i]);
  }
  problem_.a = ints_.data();
  problem_.bytes = integers_.size() * sizeof(std::uint32_t);
}

void CaseData::makeBitonicSort() {
  std::mt19937 random(7);
  ints_.resize(problem_.n);
  for (std::int32_t& key : ints_) key = static_cast<std::int32_t>(random());
  integers_.assign(ints_.begin(), ints_.end());
  std::sort(integers_.begin(), integers_.end());
  problem_.a = ints_.data();
  problem_.bytes = integers_.size() * sizeof(std::uint32_t);
}

/// Most elements lie near the diagonal, as in matrices of meshes, and every eighth anywhere.
void CaseData::makeSpmv() {
  const std::size_t n = problem_.n;
  std::minstd_rand random(8);
  auto below = [&](std::size_t limit) { return (random() >> 4) % limit; };
  rowStart_ = {0};
  floats_.resize(n);
  b_ = smallFloats(n, 9, 10);
  for (std::size_t row = 0; row < n; ++row) {
    const std::size_t count = below(2 * spmvPerRow + 1);
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t column = below(8) == 0 ? below(n) : (row + n - 64 + below(128)) % n;
      columns_.push_back(static_cast<std::uint32_t>(column));
      a_.push_back(static_cast<float>(below(10)));
      floats_[row] += a_.back() * b_[column];
    }
    rowStart_.push_back(static_cast<std::uint32_t>(columns_.size()));
  }
  problem_.a = a_.data();
  problem_.b = b_.data();
  problem_.rowStart = rowStart_.data();
  problem_.columns = columns_.data();
  problem_.bytes = floats_.size() * sizeof(float);
}

void CaseData::makeNbody() {
  const std::size_t n = problem_.n;
  std::mt19937 random(10);
  std::uniform_real_distribution<double> place(-1, 1);
  bodies_.resize(4 * n);
  for (double& v : bodies_) v = place(random);
  for (std::size_t i = 0; i < n; ++i) bodies_[4 * i + 3] = std::abs(bodies_[4 * i + 3]);
  doubles_.resize(3 * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      double d[3], squared = nbodySoftening;
      for (std::size_t k = 0; k < 3; ++k) d[k] = bodies_[4 * j + k] - bodies_[4 * i + k], squared += d[k] * d[k];
      const double inverse = 1 / std::sqrt(squared), force = bodies_[4 * j + 3] * inverse * inverse * inverse;
      for (std::size_t k = 0; k < 3; ++k) doubles_[k * n + i] += force * d[k];
    }
  problem_.a = bodies_.data();
  problem_.bytes = doubles_.size() * sizeof(double);
}

std::string CaseData::verify(const std::vector<std::byte>& result) const {
  if (!doubles_.empty()) return firstFarOff(doubles_, result);
  return floats_.empty() ? firstDifference(integers_, result) : firstDifference(floats_, result);
}

}  // namespace ordito::bench
