// Records what a GPU's special function unit gives for every argument, as one checksum for each exponent and sign:
//
//   nvcc -O3 -std=c++17 -arch=native approximate_functions.cu -o record && ./record > approximate_functions.recorded
//
// approximate_functions.cpp replays the file without a GPU. Lines: kind, name, step, checksums. Kind `unit` is the form
// with .ftz, which is the unit alone; `scaled` the form without, where the compiler has subnormal numbers scaled;
// `upper` the f64 forms, on upper words; `half` those of 16 bits. `step` is how far apart the arguments lie.
#include <cstdint>
#include <cstdio>
#include <vector>

#include "approximate_checksum.hpp"

#define F32(name, instruction)                                         \
  struct name {                                                        \
    static __device__ uint32_t result(uint32_t x) {                    \
      float r;                                                         \
      asm(instruction " %0, %1;" : "=f"(r) : "f"(__uint_as_float(x))); \
      return __float_as_uint(r);                                       \
    }                                                                  \
  };
#define UPPER(name, instruction)                                           \
  struct name {                                                            \
    static __device__ uint32_t result(uint32_t x) {                        \
      double r;                                                            \
      asm(instruction " %0, %1;" : "=d"(r) : "d"(__hiloint2double(x, 0))); \
      return __double2hiint(r);                                            \
    }                                                                      \
  };
#define HALF(name, instruction)                                 \
  struct name {                                                 \
    static __device__ uint32_t result(uint32_t x) {             \
      uint16_t r;                                               \
      asm(instruction " %0, %1;" : "=h"(r) : "h"((uint16_t)x)); \
      return r;                                                 \
    }                                                           \
  };

F32(RcpUnit, "rcp.approx.ftz.f32")
F32(RsqrtUnit, "rsqrt.approx.ftz.f32")
F32(SqrtUnit, "sqrt.approx.ftz.f32")
F32(Ex2Unit, "ex2.approx.ftz.f32")
F32(Lg2Unit, "lg2.approx.ftz.f32")
F32(SinUnit, "sin.approx.ftz.f32")
F32(CosUnit, "cos.approx.ftz.f32")
F32(TanhUnit, "tanh.approx.f32")
F32(RcpScaled, "rcp.approx.f32")
F32(RsqrtScaled, "rsqrt.approx.f32")
F32(SqrtScaled, "sqrt.approx.f32")
F32(Ex2Scaled, "ex2.approx.f32")
F32(Lg2Scaled, "lg2.approx.f32")
F32(SinScaled, "sin.approx.f32")
F32(CosScaled, "cos.approx.f32")
UPPER(RcpUpper, "rcp.approx.ftz.f64")
UPPER(RsqrtUpper, "rsqrt.approx.ftz.f64")
HALF(Ex2Half, "ex2.approx.f16")
HALF(Ex2Bfloat, "ex2.approx.ftz.bf16")
HALF(TanhHalf, "tanh.approx.f16")
HALF(TanhBfloat, "tanh.approx.bf16")

/// Block b adds up `perBlock` arguments from b·perBlock·step on.
template <class Function>
__global__ void checksum(uint32_t perBlock, uint32_t step, unsigned long long* sums, uint32_t blocksPerSum) {
  uint64_t sum = 0;
  for (uint32_t k = threadIdx.x; k < perBlock; k += blockDim.x) {
    const uint32_t x = (blockIdx.x * perBlock + k) * step;
    sum += contribution(x, Function::result(x));
  }
  atomicAdd(&sums[blockIdx.x / blocksPerSum], (unsigned long long)sum);
}

template <class Function>
void record(const char* kind, const char* name, uint32_t step, uint64_t arguments = uint64_t{1} << 32,
            uint32_t sums = 512) {
  unsigned long long* d;
  cudaMalloc(&d, sums * 8);
  cudaMemset(d, 0, sums * 8);
  const uint32_t perSum = arguments / sums / step, perBlock = perSum < 16384 ? perSum : 16384;
  checksum<Function><<<perSum / perBlock * sums, 256>>>(perBlock, step, d, perSum / perBlock);
  std::vector<unsigned long long> h(sums);
  cudaMemcpy(h.data(), d, sums * 8, cudaMemcpyDeviceToHost);
  cudaFree(d);
  printf("%s %s %u", kind, name, step);
  for (unsigned long long s : h) printf(" %llx", s);
  printf("\n");
}

int main() {
  cudaDeviceProp p;
  cudaGetDeviceProperties(&p, 0);
  printf("# %s, by tests/gpu/approximate_functions.cu\n", p.name);
  record<RcpUnit>("unit", "rcp", 1);
  record<RsqrtUnit>("unit", "rsqrt", 1);
  record<SqrtUnit>("unit", "sqrt", 1);
  record<Ex2Unit>("unit", "ex2", 1);
  record<Lg2Unit>("unit", "lg2", 1);
  record<SinUnit>("unit", "sin", 1);
  record<CosUnit>("unit", "cos", 1);
  record<TanhUnit>("unit", "tanh", 1);
  record<RcpScaled>("scaled", "rcp", 64);
  record<RsqrtScaled>("scaled", "rsqrt", 64);
  record<SqrtScaled>("scaled", "sqrt", 64);
  record<Ex2Scaled>("scaled", "ex2", 64);
  record<Lg2Scaled>("scaled", "lg2", 64);
  record<SinScaled>("scaled", "sin", 64);
  record<CosScaled>("scaled", "cos", 64);
  record<RcpUpper>("upper", "rcp", 64);
  record<RsqrtUpper>("upper", "rsqrt", 64);
  record<Ex2Half>("half", "ex2.f16", 1, 65536, 1);
  record<Ex2Bfloat>("half", "ex2.bf16", 1, 65536, 1);
  record<TanhHalf>("half", "tanh.f16", 1, 65536, 1);
  record<TanhBfloat>("half", "tanh.bf16", 1, 65536, 1);
  return cudaGetLastError() != cudaSuccess;
}
