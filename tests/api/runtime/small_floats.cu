// Formats of six and four bits and powers of two: every code there and back, rounding, saturation, on host and device.
// And what the sixteen-bit formats answer to NaN, volatile and integers out of range.
#include <cuda_fp4.h>
#include <cuda_fp6.h>

#include <cmath>

#include "expect.hpp"

constexpr int kE2M3 = 0, kE3M2 = 1, kE2M1 = 2, kE8M0 = 3;

// What a code stands for, from the definition of the formats: sign, exponent, fraction.
static double meaning(int format, int code) {
  if (format == kE8M0) return std::ldexp(1.0, code - 127);
  const int fraction_bits = format == kE2M3 ? 3 : format == kE3M2 ? 2 : 1, bias = format == kE3M2 ? 3 : 1;
  const int sign = format == kE2M1 ? 8 : 32;
  const int exponent = (code & (sign - 1)) >> fraction_bits, fraction = code & ((1 << fraction_bits) - 1);
  const double part = fraction / double(1 << fraction_bits);
  const double magnitude = exponent == 0 ? std::ldexp(part, 1 - bias) : std::ldexp(1 + part, exponent - bias);
  return code & sign ? -magnitude : magnitude;
}

__host__ __device__ float value(int format, int code) {
  if (format == kE2M3) return __half2float(__nv_cvt_fp6_to_halfraw(code, __NV_E2M3));
  if (format == kE3M2) return __half2float(__nv_cvt_fp6_to_halfraw(code, __NV_E3M2));
  if (format == kE2M1) return __half2float(__nv_cvt_fp4_to_halfraw(code, __NV_E2M1));
  return __bfloat162float(__nv_bfloat16(__nv_cvt_e8m0_to_bf16raw(code)));
}

__host__ __device__ int code(int format, float value, cudaRoundMode rounding = cudaRoundNearest) {
  if (format == kE2M3) return __nv_cvt_float_to_fp6(value, __NV_E2M3, rounding);
  if (format == kE3M2) return __nv_cvt_float_to_fp6(value, __NV_E3M2, rounding);
  if (format == kE2M1) return __nv_cvt_float_to_fp4(value, __NV_E2M1, rounding);
  return __nv_cvt_float_to_e8m0(value, __NV_SATFINITE, rounding == cudaRoundPosInf ? rounding : cudaRoundZero);
}

__global__ void convert(float* values, int* codes, int format, int count) {
  const int i = threadIdx.x;
  if (i >= count) return;
  values[i] = value(format, i);
  codes[i] = code(format, values[i]);
}

static void everyCode(int format, int count) {
  float* values = nullptr;
  int* codes = nullptr;
  EXPECT_OK(cudaMallocManaged(&values, 256 * sizeof(float)));
  EXPECT_OK(cudaMallocManaged(&codes, 256 * sizeof(int)));
  convert<<<1, 256>>>(values, codes, format, count);
  EXPECT_OK(cudaDeviceSynchronize());
  int wrong = 0;
  for (int i = 0; i < count; ++i) {
    const double wanted = meaning(format, i);
    wrong += values[i] != wanted || value(format, i) != wanted || codes[i] != i || code(format, float(wanted)) != i;
  }
  EXPECT(wrong == 0);
  cudaFree(values);
  cudaFree(codes);
}

static void rounding() {
  EXPECT(code(kE2M1, 2.5f) == code(kE2M1, 2.0f) && code(kE2M1, 3.5f) == code(kE2M1, 4.0f));  // ties to even
  EXPECT(code(kE2M1, 100.0f) == code(kE2M1, 6.0f) && code(kE2M1, -INFINITY) == code(kE2M1, -6.0f));
  EXPECT(code(kE2M3, NAN) == 0x1f && code(kE3M2, 1e9f) == 0x1f && code(kE2M1, NAN) == 7);
  EXPECT(code(kE3M2, 0.01f) == 0 && code(kE3M2, -0.01f) == 0x20);
  EXPECT(code(kE8M0, 3.0f, cudaRoundZero) == 128 && code(kE8M0, 3.0f, cudaRoundPosInf) == 129);
  EXPECT(code(kE8M0, NAN) == 0xff && code(kE8M0, INFINITY) == 0xfe && code(kE8M0, 0.0f) == 0);
}

static void classes() {
  const __nv_fp4x4_e2m1 four(make_float4(0.5f, -1.5f, 3.0f, 100.0f));
  const float4 back = static_cast<float4>(four);
  EXPECT(sizeof(four) == 2 && back.x == 0.5f && back.y == -1.5f && back.z == 3.0f && back.w == 6.0f);
  const __nv_fp6x2_e3m2 two(make_float2(0.25f, -28.0f));
  const float2 pair = static_cast<float2>(two);
  EXPECT(sizeof(two) == 2 && pair.x == 0.25f && pair.y == -28.0f);
  EXPECT(static_cast<int>(__nv_fp6_e2m3(-3)) == -3 && static_cast<unsigned>(__nv_fp6_e2m3(-3)) == 0u);
  EXPECT(static_cast<float>(__nv_fp8_e8m0(5.0f)) == 8.0f);  // these round up
}

template <class Type>
static void sixteenBits(Type nan, Type one, Type two) {
  EXPECT(!__heq(nan, one) && __hequ(nan, one) && !__hne(nan, one) && __hneu(nan, one) && __hltu(nan, one));
  EXPECT(__hne(one, two) && !__hne(one, one) && __hequ(one, one) && !__hequ(one, two) && nan != one);
  volatile Type kept;
  kept = two;
  const Type read(kept);
  EXPECT(read == two && __hadd_sat(one, two) == one);
}

// These NVIDIA has for the device alone.
__global__ void onTheDevice(int* wrong) {
  *wrong = __half2short_rn(__float2half(60000)) != 32767 || __half2uchar_rz(__float2half(-3)) != 0;
  *wrong += __bfloat162ll_rd(__float2bfloat16(-2.5f)) != -3 || __bfloat162int_rz(__float2bfloat16(NAN)) != 0;
  // 2^24 + 2^16 + 1 lies just past the middle between two bfloat16.
  *wrong += __bfloat162float(__int2bfloat16_rn((1 << 24) + (1 << 16) + 1)) != float((1 << 24) + (1 << 17));
  *wrong += __bfloat162float(__ll2bfloat16_rz((1ll << 62) + 1)) != float(1ll << 62);
  *wrong += __bfloat162float(__ll2bfloat16_ru((1ll << 62) + 1)) <= float(1ll << 62);
  const __half two = __float2half(2);
  *wrong += __half2float(__hfma_relu(two, __hneg(two), two)) != 0 || __half2float(__hmul_sat(two, two)) != 1;
  const __half2 product = __hcmadd(__floats2half2_rn(1, 2), __floats2half2_rn(3, 4), __floats2half2_rn(10, 20));
  *wrong += __low2float(product) != 5 || __high2float(product) != 30;
}

int main() {
  everyCode(kE2M3, 64);
  everyCode(kE3M2, 64);
  everyCode(kE2M1, 16);
  everyCode(kE8M0, 255);
  rounding();
  classes();
  sixteenBits(__float2half(NAN), __float2half(1), __float2half(2));
  sixteenBits(__float2bfloat16(NAN), __float2bfloat16(1), __float2bfloat16(2));
  int* wrong = nullptr;
  EXPECT_OK(cudaMallocManaged(&wrong, sizeof(int)));
  *wrong = -1;
  onTheDevice<<<1, 1>>>(wrong);
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT(*wrong == 0);
  return finish();
}
