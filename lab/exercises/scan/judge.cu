// See ../judge.hpp.
#include EXERCISE

#include "../judge.hpp"

int main(int argc, char** argv) {
  return exercise::judgeSizes(argc, argv, exercise::awkwardSizes(), [](std::size_t n) {
    const std::vector<int> in = exercise::numbers<int>(n, 4, 100);
    std::vector<int> expected(n);
    int sum = 0;
    for (std::size_t i = 0; i < n; ++i) expected[i] = sum += in[i];
    const exercise::Array<int> device(in), out(n);
    scan(device.get(), out.get(), static_cast<unsigned>(n));
    return exercise::difference(out, expected);
  });
}
