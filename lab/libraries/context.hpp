// What the variants of this program share: the problems, seeded, with small whole numbers where sums should be exact in
// any order; what the libraries' answers are held against; and how a library says that a call failed.
#pragma once

#include <cublas_v2.h>
#include <cufft.h>
#include <cusparse.h>

#include <cmath>
#include <complex>
#include <random>

#include "../common/output.hpp"

namespace lab {

constexpr unsigned kBlock = 256;
constexpr std::size_t kLargestSquare = 512;    // rows of the dense problems, however large the size
constexpr std::size_t kLongestSlowSum = 2048;  // numbers of a transform that is also done by its definition
constexpr std::size_t kManyColumns = 5;        // of the dense matrix that a sparse one is multiplied with

inline void checkLibrary(int status, const char* call, const char* file, int line) {
  if (status == 0) return;  // the SUCCESS of every one of these libraries
  std::fprintf(stderr, "%s:%d: %s: status %d\n", file, line, call, status);
  std::exit(1);
}
#define LIBRARY_CHECK(call) ::lab::checkLibrary(static_cast<int>(call), #call, __FILE__, __LINE__)

struct Context {
  explicit Context(const Options& given) : options(given), n(given.size), rows(std::min(n, kLargestSquare)) {}

  /// Whole numbers from -4 to 4; others for each seed.
  std::vector<float> numbers(std::size_t count, unsigned seed) const {
    std::mt19937 random(seed);
    std::vector<float> all(count);
    for (float& number : all) number = static_cast<float>(random() % 9) - 4;
    return all;
  }

  const Options& options;
  std::size_t n;     // elements of a vector
  std::size_t rows;  // of a square matrix
};

inline void judge(Measurement& row, bool isRight) { row.verified = isRight ? Verified::yes : Verified::no; }

/// Are all numbers within `tolerance` of what was expected? A number that is none is not.
template <class T>
bool areClose(const std::vector<T>& found, const std::vector<T>& expected, double tolerance) {
  if (found.size() != expected.size()) return false;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (!(std::abs(found[i] - expected[i]) <= tolerance)) return false;
  }
  return true;
}

/// The same variant of the host: a loop over host memory.
template <class Run>
void runOnHost(Context& c, Measurement& row, Run run) {
  timeCpuRounds(c.options.rounds, row, [] {}, run);
  row.verified = Verified::yes;  // it is the reference
}

/// The place of row r, column c in a matrix of M rows that is stored by columns.
inline std::size_t columnMajor(std::size_t r, std::size_t c, std::size_t M) { return c * M + r; }

inline std::vector<float> byColumns(const std::vector<float>& byRows, std::size_t rows, std::size_t columns) {
  std::vector<float> result(rows * columns);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) result[columnMajor(r, c, rows)] = byRows[r * columns + c];
  }
  return result;
}

inline std::vector<float> byRows(const std::vector<float>& byColumns, std::size_t rows, std::size_t columns) {
  std::vector<float> result(rows * columns);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) result[r * columns + c] = byColumns[columnMajor(r, c, rows)];
  }
  return result;
}

}  // namespace lab
