// Histogram of a text, and the sorted report of its characters. Without --file a text of the published length is made
// up, with the character frequencies of ordinary logs and prose (blanks and digits dominate). Exact counts are verified
// against the sequential loop. The racing kernel is shown by --variant race or all; its loss is reported, not judged.
//
//   histogram [--size N] [--file TEXT] [--block B] [--variant NAME] [--rounds R] [--json]        N: characters
#include <cstdint>
#include <numeric>

#include "../common/output.hpp"
#include "kernels.cuh"

namespace {

constexpr std::size_t kLargestSize = std::size_t{1} << 31;

using Histogram = std::vector<unsigned>;

std::vector<unsigned char> readText(const lab::Options& options) {
  std::FILE* file = std::fopen(options.file.c_str(), "rb");
  if (file == nullptr) lab::usageError("cannot read '" + options.file + "'");
  std::vector<unsigned char> text;
  std::vector<unsigned char> buffer(1 << 20);
  for (std::size_t got; (got = std::fread(buffer.data(), 1, buffer.size(), file)) > 0;) {
    text.insert(text.end(), buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(got));
  }
  std::fclose(file);
  return text;
}

/// Draws characters from a string in which common ones occur more often.
std::vector<unsigned char> makeText(std::size_t size) {
  static const char kCommon[] =
      "         eeeeaaarrrrrr-----ooooiiinnnttssl1111000223dcupmhgbfvyw,.:/_\n4567899kxjqz()EATRC";
  constexpr std::size_t kKinds = sizeof kCommon - 1;
  std::vector<unsigned char> text(size);
  std::uint64_t state = 7;
  for (unsigned char& character : text) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    character = static_cast<unsigned char>(kCommon[(state >> 33) % kKinds]);
  }
  return text;
}

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

void measure(Context& c, lab::Measurement& row, const char* name, Kernel kernel, unsigned grid) {
  row.kernel = name;
  row.grid = dim3(grid);
  row.block = dim3(c.options.block);
  lab::timeRounds(
      c.options.rounds, row, [&] { c.bins.clear(); },
      [&] {
        if (c.n() == 0) return;
        kernel<<<grid, c.options.block>>>(c.source.get(), c.n(), c.bins.get());
        lab::launched(name);
      },
      [&] { c.bins.download(c.result.data(), kBins); });
  judge(c, row);
}

void runRace(Context& c, lab::Measurement& row) {
  measure(c, row, "histogramRace", histogramRace, 1024);
  row.verified = lab::Verified::notApplicable;
  row.note = "races on purpose: counted " + std::to_string(total(c.result)) + " of " + std::to_string(c.n());
}

template <unsigned Grid>
void runAtomic(Context& c, lab::Measurement& row) {
  measure(c, row, "histogramAtomic", histogramAtomic, Grid);
}

template <unsigned Grid>
void runPrivate(Context& c, lab::Measurement& row) {
  measure(c, row, "histogramPrivate", histogramPrivate, Grid);
}

const std::vector<lab::Variant<Context>> kVariants = {
    {"seq", "hist.text_seq", "Sequential loop (CPU)", true, runSequential},
    {"race", "hist.text_race", "Plain increments (wrong)", false, runRace},
    {"atomic_128", "hist.text_atomic", "Global atomics, 128 blocks", true, runAtomic<128>},
    {"atomic_1024", "hist.text_atomic", "Global atomics, 1024 blocks", true, runAtomic<1024>},
    {"private_128", "hist.text_private", "Private in shared memory, 128 blocks", true, runPrivate<128>},
    {"private_1024", "hist.text_private", "Private in shared memory, 1024 blocks", true, runPrivate<1024>},
};

/// One line for each character that occurs, the most frequent first.
void reportCharacters(const Context& c) {
  std::vector<unsigned> order(kBins);
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](unsigned a, unsigned b) {
    return c.reference[a] != c.reference[b] ? c.reference[a] > c.reference[b] : a < b;
  });
  std::printf("\n%zu characters\n", c.text.size());
  for (const unsigned code : order) {
    if (c.reference[code] == 0) break;
    std::printf("%3u - \"%c\": %10u %7.3f %%\n", code, code >= 32 && code < 127 ? static_cast<int>(code) : '?',
                c.reference[code], 100.0 * c.reference[code] / static_cast<double>(c.text.size()));
  }
}

}  // namespace

int main(int argc, char** argv) {
  lab::Options options;
  options.size = 49175956;  // the text of the published figures
  options.block = 256;
  options = lab::parse(argc, argv, options, " [--file TEXT] [--trace]");
  std::vector<unsigned char> text;
  if (!options.file.empty()) {
    text = readText(options);
    options.size = text.size();
  }
  if (options.size > kLargestSize) lab::usageError("--size: at most 2^31 characters");
  if (options.file.empty()) text = makeText(options.size);
  lab::Output output("histogram", options);
  Context context(options, std::move(text));
  lab::runVariants(kVariants, options, context, output);
  const int status = output.finish("seq");
  if (options.trace && !options.json) reportCharacters(context);
  return status;
}
