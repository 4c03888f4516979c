// Sorting: bitonic networks, a kernel for each column or as many columns as possible in shared memory, radix sort,
// merge sort along diagonals and radix sort of one sweep a digit, against the C++ library's sort. A network sorts
// powers of two; other lengths are filled up with the largest key.
// --trace shows the network of 16 elements at work and tries it with all zeros and ones.
//
//   sorting [--size N] [--variant NAME] [--rounds R] [--json] [--trace]
#include <random>

#include "../common/output.hpp"
#include "kernels.cuh"
#include "merge.cuh"
#include "network.hpp"
#include "onesweep.cuh"

namespace {

using sorting::Keys;

constexpr std::size_t kLargestSize = std::size_t{1} << 28;
constexpr unsigned kBlock = 256;

std::size_t padded(std::size_t n) {
  std::size_t length = kTile;
  while (length < n) length *= 2;
  return length;
}

struct Context {
  explicit Context(const lab::Options& given)
      : options(given), input(given.size), found(given.size), keys(padded(given.size)) {
    std::mt19937 random(20);
    for (unsigned& key : input) key = random();
    expected = input;
    std::sort(expected.begin(), expected.end());
  }

  const lab::Options& options;
  Keys input;
  Keys expected;
  Keys found;
  lab::DeviceArray<unsigned> keys;
};

void judge(Context& c, lab::Measurement& row) {
  row.verified = c.found == c.expected ? lab::Verified::yes : lab::Verified::no;
}

void runLibrary(Context& c, lab::Measurement& row) {
  lab::timeCpuRounds(
      c.options.rounds, row, [&] { c.found = c.input; }, [&] { std::sort(c.found.begin(), c.found.end()); });
  judge(c, row);
}

template <class Launch>
void runDevice(Context& c, lab::Measurement& row, Launch launch) {
  row.kernel = "sorting";  // what the names of all of its kernels begin with
  row.block = dim3(kBlock);
  lab::timeRounds(
      c.options.rounds, row,
      [&] {
        c.keys.fillBytes(0xff);
        c.keys.upload(c.input.data(), c.input.size());
      },
      [&] {
        if (!c.input.empty()) launch();
      },
      [&] { c.keys.download(c.found.data(), c.found.size()); });
  judge(c, row);
}

void column(Context& c, dim3 grid, unsigned stage, unsigned distance) {
  sortingColumn<<<grid, kBlock>>>(c.keys.get(), static_cast<unsigned>(c.keys.length() / 2), stage, distance);
  lab::launched("sortingColumn");
}

void runColumns(Context& c, lab::Measurement& row) {
  row.grid = dim3(lab::ceilDiv(c.keys.length() / 2, kBlock));
  runDevice(c, row, [&] {
    for (const sorting::Column& each : sorting::sortColumns(c.keys.length())) {
      column(c, row.grid, static_cast<unsigned>(each.stage), static_cast<unsigned>(each.distance));
    }
  });
}

void runShared(Context& c, lab::Measurement& row) {
  row.grid = dim3(static_cast<unsigned>(c.keys.length() / kTile));
  const dim3 columns(lab::ceilDiv(c.keys.length() / 2, kBlock));
  const auto tiles = [&](unsigned first, unsigned last) {
    sortingTile<false><<<row.grid, kTile / 2>>>(c.keys.get(), first, last);
    lab::launched("sortingTile");
  };
  runDevice(c, row, [&] {
    tiles(2, kTile);
    for (unsigned stage = 2 * kTile; stage <= c.keys.length(); stage *= 2) {
      for (unsigned distance = stage / 2; distance >= kTile; distance /= 2) column(c, columns, stage, distance);
      tiles(stage, stage);
    }
  });
  row.block = dim3(kTile / 2);
}

void runRadix(Context& c, lab::Measurement& row) {
  const unsigned n = static_cast<unsigned>(c.input.size());
  row.grid = dim3(lab::ceilDiv(n, kRadixBlock));
  lab::DeviceArray<unsigned> other(n);
  lab::DeviceArray<unsigned> counts(std::size_t{16} * row.grid.x);
  runDevice(c, row, [&] {
    unsigned* from = c.keys.get();
    unsigned* to = other.get();
    for (unsigned shift = 0; shift < 32; shift += 4) {  // an even number of passes: the result is where the keys were
      sortingCount<<<row.grid, kRadixBlock>>>(from, n, shift, counts.get());
      lab::launched("sortingCount");
      sortingScan<<<1, kRadixBlock>>>(counts.get(), 16 * row.grid.x);
      lab::launched("sortingScan");
      sortingScatter<<<row.grid, kRadixBlock>>>(from, n, shift, counts.get(), to);
      lab::launched("sortingScatter");
      std::swap(from, to);
    }
  });
}

void runMerge(Context& c, lab::Measurement& row) {
  static_assert(kTile % kMergeTile == 0, "a run is whole tiles of the merge");
  const unsigned n = static_cast<unsigned>(c.input.size());
  row.grid = dim3(lab::ceilDiv(n, kMergeTile));
  lab::DeviceArray<unsigned> other(c.keys.length());
  runDevice(c, row, [&] {
    sortingTile<true><<<lab::ceilDiv(n, kTile), kTile / 2>>>(c.keys.get(), 2, kTile);
    lab::launched("sortingTile");
    unsigned* from = c.keys.get();
    unsigned* to = other.get();
    for (std::size_t run = kTile; run < n; run *= 2) {
      sortingMerge<<<row.grid, kMergeBlock>>>(from, to, n, static_cast<unsigned>(run));
      lab::launched("sortingMerge");
      std::swap(from, to);
    }
    if (from != c.keys.get()) {
      LAB_CHECK(cudaMemcpyAsync(to, from, c.input.size() * sizeof(unsigned), cudaMemcpyDeviceToDevice));
    }
  });
  row.block = dim3(kMergeBlock);
}

constexpr unsigned kSweepWarps = 8;
constexpr unsigned kSweepEach = 24;

void runOnesweep(Context& c, lab::Measurement& row) {
  const unsigned n = static_cast<unsigned>(c.input.size());
  const unsigned tile = onesweepTile(kSweepWarps, kSweepEach);
  row.grid = dim3(lab::ceilDiv(n, tile));
  lab::DeviceArray<unsigned> other(n);
  lab::DeviceArray<unsigned> counts(std::size_t{kDigitPasses} * kDigits);
  lab::DeviceArray<unsigned> words(kDigitPasses * onesweepWords(n, tile));
  const unsigned counting = std::min(lab::ceilDiv(n, 16 * kDigitThreads), 1024u);
  runDevice(c, row, [&] {
    LAB_CHECK(cudaMemsetAsync(counts.get(), 0, counts.length() * sizeof(unsigned)));
    LAB_CHECK(cudaMemsetAsync(words.get(), 0, words.length() * sizeof(unsigned)));
    launchOnesweep<kSweepWarps, kSweepEach>(c.keys.get(), c.keys.get(), other.get(), n, counting, counts.get(),
                                            words.get());
    for (const char* counting : {"sortingDigits", "sortingStarts"}) lab::launched(counting);
    for (unsigned pass = 0; pass < kDigitPasses; ++pass) lab::launched("sortingOnesweep");
  });
  row.block = dim3(32 * kSweepWarps);
}

const std::vector<lab::Variant<Context>> kVariants = {
    {"library", "alg.sort_bound", "The C++ library's sort on the host", true, runLibrary},
    {"columns", "alg.bitonic_sort", "Bitonic sort, a kernel for each column", true, runColumns},
    {"shared", "alg.bitonic_sort", "Bitonic sort, short distances in shared memory", true, runShared},
    {"merge", "alg.sort_bound", "Merge sort, tiles and then runs along diagonals", true, runMerge},
    {"radix", "alg.sort_bound", "Radix sort, four bits at a time", true, runRadix},
    {"onesweep", "alg.sort_bound", "Radix sort, eight bits at a time in one sweep each", true, runOnesweep},
};

void print(const char* what, const Keys& keys) {
  std::printf("%-12s", what);
  for (const unsigned key : keys) std::printf(" %2u", key);
  std::printf("\n");
}

/// True if the network of `length` elements sorts all zeros and ones, and builds a bitonic sequence before its last
/// merge.
bool sortsAll(std::size_t length) {
  const std::vector<sorting::Column> columns = sorting::sortColumns(length);
  const std::size_t last = sorting::mergeColumns(length).size();
  for (unsigned word = 0; word < 1u << length; ++word) {
    Keys keys = sorting::zeroOne(word, length);
    for (std::size_t k = 0; k < columns.size(); ++k) {
      if (k == columns.size() - last && !sorting::isBitonic(keys)) return false;
      sorting::apply(columns[k], keys);
    }
    if (!std::is_sorted(keys.begin(), keys.end())) return false;
  }
  return true;
}

/// True if every rotation of every sequence of zeros and ones that rises and falls is split and merged rightly.
bool mergesAll(std::size_t length, int& sequences) {
  sequences = 0;
  for (unsigned word = 0; word < 1u << length; ++word) {
    Keys keys = sorting::zeroOne(word, length);
    if (!sorting::isBitonic(keys)) continue;
    ++sequences;
    const std::vector<sorting::Column> columns = sorting::mergeColumns(length);
    sorting::apply(columns[0], keys);
    if (!sorting::splitIsRight(keys)) return false;
    for (std::size_t k = 1; k < columns.size(); ++k) sorting::apply(columns[k], keys);
    if (!std::is_sorted(keys.begin(), keys.end())) return false;
  }
  return true;
}

int trace() {
  const Keys rises = {1, 4, 6, 9, 8, 7, 3, 2};
  const Keys rotated = {8, 7, 3, 2, 1, 4, 6, 9};
  const Keys zigzag = {1, 4, 2, 5, 3, 6, 0, 7};
  std::printf("bitonic: rises and falls %s, rotated %s, zigzag %s\n", sorting::isBitonic(rises) ? "yes" : "no",
              sorting::isBitonic(rotated) ? "yes" : "no", sorting::isBitonic(zigzag) ? "yes" : "no");
  Keys keys = rises;
  sorting::apply(sorting::mergeColumns(8)[0], keys);
  print("split", keys);

  keys = {10, 3, 15, 0, 12, 7, 1, 9, 4, 14, 8, 2, 13, 6, 11, 5};
  print("16 keys", keys);
  std::size_t comparators = 0;
  const std::vector<sorting::Column> columns = sorting::sortColumns(keys.size());
  for (const sorting::Column& column : columns) {
    comparators += sorting::apply(column, keys);
    print(("distance " + std::to_string(column.distance)).c_str(), keys);
  }
  std::printf("%zu columns, %zu comparators\n", columns.size(), comparators);
  int sequences = 0;
  const bool sorts = sortsAll(16);
  const bool merges = mergesAll(16, sequences);
  std::printf("all 65536 sequences of 16 zeros and ones: %s\n", sorts ? "sorted" : "NOT SORTED");
  std::printf("all %d bitonic ones: %s\n", sequences, merges ? "split and merged" : "NOT MERGED");
  std::printf("steps for n elements, log n (log n + 1) / 2:");
  for (std::size_t n = 2; n <= 1024; n *= 2) std::printf(" %zu", sorting::sortColumns(n).size());
  std::printf("\n");
  return sorts && merges ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  lab::Options options;
  options.size = std::size_t{1} << 18;
  options.block = kBlock;
  options = lab::parse(argc, argv, options, " [--trace]");
  if (options.trace) return trace();
  if (options.size > kLargestSize) lab::usageError("--size: at most 2^28 keys");
  lab::mustFit(padded(options.size), 3 * sizeof(unsigned), 2 * sizeof(unsigned));
  lab::Output output("sorting", options);
  Context context(options);
  lab::runVariants(kVariants, options, context, output);
  return output.finish("library");
}
