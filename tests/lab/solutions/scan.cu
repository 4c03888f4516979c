// Three kernels: sums of blocks, sums of these, and each block again with what is before it.
constexpr unsigned kBlock = 256, kEach = 8, kPart = kBlock * kEach;

__device__ int scanOfBlock(int value) {
  __shared__ int sums[kBlock];
  sums[threadIdx.x] = value;
  __syncthreads();
  for (unsigned distance = 1; distance < kBlock; distance *= 2) {
    const int before = threadIdx.x >= distance ? sums[threadIdx.x - distance] : 0;
    __syncthreads();
    sums[threadIdx.x] += before;
    __syncthreads();
  }
  const int all = sums[threadIdx.x];
  __syncthreads();
  return all;
}

__global__ void sumsOfParts(const int* in, int* parts, unsigned n) {
  int mine = 0;
  for (unsigned k = 0; k < kEach; ++k) {
    const unsigned i = blockIdx.x * kPart + k * kBlock + threadIdx.x;
    if (i < n) mine += in[i];
  }
  mine = scanOfBlock(mine);
  if (threadIdx.x == kBlock - 1) parts[blockIdx.x] = mine;
}

__global__ void scanParts(int* parts, unsigned count) {
  int before = 0;
  for (unsigned first = 0; first < count; first += kBlock) {
    const unsigned i = first + threadIdx.x;
    const int all = scanOfBlock(i < count ? parts[i] : 0) + before;
    __shared__ int last;
    if (threadIdx.x == kBlock - 1) last = all;
    if (i < count) parts[i] = all;
    __syncthreads();
    before = last;
    __syncthreads();
  }
}

__global__ void scanWithin(const int* in, const int* parts, int* out, unsigned n) {
  int before = blockIdx.x == 0 ? 0 : parts[blockIdx.x - 1];
  __shared__ int last;
  for (unsigned k = 0; k < kEach; ++k) {
    const unsigned i = blockIdx.x * kPart + k * kBlock + threadIdx.x;
    const int all = scanOfBlock(i < n ? in[i] : 0) + before;
    if (i < n) out[i] = all;
    if (threadIdx.x == kBlock - 1) last = all;
    __syncthreads();
    before = last;
    __syncthreads();
  }
}

void scan(const int* in, int* out, unsigned n) {
  if (n == 0) return;
  const unsigned count = (n + kPart - 1) / kPart;
  int* parts;
  cudaMalloc(&parts, count * sizeof(int));
  sumsOfParts<<<count, kBlock>>>(in, parts, n);
  scanParts<<<1, kBlock>>>(parts, count);
  scanWithin<<<count, kBlock>>>(in, parts, out, n);
  cudaFree(parts);
}
