// A block counts in shared memory, and adds what it has to the bins at its end.
__global__ void countBytes(const unsigned char* bytes, unsigned n, unsigned* bins) {
  __shared__ unsigned own[256];
  own[threadIdx.x] = 0;
  __syncthreads();
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(&own[bytes[i]], 1u);
  }
  __syncthreads();
  if (own[threadIdx.x] > 0) atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

void histogram(const unsigned char* bytes, unsigned n, unsigned* bins) {
  cudaMemset(bins, 0, 256 * sizeof(unsigned));
  countBytes<<<8, 256>>>(bytes, n, bins);
}
