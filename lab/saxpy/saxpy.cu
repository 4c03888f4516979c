// saxpy, y = a*x + y: one thread for each element with a guard, a grid-stride loop, and the version that repeats the
// operation 100 times so that computing weighs against copying. The elements are small integers and a = 3.5, so every
// result is exact whether or not the compiler fuses multiplication and addition; it is verified bit by bit.
//
//   saxpy [--size N] [--variant NAME] [--rounds R] [--json]
#include "../common/output.hpp"

/// One thread for each element; threads beyond n have nothing to do.
__global__ void saxpy(int n, float a, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

/// A grid of any size covers any n: each thread takes every gridDim*blockDim-th element.
__global__ void saxpyStride(int n, float a, const float* x, float* y) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = a * x[i] + y[i];
}

/// y = a*x + y, `repeats` times for each element, in registers.
__global__ void saxpyRepeated(int n, float a, const float* x, float* y, int repeats) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = y[i];
  const float factor = x[i];
  for (int k = 0; k < repeats; ++k) sum = a * factor + sum;
  y[i] = sum;
}

namespace {

constexpr float kFactor = 3.5f;
constexpr int kRepeats = 100;
constexpr std::size_t kLargestSize = std::size_t{1} << 30;

struct Context {
  explicit Context(const lab::Options& given)
      : options(given),
        n(static_cast<int>(given.size)),
        x(given.size),
        y(given.size),
        result(given.size),
        deviceX(given.size),
        deviceY(given.size) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = static_cast<float>(i * 7 % 1000);
      y[i] = static_cast<float>(i * 13 % 1000);
    }
    deviceX.upload(x.data(), x.size());
  }

  const lab::Options& options;
  int n;
  std::vector<float> x, y, result;
  lab::DeviceArray<float> deviceX, deviceY;
};

void judge(const Context& c, lab::Measurement& row, int repeats) {
  const double n = c.n;
  row.bytes = 12 * n;
  row.flops = 2 * n * repeats;
  row.verified = lab::Verified::yes;
  for (std::size_t i = 0; i < c.x.size(); ++i) {
    if (c.result[i] == static_cast<float>(repeats) * (kFactor * c.x[i]) + c.y[i]) continue;
    row.verified = lab::Verified::no;
    row.note = "element " + std::to_string(i) + " is wrong";
    return;
  }
}

void runSequential(Context& c, lab::Measurement& row) {
  lab::timeCpuRounds(
      c.options.rounds, row, [&] { c.result = c.y; },
      [&] {
        for (std::size_t i = 0; i < c.x.size(); ++i) c.result[i] = kFactor * c.x[i] + c.result[i];
      });
  judge(c, row, 1);
}

template <class Launch>
void runDevice(Context& c, lab::Measurement& row, const char* kernel, unsigned grid, unsigned block, int repeats,
               Launch launch) {
  row.kernel = kernel;
  row.grid = dim3(grid);
  row.block = dim3(block);
  lab::timeRounds(
      c.options.rounds, row, [&] { c.deviceY.upload(c.y.data(), c.y.size()); },
      [&] {
        if (c.n == 0) return;
        launch(grid, block);
        lab::launched(kernel);
      },
      [&] { c.deviceY.download(c.result.data(), c.result.size()); });
  judge(c, row, repeats);
}

template <unsigned Block>
void runSaxpy(Context& c, lab::Measurement& row) {
  runDevice(c, row, "saxpy", lab::ceilDiv(c.x.size(), Block), Block, 1, [&](unsigned grid, unsigned block) {
    saxpy<<<grid, block>>>(c.n, kFactor, c.deviceX.get(), c.deviceY.get());
  });
}

void runStride(Context& c, lab::Measurement& row) {
  runDevice(c, row, "saxpyStride", std::min(1024u, lab::ceilDiv(c.x.size(), 256)), 256, 1,
            [&](unsigned grid, unsigned block) {
              saxpyStride<<<grid, block>>>(c.n, kFactor, c.deviceX.get(), c.deviceY.get());
            });
}

void runRepeated(Context& c, lab::Measurement& row) {
  runDevice(c, row, "saxpyRepeated", lab::ceilDiv(c.x.size(), 256), 256, kRepeats, [&](unsigned grid, unsigned block) {
    saxpyRepeated<<<grid, block>>>(c.n, kFactor, c.deviceX.get(), c.deviceY.get(), kRepeats);
  });
}

const std::vector<lab::Variant<Context>> kVariants = {
    {"seq", "vec.saxpy_seq", "Sequential loop (CPU)", true, runSequential},
    {"saxpy_64", "vec.saxpy", "A thread for each element, block 64", true, runSaxpy<64>},
    {"saxpy_256", "vec.saxpy", "A thread for each element, block 256", true, runSaxpy<256>},
    {"stride", "vec.saxpy", "Grid-stride loop, 1024 blocks of 256", true, runStride},
    {"repeated", "vec.nsaxpy", "100 times, block 256", true, runRepeated},
};

}  // namespace

int main(int argc, char** argv) {
  lab::Options options;
  options.size = std::size_t{1} << 24;
  options.block = 256;
  options = lab::parse(argc, argv, options);
  if (options.size > kLargestSize) lab::usageError("--size: at most 2^30 elements");
  lab::Output output("saxpy", options);
  Context context(options);
  lab::runVariants(kVariants, options, context, output);
  return output.finish("seq");
}
