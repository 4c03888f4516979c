__device__ int increment(int x);
__global__ void kernel(int* p) { *p = increment(*p); }

int launchIncrement(int value) {
  int* p = nullptr;
  cudaMallocManaged(&p, sizeof *p);
  *p = value;
  kernel<<<1, 1>>>(p);
  const int result = cudaDeviceSynchronize() == cudaSuccess ? *p : -1;
  cudaFree(p);
  return result;
}
