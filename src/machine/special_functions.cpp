// Argument reduction for sinpi and cospi is exact; the inverses refine a rough start with Newton steps until the last
// bits stand still.
#include "machine/special_functions.hpp"

#include <cmath>
#include <limits>
#include <numbers>

namespace ordito::machine {

namespace {

constexpr double kPi = std::numbers::pi;
const double kTwoOverRootPi = 2 / std::sqrt(kPi);

/// Giles 2010, "Approximating the erfinv function": a start good to a few digits from the leading behaviour w = -log(1
/// - x²).
double roughInverseErf(double logOfProduct) {
  double a = 2 / (kPi * 0.147) + logOfProduct / 2;
  return std::sqrt(std::sqrt(a * a - logOfProduct / 0.147) - a);
}

}  // namespace

double sinPi(double x) {
  if (!std::isfinite(x)) return std::numeric_limits<double>::quiet_NaN();
  double r = std::remainder(x, 2);  // exact, in [-1, 1]
  if (r == 0 || std::fabs(r) == 1) return std::copysign(0.0, x);
  if (std::fabs(r) > 0.5) r = std::copysign(1 - std::fabs(r), r);
  return std::sin(kPi * r);
}

double cosPi(double x) {
  if (!std::isfinite(x)) return std::numeric_limits<double>::quiet_NaN();
  double r = std::fabs(std::remainder(x, 2));
  if (r == 0.5) return 0;
  return r < 0.25 ? std::cos(kPi * r) : std::sin(kPi * (0.5 - r));
}

double scaledErfc(double x) {
  if (x < 10) return std::exp(x * x) * std::erfc(x);
  // Asymptotic series 1/(x√π) · (1 - 1/(2x²) + 3/(4x⁴) - …): its terms shrink far below the last bit before they grow.
  double term = 1, sum = 1, factor = 1 / (2 * x * x);
  for (int k = 1; k < 30 && std::fabs(term) > 1e-18; ++k) {
    term *= -(2 * k - 1) * factor;
    sum += term;
  }
  return sum * kTwoOverRootPi / (2 * x);
}

double inverseErf(double x) {
  if (!(std::fabs(x) < 1))
    return std::fabs(x) == 1 ? std::copysign(INFINITY, x) : std::numeric_limits<double>::quiet_NaN();
  if (x == 0) return x;
  if (std::fabs(x) > 0.5) return std::copysign(inverseErfc(1 - std::fabs(x)), x);
  double y = std::copysign(roughInverseErf(std::log1p(-x * x)), x);
  for (int i = 0; i < 4; ++i) y -= (std::erf(y) - x) / (kTwoOverRootPi * std::exp(-y * y));
  return y;
}

double inverseErfc(double x) {
  if (!(x >= 0 && x <= 2)) return std::numeric_limits<double>::quiet_NaN();
  if (x == 0 || x == 2) return x == 0 ? INFINITY : -INFINITY;
  if (x > 1) return -inverseErfc(2 - x);
  if (x == 1) return 0;
  double y = roughInverseErf(std::log(x) + std::log(2 - x));
  // Newton on log(erfc(y)) stays quadratic in the tail, where erfc itself is flat.
  for (int i = 0; i < 6; ++i) {
    double e = std::erfc(y);
    if (e == 0) break;
    y += std::log(e / x) * e / (kTwoOverRootPi * std::exp(-y * y));
  }
  return y;
}

double logGamma(double x) {
  int sign;
  return ::lgamma_r(x, &sign);
}

/// Scaled by the largest element, so that no square overflows.
template <class T>
double norm(int n, const T* v) {
  double largest = 0, sum = 0;
  for (int i = 0; i < n; ++i) largest = std::fmax(largest, std::fabs(double(v[i])));
  if (largest == 0 || std::isinf(largest)) return largest;
  for (int i = 0; i < n; ++i) sum += (v[i] / largest) * (v[i] / largest);
  return largest * std::sqrt(sum);
}

template double norm(int, const float*);
template double norm(int, const double*);

}  // namespace ordito::machine
