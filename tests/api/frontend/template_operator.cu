// OPTIONS: -std=c++17
// `template` is missing in front of operators of types that are not known yet, and a function of a template's is
// constexpr in vain.
#include <vector>

enum class Which { First, Second };

template <class T>
struct Compare {
  template <Which which, class U>
  __host__ __device__ constexpr int operator()(U a, U b) const {
    return which == Which::First ? a == b : 7;
  }
};

template <class T>
struct Table {
  Compare<T> compare;

  template <class U>
  __host__ __device__ int plain(U key) {
    return this->compare.operator()<Which::First>(key, 1);
  }
  template <class U>
  __host__ __device__ int within(U key) {
    const auto found = [&]() {
      switch (this->compare.operator()<Which::Second>(key, 1)) {
        case 7: return 2;
        default: return 3;
      }
    };
    return found();
  }
  __host__ constexpr int estimate() const {
    if constexpr (sizeof(T) > 1) {
      std::vector<int> parts(4);
      return parts[1];
    }
    return 0;
  }
};

// CHECK: .visible .entry _Z6kernelPii
__global__ void kernel(int* out, int key) {
  Table<int> table;
  out[0] = table.plain(key) + table.within(key);
}

int onHost() { return Table<int>().estimate(); }
