// Separate compilation: a kernel here uses a function, a variable, a constant and a managed variable of the other file,
// and launches a kernel of it.
#include "expect.hpp"

extern __device__ int scale;
extern __managed__ int calls;
extern __constant__ int offsets[2];
__device__ int transform(int value);

__global__ void apply(int* values) {
  values[threadIdx.x] = transform(values[threadIdx.x]) * scale + offsets[threadIdx.x % 2];
  if (threadIdx.x == 0) ++calls;
}

__global__ void launchedFromMain(int* values, double factor);
__global__ void launchOther(int* values) { launchedFromMain<<<1, 4>>>(values, 2.5); }

int setScale(int value);
int callsSeenThere();

int main() {
  EXPECT(calls == 10);
  calls = 20;
  int host[4] = {1, 2, 3, 4}, *device = nullptr;
  EXPECT_OK(cudaMalloc(&device, sizeof host));
  EXPECT_OK(cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice));
  EXPECT(setScale(3) == 0);
  apply<<<1, 4>>>(device);
  EXPECT_OK(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
  EXPECT(host[0] == 2 * 3 + 5 && host[1] == 5 * 3 + 7 && host[2] == 10 * 3 + 5 && host[3] == 17 * 3 + 7);
  EXPECT(calls == 21 && callsSeenThere() == 21);
  launchOther<<<1, 1>>>(device);
  EXPECT_OK(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
  EXPECT(host[0] == 0 && host[1] == 2 && host[2] == 5 && host[3] == 7);
  EXPECT_OK(cudaFree(device));
  return finish();
}
