// See ../judge.hpp.
#include EXERCISE

#include "../judge.hpp"

/// Pinned memory that holds `values`.
struct Pinned {
  explicit Pinned(const std::vector<float>& values) {
    const std::size_t bytes = std::max<std::size_t>(values.size(), 1) * sizeof(float);
    LAB_CHECK(cudaMallocHost(reinterpret_cast<void**>(&data), bytes));
    std::copy(values.begin(), values.end(), data);
  }
  ~Pinned() { cudaFreeHost(data); }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;
  float* data = nullptr;
};

int main(int argc, char** argv) {
  return exercise::judgeSizes(argc, argv, exercise::awkwardSizes(), [](std::size_t n) {
    const std::vector<float> a = exercise::numbers<float>(n, 12, 1000), b = exercise::numbers<float>(n, 13, 1000);
    std::vector<float> expected(n);
    for (std::size_t i = 0; i < n; ++i) expected[i] = a[i] + b[i];
    const Pinned hostA(a), hostB(b), result(std::vector<float>(n, -1));
    add(hostA.data, hostB.data, result.data, static_cast<unsigned>(n));
    const std::vector<float> found(result.data, result.data + n);  // at once: `add` has to wait itself
    LAB_CHECK(cudaDeviceSynchronize());
    return exercise::difference(found, expected);
  });
}
