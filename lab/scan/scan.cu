// Prefix sums of n integers: Horn's scan (a racing specimen and two right forms), Blelloch's tree, warp shuffles and a
// single pass with decoupled look-back, at any length; and what scans are for: compaction, radix sort and a cumulative
// distribution. Sums are modulo 2^32, so every answer is exact; it is verified element by element against the
// sequential scan. The racing form is shown by --variant racy or all; its errors are reported, not judged.
//
// --trace shows the algorithms on eight elements and what they cost: additions and steps for one tile.
//
//   scan [--size N] [--block B] [--variant NAME] [--rounds R] [--json] [--trace]
#include <cstdint>
#include <numeric>

#include "../common/bandwidth.hpp"
#include "lookback.cuh"
#include "tiles.cuh"
#include "trace.cuh"
#include "uses.cuh"

namespace {

constexpr std::size_t kLargestSize = std::size_t{1} << 30;  // an index plus a tile must fit in 32 bits
constexpr unsigned kKeyBits = 16;
constexpr unsigned kCdfBins = 256;
// The shape that is fastest on an H200 (tests/gpu/best_rungs.json).
constexpr unsigned kLookbackWarps = 4;
constexpr unsigned kLookbackQuads = 8;
constexpr unsigned kLookbackTile = lookbackTile(kLookbackWarps, kLookbackQuads);

using Array = lab::DeviceArray<unsigned>;

struct Context {
  explicit Context(const lab::Options& given)
      : options(given),
        n(static_cast<unsigned>(given.size)),
        block(given.block),
        host(given.size),
        result(given.size),
        reference(given.size),
        source(given.size),
        out(given.size),
        totals(given.size + 64),
        published(lookbackWords(static_cast<unsigned>(given.size), kLookbackTile)) {
    std::uint64_t state = 11;
    for (unsigned& value : host) {
      state = state * 6364136223846793005ULL + 1442695040888963407ULL;
      value = static_cast<unsigned>(state >> 33) & ((1u << kKeyBits) - 1);
    }
    std::partial_sum(host.begin(), host.end(), reference.begin());
    source.upload(host.data(), n);
  }

  const lab::Options& options;
  unsigned n;
  unsigned block;
  std::vector<unsigned> host, result, reference;
  Array source, out;
  Array totals;  // of the tiles, of the tiles of these totals, and so on: fewer than n words for tiles of two and more
  lab::DeviceArray<unsigned long long> published;  // by the tiles of the single-pass scan
};

void skip(lab::Measurement& row, const char* why) {
  row.verified = lab::Verified::notApplicable;
  row.note = std::string("skipped: ") + why;
}

std::size_t differences(const std::vector<unsigned>& a, const std::vector<unsigned>& b) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) count += a[i] != b[i] ? 1 : 0;
  return count;
}

void judge(const Context& c, lab::Measurement& row, const std::vector<unsigned>& expected) {
  row.bytes = 8.0 * c.n;
  const std::size_t wrong = differences(c.result, expected);
  row.verified = wrong == 0 ? lab::Verified::yes : lab::Verified::no;
  if (wrong != 0) row.note = std::to_string(wrong) + " of " + std::to_string(c.n) + " elements are wrong";
}

void judgeExclusive(const Context& c, lab::Measurement& row) {
  std::vector<unsigned> shifted(c.reference.size(), 0);
  if (c.n > 1) std::copy(c.reference.begin(), c.reference.end() - 1, shifted.begin() + 1);
  judge(c, row, shifted);
}

// -------------------------------------------------------------------------------------------------- launching scans

unsigned blocksFor(unsigned n, unsigned block) { return lab::ceilDiv(n, block); }

/// Scans `n` elements on the device with tiles of one algorithm. `totals` has room for the totals of all levels.
template <class Algorithm, bool Exclusive>
void scanByTiles(const unsigned* in, unsigned* out, unsigned* totals, unsigned n, unsigned block) {
  if (n == 0) return;
  const unsigned tile = block * Algorithm::kPerThread;
  const unsigned tiles = lab::ceilDiv(n, tile);
  const std::size_t bytes = Algorithm::words(block) * sizeof(unsigned);
  scanTiles<Algorithm, Exclusive><<<tiles, block, bytes>>>(in, out, totals, n);
  lab::launched("scanTiles");
  if (tiles == 1) return;
  scanByTiles<Algorithm, false>(totals, totals, totals + tiles, tiles, block);
  scanAddTotals<<<tiles - 1, block>>>(out, totals, n, tile);
  lab::launched("scanAddTotals");
}

/// The single-pass scan with its preparation: the words that tiles publish must be zero.
void scanInOnePass(Context& c, const unsigned* in, unsigned* out) {
  if (c.n == 0) return;
  c.published.clear();
  scanLookback<kLookbackWarps, kLookbackQuads>
      <<<lab::ceilDiv(c.n, kLookbackTile), 32 * kLookbackWarps>>>(in, out, c.published.get(), c.n);
  lab::launched("scanLookback");
}

// --------------------------------------------------------------------------------------------------------- variants

void runSequential(Context& c, lab::Measurement& row) {
  lab::timeCpuRounds(
      c.options.rounds, row, [] {},
      [&] {
        unsigned sum = 0;
        for (std::size_t i = 0; i < c.host.size(); ++i) c.result[i] = sum += c.host[i];
      });
  judge(c, row, c.reference);
}

template <class Algorithm, bool Exclusive = false>
void measureTiles(Context& c, lab::Measurement& row) {
  row.kernel = "scan";
  row.grid = dim3(lab::ceilDiv(c.n, std::size_t{c.block} * Algorithm::kPerThread));
  row.block = dim3(c.block);
  lab::timeRounds(
      c.options.rounds, row, [&] { c.out.fillBytes(0xff); },
      [&] { scanByTiles<Algorithm, Exclusive>(c.source.get(), c.out.get(), c.totals.get(), c.n, c.block); },
      [&] { c.out.download(c.result.data(), c.n); });
}

template <class Algorithm>
void runHorn(Context& c, lab::Measurement& row) {
  if (c.block < 2) return skip(row, "needs at least two threads, or the totals never get fewer");
  measureTiles<Algorithm>(c, row);
  judge(c, row, c.reference);
}

void runRacy(Context& c, lab::Measurement& row) {
  runHorn<HornRacy>(c, row);
  row.verified = lab::Verified::notApplicable;
  row.note = "races on purpose: " + std::to_string(differences(c.result, c.reference)) + " elements are wrong";
}

template <bool Padded, bool Exclusive>
void runBlelloch(Context& c, lab::Measurement& row) {
  if ((c.block & (c.block - 1)) != 0) return skip(row, "needs a block that is a power of two");
  measureTiles<Blelloch<Padded>, Exclusive>(c, row);
  Exclusive ? judgeExclusive(c, row) : judge(c, row, c.reference);
}

void runShuffled(Context& c, lab::Measurement& row) {
  if (c.block % 32 != 0) return skip(row, "needs whole warps");
  measureTiles<Shuffled>(c, row);
  judge(c, row, c.reference);
}

void runLookback(Context& c, lab::Measurement& row) {
  row.kernel = "scanLookback";
  row.grid = dim3(lab::ceilDiv(c.n, kLookbackTile));
  row.block = dim3(32 * kLookbackWarps);
  lab::timeRounds(
      c.options.rounds, row, [&] { c.out.fillBytes(0xff); }, [&] { scanInOnePass(c, c.source.get(), c.out.get()); },
      [&] { c.out.download(c.result.data(), c.n); });
  judge(c, row, c.reference);
}

// ------------------------------------------------------------------------------------------------------------- uses

constexpr unsigned kUseBlock = 256;

void runCompaction(Context& c, lab::Measurement& row) {
  row.kernel = "scan";
  row.grid = dim3(blocksFor(c.n, kUseBlock));
  row.block = dim3(kUseBlock);
  Array flags(c.n), places(c.n);
  unsigned kept = 0;
  lab::timeRounds(
      c.options.rounds, row, [&] { c.out.fillBytes(0xff); },
      [&] {
        if (c.n == 0) return;
        scanFlagKept<<<row.grid, row.block>>>(c.source.get(), flags.get(), c.n);
        lab::launched("scanFlagKept");
        scanInOnePass(c, flags.get(), places.get());
        scanScatterKept<<<row.grid, row.block>>>(c.source.get(), places.get(), c.out.get(), c.n);
        lab::launched("scanScatterKept");
      },
      [&] {
        if (c.n != 0) {
          LAB_CHECK(cudaMemcpy(&kept, places.get() + c.n - 1, sizeof kept, cudaMemcpyDeviceToHost));
        }
        c.out.download(c.result.data(), c.n);
      });
  std::vector<unsigned> expected;
  std::copy_if(c.host.begin(), c.host.end(), std::back_inserter(expected), [](unsigned x) { return x % 3 == 0; });
  row.result = std::to_string(kept) + " of " + std::to_string(c.n) + " kept";
  const bool right = kept == expected.size() && std::equal(expected.begin(), expected.end(), c.result.begin());
  row.verified = right ? lab::Verified::yes : lab::Verified::no;
}

void runRadixSort(Context& c, lab::Measurement& row) {
  row.kernel = "scan";
  row.grid = dim3(blocksFor(c.n, kUseBlock));
  row.block = dim3(kUseBlock);
  Array keys(c.n), flags(c.n), places(c.n);
  lab::timeRounds(
      c.options.rounds, row,
      [&] {
        if (c.n != 0) LAB_CHECK(cudaMemcpy(keys.get(), c.source.get(), 4ULL * c.n, cudaMemcpyDeviceToDevice));
      },
      [&] {
        if (c.n == 0) return;
        unsigned* from = keys.get();
        unsigned* to = c.out.get();
        for (unsigned bit = 0; bit < kKeyBits; ++bit) {  // an even number of passes: the answer is in `keys` again
          scanFlagZeroBit<<<row.grid, row.block>>>(from, flags.get(), bit, c.n);
          lab::launched("scanFlagZeroBit");
          scanInOnePass(c, flags.get(), places.get());
          scanSplitByBit<<<row.grid, row.block>>>(from, places.get(), to, bit, c.n);
          lab::launched("scanSplitByBit");
          std::swap(from, to);
        }
      },
      [&] { keys.download(c.result.data(), c.n); });
  std::vector<unsigned> expected = c.host;
  std::sort(expected.begin(), expected.end());
  judge(c, row, expected);
  row.bytes = 0;
}

/// The share of elements not above each value (modulo 256): counts, scanned, divided by n.
void runCdf(Context& c, lab::Measurement& row) {
  row.kernel = "scan";
  row.grid = dim3(1024);
  row.block = dim3(kUseBlock);
  Array counts(kCdfBins);
  std::vector<unsigned> upTo(kCdfBins);
  lab::timeRounds(
      c.options.rounds, row, [&] { counts.clear(); },
      [&] {
        scanCount<<<row.grid, row.block>>>(c.source.get(), counts.get(), kCdfBins, c.n);
        lab::launched("scanCount");
        scanByTiles<Shuffled, false>(counts.get(), counts.get(), c.totals.get(), kCdfBins, kCdfBins);
      },
      [&] { counts.download(upTo.data(), kCdfBins); });
  std::vector<unsigned> expected(kCdfBins, 0);
  for (const unsigned value : c.host) ++expected[value % kCdfBins];
  std::partial_sum(expected.begin(), expected.end(), expected.begin());
  row.verified = upTo == expected && upTo.back() == c.n ? lab::Verified::yes : lab::Verified::no;
  if (c.n != 0)
    row.result = "half of the elements are at most " +
                 std::to_string(std::lower_bound(upTo.begin(), upTo.end(), (c.n + 1) / 2) - upTo.begin());
}

const std::vector<lab::Variant<Context>> kVariants = {
    {"seq", "scan.seq", "Sequential loop (CPU)", true, runSequential},
    {"racy", "scan.horn_inplace", "Horn in place, one barrier (wrong)", false, runRacy},
    {"horn_tmp", "scan.horn_tmp", "Horn, two barriers", true, runHorn<HornTwoBarriers>},
    {"horn", "scan.horn", "Horn, two buffers", true, runHorn<HornDoubleBuffer>},
    {"blelloch", "scan.blelloch", "Blelloch's tree", true, runBlelloch<false, false>},
    {"blelloch_padded", "scan.blelloch", "Blelloch's tree, padded", true, runBlelloch<true, false>},
    {"blelloch_exclusive", "scan.blelloch", "Blelloch's tree, exclusive", false, runBlelloch<true, true>},
    {"shuffle", "scan.arbitrary", "Warp shuffles", true, runShuffled},
    {"lookback", "scan.best", "One pass, decoupled look-back", true, runLookback},
    {"compaction", "scan.uses", "Use: compaction", false, runCompaction},
    {"radix_sort", "scan.uses", "Use: radix sort of 16-bit keys", false, runRadixSort},
    {"cdf", "scan.uses", "Use: cumulative distribution", false, runCdf},
};

}  // namespace

int main(int argc, char** argv) {
  lab::Options options;
  options.size = std::size_t{1} << 24;
  options.block = 512;
  options = lab::parse(argc, argv, options, " [--trace]");
  if (options.size > kLargestSize) lab::usageError("--size: at most 2^30 elements");
  if (options.trace) return trace::show() ? 0 : 1;
  lab::mustFit(options.size, 3 * sizeof(unsigned), 3 * sizeof(unsigned));
  lab::Output output("scan", options);
  Context context(options);
  lab::runVariants(kVariants, options, context, output);
  lab::noteBestBandwidth(output);
  return output.finish("seq");
}
