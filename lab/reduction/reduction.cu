// Parallel reduction: the sum of n integers by every kernel of the course's ladder, from neighbored pairs with
// divergence to a template in shared memory, with the CPU recursions they come from and the best known form at the end.
//
// Host driver (hybrid): every block leaves one partial sum, which the host copies back and adds; the time of a variant
// is the wall clock over launch, copy and final sum, as the course measured it. Variants that work in place get a fresh
// copy of the input first.
//
//   reduction [--size N] [--block B] [--variant NAME] [--rounds R] [--json] [--trace]
#include "../common/bandwidth.hpp"
#include "cpu.hpp"
#include "single_pass.cuh"
#include "trace.cuh"

namespace {

constexpr std::size_t kLargestSize = std::size_t{1} << 30;  // an index plus eight chunks must fit in 32 bits

struct Context {
  explicit Context(const lab::Options& given)
      : options(given),
        n(static_cast<unsigned>(given.size)),
        block(given.block),
        room(std::size_t{lab::ceilDiv(given.size, std::size_t{8} * given.block)} * 8 * given.block),
        host(given.size),
        source(given.size),
        work(room),
        out(lab::ceilDiv(given.size, given.block)),
        partials(out.length()) {
    std::srand(1);
    for (int& value : host) value = std::rand() % 10;
    source.upload(host.data(), n);
    reference = cpu::sumSequential(host.data(), n);
  }

  bool powerOfTwoBlock() const { return (block & (block - 1)) == 0; }

  const lab::Options& options;
  unsigned n;
  unsigned block;
  std::size_t room;  // n rounded up to whole groups of eight blocks
  std::vector<int> host;
  lab::DeviceArray<int> source;  // never written after the upload
  lab::DeviceArray<int> work;    // what the in-place kernels destroy
  lab::DeviceArray<int> out;
  std::vector<int> partials;
  long long reference = 0;
  long long result = 0;
};

void skip(lab::Measurement& row, const char* why) {
  row.verified = lab::Verified::notApplicable;
  row.note = std::string("skipped: ") + why;
}

void judge(Context& c, lab::Measurement& row, long long expected) {
  row.bytes = 4.0 * c.n;
  row.result = std::to_string(c.result);
  row.verified = c.result == expected ? lab::Verified::yes : lab::Verified::no;
  if (c.result != expected) row.note = "expected " + std::to_string(expected);
}

void addPartials(Context& c, unsigned count) {
  c.out.download(c.partials.data(), count);
  c.result = 0;
  for (unsigned i = 0; i < count; ++i) c.result += c.partials[i];
}

/// Runs one kernel that leaves a partial sum per block. `launch(grid)` makes the launch; an empty array needs none.
template <class Prepare, class Launch>
void runPartial(Context& c, lab::Measurement& row, const char* kernel, unsigned grid, Prepare prepare, Launch launch) {
  row.kernel = kernel;
  row.grid = dim3(grid);
  row.block = dim3(c.block);
  lab::timeRounds(
      c.options.rounds, row, prepare,
      [&] {
        if (grid == 0) return;
        launch(grid);
        lab::launched(kernel);
      },
      [&] { addPartials(c, grid); });
  judge(c, row, c.reference);
}

template <class Launch>
void runInPlace(Context& c, lab::Measurement& row, const char* kernel, unsigned chunks, Launch launch) {
  const std::size_t group = std::size_t{chunks} * c.block;
  const unsigned grid = lab::ceilDiv(c.n, group);
  auto freshCopy = [&] {
    if (c.n == 0) return;
    LAB_CHECK(cudaMemcpy(c.work.get(), c.source.get(), c.n * sizeof(int), cudaMemcpyDeviceToDevice));
    if (grid * group > c.n) LAB_CHECK(cudaMemset(c.work.get() + c.n, 0, (grid * group - c.n) * sizeof(int)));
  };
  runPartial(c, row, kernel, grid, freshCopy, launch);
}

template <class Launch>
void runReadOnly(Context& c, lab::Measurement& row, const char* kernel, unsigned chunks, Launch launch) {
  runPartial(c, row, kernel, lab::ceilDiv(c.n, std::size_t{chunks} * c.block), [] {}, launch);
}

// ------------------------------------------------------------------------------------------------------------- CPU

void runSequential(Context& c, lab::Measurement& row) {
  lab::timeCpuRounds(c.options.rounds, row, [] {}, [&] { c.result = cpu::sumSequential(c.host.data(), c.n); });
  judge(c, row, c.reference);
}

template <class Recursion>
void runRecursion(Context& c, lab::Measurement& row, Recursion recursion) {
  std::vector<int> copy;
  lab::timeCpuRounds(c.options.rounds, row, [&] { copy = c.host; }, [&] { c.result = recursion(copy.data(), c.n); });
  judge(c, row, c.reference);
}

void runRecNeighbored(Context& c, lab::Measurement& row) {
  runRecursion(c, row, [](int* data, std::size_t n) { return cpu::sumNeighbored(data, n); });
}

void runRecInterleaved(Context& c, lab::Measurement& row) {
  runRecursion(c, row, [](int* data, std::size_t n) { return cpu::sumInterleaved(data, n); });
}

// ---------------------------------------------------------------------------------------------------------- ladder

void runNeighbored(Context& c, lab::Measurement& row) {
  runInPlace(c, row, "reduceNeighbored", 1,
             [&](unsigned grid) { reduceNeighbored<<<grid, c.block>>>(c.work.get(), c.out.get(), c.n); });
}

void runNeighboredLess(Context& c, lab::Measurement& row) {
  runInPlace(c, row, "reduceNeighboredLess", 1,
             [&](unsigned grid) { reduceNeighboredLess<<<grid, c.block>>>(c.work.get(), c.out.get(), c.n); });
}

void runInterleaved(Context& c, lab::Measurement& row) {
  runInPlace(c, row, "reduceInterleaved", 1,
             [&](unsigned grid) { reduceInterleaved<<<grid, c.block>>>(c.work.get(), c.out.get(), c.n); });
}

void runUnroll2(Context& c, lab::Measurement& row) {
  runInPlace(c, row, "reduceUnroll2", 2,
             [&](unsigned grid) { reduceUnroll2<<<grid, c.block>>>(c.work.get(), c.out.get()); });
}

void runUnroll4(Context& c, lab::Measurement& row) {
  runInPlace(c, row, "reduceUnroll4", 4,
             [&](unsigned grid) { reduceUnroll4<<<grid, c.block>>>(c.work.get(), c.out.get()); });
}

void runUnroll8(Context& c, lab::Measurement& row) {
  runInPlace(c, row, "reduceUnroll8", 8,
             [&](unsigned grid) { reduceUnroll8<<<grid, c.block>>>(c.work.get(), c.out.get(), c.n); });
}

/// The unrolled last warp reads 64 elements of a block, and the steps above it assume halves.
bool canUnrollLastWarp(const Context& c, lab::Measurement& row) {
  if (c.block >= 64 && c.powerOfTwoBlock()) return true;
  skip(row, "needs a block of 64, 128, 256, 512 or 1024 threads");
  return false;
}

void runUnroll8Warp(Context& c, lab::Measurement& row) {
  if (!canUnrollLastWarp(c, row)) return;
  runInPlace(c, row, "reduceUnroll8Warp", 8,
             [&](unsigned grid) { reduceUnroll8Warp<<<grid, c.block>>>(c.work.get(), c.out.get(), c.n); });
}

void runUnroll8Full(Context& c, lab::Measurement& row) {
  if (!canUnrollLastWarp(c, row)) return;
  runInPlace(c, row, "reduceUnroll8Full", 8,
             [&](unsigned grid) { reduceUnroll8Full<<<grid, c.block>>>(c.work.get(), c.out.get(), c.n); });
}

void runTemplate(Context& c, lab::Measurement& row) {
  if (!canUnrollLastWarp(c, row)) return;
  runInPlace(c, row, "reduceTemplate", 8, [&](unsigned grid) {
    int* in = c.work.get();
    int* out = c.out.get();
    switch (c.block) {
      case 1024: reduceTemplate<1024><<<grid, 1024>>>(in, out, c.n); break;
      case 512: reduceTemplate<512><<<grid, 512>>>(in, out, c.n); break;
      case 256: reduceTemplate<256><<<grid, 256>>>(in, out, c.n); break;
      case 128: reduceTemplate<128><<<grid, 128>>>(in, out, c.n); break;
      default: reduceTemplate<64><<<grid, 64>>>(in, out, c.n); break;
    }
  });
}

void runTemplateShared(Context& c, lab::Measurement& row) {
  if (!canUnrollLastWarp(c, row)) return;
  runReadOnly(c, row, "reduceTemplateShared", 8, [&](unsigned grid) {
    const int* in = c.source.get();
    int* out = c.out.get();
    switch (c.block) {
      case 1024: reduceTemplateShared<1024><<<grid, 1024>>>(in, out, c.n); break;
      case 512: reduceTemplateShared<512><<<grid, 512>>>(in, out, c.n); break;
      case 256: reduceTemplateShared<256><<<grid, 256>>>(in, out, c.n); break;
      case 128: reduceTemplateShared<128><<<grid, 128>>>(in, out, c.n); break;
      default: reduceTemplateShared<64><<<grid, 64>>>(in, out, c.n); break;
    }
  });
}

/// Enough blocks to fill the device a few times over, and no more than there is work.
unsigned fillingGrid(const Context& c) {
  int device = 0;
  int processors = 0;
  LAB_CHECK(cudaGetDevice(&device));
  LAB_CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
  const unsigned useful = lab::ceilDiv(c.n, std::size_t{4} * c.block);
  return std::min(useful, static_cast<unsigned>(processors) * (2048 / c.block));
}

void runShuffle(Context& c, lab::Measurement& row) {
  if (c.block % 32 != 0) return skip(row, "needs whole warps");
  runPartial(
      c, row, "reduceShuffle", fillingGrid(c), [] {},
      [&](unsigned grid) { reduceShuffle<<<grid, c.block>>>(c.source.get(), c.out.get(), c.n); });
}

void runSinglePass(Context& c, lab::Measurement& row) {
  if (c.block % 32 != 0) return skip(row, "needs whole warps");
  const unsigned grid = std::max(1u, fillingGrid(c));
  lab::DeviceArray<int> sums(grid + 1);
  lab::DeviceArray<unsigned> finished(1);
  finished.clear();
  row.kernel = "reduceSinglePass";
  row.grid = dim3(grid);
  row.block = dim3(c.block);
  lab::timeRounds(
      c.options.rounds, row, [] {},
      [&] {
        reduceSinglePass<<<grid, c.block>>>(c.source.get(), sums.get(), finished.get(), c.n);
        lab::launched("reduceSinglePass");
      },
      [&] {
        int total = 0;
        LAB_CHECK(cudaMemcpy(&total, sums.get() + grid, sizeof total, cudaMemcpyDeviceToHost));
        c.result = total;
      });
  judge(c, row, c.reference);
}

// ------------------------------------------------------------------------------------------------- other structures

void runSharedNeighbored(Context& c, lab::Measurement& row) {
  runReadOnly(c, row, "reduceSharedNeighbored", 1, [&](unsigned grid) {
    reduceSharedNeighbored<<<grid, c.block, c.block * sizeof(int)>>>(c.source.get(), c.out.get(), c.n);
  });
}

void runSharedInterleaved(Context& c, lab::Measurement& row) {
  runReadOnly(c, row, "reduceSharedInterleaved", 1, [&](unsigned grid) {
    reduceSharedInterleaved<<<grid, c.block, c.block * sizeof(int)>>>(c.source.get(), c.out.get(), c.n);
  });
}

void runButterfly(Context& c, lab::Measurement& row) {
  if (!c.powerOfTwoBlock()) return skip(row, "needs a block that is a power of two");
  runReadOnly(c, row, "reduceButterfly", 1, [&](unsigned grid) {
    reduceButterfly<<<grid, c.block, c.block * sizeof(int)>>>(c.source.get(), c.out.get(), c.work.get(), c.n);
  });
  std::vector<int> all(c.n);
  c.work.download(all.data(), c.n);
  for (unsigned i = 0; i < c.n; ++i) {
    if (all[i] == c.partials[i / c.block]) continue;
    row.verified = lab::Verified::no;
    row.note = "thread " + std::to_string(i) + " did not end with its block's total";
    return;
  }
}

template <unsigned Chunks>
void runCascading(Context& c, lab::Measurement& row) {
  runReadOnly(c, row, "reduceCascading", Chunks, [&](unsigned grid) {
    reduceCascading<<<grid, c.block, c.block * sizeof(int)>>>(c.source.get(), c.out.get(), c.n, Chunks);
  });
}

/// No host sum: the partial sums are reduced by further launches until one value is left. A launch is the only
/// synchronisation of a whole grid that is needed.
void runMultiKernel(Context& c, lab::Measurement& row) {
  row.kernel = "reduceSharedInterleaved";
  row.grid = dim3(lab::ceilDiv(c.n, c.block));
  row.block = dim3(c.block);
  if (c.block < 2) return skip(row, "needs at least two threads, or the partial sums never get fewer");
  const int* left = nullptr;
  lab::timeRounds(
      c.options.rounds, row, [] {},
      [&] {
        const int* from = c.source.get();
        int* to = c.out.get();
        for (unsigned length = c.n; length > 0;) {
          const unsigned grid = lab::ceilDiv(length, c.block);
          reduceSharedInterleaved<<<grid, c.block, c.block * sizeof(int)>>>(from, to, length);
          lab::launched("reduceSharedInterleaved");
          from = left = to;
          to = from == c.out.get() ? c.work.get() : c.out.get();
          if (grid == 1) break;
          length = grid;
        }
      },
      [&] {
        int sum = 0;
        if (left != nullptr) LAB_CHECK(cudaMemcpy(&sum, left, sizeof sum, cudaMemcpyDeviceToHost));
        c.result = sum;
      });
  judge(c, row, c.reference);
}

template <class Operator>
void runOperator(Context& c, lab::Measurement& row) {
  row.kernel = "reduceOperator";
  const unsigned grid = fillingGrid(c);
  row.grid = dim3(grid);
  row.block = dim3(c.block);
  int value = 0;
  lab::timeRounds(
      c.options.rounds, row, [] {},
      [&] {
        if (grid == 0) return;
        reduceOperator<Operator><<<grid, c.block, c.block * sizeof(int)>>>(c.source.get(), c.out.get(), c.n);
        lab::launched("reduceOperator");
      },
      [&] {
        c.out.download(c.partials.data(), grid);
        value = Operator::kIdentity;
        for (unsigned i = 0; i < grid; ++i) value = Operator::combine(value, c.partials[i]);
      });
  int expected = Operator::kIdentity;
  for (const int x : c.host) expected = Operator::combine(expected, Operator::map(x));
  c.result = value;
  judge(c, row, expected);
}

void runMean(Context& c, lab::Measurement& row) {
  runOperator<Addition>(c, row);
  row.result = c.n == 0 ? "0" : std::to_string(static_cast<double>(c.result) / c.n);
}

/// The variants that run by default are the ladder whose figures are published, its CPU baselines, and the best rung.
const std::vector<lab::Variant<Context>> kVariants = {
    {"seq", "red.seq", "Sequential loop (CPU)", true, runSequential},
    {"rec_neighbored", "red.rec_neighbored", "Recursive neighbored (CPU)", true, runRecNeighbored},
    {"rec_interleaved", "red.rec_interleaved", "Recursive interleaved (CPU)", true, runRecInterleaved},
    {"neighbored", "red.neighbored", "Neighbored (divergence)", true, runNeighbored},
    {"neighbored_less", "red.neighbored_less", "Neighbored (no divergence)", true, runNeighboredLess},
    {"interleaved", "red.interleaved", "Interleaved", true, runInterleaved},
    {"unroll2", "red.unroll2", "Unroll 2 blocks", true, runUnroll2},
    {"unroll4", "red.unroll4", "Unroll 4 blocks", true, runUnroll4},
    {"unroll8", "red.unroll8", "Unroll 8 blocks", true, runUnroll8},
    {"unroll8_warp", "red.unroll8_warp", "Unroll 8 + last warp", true, runUnroll8Warp},
    {"unroll8_full", "red.unroll8_full", "Unroll 8 + loop + last warp", true, runUnroll8Full},
    {"template", "red.template", "Template", true, runTemplate},
    {"template_smem", "red.template_smem", "Template + shared memory", true, runTemplateShared},
    {"shuffle", "red.best", "Shuffle, 16-byte loads", true, runShuffle},
    {"single_pass", "red.best", "Shuffle, four loads at once, one launch", true, runSinglePass},
    {"smem_neighbored", "red.smem_neighbored", "Shared memory, neighbored", false, runSharedNeighbored},
    {"smem_interleaved", "red.smem_interleaved", "Shared memory, interleaved", false, runSharedInterleaved},
    {"butterfly", "red.butterfly", "Butterfly all-reduce", false, runButterfly},
    {"multikernel", "red.multikernel", "Kernels until one value is left", false, runMultiKernel},
    {"cascading_1", "red.cascading", "Cascading, 1 chunk", false, runCascading<1>},
    {"cascading_2", "red.cascading", "Cascading, 2 chunks", false, runCascading<2>},
    {"cascading_4", "red.cascading", "Cascading, 4 chunks", false, runCascading<4>},
    {"cascading_8", "red.cascading", "Cascading, 8 chunks", false, runCascading<8>},
    {"cascading_16", "red.cascading", "Cascading, 16 chunks", false, runCascading<16>},
    {"cascading_32", "red.cascading", "Cascading, 32 chunks", false, runCascading<32>},
    {"max", "red.other_ops", "Maximum", false, runOperator<Maximum>},
    {"min", "red.other_ops", "Minimum", false, runOperator<Minimum>},
    {"product", "red.other_ops", "Product of 2x+1 modulo 2^32", false, runOperator<Product>},
    {"mean", "red.other_ops", "Mean", false, runMean},
};

void noteBestCascade(lab::Output& output) {
  const lab::Measurement* best = nullptr;
  for (const lab::Measurement& row : output.rows()) {
    if (row.spec == "red.cascading" && (best == nullptr || row.kernelMs < best->kernelMs)) best = &row;
  }
  if (best != nullptr) output.note("fastest cascade: " + best->title);
}

}  // namespace

int main(int argc, char** argv) {
  lab::Options options;
  options.size = std::size_t{1} << 26;
  options.block = 512;
  options = lab::parse(argc, argv, options, " [--trace]");
  if (options.size > kLargestSize) lab::usageError("--size: at most 2^30 elements");
  if (options.trace) {
    trace::show();
    return 0;
  }
  lab::mustFit(options.size, 2 * sizeof(int), 2 * sizeof(int));
  lab::Output output("reduction", options);
  Context context(options);
  lab::runVariants(kVariants, options, context, output);
  noteBestCascade(output);
  lab::noteBestBandwidth(output);
  return output.finish("rec_interleaved");
}
