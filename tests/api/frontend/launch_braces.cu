// A grid, a block, shared memory and a stream as braced lists, in host code, in kernels and in macros.
__global__ void kernel(int* p) { *p = 1; }
template <class T>
__global__ void generic(T* p) {
  *p = T(2);
}

#define LAUNCH(...) kernel<<<__VA_ARGS__>>>(p)

// CHECK-LABEL: .visible .entry _Z6parentPi
// CHECK: __cudaCDP2LaunchDeviceV2
__global__ void parent(int* p) { kernel<<<{1, 2}, {3u, 4u, 1}>>>(p); }

void launch(int* p, unsigned x, int y) {
  kernel<<<1, {x, 2, 1}>>>(p);
  kernel<<<{x, x}, {4, 3}>>>(p);
  kernel<<<{1}, dim3{4, 3}, 0, {}>>>(p);
  kernel<<<  // a comment
      {1, 2}, {3}, {16}>>>(p);
  generic<float><<<{2, 2}, {4u, 3u}>>>(nullptr);
  LAUNCH({x, x}, {1, static_cast<unsigned>(y)});
}
