// A special register with one % in inline PTX that has operands.
#include <cuda_runtime.h>

// CHECK-LABEL: .entry _Z5clockPy
// CHECK: mov.u64 {{.*}}, %globaltimer;
__global__ void clock(unsigned long long* now) {
  unsigned long long t;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));
  *now = t;
}

int main() { return 0; }
