// Floating point of eight bits: every code there and back, what is rounded, saturated or not a number, on the host and
// in kernels, and the same answers as the conversion instructions.
#include <cuda_fp8.h>

#include <cmath>

#include "expect.hpp"

constexpr int kCodes = 256, kSteps = 4096;

/// A number for each step: fine ones around zero, coarse ones past both formats' largest.
__host__ __device__ float numberAt(int step) {
  const float x = static_cast<float>(step - kSteps / 2);
  return step % 2 == 0 ? x * 0.00048828125f : x * 40.0f;
}

__global__ void convert(unsigned char* e4m3, unsigned char* e5m2, unsigned short* pairs) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const float x = numberAt(i);
  e4m3[i] = __nv_fp8_e4m3(x).__x;
  e5m2[i] = __nv_fp8_e5m2(x).__x;
#if __CUDA_ARCH__ >= 890
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %1;" : "=h"(pairs[2 * i]) : "f"(x));
  asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %1;" : "=h"(pairs[2 * i + 1]) : "f"(x));
#endif
}

void there_and_back() {
  for (int code = 0; code < kCodes; ++code) {
    __nv_fp8_e4m3 a;
    __nv_fp8_e5m2 b;
    a.__x = b.__x = static_cast<unsigned char>(code);
    const float x = static_cast<float>(a), y = static_cast<float>(b);
    EXPECT(std::isnan(x) ? (code & 0x7f) == 0x7f : __nv_fp8_e4m3(x).__x == code);
    const bool infinite = (code & 0x7f) == 0x7c;
    EXPECT(infinite == std::isinf(y));
    EXPECT(std::isnan(y) ? (code & 0x7f) > 0x7c : infinite || __nv_fp8_e5m2(y).__x == code);
    EXPECT(static_cast<float>(__half(a)) == x || std::isnan(x));
  }
}

void edges() {
  EXPECT(static_cast<float>(__nv_fp8_e4m3(1000.0f)) == 448.0f);
  EXPECT(static_cast<float>(__nv_fp8_e5m2(-1e9)) == -57344.0f);
  EXPECT(__nv_cvt_float_to_fp8(1000.0f, __NV_NOSAT, __NV_E4M3) == 0x7f);
  EXPECT(__nv_cvt_float_to_fp8(-INFINITY, __NV_NOSAT, __NV_E5M2) == 0xfc);
  EXPECT(__nv_cvt_float_to_fp8(NAN, __NV_SATFINITE, __NV_E4M3) == 0x7f);
  EXPECT(__nv_fp8_e4m3(17.0f).__x == __nv_fp8_e4m3(16.0f).__x);  // a tie goes to even,
  EXPECT(__nv_fp8_e4m3(19.0f).__x == __nv_fp8_e4m3(20.0f).__x);  // down or up,
  EXPECT(__nv_fp8_e4m3(0.0009765625f).__x == 0);                 // also half of the least number,
  EXPECT(__nv_fp8_e4m3(0.0009765626f).__x == 1);                 // but not more
  EXPECT(static_cast<int>(__nv_fp8_e4m3(-3.5f)) == -3 && static_cast<bool>(__nv_fp8_e5m2(0.5f)));
  const float4 four = static_cast<float4>(__nv_fp8x4_e4m3(make_float4(1.0f, -2.0f, 0.5f, 500.0f)));
  EXPECT(four.x == 1.0f && four.y == -2.0f && four.z == 0.5f && four.w == 448.0f);
  const float2 two = static_cast<float2>(__nv_fp8x2_e5m2(__floats2half2_rn(3.0f, -0.25f)));
  EXPECT(two.x == 3.0f && two.y == -0.25f);
}

void kernels_agree() {
  unsigned char *e4m3, *e5m2;
  unsigned short* pairs;
  EXPECT_OK(cudaMallocManaged(&e4m3, kSteps));
  EXPECT_OK(cudaMallocManaged(&e5m2, kSteps));
  EXPECT_OK(cudaMallocManaged(&pairs, 2 * kSteps * sizeof(short)));
  convert<<<kSteps / 128, 128>>>(e4m3, e5m2, pairs);
  EXPECT_OK(cudaDeviceSynchronize());
  int wrong = 0;
  for (int i = 0; i < kSteps; ++i) {
    wrong += e4m3[i] != __nv_fp8_e4m3(numberAt(i)).__x || e5m2[i] != __nv_fp8_e5m2(numberAt(i)).__x;
    wrong += pairs[2 * i] != e4m3[i] * 0x101 || pairs[2 * i + 1] != e5m2[i] * 0x101;
  }
  EXPECT(wrong == 0);
}

int main() {
  there_and_back();
  edges();
  kernels_agree();
  return finish();
}
