// Operands of asm without a comma between them, which nvcc takes.
// CHECK: .visible .entry _Z6kernelPjj
// CHECK: st.global.u32 [%rd{{[0-9]+}}], %r{{[0-9]+}};
// CHECK: add.u32 %r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}};
// clang-format off
__global__ void kernel(unsigned* cell, unsigned value) {
  asm volatile("st.global.u32 [%1], %0;" ::"r"(value) "l"(cell) : "memory");
  unsigned sum;
  asm("add.u32 %0, %1, %2;" : "=r"(sum) : "r"((value + 1) * 2)
      "r"(value));
  cell[1] = sum;
}
