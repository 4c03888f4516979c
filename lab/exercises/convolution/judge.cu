// See ../judge.hpp.
#include EXERCISE

#include "../judge.hpp"

int main(int argc, char** argv) {
  return exercise::judgeSizes(argc, argv, exercise::awkwardSizes(), [](std::size_t n) {
    constexpr int kRadius = 4;
    const std::vector<float> in = exercise::numbers<float>(n, 7, 100);
    const std::vector<float> mask = exercise::numbers<float>(2 * kRadius + 1, 8, 5);
    std::vector<float> expected(n, 0);
    for (std::size_t i = 0; i < n; ++i) {
      for (int d = -kRadius; d <= kRadius; ++d) {
        const long long at = static_cast<long long>(i) + d;
        if (at >= 0 && at < static_cast<long long>(n)) {
          expected[i] += in[static_cast<std::size_t>(at)] * mask[static_cast<std::size_t>(d + kRadius)];
        }
      }
    }
    const exercise::Array<float> device(in), out(n);
    convolve(device.get(), mask.data(), out.get(), static_cast<unsigned>(n));
    return exercise::difference(out, expected);
  });
}
