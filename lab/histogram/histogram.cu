// Histogram of a text, and the sorted report of its characters. Without --file a text of the published length is made
// up, with the character frequencies of ordinary logs and prose (blanks and digits dominate). Exact counts are verified
// against the sequential loop. The racing kernel is shown by --variant race or all; its loss is reported, not judged.
//
//   histogram [--size N] [--file TEXT] [--block B] [--variant NAME] [--rounds R] [--json]        N: characters
#include <numeric>

#include "../common/bandwidth.hpp"
#include "../common/output.hpp"
#include "../common/text.hpp"
#include "kernels.cuh"

namespace {

constexpr std::size_t kLargestSize = std::size_t{1} << 31;

using Histogram = std::vector<unsigned>;

struct Context {
  Context(const lab::Options& given, std::vector<unsigned char> characters)
      : options(given),
        text(std::move(characters)),
        source(text.size()),
        bins(kBins),
        result(kBins),
        reference(kBins, 0) {
    source.upload(text.data(), text.size());
    for (const unsigned char character : text) ++reference[character];
  }

  unsigned n() const { return static_cast<unsigned>(text.size()); }

  const lab::Options& options;
  std::vector<unsigned char> text;
  lab::DeviceArray<unsigned char> source;
  lab::DeviceArray<unsigned> bins;
  Histogram result, reference;
};

unsigned long long total(const Histogram& histogram) {
  return std::accumulate(histogram.begin(), histogram.end(), 0ULL);
}

void judge(const Context& c, lab::Measurement& row) {
  row.bytes = static_cast<double>(c.text.size());
  row.result = std::to_string(total(c.result)) + " characters";
  row.verified = c.result == c.reference ? lab::Verified::yes : lab::Verified::no;
}

void runSequential(Context& c, lab::Measurement& row) {
  lab::timeCpuRounds(
      c.options.rounds, row, [&] { std::fill(c.result.begin(), c.result.end(), 0u); },
      [&] {
        for (const unsigned char character : c.text) ++c.result[character];
      });
  judge(c, row);
}

using Kernel = void (*)(const unsigned char*, unsigned, unsigned*);

void measure(Context& c, lab::Measurement& row, const char* name, Kernel kernel, unsigned grid, unsigned block) {
  row.kernel = name;
  row.grid = dim3(grid);
  row.block = dim3(block);
  lab::timeRounds(
      c.options.rounds, row, [&] { c.bins.clear(); },
      [&] {
        if (c.n() == 0) return;
        kernel<<<grid, block>>>(c.source.get(), c.n(), c.bins.get());
        lab::launched(name);
      },
      [&] { c.bins.download(c.result.data(), kBins); });
  judge(c, row);
}

void runRace(Context& c, lab::Measurement& row) {
  measure(c, row, "histogramRace", histogramRace, 1024, c.options.block);
  row.verified = lab::Verified::notApplicable;
  row.note = "races on purpose: counted " + std::to_string(total(c.result)) + " of " + std::to_string(c.n());
}

template <unsigned Grid>
void runAtomic(Context& c, lab::Measurement& row) {
  measure(c, row, "histogramAtomic", histogramAtomic, Grid, c.options.block);
}

template <unsigned Grid>
void runPrivate(Context& c, lab::Measurement& row) {
  measure(c, row, "histogramPrivate", histogramPrivate, Grid, c.options.block);
}

/// As many blocks as the device holds at once: each clears and merges 8192 words, so fewer blocks merge less.
void runLanes(Context& c, lab::Measurement& row) {
  int device = 0;
  int processors = 0;
  LAB_CHECK(cudaGetDevice(&device));
  LAB_CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
  const unsigned useful = lab::ceilDiv(c.text.size(), std::size_t{16} * kLanesBlock);
  measure(c, row, "histogramLanes", histogramLanes,
          std::max(1u, std::min(useful, kLanesBlocksPerProcessor * static_cast<unsigned>(processors))), kLanesBlock);
}

const std::vector<lab::Variant<Context>> kVariants = {
    {"seq", "hist.text_seq", "Sequential loop (CPU)", true, runSequential},
    {"race", "hist.text_race", "Plain increments (wrong)", false, runRace},
    {"atomic_128", "hist.text_atomic", "Global atomics, 128 blocks", true, runAtomic<128>},
    {"atomic_1024", "hist.text_atomic", "Global atomics, 1024 blocks", true, runAtomic<1024>},
    {"private_128", "hist.text_private", "Private in shared memory, 128 blocks", true, runPrivate<128>},
    {"private_1024", "hist.text_private", "Private in shared memory, 1024 blocks", true, runPrivate<1024>},
    {"lanes", "hist.best", "A copy for each lane, 16 characters at a time", true, runLanes},
};

const lab::Measurement* fastestExact(const lab::Output& output) {
  const lab::Measurement* best = nullptr;
  for (const lab::Measurement& row : output.rows()) {
    if (row.verified != lab::Verified::yes || row.kernel.empty()) continue;
    if (best == nullptr || row.kernelMs < best->kernelMs) best = &row;
  }
  return best;
}

/// The course's report: the size, the launch, its time and bandwidth (one byte read for each character), then one line
/// for each character that occurs, the most frequent first.
void reportCharacters(const Context& c, const lab::Output& output) {
  std::vector<unsigned> order(kBins);
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](unsigned a, unsigned b) {
    return c.reference[a] != c.reference[b] ? c.reference[a] > c.reference[b] : a < b;
  });
  std::printf("\n%zu characters\n", c.text.size());
  if (const lab::Measurement* best = fastestExact(output); best != nullptr && best->kernelMs > 0) {
    std::printf("%s: %u blocks of %u threads, %.3f ms, %.3f GB/s\n", best->name.c_str(), best->grid.x, best->block.x,
                best->kernelMs, best->bytes / best->kernelMs * 1e-6);
  }
  double percent = 0;
  for (const unsigned code : order) {
    if (c.reference[code] == 0) break;
    const double share = 100.0 * c.reference[code] / static_cast<double>(c.text.size());
    percent += share;
    std::printf("%3u - \"%c\": %10u %7.3f %%\n", code, code >= 32 && code < 127 ? static_cast<int>(code) : '?',
                c.reference[code], share);
  }
  std::printf("      all: %10zu %7.3f %%\n", c.text.size(), percent);
}

}  // namespace

int main(int argc, char** argv) {
  lab::Options options;
  options.size = 49175956;  // the text of the published figures
  options.block = 256;
  options = lab::parse(argc, argv, options, " [--file TEXT] [--trace]");
  std::vector<unsigned char> text = lab::textFor(options, kLargestSize);
  lab::Output output("histogram", options);
  Context context(options, std::move(text));
  lab::runVariants(kVariants, options, context, output);
  lab::noteBestBandwidth(output);
  const int status = output.finish("seq");
  if (options.trace && !options.json) reportCharacters(context, output);
  return status;
}
