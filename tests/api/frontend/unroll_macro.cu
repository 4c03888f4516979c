// A macro that becomes a #pragma, in each form that nvcc obeys.
#define UNROLL _Pragma("unroll")
#define UNROLL_BY(n) PRAGMA(unroll n)
#define PRAGMA(text) _Pragma(#text)
#define PRAGMA_UNROLL #pragma unroll

// CHECK-LABEL: .visible .entry _Z6kernelPi
// CHECK-NOT: bra
// CHECK: ret;
__global__ void kernel(int* p) {
  UNROLL
  for (int i = 0; i < 40; ++i) p[i] += i;
  UNROLL_BY(40)
  for (int i = 0; i < 40; ++i) p[i] *= i;
  PRAGMA_UNROLL
  for (int i = 0; i < 40; ++i) p[i] ^= i;
}
