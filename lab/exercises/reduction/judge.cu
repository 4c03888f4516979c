// See ../judge.hpp.
#include EXERCISE

#include <numeric>

#include "../judge.hpp"

int main(int argc, char** argv) {
  return exercise::judgeSizes(argc, argv, exercise::awkwardSizes(), [](std::size_t n) {
    const std::vector<int> numbers = exercise::numbers<int>(n, 1, 1000);
    const exercise::Array<int> device(numbers), result(1);
    sum(device.get(), static_cast<unsigned>(n), result.get());
    return exercise::difference(result, std::vector<int>{std::accumulate(numbers.begin(), numbers.end(), 0)});
  });
}
