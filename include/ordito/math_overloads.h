// Math by overload in the global namespace: min and max of every arithmetic type on both sides, and float forms of the
// functions that C does not have.
#ifndef ORDITO_MATH_OVERLOADS_H
#define ORDITO_MATH_OVERLOADS_H

#include <math.h>

#define ORDITO_BOTH static inline __host__ __device__ __attribute__((always_inline))

// Clang has min and max of two ints on the device.
static inline __host__ int min(int a, int b) { return b < a ? b : a; }
static inline __host__ int max(int a, int b) { return a < b ? b : a; }

// Integers: a mix of signed and unsigned compares as unsigned.
#define ORDITO_MIN_MAX(result, a_type, b_type)                                                         \
  ORDITO_BOTH result min(a_type a, b_type b) { return (result)b < (result)a ? (result)b : (result)a; } \
  ORDITO_BOTH result max(a_type a, b_type b) { return (result)a < (result)b ? (result)b : (result)a; }
ORDITO_MIN_MAX(unsigned int, unsigned int, unsigned int)
ORDITO_MIN_MAX(unsigned int, int, unsigned int)
ORDITO_MIN_MAX(unsigned int, unsigned int, int)
ORDITO_MIN_MAX(long, long, long)
ORDITO_MIN_MAX(unsigned long, unsigned long, unsigned long)
ORDITO_MIN_MAX(unsigned long, long, unsigned long)
ORDITO_MIN_MAX(unsigned long, unsigned long, long)
ORDITO_MIN_MAX(long long, long long, long long)
ORDITO_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
ORDITO_MIN_MAX(unsigned long long, long long, unsigned long long)
ORDITO_MIN_MAX(unsigned long long, unsigned long long, long long)
#undef ORDITO_MIN_MAX

// Floating point: a NaN gives way to the other operand, as in fmin and fmax.
ORDITO_BOTH float min(float a, float b) { return fminf(a, b); }
ORDITO_BOTH float max(float a, float b) { return fmaxf(a, b); }
ORDITO_BOTH double min(double a, double b) { return fmin(a, b); }
ORDITO_BOTH double max(double a, double b) { return fmax(a, b); }
ORDITO_BOTH double min(float a, double b) { return fmin((double)a, b); }
ORDITO_BOTH double max(float a, double b) { return fmax((double)a, b); }
ORDITO_BOTH double min(double a, float b) { return fmin(a, (double)b); }
ORDITO_BOTH double max(double a, float b) { return fmax(a, (double)b); }

// The functions that C++11 added: clang declares these and leaves their definition to CUDA's headers.
ORDITO_DEVICE float acosh(float x) { return acoshf(x); }
ORDITO_DEVICE float asinh(float x) { return asinhf(x); }
ORDITO_DEVICE float atanh(float x) { return atanhf(x); }
ORDITO_DEVICE float cbrt(float x) { return cbrtf(x); }
ORDITO_DEVICE float erf(float x) { return erff(x); }
ORDITO_DEVICE float erfc(float x) { return erfcf(x); }
ORDITO_DEVICE float exp2(float x) { return exp2f(x); }
ORDITO_DEVICE float expm1(float x) { return expm1f(x); }
ORDITO_DEVICE float lgamma(float x) { return lgammaf(x); }
ORDITO_DEVICE float log1p(float x) { return log1pf(x); }
ORDITO_DEVICE float log2(float x) { return log2f(x); }
ORDITO_DEVICE float logb(float x) { return logbf(x); }
ORDITO_DEVICE float nearbyint(float x) { return nearbyintf(x); }
ORDITO_DEVICE float rint(float x) { return rintf(x); }
ORDITO_DEVICE float round(float x) { return roundf(x); }
ORDITO_DEVICE float tgamma(float x) { return tgammaf(x); }
ORDITO_DEVICE float trunc(float x) { return truncf(x); }
ORDITO_DEVICE float copysign(float a, float b) { return copysignf(a, b); }
ORDITO_DEVICE float fdim(float a, float b) { return fdimf(a, b); }
ORDITO_DEVICE float fmax(float a, float b) { return fmaxf(a, b); }
ORDITO_DEVICE float fmin(float a, float b) { return fminf(a, b); }
ORDITO_DEVICE float hypot(float a, float b) { return hypotf(a, b); }
ORDITO_DEVICE float nextafter(float a, float b) { return nextafterf(a, b); }
ORDITO_DEVICE float remainder(float a, float b) { return remainderf(a, b); }
ORDITO_DEVICE float fma(float a, float b, float c) { return fmaf(a, b, c); }
ORDITO_DEVICE float remquo(float a, float b, int* quotient) { return remquof(a, b, quotient); }
ORDITO_DEVICE float scalbn(float x, int n) { return scalbnf(x, n); }
ORDITO_DEVICE float scalbln(float x, long n) { return scalblnf(x, n); }
ORDITO_DEVICE int ilogb(float x) { return ilogbf(x); }
ORDITO_DEVICE long lrint(float x) { return lrintf(x); }
ORDITO_DEVICE long lround(float x) { return lroundf(x); }
ORDITO_DEVICE long long llrint(float x) { return llrintf(x); }
ORDITO_DEVICE long long llround(float x) { return llroundf(x); }
ORDITO_DEVICE float nanf(const char* tag) { return (void)tag, __builtin_nanf(""); }
ORDITO_DEVICE double nan(const char* tag) { return (void)tag, __builtin_nan(""); }

// Device: the float overloads. (Their host versions come from clang's wrapper.)
ORDITO_DEVICE float rsqrt(float x) { return rsqrtf(x); }
ORDITO_DEVICE float rcbrt(float x) { return rcbrtf(x); }
ORDITO_DEVICE float sinpi(float x) { return sinpif(x); }
ORDITO_DEVICE float cospi(float x) { return cospif(x); }
ORDITO_DEVICE void sincospi(float x, float* sine, float* cosine) { sincospif(x, sine, cosine); }
ORDITO_DEVICE void sincos(float x, float* sine, float* cosine) { sincosf(x, sine, cosine); }
ORDITO_DEVICE float erfinv(float x) { return erfinvf(x); }
ORDITO_DEVICE float erfcinv(float x) { return erfcinvf(x); }
ORDITO_DEVICE float erfcx(float x) { return erfcxf(x); }
ORDITO_DEVICE float normcdf(float x) { return normcdff(x); }
ORDITO_DEVICE float normcdfinv(float x) { return normcdfinvf(x); }
ORDITO_DEVICE float exp10(float x) { return exp10f(x); }
ORDITO_DEVICE float fdivide(float a, float b) { return fdividef(a, b); }
ORDITO_DEVICE float j0(float x) { return j0f(x); }
ORDITO_DEVICE float j1(float x) { return j1f(x); }
ORDITO_DEVICE float y0(float x) { return y0f(x); }
ORDITO_DEVICE float y1(float x) { return y1f(x); }
ORDITO_DEVICE float jn(int n, float x) { return jnf(n, x); }
ORDITO_DEVICE float yn(int n, float x) { return ynf(n, x); }

// Names by type, as C has them.
static inline __host__ unsigned int umin(unsigned int a, unsigned int b) { return min(a, b); }
static inline __host__ unsigned int umax(unsigned int a, unsigned int b) { return max(a, b); }
static inline __host__ long long llmin(long long a, long long b) { return min(a, b); }
static inline __host__ long long llmax(long long a, long long b) { return max(a, b); }
static inline __host__ unsigned long long ullmin(unsigned long long a, unsigned long long b) { return min(a, b); }
static inline __host__ unsigned long long ullmax(unsigned long long a, unsigned long long b) { return max(a, b); }

#undef ORDITO_BOTH

#endif
