// Kernels launched through pointers that are variables and parameters of functions for both sides: by the host, and by
// a kernel.
#include "expect.hpp"

template <class T>
__global__ void fill(T* cells, T value) {
  cells[threadIdx.x] = value;
}

template <class T>
__host__ __device__ void throughVariable(T* cells, T value) {
  auto kernel = fill<T>;
  kernel<<<1, 4>>>(cells, value);
}

__host__ __device__ void throughParameter(void (*kernel)(int*, int), int* cells) { kernel<<<1, 4>>>(cells, 5); }

__global__ void parent(int* cells) {
  if (cells[0] == 3)
    throughVariable(cells, 7);
  else
    throughParameter(&fill<int>, cells);
}

int main() {
  int* cells = nullptr;
  EXPECT_OK(cudaMallocManaged(&cells, 4 * sizeof(int)));
  auto show = [&](int value) {
    EXPECT_OK(cudaDeviceSynchronize());
    for (int i = 0; i < 4; ++i) EXPECT(cells[i] == value);
  };
  throughVariable(cells, 3);
  show(3);
  parent<<<1, 1>>>(cells);
  show(7);
  parent<<<1, 1>>>(cells);
  show(5);
  throughVariable(cells, 4);
  show(4);
  throughParameter(fill<int>, cells);
  show(5);
  return finish();
}
