// A program that ends without waiting still prints what its kernels print.
#include <cstdio>

__global__ void greet() { printf("thread %d of block %d\n", threadIdx.x, blockIdx.x); }

int main() {
  greet<<<2, 2>>>();
  return 0;
}
