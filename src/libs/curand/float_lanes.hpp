// The functions of float_functions.hpp on the lanes of one kind of vectors. It is compiled for several processors, so
// it has nothing in it that another file might have, too.
#pragma once

#include <cstddef>

#include "host_defines.h"
#define ORDITO_CURAND_LIBRARY
#include "ordito/curand_float_functions.h"

namespace {

/// `Unit` has the special function unit's sine, cosine and power of two (machine/multifunction_unit.hpp).
template <int N, class Unit>
struct Lanes : Unit {
  using Float = float __attribute__((ext_vector_type(N)));
  using Int = int __attribute__((ext_vector_type(N)));
  static constexpr size_t kCount = N;

#define LANES __attribute__((always_inline)) static
  LANES Int bits(Float x) { return __builtin_bit_cast(Int, x); }
  LANES Float ofBits(Int x) { return __builtin_bit_cast(Float, x); }
  LANES Float ofInt(Int x) { return __builtin_convertvector(x, Float); }
  LANES Int whole(Float x) { return __builtin_convertvector(x, Int); }
  LANES Int isNegative(Float x) { return (x < 0.0f) & 1; }
  LANES Float fused(Float a, Float b, Float c) { return __builtin_elementwise_fma(a, b, c); }
  LANES Float least(Float a, Float b) { return __builtin_elementwise_min(a, b); }
  LANES Float greatest(Float a, Float b) { return __builtin_elementwise_max(a, b); }
  LANES Float floor(Float x) { return __builtin_elementwise_floor(x); }
  LANES Float root(Float x) { return __builtin_elementwise_sqrt(x); }
#undef LANES
};

/// body(numbers, how many there are) for as many floats at a time as `Count`.
template <size_t Count, class Body>
void inGroups(float* numbers, size_t count, const Body& body) {
  for (size_t i = 0; i + Count <= count; i += Count) body(numbers + i);
  const size_t left = count % Count;
  if (left == 0) return;
  float few[Count];
  for (size_t k = 0; k < Count; ++k) few[k] = k < left ? numbers[count - left + k] : 0.5f;
  body(few);
  for (size_t k = 0; k < left; ++k) numbers[count - left + k] = few[k];
}

template <class Ops>
void normalInLanes(float* pairs, size_t count) {
  constexpr size_t kLanes = Ops::kCount;
  inGroups<2 * kLanes>(pairs, count, [](float* group) {
    typename Ops::Float u, angle;
    for (size_t k = 0; k < kLanes; ++k) u[k] = group[2 * k], angle[k] = group[2 * k + 1];
    ordito_curand::FloatFunctions<Ops>::pair(u, angle);
    for (size_t k = 0; k < kLanes; ++k) group[2 * k] = u[k], group[2 * k + 1] = angle[k];
  });
}

template <class Ops>
void scaleInLanes(float* numbers, size_t count, float mean, float deviation, bool isExponent) {
  inGroups<Ops::kCount>(numbers, count, [=](float* group) {
    typename Ops::Float x;
    __builtin_memcpy(&x, group, sizeof(x));
    x = Ops::fused(x, deviation, mean);
    if (isExponent) x = ordito_curand::FloatFunctions<Ops>::exponential(x);
    __builtin_memcpy(group, &x, sizeof(x));
  });
}

}  // namespace

#define CURAND_LANES(N, level)                                                                           \
  extern "C" {                                                                                           \
  using Float##N = float __attribute__((ext_vector_type(N)));                                            \
  Float##N mufu_sin_##level(Float##N);                                                                   \
  Float##N mufu_cos_##level(Float##N);                                                                   \
  Float##N mufu_ex2_##level(Float##N);                                                                   \
  }                                                                                                      \
  namespace {                                                                                            \
  struct Unit##N {                                                                                       \
    static Float##N sine(Float##N x) { return mufu_sin_##level(x); }                                     \
    static Float##N cosine(Float##N x) { return mufu_cos_##level(x); }                                   \
    static Float##N power(Float##N x) { return mufu_ex2_##level(x); }                                    \
  };                                                                                                     \
  }                                                                                                      \
  extern "C" void ordito_curand_normal_##level(float* pairs, size_t count) {                             \
    normalInLanes<Lanes<N, Unit##N>>(pairs, count);                                                      \
  }                                                                                                      \
  extern "C" void ordito_curand_scale_##level(float* numbers, size_t count, float mean, float deviation, \
                                              bool isExponent) {                                         \
    scaleInLanes<Lanes<N, Unit##N>>(numbers, count, mean, deviation, isExponent);                        \
  }
