// The other half of linked_main.cu.
#include <cuda_runtime.h>

__device__ int scale = 1;
__managed__ int calls = 10;
__constant__ int offsets[2] = {5, 7};

__device__ int transform(int value) { return value * value + 1; }

__global__ void launchedFromMain(int* values, double factor) {
  values[threadIdx.x] = static_cast<int>(threadIdx.x * factor);
}

int setScale(int value) { return cudaMemcpyToSymbol(scale, &value, sizeof value); }
int callsSeenThere() { return calls; }
