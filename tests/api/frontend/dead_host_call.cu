// A function of the host's, called where code never comes: nvcc makes no code of it, and clang refused it.
int hosts(int* p);
template <class T>
T hostsOf(T value) {
  return static_cast<T>(hosts(&value));
}

template <class T>
__host__ __device__ T chosen(T value) {
#ifdef __CUDA_ARCH__
#define HAS_RUNTIME 0
#else
#define HAS_RUNTIME 1
#endif
  if (HAS_RUNTIME) return hostsOf(value);
  if (HAS_RUNTIME) {
    T other = hostsOf(value);
    return hostsOf(other);
  } else {
    value += 1;
  }
  return value;
}

// CHECK: .visible .entry _Z6kernelPi
// CHECK: add.s32
__global__ void kernel(int* p) { *p = chosen(*p); }

template <class T>
__host__ __device__ T calls(T value) {
  return hostsOf(value);
}
__host__ __device__ int callsNone(int value) {
  if (HAS_RUNTIME) return calls(value);
  if (false) {
    {
      value = calls(value);
    }
  }
  return value;
}

// CHECK: .visible .entry _Z5otherPi
__global__ void other(int* p) { *p = callsNone(*p); }
