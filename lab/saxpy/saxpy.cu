// saxpy, y = a*x + y: one thread for each element with a guard, a grid-stride loop, and the version that repeats the
// operation 100 times so that computing weighs against copying. The elements are small integers and a = 3.5, so every
// result is exact whether or not the compiler fuses multiplication and addition; it is verified bit by bit. The
// variants `whole` and `whole_streams` time the copies too, in order and overlapped; after `whole` the shares of copies
// and kernel are listed.
// --trace shows who has which element, and what to expect of a processor.
//
//   saxpy [--size N] [--variant NAME] [--rounds R] [--json] [--trace]
#include "../common/bandwidth.hpp"
#include "host.hpp"

/// One thread for each element; threads beyond n have nothing to do.
__global__ void saxpy(int n, float a, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

/// Without the guard: right only if the threads are exactly n. With any other n it touches memory that is not its own.
__global__ void saxpyNoGuard(float a, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = a * x[i] + y[i];
}

/// The sum of two vectors, without a factor.
__global__ void vectorAdd(int n, const float* x, const float* y, float* sum) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) sum[i] = x[i] + y[i];
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

/// Each thread writes its number and its block's to its own place.
__global__ void saxpyRecordIndices(int* blocks, int* threads) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  blocks[i] = blockIdx.x;
  threads[i] = threadIdx.x;
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
  std::vector<host::Operation> operations;  // of one run of `whole`
};

/// y + repeats * a * x; with a factor of 1 also the sum of two vectors.
void judge(const Context& c, lab::Measurement& row, int repeats, float factor = kFactor) {
  const double n = c.n;
  row.bytes = 12 * n;
  row.flops = 2 * n * repeats;
  row.verified = lab::Verified::yes;
  for (std::size_t i = 0; i < c.x.size(); ++i) {
    if (c.result[i] == static_cast<float>(repeats) * (factor * c.x[i]) + c.y[i]) continue;
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
               Launch launch, float factor = kFactor) {
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
  judge(c, row, repeats, factor);
}

/// Host memory, device memory, copy in, kernel, copy out, free: and the device has as much free memory as before.
void sixSteps(Context& c, float* x, float* y) {
  const std::size_t bytes = c.x.size() * sizeof(float);
  float* deviceX = nullptr;
  float* deviceY = nullptr;
  LAB_CHECK(cudaMalloc(&deviceX, std::max<std::size_t>(bytes, 1)));
  LAB_CHECK(cudaMalloc(&deviceY, std::max<std::size_t>(bytes, 1)));
  if (c.n > 0) {
    LAB_CHECK(cudaMemcpy(deviceX, x, bytes, cudaMemcpyHostToDevice));
    LAB_CHECK(cudaMemcpy(deviceY, y, bytes, cudaMemcpyHostToDevice));
    saxpy<<<lab::ceilDiv(c.x.size(), 64), 64>>>(c.n, kFactor, deviceX, deviceY);
    lab::launched("saxpy");
    LAB_CHECK(cudaMemcpy(y, deviceY, bytes, cudaMemcpyDeviceToHost));
  }
  LAB_CHECK(cudaFree(deviceX));
  LAB_CHECK(cudaFree(deviceY));
}

void runHostSteps(Context& c, lab::Measurement& row) {
  row.kernel = "saxpy";
  row.grid = dim3(lab::ceilDiv(c.x.size(), 64));
  row.block = dim3(64);
  const host::Memory x = host::allocate(c.x.size());
  const host::Memory y = host::allocate(c.y.size());
  cudaFuncAttributes loaded;  // a kernel is loaded when it is first used, which takes memory, too
  LAB_CHECK(cudaFuncGetAttributes(&loaded, saxpy));
  const std::size_t before = host::freeDeviceMemory();
  lab::timeRounds(
      c.options.rounds, row,
      [&] {
        std::copy(c.x.begin(), c.x.end(), x.get());
        std::copy(c.y.begin(), c.y.end(), y.get());
      },
      [&] { sixSteps(c, x.get(), y.get()); }, [] {});
  const std::size_t after = host::freeDeviceMemory();
  std::copy_n(y.get(), c.y.size(), c.result.begin());
  judge(c, row, 1);
  row.note = before == after ? "as much memory is free as before" : "memory was not given back";
  if (before != after) row.verified = lab::Verified::no;
}

template <unsigned Block>
void runSaxpy(Context& c, lab::Measurement& row) {
  runDevice(c, row, "saxpy", lab::ceilDiv(c.x.size(), Block), Block, 1, [&](unsigned grid, unsigned block) {
    saxpy<<<grid, block>>>(c.n, kFactor, c.deviceX.get(), c.deviceY.get());
  });
}

void runNoGuard(Context& c, lab::Measurement& row) {
  if (c.n % 64 != 0) {
    row.verified = lab::Verified::notApplicable;
    row.note = "skipped: without a guard the size must be a multiple of 64";
    return;
  }
  runDevice(c, row, "saxpyNoGuard", static_cast<unsigned>(c.n / 64), 64, 1, [&](unsigned grid, unsigned block) {
    saxpyNoGuard<<<grid, block>>>(kFactor, c.deviceX.get(), c.deviceY.get());
  });
}

/// Enough blocks for any size, and still no guard: the last block's threads behind the end use memory of nobody. An
/// allocation is rounded up by more than that, so that without a checker nothing is seen of it.
void runTail(Context& c, lab::Measurement& row) {
  runDevice(c, row, "saxpyNoGuard", lab::ceilDiv(c.x.size(), 64), 64, 1, [&](unsigned grid, unsigned block) {
    saxpyNoGuard<<<grid, block>>>(kFactor, c.deviceX.get(), c.deviceY.get());
  });
  row.verified = lab::Verified::notApplicable;
  row.note = "wrong on purpose: " + std::to_string(row.grid.x * 64 - c.x.size()) + " threads behind the end";
}

void runAdd(Context& c, lab::Measurement& row) {
  runDevice(
      c, row, "vectorAdd", lab::ceilDiv(c.x.size(), 256), 256, 1,
      [&](unsigned grid, unsigned block) {
        vectorAdd<<<grid, block>>>(c.n, c.deviceX.get(), c.deviceY.get(), c.deviceY.get());
      },
      1.0f);
  row.flops = c.n;
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

// ------------------------------------------------------------------------------------------------------- Nsaxpy whole
// The whole of the course's program: both arrays to the device, 100 repetitions, the result back. On one stream from
// ordinary memory; and in chunks on several streams from pinned memory, where copies both ways and kernels overlap.

struct PinnedArrays {
  explicit PinnedArrays(std::size_t length) {
    for (float** array : {&x, &y, &result}) {
      LAB_CHECK(cudaMallocHost(reinterpret_cast<void**>(array), std::max<std::size_t>(length, 1) * sizeof(float)));
    }
  }
  ~PinnedArrays() {
    for (float* array : {x, y, result}) cudaFreeHost(array);
  }
  PinnedArrays(const PinnedArrays&) = delete;
  PinnedArrays& operator=(const PinnedArrays&) = delete;

  float* x = nullptr;
  float* y = nullptr;
  float* result = nullptr;
};

constexpr unsigned kRepeatedBlock = 256;

/// The time of each operation of one run, between two events each.
std::vector<host::Operation> timeOperations(Context& c) {
  cudaEvent_t events[5];
  for (cudaEvent_t& event : events) LAB_CHECK(cudaEventCreate(&event));
  LAB_CHECK(cudaEventRecord(events[0]));
  c.deviceX.upload(c.x.data(), c.x.size());
  LAB_CHECK(cudaEventRecord(events[1]));
  c.deviceY.upload(c.y.data(), c.y.size());
  LAB_CHECK(cudaEventRecord(events[2]));
  saxpyRepeated<<<lab::ceilDiv(c.x.size(), kRepeatedBlock), kRepeatedBlock>>>(c.n, kFactor, c.deviceX.get(),
                                                                              c.deviceY.get(), kRepeats);
  lab::launched("saxpyRepeated");
  LAB_CHECK(cudaEventRecord(events[3]));
  c.deviceY.download(c.result.data(), c.result.size());
  LAB_CHECK(cudaEventRecord(events[4]));
  LAB_CHECK(cudaEventSynchronize(events[4]));
  double ms[4];
  for (int i = 0; i < 4; ++i) {
    float elapsed = 0;
    LAB_CHECK(cudaEventElapsedTime(&elapsed, events[i], events[i + 1]));
    ms[i] = elapsed;
  }
  for (cudaEvent_t event : events) LAB_CHECK(cudaEventDestroy(event));
  return {{"copies to the device", {ms[0], ms[1]}}, {"saxpyRepeated", {ms[2]}}, {"copies to the host", {ms[3]}}};
}

void runWhole(Context& c, lab::Measurement& row) {
  row.kernel = "saxpyRepeated";
  row.grid = dim3(lab::ceilDiv(c.x.size(), kRepeatedBlock));
  row.block = dim3(kRepeatedBlock);
  lab::timeRounds(
      c.options.rounds, row, [] {},
      [&] {
        if (c.n == 0) return;
        c.deviceX.upload(c.x.data(), c.x.size());
        c.deviceY.upload(c.y.data(), c.y.size());
        saxpyRepeated<<<row.grid, row.block>>>(c.n, kFactor, c.deviceX.get(), c.deviceY.get(), kRepeats);
        lab::launched("saxpyRepeated");
        c.deviceY.download(c.result.data(), c.result.size());
      },
      [] {});
  if (c.n > 0) c.operations = timeOperations(c);
  judge(c, row, kRepeats);
}

/// One chunk's six steps, in order on its stream.
void enqueueChunk(Context& c, const PinnedArrays& host, std::size_t first, std::size_t count, cudaStream_t stream) {
  const std::size_t bytes = count * sizeof(float);
  float* x = c.deviceX.get() + first;
  float* y = c.deviceY.get() + first;
  LAB_CHECK(cudaMemcpyAsync(x, host.x + first, bytes, cudaMemcpyHostToDevice, stream));
  LAB_CHECK(cudaMemcpyAsync(y, host.y + first, bytes, cudaMemcpyHostToDevice, stream));
  saxpyRepeated<<<lab::ceilDiv(count, kRepeatedBlock), kRepeatedBlock, 0, stream>>>(static_cast<int>(count), kFactor, x,
                                                                                    y, kRepeats);
  lab::launched("saxpyRepeated");
  LAB_CHECK(cudaMemcpyAsync(host.result + first, y, bytes, cudaMemcpyDeviceToHost, stream));
}

template <unsigned Streams>
void runWholeStreams(Context& c, lab::Measurement& row) {
  row.kernel = "saxpyRepeated";
  const std::size_t chunk = (c.x.size() + Streams - 1) / Streams;
  row.grid = dim3(lab::ceilDiv(chunk, kRepeatedBlock));
  row.block = dim3(kRepeatedBlock);
  PinnedArrays host(c.x.size());
  std::copy(c.x.begin(), c.x.end(), host.x);
  std::copy(c.y.begin(), c.y.end(), host.y);
  cudaStream_t streams[Streams];
  for (cudaStream_t& stream : streams) LAB_CHECK(cudaStreamCreate(&stream));  // ordered with the timing's events
  lab::timeRounds(
      c.options.rounds, row, [] {},
      [&] {
        for (unsigned k = 0; k < Streams; ++k) {
          const std::size_t first = std::min(c.x.size(), k * chunk);
          const std::size_t count = std::min(chunk, c.x.size() - first);
          if (count != 0) enqueueChunk(c, host, first, count, streams[k]);
        }
      },
      [] {});
  for (cudaStream_t stream : streams) LAB_CHECK(cudaStreamDestroy(stream));
  std::copy(host.result, host.result + c.x.size(), c.result.begin());
  judge(c, row, kRepeats);
  c.deviceX.upload(c.x.data(), c.x.size());
}

const std::vector<lab::Variant<Context>> kVariants = {
    {"seq", "vec.saxpy_seq", "Sequential loop (CPU)", true, runSequential},
    {"saxpy_64", "vec.saxpy", "A thread for each element, block 64", true, runSaxpy<64>},
    {"saxpy_256", "vec.saxpy", "A thread for each element, block 256", true, runSaxpy<256>},
    {"stride", "vec.saxpy", "Grid-stride loop, 1024 blocks of 256", true, runStride},
    {"host_steps", "vec.saxpy_host", "All six steps of the host", true, runHostSteps},
    {"no_guard", "vec.saxpy_noguard", "Without the guard, block 64", true, runNoGuard},
    {"tail", "vec.saxpy_noguard", "Without the guard, any size (wrong)", false, runTail},
    {"add", "vec.add", "Sum of two vectors", true, runAdd},
    {"repeated", "vec.nsaxpy", "100 times, block 256", true, runRepeated},
    {"whole", "vec.nsaxpy", "100 times, with both copies", true, runWhole},
    {"whole_streams", "vec.nsaxpy_streams", "The same on 4 streams, pinned memory", true, runWholeStreams<4>},
};

/// Which block and thread has which element, as the threads say.
void showIndices(unsigned grid, unsigned block) {
  const unsigned n = grid * block;
  lab::DeviceArray<int> blocks(n), threads(n);
  saxpyRecordIndices<<<grid, block>>>(blocks.get(), threads.get());
  lab::launched("saxpyRecordIndices");
  std::vector<int> b(n), t(n);
  blocks.download(b.data(), n);
  threads.download(t.data(), n);
  std::printf("%u blocks of %u threads (block.thread of each element):", grid, block);
  for (unsigned i = 0; i < n; ++i) std::printf(" %u=%d.%d", i, b[i], t[i]);
  std::printf("\n");
}

/// Two operations for an element, and 8 bytes read: 0.25 for each byte; the store is not counted in the course's sum.
void showExpectation() {
  constexpr double kCores = 6;
  constexpr double kClock = 2.1;    // GHz
  constexpr double kPerClock = 16;  // AVX: 8 lanes, multiply and add
  const double peak = kCores * kClock * kPerClock;
  std::printf("6 cores with AVX at 2.1 GHz: %.1f GFLOP/s; with 32 GB/s of memory saxpy reaches at most %g GFLOP/s\n",
              peak, lab::attainable(peak, 32, 0.25));
}

}  // namespace

int main(int argc, char** argv) {
  lab::Options options;
  options.size = std::size_t{1} << 24;
  options.block = 256;
  options = lab::parse(argc, argv, options, " [--trace]");
  if (options.trace) {
    showIndices(4, 8);
    showIndices(3, 3);
    showExpectation();
    return 0;
  }
  if (options.size > kLargestSize) lab::usageError("--size: at most 2^30 elements");
  lab::mustFit(options.size, 6 * sizeof(float), 4 * sizeof(float));  // with what variants hold besides
  lab::Output output("saxpy", options);
  Context context(options);
  lab::runVariants(kVariants, options, context, output);
  host::noteOperations(output, context.operations);
  lab::noteBestBandwidth(output);
  return output.finish("seq");
}
