// How often each value occurs in the red, green and blue of an image: a PPM (P6, P3) or PNG file given with --file, or
// a cloth made up with --size pixels. Counts are verified against the sequential loop, and the counts of each channel
// must add up to the number of pixels. --trace prints relative frequencies, --write saves the image as PPM.
//
//   rgb_histogram [--file IMAGE] [--size N] [--variant NAME] [--rounds R] [--json] [--trace] [--write PPM]   N: pixels
#include <numeric>

#include "../common/bandwidth.hpp"
#include "../common/image.hpp"
#include "../common/output.hpp"
#include "kernels.cuh"

namespace {

using Histogram = std::vector<unsigned>;

struct Context {
  Context(const lab::Options& given, lab::Image picture)
      : options(given),
        image(std::move(picture)),
        source(image.rgb.size()),
        bins(kBins),
        result(kBins),
        reference(count(image)) {
    source.upload(image.rgb.data(), image.rgb.size());
  }

  static Histogram count(const lab::Image& image) {
    Histogram bins(kBins, 0);
    for (std::size_t i = 0; i < image.rgb.size(); ++i) ++bins[i % 3 * kValues + image.rgb[i]];
    return bins;
  }

  unsigned width() const { return static_cast<unsigned>(image.width); }
  unsigned height() const { return static_cast<unsigned>(image.height); }

  const lab::Options& options;
  lab::Image image;
  lab::DeviceArray<unsigned char> source;
  lab::DeviceArray<unsigned> bins;
  Histogram result, reference;
};

std::size_t sumOfChannel(const Histogram& histogram, unsigned channel) {
  const auto first = histogram.begin() + channel * kValues;
  return std::accumulate(first, first + kValues, std::size_t{0});
}

void judge(const Context& c, lab::Measurement& row) {
  row.bytes = static_cast<double>(c.image.rgb.size());
  bool right = c.result == c.reference;
  for (unsigned channel = 0; channel < 3; ++channel) right &= sumOfChannel(c.result, channel) == c.image.pixels();
  row.verified = right ? lab::Verified::yes : lab::Verified::no;
}

void runSequential(Context& c, lab::Measurement& row) {
  lab::timeCpuRounds(c.options.rounds, row, [] {}, [&] { c.result = Context::count(c.image); });
  judge(c, row);
}

using Kernel = void (*)(const unsigned char*, unsigned, unsigned, unsigned*);

void measure(Context& c, lab::Measurement& row, const char* name, Kernel kernel, unsigned grid) {
  constexpr unsigned kBlock = 256;
  row.kernel = name;
  row.grid = dim3(grid);
  row.block = dim3(kBlock);
  lab::timeRounds(
      c.options.rounds, row, [&] { c.bins.clear(); },
      [&] {
        if (grid == 0) return;
        kernel<<<grid, kBlock>>>(c.source.get(), c.width(), c.height(), c.bins.get());
        lab::launched(name);
      },
      [&] { c.bins.download(c.result.data(), kBins); });
  judge(c, row);
}

unsigned blocks(const Context& c, std::size_t pixelsPerBlock) { return lab::ceilDiv(c.image.pixels(), pixelsPerBlock); }

void runGlobal(Context& c, lab::Measurement& row) { measure(c, row, "rgbGlobal", rgbGlobal, blocks(c, 256)); }

void runPrivate(Context& c, lab::Measurement& row) {
  measure(c, row, "rgbPrivate", rgbPrivate, std::min(1024u, blocks(c, 256)));
}

void runPrivateWarps(Context& c, lab::Measurement& row) {
  measure(c, row, "rgbPrivateWarps", rgbPrivateWarps, std::min(1024u, blocks(c, 1024)));
}

const std::vector<lab::Variant<Context>> kVariants = {
    {"seq", "hist.rgb", "Sequential loop (CPU)", true, runSequential},
    {"global", "hist.rgb", "A thread for each pixel, global atomics", true, runGlobal},
    {"private", "hist.rgb", "Private in shared memory", true, runPrivate},
    {"private_warps", "hist.rgb", "Private for each warp, four pixels at a time", true, runPrivateWarps},
};

/// One line for each value: how often it occurs in each channel, and its share of the pixels.
void printFrequencies(const Context& c) {
  std::printf("\n%zu x %zu pixels\nvalue        red             green             blue\n", c.image.width,
              c.image.height);
  for (unsigned value = 0; value < kValues; ++value) {
    std::printf("%5u", value);
    for (unsigned channel = 0; channel < 3; ++channel) {
      const unsigned count = c.reference[channel * kValues + value];
      std::printf(" %8u %6.3f %%", count, 100.0 * count / static_cast<double>(c.image.pixels()));
    }
    std::printf("\n");
  }
}

}  // namespace

int main(int argc, char** argv) {
  lab::Options options;
  options.size = std::size_t{1} << 22;
  options.block = 256;
  options = lab::parse(argc, argv, options, " [--file IMAGE] [--trace] [--write PPM]");
  lab::Image image = lab::imageFor(options);
  if (!options.write.empty()) lab::writePpm(image, options.write);
  lab::Output output("rgb_histogram", options);
  Context context(options, std::move(image));
  lab::runVariants(kVariants, options, context, output);
  lab::noteBestBandwidth(output);
  const int status = output.finish("seq");
  if (options.trace && !options.json && context.image.pixels() != 0) printFrequencies(context);
  return status;
}
