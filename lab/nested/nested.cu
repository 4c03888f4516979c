// Nested reductions: kernels that launch kernels, beside the plain reduction of neighbored pairs. Blocks are powers of
// two from 4 on; the array is padded with zeros to whole blocks. Every block leaves a sum, which the host adds; sums
// are exact. The variants without a barrier and without a tail launch are specimens of races: their errors are
// reported, not judged.
//
// Compile with relocatable device code: nvcc -std=c++17 -rdc=true lab/nested/nested.cu
//
//   nested [--size N] [--block B] [--variant NAME] [--rounds R] [--json]
#include "../common/output.hpp"
#include "../reduction/cpu.hpp"
#include "../reduction/in_place.cuh"
#include "kernels.cuh"

namespace {

constexpr std::size_t kLargestSize = std::size_t{1} << 26;

struct Context {
  explicit Context(const lab::Options& given)
      : options(given),
        n(static_cast<unsigned>(given.size)),
        block(given.block),
        grid(lab::ceilDiv(given.size, given.block)),
        host(std::size_t{grid} * block, 0),
        source(host.size()),
        work(host.size()),
        out(grid),
        launches(1),
        partials(grid) {
    std::srand(1);
    for (std::size_t i = 0; i < n; ++i) reference += host[i] = std::rand() % 10;
    source.upload(host.data(), host.size());
  }

  const lab::Options& options;
  unsigned n;
  unsigned block;
  unsigned grid;
  std::vector<int> host;
  lab::DeviceArray<int> source, work, out;
  lab::DeviceArray<unsigned> launches;
  std::vector<int> partials;
  long long reference = 0;
  long long result = 0;
};

void judge(const Context& c, lab::Measurement& row) {
  row.bytes = 4.0 * c.n;
  row.result = std::to_string(c.result);
  row.verified = c.result == c.reference ? lab::Verified::yes : lab::Verified::no;
}

void runSequential(Context& c, lab::Measurement& row) {
  lab::timeCpuRounds(
      c.options.rounds, row, [&] { c.result = 0; },
      [&] {
        for (unsigned i = 0; i < c.n; ++i) c.result += c.host[i];
      });
  judge(c, row);
}

/// The courses' baseline: the recursion over halves, in place.
void runRecursive(Context& c, lab::Measurement& row) {
  std::vector<int> copy;
  lab::timeCpuRounds(
      c.options.rounds, row, [&] { copy = c.host; }, [&] { c.result = cpu::sumInterleaved(copy.data(), c.n); });
  judge(c, row);
}

/// Notes how many children there were, and that they were as many as there should be.
void judgeChildren(const Context& c, lab::Measurement& row, unsigned expected) {
  unsigned children = 0;
  c.launches.download(&children, 1);
  row.note = std::to_string(children) + " children";
  if (children != expected) row.verified = lab::Verified::no;
}

template <class Launch>
void measure(Context& c, lab::Measurement& row, const char* kernel, unsigned block, Launch launch) {
  row.kernel = kernel;
  row.grid = dim3(c.grid);
  row.block = dim3(block);
  lab::timeRounds(
      c.options.rounds, row,
      [&] {
        c.launches.clear();
        if (c.grid == 0) return;
        LAB_CHECK(cudaMemcpy(c.work.get(), c.source.get(), c.host.size() * sizeof(int), cudaMemcpyDeviceToDevice));
      },
      [&] {
        if (c.grid == 0) return;
        launch();
        lab::launched(kernel);
      },
      [&] {
        c.out.download(c.partials.data(), c.grid);
        c.result = 0;
        for (const int partial : c.partials) c.result += partial;
      });
  judge(c, row);
}

void runNeighbored(Context& c, lab::Measurement& row) {
  measure(c, row, "reduceNeighbored", c.block,
          [&] { reduceNeighbored<<<c.grid, c.block>>>(c.work.get(), c.out.get(), c.n); });
}

/// Levels below the first: a part of 512 is halved eight times until two elements are left.
unsigned levels(const Context& c) {
  unsigned count = 0;
  for (unsigned size = c.block; size > 2; size /= 2) ++count;
  return count;
}

template <ByBlock When>
void runByBlock(Context& c, lab::Measurement& row) {
  measure(c, row, "nestedByBlock", c.block,
          [&] { nestedByBlock<When><<<c.grid, c.block>>>(c.work.get(), c.out.get(), c.block, c.launches.get()); });
  judgeChildren(c, row, levels(c) * c.grid);
}

template <bool Tail>
void runByGrid(Context& c, lab::Measurement& row) {
  measure(c, row, "nestedByGrid", c.block / 2, [&] {
    nestedByGrid<Tail><<<c.grid, c.block / 2>>>(c.work.get(), c.out.get(), c.block / 2, c.block, c.launches.get());
  });
  judgeChildren(c, row, c.grid == 0 ? 0 : levels(c));
}

/// A variant that races on purpose is shown, not judged.
template <void (*Run)(Context&, lab::Measurement&)>
void runSpecimen(Context& c, lab::Measurement& row) {
  Run(c, row);
  row.note += row.verified == lab::Verified::no ? ", races on purpose: the sum is wrong"
                                                : ", races on purpose: right by luck this time";
  row.verified = lab::Verified::notApplicable;
}

const std::vector<lab::Variant<Context>> kVariants = {
    {"rec_interleaved", "red.rec_interleaved", "Recursion over halves (CPU)", true, runRecursive},
    {"seq", "red.seq", "Sequential loop (CPU)", true, runSequential},
    {"neighbored", "red.neighbored", "Neighbored pairs, not nested", true, runNeighbored},
    {"by_block_tail", "red.nested_sync", "A child for each block, after the grid", true, runByBlock<ByBlock::tail>},
    {"by_block", "red.nested_nosync", "A child for each block, after a barrier", true, runByBlock<ByBlock::barrier>},
    {"by_grid", "red.nested_fixed", "A child for all blocks, after the grid", true, runByGrid<true>},
    {"no_barrier", "red.nested_nosync", "For each block, no barrier (wrong)", false,
     runSpecimen<runByBlock<ByBlock::noBarrier>>},
    {"no_tail", "red.nested_fixed", "For all blocks, at once (wrong)", false, runSpecimen<runByGrid<false>>},
};

bool takes(unsigned block) { return block >= 4 && (block & (block - 1)) == 0; }

}  // namespace

int main(int argc, char** argv) {
  lab::Options options;
  options.size = std::size_t{1} << 22;
  options.block = 512;
  options = lab::parse(argc, argv, options);
  if (options.size > kLargestSize) lab::usageError("--size: at most 2^26 elements");
  if (!takes(options.block)) lab::usageError("--block: a power of two from 4 to 1024");
  // Room for all children that may wait at once.
  LAB_CHECK(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, 2048 + options.size / options.block * 2));
  lab::mustFit(options.size, 2 * sizeof(int), 2 * sizeof(int));
  lab::Output output("nested", options);
  Context context(options);
  lab::runVariants(kVariants, options, context, output);
  return output.finish("rec_interleaved");
}
