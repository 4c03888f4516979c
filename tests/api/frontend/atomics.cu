// Atomics: each operation in the address space that the compiler sees, each scope.
#include <cuda_runtime.h>
// CHECK-LABEL: .entry _Z7atomicsPiPjPyPfPdPxPt
// CHECK-DAG: atom.global.add.u32
// CHECK-DAG: atom.global.add.u64
// CHECK-DAG: atom.global.add.f32
// CHECK-DAG: atom.global.add.f64
// CHECK-DAG: atom.shared.add.u32
// CHECK-DAG: atom.global.min.s32
// CHECK-DAG: atom.global.max.u64
// CHECK-DAG: atom.global.max.s64
// CHECK-DAG: atom{{.*}}.inc.u32
// CHECK-DAG: atom{{.*}}.dec.u32
// CHECK-DAG: atom.global.exch.b32
// CHECK-DAG: atom.global.cas.b64
// CHECK-DAG: atom{{.*}}.cas.b16
// CHECK-DAG: atom.global.and.b32
// CHECK-DAG: atom.cta{{.*}}.or.b32
// CHECK-DAG: atom.sys{{.*}}.xor.b32
// CHECK-DAG: membar.gl
// CHECK-DAG: membar.cta
// CHECK-DAG: membar.sys
__global__ void atomics(int* i, unsigned* u, unsigned long long* l, float* f, double* d, long long* s,
                        unsigned short* h) {
  __shared__ int local;
  atomicAdd(&local, 1);
  atomicAdd(i, 1);
  atomicSub(u, 2u);
  atomicAdd(l, 3ull);
  atomicAdd(f, 1.0f);
  atomicAdd(d, 1.0);
  atomicMin(i + 1, 4);
  atomicMax(l + 1, 5ull);
  atomicMax(s, 6ll);
  atomicInc(u + 1, 7u);
  atomicDec(u + 2, 8u);
  f[1] = atomicExch(f + 2, 9.0f);
  atomicCAS(l + 2, 10ull, 11ull);
  h[0] = atomicCAS(h + 1, (unsigned short)1, (unsigned short)2);
  atomicAnd(i + 2, 12);
  atomicOr_block(i + 3, 13);
  atomicXor_system(i + 4, 14);
  __threadfence();
  __threadfence_block();
  __threadfence_system();
  i[5] = local;
}
