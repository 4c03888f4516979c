// Half and bfloat16 on the device and on the host: conversions, pairs, comparisons, math, shuffles, memory, atomics.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <nvtx3/nvToolsExt.h>

#include "expect.hpp"

__global__ void sums(__nv_bfloat16* total, __nv_bfloat162* pairs, __half* halves) {
  const __nv_bfloat16 lane = __uint2bfloat16_rn(threadIdx.x);
  atomicAdd(total, __shfl_xor_sync(0xffffffffu, lane, 1) - lane + __nv_bfloat16(1.0f));
  atomicAdd(pairs, __floats2bfloat162_rn(1.0f, 2.0f));
  if (threadIdx.x == 0) {
    __stcs(pairs + 1, __hmax2(__ldg(pairs + 2), __floats2bfloat162_rn(3.0f, -3.0f)));
    __stcg(halves, __ldcs(halves + 1));
  }
}

__host__ __device__ int wrong() {
  const __nv_bfloat16 one(1.0f), two(2.0f), inf = __ushort_as_bfloat16(0x7f80), nan = __ushort_as_bfloat16(0x7fff);
  int bad = 0;
  // 2^24 + 2^16 + 1 lies just above the middle of two bfloat16; as a float it is the middle.
  bad |= (__bfloat162float(__int2bfloat16_rn((1 << 24) + (1 << 16) + 1)) != 16908288.0f) << 0;
  bad |= (static_cast<long>(__nv_bfloat16(-3.75)) != -3) << 1;
  bad |= (__hisinf(inf) != 1 || __hisinf(-inf) != -1 || __hisinf(nan) != 0 || !__hisnan(nan)) << 2;
  bad |= (!__hneu(nan, nan) || __hne(one, one) || !__hbeq2(__bfloat162bfloat162(two), __nv_bfloat162(two, two))) << 3;
  bad |= (__bfloat16_as_ushort(__hmin_nan(one, nan)) != 0x7fff || !(__hmax(one, nan) == one)) << 4;
  bad |= (!(__float2bfloat16_ru(1.001f) > one) || !(__float2bfloat16_rd(1.001f) == one)) << 6;
  return bad;
}

// Math is the device's alone.
__global__ void check(int* bad) {
  const bool right =
      hrsqrt(__nv_bfloat16(4.0f)) == __nv_bfloat16(0.5f) && hexp2(__nv_bfloat16(2.0f)) == __nv_bfloat16(4.0f);
  *bad = wrong() | (right ? 0 : 1) << 5;
}

/// Halves on the host: every one goes to float and back, what lies between two of them rounds to even.
static void hostHalves() {
  int wrong = 0;
  for (unsigned bits = 0; bits < 0x7c00; ++bits) {
    const __half here = __ushort_as_half(static_cast<unsigned short>(bits));
    const __half next = __ushort_as_half(static_cast<unsigned short>(bits + 1));
    const float low = __half2float(here), high = bits + 1 < 0x7c00 ? __half2float(next) : 65536.0f;
    const float middle = (low + high) / 2;
    wrong += __half_as_ushort(__float2half(-low)) != (bits | 0x8000);
    wrong += __half_as_ushort(__float2half(middle)) != bits + (bits & 1);
    wrong += __half_as_ushort(__float2half(middle + (high - low) / 8)) != bits + 1;
    wrong += __half_as_ushort(here + here) != __half_as_ushort(__float2half(low + low));
  }
  EXPECT(wrong == 0);
  EXPECT(__half2float(__ushort_as_half(1)) == 1.0f / 16777216);
  EXPECT(__half_as_ushort(__float2half(1.0f / 0.0f)) == 0x7c00);
  EXPECT(__hisnan(__float2half(__half2float(__ushort_as_half(0x7e00)))));
}

int main() {
  hostHalves();
  nvtxRangePushA("bfloat");
  int* bad = nullptr;
  __nv_bfloat16* total = nullptr;
  __nv_bfloat162* pairs = nullptr;
  __half* halves = nullptr;
  EXPECT_OK(cudaMallocManaged(&bad, sizeof *bad));
  EXPECT_OK(cudaMallocManaged(&total, 4));
  EXPECT_OK(cudaMallocManaged(&pairs, 12));
  EXPECT_OK(cudaMallocManaged(&halves, 4));
  *total = __nv_bfloat16(0.0f);
  pairs[0] = pairs[2] = __floats2bfloat162_rn(0.0f, 1.0f);
  halves[1] = __float2half(7.0f);
  check<<<1, 1>>>(bad);
  sums<<<1, 32>>>(total, pairs, halves);
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT(*bad == 0);
  EXPECT(wrong() == 0);
  EXPECT(__bfloat162float(*total) == 32.0f);
  EXPECT(__low2float(pairs[0]) == 32.0f);
  EXPECT(__high2float(pairs[0]) == 65.0f);
  EXPECT(__low2float(pairs[1]) == 3.0f);
  EXPECT(__high2float(pairs[1]) == 1.0f);
  EXPECT(__half2float(halves[0]) == 7.0f);
  nvtxRangePop();
  return finish();
}
