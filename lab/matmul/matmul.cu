// Matrix product C = A * B of n x n floats: by columns, by rows, one thread per element, and tiled through shared
// memory with tiles of 8, 16 and 32; the matrix report's profiling study; and the CPU loops they are compared with.
//
// The elements are small integers, so every sum is exact in float and the answer has no rounding to argue about. It is
// verified completely: up to n = 256 against the sequential product, beyond that by Freivalds' check in integers
// (C*r = A*(B*r) for three random vectors r; a wrong C passes one with probability at most 1/1000) and by 64 whole
// elements besides.
//
//   matmul [--size N] [--variant NAME] [--rounds R] [--json]        N: rows of the matrices
#include <cstdint>

#include "../common/output.hpp"
#include "kernels.cuh"

namespace {

constexpr std::size_t kLargestSize = 16384;
constexpr std::size_t kFullCheckSize = 256;

class Random {
 public:
  unsigned next() {
    return static_cast<unsigned>((state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL) >> 33);
  }

 private:
  std::uint64_t state_ = 42;
};

struct Context {
  explicit Context(const lab::Options& given)
      : options(given),
        n(static_cast<int>(given.size)),
        a(elements()),
        b(elements()),
        c(elements()),
        deviceA(elements()),
        deviceB(elements()),
        deviceC(elements()) {
    Random random;
    for (float& x : a) x = static_cast<float>(random.next() % 9) - 4;
    for (float& x : b) x = static_cast<float>(random.next() % 9) - 4;
    deviceA.upload(a.data(), elements());
    deviceB.upload(b.data(), elements());
  }

  std::size_t elements() const { return static_cast<std::size_t>(n) * static_cast<std::size_t>(n); }

  const lab::Options& options;
  int n;
  std::vector<float> a, b, c;
  lab::DeviceArray<float> deviceA, deviceB, deviceC;
};

// ------------------------------------------------------------------------------------------------------ references

/// y = M * x in 64-bit integers.
std::vector<std::int64_t> times(const std::vector<float>& matrix, const std::vector<std::int64_t>& x) {
  const std::size_t n = x.size();
  std::vector<std::int64_t> y(n, 0);
  for (std::size_t i = 0; i < n; ++i) {
    std::int64_t sum = 0;
    for (std::size_t j = 0; j < n; ++j) sum += static_cast<std::int64_t>(matrix[i * n + j]) * x[j];
    y[i] = sum;
  }
  return y;
}

float element(const Context& m, std::size_t i, std::size_t j) {
  const std::size_t n = static_cast<std::size_t>(m.n);
  float sum = 0;
  for (std::size_t k = 0; k < n; ++k) sum += m.a[i * n + k] * m.b[k * n + j];
  return sum;
}

bool wholeProductRight(const Context& m) {
  const std::size_t n = static_cast<std::size_t>(m.n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      if (m.c[i * n + j] != element(m, i, j)) return false;
    }
  }
  return true;
}

/// A float that is no integer in the possible range cannot be an element of C, and must not reach the integer check.
bool isPlausible(float x, float bound) {
  return x >= -bound && x <= bound && x == static_cast<float>(static_cast<std::int64_t>(x));
}

bool freivaldsRight(const Context& m) {
  const std::size_t n = static_cast<std::size_t>(m.n);
  for (const float x : m.c) {
    if (!isPlausible(x, 16.0f * static_cast<float>(n))) return false;
  }
  Random random;
  for (int round = 0; round < 3; ++round) {
    std::vector<std::int64_t> r(n);
    for (std::int64_t& x : r) x = random.next() % 1000;
    if (times(m.c, r) != times(m.a, times(m.b, r))) return false;
  }
  for (int sample = 0; sample < 64; ++sample) {
    const std::size_t i = random.next() % n;
    const std::size_t j = random.next() % n;
    if (m.c[i * n + j] != element(m, i, j)) return false;
  }
  return true;
}

void judge(const Context& m, lab::Measurement& row) {
  const double n = m.n;
  row.flops = 2 * n * n * n;
  const bool right = static_cast<std::size_t>(m.n) <= kFullCheckSize ? wholeProductRight(m) : freivaldsRight(m);
  row.verified = right ? lab::Verified::yes : lab::Verified::no;
}

// -------------------------------------------------------------------------------------------------------- variants

void productIkj(const Context& m, std::vector<float>& c) {
  const std::size_t n = static_cast<std::size_t>(m.n);
  std::fill(c.begin(), c.end(), 0.0f);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < n; ++k) {
      const float x = m.a[i * n + k];
      for (std::size_t j = 0; j < n; ++j) c[i * n + j] += x * m.b[k * n + j];
    }
  }
}

void productIjk(const Context& m, std::vector<float>& c) {
  const std::size_t n = static_cast<std::size_t>(m.n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) c[i * n + j] = element(m, i, j);
  }
}

void runIkj(Context& m, lab::Measurement& row) {
  lab::timeCpuRounds(m.options.rounds, row, [] {}, [&] { productIkj(m, m.c); });
  judge(m, row);
}

void runIjk(Context& m, lab::Measurement& row) {
  lab::timeCpuRounds(m.options.rounds, row, [] {}, [&] { productIjk(m, m.c); });
  judge(m, row);
}

template <class Launch>
void runDevice(Context& m, lab::Measurement& row, const char* kernel, dim3 grid, dim3 block, Launch launch) {
  row.kernel = kernel;
  row.grid = grid;
  row.block = block;
  lab::timeRounds(
      m.options.rounds, row, [&] { m.deviceC.clear(); },
      [&] {
        if (m.n == 0) return;
        launch(grid, block, m.deviceA.get(), m.deviceB.get(), m.deviceC.get(), m.n);
        lab::launched(kernel);
      },
      [&] { m.deviceC.download(m.c.data(), m.elements()); });
  judge(m, row);
}

dim3 gridOf(const Context& m, unsigned side) {
  const unsigned blocks = lab::ceilDiv(static_cast<std::size_t>(m.n), side);
  return dim3(blocks, blocks);
}

void runColumns(Context& m, lab::Measurement& row) {
  runDevice(m, row, "matmulColumns", dim3(lab::ceilDiv(m.n, 128)), dim3(128),
            [](dim3 grid, dim3 block, const float* a, const float* b, float* c, int n) {
              matmulColumns<<<grid, block>>>(a, b, c, n);
            });
}

void runRows(Context& m, lab::Measurement& row) {
  runDevice(m, row, "matmulRows", dim3(1, lab::ceilDiv(m.n, 128)), dim3(1, 128),
            [](dim3 grid, dim3 block, const float* a, const float* b, float* c, int n) {
              matmulRows<<<grid, block>>>(a, b, c, n);
            });
}

template <unsigned Side>
void runNaive(Context& m, lab::Measurement& row) {
  runDevice(m, row, "matmulNaive", gridOf(m, Side), dim3(Side, Side),
            [](dim3 grid, dim3 block, const float* a, const float* b, float* c, int n) {
              matmulNaive<<<grid, block>>>(a, b, c, n);
            });
}

void runNaiveInPlace(Context& m, lab::Measurement& row) {
  runDevice(m, row, "matmulNaiveInPlace", gridOf(m, 32), dim3(32, 32),
            [](dim3 grid, dim3 block, const float* a, const float* b, float* c, int n) {
              matmulNaiveInPlace<<<grid, block>>>(a, b, c, n);
            });
}

template <int Tile>
void runTiled(Context& m, lab::Measurement& row) {
  runDevice(m, row, "matmulTiled", gridOf(m, Tile), dim3(Tile, Tile),
            [](dim3 grid, dim3 block, const float* a, const float* b, float* c, int n) {
              matmulTiled<Tile><<<grid, block>>>(a, b, c, n);
            });
}

template <unsigned Side>
void runStudy(Context& m, lab::Measurement& row) {
  if (m.n % kStudyTile != 0) {
    row.verified = lab::Verified::notApplicable;
    row.note = "skipped: needs a multiple of 32";
    return;
  }
  runDevice(m, row, "matmulStudy", gridOf(m, Side), dim3(Side, Side),
            [](dim3 grid, dim3 block, const float* a, const float* b, float* c, int n) {
              matmulStudy<<<grid, block>>>(a, b, c, n);
            });
  if (Side == kStudyTile || m.n == 0) return;
  row.verified = lab::Verified::notApplicable;
  row.note = "counters only: the tile is wider than the block";
}

const std::vector<lab::Variant<Context>> kVariants = {
    {"cpu_ikj", "mat.cpu_ikj", "CPU, order i k j", true, runIkj},
    {"cpu_ijk", "mat.seq2d", "CPU, order i j k", false, runIjk},
    {"columns", "mat.cols", "A thread for each column", false, runColumns},
    {"rows", "mat.rows", "A thread for each row", false, runRows},
    {"naive_8", "mat.2d", "A thread for each element, 8x8", false, runNaive<8>},
    {"naive_16", "mat.2d", "A thread for each element, 16x16", true, runNaive<16>},
    {"naive_32", "mat.2d", "A thread for each element, 32x32", true, runNaive<32>},
    {"naive_in_place", "mat.zc_naive", "The same, adding in global memory", false, runNaiveInPlace},
    {"tiled_8", "mat.tiled", "Shared tiles 8x8", true, runTiled<8>},
    {"tiled_16", "mat.tiled", "Shared tiles 16x16", true, runTiled<16>},
    {"tiled_32", "mat.tiled", "Shared tiles 32x32", true, runTiled<32>},
    {"study_8", "mat.ncu_study", "Report's kernel, block 8x8, tile 32", true, runStudy<8>},
    {"study_16", "mat.ncu_study", "Report's kernel, block 16x16, tile 32", true, runStudy<16>},
    {"study_32", "mat.ncu_study", "Report's kernel, block 32x32, tile 32", true, runStudy<32>},
};

}  // namespace

int main(int argc, char** argv) {
  lab::Options options;
  options.size = 2048;  // the size of the published figures
  options.block = 1024;
  options = lab::parse(argc, argv, options);
  if (options.size > kLargestSize) lab::usageError("--size: matrices of at most 16384 rows");
  lab::Output output("matmul", options);
  Context context(options);
  lab::runVariants(kVariants, options, context, output);
  return output.finish("cpu_ikj");
}
