// A function of the program's own for kernels only, declared where __CUDA_ARCH__ is: nvcc does not miss it on the host.
#ifdef __CUDA_ARCH__
__device__ long long atomicAdd(long long* address, long long value) {
  return static_cast<long long>(
      atomicAdd(reinterpret_cast<unsigned long long*>(address), static_cast<unsigned long long>(value)));
}
#endif

template <class Count>
__global__ void count(Count* counts, const unsigned char* values) {
  atomicAdd(counts + values[threadIdx.x], static_cast<Count>(1));
}

// CHECK: .visible .entry _Z5countIxEvPT_PKh
// CHECK: {{atom|red}}
void start(long long* counts, const unsigned char* values) { count<<<1, 32>>>(counts, values); }
