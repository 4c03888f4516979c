// Fourier transforms: cuFFT beside the sum that defines them. A transform there and back multiplies by the length,
// since neither way divides.
#pragma once

#include "context.hpp"

namespace lab {

using Complex = std::complex<float>;

constexpr std::size_t kBatch = 3;  // transforms done at once

inline std::vector<Complex> complexNumbers(const Context& c, std::size_t count, unsigned seed) {
  const std::vector<float> parts = c.numbers(2 * count, seed);
  std::vector<Complex> all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = {parts[2 * i], parts[2 * i + 1]};
  return all;
}

/// One element of the transform, by its definition and in double precision: the sum of x[i] e^(-2 pi sqrt(-1) i k / n).
inline Complex transformed(const Complex* x, std::size_t n, std::size_t k) {
  std::complex<double> sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double angle = -2 * 3.14159265358979323846 * static_cast<double>(i * k % n) / static_cast<double>(n);
    sum += std::complex<double>(x[i]) * std::complex<double>(std::cos(angle), std::sin(angle));
  }
  return Complex(sum);
}

inline std::size_t slowLength(const Context& c) { return std::min(c.n, kLongestSlowSum); }

inline double tolerance(std::size_t n) { return 2e-5 * std::sqrt(static_cast<double>(n) + 1) * 8; }

inline void transformLoop(Context& c, Measurement& row) {
  const std::size_t n = slowLength(c);
  const std::vector<Complex> x = complexNumbers(c, n, 8);
  std::vector<Complex> result(n);
  row.note = std::to_string(n) + " numbers: a sum for each of them";
  runOnHost(c, row, [&] {
    for (std::size_t k = 0; k < n; ++k) result[k] = transformed(x.data(), n, k);
  });
}

/// Some elements of a transform of any length against its definition; all of a short one.
inline bool isTransform(const std::vector<Complex>& found, const std::vector<Complex>& x, std::size_t n,
                        std::size_t count) {
  const std::size_t step = std::max<std::size_t>(1, n / 61);
  for (std::size_t batch = 0; batch * n < x.size(); ++batch) {
    for (std::size_t k = 0; k < count; k += step) {
      const Complex expected = transformed(x.data() + batch * n, n, k);
      if (!(std::abs(found[batch * count + k] - expected) <= tolerance(n))) return false;
    }
  }
  return true;
}

/// Several transforms at once, each judged, and all of them back again.
inline void runTransforms(Context& c, Measurement& row) {
  const std::size_t n = c.n, all = n * kBatch;
  const std::vector<Complex> x = complexNumbers(c, all, 8);
  std::vector<Complex> found(all), back(all);
  DeviceArray<cufftComplex> device(all), result(all);
  device.upload(reinterpret_cast<const cufftComplex*>(x.data()), all);
  if (n == 0) {  // a plan of no numbers is refused
    cufftHandle plan;
    return judge(row, cufftPlan1d(&plan, 0, CUFFT_C2C, 1) == CUFFT_INVALID_SIZE);
  }
  cufftHandle plan;
  LIBRARY_CHECK(cufftPlan1d(&plan, static_cast<int>(n), CUFFT_C2C, static_cast<int>(kBatch)));
  timeRounds(
      c.options.rounds, row, [] {},
      [&] { LIBRARY_CHECK(cufftExecC2C(plan, device.get(), result.get(), CUFFT_FORWARD)); }, [] {});
  result.download(reinterpret_cast<cufftComplex*>(found.data()), all);
  LIBRARY_CHECK(cufftExecC2C(plan, result.get(), result.get(), CUFFT_INVERSE));
  result.download(reinterpret_cast<cufftComplex*>(back.data()), all);
  LIBRARY_CHECK(cufftDestroy(plan));
  for (Complex& number : back) number /= static_cast<float>(n);
  judge(row, isTransform(found, x, n, n) && areClose(back, x, 1e-4));
}

/// Real numbers: half of the result says all, since the other half is its mirror image.
inline void runRealTransform(Context& c, Measurement& row) {
  const std::size_t n = c.n, half = n / 2 + 1;
  if (n == 0) return judge(row, true);
  const std::vector<float> real = c.numbers(n, 9);
  const std::vector<Complex> x(real.begin(), real.end());
  std::vector<Complex> found(half);
  DeviceArray<float> device(n);
  DeviceArray<cufftComplex> result(half);
  device.upload(real.data(), n);
  cufftHandle plan;
  LIBRARY_CHECK(cufftPlan1d(&plan, static_cast<int>(n), CUFFT_R2C, 1));
  timeRounds(
      c.options.rounds, row, [] {}, [&] { LIBRARY_CHECK(cufftExecR2C(plan, device.get(), result.get())); },
      [&] { result.download(reinterpret_cast<cufftComplex*>(found.data()), half); });
  LIBRARY_CHECK(cufftDestroy(plan));
  judge(row, isTransform(found, x, n, half));
}

}  // namespace lab
