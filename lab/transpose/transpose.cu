// Transpose of an n x n matrix of floats: by rows, by columns, by elements, through shared tiles of 32, 16 and 8 with
// and without padding, through a rectangular tile; beside a plain copy. Bandwidth counts one read and one write of
// every element; --trace shows the rule by which it is judged. Verified element by element.
//
//   transpose [--size N] [--variant NAME] [--rounds R] [--json] [--trace]        N: rows of the matrix
#include "../common/bandwidth.hpp"
#include "kernels.cuh"

namespace {

constexpr std::size_t kLargestSize = 32768;

struct Context {
  explicit Context(const lab::Options& given)
      : options(given),
        n(static_cast<int>(given.size)),
        in(elements()),
        result(elements()),
        source(elements()),
        out(elements()) {
    // Every element is different as far as a float can tell them apart: a 24-bit pattern of its index.
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>((i * 2654435761U) & 0xffffff);
    source.upload(in.data(), elements());
  }

  std::size_t elements() const { return static_cast<std::size_t>(n) * static_cast<std::size_t>(n); }
  std::size_t side() const { return static_cast<std::size_t>(n); }

  const lab::Options& options;
  int n;
  std::vector<float> in, result;
  lab::DeviceArray<float> source, out;
};

bool isTranspose(const Context& m) {
  for (std::size_t i = 0; i < m.side(); ++i) {
    for (std::size_t j = 0; j < m.side(); ++j) {
      if (m.result[j * m.side() + i] != m.in[i * m.side() + j]) return false;
    }
  }
  return true;
}

void judge(const Context& m, lab::Measurement& row, bool right) {
  row.bytes = 8.0 * static_cast<double>(m.elements());
  row.verified = right ? lab::Verified::yes : lab::Verified::no;
}

void runSerial(Context& m, lab::Measurement& row) {
  lab::timeCpuRounds(
      m.options.rounds, row, [] {},
      [&] {
        for (std::size_t i = 0; i < m.side(); ++i) {
          for (std::size_t j = 0; j < m.side(); ++j) m.result[j * m.side() + i] = m.in[i * m.side() + j];
        }
      });
  judge(m, row, isTranspose(m));
}

using Kernel = void (*)(const float*, float*, int);

/// Poisons the output first, so that a kernel that writes nothing is not taken for right.
void measure(Context& m, lab::Measurement& row, const char* name, Kernel kernel, dim3 grid, dim3 block) {
  row.kernel = name;
  row.grid = grid;
  row.block = block;
  lab::timeRounds(
      m.options.rounds, row, [&] { m.out.fillBytes(0xff); },
      [&] {
        if (m.n == 0) return;
        kernel<<<grid, block>>>(m.source.get(), m.out.get(), m.n);
        lab::launched(name);
      },
      [&] { m.out.download(m.result.data(), m.elements()); });
}

void transpose(Context& m, lab::Measurement& row, const char* name, Kernel kernel, dim3 grid, dim3 block) {
  measure(m, row, name, kernel, grid, block);
  judge(m, row, isTranspose(m));
}

unsigned blocks(const Context& m, unsigned side) { return lab::ceilDiv(m.side(), side); }

void runCopy(Context& m, lab::Measurement& row) {
  measure(m, row, "copyElements", copyElements, dim3(blocks(m, 32), blocks(m, 32)), dim3(32, 32));
  judge(m, row, m.result == m.in);
}

void runRows(Context& m, lab::Measurement& row) {
  transpose(m, row, "transposeRows", transposeRows, dim3(1, blocks(m, 1024)), dim3(1, 1024));
}

void runColumns(Context& m, lab::Measurement& row) {
  transpose(m, row, "transposeColumns", transposeColumns, dim3(blocks(m, 1024)), dim3(1024));
}

void runElements(Context& m, lab::Measurement& row) {
  transpose(m, row, "transposeElements", transposeElements, dim3(blocks(m, 32), blocks(m, 32)), dim3(32, 32));
}

template <int Tile, int Padding>
void runTiled(Context& m, lab::Measurement& row) {
  transpose(m, row, "transposeTiled", transposeTiled<Tile, Padding>, dim3(blocks(m, Tile), blocks(m, Tile)),
            dim3(Tile, Tile));
}

template <int Columns, int Rows>
void runRectangle(Context& m, lab::Measurement& row) {
  transpose(m, row, "transposeRectangle", transposeRectangle<Columns, Rows>, dim3(blocks(m, Columns), blocks(m, Rows)),
            dim3(Columns, Rows));
}

void runSwizzled(Context& m, lab::Measurement& row) {
  transpose(m, row, "transposeSwizzled", transposeSwizzled, dim3(blocks(m, 32), blocks(m, 32)), dim3(32, 32));
}

void runFourRows(Context& m, lab::Measurement& row) {
  transpose(m, row, "transposeFourRows", transposeFourRows, dim3(blocks(m, 32), blocks(m, 32)), dim3(32, 8));
}

void runWide(Context& m, lab::Measurement& row) {
  if (m.n % 4 != 0) {
    row.verified = lab::Verified::notApplicable;
    row.note = "skipped: needs a multiple of 4";
    return;
  }
  transpose(m, row, "transposeWide", transposeWide, dim3(blocks(m, kWideTile), blocks(m, kWideTile)), dim3(16, 16));
}

const std::vector<lab::Variant<Context>> kVariants = {
    {"serial", "tr.serial", "Sequential loop (CPU)", true, runSerial},
    {"copy", "tr.bandwidth", "Copy, the upper bound", true, runCopy},
    {"rows", "tr.row", "A thread for each row", true, runRows},
    {"columns", "tr.row", "A thread for each column", true, runColumns},
    {"elements", "tr.elem", "A thread for each element", true, runElements},
    {"tiled_32", "tr.smem", "Shared tile 32x32", true, runTiled<32, 0>},
    {"tiled_16", "tr.smem", "Shared tile 16x16", true, runTiled<16, 0>},
    {"tiled_8", "tr.smem", "Shared tile 8x8", true, runTiled<8, 0>},
    {"padded_32", "tr.bank", "Shared tile 32x32, padded", true, runTiled<32, 1>},
    {"padded_16", "tr.bank", "Shared tile 16x16, padded", true, runTiled<16, 1>},
    {"padded_8", "tr.bank", "Shared tile 8x8, padded", true, runTiled<8, 1>},
    {"swizzled_32", "tr.best", "Shared tile 32x32, swizzled", true, runSwizzled},
    {"four_rows", "tr.best", "Padded tile, four elements for each thread", true, runFourRows},
    {"wide", "tr.best", "Tile 64x64, 16 bytes at a time", true, runWide},
    {"rectangle_32x8", "tr.smem_000", "Shared tile 32x8, renumbered", true, runRectangle<32, 8>},
    {"rectangle_16x16", "tr.smem_000", "Shared tile 16x16, renumbered", false, runRectangle<16, 16>},
};

/// The course's rule at its two borders.
void showBandwidthRule() {
  for (const double percent : {10.0, 35.0, 35.01, 60.0, 60.01, 100.0}) {
    std::printf("%6.2f %% of the peak: %s\n", percent, lab::bandwidthClass(percent));
  }
}

}  // namespace

int main(int argc, char** argv) {
  lab::Options options;
  options.size = 2048;  // the size of the published figures
  options.block = 1024;
  options = lab::parse(argc, argv, options, " [--trace]");
  if (options.trace) {
    showBandwidthRule();
    return 0;
  }
  if (options.size > kLargestSize) lab::usageError("--size: matrices of at most 32768 rows");
  lab::mustFit(options.size * options.size, 2 * sizeof(float), 2 * sizeof(float));
  lab::Output output("transpose", options);
  Context context(options);
  lab::runVariants(kVariants, options, context, output);
  lab::noteBestBandwidth(output);
  return output.finish("serial");
}
