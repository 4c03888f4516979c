// Sums, differences, products, quotients and fused steps of bfloat16 on the device, alone and in pairs, against double:
// every number with each of 18 others. Compiled for GPUs with instructions for them and without.
#include <cuda_bf16.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "expect.hpp"

enum Operation { kAdd, kSub, kMul, kDiv, kFma, kOperations };

__global__ void compute(const __nv_bfloat16* others, __nv_bfloat16* out, int* bad) {
  const unsigned bits = blockIdx.x * blockDim.x + threadIdx.x;
  const __nv_bfloat16 a = __ushort_as_bfloat16(static_cast<unsigned short>(bits)), b = others[blockIdx.y];
  const __nv_bfloat16 c = others[(blockIdx.y + bits) % gridDim.y];
  const __nv_bfloat162 x(a, c), y(b, a);
  __nv_bfloat16* mine = out + (blockIdx.y * 65536 + bits) * kOperations;
  mine[kAdd] = a + b, mine[kSub] = a - b, mine[kMul] = a * b, mine[kDiv] = a / b, mine[kFma] = __hfma(a, b, c);
  const auto differ = [](__nv_bfloat16 p, __nv_bfloat16 q) {
    return __bfloat16_as_ushort(p) != __bfloat16_as_ushort(q);
  };
  const __nv_bfloat162 pairs[] = {x + y, x - y, x * y, __hfma2(x, y, x)};
  int wrong = differ(pairs[0].x, mine[kAdd]) + differ(pairs[1].x, mine[kSub]) + differ(pairs[2].x, mine[kMul]) +
              differ(pairs[3].x, __hfma(a, b, a)) + differ(pairs[0].y, c + a) + differ(pairs[1].y, c - a) +
              differ(pairs[2].y, c * a) + differ(pairs[3].y, __hfma(c, a, c));
  wrong += differ(__hadd_rn(a, b), mine[kAdd]) + differ(__hsub_rn(a, b), mine[kSub]) +
           differ(__hmul_rn(a, b), mine[kMul]) + differ(__hmul2_rn(x, y).x, mine[kMul]);
  if (wrong) atomicAdd(bad, wrong);
}

static double valueOf(unsigned short bits) {
  const uint32_t wide = static_cast<uint32_t>(bits) << 16;
  float value;
  std::memcpy(&value, &wide, 4);
  return value;
}

/// To nearest, ties to even.
static unsigned short rounded(double value) {
  if (std::isnan(value)) return 0x7fff;
  int exponent;
  std::frexp(value, &exponent);
  const double unit = std::ldexp(1.0, std::max(exponent - 8, -133));
  const auto whole = static_cast<float>(std::nearbyint(value / unit) * unit);
  uint32_t bits;
  std::memcpy(&bits, &whole, 4);
  return static_cast<unsigned short>(std::isinf(value) ? (value < 0 ? 0xff80 : 0x7f80) : bits >> 16);
}

static bool isNear(unsigned short got, unsigned short right) {
  return got == right || (((got ^ right) & 0x8000) == 0 && std::abs(int{got} - int{right}) == 1);
}

int main() {
  std::vector<unsigned short> others = {0x0000, 0x8000, 0x0001, 0x8001, 0x007f, 0x0080, 0x3f80, 0xbf80, 0x3f81,
                                        0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7fff, 0x7e80, 0x7e81, 0x4049, 0x1980};
  for (unsigned k = 0; others.size() < 18; ++k) others.push_back(static_cast<unsigned short>(k * 40503u >> 3));
  const size_t results = others.size() * 65536 * kOperations;
  __nv_bfloat16* device = nullptr;
  unsigned short* out = nullptr;
  int* bad = nullptr;
  EXPECT_OK(cudaMalloc(&device, others.size() * 2));
  EXPECT_OK(cudaMemcpy(device, others.data(), others.size() * 2, cudaMemcpyHostToDevice));
  EXPECT_OK(cudaMallocManaged(&out, results * 2));
  EXPECT_OK(cudaMallocManaged(&bad, sizeof(int)));
  compute<<<dim3(256, static_cast<unsigned>(others.size())), 256>>>(device, reinterpret_cast<__nv_bfloat16*>(out), bad);
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT(*bad == 0);
  long wrong[kOperations] = {};
  for (size_t y = 0; y < others.size(); ++y)
    for (unsigned bits = 0; bits < 65536; ++bits) {
      const double a = valueOf(static_cast<unsigned short>(bits)), b = valueOf(others[y]);
      const double c = valueOf(others[(y + bits) % others.size()]);
      const unsigned short* got = out + (y * 65536 + bits) * kOperations;
      wrong[kAdd] += got[kAdd] != rounded(a + b);
      wrong[kSub] += got[kSub] != rounded(a - b);
      const bool isSubnormal = std::fabs(a * b) < 0x1p-126;  // is rounded twice where there is no instruction
      wrong[kMul] += isSubnormal ? !isNear(got[kMul], rounded(a * b)) : got[kMul] != rounded(a * b);
      wrong[kDiv] += !isNear(got[kDiv], rounded(a / b));
      const double sum = a * b + c;  // the product is exact, and rounding twice errs only where the sum is not
      const bool isExact = sum - a * b == c && sum - c == a * b;
      wrong[kFma] += isExact ? got[kFma] != rounded(sum) : !isNear(got[kFma], rounded(sum));
    }
  std::printf("wrong: sums %ld, differences %ld, products %ld, quotients %ld, fused %ld\n", wrong[kAdd], wrong[kSub],
              wrong[kMul], wrong[kDiv], wrong[kFma]);
  for (const long count : wrong) EXPECT(count == 0);
  return finish();
}
