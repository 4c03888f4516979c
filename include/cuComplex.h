// Complex numbers in the C style: cuFloatComplex, cuDoubleComplex and functions on them.
#ifndef CU_COMPLEX_H_
#define CU_COMPLEX_H_

#include <math.h>

#include "vector_types.h"

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

#define ORDITO_COMPLEX static inline __host__ __device__

// Once for float (suffix f) and once for double. Division and magnitude scale by the larger part, so that nothing
// overflows on the way.
#define ORDITO_COMPLEX_TYPE(type, real, f, make, Real, Imag, Conj, Add, Sub, Mul, Div, Abs, Fma)         \
  ORDITO_COMPLEX real Real(type z) { return z.x; }                                                       \
  ORDITO_COMPLEX real Imag(type z) { return z.y; }                                                       \
  ORDITO_COMPLEX type make(real r, real i) {                                                             \
    type z;                                                                                              \
    z.x = r, z.y = i;                                                                                    \
    return z;                                                                                            \
  }                                                                                                      \
  ORDITO_COMPLEX type Conj(type z) { return make(z.x, -z.y); }                                           \
  ORDITO_COMPLEX type Add(type a, type b) { return make(a.x + b.x, a.y + b.y); }                         \
  ORDITO_COMPLEX type Sub(type a, type b) { return make(a.x - b.x, a.y - b.y); }                         \
  ORDITO_COMPLEX type Mul(type a, type b) { return make(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); } \
  ORDITO_COMPLEX type Div(type a, type b) {                                                              \
    const real scale = (real)1 / (fabs##f(b.x) + fabs##f(b.y));                                          \
    const real ar = a.x * scale, ai = a.y * scale, br = b.x * scale, bi = b.y * scale;                   \
    const real norm = (real)1 / (br * br + bi * bi);                                                     \
    return make((ar * br + ai * bi) * norm, (ai * br - ar * bi) * norm);                                 \
  }                                                                                                      \
  ORDITO_COMPLEX real Abs(type z) {                                                                      \
    const real a = fabs##f(z.x), b = fabs##f(z.y);                                                       \
    const real large = a > b ? a : b, small = a > b ? b : a;                                             \
    if (large == (real)0 || large + large == large) return large + small;                                \
    const real ratio = small / large;                                                                    \
    return large * sqrt##f((real)1 + ratio * ratio);                                                     \
  }                                                                                                      \
  ORDITO_COMPLEX type Fma(type a, type b, type c) {                                                      \
    return make(a.x * b.x + c.x - a.y * b.y, a.x * b.y + c.y + a.y * b.x);                               \
  }

ORDITO_COMPLEX_TYPE(cuFloatComplex, float, f, make_cuFloatComplex, cuCrealf, cuCimagf, cuConjf, cuCaddf, cuCsubf,
                    cuCmulf, cuCdivf, cuCabsf, cuCfmaf)
ORDITO_COMPLEX_TYPE(cuDoubleComplex, double, , make_cuDoubleComplex, cuCreal, cuCimag, cuConj, cuCadd, cuCsub, cuCmul,
                    cuCdiv, cuCabs, cuCfma)

ORDITO_COMPLEX cuComplex make_cuComplex(float r, float i) { return make_cuFloatComplex(r, i); }
ORDITO_COMPLEX cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex z) { return make_cuDoubleComplex(z.x, z.y); }
ORDITO_COMPLEX cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex z) {
  return make_cuFloatComplex((float)z.x, (float)z.y);
}

#undef ORDITO_COMPLEX_TYPE
#undef ORDITO_COMPLEX

#endif
