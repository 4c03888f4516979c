// Copies between two devices on a default stream: they are in order with the default streams of both contexts that have
// the memory, and so with the streams that wait for these. That is what two H200 with driver 580 did.
#include <cuda.h>

#include <initializer_list>
#include <thread>

#include "gate.hpp"

struct Side {
  CUcontext context = nullptr;
  cudaStream_t blocking = nullptr, free = nullptr;
  CUdeviceptr memory = 0;
};

static void use(const Side& side) { EXPECT(cuCtxSetCurrent(side.context) == CUDA_SUCCESS); }

static Side made(int device, bool isPrimary) {
  Side side;
  if (isPrimary)
    EXPECT(cuDevicePrimaryCtxRetain(&side.context, device) == CUDA_SUCCESS);
  else
    EXPECT(cuCtxCreate(&side.context, 0, device) == CUDA_SUCCESS);
  use(side);
  EXPECT_OK(cudaStreamCreate(&side.blocking));
  EXPECT_OK(cudaStreamCreateWithFlags(&side.free, cudaStreamNonBlocking));
  EXPECT(cuMemAlloc(&side.memory, 4096) == CUDA_SUCCESS);
  CUcontext owner = nullptr;
  EXPECT(cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, side.memory) == CUDA_SUCCESS);
  EXPECT(owner == side.context);
  return side;
}

/// What has been submitted to a stream so far is done within a short time.
static bool isDone(const Side& side, cudaStream_t stream) {
  cudaEvent_t event;
  use(side);
  EXPECT_OK(cudaEventCreate(&event));
  EXPECT_OK(cudaEventRecord(event, stream));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const cudaError_t state = cudaEventQuery(event);
  EXPECT_OK(cudaEventDestroy(event));
  return state == cudaSuccess;
}

static void copy(const Side& to, const Side& from) {
  use(from);
  EXPECT(cuMemcpyDtoDAsync(to.memory, from.memory, 64, nullptr) == CUDA_SUCCESS);
}

static void finishAll(std::initializer_list<Side> sides) {
  for (const Side& side : sides) {
    use(side);
    EXPECT_OK(cudaDeviceSynchronize());
  }
}

/// Does a copy wait for a stream of `held`?
static bool waitsFor(const Side& held, cudaStream_t stream, const Side& to, const Side& from) {
  use(held);
  Gate gate(stream);
  copy(to, from);
  const bool hasWaited = !isDone(from, nullptr);
  gate.open();
  finishAll({held, to, from});
  return hasWaited;
}

/// Does a stream of the destination wait for a copy?
static bool isWaitedFor(cudaStream_t stream, const Side& to, const Side& from) {
  use(from);
  Gate gate(nullptr);
  copy(to, from);
  const bool hasWaited = !isDone(to, stream);
  gate.open();
  finishAll({to, from});
  return hasWaited;
}

static void inOrder(const Side& to, const Side& from) {
  EXPECT(waitsFor(to, nullptr, to, from));
  EXPECT(waitsFor(to, to.blocking, to, from));
  EXPECT(!waitsFor(to, to.free, to, from));
  EXPECT(waitsFor(from, nullptr, to, from));
  EXPECT(waitsFor(from, from.blocking, to, from));
  EXPECT(!waitsFor(from, from.free, to, from));
  EXPECT(isWaitedFor(nullptr, to, from));
  EXPECT(isWaitedFor(to.blocking, to, from));
  EXPECT(!isWaitedFor(to.free, to, from));
}

static void hostWaits(const Side& to, const Side& from) {
  use(from);
  waits(nullptr, [&] {
    copy(to, from);
    use(to);
    EXPECT_OK(cudaDeviceSynchronize());
  });
  finishAll({to, from});
}

int main() {
  EXPECT(cuInit(0) == CUDA_SUCCESS);
  const Side primary[] = {made(0, true), made(1, true)}, own[] = {made(0, false), made(1, false)};
  for (const auto& sides : {primary, own}) {
    inOrder(sides[1], sides[0]);
    inOrder(sides[0], sides[1]);
    hostWaits(sides[1], sides[0]);
  }
  EXPECT(!waitsFor(own[1], nullptr, primary[1], primary[0]));
  EXPECT(!waitsFor(primary[1], nullptr, own[1], primary[0]));
  return finish();
}
