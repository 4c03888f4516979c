// OPTIONS: --extended-lambda
// What programs use without including it, since NVIDIA's headers bring it: <functional>, and <vector> with that.
#include <cuda_runtime.h>

static std::vector<int> values(3);
static std::function<int(int)> next = [](int i) { return i + 1; };

// CHECK: .entry {{.*}}fill
__global__ void fill(int* out) { out[threadIdx.x] = 1; }

int launch(int* out) {
  fill<<<1, 32>>>(out);
  return next(static_cast<int>(values.size()));
}
