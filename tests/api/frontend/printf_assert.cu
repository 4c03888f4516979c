// printf, assert, malloc and new in a kernel are calls that the runtime answers; inline PTX goes through as it is.
#include <cassert>
#include <cstdio>

// CHECK-DAG: .extern .func {{.*}}vprintf
// CHECK-DAG: .extern .func __assertfail
// CHECK-DAG: .extern .func {{.*}}malloc
// CHECK-DAG: .extern .func free

// CHECK-LABEL: .entry _Z5noisyPii
__global__ void noisy(int* p, int n) {
  printf("thread %d of %d\n", threadIdx.x, n);
  assert(p[threadIdx.x] > 0);
  int* own = static_cast<int*>(malloc(n * sizeof(int)));
  own[threadIdx.x] = n;
  p[0] = own[n - 1];
  free(own);
  int lane;
  // CHECK: begin inline asm
  // CHECK-NEXT: mov.u32 {{.*}}, %laneid;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  p[1] = lane;
}

int main() { noisy<<<1, 1>>>(nullptr, 1); }
