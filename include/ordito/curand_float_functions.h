// The mathematics of normal numbers in single precision. In kernels and in Ordito's library the results have a GPU's
// very bits: sine, cosine and the power of two are those of the special function unit, and the logarithm and the
// exponential function are what nvcc makes of logf and expf, whose instructions and constants stand in the PTX of every
// program that calls them. Other host code takes the C library's functions.
#ifndef ORDITO_CURAND_FLOAT_FUNCTIONS_H
#define ORDITO_CURAND_FLOAT_FUNCTIONS_H

namespace ordito_curand {

/// Of one number or, in the library, of several in the lanes of a vector: `Ops` has the types and what they can do.
template <class Ops>
struct FloatFunctions {
  typedef typename Ops::Float Float;
  typedef typename Ops::Int Int;
#define ORDITO_CURAND_FUNCTION __host__ __device__ __attribute__((always_inline)) static inline

  /// The logarithm of a normal number: of m in [2/3, 4/3) by a polynomial, and of the power of two beside it.
  ORDITO_CURAND_FUNCTION Float logarithm(Float x) {
    const Int power = (Ops::bits(x) - 0x3f2aaaab) & (int)0xff800000;
    const Float m = Ops::ofBits(Ops::bits(x) - power) - 1.0f;
    Float p = Ops::fused(-0x1.0aa04ep-3f, m, 0x1.2073ecp-3f);
    p = Ops::fused(p, m, -0x1.f19b98p-4f);
    p = Ops::fused(p, m, 0x1.1e52aap-3f);
    p = Ops::fused(p, m, -0x1.55b172p-3f);
    p = Ops::fused(p, m, 0x1.99da16p-3f);
    p = Ops::fused(p, m, -0x1.fffe44p-3f);
    p = Ops::fused(p, m, 0x1.5554fp-2f);
    p = Ops::fused(p, m, -0.5f);
    p = Ops::fused(p * m, m, m);
    return Ops::fused(Ops::ofInt(power) * 0x1p-23f, 0x1.62e43p-1f, p);
  }

  /// e^x = 2^n 2^r with a whole n between -126 and 126, and log2(e) in two parts.
  ORDITO_CURAND_FUNCTION Float exponential(Float x) {
    const Float share = Ops::least(Ops::greatest(Ops::fused(x, 0x1.77313ap-8f, 0.5f), 0.0f), 1.0f);
    const Float rounded = Ops::floor(share * 252.0f);
    // One too many, where the product was rounded up to a whole number.
    const Int isAbove = Ops::isNegative(Ops::fused(share, 252.0f, -rounded));
    const Int n = Ops::whole(rounded) - isAbove - 126;
    const Float r = Ops::fused(x, 0x1.4ae0cp-26f, Ops::fused(x, 0x1.715476p+0f, -Ops::ofInt(n)));
    return Ops::power(r) * Ops::ofBits((n + 127) << 23);
  }

  /// Box and Muller: `u` in (0, 1] and an angle in radians become two normal numbers.
  ORDITO_CURAND_FUNCTION void pair(Float& u, Float& angle) {
    const Float radius = Ops::root(logarithm(u) * -2.0f);
    u = Ops::sine(angle) * radius;
    angle = Ops::cosine(angle) * radius;
  }
#undef ORDITO_CURAND_FUNCTION
};

#if defined(__CUDA_ARCH__)

struct FloatsOfKernels {
  typedef float Float;
  typedef int Int;
  __device__ static int bits(float x) { return __float_as_int(x); }
  __device__ static float ofBits(int x) { return __int_as_float(x); }
  __device__ static float ofInt(int x) { return (float)x; }
  __device__ static int whole(float x) { return (int)x; }
  __device__ static int isNegative(float x) { return x < 0; }
  __device__ static float fused(float a, float b, float c) { return fmaf(a, b, c); }
  __device__ static float least(float a, float b) { return fminf(a, b); }
  __device__ static float greatest(float a, float b) { return fmaxf(a, b); }
  __device__ static float floor(float x) { return floorf(x); }
  __device__ static float root(float x) { return sqrtf(x); }
  __device__ static float sine(float x) { return __sinf(x); }
  __device__ static float cosine(float x) { return __cosf(x); }
  __device__ static float power(float x) {
    float result;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
  }
};
__host__ __device__ inline float2 toPair(float u, float angle) {
  FloatFunctions<FloatsOfKernels>::pair(u, angle);
  return make_float2(u, angle);
}
__host__ __device__ inline float logNormal(float mean, float deviation, float normal) {
  return FloatFunctions<FloatsOfKernels>::exponential(fmaf(deviation, normal, mean));
}

#elif !defined(ORDITO_CURAND_LIBRARY)  // which has its own: src/libs/curand/float_functions.hpp

__host__ __device__ inline float2 toPair(float u, float angle) {
  const float radius = sqrtf(-2.0f * logf(u));
  float2 pair;
  sincosf(angle, &pair.x, &pair.y);
  pair.x *= radius;
  pair.y *= radius;
  return pair;
}
__host__ __device__ inline float logNormal(float mean, float deviation, float normal) {
  return expf(mean + deviation * normal);
}

#endif

}  // namespace ordito_curand

#endif
