// Functions of the program's own for kernels only, declared where __CUDA_ARCH__ is: nvcc does not miss them on the
// host.
#ifdef __CUDA_ARCH__
__device__ long long atomicAdd(long long* address, long long value) {
  return static_cast<long long>(
      atomicAdd(reinterpret_cast<unsigned long long*>(address), static_cast<unsigned long long>(value)));
}
__device__ unsigned long atomicOr(unsigned long* address, unsigned long value) {
  return atomicOr(reinterpret_cast<unsigned long long*>(address), static_cast<unsigned long long>(value));
}
__device__ float atomicMax(float* address, float value) {
  return __int_as_float(atomicMax(reinterpret_cast<int*>(address), __float_as_int(value)));
}
#endif

template <class Count>
__global__ void count(Count* counts, const unsigned char* values) {
  atomicAdd(counts + values[threadIdx.x], static_cast<Count>(1));
}

// CHECK: .visible .entry _Z5countIxEvPT_PKh
// CHECK: {{atom|red}}
void start(long long* counts, const unsigned char* values) { count<<<1, 32>>>(counts, values); }

template <class Word, class Real>
__global__ void bits(Word* all, Real* largest) {
  const auto before = atomicOr(all, Word{1} << threadIdx.x);
  atomicMax(largest, static_cast<Real>(before & 1));
}

// CHECK: .visible .entry _Z4bitsImfEvPT_PT0_
// CHECK: atom.global.or.b64
void start(unsigned long* all, float* largest) { bits<<<1, 32>>>(all, largest); }
