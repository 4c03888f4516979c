// See ../judge.hpp. The size is the number of rows and columns; rows have 0 to 63 elements.
#include EXERCISE

#include "../judge.hpp"

int main(int argc, char** argv) {
  return exercise::judgeSizes(argc, argv, {0, 1, 31, 32, 33, 257, 1009, 4096}, [](std::size_t rows) {
    const std::vector<unsigned> lengths = exercise::numbers<unsigned>(rows, 9, 64);
    std::vector<unsigned> first(rows + 1, 0);
    for (std::size_t r = 0; r < rows; ++r) {
      first[r + 1] = first[r] + std::min(lengths[r], static_cast<unsigned>(rows));
    }
    const std::vector<float> value = exercise::numbers<float>(first[rows], 10, 9);
    const std::vector<float> x = exercise::numbers<float>(rows, 11, 9);
    std::vector<unsigned> column(first[rows]);
    std::vector<float> expected(rows, 0);
    for (std::size_t r = 0; r < rows; ++r) {
      for (unsigned k = first[r]; k < first[r + 1]; ++k) {
        column[k] = static_cast<unsigned>((r + k - first[r]) % rows);  // a band
        expected[r] += value[k] * x[column[k]];
      }
    }
    const exercise::Array<unsigned> deviceFirst(first), deviceColumn(column);
    const exercise::Array<float> deviceValue(value), deviceX(x), y(rows);
    multiply(deviceFirst.get(), deviceColumn.get(), deviceValue.get(), deviceX.get(), y.get(),
             static_cast<unsigned>(rows));
    return exercise::difference(y, expected);
  });
}
