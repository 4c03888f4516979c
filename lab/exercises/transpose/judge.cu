// See ../judge.hpp. The size is the number of rows; there are a few columns more, or fewer.
#include EXERCISE

#include "../judge.hpp"

int main(int argc, char** argv) {
  return exercise::judgeSizes(argc, argv, {0, 1, 31, 32, 33, 257, 512}, [](std::size_t rows) {
    const std::size_t columns = rows % 2 == 0 ? rows : rows + 7;
    const std::vector<float> in = exercise::numbers<float>(rows * columns, 2, 10007);
    std::vector<float> expected(in.size());
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t c = 0; c < columns; ++c) expected[c * rows + r] = in[r * columns + c];
    }
    const exercise::Array<float> device(in), out(in.size());
    transpose(device.get(), out.get(), static_cast<unsigned>(rows), static_cast<unsigned>(columns));
    return exercise::difference(out, expected);
  });
}
