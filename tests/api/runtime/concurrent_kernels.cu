// Which kernels may run at the same time, compiled once with the legacy default stream and once with a default stream
// for each thread. A kernel counts how many are inside at once and leaves when as many as it was told have come, or
// when its patience ends: kernels that may overlap meet, and kernels that may not are alone, whatever the machine does
// meanwhile.
#include <thread>
#include <vector>

#include "expect.hpp"

constexpr unsigned long long kLong = 20'000'000'000, kShort = 5'000'000;  // ns
constexpr int kStreams = 8;

struct Meeting {
  int inside, most;
};

__device__ unsigned long long nanoseconds() {
  unsigned long long time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  return time;
}

/// The first thread of each block meets those of other blocks.
__global__ void meet(Meeting* meeting, int expected, unsigned long long patience) {
  if (threadIdx.x != 0) return;
  atomicMax(&meeting->most, atomicAdd(&meeting->inside, 1) + 1);
  const unsigned long long start = nanoseconds();
  while (atomicAdd(&meeting->most, 0) < expected && nanoseconds() - start < patience) __nanosleep(1000);
  atomicSub(&meeting->inside, 1);
}

__global__ void dummy() {}

static Meeting* newMeeting() {
  Meeting* meeting;
  EXPECT_OK(cudaMalloc(&meeting, sizeof *meeting));
  EXPECT_OK(cudaMemset(meeting, 0, sizeof *meeting));
  EXPECT_OK(cudaDeviceSynchronize());
  return meeting;
}

/// How many kernels, or blocks, were inside at once.
static int mostOf(Meeting* meeting) {
  EXPECT_OK(cudaDeviceSynchronize());
  Meeting result;
  EXPECT_OK(cudaMemcpy(&result, meeting, sizeof result, cudaMemcpyDeviceToHost));
  EXPECT_OK(cudaFree(meeting));
  EXPECT(result.inside == 0);
  return result.most;
}

struct Streams {
  std::vector<cudaStream_t> all;
  Streams() : all(kStreams) {
    for (cudaStream_t& s : all) EXPECT_OK(cudaStreamCreate(&s));
  }
  ~Streams() {
    for (cudaStream_t s : all) EXPECT_OK(cudaStreamDestroy(s));
  }
};

/// Kernels in streams of their own run side by side.
static void besides(const Streams& streams) {
  cudaDeviceProp properties;
  EXPECT_OK(cudaGetDeviceProperties(&properties, 0));
  EXPECT(properties.concurrentKernels == 1 && properties.asyncEngineCount >= 1);
  Meeting* meeting = newMeeting();
  for (cudaStream_t s : streams.all) meet<<<1, 64, 0, s>>>(meeting, kStreams, kLong);
  EXPECT(mostOf(meeting) == kStreams);
}

/// Kernels of one stream never do.
static void inOneStream(const Streams& streams) {
  Meeting* meeting = newMeeting();
  for (int i = 0; i < 3; ++i) meet<<<1, 1, 0, streams.all[0]>>>(meeting, 2, kShort);
  EXPECT(mostOf(meeting) == 1);
}

/// A grid of another stream starts as soon as what it waits for has ended, beside a grid that still runs.
static void whenDependenciesAreMet(const Streams& streams) {
  Meeting* meeting = newMeeting();
  cudaEvent_t first;
  EXPECT_OK(cudaEventCreateWithFlags(&first, cudaEventDisableTiming));
  dummy<<<1, 1, 0, streams.all[0]>>>();
  EXPECT_OK(cudaEventRecord(first, streams.all[0]));
  meet<<<1, 1, 0, streams.all[0]>>>(meeting, 2, kLong);
  EXPECT_OK(cudaStreamWaitEvent(streams.all[1], first, 0));
  meet<<<1, 1, 0, streams.all[1]>>>(meeting, 2, kLong);
  EXPECT(mostOf(meeting) == 2);

  meeting = newMeeting();  // the event stands behind the kernel now
  meet<<<1, 1, 0, streams.all[0]>>>(meeting, 2, kShort);
  EXPECT_OK(cudaEventRecord(first, streams.all[0]));
  EXPECT_OK(cudaStreamWaitEvent(streams.all[1], first, 0));
  meet<<<1, 1, 0, streams.all[1]>>>(meeting, 2, kShort);
  EXPECT(mostOf(meeting) == 1);
  EXPECT_OK(cudaEventDestroy(first));
}

/// Eight kernels in streams, and behind each a kernel of the default stream: with the legacy one, nothing overlaps;
/// with one for each thread the default stream is a ninth that overlaps all.
static void withDummies(const Streams& streams, bool perThread) {
  Meeting* meeting = newMeeting();
  const int expected = perThread ? kStreams + 1 : 2;
  const unsigned long long patience = perThread ? kLong : kShort;
  for (cudaStream_t s : streams.all) {
    meet<<<1, 64, 0, s>>>(meeting, expected, patience);
    dummy<<<1, 1>>>();
  }
  meet<<<1, 1>>>(meeting, expected, patience);
  EXPECT(mostOf(meeting) == (perThread ? kStreams + 1 : 1));
}

/// Eight threads of the host that never name a stream.
static void fromThreads(bool perThread) {
  Meeting* meeting = newMeeting();
  std::vector<std::thread> threads;
  for (int i = 0; i < kStreams; ++i) {
    threads.emplace_back([=] {
      meet<<<1, 64>>>(meeting, perThread ? kStreams : 2, perThread ? kLong : kShort);
      EXPECT_OK(cudaStreamSynchronize(0));
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT(mostOf(meeting) == (perThread ? kStreams : 1));
}

int main() {
#ifdef PER_THREAD  // with -default-stream per-thread; no macro says so in every compiler
  constexpr bool perThread = true;
#else
  constexpr bool perThread = false;
#endif
  dummy<<<1, 1>>>();
  Meeting* loaded = newMeeting();  // before anybody waits
  meet<<<1, 1>>>(loaded, 0, 0);
  EXPECT(mostOf(loaded) == 1);
  {
    const Streams streams;
    besides(streams);
    inOneStream(streams);
    whenDependenciesAreMet(streams);
    withDummies(streams, perThread);
  }
  fromThreads(perThread);
  return finish();
}
