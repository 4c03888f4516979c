// A sparse matrix times a vector. Rows are stored one after another (CSR): the columns and values of row i are those
// from first[i] to first[i + 1] - 1. A thread for each row reads its row alone, so that the lanes of a warp are far
// apart and wait for the longest row; a warp for each row reads neighbours together and adds up by shuffles. Rows of
// one length that are stored by columns (ELL) let a thread for each row read neighbours, too, for the price of filling
// up. Parts of equal work, whatever the rows are, come from merging the rows' ends with the elements (merge_path.cuh).
//
//   sparse [--size N] [--variant NAME] [--rounds R] [--json]        N: rows and columns
#include <random>

#include "../common/output.hpp"
#include "merge_path.cuh"

namespace {

constexpr std::size_t kLargestSize = std::size_t{1} << 24;
constexpr std::size_t kLongestDense = 2048;  // rows up to which the whole matrix is also multiplied
constexpr unsigned kBlock = 128;

__global__ void sparseByThread(const unsigned* first, const unsigned* column, const float* value, const float* x,
                               float* y, unsigned rows) {
  const unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (unsigned k = first[row]; k < first[row + 1]; ++k) sum += value[k] * x[column[k]];
  y[row] = sum;
}

__global__ void sparseByWarp(const unsigned* first, const unsigned* column, const float* value, const float* x,
                             float* y, unsigned rows) {
  const unsigned row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const unsigned lane = threadIdx.x % 32;
  if (row >= rows) return;  // whole warps
  float sum = 0;
  for (unsigned k = first[row] + lane; k < first[row + 1]; k += 32) sum += value[k] * x[column[k]];
  for (unsigned distance = 16; distance > 0; distance /= 2) sum += __shfl_down_sync(0xffffffffu, sum, distance);
  if (lane == 0) y[row] = sum;
}

__global__ void sparseByColumns(const unsigned* column, const float* value, unsigned length, const float* x, float* y,
                                unsigned rows) {
  const unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (unsigned k = 0; k < length; ++k) {
    const std::size_t at = std::size_t{k} * rows + row;
    sum += value[at] * x[column[at]];
  }
  y[row] = sum;
}

struct Context {
  explicit Context(const lab::Options& given) : options(given), n(given.size), first{0}, x(n), found(n), expected(n) {
    // Small whole numbers, whose sums are exact in any order; rows of 0 to 15 elements and now and then a long one.
    std::mt19937 random(20);
    for (std::size_t row = 0; row < n; ++row) {
      const std::size_t length = std::min<std::size_t>(n, row % 97 == 96 ? 200 : random() % 16);
      for (std::size_t k = 0; k < length; ++k) {
        column.push_back(static_cast<unsigned>((k * n + random() % n) / length));  // ascending, in a part for each
        value.push_back(static_cast<float>(random() % 9) - 4);
      }
      first.push_back(static_cast<unsigned>(column.size()));
      longest = std::max(longest, length);
    }
    for (float& element : x) element = static_cast<float>(random() % 9) - 4;
    multiply();
  }

  void multiply() {
    for (std::size_t row = 0; row < n; ++row) {
      float sum = 0;
      for (unsigned k = first[row]; k < first[row + 1]; ++k) sum += value[k] * x[column[k]];
      expected[row] = sum;
    }
  }

  const lab::Options& options;
  std::size_t n;
  std::size_t longest = 0;
  std::vector<unsigned> first;
  std::vector<unsigned> column;
  std::vector<float> value;
  std::vector<float> x;
  std::vector<float> found;
  std::vector<float> expected;
};

template <class T>
void give(lab::DeviceArray<T>& to, const std::vector<T>& from) {
  to.upload(from.data(), from.size());
}

void judge(Context& c, lab::Measurement& row) {
  row.verified = c.found == c.expected ? lab::Verified::yes : lab::Verified::no;
  row.flops = 2.0 * static_cast<double>(c.value.size());
}

void runHost(Context& c, lab::Measurement& row) {
  lab::timeCpuRounds(c.options.rounds, row, [] {}, [&] { c.multiply(); });
  c.found = c.expected;
  judge(c, row);
}

/// The whole matrix, zeros and all.
void runDense(Context& c, lab::Measurement& row) {
  if (c.n > kLongestDense) {
    row.verified = lab::Verified::notApplicable;
    row.note = "only up to " + std::to_string(kLongestDense) + " rows";
    return;
  }
  std::vector<float> dense(c.n * c.n, 0.0f);
  for (std::size_t i = 0; i < c.n; ++i) {
    for (unsigned k = c.first[i]; k < c.first[i + 1]; ++k) dense[i * c.n + c.column[k]] += c.value[k];
  }
  lab::timeCpuRounds(
      c.options.rounds, row, [] {},
      [&] {
        for (std::size_t i = 0; i < c.n; ++i) {
          c.found[i] = 0;
          for (std::size_t j = 0; j < c.n; ++j) c.found[i] += dense[i * c.n + j] * c.x[j];
        }
      });
  judge(c, row);
}

template <class Launch>
void runDevice(Context& c, lab::Measurement& row, const char* kernel, std::size_t threads, Launch launch) {
  row.kernel = kernel;
  row.grid = dim3(lab::ceilDiv(threads, kBlock));
  row.block = dim3(kBlock);
  lab::DeviceArray<float> x(c.n);
  lab::DeviceArray<float> y(c.n);
  give(x, c.x);
  lab::timeRounds(
      c.options.rounds, row, [&] { y.fillBytes(0xff); },
      [&] {
        if (c.n == 0) return;
        launch(x.get(), y.get());
        lab::launched(kernel);
      },
      [&] { y.download(c.found.data(), c.n); });
  judge(c, row);
}

/// The rows on the device.
struct DeviceRows {
  explicit DeviceRows(const Context& c) : first(c.first.size()), column(c.column.size()), value(c.value.size()) {
    give(first, c.first);
    give(column, c.column);
    give(value, c.value);
  }

  lab::DeviceArray<unsigned> first;
  lab::DeviceArray<unsigned> column;
  lab::DeviceArray<float> value;
};

template <bool Warp>
void runRows(Context& c, lab::Measurement& row) {
  const DeviceRows matrix(c);
  const char* kernel = Warp ? "sparseByWarp" : "sparseByThread";
  runDevice(c, row, kernel, Warp ? 32 * c.n : c.n, [&](const float* x, float* y) {
    const auto rows = static_cast<unsigned>(c.n);
    const auto multiply = Warp ? sparseByWarp : sparseByThread;
    multiply<<<row.grid, kBlock>>>(matrix.first.get(), matrix.column.get(), matrix.value.get(), x, y, rows);
  });
}

void runPath(Context& c, lab::Measurement& row) {
  constexpr unsigned kEach = 7;
  const DeviceRows device(c);
  const Csr matrix = {device.first.get(), device.column.get(), device.value.get(), static_cast<unsigned>(c.n),
                      static_cast<unsigned>(c.value.size())};
  const unsigned tiles = pathTiles(matrix.rows, matrix.elements, kEach);
  lab::DeviceArray<unsigned> cuts(tiles + 1);
  lab::DeviceArray<PathRest> rests(tiles);
  runDevice(c, row, "sparse", std::size_t{tiles} * kPathBlock, [&](const float* x, float* y) {
    launchByPath<kEach>(matrix, x, y, cuts.get(), rests.get());
    lab::launched("sparseCuts");  // runDevice counts the third
    lab::launched("sparseByPath");
  });
}

void runColumns(Context& c, lab::Measurement& row) {
  std::vector<unsigned> columns(c.n * c.longest, 0);
  std::vector<float> values(c.n * c.longest, 0.0f);
  for (std::size_t i = 0; i < c.n; ++i) {
    for (unsigned k = c.first[i]; k < c.first[i + 1]; ++k) {
      const std::size_t at = (k - c.first[i]) * c.n + i;
      columns[at] = c.column[k];
      values[at] = c.value[k];
    }
  }
  lab::DeviceArray<unsigned> column(columns.size());
  lab::DeviceArray<float> value(values.size());
  give(column, columns);
  give(value, values);
  runDevice(c, row, "sparseByColumns", c.n, [&](const float* x, float* y) {
    sparseByColumns<<<row.grid, kBlock>>>(column.get(), value.get(), static_cast<unsigned>(c.longest), x, y,
                                          static_cast<unsigned>(c.n));
  });
  row.note = std::to_string(values.size()) + " places for " + std::to_string(c.value.size()) + " elements";
}

const std::vector<lab::Variant<Context>> kVariants = {
    {"host", "alg.spmv_csr", "Row by row on the host", true, runHost},
    {"dense", "alg.spmv_csr", "The whole matrix on the host", true, runDense},
    {"by_thread", "alg.spmv_csr", "A thread for each row", true, runRows<false>},
    {"by_warp", "alg.spmv_csr", "A warp for each row", true, runRows<true>},
    {"by_path", "alg.spmv_csr", "Equal parts of the path through rows and elements", true, runPath},
    {"by_columns", "alg.spmv_csr", "Rows of one length, stored by columns", true, runColumns},
};

}  // namespace

int main(int argc, char** argv) {
  lab::Options options;
  options.size = 100000;
  options.block = kBlock;
  options = lab::parse(argc, argv, options);
  if (options.size > kLargestSize) lab::usageError("--size: at most 2^24 rows");
  lab::mustFit(options.size, 2000, 2000);
  lab::Output output("sparse", options);
  Context context(options);
  lab::runVariants(kVariants, options, context, output);
  return output.finish("host");
}
