// Deduction guides written without __device__, used on both sides.
template <class A, class B>
struct Pair {
  A first;
  B second;
  __host__ __device__ Pair(A a, B b) : first(a), second(b) {}
};
template <class A, class B>
Pair(A, B) -> Pair<A, B>;

template <class T>
struct Row {
  T values[2];
  template <class... U>
  __host__ __device__ explicit Row(U... all) : values{all...} {}
};
template <class T, class... U>
Row(T, U...) -> Row<T>;

__host__ __device__ int sum(int x) {
  const Pair pair{x, 2.0f};
  const Row row{1, 2};
  return pair.first + row.values[1];
}

// CHECK: .visible .entry _Z6kernelPi
__global__ void kernel(int* p) {
  const Pair pair{p, 2};
  *p = sum(pair.second);
}
