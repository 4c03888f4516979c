// CUDA's own math functions on the host: the ones that C does not have, computed from the ones it has.
#ifndef ORDITO_HOST_MATH_H
#define ORDITO_HOST_MATH_H

#include <math.h>

#define ORDITO_HOST static inline __host__

namespace ordito_detail {

// Multiples of pi: the argument is reduced first, so that exact cases stay exact.
ORDITO_HOST double sineOfPiTimes(double x) {
  const double r = remainder(x, 2.0);
  const double a = fabs(r);
  if (a == 0.0 || a == 1.0) return copysign(0.0, x);
  const double s = a <= 0.25 ? sin(M_PI * a) : a < 0.75 ? cos(M_PI * (0.5 - a)) : sin(M_PI * (1.0 - a));
  return copysign(s, r);
}

ORDITO_HOST double cosineOfPiTimes(double x) {
  const double a = fabs(remainder(x, 2.0));
  if (a == 0.5) return 0.0;
  return a < 0.25 ? cos(M_PI * a) : a <= 0.75 ? sin(M_PI * (0.5 - a)) : -cos(M_PI * (1.0 - a));
}

// erfc(y) = x for 0 < x <= 1, so y >= 0. Starts from the leading term of the tail's expansion and refines with Halley's
// method, whose step needs only erfc itself, since erfc' = -2/sqrt(pi) exp(-y^2).
ORDITO_HOST double inverseErfcUpper(double x) {
  double y = x > 0.5 ? (1.0 - x) * 0.8862269254527580 : sqrt(-log(x * sqrt(-log(x) * M_PI)));
  if (!(y >= 0.0)) y = 0.5;
  for (int i = 0; i < 6; ++i) {
    const double step = (erfc(y) - x) / (-M_2_SQRTPI * exp(-y * y));
    y -= step / (1.0 + y * step);
  }
  return y;
}

}  // namespace ordito_detail

ORDITO_HOST double rsqrt(double x) { return 1.0 / sqrt(x); }
ORDITO_HOST double rcbrt(double x) { return 1.0 / cbrt(x); }
ORDITO_HOST double sinpi(double x) { return ordito_detail::sineOfPiTimes(x); }
ORDITO_HOST double cospi(double x) { return ordito_detail::cosineOfPiTimes(x); }
ORDITO_HOST void sincospi(double x, double* sine, double* cosine) { *sine = sinpi(x), *cosine = cospi(x); }
ORDITO_HOST double normcdf(double x) { return 0.5 * erfc(-x * M_SQRT1_2); }
ORDITO_HOST double fdivide(double a, double b) { return a / b; }

ORDITO_HOST double erfcinv(double x) {
  if (!(x >= 0.0 && x <= 2.0)) return NAN;
  if (x == 0.0) return HUGE_VAL;
  if (x == 2.0) return -HUGE_VAL;
  return x <= 1.0 ? ordito_detail::inverseErfcUpper(x) : -ordito_detail::inverseErfcUpper(2.0 - x);
}
ORDITO_HOST double erfinv(double x) {
  if (fabs(x) < 1e-8) return x * 0.8862269254527580;  // sqrt(pi)/2, the series' first term
  return x < 0.0 ? -erfcinv(1.0 + x) : erfcinv(1.0 - x);
}
ORDITO_HOST double normcdfinv(double p) { return -M_SQRT2 * erfcinv(2.0 * p); }

// exp(x^2) erfc(x); beyond 25, where exp overflows later on, the tail's continued fraction from the inside out.
ORDITO_HOST double erfcx(double x) {
  if (x < 25.0) return exp(x * x) * erfc(x);
  double fraction = x;
  for (int i = 20; i > 0; --i) fraction = x + 0.5 * i / fraction;
  return 0.5 * M_2_SQRTPI / fraction;
}

ORDITO_HOST float rsqrtf(float x) { return (float)rsqrt((double)x); }
ORDITO_HOST float rcbrtf(float x) { return (float)rcbrt((double)x); }
ORDITO_HOST float sinpif(float x) { return (float)sinpi((double)x); }
ORDITO_HOST float cospif(float x) { return (float)cospi((double)x); }
ORDITO_HOST void sincospif(float x, float* sine, float* cosine) { *sine = sinpif(x), *cosine = cospif(x); }
ORDITO_HOST float normcdff(float x) { return (float)normcdf((double)x); }
ORDITO_HOST float fdividef(float a, float b) { return a / b; }
ORDITO_HOST float erfinvf(float x) { return (float)erfinv((double)x); }
ORDITO_HOST float erfcinvf(float x) { return (float)erfcinv((double)x); }
ORDITO_HOST float normcdfinvf(float x) { return (float)normcdfinv((double)x); }
ORDITO_HOST float erfcxf(float x) { return (float)erfcx((double)x); }

#undef ORDITO_HOST

#endif
