// Objects outlive the thread that made them: a program's finalisers run on threads that have no context current, or
// that of another. What each call answers there was seen on an H200 with driver 580.
#include <thread>
#include <vector>

#include "driver/test_kernels.hpp"

namespace ordito::driver {
namespace {

class WithoutContext : public DriverTest {
 protected:
  /// What `call` answers on a thread without a context, and on one where another is current.
  template <class Call>
  void expectThere(CUresult expected, const Call& call, const char* what) {
    CUresult without = CUDA_ERROR_UNKNOWN, with = CUDA_ERROR_UNKNOWN;
    std::thread([&] { without = call(); }).join();
    std::thread([&] {
      CUcontext other = nullptr;
      ASSERT_EQ(cuCtxCreate(&other, 0, 0), CUDA_SUCCESS);
      with = call();
      EXPECT_EQ(cuCtxDestroy(other), CUDA_SUCCESS);
    }).join();
    EXPECT_EQ(without, expected) << what << " without a context";
    EXPECT_EQ(with, expected) << what << " with another context";
  }
  CUstream stream() {
    CUstream made = nullptr;
    EXPECT_EQ(cuStreamCreate(&made, CU_STREAM_DEFAULT), CUDA_SUCCESS);
    return made;
  }
  CUevent event() {
    CUevent made = nullptr;
    EXPECT_EQ(cuEventCreate(&made, CU_EVENT_DEFAULT), CUDA_SUCCESS);
    return made;
  }
};

#define EXPECT_THERE(expected, call) expectThere(expected, [&] { return call; }, #call)

TEST_F(WithoutContext, MemoryIsFreed) {
  EXPECT_THERE(CUDA_SUCCESS, cuMemFree(0));
  EXPECT_THERE(CUDA_SUCCESS, cuMemFreeHost(nullptr));
  EXPECT_THERE(CUDA_ERROR_INVALID_VALUE, cuMemFree(4096));
  EXPECT_THERE(CUDA_ERROR_INVALID_VALUE, cuMemFreeHost(reinterpret_cast<void*>(4096)));
  std::vector<CUdeviceptr> device = {allocate(256), allocate(256)}, managed(2);
  std::vector<void*> host(2);
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(cuMemAllocManaged(&managed[i], 256, CU_MEM_ATTACH_GLOBAL), CUDA_SUCCESS);
    ASSERT_EQ(cuMemHostAlloc(&host[i], 256, 0), CUDA_SUCCESS);
  }
  const auto next = [](auto& all) {
    const auto last = all.back();
    all.pop_back();
    return last;
  };
  EXPECT_THERE(CUDA_SUCCESS, cuMemFree(next(device)));
  EXPECT_THERE(CUDA_SUCCESS, cuMemFree(next(managed)));
  EXPECT_THERE(CUDA_SUCCESS, cuMemFreeHost(next(host)));
  std::vector<char> mine(4096);
  const auto registerAgain = [&] { return cuMemHostRegister(mine.data(), mine.size(), 0); };
  ASSERT_EQ(registerAgain(), CUDA_SUCCESS);
  CUresult result = CUDA_ERROR_UNKNOWN;
  std::thread([&] { result = cuMemHostUnregister(mine.data()); }).join();
  EXPECT_EQ(result, CUDA_SUCCESS);
  EXPECT_EQ(registerAgain(), CUDA_SUCCESS) << "it was unregistered";
  EXPECT_EQ(cuMemHostUnregister(mine.data()), CUDA_SUCCESS);
}

TEST_F(WithoutContext, ModulesStreamsAndEventsEnd) {
  std::vector<CUmodule> modules(2);
  for (CUmodule& module : modules) ASSERT_EQ(cuModuleLoadData(&module, kKernels), CUDA_SUCCESS);
  std::vector<CUstream> streams = {stream(), stream()};
  std::vector<CUevent> events = {event(), event()};
  size_t i = 0, k = 0, n = 0;
  EXPECT_THERE(CUDA_SUCCESS, cuModuleUnload(modules[i++]));
  EXPECT_THERE(CUDA_SUCCESS, cuStreamDestroy(streams[k++]));
  EXPECT_THERE(CUDA_SUCCESS, cuEventDestroy(events[n++]));
  EXPECT_THERE(CUDA_ERROR_INVALID_HANDLE, cuModuleUnload(modules[0]));
  EXPECT_THERE(CUDA_ERROR_INVALID_HANDLE, cuStreamDestroy(streams[0]));
  EXPECT_THERE(CUDA_ERROR_INVALID_HANDLE, cuStreamDestroy(nullptr));
  EXPECT_THERE(CUDA_ERROR_INVALID_HANDLE, cuEventDestroy(events[0]));
}

TEST_F(WithoutContext, LibrariesAreLoaded) {
  const char* ptx = ".version 7.0\n.target sm_50\n.address_size 64\n.visible .entry nothing() { ret; }\n";
  std::vector<CUlibrary> libraries(2);
  size_t i = 0;
  EXPECT_THERE(CUDA_SUCCESS, cuLibraryLoadData(&libraries[i++], ptx, nullptr, nullptr, 0, nullptr, nullptr, 0));
  CUkernel kernel = nullptr;
  CUresult found = CUDA_ERROR_UNKNOWN;
  std::thread([&] { found = cuLibraryGetKernel(&kernel, libraries[0], "nothing"); }).join();
  ASSERT_EQ(found, CUDA_SUCCESS);
  CUcontext primary = nullptr;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&primary, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxPushCurrent(primary), CUDA_SUCCESS);
  EXPECT_EQ(cuLaunchKernel(reinterpret_cast<CUfunction>(kernel), 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr),
            CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxPopCurrent(&primary), CUDA_SUCCESS);
  EXPECT_EQ(cuLibraryUnload(libraries[0]), CUDA_SUCCESS);
  for (int times = 0; times < 2; ++times) EXPECT_EQ(cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
}

TEST_F(WithoutContext, StreamsAndEventsAreWaitedFor) {
  const CUstream of = stream();
  const CUevent recorded = event();
  EXPECT_THERE(CUDA_SUCCESS, cuEventRecord(recorded, of));
  EXPECT_THERE(CUDA_SUCCESS, cuEventSynchronize(recorded));
  EXPECT_THERE(CUDA_SUCCESS, cuEventQuery(recorded));
  EXPECT_THERE(CUDA_SUCCESS, cuStreamSynchronize(of));
  EXPECT_THERE(CUDA_SUCCESS, cuStreamQuery(of));
  std::vector<CUdeviceptr> memory = {allocate(256), allocate(256)};
  size_t i = 0;
  EXPECT_THERE(CUDA_SUCCESS, cuMemFreeAsync(memory[i++], of));
  EXPECT_EQ(cuStreamDestroy(of), CUDA_SUCCESS);
  EXPECT_EQ(cuEventDestroy(recorded), CUDA_SUCCESS);
}

}  // namespace
}  // namespace ordito::driver
