// Shared variables whose type has a constructor that does something. CUDA never runs it: nvcc warns and goes on.
namespace scoped {
template <int Scope>
struct Barrier {
  int count;
  __device__ Barrier() : count(3) {}
  __device__ void init(int n) { count = n; }
};
}  // namespace scoped
typedef scoped::Barrier<2> Barrier;
struct Pair {
  Barrier barriers[2];
  float factor = 1.5f;
};

// CHECK: .shared .align 4 .b8 {{.*}}items[8]
// CHECK: .shared .align 64 {{.*}}pair
__global__ void kernel(int* p) {
  __shared__ scoped::Barrier<2> one, more[3][2];
  __shared__ __align__(64) Pair pair[1];
  if (threadIdx.x == 0) one.init(1), more[2][1].init(2), pair[0].barriers[1].init(3);
  __syncthreads();
  p[threadIdx.x] = one.count + more[2][1].count + pair[0].barriers[1].count;
}

// CHECK-LABEL: .visible .entry _Z7genericIN6scoped7BarrierILi2EEEEvPi
template <class T>
__global__ void generic(int* p) {
  static __shared__ T items[2];
  items[threadIdx.x].init(4);
  p[threadIdx.x] = items[0].count;
}
template __global__ void generic<Barrier>(int*);
