// A constexpr function that can never be a constant: nvcc compiles it for its calls at run time.
struct Half {
  unsigned short bits;
};

struct Limits {
  static __host__ __device__ constexpr Half infinity() {
    unsigned short bits = 0x7c00;
    return *reinterpret_cast<Half*>(&bits);
  }
};

// CHECK: .visible .entry _Z6kernelP4Half
__global__ void kernel(Half* out) { *out = Limits::infinity(); }
