// The largest error of expf, in units in the last place, against the exponential function of a double.
//
//   ordito run build/release/tests/api/runtime/exp_error          every 65,537th float
//   ordito run build/release/tests/api/runtime/exp_error --all    all 2^32: 0.9014 at 15.5958834
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "expect.hpp"

namespace {

constexpr double kAllowed = 0.902;

struct Worst {
  double error;
  float at;
};

/// How far `got` is from `exact`, in the distance of two floats there; infinity counts as 2^128.
__device__ double errorIn(float got, double exact) {
  if (exact > 0x1.ffffffp127) return isinf(got) ? 0 : INFINITY;
  int exponent = 0;
  frexp(exact, &exponent);
  const double unit = ldexp(1.0, max(exponent - 24, -149));
  return fabs((isinf(got) ? 0x1p128 : static_cast<double>(got)) - exact) / unit;
}

/// One thread looks at `count` floats, `step` apart in their bits, and keeps the worst.
__global__ void search(uint64_t step, uint64_t count, Worst* worst) {
  const uint64_t thread = blockIdx.x * uint64_t{blockDim.x} + threadIdx.x;
  Worst mine = {0, 0};
  for (uint64_t k = 0; k < count; ++k) {
    const uint64_t bits = (k * gridDim.x * blockDim.x + thread) * step;
    const float x = __uint_as_float(static_cast<uint32_t>(bits));
    if (bits >> 32 || isnan(x)) continue;
    const double error = errorIn(expf(x), exp(static_cast<double>(x)));
    if (!(error <= mine.error)) mine = {error, x};
  }
  worst[thread] = mine;
}

__global__ void special(float* out) {
  const float in[] = {INFINITY, -INFINITY, NAN, 0, -0.0f, 89, -150};
  out[threadIdx.x] = expf(in[threadIdx.x]);
}

}  // namespace

int main(int argc, char** argv) {
  const bool isAll = argc > 1 && std::strcmp(argv[1], "--all") == 0;
  const uint64_t step = isAll ? 1 : 65537;
  constexpr unsigned kBlocks = 32, kThreads = 256;
  const uint64_t floats = ((uint64_t{1} << 32) + step - 1) / step, threads = kBlocks * kThreads;
  Worst* all = nullptr;
  float* few = nullptr;
  EXPECT_OK(cudaMallocManaged(&all, threads * sizeof(Worst)));
  EXPECT_OK(cudaMallocManaged(&few, 7 * sizeof(float)));
  search<<<kBlocks, kThreads>>>(step, (floats + threads - 1) / threads, all);
  special<<<1, 7>>>(few);
  EXPECT_OK(cudaDeviceSynchronize());
  Worst worst = {0, 0};
  for (uint64_t k = 0; k < threads; ++k)
    if (!(all[k].error <= worst.error)) worst = all[k];
  std::printf("%llu floats: the largest error is %.4f, at %.9g (%a)\n", static_cast<unsigned long long>(floats),
              worst.error, worst.at, worst.at);
  EXPECT(worst.error <= kAllowed);
  EXPECT(isinf(few[0]) && few[1] == 0 && isnan(few[2]) && few[3] == 1 && few[4] == 1);
  EXPECT(isinf(few[5]) && few[6] == 0);
  return finish();
}
