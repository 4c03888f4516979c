// The headers of small floats where their operators and conversions are switched off, as PyTorch's extensions are
// compiled (torch.utils.cpp_extension): the headers themselves must not need them.
#define __CUDA_NO_HALF_OPERATORS__
#define __CUDA_NO_HALF_CONVERSIONS__
#define __CUDA_NO_HALF2_OPERATORS__
#define __CUDA_NO_BFLOAT16_CONVERSIONS__
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include "expect.hpp"

namespace {

__global__ void compute(float* out) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(1.5f, -2.0f), other = __floats2bfloat162_rn(1.5f, 3.0f);
  const __nv_bfloat162 equal = __heq2(pair, other);
  out[0] = __low2float(equal);
  out[1] = __high2float(equal);
  out[2] = __bfloat162float(__hadd_sat(pair.x, other.x));
  out[3] = __bfloat162float(__hfma_relu(pair.y, other.y, pair.x));
  out[4] = __half2float(__hmul_sat(__float2half(0.25f), __float2half(2.0f)));
  out[5] = __low2float(__hlt2(__float2half2_rn(1.0f), __float2half2_rn(2.0f)));
  out[6] = __bfloat162float(static_cast<__nv_bfloat16>(__nv_fp8_e4m3(1.75f)));
}

}  // namespace

int main() {
  constexpr float kExpected[] = {1, 0, 1, 0, 0.5f, 1, 1.75f};
  float* out = nullptr;
  EXPECT_OK(cudaMallocManaged(&out, sizeof kExpected));
  compute<<<1, 1>>>(out);
  EXPECT_OK(cudaDeviceSynchronize());
  for (size_t i = 0; i < sizeof kExpected / sizeof *kExpected; ++i) EXPECT(out[i] == kExpected[i]);
  EXPECT_OK(cudaFree(out));
  return finish();
}
