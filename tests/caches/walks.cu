// Walks through memory whose hits in every cache can be counted by hand (caches_test.py). One block; loads by inline
// PTX, so that no compiler keeps, merges or moves one.
#include <cstdio>

constexpr int kWords = 1024;  // 4 KiB: 128 sectors
__constant__ float table[64];

__device__ float load(const float* from) {
  float value;
  asm volatile("ld.global.f32 %0, [%1];" : "=f"(value) : "l"(from));
  return value;
}

__device__ float loadReadOnly(const float* from) {
  float value;
  asm volatile("ld.global.nc.f32 %0, [%1];" : "=f"(value) : "l"(from));
  return value;
}

/// Every word, `passes` times.
__global__ void walk(const float* in, float* out, int words, int passes) {
  float sum = 0;
  for (int pass = 0; pass < passes; ++pass)
    for (int i = threadIdx.x; i < words; i += blockDim.x) sum += load(in + i);
  if (sum < 0) *out = sum;
}

__global__ void walkReadOnly(const float* in, float* out, int words, int passes) {
  float sum = 0;
  for (int pass = 0; pass < passes; ++pass)
    for (int i = threadIdx.x; i < words; i += blockDim.x) sum += loadReadOnly(in + i);
  if (sum < 0) *out = sum;
}

/// Each lane walks through the eight words of a sector of its own.
__global__ void walkSectors(const float* in, float* out) {
  float sum = 0;
  for (int k = 0; k < 8; ++k) sum += load(in + threadIdx.x * 8 + k);
  if (sum < 0) *out = sum;
}

__global__ void update(float* data) {
  data[threadIdx.x] = load(data + threadIdx.x) + 1;
  if (load(data + threadIdx.x) < 0) data[threadIdx.x] = 0;
}

__global__ void fill(float* out, int words) {
  for (int i = threadIdx.x; i < words; i += blockDim.x) out[i] = 1;
}

__global__ void constantSame(float* out, int words) {
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < words; ++k) sum += table[k];
  if (sum < 0) *out = sum;
}

__global__ void constantLanes(float* out) {
  if (table[threadIdx.x] < 0) *out = 1;
}

__global__ void add(float* sum) { atomicAdd(sum, 1.0f); }

int main() {
  const int large = 1 << 17;   // 512 KiB
  const int wide = 384 << 10;  // 1.5 MiB
  float *in, *out;
  cudaMalloc(&in, wide * sizeof(float));
  cudaMalloc(&out, wide * sizeof(float));
  cudaMemset(in, 0, wide * sizeof(float));
  cudaMemset(out, 0, wide * sizeof(float));
  walk<<<1, 32>>>(in, out, kWords, 2);
  walk<<<1, 32>>>(in, out, kWords, 2);
  walkReadOnly<<<1, 32>>>(in, out, kWords, 2);
  walkSectors<<<1, 32>>>(in + kWords, out);
  walk<<<1, 256>>>(in, out, large, 2);
  update<<<1, 32>>>(out);
  constantSame<<<1, 32>>>(out, 10);
  constantLanes<<<1, 32>>>(out);
  add<<<1, 32>>>(out);
  fill<<<1, 1024>>>(out, wide);
  // Without a copy: the host's memory, through its device address.
  float *host, *mapped;
  cudaHostAlloc(reinterpret_cast<void**>(&host), 1024, cudaHostAllocMapped);
  cudaHostGetDevicePointer(reinterpret_cast<void**>(&mapped), host, 0);
  for (int i = 0; i < 32; ++i) host[i] = i;
  walk<<<1, 32>>>(mapped, out, 32, 3);
  update<<<1, 32>>>(mapped);
  cudaDeviceSynchronize();
  for (int i = 0; i < 32; ++i)
    if (host[i] != i + 1) std::printf("wrong\n");
  cudaFreeHost(host);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
