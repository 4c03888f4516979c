// The language: qualifiers, built-in variables, shared memory of both kinds, launch bounds, templates, lambdas.
#include <cuda_runtime.h>
#if !__CUDACC__
#error "__CUDACC__ is a number"
#endif

// CHECK-DAG: .const .align 4 .b8 coefficients[16];
__constant__ float coefficients[4];
// CHECK-DAG: .global .align 4 .u32 counter
__device__ int counter;
// CHECK-DAG: .global .align 4 .u32 shared_with_host = 5;
__managed__ int shared_with_host = 5;

template <class T, int N>
struct Tile {
  T value[N];
  __host__ __device__ T sum() const {
    T total = T();
    for (int i = 0; i < N; ++i) total += value[i];
    return total;
  }
};

__device__ __noinline__ float helper(float x) { return x * coefficients[1]; }
__device__ __forceinline__ float inlined(float x) { return x + 1.0f; }

// CHECK-LABEL: .entry _Z6kernelPfi
// CHECK: .maxntid 256, 1, 1
// CHECK: .minnctapersm 2
// CHECK: .shared .align 4 .b8
// CHECK-DAG: mov.u32 {{.*}}, %ctaid.x;
// CHECK-DAG: mov.u32 {{.*}}, %tid.x;
// CHECK-DAG: mov.u32 {{.*}}, %ntid.x;
// CHECK: bar.sync
__global__ void __launch_bounds__(256, 2) kernel(float* __restrict__ data, int n) {
  __shared__ float fixed[256];
  extern __shared__ float dynamic[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  fixed[threadIdx.x] = data[i];
  dynamic[threadIdx.x] = data[i + 1];
  __syncthreads();
  if (i < n) data[i] = helper(fixed[threadIdx.x ^ 1]) + inlined(dynamic[threadIdx.x ^ 2]);
  if (i == 0) counter = shared_with_host + warpSize + gridDim.x;
}

// CHECK-LABEL: .entry _Z5typedI6float44TileIfLi3EEEvPT_T0_
template <class T, class U>
__global__ void typed(T* p, U u) {
  p[threadIdx.x] = T{u.sum(), u.value[0], u.value[1], u.value[2]};
}

template <class F>
__global__ void apply(float* p, F f) {
  p[threadIdx.x] = f(p[threadIdx.x]);
}

int main() {
  float* data = nullptr;
  if (cudaMalloc(&data, 1024) != cudaSuccess) return 1;
  const float h[4] = {1, 2, 3, 4};
  cudaMemcpyToSymbol(coefficients, h, sizeof h);
  kernel<<<dim3(4), 256, 1024>>>(data, 100);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  typed<<<1, 32, 0, stream>>>(reinterpret_cast<float4*>(data), Tile<float, 3>{{1, 2, 3}});
  const float scale = 2.0f;
  apply<<<1, 32>>>(data, [scale] __device__(float x) { return x * scale; });
  apply<<<1, 32>>>(data, [=] __host__ __device__(float x) { return x + scale; });
  shared_with_host += 1;
  int grid = 0, block = 0;
  cudaOccupancyMaxPotentialBlockSize(&grid, &block, kernel);
  cudaFuncAttributes attributes;
  cudaFuncGetAttributes(&attributes, kernel);
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 4096);
  return cudaDeviceSynchronize() == cudaSuccess && cudaFree(data) == cudaSuccess ? 0 : 1;
}
