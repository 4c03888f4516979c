// The words of OpenCL C that Oclgrind's tests use, as CUDA. oclgrind.py writes what the kernels' launches need.
#pragma once
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <climits>
#include <cmath>
#include <cstdio>
#include <initializer_list>

// OpenCL's vectors are clang's; CUDA's structures keep their names in what has been read already.
typedef float vector_of_4_floats __attribute__((ext_vector_type(4)));
#define float4 vector_of_4_floats
typedef unsigned char uchar;
typedef unsigned long ulong;
typedef int event_t;

#define CLK_LOCAL_MEM_FENCE 1
#define CLK_GLOBAL_MEM_FENCE 2

#define DIMENSION(vector) (dimension == 0 ? vector.x : dimension == 1 ? vector.y : vector.z)
__device__ __forceinline__ size_t get_local_id(unsigned dimension) { return DIMENSION(threadIdx); }
__device__ __forceinline__ size_t get_group_id(unsigned dimension) { return DIMENSION(blockIdx); }
__device__ __forceinline__ size_t get_local_size(unsigned dimension) { return DIMENSION(blockDim); }
__device__ __forceinline__ size_t get_num_groups(unsigned dimension) { return DIMENSION(gridDim); }
__device__ __forceinline__ size_t get_global_size(unsigned d) { return get_local_size(d) * get_num_groups(d); }
__device__ __forceinline__ size_t get_global_id(unsigned d) {
  return get_group_id(d) * get_local_size(d) + get_local_id(d);
}

__device__ __forceinline__ void barrier(int) { __syncthreads(); }

__device__ __forceinline__ int atomic_add(int* p, int value) { return atomicAdd(p, value); }
__device__ __forceinline__ int atomic_inc(int* p) { return atomicAdd(p, 1); }
__device__ __forceinline__ int atomic_dec(int* p) { return atomicSub(p, 1); }
__device__ __forceinline__ int atomic_min(int* p, int value) { return atomicMin(p, value); }
__device__ __forceinline__ int atomic_max(int* p, int value) { return atomicMax(p, value); }
__device__ __forceinline__ int atomic_cmpxchg(int* p, int old, int value) { return atomicCAS(p, old, value); }
__device__ __forceinline__ ulong atom_add(ulong* p, ulong value) {
  return atomicAdd(reinterpret_cast<unsigned long long*>(p), value);
}

__device__ __forceinline__ float4 fract(float4 x, float4* floors) {
  for (int i = 0; i < 4; i++) (*floors)[i] = floorf(x[i]);
  for (int i = 0; i < 4; i++) x[i] = fminf(x[i] - (*floors)[i], 0x1.fffffep-1f);
  return x;
}

// A block copies together: asynchronously into its shared memory, and by plain stores out of it. No thread copies the
// element of its own number, since nothing says which one it copies.
template <class T>
__device__ __forceinline__ event_t async_work_group_copy(T* to, const T* from, size_t count, event_t) {
  for (size_t i = (threadIdx.x + 1) % blockDim.x; i < count; i += blockDim.x) {
    if (__isShared(to))
      __pipeline_memcpy_async(to + i, from + i, sizeof(T));
    else
      to[i] = from[i];
  }
  __pipeline_commit();
  return 1;
}
__device__ __forceinline__ void wait_group_events(int, event_t*) {
  __pipeline_wait_prior(0);
  __syncthreads();
}

template <class T>
void* buffer(size_t bytes, std::initializer_list<T> values) {
  void* p = nullptr;
  cudaMalloc(&p, bytes);
  if (values.size() > 0) cudaMemcpy(p, values.begin(), bytes, cudaMemcpyHostToDevice);
  return p;
}
