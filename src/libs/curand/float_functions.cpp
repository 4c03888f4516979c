// See float_functions.hpp. Which vectors the processor has is asked once.
#include "libs/curand/float_functions.hpp"

#include <algorithm>

#include "libs/curand/host_side.hpp"
#include "libs/stream_task.hpp"

extern "C" {
#define DECLARE(level)                                           \
  void ordito_curand_normal_##level(float* pairs, size_t count); \
  void ordito_curand_scale_##level(float* numbers, size_t count, float mean, float deviation, bool isExponent);
DECLARE(sse2)
DECLARE(avx2)
DECLARE(avx512f)
#undef DECLARE
}

namespace ordito::curand {
namespace {

struct Functions {
  void (*normal)(float* pairs, size_t count);
  void (*scale)(float* numbers, size_t count, float mean, float deviation, bool isExponent);
};

Functions chosen() {
  const auto has = [](auto... supported) { return (supported && ...); };
  if (!has(__builtin_cpu_supports("avx2"), __builtin_cpu_supports("fma")))
    return {ordito_curand_normal_sse2, ordito_curand_scale_sse2};
  if (has(__builtin_cpu_supports("avx512f"), __builtin_cpu_supports("avx512bw"), __builtin_cpu_supports("avx512dq"),
          __builtin_cpu_supports("avx512vl")))
    return {ordito_curand_normal_avx512f, ordito_curand_scale_avx512f};
  return {ordito_curand_normal_avx2, ordito_curand_scale_avx2};
}

const Functions& functions() {
  static const Functions here = chosen();
  return here;
}

template <class Body>
void inParts(float* numbers, size_t count, const Body& body) {
  constexpr size_t kPart = 1 << 15;
  if (count <= kPart) return body(numbers, count);
  libs::parallelFor(static_cast<unsigned>((count + kPart - 1) / kPart),
                    [&](unsigned part) { body(numbers + part * kPart, std::min(kPart, count - part * kPart)); });
}

}  // namespace

void makeNormal(float* pairs, size_t count) { inParts(pairs, count, functions().normal); }

void scaleNormal(float* numbers, size_t count, float mean, float deviation, bool isExponent) {
  inParts(numbers, count,
          [=](float* part, size_t size) { functions().scale(part, size, mean, deviation, isExponent); });
}

}  // namespace ordito::curand

namespace ordito_curand {

float2 toPair(float u, float angle) {
  float pair[2] = {u, angle};
  ordito::curand::functions().normal(pair, 2);
  return {pair[0], pair[1]};
}
float logNormal(float mean, float deviation, float normal) {
  ordito::curand::functions().scale(&normal, 1, mean, deviation, true);
  return normal;
}

}  // namespace ordito_curand
