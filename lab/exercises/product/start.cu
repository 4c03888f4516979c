// Exercise: C = A B for square matrices of n rows, which lie by rows.
//
// n may be 0, and need not be a multiple of anything. A tile of A and one of B in shared memory save most of the reads
// from global memory.
//
//   ordito lab check product FILE.cu
__global__ void product(const float* a, const float* b, float* c, unsigned n) {
  // Yours. This one is right, but reads 2 n numbers from global memory for each element.
  const unsigned j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= n || j >= n) return;
  float sum = 0;
  for (unsigned k = 0; k < n; ++k) sum += a[i * n + k] * b[k * n + j];
  c[i * n + j] = sum;
}

void multiply(const float* a, const float* b, float* c, unsigned n) {
  if (n == 0) return;
  product<<<dim3((n + 15) / 16, (n + 15) / 16), dim3(16, 16)>>>(a, b, c, n);
}
