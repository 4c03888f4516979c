// Matrix product C = A * B of n x n floats: the CPU loops; by columns, by rows, one thread per element; tiled through
// shared memory with tiles of 8, 16 and 32; the matrix report's kernels on memory of the host (zero-copy) and, for its
// profile, of the device; and in registers, with the next tiles on their way. The total time includes the copies, as
// the course's tables have it.
// --trace prints the worked example of nine rows, what bounds each tile size, what tiles gain and cost, and what the
// order of a processor's loops means for its caches.
//
//   matmul [--size N] [--variant NAME] [--rounds R] [--json] [--trace]        N: rows of the matrices
#include "context.hpp"
#include "cpu.hpp"
#include "kernels.cuh"
#include "locality.hpp"
#include "registers.cuh"
#include "report.cuh"
#include "tradeoff.cuh"

namespace {

// -------------------------------------------------------------------------------------------------------- variants

template <class Product>
void runCpu(Context& m, lab::Measurement& row, Product product) {
  lab::timeCpuRounds(m.options.rounds, row, [] {}, [&] { product(m, m.c); });
  judge(m, row);
}

void runIkj(Context& m, lab::Measurement& row) { runCpu(m, row, cpu::ikj); }
void runIjkSum(Context& m, lab::Measurement& row) { runCpu(m, row, cpu::ijkSum); }
void runIjkInPlace(Context& m, lab::Measurement& row) { runCpu(m, row, cpu::ijkInPlace); }
void runBlocked(Context& m, lab::Measurement& row) { runCpu(m, row, cpu::blocked); }

void skip(lab::Measurement& row, const char* why) {
  row.verified = lab::Verified::notApplicable;
  row.note = std::string("skipped: ") + why;
}

template <int Threads>
void runOpenMp([[maybe_unused]] Context& m, lab::Measurement& row) {
#ifdef _OPENMP
  runCpu(m, row, [](const Context& from, std::vector<float>& c) { cpu::openMp(from, c, Threads); });
#else
  skip(row, "compile with -Xcompiler -fopenmp");
#endif
}

template <class Launch>
void runDevice(Context& m, lab::Measurement& row, const char* kernel, dim3 grid, dim3 block, Launch launch) {
  row.kernel = kernel;
  row.grid = grid;
  row.block = block;
  lab::timeRounds(
      m.options.rounds, row, [&] { m.deviceC.clear(); }, [&] { m.upload(); },
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

template <Barriers Which>
void runWithoutBarrier(Context& m, lab::Measurement& row) {
  runDevice(m, row, "matmulTiled", gridOf(m, 32), dim3(32, 32),
            [](dim3 grid, dim3 block, const float* a, const float* b, float* c, int n) {
              matmulTiled<32, Which><<<grid, block>>>(a, b, c, n);
            });
  row.note = row.verified == lab::Verified::no ? "races on purpose: the product is wrong"
                                               : "races on purpose: right by luck this time";
  row.verified = lab::Verified::notApplicable;
}

template <int Tile>
void runTiled(Context& m, lab::Measurement& row) {
  runDevice(m, row, "matmulTiled", gridOf(m, Tile), dim3(Tile, Tile),
            [](dim3 grid, dim3 block, const float* a, const float* b, float* c, int n) {
              matmulTiled<Tile><<<grid, block>>>(a, b, c, n);
            });
}

/// The report's narrower blocks never fill their tile.
void tileIsWider(const Context& m, lab::Measurement& row) {
  if (m.n == 0) return;
  row.verified = lab::Verified::notApplicable;
  row.note = "counters only: the tile is wider than the block";
}

template <unsigned Side>
void runStudy(Context& m, lab::Measurement& row) {
  if (m.n % kStudyTile != 0) return skip(row, "needs a multiple of 32");
  runDevice(m, row, "matmulStudy", gridOf(m, Side), dim3(Side, Side),
            [](dim3 grid, dim3 block, const float* a, const float* b, float* c, int n) {
              matmulStudy<<<grid, block>>>(a, b, c, n);
            });
  if (Side != kStudyTile) tileIsWider(m, row);
}

void runTransposed(Context& m, lab::Measurement& row) {
  lab::DeviceArray<float> transposed(m.elements());
  runDevice(m, row, "matmul", dim3(1, lab::ceilDiv(m.n, 128)), dim3(1, 128),
            [&](dim3 grid, dim3 block, const float* a, const float* b, float* c, int n) {
              matmulTransposeCopy<<<gridOf(m, 32), dim3(32, 32)>>>(a, transposed.get(), n);
              lab::launched("matmulTransposeCopy");
              matmulRowsTransposed<<<grid, block>>>(transposed.get(), b, c, n);
            });
}

/// The kernel wants a multiple of 4: others are given zeros around A and B.
template <int Depth, int Stages, int Rows>
void runRegisters(Context& m, lab::Measurement& row) {
  const int padded = (m.n + 3) / 4 * 4;
  const std::size_t bytes = static_cast<std::size_t>(m.n) * sizeof(float);
  const std::size_t paddedBytes = static_cast<std::size_t>(padded) * sizeof(float);
  const bool same = padded == m.n;
  const std::size_t room = same ? 0 : static_cast<std::size_t>(padded) * static_cast<std::size_t>(padded);
  lab::DeviceArray<float> a(room), b(room), c(room);
  auto copyRows = [&](float* to, std::size_t toPitch, const float* from, std::size_t fromPitch) {
    LAB_CHECK(cudaMemcpy2D(to, toPitch, from, fromPitch, bytes, m.side(), cudaMemcpyDeviceToDevice));
  };
  constexpr int bytesOfStages = kRegisterBytes<Depth, Stages>;
  LAB_CHECK(cudaFuncSetAttribute(matmulRegisters<Depth, Stages, Rows>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 bytesOfStages));
  runDevice(m, row, "matmulRegisters", gridOf(m, kRegisterSide), dim3(RegisterGrid<Rows>::kThreads),
            [&](dim3 grid, dim3 block, const float* fromA, const float* fromB, float* to, int) {
              if (!same) {
                a.clear();
                b.clear();
                copyRows(a.get(), paddedBytes, fromA, bytes);
                copyRows(b.get(), paddedBytes, fromB, bytes);
              }
              matmulRegisters<Depth, Stages, Rows><<<grid, block, bytesOfStages>>>(
                  same ? fromA : a.get(), same ? fromB : b.get(), same ? to : c.get(), padded);
              if (!same) copyRows(to, bytes, c.get(), paddedBytes);
            });
}

/// The matrix report's way: A, B and C stay in the host's memory, and the device works on them there.
class ZeroCopy {
 public:
  explicit ZeroCopy(const Context& m) : bytes_(std::max<std::size_t>(m.elements(), 1) * sizeof(float)) {
    for (int i = 0; i < 3; ++i) {
      LAB_CHECK(cudaHostAlloc(reinterpret_cast<void**>(&host_[i]), bytes_, cudaHostAllocMapped));
      LAB_CHECK(cudaHostGetDevicePointer(reinterpret_cast<void**>(&device_[i]), host_[i], 0));
    }
    std::copy(m.a.begin(), m.a.end(), host_[0]);
    std::copy(m.b.begin(), m.b.end(), host_[1]);
  }
  ~ZeroCopy() {
    for (float* pointer : host_) cudaFreeHost(pointer);
  }
  ZeroCopy(const ZeroCopy&) = delete;
  ZeroCopy& operator=(const ZeroCopy&) = delete;

  const float* a() const { return device_[0]; }
  const float* b() const { return device_[1]; }
  float* c() const { return device_[2]; }
  float* hostC() const { return host_[2]; }
  void clear() { std::memset(host_[2], 0, bytes_); }

 private:
  std::size_t bytes_;
  float* host_[3] = {};
  float* device_[3] = {};
};

template <class Launch>
void runZeroCopy(Context& m, lab::Measurement& row, const char* kernel, unsigned side, Launch launch) {
  ZeroCopy memory(m);
  row.kernel = kernel;
  row.grid = gridOf(m, side);
  row.block = dim3(side, side);
  lab::timeRounds(
      m.options.rounds, row, [&] { memory.clear(); },
      [&] {
        if (m.n == 0) return;
        launch(row.grid, row.block, memory);
        lab::launched(kernel);
      },
      [] { LAB_CHECK(cudaDeviceSynchronize()); });
  std::copy(memory.hostC(), memory.hostC() + m.elements(), m.c.begin());
  judge(m, row);
}

template <unsigned Side>
void runZeroCopyNaive(Context& m, lab::Measurement& row) {
  runZeroCopy(m, row, "matmulNaiveInPlace", Side, [&](dim3 grid, dim3 block, const ZeroCopy& memory) {
    matmulNaiveInPlace<<<grid, block>>>(memory.a(), memory.b(), memory.c(), m.n);
  });
}

template <unsigned Side>
void runZeroCopyShared(Context& m, lab::Measurement& row) {
  if (m.n % kStudyTile != 0) return skip(row, "needs a multiple of 32");
  runZeroCopy(m, row, "matmulStudy", Side, [&](dim3 grid, dim3 block, const ZeroCopy& memory) {
    matmulStudy<<<grid, block>>>(memory.a(), memory.b(), memory.c(), m.n);
  });
  if (Side != kStudyTile) tileIsWider(m, row);
}

/// Every element of A and B must be loaded once for each tile of its row or column, and each of C written once.
void runRoles(Context& m, lab::Measurement& row) {
  lab::DeviceArray<unsigned> a(m.elements()), b(m.elements()), c(m.elements());
  const dim3 grid = gridOf(m, 16);
  row.kernel = "matmulCountRoles";
  row.grid = grid;
  row.block = dim3(16, 16);
  std::vector<unsigned> loadsA(m.elements()), loadsB(m.elements()), writesC(m.elements());
  lab::timeRounds(
      1, row,
      [&] {
        a.clear();
        b.clear();
        c.clear();
      },
      [&] {
        if (m.n == 0) return;
        matmulCountRoles<16><<<grid, row.block>>>(a.get(), b.get(), c.get(), m.n);
        lab::launched("matmulCountRoles");
      },
      [&] {
        a.download(loadsA.data(), m.elements());
        b.download(loadsB.data(), m.elements());
        c.download(writesC.data(), m.elements());
      });
  auto all = [](const std::vector<unsigned>& counts, unsigned value) {
    return std::all_of(counts.begin(), counts.end(), [&](unsigned count) { return count == value; });
  };
  const bool right = all(loadsA, grid.x) && all(loadsB, grid.y) && all(writesC, 1);
  row.verified = right ? lab::Verified::yes : lab::Verified::no;
  row.note = "each element is loaded " + std::to_string(grid.x) + " times";
}

/// A tile of 33 would need 1089 threads in a block: the launch must be refused.
void runTooLarge(Context& m, lab::Measurement& row) {
  matmulNaive<<<1, dim3(33, 33)>>>(m.deviceA.get(), m.deviceB.get(), m.deviceC.get(), m.n);
  const cudaError_t status = cudaGetLastError();
  row.verified = status != cudaSuccess ? lab::Verified::yes : lab::Verified::no;
  row.note = std::string("a block of 33x33: ") + cudaGetErrorString(status);
}

const std::vector<lab::Variant<Context>> kVariants = {
    {"cpu_ikj", "mat.cpu_ikj", "CPU, order i k j", true, runIkj},
    {"cpu_ijk", "mat.seq2d", "CPU, order i j k", false, runIjkSum},
    {"cpu_ijk_in_place", "mat.cpu_ijk", "CPU, order i j k, adding to C", false, runIjkInPlace},
    {"cpu_blocked", "mat.cpu_blocked", "CPU, i k j in blocks", false, runBlocked},
    {"openmp_1", "mat.omp", "CPU, i k j, 1 thread", false, runOpenMp<1>},
    {"openmp_2", "mat.omp", "CPU, i k j, 2 threads", false, runOpenMp<2>},
    {"openmp_8", "mat.omp", "CPU, i k j, 8 threads", true, runOpenMp<8>},
    {"columns", "mat.cols", "A thread for each column", false, runColumns},
    {"rows", "mat.rows", "A thread for each row", false, runRows},
    {"rows_transposed", "mat.transposed", "The same, A transposed first", false, runTransposed},
    {"naive_8", "mat.2d", "A thread for each element, 8x8", false, runNaive<8>},
    {"naive_16", "mat.2d", "A thread for each element, 16x16", true, runNaive<16>},
    {"naive_32", "mat.2d", "A thread for each element, 32x32", true, runNaive<32>},
    {"naive_in_place", "mat.zc_naive", "The same, adding in global memory", false, runNaiveInPlace},
    {"zero_copy_naive_8", "mat.ncu_study", "Zero-copy, adding in place, 8x8", false, runZeroCopyNaive<8>},
    {"zero_copy_naive_16", "mat.ncu_study", "Zero-copy, adding in place, 16x16", false, runZeroCopyNaive<16>},
    {"zero_copy_naive", "mat.zc_naive", "Zero-copy, adding in place, 32x32", false, runZeroCopyNaive<32>},
    {"zero_copy_shared_8", "mat.ncu_study", "Zero-copy, block 8x8, tile 32", false, runZeroCopyShared<8>},
    {"zero_copy_shared_16", "mat.ncu_study", "Zero-copy, block 16x16, tile 32", false, runZeroCopyShared<16>},
    {"zero_copy_shared", "mat.zc_shared", "Zero-copy, shared tiles 32x32", false, runZeroCopyShared<32>},
    {"tiled_8", "mat.tiled", "Shared tiles 8x8", true, runTiled<8>},
    {"tiled_16", "mat.tiled", "Shared tiles 16x16", true, runTiled<16>},
    {"tiled_32", "mat.tiled", "Shared tiles 32x32", true, runTiled<32>},
    {"registers", "mat.best", "8x8 in registers, tiles 128x128", true, runRegisters<16, 1, 8>},
    {"registers_async", "mat.best", "The same, tiles copied ahead", true, runRegisters<16, 3, 8>},
    {"registers_16x8", "mat.best", "16x8 in registers, tiles copied ahead", true, runRegisters<16, 4, 16>},
    {"no_first_barrier", "mat.sync_roles", "Tiles without the first barrier (wrong)", false,
     runWithoutBarrier<Barriers::onlySecond>},
    {"no_second_barrier", "mat.sync_roles", "Tiles without the second barrier (wrong)", false,
     runWithoutBarrier<Barriers::onlyFirst>},
    {"roles", "mat.index_roles", "Which element is loaded how often", false, runRoles},
    {"too_large", "mat.matrix_fits", "A tile that does not fit", false, runTooLarge},
    {"study_8", "mat.ncu_study", "Report's kernel, block 8x8, tile 32", true, runStudy<8>},
    {"study_16", "mat.ncu_study", "Report's kernel, block 16x16, tile 32", true, runStudy<16>},
    {"study_32", "mat.ncu_study", "Report's kernel, block 32x32, tile 32", true, runStudy<32>},
};

/// What --trace shows; false if something of it is not as it must be.
bool trace() {
  bool right = report::show();
  right = report::showTradeOff() && right;
  right = locality::showAccesses() && right;
  return locality::showOrders() && right;
}

}  // namespace

int main(int argc, char** argv) {
  lab::Options options;
  options.size = 2048;  // the size of the published figures
  options.block = 1024;
  options = lab::parse(argc, argv, options, " [--trace]");
  if (options.trace) return trace() ? 0 : 1;
  LAB_CHECK(cudaSetDeviceFlags(cudaDeviceMapHost));
  if (options.size > kLargestSize) lab::usageError("--size: matrices of at most 16384 rows");
  lab::mustFit(options.size * options.size, 3 * sizeof(float), 3 * sizeof(float));
  lab::Output output("matmul", options);
  Context context(options);
  lab::runVariants(kVariants, options, context, output);
  return output.finish("cpu_ikj");
}
