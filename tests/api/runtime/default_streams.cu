// Who waits for whom: the legacy default stream against streams that block and that do not, events in it, streams that
// are destroyed early, and work cut into chunks on several streams. A host function that waits for a gate holds a
// stream for as long as the test likes, so that nothing depends on time.
#include <atomic>
#include <chrono>
#include <numeric>
#include <thread>
#include <vector>

#include "expect.hpp"

class Gate {
 public:
  explicit Gate(cudaStream_t stream) { EXPECT_OK(cudaLaunchHostFunc(stream, wait, this)); }
  void open() { isOpen_ = true; }

 private:
  std::atomic<bool> isOpen_{false};
  static void wait(void* gate) {
    while (!static_cast<Gate*>(gate)->isOpen_) std::this_thread::yield();
  }
};

__global__ void append(int* where, int digit) { *where = *where * 10 + digit; }

static int valueOf(const int* device) {
  int value;
  EXPECT_OK(cudaMemcpy(&value, device, sizeof value, cudaMemcpyDeviceToHost));
  return value;
}

static cudaEvent_t eventIn(cudaStream_t stream) {
  cudaEvent_t event;
  EXPECT_OK(cudaEventCreate(&event));
  EXPECT_OK(cudaEventQuery(event));  // a fresh event has occurred
  EXPECT_OK(cudaEventRecord(event, stream));
  return event;
}

struct Streams {
  cudaStream_t blocking, other, free;
  Streams() {
    EXPECT_OK(cudaStreamCreate(&blocking));
    EXPECT_OK(cudaStreamCreateWithFlags(&other, cudaStreamDefault));
    EXPECT_OK(cudaStreamCreateWithFlags(&free, cudaStreamNonBlocking));
  }
  ~Streams() {
    for (cudaStream_t s : {blocking, other, free}) EXPECT_OK(cudaStreamDestroy(s));
  }
};

/// While the default stream is held, a blocking stream is, too, and one that does not block goes on.
static void defaultStreamHolds(int* cell, const Streams& s) {
  Gate gate(nullptr);
  append<<<1, 1, 0, s.blocking>>>(cell, 1);
  append<<<1, 1, 0, s.free>>>(cell + 1, 2);
  cudaEvent_t held = eventIn(s.blocking), overtaking = eventIn(s.free);
  EXPECT_OK(cudaEventSynchronize(overtaking));
  EXPECT(cudaEventQuery(held) == cudaErrorNotReady && cudaStreamQuery(s.blocking) == cudaErrorNotReady);
  EXPECT_OK(cudaStreamQuery(s.free));
  gate.open();
  EXPECT_OK(cudaStreamSynchronize(s.blocking));
  EXPECT_OK(cudaEventQuery(held));
  EXPECT(valueOf(cell) == 1 && valueOf(cell + 1) == 2);
  for (cudaEvent_t e : {held, overtaking}) EXPECT_OK(cudaEventDestroy(e));
}

/// While a blocking stream is held, the default stream is, and what comes after that in other blocking streams; streams
/// of a program's own never hold one another.
static void streamHoldsDefault(int* cell, const Streams& s) {
  Gate gate(s.blocking);
  append<<<1, 1, 0, s.other>>>(cell + 2, 3);
  cudaEvent_t own = eventIn(s.other);
  EXPECT_OK(cudaEventSynchronize(own));  // other than the held stream
  append<<<1, 1>>>(cell + 3, 4);
  cudaEvent_t inDefault = eventIn(nullptr);
  append<<<1, 1, 0, s.other>>>(cell + 3, 5);
  cudaEvent_t behind = eventIn(s.other);
  EXPECT(cudaEventQuery(inDefault) == cudaErrorNotReady && cudaEventQuery(behind) == cudaErrorNotReady);
  gate.open();
  EXPECT_OK(cudaEventSynchronize(behind));
  EXPECT_OK(cudaEventQuery(inDefault));
  EXPECT(valueOf(cell + 2) == 3 && valueOf(cell + 3) == 45);
  for (cudaEvent_t e : {own, inDefault, behind}) EXPECT_OK(cudaEventDestroy(e));
}

/// Kernels of the default stream run one after the other; the host goes on at once.
static void oneAfterTheOther(int* cell) {
  Gate gate(nullptr);
  for (int digit : {6, 7, 8}) append<<<1, 1>>>(cell + 4, digit);
  EXPECT(cudaStreamQuery(nullptr) == cudaErrorNotReady);
  gate.open();
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT(valueOf(cell + 4) == 678);
}

/// A stream that is destroyed with work in it ends when the work has.
static void destroyedEarly(int* cell) {
  cudaStream_t stream;
  EXPECT_OK(cudaStreamCreate(&stream));
  Gate gate(stream);
  append<<<1, 1, 0, stream>>>(cell + 5, 9);
  EXPECT_OK(cudaStreamDestroy(stream));
  gate.open();
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT(valueOf(cell + 5) == 9);
}

/// A kernel that needs two copies of other streams waits for the events behind them.
static void eventsAcross(int* cell, const Streams& s) {
  int* pinned;
  EXPECT_OK(cudaMallocHost(reinterpret_cast<void**>(&pinned), 2 * sizeof(int)));
  pinned[0] = 30, pinned[1] = 12;
  Gate first(s.blocking), second(s.other);
  EXPECT_OK(cudaMemcpyAsync(cell + 6, &pinned[0], sizeof(int), cudaMemcpyHostToDevice, s.blocking));
  EXPECT_OK(cudaMemcpyAsync(cell + 7, &pinned[1], sizeof(int), cudaMemcpyHostToDevice, s.other));
  cudaEvent_t one = eventIn(s.blocking), two = eventIn(s.other);
  EXPECT_OK(cudaStreamWaitEvent(s.free, one, 0));
  EXPECT_OK(cudaStreamWaitEvent(s.free, two, 0));
  append<<<1, 1, 0, s.free>>>(cell + 6, 1);
  append<<<1, 1, 0, s.free>>>(cell + 7, 2);
  second.open();
  EXPECT_OK(cudaEventSynchronize(two));
  EXPECT(cudaStreamQuery(s.free) == cudaErrorNotReady);
  first.open();
  EXPECT_OK(cudaStreamSynchronize(s.free));
  EXPECT(valueOf(cell + 6) == 301 && valueOf(cell + 7) == 122);
  for (cudaEvent_t e : {one, two}) EXPECT_OK(cudaEventDestroy(e));
  EXPECT_OK(cudaFreeHost(pinned));
}

/// The parts of a timing sum to the whole, and it is no longer than what the host measures around it.
static void timing(int* cell) {
  std::vector<int> data(1 << 16);
  const auto start = std::chrono::steady_clock::now();
  cudaEvent_t t1 = eventIn(nullptr);
  EXPECT_OK(cudaMemcpy(cell, data.data(), data.size() * sizeof(int), cudaMemcpyHostToDevice));
  cudaEvent_t t2 = eventIn(nullptr);
  append<<<1, 1>>>(cell, 1);
  cudaEvent_t t3 = eventIn(nullptr);
  EXPECT_OK(cudaMemcpy(data.data(), cell, data.size() * sizeof(int), cudaMemcpyDeviceToHost));
  cudaEvent_t t4 = eventIn(nullptr);
  EXPECT_OK(cudaEventSynchronize(t4));
  const std::chrono::duration<float, std::milli> around = std::chrono::steady_clock::now() - start;
  float whole, in, kernel, out;
  EXPECT_OK(cudaEventElapsedTime(&whole, t1, t4));
  EXPECT_OK(cudaEventElapsedTime(&in, t1, t2));
  EXPECT_OK(cudaEventElapsedTime(&kernel, t2, t3));
  EXPECT_OK(cudaEventElapsedTime(&out, t3, t4));
  EXPECT(in > 0 && kernel > 0 && out > 0 && whole <= around.count());
  EXPECT(whole - (in + kernel + out) < 0.001f * (1 + whole) && (in + kernel + out) - whole < 0.001f * (1 + whole));
  for (cudaEvent_t e : {t1, t2, t3, t4}) EXPECT_OK(cudaEventDestroy(e));
}

__global__ void square(const int* in, int* out, int offset, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) out[offset + i] = in[offset + i] * in[offset + i];
}

/// Copy in, compute, copy out: chunk by chunk (1), or all copies first, then all kernels (2). Kernels take offsets in
/// elements, copies sizes in bytes.
static void chunks(int scheme) {
  constexpr int kStreams = 4, kCount = 1 << 14, kChunk = kCount / kStreams;
  cudaStream_t streams[kStreams];
  int *in, *out, *device;
  EXPECT_OK(cudaMallocHost(reinterpret_cast<void**>(&in), kCount * sizeof(int)));
  EXPECT_OK(cudaMallocHost(reinterpret_cast<void**>(&out), kCount * sizeof(int)));
  EXPECT_OK(cudaMalloc(&device, 2 * kCount * sizeof(int)));
  std::iota(in, in + kCount, 0);
  for (cudaStream_t& s : streams) EXPECT_OK(cudaStreamCreate(&s));
  auto copyIn = [&](int k) {
    EXPECT_OK(cudaMemcpyAsync(device + k * kChunk, in + k * kChunk, kChunk * sizeof(int), cudaMemcpyHostToDevice,
                              streams[k]));
  };
  auto compute = [&](int k) {
    square<<<(kChunk + 255) / 256, 256, 0, streams[k]>>>(device, device + kCount, k * kChunk, kChunk);
  };
  auto copyOut = [&](int k) {
    EXPECT_OK(cudaMemcpyAsync(out + k * kChunk, device + kCount + k * kChunk, kChunk * sizeof(int),
                              cudaMemcpyDeviceToHost, streams[k]));
  };
  if (scheme == 1) {
    for (int k = 0; k < kStreams; ++k) copyIn(k), compute(k), copyOut(k);
  } else {
    for (int k = 0; k < kStreams; ++k) copyIn(k);
    for (int k = 0; k < kStreams; ++k) compute(k);
    for (int k = 0; k < kStreams; ++k) copyOut(k);
  }
  EXPECT_OK(cudaDeviceSynchronize());
  for (int i = 0; i < kCount; ++i) EXPECT(out[i] == i * i);
  for (cudaStream_t s : streams) EXPECT_OK(cudaStreamDestroy(s));
  EXPECT_OK(cudaFreeHost(in));
  EXPECT_OK(cudaFreeHost(out));
  EXPECT_OK(cudaFree(device));
}

int main() {
  int* cells;
  EXPECT_OK(cudaMalloc(&cells, (1 << 16) * sizeof(int)));
  EXPECT_OK(cudaMemset(cells, 0, (1 << 16) * sizeof(int)));
  append<<<1, 1>>>(cells + 100, 0);  // loaded before anything is held
  EXPECT_OK(cudaDeviceSynchronize());
  {
    const Streams streams;
    defaultStreamHolds(cells, streams);
    streamHoldsDefault(cells, streams);
    oneAfterTheOther(cells);
    destroyedEarly(cells);
    eventsAcross(cells, streams);
  }
  timing(cells);
  for (int scheme : {1, 2}) chunks(scheme);
  EXPECT_OK(cudaFree(cells));
  return finish();
}
