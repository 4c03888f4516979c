// Exercise: out[i] = sum of in[i + d] mask[d + 4] for d from -4 to 4; beyond both ends of the array lies nothing but
// zeros.
//
// `in` and `out` are in the device's memory, the nine numbers of `mask` in the host's. n may be 0. A block can bring
// its part of `in`, and four numbers on each side, into shared memory once; the mask fits into constant memory.
//
//   ordito lab check convolution FILE.cu
__constant__ float deviceMask[9];

__global__ void convolution(const float* in, float* out, unsigned n) {
  // Yours. This one is right, but reads every number nine times from global memory.
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x), length = static_cast<int>(n);
  if (i >= length) return;
  float sum = 0;
  for (int d = -4; d <= 4; ++d) {
    if (i + d >= 0 && i + d < length) sum += in[i + d] * deviceMask[d + 4];
  }
  out[i] = sum;
}

void convolve(const float* in, const float* mask, float* out, unsigned n) {
  cudaMemcpyToSymbol(deviceMask, mask, sizeof deviceMask);
  if (n > 0) convolution<<<(n + 255) / 256, 256>>>(in, out, n);
}
