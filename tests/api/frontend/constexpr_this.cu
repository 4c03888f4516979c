// OPTIONS: -std=c++17
// A static member named by `this` in a constant expression, as g++, nvcc and C++23 have it.
struct Pair {
  int first, second;
};

template <class T>
struct Sized {
  static constexpr int words = sizeof(T) / sizeof(int);
};

template <class T>
struct Slot : Sized<T> {
  T value;
  static constexpr bool isPair() { return sizeof(T) > sizeof(int); }

  __host__ __device__ constexpr int key() const {
    if constexpr (this->isPair()) {
      static_assert(this->words == 2, "two words");
      return value.first;
    } else {
      return value;
    }
  }
};

// CHECK: .visible .entry _Z6kernelPi
// CHECK: mov.b32 {{.*}}, 4;
__global__ void kernel(int* out) { out[0] = Slot<int>{{}, 1}.key() + Slot<Pair>{{}, {3, 4}}.key(); }

int onHost() { return Slot<int>{{}, 1}.key() + Slot<Pair>{{}, {3, 4}}.key(); }
