// See ../judge.hpp.
#include EXERCISE

#include "../judge.hpp"

int main(int argc, char** argv) {
  return exercise::judgeSizes(argc, argv, exercise::awkwardSizes(), [](std::size_t n) {
    const auto bytes = exercise::numbers<unsigned char>(n, 3, 97);
    std::vector<unsigned> expected(256, 0);
    for (const unsigned char byte : bytes) ++expected[byte];
    const exercise::Array<unsigned char> device(bytes);
    const exercise::Array<unsigned> bins(256);
    histogram(device.get(), static_cast<unsigned>(n), bins.get());
    return exercise::difference(bins, expected);
  });
}
