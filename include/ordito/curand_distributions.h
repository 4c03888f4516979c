// Distributions over the generators of curand_kernel.h. Uniform numbers are in (0, 1]; normal ones come in pairs from
// two uniform ones (Box and Muller), of which the second is kept for the next call.
#ifndef ORDITO_CURAND_DISTRIBUTIONS_H
#define ORDITO_CURAND_DISTRIBUTIONS_H

#include "curand_float_functions.h"

namespace ordito_curand {

constexpr float kToUnit = 2.3283064e-10f;                 // 2^-32
constexpr double kToUnitDouble = 1.1102230246251565e-16;  // 2^-53
constexpr float kTwoPi = 6.2831855f;
constexpr double kPi = 3.1415926535897932;

__host__ __device__ inline float toUniform(unsigned int bits) { return bits * kToUnit + kToUnit / 2.0f; }
/// 53 of 64 bits.
__host__ __device__ inline double toUniformDouble(unsigned int low, unsigned int high) {
  const unsigned long long bits = (unsigned long long)low ^ ((unsigned long long)high << (53 - 32));
  return bits * kToUnitDouble + kToUnitDouble / 2.0;
}

/// What Box's and Muller's method makes of two words: a number in (0, 1] and an angle.
__host__ __device__ inline float2 toPolar(unsigned int radius, unsigned int angle) {
  return make_float2(toUniform(radius), fmaf((float)angle, kToUnit * kTwoPi, (kToUnit * kTwoPi) / 2));
}
__host__ __device__ inline float2 toNormal(unsigned int radius, unsigned int angle) {
  const float2 polar = toPolar(radius, angle);
  return toPair(polar.x, polar.y);
}
__host__ __device__ inline double2 toNormalDouble(unsigned int x0, unsigned int x1, unsigned int y0, unsigned int y1) {
  const double u = toUniformDouble(x0, x1);
  const unsigned long long angle = (unsigned long long)y0 ^ ((unsigned long long)y1 << (53 - 32));
  const double v = angle * (kToUnitDouble * 2.0) + kToUnitDouble;
  const double s = sqrt(-2.0 * log(u));
  double2 pair;
  sincospi(v, &pair.x, &pair.y);
  pair.x *= s;
  pair.y *= s;
  return pair;
}

template <class State>
__host__ __device__ inline float uniform(State* state) {
  return toUniform(curand(state));
}
__host__ __device__ inline float uniform(curandStateMRG32k3a_t* state) { return (float)(mrgNext(state) * kMrgToUnit); }

template <class State>
__host__ __device__ inline double uniformDouble(State* state) {
  const unsigned int low = curand(state), high = curand(state);
  return toUniformDouble(low, high);
}
__host__ __device__ inline double uniformDouble(curandStateMRG32k3a_t* state) { return mrgNext(state) * kMrgToUnit; }

template <class State>
__host__ __device__ inline float2 polar2(State* state) {
  const unsigned int radius = curand(state), angle = curand(state);
  return toPolar(radius, angle);
}
__host__ __device__ inline float2 polar2(curandStateMRG32k3a_t* state) {
  const double u = mrgNext(state) * kMrgToUnit, v = mrgNext(state) * kMrgToUnit;
  return make_float2((float)u, (float)v * kTwoPi);
}
template <class State>
__host__ __device__ inline float2 normal2(State* state) {
  const float2 polar = polar2(state);
  return toPair(polar.x, polar.y);
}
template <class State>
__host__ __device__ inline double2 normal2Double(State* state) {
  const unsigned int x0 = curand(state), x1 = curand(state), y0 = curand(state), y1 = curand(state);
  return toNormalDouble(x0, x1, y0, y1);
}
__host__ __device__ inline double2 normal2Double(curandStateMRG32k3a_t* state) {
  const double u = mrgNext(state) * kMrgToUnit, v = mrgNext(state) * kMrgToUnit;
  const double s = sqrt(-2.0 * log(u));
  double2 pair;
  sincospi(v * 2.0, &pair.x, &pair.y);
  pair.x *= s;
  pair.y *= s;
  return pair;
}

template <class State>
__host__ __device__ inline float normal(State* state) {
  if (state->boxmuller_flag) {
    state->boxmuller_flag = 0;
    return state->boxmuller_extra;
  }
  const float2 pair = normal2(state);
  state->boxmuller_flag = 1;
  state->boxmuller_extra = pair.y;
  return pair.x;
}
template <class State>
__host__ __device__ inline double normalDouble(State* state) {
  if (state->boxmuller_flag_double) {
    state->boxmuller_flag_double = 0;
    return state->boxmuller_extra_double;
  }
  const double2 pair = normal2Double(state);
  state->boxmuller_flag_double = 1;
  state->boxmuller_extra_double = pair.y;
  return pair.x;
}

}  // namespace ordito_curand

#define ORDITO_CURAND_DISTRIBUTIONS(State)                                                                            \
  __host__ __device__ inline float curand_uniform(State* state) { return ordito_curand::uniform(state); }             \
  __host__ __device__ inline double curand_uniform_double(State* state) {                                             \
    return ordito_curand::uniformDouble(state);                                                                       \
  }                                                                                                                   \
  __host__ __device__ inline float curand_normal(State* state) { return ordito_curand::normal(state); }               \
  __host__ __device__ inline float2 curand_normal2(State* state) { return ordito_curand::normal2(state); }            \
  __host__ __device__ inline double curand_normal_double(State* state) { return ordito_curand::normalDouble(state); } \
  __host__ __device__ inline double2 curand_normal2_double(State* state) {                                            \
    return ordito_curand::normal2Double(state);                                                                       \
  }                                                                                                                   \
  __host__ __device__ inline float curand_log_normal(State* state, float mean, float deviation) {                     \
    return ordito_curand::logNormal(mean, deviation, ordito_curand::normal(state));                                   \
  }                                                                                                                   \
  __host__ __device__ inline float2 curand_log_normal2(State* state, float mean, float deviation) {                   \
    const float2 pair = ordito_curand::normal2(state);                                                                \
    return make_float2(ordito_curand::logNormal(mean, deviation, pair.x),                                             \
                       ordito_curand::logNormal(mean, deviation, pair.y));                                            \
  }                                                                                                                   \
  __host__ __device__ inline double curand_log_normal_double(State* state, double mean, double deviation) {           \
    return exp(mean + deviation * ordito_curand::normalDouble(state));                                                \
  }                                                                                                                   \
  __host__ __device__ inline double2 curand_log_normal2_double(State* state, double mean, double deviation) {         \
    const double2 pair = ordito_curand::normal2Double(state);                                                         \
    return make_double2(exp(mean + deviation * pair.x), exp(mean + deviation * pair.y));                              \
  }
ORDITO_CURAND_DISTRIBUTIONS(curandStateXORWOW_t)
ORDITO_CURAND_DISTRIBUTIONS(curandStatePhilox4_32_10_t)
ORDITO_CURAND_DISTRIBUTIONS(curandStateMRG32k3a_t)
#undef ORDITO_CURAND_DISTRIBUTIONS

// --- four numbers at a time
// ---------------------------------------------------------------------------------------
__host__ __device__ inline float4 curand_uniform4(curandStatePhilox4_32_10_t* state) {
  const uint4 bits = curand4(state);
  return make_float4(ordito_curand::toUniform(bits.x), ordito_curand::toUniform(bits.y),
                     ordito_curand::toUniform(bits.z), ordito_curand::toUniform(bits.w));
}
__host__ __device__ inline double2 curand_uniform2_double(curandStatePhilox4_32_10_t* state) {
  const uint4 bits = curand4(state);
  return make_double2(ordito_curand::toUniformDouble(bits.x, bits.y), ordito_curand::toUniformDouble(bits.z, bits.w));
}
__host__ __device__ inline float4 curand_normal4(curandStatePhilox4_32_10_t* state) {
  const uint4 bits = curand4(state);
  const float2 first = ordito_curand::toNormal(bits.x, bits.y), second = ordito_curand::toNormal(bits.z, bits.w);
  return make_float4(first.x, first.y, second.x, second.y);
}
__host__ __device__ inline float4 curand_log_normal4(curandStatePhilox4_32_10_t* state, float mean, float deviation) {
  const float4 four = curand_normal4(state);
  return make_float4(
      ordito_curand::logNormal(mean, deviation, four.x), ordito_curand::logNormal(mean, deviation, four.y),
      ordito_curand::logNormal(mean, deviation, four.z), ordito_curand::logNormal(mean, deviation, four.w));
}

#endif
