// The address of a __device__ function in host code: no host can call it, but programs compare it and hand it on.
typedef int (*Function)(int);
__device__ int twice(int x) { return 2 * x; }
namespace inner {
template <class T>
__device__ T thrice(T x) {
  return 3 * x;
}
}  // namespace inner

// CHECK: twice
__device__ Function onDevice = twice;
template <Function function>
__global__ void kernel(int* p) {
  *p = function(*p);
}

bool compare(Function other) {
  Function plain = twice;
  void* address = (void*)&twice;
  const Function all[] = {twice, &inner::thrice<int>};
  kernel<twice><<<1, 1>>>(nullptr);
  return plain == other && address && all[0] == plain && all[1] != plain;
}
