// cuFFTW with random dimensions, loops and steps against the sums that define a Fourier transform, in double.
#include "cufftw.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "libs/cufft/sums_test.hpp"

namespace ordito::cufft::test {
namespace {

enum class Kind { Complex, ToComplex, ToReal };

/// FFTW's names for one precision.
template <class Real>
struct Names;
template <>
struct Names<double> {
  using Complex = fftw_complex;
  using Dim = fftw_iodim64;
  static constexpr auto kGuru = fftw_plan_guru64_dft;
  static constexpr auto kGuruToComplex = fftw_plan_guru64_dft_r2c;
  static constexpr auto kGuruToReal = fftw_plan_guru64_dft_c2r;
  static constexpr auto kExecute = fftw_execute;
  static constexpr auto kDestroy = fftw_destroy_plan;
  static constexpr double kTolerance = 5e-15;
};
template <>
struct Names<float> {
  using Complex = fftwf_complex;
  using Dim = fftwf_iodim64;
  static constexpr auto kGuru = fftwf_plan_guru64_dft;
  static constexpr auto kGuruToComplex = fftwf_plan_guru64_dft_r2c;
  static constexpr auto kGuruToReal = fftwf_plan_guru64_dft_c2r;
  static constexpr auto kExecute = fftwf_execute;
  static constexpr auto kDestroy = fftwf_destroy_plan;
  static constexpr double kTolerance = 1e-6;
};

constexpr double kUntouched = -77;

/// Steps of an array with gaps, whose dimensions lie in a random order.
void layOut(std::vector<fftw_iodim64>& all, ptrdiff_t fftw_iodim64::* step, size_t halved, ptrdiff_t& extent) {
  std::vector<size_t> order(all.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(), generator());
  extent = random(1, 2);
  for (const size_t d : order) {
    all[d].*step = extent;
    extent *= (d == halved ? all[d].n / 2 + 1 : all[d].n) + random(0, 2);
  }
}

template <class Real>
struct Case {
  Kind kind;
  size_t rank, loops;
  bool isInPlace = false, isInverse = false;
  std::vector<fftw_iodim64> all = {};  // the loops, then the dimensions
  ptrdiff_t in = 0, out = 0;           // how many elements the arrays have

  void draw() {
    for (size_t d = 0; d < loops + rank; ++d) all.push_back({random(1, d < loops ? 3 : 9), 0, 0});
    const size_t last = all.size() - 1, none = all.size();
    layOut(all, &fftw_iodim64::is, kind == Kind::ToReal ? last : none, in);
    layOut(all, &fftw_iodim64::os, kind == Kind::ToComplex ? last : none, out);
    if (isInPlace && kind == Kind::Complex && random(0, 1)) {
      for (fftw_iodim64& d : all) d.os = d.is;
      out = in;
    }
  }

  /// Calls body(loop, element of the whole array, place of it in the input, in the output), -1 where it has none.
  template <class Body>
  void each(const Body& body) const {
    int64_t number = 0, loopCount = 1, elements = 1;
    for (size_t d = 0; d < all.size(); ++d) (d < loops ? loopCount : elements) *= all[d].n;
    for (number = 0; number < loopCount * elements; ++number) {
      int64_t rest = number;
      ptrdiff_t from = 0, to = 0, last = 0;
      for (size_t d = all.size(); d-- > 0; rest /= all[d].n) {
        const ptrdiff_t i = rest % all[d].n;
        if (d + 1 == all.size()) last = i;
        from += i * all[d].is;
        to += i * all[d].os;
      }
      const bool isBeyond = rank > 0 && last > all.back().n / 2;
      body(number / elements, number % elements, kind == Kind::ToReal && isBeyond ? -1 : from,
           kind == Kind::ToComplex && isBeyond ? -1 : to);
    }
  }

  std::vector<int> sizes() const {
    std::vector<int> n;
    for (size_t d = loops; d < all.size(); ++d) n.push_back(static_cast<int>(all[d].n));
    return n;
  }

  /// The numbers of each loop, and their transforms.
  void values(std::vector<std::vector<Wide>>& whole, std::vector<std::vector<Wide>>& expected) const {
    const std::vector<int> n = sizes();
    std::uniform_real_distribution<double> uniform(-1, 1);
    size_t loopCount = 1;
    for (size_t d = 0; d < loops; ++d) loopCount *= static_cast<size_t>(all[d].n);
    for (size_t loop = 0; loop < loopCount; ++loop) {
      std::vector<Wide> x(static_cast<size_t>(product(n)));
      for (Wide& value : x) value = {uniform(generator()), kind == Kind::Complex ? uniform(generator()) : 0};
      const std::vector<Wide> turned = reference(x, n, kind == Kind::Complex && isInverse ? 1 : -1);
      whole.push_back(kind == Kind::ToReal ? turned : x);
      for (Wide& value : x) value *= product(n);
      expected.push_back(kind == Kind::ToReal ? x : turned);
    }
  }

  void* plan(Real* from, Real* to) const {
    using N = Names<Real>;
    const auto *dimensions = all.data() + loops, *loop = all.data();
    const int r = static_cast<int>(rank), l = static_cast<int>(loops);
    auto *complexFrom = reinterpret_cast<typename N::Complex*>(from),
         *complexTo = reinterpret_cast<typename N::Complex*>(to);
    if (kind == Kind::ToComplex) return N::kGuruToComplex(r, dimensions, l, loop, from, complexTo, FFTW_ESTIMATE);
    if (kind == Kind::ToReal) return N::kGuruToReal(r, dimensions, l, loop, complexFrom, to, FFTW_ESTIMATE);
    return N::kGuru(r, dimensions, l, loop, complexFrom, complexTo, isInverse ? FFTW_BACKWARD : FFTW_FORWARD,
                    FFTW_MEASURE);
  }

  void check() {
    draw();
    const int inUnit = kind == Kind::ToComplex ? 1 : 2, outUnit = kind == Kind::ToReal ? 1 : 2;
    std::vector<std::vector<Wide>> whole, expected;
    values(whole, expected);
    const auto inSize = static_cast<size_t>(in * inUnit), outSize = static_cast<size_t>(out * outUnit);
    std::vector<Real> input(isInPlace ? std::max(inSize, outSize) : inSize, Real(kUntouched)),
        other(outSize, Real(kUntouched));
    std::vector<Real>& output = isInPlace ? input : other;
    each([&](int64_t loop, int64_t element, ptrdiff_t from, ptrdiff_t) {
      if (from < 0) return;
      const Wide value = whole[static_cast<size_t>(loop)][static_cast<size_t>(element)];
      input[static_cast<size_t>(from * inUnit)] = static_cast<Real>(value.real());
      if (inUnit == 2) input[static_cast<size_t>(from * inUnit + 1)] = static_cast<Real>(value.imag());
    });
    void* made = plan(input.data(), output.data());
    ASSERT_NE(made, nullptr);
    Names<Real>::kExecute(made);
    Names<Real>::kDestroy(made);
    compare(expected, output, outUnit);
  }

  void compare(const std::vector<std::vector<Wide>>& expected, const std::vector<Real>& output, int unit) const {
    double error = 0, norm = 0;
    std::vector<bool> isWritten(output.size());
    each([&](int64_t loop, int64_t element, ptrdiff_t, ptrdiff_t to) {
      if (to < 0) return;
      const auto at = static_cast<size_t>(to * unit);
      for (size_t part = 0; part < static_cast<size_t>(unit); ++part) isWritten[at + part] = true;
      const Wide want = expected[static_cast<size_t>(loop)][static_cast<size_t>(element)];
      error += std::norm(Wide(output[at], unit == 2 ? output[at + 1] : 0) - (unit == 2 ? want : want.real()));
      norm += std::norm(want);
    });
    EXPECT_LE(std::sqrt(error), Names<Real>::kTolerance * std::sqrt(norm) + 1e-300);
    if (isInPlace) return;
    for (size_t i = 0; i < output.size(); ++i)
      if (!isWritten[i]) ASSERT_EQ(output[i], Real(kUntouched)) << "what is between the elements was written";
  }
};

template <class Real>
void checkGuru() {
  for (int i = 0; i < 600; ++i) {
    Case<Real> one{static_cast<Kind>(random(0, 2)), static_cast<size_t>(random(0, 3)),
                   static_cast<size_t>(random(0, 2)), random(0, 2) == 0, random(0, 1) == 1};
    if (one.rank == 0) one.kind = Kind::Complex;
    SCOPED_TRACE("case " + std::to_string(i));
    one.check();
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(Guru, Double) { checkGuru<double>(); }
TEST(Guru, Single) { checkGuru<float>(); }

/// Executes and destroys.
void run(fftw_plan plan) {
  ASSERT_NE(plan, nullptr);
  fftw_execute(plan);
  fftw_destroy_plan(plan);
}

std::vector<Wide> randomNumbers(int count, bool isComplex = true) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<Wide> x(static_cast<size_t>(count));
  for (Wide& value : x) value = {uniform(generator()), isComplex ? uniform(generator()) : 0};
  return x;
}
fftw_complex* numbers(std::vector<Wide>& x) { return reinterpret_cast<fftw_complex*>(x.data()); }

void expectNear(const std::vector<Wide>& have, const std::vector<Wide>& want, double scale = 1) {
  ASSERT_EQ(have.size(), want.size());
  for (size_t i = 0; i < have.size(); ++i) EXPECT_LE(std::abs(have[i] - want[i] * scale), 1e-11) << i;
}

TEST(Sizes, ComplexInOneToThreeDimensions) {
  for (const std::vector<int>& n : {std::vector<int>{12}, {5, 8}, {3, 4, 7}}) {
    const std::vector<Wide> x = randomNumbers(product(n));
    std::vector<Wide> in = x, out(x.size()), general(x.size());
    fftw_plan plan = n.size() == 1   ? fftw_plan_dft_1d(n[0], numbers(in), numbers(out), FFTW_FORWARD, FFTW_ESTIMATE)
                     : n.size() == 2 ? fftw_plan_dft_2d(n[0], n[1], numbers(in), numbers(out), -1, FFTW_ESTIMATE)
                                     : fftw_plan_dft_3d(n[0], n[1], n[2], numbers(in), numbers(out), -1, FFTW_PATIENT);
    run(plan);
    expectNear(out, reference(x, n, -1));
    run(fftw_plan_dft(static_cast<int>(n.size()), n.data(), numbers(out), numbers(general), FFTW_BACKWARD, 0));
    expectNear(general, x, product(n));
  }
}

TEST(Sizes, RealNumbersInPlaceHaveRoomForTheirTransforms) {
  for (const std::vector<int>& n : {std::vector<int>{9}, {4, 6}, {3, 2, 5}}) {
    const int last = n.back(), room = 2 * (last / 2 + 1), rows = product(n) / last;
    const std::vector<Wide> x = randomNumbers(product(n), false);
    const std::vector<Wide> want = reference(x, n, -1);
    std::vector<double> cells(static_cast<size_t>(rows * room));
    const auto at = [&](int row, int i) -> double& {
      return cells[static_cast<size_t>(row) * static_cast<size_t>(room) + static_cast<size_t>(i)];
    };
    for (int i = 0; i < product(n); ++i) at(i / last, i % last) = x[static_cast<size_t>(i)].real();
    auto* spectrum = reinterpret_cast<fftw_complex*>(cells.data());
    const int rank = static_cast<int>(n.size());
    run(rank == 1   ? fftw_plan_dft_r2c_1d(n[0], cells.data(), spectrum, 0)
        : rank == 2 ? fftw_plan_dft_r2c_2d(n[0], n[1], cells.data(), spectrum, 0)
                    : fftw_plan_dft_r2c_3d(n[0], n[1], n[2], cells.data(), spectrum, 0));
    for (int row = 0; row < rows; ++row)
      for (int k = 0; k <= last / 2; ++k)
        EXPECT_LE(std::abs(Wide(at(row, 2 * k), at(row, 2 * k + 1)) - want[static_cast<size_t>(row * last + k)]),
                  1e-12);
    run(rank == 2 ? fftw_plan_dft_c2r_2d(n[0], n[1], spectrum, cells.data(), 0)
                  : fftw_plan_dft_c2r(rank, n.data(), spectrum, cells.data(), 0));
    for (int i = 0; i < product(n); ++i)
      EXPECT_NEAR(at(i / last, i % last), x[static_cast<size_t>(i)].real() * product(n), 1e-11);
  }
}

TEST(Many, StepsCountWithoutSizesOfTheArray) {
  constexpr int kN = 6, kMany = 3;
  const std::vector<Wide> x = randomNumbers(kN * kMany);
  std::vector<Wide> in = x, out(x.size());
  const int n[] = {kN};
  // Columns of a matrix: element i of transform j is at 3 i + j.
  run(fftw_plan_many_dft(1, n, kMany, numbers(in), nullptr, kMany, 1, numbers(out), nullptr, kMany, 1, FFTW_FORWARD,
                         FFTW_ESTIMATE));
  for (size_t j = 0; j < kMany; ++j) {
    std::vector<Wide> column, result;
    for (size_t i = 0; i < kN; ++i) column.push_back(x[i * kMany + j]), result.push_back(out[i * kMany + j]);
    expectNear(result, reference(column, {kN}, -1));
  }
}

TEST(Plans, RunOnOtherArrays) {
  std::vector<Wide> a = randomNumbers(8), b(8), c = randomNumbers(8), d(8);
  const fftw_plan plan = fftw_plan_dft_1d(8, numbers(a), numbers(b), FFTW_FORWARD, FFTW_MEASURE);
  fftw_execute_dft(plan, numbers(c), numbers(d));
  expectNear(d, reference(c, {8}, -1));
  EXPECT_EQ(b, std::vector<Wide>(8)) << "the plan's own arrays were written";
  double additions = 0, multiplications = 0, fused = 0;
  fftw_flops(plan, &additions, &multiplications, &fused);
  EXPECT_GT(additions + multiplications + fused, 0);
  EXPECT_GT(fftw_cost(plan), 0);
  fftw_destroy_plan(plan);
}

TEST(Plans, WhatCannotBeIsNull) {
  std::vector<Wide> x(16);
  const int two[] = {2, 2, 2, 2};
  EXPECT_EQ(fftw_plan_dft_1d(0, numbers(x), numbers(x), FFTW_FORWARD, 0), nullptr);
  EXPECT_EQ(fftw_plan_dft(-1, two, numbers(x), numbers(x), FFTW_FORWARD, 0), nullptr);
  EXPECT_EQ(fftw_plan_dft(4, two, numbers(x), numbers(x), FFTW_FORWARD, 0), nullptr) << "more than three dimensions";
  EXPECT_EQ(fftw_plan_dft(1, nullptr, numbers(x), numbers(x), FFTW_FORWARD, 0), nullptr);
  fftw_execute(nullptr);
  fftw_destroy_plan(nullptr);
}

TEST(Memory, IsAlignedForVectors) {
  void* memory = fftw_malloc(3);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 64, 0u);
  fftw_free(memory);
  EXPECT_EQ(fftw_import_wisdom_from_file(nullptr), 0);
}

}  // namespace
}  // namespace ordito::cufft::test
