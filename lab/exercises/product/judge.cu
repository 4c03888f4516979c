// See ../judge.hpp. The size is the number of rows.
#include EXERCISE

#include "../judge.hpp"

int main(int argc, char** argv) {
  return exercise::judgeSizes(argc, argv, {0, 1, 31, 32, 33, 97, 128}, [](std::size_t n) {
    const std::vector<float> a = exercise::numbers<float>(n * n, 5, 9), b = exercise::numbers<float>(n * n, 6, 9);
    std::vector<float> expected(n * n, 0);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t k = 0; k < n; ++k) {
        for (std::size_t j = 0; j < n; ++j) expected[i * n + j] += a[i * n + k] * b[k * n + j];
      }
    }
    const exercise::Array<float> deviceA(a), deviceB(b), result(n * n);
    multiply(deviceA.get(), deviceB.get(), result.get(), static_cast<unsigned>(n));
    return exercise::difference(result, expected);
  });
}
