// Convolution of a signal and of an image: direct, with the mask in constant memory, tiled with a halo in shared
// memory; with a zero, clamped or mirrored border; and the three channels of an image on one stream and on three. The
// image is a PPM or PNG file given with --file, or a cloth with --size pixels; the signal has --size elements. All
// arithmetic is exact, and every element is compared with the direct formula. --write saves the blurred image; --trace
// shows who loads what in the course's example, 16 elements in 4 blocks of 4 threads, and the answer to a single 1.
//
//   convolution [--size N] [--file IMAGE] [--variant NAME] [--rounds R] [--json] [--trace] [--write PPM]
#include "context.hpp"
#include "signal.cuh"

namespace {

constexpr std::size_t kLargestSize = std::size_t{1} << 27;

// ----------------------------------------------------------------------------------------------------------- signal

/// Bytes: each element read and written once. Operations: a product and a sum for each element of the mask.
template <Border Policy>
void judgeSignal(Context& c, lab::Measurement& row, const Mask& mask) {
  row.bytes = 8.0 * c.n;
  row.flops = 2.0 * mask.side() * c.n;
  std::vector<float> expected(c.x.size());
  reference::signal<Policy>(c.x, mask, expected);
  row.verified = c.y == expected ? lab::Verified::yes : lab::Verified::no;
}

template <Border Policy, class Launch>
void measureSignal(Context& c, lab::Measurement& row, const char* kernel, unsigned block, const Mask& mask,
                   Launch launch) {
  row.kernel = kernel;
  row.grid = dim3(lab::ceilDiv(c.x.size(), block));
  row.block = dim3(block);
  const std::vector<float> weights(mask.weights.begin(), mask.weights.end());
  LAB_CHECK(cudaMemcpyToSymbol(constantMask, weights.data(), weights.size() * sizeof(float)));
  lab::DeviceArray<float> globalMask(weights.size());
  globalMask.upload(weights.data(), weights.size());
  lab::timeRounds(
      c.options.rounds, row, [&] { c.deviceY.fillBytes(0xff); },
      [&] {
        if (c.n == 0) return;
        launch(globalMask.get());
        lab::launched(kernel);
      },
      [&] { c.deviceY.download(c.y.data(), c.y.size()); });
  judgeSignal<Policy>(c, row, mask);
}

constexpr int kRadius = 4;
constexpr unsigned kBlock = 256;

void runSequential(Context& c, lab::Measurement& row) {
  const Mask mask = crookedMask(kRadius, false);
  lab::timeCpuRounds(c.options.rounds, row, [] {}, [&] { reference::signal<Border::zero>(c.x, mask, c.y); });
  judgeSignal<Border::zero>(c, row, mask);
}

void runDirect(Context& c, lab::Measurement& row) {
  const Mask mask = crookedMask(kRadius, false);
  measureSignal<Border::zero>(c, row, "convolveDirect", kBlock, mask, [&](const float* global) {
    convolveDirect<Border::zero><<<row.grid, row.block>>>(c.deviceX.get(), global, c.deviceY.get(), c.n, mask.radius);
  });
}

void runConstant(Context& c, lab::Measurement& row) {
  const Mask mask = crookedMask(kRadius, false);
  measureSignal<Border::zero>(c, row, "convolveConstant", kBlock, mask, [&](const float*) {
    convolveConstant<Border::zero><<<row.grid, row.block>>>(c.deviceX.get(), c.deviceY.get(), c.n, mask.radius);
  });
}

/// With Radius above Block even the halo alone has more elements than the block has threads.
template <Border Policy, int Radius, unsigned Block>
void runTiled(Context& c, lab::Measurement& row) {
  const Mask mask = crookedMask(Radius, false);
  const unsigned region = Block + 2 * Radius;
  measureSignal<Policy>(c, row, "convolveTiled", Block, mask, [&](const float*) {
    convolveTiled<Policy>
        <<<row.grid, row.block, region * sizeof(float)>>>(c.deviceX.get(), c.deviceY.get(), c.n, mask.radius);
  });
  row.result =
      std::to_string(row.grid.x * 2 * Radius) + " of " + std::to_string(row.grid.x * region) + " loads are halo";
}

// ---------------------------------------------------------------------------------------------------------- picture

template <Border Policy>
bool channelRight(const Context& c, unsigned channel, const Mask& mask) {
  Plane expected(c.image.pixels());
  reference::picture<Policy>(c.planes[channel], c.height(), c.width(), mask, expected);
  return expected == c.results[channel];
}

template <Border Policy>
void judgePicture(const Context& c, lab::Measurement& row, const Mask& mask, unsigned channels) {
  const double samples = static_cast<double>(channels) * static_cast<double>(c.image.pixels());
  row.bytes = 2 * samples;
  row.flops = 2.0 * mask.side() * mask.side() * samples;
  bool right = true;
  for (unsigned channel = 0; channel < channels; ++channel) right &= channelRight<Policy>(c, channel, mask);
  row.verified = right ? lab::Verified::yes : lab::Verified::no;
}

void runPictureSequential(Context& c, lab::Measurement& row) {
  const Mask mask = crookedMask(2, true);
  lab::timeCpuRounds(
      c.options.rounds, row, [] {},
      [&] { reference::picture<Border::zero>(c.planes[0], c.height(), c.width(), mask, c.results[0]); });
  judgePicture<Border::zero>(c, row, mask, 1);
}

void setPictureMask(const Mask& mask) {
  LAB_CHECK(cudaMemcpyToSymbol(constantPictureMask, mask.weights.data(), mask.weights.size() * sizeof(int)));
}

/// `launch(channel)` for the first `channels` channels, then everything back to the host.
template <class Launch>
void measurePicture(Context& c, lab::Measurement& row, const char* kernel, dim3 block, unsigned channels,
                    Launch launch) {
  row.kernel = kernel;
  row.block = block;
  row.grid = dim3(lab::ceilDiv(c.image.width, block.x), lab::ceilDiv(c.image.height, block.y));
  lab::timeRounds(
      c.options.rounds, row, [&] { c.deviceResults.fillBytes(0xff); },
      [&] {
        for (unsigned channel = 0; channel < channels && c.image.pixels() != 0; ++channel) launch(channel);
      },
      [&] {
        for (unsigned channel = 0; channel < channels && c.image.pixels() != 0; ++channel) {
          LAB_CHECK(
              cudaMemcpy(c.results[channel].data(), c.resultPlane(channel), c.image.pixels(), cudaMemcpyDeviceToHost));
        }
      });
}

void runPictureDirect(Context& c, lab::Measurement& row) {
  const Mask mask = crookedMask(2, true);
  setPictureMask(mask);
  measurePicture(c, row, "convolvePictureDirect", dim3(16, 16), 1, [&](unsigned channel) {
    convolvePictureDirect<Border::zero><<<row.grid, row.block>>>(c.plane(channel), c.resultPlane(channel), c.height(),
                                                                 c.width(), mask.radius, mask.divisor);
    lab::launched("convolvePictureDirect");
  });
  judgePicture<Border::zero>(c, row, mask, 1);
}

template <Border Policy>
void launchTiled(Context& c, const lab::Measurement& row, const Mask& mask, unsigned channel, cudaStream_t stream) {
  const unsigned halo = 2 * static_cast<unsigned>(mask.radius);
  const std::size_t bytes = std::size_t{row.block.x + halo} * (row.block.y + halo) * sizeof(int);
  convolvePictureTiled<Policy><<<row.grid, row.block, bytes, stream>>>(
      c.plane(channel), c.resultPlane(channel), c.height(), c.width(), mask.radius, mask.divisor);
  lab::launched("convolvePictureTiled");
}

template <Border Policy, int Radius, unsigned Side>
void runPictureTiled(Context& c, lab::Measurement& row) {
  const Mask mask = crookedMask(Radius, true);
  setPictureMask(mask);
  measurePicture(c, row, "convolvePictureTiled", dim3(Side, Side), 1,
                 [&](unsigned channel) { launchTiled<Policy>(c, row, mask, channel, nullptr); });
  judgePicture<Policy>(c, row, mask, 1);
}

/// A blur of all three channels, one after the other on one stream.
void runRgb(Context& c, lab::Measurement& row) {
  const Mask mask = binomialSquare(2);
  setPictureMask(mask);
  measurePicture(c, row, "convolvePictureTiled", dim3(32, 8), 3,
                 [&](unsigned channel) { launchTiled<Border::clamp>(c, row, mask, channel, nullptr); });
  judgePicture<Border::clamp>(c, row, mask, 3);
}

/// The same with a stream for each channel. The streams begin after what the timing recorded and are waited for in it.
void runRgbStreams(Context& c, lab::Measurement& row) {
  const Mask mask = binomialSquare(2);
  setPictureMask(mask);
  cudaStream_t streams[3];
  cudaEvent_t done[3];
  cudaEvent_t begun;
  LAB_CHECK(cudaEventCreateWithFlags(&begun, cudaEventDisableTiming));
  for (int k = 0; k < 3; ++k) {
    LAB_CHECK(cudaStreamCreateWithFlags(&streams[k], cudaStreamNonBlocking));
    LAB_CHECK(cudaEventCreateWithFlags(&done[k], cudaEventDisableTiming));
  }
  measurePicture(c, row, "convolvePictureTiled", dim3(32, 8), 3, [&](unsigned channel) {
    if (channel == 0) LAB_CHECK(cudaEventRecord(begun, 0));
    LAB_CHECK(cudaStreamWaitEvent(streams[channel], begun, 0));
    launchTiled<Border::clamp>(c, row, mask, channel, streams[channel]);
    LAB_CHECK(cudaEventRecord(done[channel], streams[channel]));
    LAB_CHECK(cudaStreamWaitEvent(nullptr, done[channel], 0));
  });
  judgePicture<Border::clamp>(c, row, mask, 3);
  for (int k = 0; k < 3; ++k) {
    LAB_CHECK(cudaStreamDestroy(streams[k]));
    LAB_CHECK(cudaEventDestroy(done[k]));
  }
  LAB_CHECK(cudaEventDestroy(begun));
}

void runSeparable(Context& c, lab::Measurement& row) {
  const Mask line = binomialRow(2);
  setPictureMask(line);
  lab::DeviceArray<int> sums(c.image.pixels());
  measurePicture(c, row, "convolvePicture", dim3(32, 8), 1, [&](unsigned channel) {
    convolvePictureRows<<<row.grid, row.block>>>(c.plane(channel), sums.get(), c.height(), c.width(), line.radius);
    lab::launched("convolvePictureRows");
    convolvePictureColumns<<<row.grid, row.block>>>(sums.get(), c.resultPlane(channel), c.height(), c.width(),
                                                    line.radius, line.divisor);
    lab::launched("convolvePictureColumns");
  });
  judgePicture<Border::zero>(c, row, binomialSquare(2), 1);
}

const std::vector<lab::Variant<Context>> kVariants = {
    {"seq_1d", "conv.1d", "Signal, sequential (CPU)", true, runSequential},
    {"direct_1d", "conv.1d", "Signal, mask in global memory", true, runDirect},
    {"constant_1d", "conv.1d", "Signal, mask in constant memory", true, runConstant},
    {"tiled_1d", "conv.1d_tiled", "Signal, tiled with a halo", true, runTiled<Border::zero, kRadius, kBlock>},
    {"tiled_1d_clamp", "conv.border", "The same, clamped", false, runTiled<Border::clamp, kRadius, kBlock>},
    {"tiled_1d_mirror", "conv.border", "The same, mirrored", false, runTiled<Border::mirror, kRadius, kBlock>},
    {"halo_1d", "conv.halo", "Signal, radius 50, blocks of 32", false, runTiled<Border::mirror, 50, 32>},
    {"seq_2d", "conv.2d", "Image, sequential (CPU)", true, runPictureSequential},
    {"direct_2d", "conv.2d", "Image, mask in constant memory", true, runPictureDirect},
    {"tiled_2d", "conv.2d", "Image, tiled with a halo", true, runPictureTiled<Border::zero, 2, 16>},
    {"tiled_2d_3x3", "conv.2d", "Image, mask 3x3, tiled", false, runPictureTiled<Border::zero, 1, 32>},
    {"tiled_2d_clamp", "conv.border", "Image, clamped", false, runPictureTiled<Border::clamp, 3, 16>},
    {"tiled_2d_mirror", "conv.border", "Image, mirrored", false, runPictureTiled<Border::mirror, 3, 16>},
    {"halo_2d", "conv.halo", "Image, radius 10, blocks of 8x8", false, runPictureTiled<Border::mirror, 10, 8>},
    {"rgb", "conv.2d", "Blur of three channels, one stream", true, runRgb},
    {"rgb_streams", "conv.rgb_streams", "Blur of three channels, three streams", true, runRgbStreams},
    {"separable_2d", "conv.best", "Blur by rows, then columns", true, runSeparable},
};

// ------------------------------------------------------------------------------------------------------------ trace

void showWhoLoads(int radius) {
  constexpr int kBlocks = 4;
  constexpr int kThreads = 4;
  const int region = kThreads + 2 * radius;
  std::vector<int> loader(static_cast<std::size_t>(kBlocks * region));
  lab::DeviceArray<int> device(loader.size());
  convolveWhoLoads<<<kBlocks, kThreads>>>(device.get(), radius);
  lab::launched("convolveWhoLoads");
  device.download(loader.data(), loader.size());
  std::printf("16 elements, 4 blocks of 4 threads, radius %d\n", radius);
  for (int block = 0; block < kBlocks; ++block) {
    std::printf("  block %d:", block);
    for (int position = 0; position < region; ++position) {
      const int element = block * kThreads - radius + position;
      std::printf("  %d by %d%s", element, loader[static_cast<std::size_t>(block * region + position)],
                  element < 0 || element >= 16 ? " (border)" : "");
    }
    std::printf("\n");
  }
  std::printf("  loads: %d, of which halo: %d\n", kBlocks * region, kBlocks * 2 * radius);
}

/// The answer to a single 1 in the middle is the mask itself.
void showImpulse() {
  const std::vector<float> weights = {1, 2, 3, 4, 5};
  std::vector<float> signal(12, 0.0f);
  signal[6] = 1;
  lab::DeviceArray<float> x(signal.size()), y(signal.size());
  x.upload(signal.data(), signal.size());
  LAB_CHECK(cudaMemcpyToSymbol(constantMask, weights.data(), weights.size() * sizeof(float)));
  convolveTiled<Border::zero><<<3, 4, 8 * sizeof(float)>>>(x.get(), y.get(), 12, 2);
  lab::launched("convolveTiled");
  y.download(signal.data(), signal.size());
  std::printf("answer to a single 1, mask 1 2 3 4 5:");
  for (const float value : signal) std::printf(" %g", static_cast<double>(value));
  std::printf("\n");
}

/// The image as the last variant that blurred all three channels left it.
lab::Image blurred(const Context& c) {
  lab::Image image = c.image;
  for (std::size_t i = 0; i < image.rgb.size(); ++i) image.rgb[i] = c.results[i % 3][i / 3];
  return image;
}

}  // namespace

int main(int argc, char** argv) {
  lab::Options options;
  options.size = std::size_t{1} << 20;
  options.block = kBlock;
  options = lab::parse(argc, argv, options, " [--file IMAGE] [--trace] [--write PPM]");
  if (options.trace) {
    showWhoLoads(1);
    showWhoLoads(6);
    showImpulse();
    return 0;
  }
  if (options.size > kLargestSize) lab::usageError("--size: at most 2^27 elements");
  lab::mustFit(options.size, 17, 18);  // the signal and its answer, the planes, and what variants hold besides
  if (!options.write.empty()) options.variant = "rgb_streams";
  lab::Image image = lab::imageFor(options);
  lab::Output output("convolution", options);
  Context context(options, std::move(image));
  lab::runVariants(kVariants, options, context, output);
  if (!options.write.empty()) lab::writePpm(blurred(context), options.write);
  return output.finish("seq_1d");
}
