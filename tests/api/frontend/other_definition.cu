// A function template that is defined outside of its namespace with other parameters than declared there: nvcc and g++
// take it for another function, clang for an error.
namespace outer {
namespace inner {
template <typename T, int kCount, bool kIsUp = true>
__device__ void fill(volatile T values[4], T value);
}  // namespace inner
}  // namespace outer

template <typename T, int kCount, bool kIsUp>
__device__ void outer::inner::fill(volatile T values[4], dim3 size, T value) {
  for (int i = 0; i < kCount; ++i) values[i] = value + T(size.x);
}

// CHECK: .entry {{.*}}use
namespace outer {
template <typename T>
__global__ void use(T* out) {
  outer::inner::fill<T, 3, true>(out, dim3(5), T(2));
}
}  // namespace outer

void launch(float* out) { outer::use<<<1, 1>>>(out); }
