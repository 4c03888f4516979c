// cuFFT with random sizes, layouts and batches against the sums that define a Fourier transform, in double.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "cuda.h"
#include "cuda_fp16.h"
#include "cufftXt.h"
#include "libs/cufft/sums_test.hpp"
#include "libs/stream_task.hpp"

namespace ordito::cufft::test {
namespace {

/// Places of the elements of one side: packed, or within a larger array, with steps and gaps.
struct Side {
  std::vector<int> embed;
  int stride = 1, distance = 0;

  int at(const std::vector<int>& n, int batch, int element) const {
    int place = 0, step = stride;
    for (size_t d = n.size(); d-- > 0; step *= embed[d], element /= n[d]) place += element % n[d] * step;
    return batch * distance + place;
  }
  int extent() const { return distance; }
};

Side packed(const std::vector<int>& n) { return {n, 1, product(n)}; }
Side randomSide(const std::vector<int>& n) {
  Side side{n, random(1, 3), 0};
  for (int& size : side.embed) size += random(0, 2);
  side.distance = product(side.embed) * side.stride + random(0, 3);
  return side;
}

enum class Kind { C2C, R2C, C2R };

template <class Real>
struct Case {
  static constexpr bool kDouble = std::is_same_v<Real, double>;
  Kind kind;
  std::vector<int> n;
  int batch = 1;
  bool isInPlace = false, isLaidOut = false, isInverse = false;

  std::vector<int> half() const {
    std::vector<int> h = n;
    h.back() = h.back() / 2 + 1;
    return h;
  }
  cufftType type() const {
    if constexpr (kDouble)
      return kind == Kind::C2C ? CUFFT_Z2Z : kind == Kind::R2C ? CUFFT_D2Z : CUFFT_Z2D;
    else
      return kind == Kind::C2C ? CUFFT_C2C : kind == Kind::R2C ? CUFFT_R2C : CUFFT_C2R;
  }
  std::string text() const {
    std::string sizes;
    for (const int size : n) sizes += std::to_string(size) + " ";
    return sizes + "x " + std::to_string(batch) +
           (kind == Kind::C2C   ? " C2C"
            : kind == Kind::R2C ? " R2C"
                                : " C2R") +
           (isInPlace ? " in place" : "") + (isLaidOut ? " laid out" : "") + (isInverse ? " inverse" : "");
  }

  cufftResult execute(cufftHandle plan, Real* in, Real* out) const {
    const int direction = isInverse ? CUFFT_INVERSE : CUFFT_FORWARD;
    if constexpr (kDouble) {
      using Complex = cufftDoubleComplex;
      if (kind == Kind::R2C) return cufftExecD2Z(plan, in, reinterpret_cast<Complex*>(out));
      if (kind == Kind::C2R) return cufftExecZ2D(plan, reinterpret_cast<Complex*>(in), out);
      return cufftExecZ2Z(plan, reinterpret_cast<Complex*>(in), reinterpret_cast<Complex*>(out), direction);
    } else {
      using Complex = cufftComplex;
      if (kind == Kind::R2C) return cufftExecR2C(plan, in, reinterpret_cast<Complex*>(out));
      if (kind == Kind::C2R) return cufftExecC2R(plan, reinterpret_cast<Complex*>(in), out);
      return cufftExecC2C(plan, reinterpret_cast<Complex*>(in), reinterpret_cast<Complex*>(out), direction);
    }
  }

  void check() {
    if (kind == Kind::R2C) isInverse = false;
    if (kind == Kind::C2R) isInverse = true;
    const bool fromReal = kind == Kind::R2C, toReal = kind == Kind::C2R;
    const std::vector<int> inSize = kind == Kind::C2R ? half() : n, outSize = kind == Kind::R2C ? half() : n;
    Side inSide = isLaidOut ? randomSide(inSize) : packed(inSize);
    Side outSide = isLaidOut ? randomSide(outSize) : packed(outSize);
    if (isInPlace) {
      // The real side's rows have the room of the complex one's.
      Side& real = fromReal ? inSide : outSide;
      if (isLaidOut) inSide = outSide = kind == Kind::C2C ? inSide : packed(half());
      if (kind != Kind::C2C) {
        real = packed(half());
        real.embed.back() *= 2;
        real.distance *= 2;
      }
    }
    const int inUnit = fromReal ? 1 : 2, outUnit = toReal ? 1 : 2;
    // Values: of the whole complex array; what is real, or the transform of real numbers, is made so.
    std::vector<std::vector<Wide>> whole, expected;
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (int b = 0; b < batch; ++b) {
      std::vector<Wide> x(static_cast<size_t>(product(n)));
      for (Wide& value : x) value = {uniform(generator()), kind == Kind::C2C ? uniform(generator()) : 0};
      if (kind == Kind::C2R) {
        whole.push_back(reference(x, n, -1));
        for (Wide& value : x) value *= product(n);
        expected.push_back(x);
      } else {
        expected.push_back(reference(x, n, isInverse ? 1 : -1));
        whole.push_back(x);
      }
    }
    const auto count = [&](const Side& side, int unit) {
      return static_cast<size_t>(batch * side.distance * unit) + 1;
    };
    std::vector<Real> in(std::max(count(inSide, inUnit), isInPlace ? count(outSide, outUnit) : 0), Real(kUntouched));
    std::vector<Real> other(isInPlace ? 0 : count(outSide, outUnit), Real(kUntouched));
    std::vector<Real>& out = isInPlace ? in : other;
    forEach(inSize, [&](int b, int i, int full) {
      const size_t at = static_cast<size_t>(inSide.at(inSize, b, i)) * static_cast<size_t>(inUnit);
      const Wide value = whole[static_cast<size_t>(b)][static_cast<size_t>(full)];
      in[at] = static_cast<Real>(value.real());
      if (inUnit == 2) in[at + 1] = static_cast<Real>(value.imag());
    });
    const std::vector<Real> before = in;

    cufftHandle plan = 0;
    std::vector<int> size = n;
    if (isLaidOut)
      ASSERT_EQ(cufftPlanMany(&plan, static_cast<int>(n.size()), size.data(), inSide.embed.data(), inSide.stride,
                              inSide.distance, outSide.embed.data(), outSide.stride, outSide.distance, type(), batch),
                CUFFT_SUCCESS);
    else
      ASSERT_EQ(
          cufftPlanMany(&plan, static_cast<int>(n.size()), size.data(), nullptr, 1, 0, nullptr, 1, 0, type(), batch),
          CUFFT_SUCCESS);
    ASSERT_EQ(execute(plan, in.data(), out.data()), CUFFT_SUCCESS);
    ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
    ASSERT_EQ(cufftDestroy(plan), CUFFT_SUCCESS);

    if (!isInPlace) EXPECT_EQ(in, before) << "the input was changed";
    std::vector<bool> isWritten(out.size());
    double error = 0, norm = 0;
    forEach(outSize, [&](int b, int i, int full) {
      const size_t at = static_cast<size_t>(outSide.at(outSize, b, i)) * static_cast<size_t>(outUnit);
      for (int part = 0; part < outUnit; ++part) isWritten[at + static_cast<size_t>(part)] = true;
      const Wide want = expected[static_cast<size_t>(b)][static_cast<size_t>(full)];
      error += std::norm(Wide(out[at], outUnit == 2 ? out[at + 1] : 0) - (outUnit == 2 ? want : want.real()));
      norm += std::norm(want);
    });
    EXPECT_LE(std::sqrt(error), (kDouble ? 5e-15 : 1e-6) * std::sqrt(norm) + 1e-300);
    if (!isInPlace)
      for (size_t i = 0; i < out.size(); ++i)
        if (!isWritten[i]) ASSERT_EQ(out[i], Real(kUntouched)) << "what is between the elements was written";
  }

  /// Calls body(batch, element, the same element of the whole array).
  template <class Body>
  void forEach(const std::vector<int>& size, const Body& body) const {
    for (int b = 0; b < batch; ++b)
      for (int i = 0; i < product(size); ++i) body(b, i, i / size.back() * n.back() + i % size.back());
  }

  static constexpr int kUntouched = 77;
};

template <class Real>
struct Cufft : testing::Test {
  void SetUp() override { ASSERT_TRUE(libs::hasContext()); }
  void check(Case<Real> c) {
    SCOPED_TRACE(c.text());
    c.check();
  }
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Cufft, Types);

constexpr Kind kKinds[] = {Kind::C2C, Kind::R2C, Kind::C2R};

TYPED_TEST(Cufft, EveryLengthUpTo64) {
  for (const Kind kind : kKinds)
    for (int n = 1; n <= 64; ++n) this->check({kind, {n}, random(1, 40), n % 2 == 0, false, n % 3 == 0});
}

TYPED_TEST(Cufft, LongLinesAloneAndInBatches) {
  for (const int n : {81,  97,  121,  128,  169,  200,  256,  289,  343,  360,  510,
                      625, 997, 1000, 1009, 1024, 1031, 1155, 2048, 2062, 2187, 4096})
    for (const Kind kind : kKinds)
      this->check({kind, {n}, n > 700 ? random(1, 2) : random(1, 20), random(0, 1) == 0, false, random(0, 1) == 0});
}

/// So many that each thread has a bundle to do, and one that is not full: convolutions that a cache holds, and longer.
TYPED_TEST(Cufft, ManyLinesOfALongPrime) {
  const int batch = static_cast<int>((64 / sizeof(TypeParam)) * libs::parallelThreads()) + 3;
  for (const bool isInPlace : {false, true}) this->check({Kind::C2C, {2053}, batch, isInPlace, false, isInPlace});
  for (const Kind kind : kKinds) this->check({kind, {1031}, batch, false, false, false});
  this->check({Kind::R2C, {4106}, batch, false, false, false});
}

TYPED_TEST(Cufft, RandomShapesAndLayouts) {
  for (int round = 0; round < 250; ++round) {
    std::vector<int> n(static_cast<size_t>(random(1, 3)));
    for (int& size : n) size = random(1, n.size() == 1 ? 150 : n.size() == 2 ? 30 : 12);
    this->check({kKinds[round % 3], n, random(1, 20), random(0, 2) == 0, random(0, 1) == 0, random(0, 1) == 0});
  }
}

/// Results that are more than caches hold go past them, in place they do not: the same bits. Lines do not begin where
/// lines of the cache do, and the last bundle is not full.
TYPED_TEST(Cufft, ResultsThatGoPastTheCaches) {
  using Real = TypeParam;
  constexpr int kLength = 500;
  const int batch = (64 << 20) / (4 * kLength * static_cast<int>(sizeof(Real))) + 3;
  std::vector<Real> there(static_cast<size_t>(2 * kLength * batch)), to(there.size());
  std::uniform_real_distribution<Real> uniform(-1, 1);
  for (Real& value : there) value = uniform(generator());
  const Case<Real> one{Kind::C2C, {kLength}};
  cufftHandle plan = 0;
  ASSERT_EQ(cufftPlan1d(&plan, kLength, one.type(), batch), CUFFT_SUCCESS);
  ASSERT_EQ(one.execute(plan, there.data(), to.data()), CUFFT_SUCCESS);
  ASSERT_EQ(one.execute(plan, there.data(), there.data()), CUFFT_SUCCESS);
  ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_TRUE(there == to);
  ASSERT_EQ(cufftDestroy(plan), CUFFT_SUCCESS);
}

/// Too long for sums: a few elements of the result by their sums, and the way back.
TYPED_TEST(Cufft, VeryLongLines) {
  using Real = TypeParam;
  using Complex = std::conditional_t<std::is_same_v<Real, double>, cufftDoubleComplex, cufftComplex>;
  for (const int n : {1 << 18, 3 * 5 * 7 * 11 * 13 * 4, 65537, 2 * 65537, 1 << 21}) {
    std::vector<Complex> x(static_cast<size_t>(n)), y(x.size()), z(x.size());
    std::uniform_real_distribution<Real> uniform(-1, 1);
    for (Complex& value : x) value = {uniform(generator()), uniform(generator())};
    const Case<Real> forward{Kind::C2C, {n}};
    Case<Real> back = forward;
    back.isInverse = true;
    cufftHandle plan = 0;
    ASSERT_EQ(cufftPlan1d(&plan, n, forward.type(), 1), CUFFT_SUCCESS);
    ASSERT_EQ(forward.execute(plan, &x[0].x, &y[0].x), CUFFT_SUCCESS);
    ASSERT_EQ(back.execute(plan, &y[0].x, &z[0].x), CUFFT_SUCCESS);
    ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
    ASSERT_EQ(cufftDestroy(plan), CUFFT_SUCCESS);
    const double tolerance = Case<Real>::kDouble ? 5e-15 : 1e-6;  // of the sums, above all
    double error = 0;
    for (size_t i = 0; i < x.size(); ++i)
      error += std::norm(Wide(z[i].x, z[i].y) / static_cast<double>(n) - Wide(x[i].x, x[i].y));
    EXPECT_LE(std::sqrt(error / n), tolerance) << n;
    for (const int64_t k : {0, 1, n / 3, n - 1}) {
      Wide sum = 0;
      for (int64_t j = 0; j < n; ++j)
        sum += Wide(x[static_cast<size_t>(j)].x, x[static_cast<size_t>(j)].y) *
               std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(j * k % n) / n);
      const auto at = static_cast<size_t>(k);
      EXPECT_LE(std::abs(Wide(y[at].x, y[at].y) - sum), 20 * tolerance * std::sqrt(n)) << n << " at " << k;
    }
  }
}

using Untyped = Cufft<float>;

TEST_F(Untyped, HalfPrecision) {
  constexpr int kSize = 64, kBatch = 3;
  std::vector<__half2> x(kSize * kBatch), y(x.size());
  std::vector<Wide> wide(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    wide[i] = {random(-8, 8) / 8.0, random(-8, 8) / 8.0};
    x[i] = __floats2half2_rn(static_cast<float>(wide[i].real()), static_cast<float>(wide[i].imag()));
  }
  cufftHandle plan = 0;
  long long n = kSize;
  size_t work = 1;
  ASSERT_EQ(cufftCreate(&plan), CUFFT_SUCCESS);
  ASSERT_EQ(
      cufftXtMakePlanMany(plan, 1, &n, nullptr, 1, n, CUDA_C_16F, nullptr, 1, n, CUDA_C_16F, kBatch, &work, CUDA_C_16F),
      CUFFT_SUCCESS);
  ASSERT_EQ(cufftXtExec(plan, x.data(), y.data(), CUFFT_FORWARD), CUFFT_SUCCESS);
  ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  for (int b = 0; b < kBatch; ++b) {
    const std::vector<Wide> part(wide.begin() + b * kSize, wide.begin() + (b + 1) * kSize);
    const std::vector<Wide> expected = reference(part, {kSize}, -1);
    for (int i = 0; i < kSize; ++i) {
      const __half2 got = y[static_cast<size_t>(b) * kSize + static_cast<size_t>(i)];
      EXPECT_LE(std::abs(Wide(__low2float(got), __high2float(got)) - expected[static_cast<size_t>(i)]), 0.01);
    }
  }
  EXPECT_EQ(cufftDestroy(plan), CUFFT_SUCCESS);
  n = 48;
  ASSERT_EQ(cufftCreate(&plan), CUFFT_SUCCESS);
  EXPECT_EQ(
      cufftXtMakePlanMany(plan, 1, &n, nullptr, 1, n, CUDA_C_16F, nullptr, 1, n, CUDA_C_16F, 1, &work, CUDA_C_16F),
      CUFFT_NOT_SUPPORTED);
  EXPECT_EQ(
      cufftXtMakePlanMany(plan, 1, &n, nullptr, 1, n, CUDA_C_32F, nullptr, 1, n, CUDA_C_64F, 1, &work, CUDA_C_64F),
      CUFFT_INVALID_TYPE);
  EXPECT_EQ(cufftDestroy(plan), CUFFT_SUCCESS);
}

TEST_F(Untyped, BadArguments) {
  cufftHandle plan = 0;
  size_t size = 1;
  EXPECT_EQ(cufftPlan1d(nullptr, 8, CUFFT_C2C, 1), CUFFT_INVALID_VALUE);
  EXPECT_EQ(cufftPlan1d(&plan, 0, CUFFT_C2C, 1), CUFFT_INVALID_SIZE);
  EXPECT_EQ(cufftPlan1d(&plan, 8, CUFFT_C2C, 0), CUFFT_INVALID_SIZE);
  EXPECT_EQ(cufftPlan1d(&plan, 8, static_cast<cufftType>(43), 1), CUFFT_INVALID_TYPE);
  int n[] = {8, 8, 8, 8};
  EXPECT_EQ(cufftPlanMany(&plan, 4, n, nullptr, 1, 0, nullptr, 1, 0, CUFFT_C2C, 1), CUFFT_INVALID_VALUE);
  EXPECT_EQ(cufftPlanMany(&plan, 1, n, n, 0, 0, n, 1, 0, CUFFT_C2C, 1), CUFFT_INVALID_VALUE);
  int square[] = {8, 8}, negative[] = {8, -8}, first[] = {-8, 8};
  EXPECT_EQ(cufftPlanMany(&plan, 2, square, square, 1, 64, negative, 1, 64, CUFFT_C2C, 1), CUFFT_INVALID_SIZE);
  EXPECT_EQ(cufftPlanMany(&plan, 2, square, negative, 1, 64, square, 1, 64, CUFFT_C2C, 1), CUFFT_INVALID_SIZE);
  EXPECT_EQ(cufftPlanMany(&plan, 2, square, first, 1, 64, square, 1, 64, CUFFT_C2C, 1), CUFFT_SUCCESS);
  cufftDestroy(plan);
  EXPECT_EQ(cufftDestroy(12345), CUFFT_INVALID_PLAN);
  EXPECT_EQ(cufftSetStream(12345, nullptr), CUFFT_INVALID_PLAN);
  ASSERT_EQ(cufftCreate(&plan), CUFFT_SUCCESS);
  cufftComplex x[8]{};
  EXPECT_EQ(cufftExecC2C(plan, x, x, CUFFT_FORWARD), CUFFT_INVALID_PLAN) << "not made";
  EXPECT_EQ(cufftMakePlan1d(plan, 8, CUFFT_C2C, 1, &size), CUFFT_SUCCESS);
  EXPECT_EQ(size, 0u);
  EXPECT_EQ(cufftMakePlan1d(plan, 8, CUFFT_C2C, 1, &size), CUFFT_INVALID_PLAN) << "made already";
  EXPECT_EQ(cufftExecC2C(plan, nullptr, x, CUFFT_FORWARD), CUFFT_INVALID_VALUE);
  EXPECT_EQ(cufftExecC2C(plan, x, x, 0), CUFFT_INVALID_VALUE);
  EXPECT_EQ(cufftExecR2C(plan, &x[0].x, x), CUFFT_INVALID_PLAN);
  EXPECT_EQ(cufftDestroy(plan), CUFFT_SUCCESS);
  EXPECT_EQ(cufftDestroy(plan), CUFFT_INVALID_PLAN);
}

/// What a broken line holds stays in that line.
TEST_F(Untyped, NanStaysInItsTransform) {
  std::vector<float> x(20 * 32, 1.0f);
  x[5 * 32 + 3] = NAN;
  std::vector<cufftComplex> y(20 * 17);
  cufftHandle plan = 0;
  ASSERT_EQ(cufftPlan1d(&plan, 32, CUFFT_R2C, 20), CUFFT_SUCCESS);
  ASSERT_EQ(cufftExecR2C(plan, x.data(), y.data()), CUFFT_SUCCESS);
  ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  for (size_t i = 0; i < y.size(); ++i) EXPECT_EQ(std::isnan(y[i].x), i / 17 == 5) << i;
  EXPECT_EQ(cufftDestroy(plan), CUFFT_SUCCESS);
}

/// A captured transform runs at every launch of the graph, also without its plan.
TEST_F(Untyped, Captured) {
  constexpr int kSize = 12;
  std::vector<cufftComplex> x(kSize), y(kSize);
  CUstream stream = nullptr;
  CUgraph graph = nullptr;
  CUgraphExec executable = nullptr;
  cufftHandle plan = 0;
  ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  ASSERT_EQ(cufftPlan1d(&plan, kSize, CUFFT_C2C, 1), CUFFT_SUCCESS);
  ASSERT_EQ(cufftSetStream(plan, stream), CUFFT_SUCCESS);
  ASSERT_EQ(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
  EXPECT_EQ(cufftExecC2C(plan, x.data(), y.data(), CUFFT_FORWARD), CUFFT_SUCCESS);
  ASSERT_EQ(cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
  EXPECT_EQ(cufftDestroy(plan), CUFFT_SUCCESS);
  ASSERT_EQ(cuGraphInstantiate(&executable, graph, 0), CUDA_SUCCESS);
  for (int round = 1; round <= 3; ++round) {
    x[0].x = static_cast<float>(round);
    ASSERT_EQ(cuGraphLaunch(executable, stream), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
    for (const cufftComplex& value : y) EXPECT_EQ(value.x, static_cast<float>(round));
  }
  EXPECT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamDestroy(stream), CUDA_SUCCESS);
}

}  // namespace
}  // namespace ordito::cufft::test
