// grid.sync() in a launch by <<<>>>, whose blocks need not be there at once: a fault that says so, as a GPU ends it,
// too.
#include <cooperative_groups.h>

#include "expect.hpp"

__global__ void kernel(int* valid) {
  *valid = cooperative_groups::this_grid().is_valid();
  cooperative_groups::this_grid().sync();
  *valid = 2;
}

int main() {
  int* valid = nullptr;
  EXPECT_OK(cudaMallocManaged(&valid, sizeof(int)));
  *valid = 1;
  kernel<<<64, 32>>>(valid);
  EXPECT(cudaDeviceSynchronize() != cudaSuccess);
  return finish();
}
