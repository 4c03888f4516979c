// How a grid is laid on a machine: threads, blocks and multiprocessors, blocks in any order, the same grid on few and
// many multiprocessors, multiprocessors left idle; and a value that is computed again instead of read.
//
//   machine [--size N] [--variant NAME] [--rounds R] [--json] [--trace]        N: blocks
#include <numeric>
#include <random>

#include "../common/output.hpp"
#include "kernels.cuh"

namespace {

constexpr std::size_t kLargestSize = std::size_t{1} << 16;
constexpr unsigned kBlock = 64;
constexpr unsigned kRows = 128;  // of the product whose blocks come in any order

struct Context {
  explicit Context(const lab::Options& given) : options(given), blocks(static_cast<unsigned>(given.size)) {}
  const lab::Options& options;
  unsigned blocks;
};

cudaDeviceProp device() {
  cudaDeviceProp properties;
  LAB_CHECK(cudaGetDeviceProperties(&properties, 0));
  return properties;
}

/// Runs `action` once, which launches kernels and says whether all was as it must be.
template <class Action>
void runOnce(lab::Measurement& row, const char* kernel, dim3 grid, dim3 block, Action action) {
  bool right = false;
  row.kernel = kernel;
  row.grid = grid;
  row.block = block;
  lab::timeRounds(1, row, [] {}, [&] { right = action(); }, [] {});
  row.verified = right ? lab::Verified::yes : lab::Verified::no;
}

/// Every thread of the grid runs once, and a block stays where it has begun.
void visit(Context& c, lab::Measurement& row, dim3 grid, dim3 block) {
  const std::size_t threads = block.x * block.y * block.z;
  const std::size_t all = std::size_t{grid.x} * grid.y * grid.z * threads * (c.blocks > 0 ? 1 : 0);
  runOnce(row, "machineVisit", grid, block, [&] {
    lab::DeviceArray<unsigned> visits(all), first(all), last(all);
    visits.clear();
    if (all > 0) {
      machineVisit<<<grid, block>>>(visits.get(), first.get(), last.get());
      lab::launched("machineVisit");
    }
    std::vector<unsigned> times(all), begun(all), ended(all);
    visits.download(times.data(), all);
    first.download(begun.data(), all);
    last.download(ended.data(), all);
    bool right = true;
    for (std::size_t i = 0; i < all; ++i)
      right = right && times[i] == 1 && begun[i] == begun[i / threads * threads] && ended[i] == begun[i];
    row.note = std::to_string(all) + " threads, each once";
    return right;
  });
}

void runHierarchy(Context& c, lab::Measurement& row) { visit(c, row, dim3(std::max(c.blocks, 1u)), dim3(kBlock)); }

void runHierarchy3d(Context& c, lab::Measurement& row) {
  visit(c, row, dim3(std::max(c.blocks, 1u), 2, 3), dim3(5, 4, 3));
}

std::vector<float> product(const std::vector<unsigned>& order) {
  std::vector<float> a(kRows * kRows), b(a.size()), c(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<float>(i % 7);
    b[i] = static_cast<float>(i % 5);
  }
  lab::DeviceArray<float> left(a.size()), right(a.size()), out(a.size());
  lab::DeviceArray<unsigned> tiles(order.size());
  left.upload(a.data(), a.size());
  right.upload(b.data(), b.size());
  tiles.upload(order.data(), order.size());
  machineProduct<<<static_cast<unsigned>(order.size()), dim3(kTile, kTile)>>>(left.get(), right.get(), out.get(), kRows,
                                                                              tiles.get());
  lab::launched("machineProduct");
  out.download(c.data(), c.size());
  return c;
}

/// 64 blocks of 256 threads. How many a multiprocessor takes at a time is its own; what comes out is not.
void runAnyOrder(Context&, lab::Measurement& row) {
  constexpr unsigned kBlocks = kRows / kTile * (kRows / kTile);
  runOnce(row, "machineProduct", dim3(kBlocks), dim3(kTile, kTile), [&] {
    std::vector<unsigned> order(kBlocks);
    std::iota(order.begin(), order.end(), 0u);
    const std::vector<float> expected = product(order);
    bool right = true;
    for (std::size_t i = 0; i < expected.size(); i += 997) {
      float sum = 0;
      for (std::size_t k = 0; k < kRows; ++k)
        sum += static_cast<float>((i / kRows * kRows + k) % 7) * static_cast<float>((k * kRows + i % kRows) % 5);
      right = right && sum == expected[i];
    }
    std::mt19937 random(1);
    for (int round = 0; round < 2; ++round) {
      std::shuffle(order.begin(), order.end(), random);
      right = right && product(order) == expected;
    }
    int resident = 0;
    LAB_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, machineProduct, kTile * kTile, 0));
    row.note = std::to_string(kBlocks) + " blocks in three orders; " + std::to_string(resident) +
               " fit on a multiprocessor at a time";
    return right && resident * int(kTile * kTile) <= device().maxThreadsPerMultiProcessor;
  });
}

struct Waves {
  unsigned blocks, count;
  long checksum;
};

/// Eight equal blocks that take as much shared memory as a block may: how many rounds the multiprocessors need.
Waves eightBlocks() {
  constexpr unsigned kBlocks = 8, kEach = 10007;
  const cudaDeviceProp properties = device();
  std::vector<int> in(kBlocks * kEach), sums(kBlocks);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int>(i % 101);
  lab::DeviceArray<int> from(in.size()), to(kBlocks);
  from.upload(in.data(), in.size());
  int resident = 0;
  LAB_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, machineAlone, 256, properties.sharedMemPerBlock));
  machineAlone<<<kBlocks, 256, properties.sharedMemPerBlock>>>(from.get(), to.get(), kEach);
  lab::launched("machineAlone");
  to.download(sums.data(), kBlocks);
  const unsigned atOnce = static_cast<unsigned>(resident * properties.multiProcessorCount);
  long checksum = 0, expected = 0;
  for (const int sum : sums) checksum += sum;
  for (const int value : in) expected += value;
  return {kBlocks, lab::ceilDiv(kBlocks, atOnce), checksum == expected ? checksum : -1};
}

void runScalability(Context&, lab::Measurement& row) {
  runOnce(row, "machineAlone", dim3(8), dim3(256), [&] {
    const Waves waves = eightBlocks();
    row.note = "8 blocks in " + std::to_string(waves.count) + " waves";
    return waves.checksum >= 0 && waves.count >= 1;
  });
}

/// What each thread does, as it counts itself, against 2 n^2 operations and 2 n^2 + n accesses for a row, 2 n and
/// 2 n + 1 for an element.
template <class Launch>
void countWork(lab::Measurement& row, const char* kernel, dim3 grid, dim3 block, unsigned n, std::size_t threads,
               Work expected, Launch launch) {
  runOnce(row, kernel, grid, block, [&] {
    std::vector<float> ones(n * n, 1.0f), result(ones.size());
    lab::DeviceArray<float> a(ones.size()), c(ones.size());
    lab::DeviceArray<Work> work(threads);
    a.upload(ones.data(), ones.size());
    launch(a.get(), c.get(), work.get());
    lab::launched(kernel);
    std::vector<Work> did(threads);
    work.download(did.data(), threads);
    c.download(result.data(), result.size());
    bool right = true;
    for (const Work& w : did) right = right && w.operations == expected.operations && w.accesses == expected.accesses;
    for (const float value : result) right = right && value == static_cast<float>(n);
    row.note = std::to_string(expected.operations) + " operations, " + std::to_string(expected.accesses) +
               " accesses for each thread";
    return right;
  });
}

constexpr unsigned kSmall = 48;

void runRows(Context&, lab::Measurement& row) {
  const dim3 grid(2), block(32);
  const unsigned long long n = kSmall;
  countWork(row, "machineRow", grid, block, kSmall, kSmall, {2 * n * n, 2 * n * n + n},
            [&](float* a, float* c, Work* w) { machineRow<<<grid, block>>>(a, a, c, kSmall, w); });
}

void runElements(Context&, lab::Measurement& row) {
  const dim3 grid(3, 3), block(16, 16);
  const unsigned long long n = kSmall;
  countWork(row, "machineElement", grid, block, kSmall, kSmall * kSmall, {2 * n, 2 * n + 1},
            [&](float* a, float* c, Work* w) { machineElement<<<grid, block>>>(a, a, c, kSmall, w); });
}

template <class Launch>
void lookUp(Context& c, lab::Measurement& row, const char* kernel, Launch launch) {
  const unsigned n = c.blocks * kBlock;
  std::vector<int> in(n), table(1024), out(n);
  for (unsigned i = 0; i < n; ++i) in[i] = static_cast<int>(i * 37u % 1024u);
  for (int x = 0; x < 1024; ++x) table[static_cast<std::size_t>(x)] = polynomial(x);
  lab::DeviceArray<int> from(n), values(table.size()), to(n);
  from.upload(in.data(), n);
  values.upload(table.data(), table.size());
  runOnce(row, kernel, dim3(c.blocks), dim3(kBlock), [&] {
    if (n > 0) {
      launch(from.get(), values.get(), to.get(), n);
      lab::launched(kernel);
    }
    to.download(out.data(), n);
    bool right = true;
    for (unsigned i = 0; i < n; ++i) right = right && out[i] == polynomial(in[i]);
    return right;
  });
}

void runTable(Context& c, lab::Measurement& row) {
  lookUp(c, row, "machineTable", [&](const int* in, const int* table, int* out, unsigned n) {
    machineTable<<<c.blocks, kBlock>>>(in, table, out, n);
  });
}

void runCompute(Context& c, lab::Measurement& row) {
  lookUp(c, row, "machineCompute",
         [&](const int* in, const int*, int* out, unsigned n) { machineCompute<<<c.blocks, kBlock>>>(in, out, n); });
}

const std::vector<lab::Variant<Context>> kVariants = {
    {"hierarchy", "mm.hierarchy", "Every thread of a grid once, blocks that stay", true, runHierarchy},
    {"hierarchy_3d", "mm.hierarchy", "The same in three dimensions", true, runHierarchy3d},
    {"any_order", "mm.block_scheduler", "A product whose blocks come in three orders", true, runAnyOrder},
    {"scalability", "mm.scalability", "Eight blocks on the multiprocessors that there are", true, runScalability},
    {"work_of_rows", "mm.utilisation", "What a thread does that has a row", true, runRows},
    {"work_of_elements", "mm.utilisation", "What a thread does that has an element", true, runElements},
    {"table", "mem.recompute", "A polynomial from a table", true, runTable},
    {"computed", "mem.recompute", "The same computed again", true, runCompute},
};

/// A product of 2048 rows on this device: which multiprocessors have work, and how much each thread.
void tellUse(const char* what, unsigned blocks, unsigned threads, unsigned long long operations,
             unsigned long long accesses) {
  const unsigned processors = static_cast<unsigned>(device().multiProcessorCount);
  std::printf(
      "%s: %u blocks of %u threads, %u of %u multiprocessors idle; %llu operations and %llu accesses a thread\n", what,
      blocks, threads, blocks < processors ? processors - blocks : 0, processors, operations, accesses);
}

int trace() {
  const unsigned long long n = 2048;
  const Waves waves = eightBlocks();
  std::printf("%d multiprocessors: %u equal blocks in %u waves, sum %ld\n", device().multiProcessorCount, waves.blocks,
              waves.count, waves.checksum);
  tellUse("a row for each thread", static_cast<unsigned>(n) / 128, 128, 2 * n * n, 2 * n * n + n);
  tellUse("an element for each thread", static_cast<unsigned>(n * n / 1024), 1024, 2 * n, 2 * n + 1);
  return waves.checksum < 0 ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  lab::Options options;
  options.size = 1000;
  options.block = kBlock;
  options = lab::parse(argc, argv, options, " [--trace]");
  if (options.trace) return trace();
  if (options.size > kLargestSize) lab::usageError("--size: at most 2^16 blocks");
  lab::mustFit(options.size * kBlock * 6, 3 * sizeof(unsigned), 3 * sizeof(unsigned));
  lab::Output output("machine", options);
  Context context(options);
  lab::runVariants(kVariants, options, context, output);
  return output.finish();
}
