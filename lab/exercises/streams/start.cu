// Exercise: c = a + b in chunks, so that copies and kernels can overlap.
//
// All three arrays are in the host's pinned memory; n may be 0. When `add` returns, c is complete. Use at least two
// streams and four chunks, and no call that makes all streams wait for one another.
//
//   ordito lab check streams FILE.cu
__global__ void addNumbers(const float* a, const float* b, float* c, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

void add(const float* a, const float* b, float* c, unsigned n) {
  // Yours. This one is right, but does one thing after the other.
  if (n == 0) return;
  const size_t bytes = n * sizeof(float);
  float *deviceA, *deviceB, *deviceC;
  cudaMalloc(&deviceA, bytes);
  cudaMalloc(&deviceB, bytes);
  cudaMalloc(&deviceC, bytes);
  cudaMemcpy(deviceA, a, bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(deviceB, b, bytes, cudaMemcpyHostToDevice);
  addNumbers<<<(n + 255) / 256, 256>>>(deviceA, deviceB, deviceC, n);
  cudaMemcpy(c, deviceC, bytes, cudaMemcpyDeviceToHost);
  cudaFree(deviceA);
  cudaFree(deviceB);
  cudaFree(deviceC);
}
