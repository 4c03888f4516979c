// Exercise: how often each of the 256 bytes occurs.
//
// `bins` has 256 counters, which may hold anything. n may be 0. Few atomic operations should go to global memory: a
// block can count in shared memory first.
//
//   ordito lab check histogram FILE.cu
__global__ void countBytes(const unsigned char* bytes, unsigned n, unsigned* bins) {
  // Yours. This one is right, but every byte is an atomic operation in global memory.
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[bytes[i]], 1u);
}

void histogram(const unsigned char* bytes, unsigned n, unsigned* bins) {
  cudaMemset(bins, 0, 256 * sizeof(unsigned));
  if (n > 0) countBytes<<<(n + 255) / 256, 256>>>(bytes, n, bins);
}
