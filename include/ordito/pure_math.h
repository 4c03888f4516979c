// clang-format off
// The math functions that stay calls in the PTX depend on nothing but their arguments. Clang's declarations do not say
// so; these, which come first, do, and so the optimiser merges equal calls, moves them out of loops and keeps loaded
// values across them.
#ifndef ORDITO_PURE_MATH_H
#define ORDITO_PURE_MATH_H

#define ORDITO_UNARY(name)                                      \
  __device__ __attribute__((const)) double __nv_##name(double); \
  __device__ __attribute__((const)) float __nv_##name##f(float);
#define ORDITO_BINARY(name)                                             \
  __device__ __attribute__((const)) double __nv_##name(double, double); \
  __device__ __attribute__((const)) float __nv_##name##f(float, float);

extern "C" {
#if defined(__ORDITO_APPROXIMATE_SQRT__)
__device__ __attribute__((const)) float __nv_sqrtf(float) __asm__("__nv_fast_sqrtf");
#endif
#if defined(__CLANG_GPU_APPROX_TRANSCENDENTALS__)
// -use_fast_math covers these as well, which clang's headers leave precise.
__device__ __attribute__((const)) float __nv_expf(float) __asm__("__nv_fast_expf");
__device__ __attribute__((const)) float __nv_exp10f(float) __asm__("__nv_fast_exp10f");
__device__ __attribute__((const)) float __nv_exp2f(float) __asm__("__nv_fast_exp2f");
__device__ __attribute__((const)) float __nv_log10f(float) __asm__("__nv_fast_log10f");
__device__ __attribute__((const)) float __nv_powf(float, float) __asm__("__nv_fast_powf");
__device__ __attribute__((const)) float __nv_tanf(float) __asm__("__nv_fast_tanf");
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 750
__device__ __attribute__((const)) float __nv_tanhf(float) __asm__("__nv_fast_tanhf");
#endif
#endif
ORDITO_UNARY(acos)
ORDITO_UNARY(acosh)
ORDITO_UNARY(asin)
ORDITO_UNARY(asinh)
ORDITO_UNARY(atan)
ORDITO_UNARY(atanh) ORDITO_UNARY(cbrt) ORDITO_UNARY(cos) ORDITO_UNARY(cosh) ORDITO_UNARY(cospi)
    ORDITO_UNARY(cyl_bessel_i0) ORDITO_UNARY(cyl_bessel_i1) ORDITO_UNARY(erf) ORDITO_UNARY(erfc) ORDITO_UNARY(erfcinv)
        ORDITO_UNARY(erfcx) ORDITO_UNARY(erfinv) ORDITO_UNARY(exp) ORDITO_UNARY(exp10) ORDITO_UNARY(exp2)
            ORDITO_UNARY(expm1) ORDITO_UNARY(j0) ORDITO_UNARY(j1) ORDITO_UNARY(lgamma) ORDITO_UNARY(log)
                ORDITO_UNARY(log10) ORDITO_UNARY(log1p) ORDITO_UNARY(log2) ORDITO_UNARY(normcdf)
                    ORDITO_UNARY(normcdfinv) ORDITO_UNARY(rcbrt) ORDITO_UNARY(sin) ORDITO_UNARY(sinh)
                        ORDITO_UNARY(sinpi) ORDITO_UNARY(tan) ORDITO_UNARY(tanh) ORDITO_UNARY(tgamma) ORDITO_UNARY(y0)
                            ORDITO_UNARY(y1) ORDITO_BINARY(atan2) ORDITO_BINARY(fmod) ORDITO_BINARY(hypot)
                                ORDITO_BINARY(pow) ORDITO_BINARY(remainder) ORDITO_BINARY(rhypot)
}

#undef ORDITO_UNARY
#undef ORDITO_BINARY

#endif
