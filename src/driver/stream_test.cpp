// CUDA's ordering rules. The tests hold a stream back with a host function, so that an order that only happens to come
// out right fails.
#include <array>
#include <atomic>
#include <chrono>
#include <thread>

#include "driver/test_kernels.hpp"

namespace ordito::driver {
namespace {

class Streams : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    ASSERT_EQ(cuStreamCreate(&a_, CU_STREAM_DEFAULT), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamCreate(&b_, CU_STREAM_DEFAULT), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamCreate(&free_, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  }

  /// A host function that blocks its stream until opened.
  struct Gate {
    std::atomic<bool> open{false};
    static void wait(void* self) {
      while (!static_cast<Gate*>(self)->open) std::this_thread::yield();
    }
    void hold(CUstream stream) { ASSERT_EQ(cuLaunchHostFunc(stream, wait, this), CUDA_SUCCESS); }
  };

  static void settle() { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }

  CUstream a_ = nullptr, b_ = nullptr, free_ = nullptr;
};

TEST_F(Streams, AStreamIsInOrder) {
  CUdeviceptr out = allocate(4);
  CUfunction increment = kernel("increment");
  for (int i = 0; i < 500; ++i) ASSERT_EQ(start(increment, 1, 1, 0, a_, out), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(a_), CUDA_SUCCESS);
  EXPECT_EQ(read(out, 1)[0], 500u);
}

TEST_F(Streams, LaunchesAreAsynchronous) {
  Gate gate;
  gate.hold(a_);
  EXPECT_EQ(cuStreamQuery(a_), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(cuStreamQuery(b_), CUDA_SUCCESS);
  gate.open = true;
  EXPECT_EQ(cuStreamSynchronize(a_), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(a_), CUDA_SUCCESS);
}

TEST_F(Streams, StreamsDoNotWaitForEachOther) {
  CUdeviceptr out = allocate(4);
  Gate gate;
  gate.hold(a_);
  ASSERT_EQ(start(kernel("increment"), 1, 1, 0, b_, out), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(b_), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(a_), CUDA_ERROR_NOT_READY);
  gate.open = true;
  EXPECT_EQ(cuStreamSynchronize(a_), CUDA_SUCCESS);
}

TEST_F(Streams, TheLegacyStreamWaitsForBlockingStreams) {
  CUdeviceptr out = allocate(4);
  ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  CUfunction increment = kernel("increment");
  Gate gate, freeGate;
  gate.hold(a_);
  freeGate.hold(free_);
  ASSERT_EQ(start(increment, 1, 1, 0, nullptr, out), CUDA_SUCCESS);
  ASSERT_EQ(start(increment, 1, 1, 0, b_, out), CUDA_SUCCESS);
  settle();
  EXPECT_EQ(cuStreamQuery(nullptr), CUDA_ERROR_NOT_READY) << "behind stream a";
  EXPECT_EQ(cuStreamQuery(b_), CUDA_ERROR_NOT_READY) << "behind the legacy stream";
  gate.open = true;
  EXPECT_EQ(cuStreamSynchronize(b_), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(free_), CUDA_ERROR_NOT_READY) << "a non-blocking stream has no part in this";
  freeGate.open = true;
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(read(out, 1)[0], 2u);
}

// To wait for the legacy stream is to wait for the blocking streams, with nothing submitted to it.
TEST_F(Streams, TheHostWaitsForBlockingStreamsByTheLegacyStream) {
  ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  Gate gate, freeGate;
  gate.hold(a_);
  freeGate.hold(free_);
  std::thread later([&] {
    settle();
    gate.open = true;
  });
  EXPECT_EQ(cuStreamSynchronize(nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(a_), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(free_), CUDA_ERROR_NOT_READY);
  later.join();
  freeGate.open = true;
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
}

// The busy streams are in a list that each leaves when it has nothing more to do, in whatever order.
TEST_F(Streams, TheLegacyStreamWaitsForTheLastOfManyStreams) {
  constexpr size_t kStreams = 7;
  CUdeviceptr out = allocate(4);
  ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  std::array<CUstream, kStreams> streams{};
  std::array<Gate, kStreams> gates;
  for (size_t i = 0; i < kStreams; ++i) {
    ASSERT_EQ(cuStreamCreate(&streams[i], CU_STREAM_DEFAULT), CUDA_SUCCESS);
    gates[i].hold(streams[i]);
  }
  for (const size_t next : {3, 0, 6, 1, 5, 2, 4}) {
    ASSERT_EQ(start(kernel("increment"), 1, 1, 0, nullptr, out), CUDA_SUCCESS);
    settle();
    EXPECT_EQ(cuStreamQuery(nullptr), CUDA_ERROR_NOT_READY) << "before stream " << next << " is done";
    gates[next].open = true;
    EXPECT_EQ(cuStreamSynchronize(streams[next]), CUDA_SUCCESS);
  }
  EXPECT_EQ(cuStreamSynchronize(nullptr), CUDA_SUCCESS);
  EXPECT_EQ(read(out, 1)[0], kStreams);
  for (CUstream stream : streams) EXPECT_EQ(cuStreamDestroy(stream), CUDA_SUCCESS);
}

TEST_F(Streams, ThePerThreadStreamIsTheThreadsOwn) {
  Gate gate;
  gate.hold(CU_STREAM_PER_THREAD);
  EXPECT_EQ(cuStreamQuery(CU_STREAM_PER_THREAD), CUDA_ERROR_NOT_READY);
  std::thread([&] {
    cuCtxSetCurrent(context_);
    EXPECT_EQ(cuStreamQuery(CU_STREAM_PER_THREAD), CUDA_SUCCESS);
  }).join();
  gate.open = true;
  EXPECT_EQ(cuStreamSynchronize(CU_STREAM_PER_THREAD), CUDA_SUCCESS);
}

TEST_F(Streams, EventsOrderStreams) {
  CUdeviceptr out = allocate(4);
  CUevent event = nullptr;
  ASSERT_EQ(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
  CUfunction increment = kernel("increment");
  for (int i = 0; i < 200; ++i) {
    CUstream first = i % 2 ? a_ : free_, second = i % 2 ? free_ : a_;
    ASSERT_EQ(start(increment, 1, 1, 0, first, out), CUDA_SUCCESS);
    ASSERT_EQ(cuEventRecord(event, first), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamWaitEvent(second, event, 0), CUDA_SUCCESS);
  }
  ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(read(out, 1)[0], 200u);
}

TEST_F(Streams, AWaitIsForTheRecordBeforeIt) {
  CUevent event = nullptr;
  ASSERT_EQ(cuEventCreate(&event, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuEventRecord(event, a_), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamWaitEvent(b_, event, 0), CUDA_SUCCESS);
  Gate gate;
  gate.hold(a_);
  ASSERT_EQ(cuEventRecord(event, a_), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(b_), CUDA_SUCCESS) << "the second record does not concern b";
  EXPECT_EQ(cuEventQuery(event), CUDA_ERROR_NOT_READY);
  gate.open = true;
  EXPECT_EQ(cuEventSynchronize(event), CUDA_SUCCESS);
}

TEST_F(Streams, EventsMeasureTime) {
  CUevent start = nullptr, end = nullptr, untimed = nullptr;
  ASSERT_EQ(cuEventCreate(&start, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuEventCreate(&end, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuEventCreate(&untimed, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
  float milliseconds = -1;
  EXPECT_EQ(cuEventElapsedTime(&milliseconds, start, end), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuEventQuery(start), CUDA_SUCCESS);
  ASSERT_EQ(cuEventRecord(start, a_), CUDA_SUCCESS);
  auto sleep = [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(30)); };
  ASSERT_EQ(cuLaunchHostFunc(a_, sleep, nullptr), CUDA_SUCCESS);
  ASSERT_EQ(cuEventRecord(end, a_), CUDA_SUCCESS);
  EXPECT_EQ(cuEventElapsedTime(&milliseconds, start, end), CUDA_ERROR_NOT_READY);
  ASSERT_EQ(cuEventSynchronize(end), CUDA_SUCCESS);
  ASSERT_EQ(cuEventElapsedTime(&milliseconds, start, end), CUDA_SUCCESS);
  EXPECT_GE(milliseconds, 30);
  EXPECT_LT(milliseconds, 3000);
  ASSERT_EQ(cuEventRecord(untimed, a_), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(cuEventElapsedTime(&milliseconds, start, untimed), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(Streams, CallbacksComeInOrderWithTheStatus) {
  struct Log {
    std::atomic<int> calls{0};
    std::atomic<CUresult> status{CUDA_ERROR_UNKNOWN};
  } log;
  auto callback = [](CUstream, CUresult status, void* data) {
    static_cast<Log*>(data)->status = status;
    ++static_cast<Log*>(data)->calls;
  };
  ASSERT_EQ(cuStreamAddCallback(a_, callback, &log, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(a_), CUDA_SUCCESS);
  EXPECT_EQ(log.calls, 1);
  EXPECT_EQ(log.status, CUDA_SUCCESS);
  Gate gate;  // nothing can be added to a stream whose context is broken already
  gate.hold(a_);
  ASSERT_EQ(start(kernel("trapped"), 1, 1, 0, a_), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamAddCallback(a_, callback, &log, 0), CUDA_SUCCESS);
  gate.open = true;
  EXPECT_EQ(cuStreamSynchronize(a_), CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_EQ(log.calls, 2);
  EXPECT_EQ(log.status, CUDA_ERROR_LAUNCH_FAILED);
}

TEST_F(Streams, PageableCopiesAreDoneOnReturn) {
  CUdeviceptr out = allocate(4);
  unsigned host = 5;
  ASSERT_EQ(cuMemcpyHtoDAsync(out, &host, 4, a_), CUDA_SUCCESS);
  host = 6;
  ASSERT_EQ(cuStreamSynchronize(a_), CUDA_SUCCESS);
  EXPECT_EQ(read(out, 1)[0], 5u);
}

TEST_F(Streams, PinnedCopiesAreAsynchronous) {
  CUdeviceptr out = allocate(4);
  void* memory = nullptr;
  ASSERT_EQ(cuMemAllocHost(&memory, 4), CUDA_SUCCESS);
  auto* pinned = static_cast<volatile unsigned*>(memory);
  *pinned = 5;
  Gate gate;
  gate.hold(a_);
  ASSERT_EQ(cuMemcpyHtoDAsync(out, memory, 4, a_), CUDA_SUCCESS);
  *pinned = 6;
  gate.open = true;
  ASSERT_EQ(cuStreamSynchronize(a_), CUDA_SUCCESS);
  EXPECT_EQ(read(out, 1)[0], 6u);
}

TEST_F(Streams, ADestroyedStreamFinishesItsWork) {
  CUdeviceptr out = allocate(4);
  CUstream stream = nullptr;
  ASSERT_EQ(cuStreamCreate(&stream, 0), CUDA_SUCCESS);
  for (int i = 0; i < 10; ++i) ASSERT_EQ(start(kernel("increment"), 1, 1, 0, stream, out), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamDestroy(stream), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamDestroy(stream), CUDA_ERROR_INVALID_HANDLE);
  ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(read(out, 1)[0], 10u);
}

TEST_F(Streams, StreamValuesHoldStreamsBack) {
  CUdeviceptr flag = allocate(8);
  ASSERT_EQ(cuStreamWaitValue32(free_, flag, 3, CU_STREAM_WAIT_VALUE_GEQ), CUDA_SUCCESS);
  settle();
  EXPECT_EQ(cuStreamQuery(free_), CUDA_ERROR_NOT_READY);
  ASSERT_EQ(cuStreamWriteValue32(a_, flag, 3, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(free_), CUDA_SUCCESS);
}

TEST_F(Streams, ManyThreadsAndStreams) {
  constexpr int kThreads = 4, kRounds = 100;
  CUfunction increment = kernel("increment");
  std::vector<CUdeviceptr> outs;
  for (int t = 0; t < kThreads; ++t) outs.push_back(allocate(4));
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      ASSERT_EQ(cuCtxSetCurrent(context_), CUDA_SUCCESS);
      CUstream stream = nullptr;
      ASSERT_EQ(cuStreamCreate(&stream, t % 2), CUDA_SUCCESS);
      for (int i = 0; i < kRounds; ++i) {
        ASSERT_EQ(start(increment, 1, 1, 0, stream, outs[static_cast<size_t>(t)]), CUDA_SUCCESS);
        if (i % 10 == 0) ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
        if (i % 25 == 0) ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
      }
      ASSERT_EQ(cuStreamDestroy(stream), CUDA_SUCCESS);
    });
  for (auto& thread : threads) thread.join();
  ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  for (CUdeviceptr out : outs) EXPECT_EQ(read(out, 1)[0], static_cast<unsigned>(kRounds));
}

}  // namespace
}  // namespace ordito::driver
