// What goes on at the same time as what, and what two events measure of it. Nothing here depends on how fast anything
// is: a kernel that waits for a word of the host's ends only if the host went on meanwhile, and kernels that wait for a
// time give the least that a measurement can be.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "expect.hpp"
#include "gate.hpp"

using Clock = std::chrono::steady_clock;

__device__ unsigned long long nanoseconds() {
  unsigned long long time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  return time;
}

/// Waits until the word is 1, twenty seconds at most; then it writes what it has seen behind the word.
__global__ void waitForWord(volatile int* word) {
  const unsigned long long start = nanoseconds();
  while (word[0] == 0 && nanoseconds() - start < 20'000'000'000) __nanosleep(1000);
  word[1] = word[0] + 1;
}

__global__ void takeTime(unsigned long long duration) {
  const unsigned long long start = nanoseconds();
  while (nanoseconds() - start < duration) __nanosleep(1000);
}

__global__ void addOne(int* data, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) ++data[i];
}

static double since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// A word that host and device see.
class Word {
 public:
  Word() {
    EXPECT_OK(cudaHostAlloc(reinterpret_cast<void**>(&host_), 2 * sizeof(int), cudaHostAllocMapped));
    host_[0] = host_[1] = 0;
    EXPECT_OK(cudaHostGetDevicePointer(reinterpret_cast<void**>(&device_), host_, 0));
  }
  ~Word() { EXPECT_OK(cudaFreeHost(host_)); }
  int* device() const { return device_; }
  void set() { *static_cast<volatile int*>(host_) = 1; }
  bool seen() const { return host_[1] == 2; }
  bool answered() const { return static_cast<volatile int*>(host_)[1] != 0; }

 private:
  int* host_ = nullptr;
  int* device_ = nullptr;
};

struct Buffers {
  static constexpr int kCount = 1 << 16;
  int *pinned, *device;
  Buffers() {
    EXPECT_OK(cudaMallocHost(reinterpret_cast<void**>(&pinned), kCount * sizeof(int)));
    EXPECT_OK(cudaMalloc(reinterpret_cast<void**>(&device), kCount * sizeof(int)));
    for (int i = 0; i < kCount; ++i) pinned[i] = i;
  }
  ~Buffers() {
    EXPECT_OK(cudaFreeHost(pinned));
    EXPECT_OK(cudaFree(device));
  }
  /// Part `i` of `parts`, since streams that copy at the same time copy different things.
  cudaError_t copyIn(cudaStream_t stream, size_t i = 0, size_t parts = 1) const {
    const size_t count = kCount / parts, first = i * count;
    return cudaMemcpyAsync(device + first, pinned + first, count * sizeof(int), cudaMemcpyHostToDevice, stream);
  }
  cudaError_t copyOut(cudaStream_t stream, size_t i = 0, size_t parts = 1) const {
    const size_t count = kCount / parts, first = i * count;
    return cudaMemcpyAsync(pinned + first, device + first, count * sizeof(int), cudaMemcpyDeviceToHost, stream);
  }
};

/// A kernel, even of the default stream, that the host finishes; a copy that the host does not wait for.
static void withTheHost(const Buffers& b, cudaStream_t stream) {
  Word word;
  waitForWord<<<1, 1>>>(word.device());
  EXPECT(cudaStreamQuery(nullptr) == cudaErrorNotReady && !word.answered());
  word.set();
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT(word.seen());

  Gate gate(stream);
  EXPECT_OK(b.copyIn(stream));
  EXPECT_OK(cudaMemsetAsync(b.device, 0, sizeof(int), stream));
  EXPECT(cudaStreamQuery(stream) == cudaErrorNotReady);
  gate.open();
  EXPECT_OK(cudaStreamSynchronize(stream));
}

/// A transfer of one stream ends while a kernel of another runs; so do transfers both ways.
static void copiesBesideKernels(const Buffers& b, cudaStream_t computing, cudaStream_t copying) {
  Word word;
  waitForWord<<<1, 1, 0, computing>>>(word.device());
  b.pinned[7] = 70;
  EXPECT_OK(b.copyIn(copying));
  addOne<<<Buffers::kCount / 256, 256, 0, copying>>>(b.device, Buffers::kCount);
  EXPECT_OK(b.copyOut(copying));
  EXPECT_OK(cudaStreamSynchronize(copying));
  EXPECT(b.pinned[7] == 71 && !word.answered() && cudaStreamQuery(computing) == cudaErrorNotReady);
  word.set();
  EXPECT_OK(cudaStreamSynchronize(computing));
  EXPECT(word.seen());
}

/// In one stream the same copy waits, and so it does in the default stream, which a blocking stream holds.
static void copiesBehindKernels(const Buffers& b, cudaStream_t computing) {
  for (cudaStream_t copying : {computing, cudaStream_t(nullptr)}) {
    Word word;
    waitForWord<<<1, 1, 0, computing>>>(word.device());
    cudaEvent_t copied;
    EXPECT_OK(cudaEventCreate(&copied));
    EXPECT_OK(b.copyIn(copying));
    EXPECT_OK(cudaEventRecord(copied, copying));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT(cudaEventQuery(copied) == cudaErrorNotReady);
    word.set();
    EXPECT_OK(cudaEventSynchronize(copied));
    EXPECT(word.seen());
    EXPECT_OK(cudaEventDestroy(copied));
  }
}

/// cudaMemcpy, of more than what a driver buffers, does not return before its copy is done, nor cudaFree before the
/// device is idle.
static void callsThatWait(const Buffers& b, cudaStream_t stream) {
  std::vector<int> pageable(Buffers::kCount);
  const size_t bytes = pageable.size() * sizeof(int);
  waits(stream, [&] { EXPECT_OK(cudaMemcpy(b.device, pageable.data(), bytes, cudaMemcpyHostToDevice)); });
  waits(stream, [&] { EXPECT_OK(cudaMemcpy(pageable.data(), b.device, bytes, cudaMemcpyDeviceToHost)); });
  waits(stream, [&] { EXPECT_OK(cudaMemcpy(pageable.data(), b.device, 4, cudaMemcpyDeviceToHost)); });
  int* scratch;
  EXPECT_OK(cudaMalloc(&scratch, 16));
  waits(stream, [&] { EXPECT_OK(cudaFree(scratch)); });
}

/// Copies within the device, and of up to 64 KB of memory that CUDA does not know, return while the stream is held; the
/// host may write to that memory at once.
static void callsThatDoNotWait(const Buffers& b, cudaStream_t stream) {
  constexpr int kStaged = 64 * 1024 / sizeof(int);
  std::vector<int> pageable(kStaged, 5);
  Gate gate(stream);
  EXPECT_OK(cudaMemcpy(b.device, pageable.data(), kStaged * sizeof(int), cudaMemcpyHostToDevice));
  EXPECT_OK(cudaMemcpy(b.device + kStaged, b.device, kStaged * sizeof(int), cudaMemcpyDeviceToDevice));
  std::fill(pageable.begin(), pageable.end(), 0);
  EXPECT(cudaStreamQuery(nullptr) == cudaErrorNotReady);
  gate.open();
  EXPECT_OK(cudaMemcpy(b.pinned, b.device, 2 * kStaged * sizeof(int), cudaMemcpyDeviceToHost));
  EXPECT(b.pinned[0] == 5 && b.pinned[kStaged - 1] == 5 && b.pinned[kStaged] == 5 && b.pinned[2 * kStaged - 1] == 5);
}

/// Two events around a kernel measure no less than the kernel and no more than the host's clock around both.
class Timer {
 public:
  Timer() {
    EXPECT_OK(cudaEventCreate(&start_));
    EXPECT_OK(cudaEventCreate(&stop_));
  }
  ~Timer() {
    EXPECT_OK(cudaEventDestroy(start_));
    EXPECT_OK(cudaEventDestroy(stop_));
  }
  void start(cudaStream_t stream = nullptr) { EXPECT_OK(cudaEventRecord(start_, stream)); }
  void stop(cudaStream_t stream = nullptr) { EXPECT_OK(cudaEventRecord(stop_, stream)); }
  float ms() const {
    float ms = -1;
    EXPECT_OK(cudaEventSynchronize(stop_));
    EXPECT_OK(cudaEventElapsedTime(&ms, start_, stop_));
    return ms;
  }
  cudaError_t ask() const {
    float ms = -1;
    return cudaEventElapsedTime(&ms, start_, stop_);
  }

 private:
  cudaEvent_t start_, stop_;
};

constexpr unsigned long long kDuration = 10'000'000;  // ns
constexpr double kLeast = kDuration * 1e-6 * 0.99;    // the clocks differ a little

static void timingPattern(const std::vector<cudaStream_t>& streams) {
  Timer timer;
  EXPECT_ERROR(cudaErrorInvalidResourceHandle, timer.ask());  // neither has been recorded
  auto before = Clock::now();
  timer.start();
  takeTime<<<1, 1>>>(kDuration);
  timer.stop();
  double ms = timer.ms();
  EXPECT(ms >= kLeast && ms <= since(before));

  Timer across;  // events of two streams; what is in front of the second counts, too
  before = Clock::now();
  across.start(streams[0]);
  takeTime<<<1, 1, 0, streams[1]>>>(kDuration);
  across.stop(streams[1]);
  EXPECT(across.ask() == cudaErrorNotReady);
  ms = across.ms();
  EXPECT(ms >= kLeast && ms <= since(before));
}

/// Events of the default stream around the work of several streams measure until the last of them is done.
static void timingStreams(const Buffers& b, const std::vector<cudaStream_t>& streams) {
  struct Span {
    Clock::time_point begin, end;
  };
  std::vector<Span> spans(streams.size());
  Timer timer;
  const auto before = Clock::now();
  timer.start();
  for (size_t i = 0; i < streams.size(); ++i) {
    auto stamp = [](void* time) { *static_cast<Clock::time_point*>(time) = Clock::now(); };
    EXPECT_OK(cudaLaunchHostFunc(streams[i], stamp, &spans[i].begin));
    EXPECT_OK(b.copyIn(streams[i], i, streams.size()));
    takeTime<<<1, 1, 0, streams[i]>>>(kDuration * (i + 1));
    EXPECT_OK(b.copyOut(streams[i], i, streams.size()));
    EXPECT_OK(cudaLaunchHostFunc(streams[i], stamp, &spans[i].end));
  }
  timer.stop();
  const double ms = timer.ms();
  const double around = since(before);
  auto first = spans[0].begin, last = spans[0].end;
  for (const Span& s : spans) first = std::min(first, s.begin), last = std::max(last, s.end);
  const double makespan = std::chrono::duration<double, std::milli>(last - first).count();
  EXPECT(makespan >= kLeast * static_cast<double>(streams.size()));
  EXPECT(ms >= makespan * 0.999 && ms <= around);
}

int main() {
  const Buffers buffers;
  std::vector<cudaStream_t> streams(4);
  for (cudaStream_t& s : streams) EXPECT_OK(cudaStreamCreate(&s));
  Word loaded;  // every kernel once, since loading one may wait for the device
  loaded.set();
  waitForWord<<<1, 1>>>(loaded.device());
  takeTime<<<1, 1>>>(1);
  addOne<<<1, 1>>>(buffers.device, 1);
  EXPECT_OK(cudaDeviceSynchronize());
  withTheHost(buffers, streams[0]);
  copiesBesideKernels(buffers, streams[0], streams[1]);
  copiesBehindKernels(buffers, streams[0]);
  callsThatWait(buffers, streams[0]);
  callsThatDoNotWait(buffers, streams[0]);
  timingPattern(streams);
  timingStreams(buffers, streams);
  for (cudaStream_t s : streams) EXPECT_OK(cudaStreamDestroy(s));
  return finish();
}
