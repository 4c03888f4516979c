// Launches end to end, and the refusals that an H200 was seen to answer.
#include <cstring>
#include <string>

#include "driver/extensions.hpp"
#include "driver/test_kernels.hpp"

namespace ordito::driver {
namespace {

using Launch = DriverTest;

TEST_F(Launch, RunsAGrid) {
  CUdeviceptr out = allocate(1000 * 4);
  ASSERT_EQ(start(kernel("iota"), 8, 128, 0, nullptr, out, 1000u), CUDA_SUCCESS);
  auto host = read(out, 1000);
  for (unsigned i = 0; i < 1000; ++i) ASSERT_EQ(host[i], i);
}

TEST_F(Launch, GivesDynamicSharedMemory) {
  CUdeviceptr out = allocate(100 * 4);
  ASSERT_EQ(start(kernel("reverse"), 1, 100, 400, nullptr, out), CUDA_SUCCESS);
  auto host = read(out, 100);
  for (unsigned i = 0; i < 100; ++i) ASSERT_EQ(host[i], 99 - i);
}

TEST_F(Launch, TakesParametersInOneBuffer) {
  struct {
    CUdeviceptr out;
    unsigned n;
  } parameters{allocate(400), 100};
  size_t bytes = 12;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &parameters, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                   CU_LAUNCH_PARAM_END};
  ASSERT_EQ(cuLaunchKernel(kernel("iota"), 1, 1, 1, 128, 1, 1, 0, nullptr, nullptr, extra), CUDA_SUCCESS);
  EXPECT_EQ(read(parameters.out, 100)[99], 99u);
}

TEST_F(Launch, OldCallsWork) {
  CUdeviceptr out = allocate(400);
  CUfunction iota = kernel("iota");
  ASSERT_EQ(cuFuncSetBlockShape(iota, 128, 1, 1), CUDA_SUCCESS);
  ASSERT_EQ(cuParamSetv(iota, 0, &out, 8), CUDA_SUCCESS);
  ASSERT_EQ(cuParamSeti(iota, 8, 100), CUDA_SUCCESS);
  ASSERT_EQ(cuLaunchGrid(iota, 1, 1), CUDA_SUCCESS);
  EXPECT_EQ(read(out, 100)[99], 99u);
}

TEST_F(Launch, RefusesWhatARealDeviceRefuses) {
  CUdeviceptr out = allocate(4);
  CUfunction iota = kernel("iota");
  auto shape = [&](unsigned gx, unsigned gy, unsigned bx, unsigned bz, unsigned shared) {
    unsigned n = 0, grid[] = {gx, gy, 1}, block[] = {bx, 1, bz};
    void* parameters[] = {&out, &n};
    int configuration = -1;
    CUresult result = orditoLaunchKernel(iota, grid, block, shared, nullptr, parameters, 0, &configuration);
    return std::pair(result, configuration);
  };
  EXPECT_EQ(shape(1, 1, 1024, 1, 0).first, CUDA_SUCCESS);
  EXPECT_EQ(shape(1, 1, 1025, 1, 0), std::pair(CUDA_ERROR_INVALID_VALUE, 1));
  EXPECT_EQ(shape(1, 1, 1, 65, 0), std::pair(CUDA_ERROR_INVALID_VALUE, 1));
  EXPECT_EQ(shape(1, 1, 512, 4, 0), std::pair(CUDA_ERROR_INVALID_VALUE, 1));
  EXPECT_EQ(shape(0, 1, 1, 1, 0), std::pair(CUDA_ERROR_INVALID_VALUE, 1));
  EXPECT_EQ(shape(1, 65536, 1, 1, 0), std::pair(CUDA_ERROR_INVALID_VALUE, 1));
  EXPECT_EQ(shape(1, 1, 0, 1, 0), std::pair(CUDA_ERROR_INVALID_VALUE, 1));
  EXPECT_EQ(shape(1, 1, 32, 1, 49153), std::pair(CUDA_ERROR_INVALID_VALUE, 0));
  EXPECT_EQ(shape(1, 1, 32, 1, 300000), std::pair(CUDA_ERROR_INVALID_VALUE, 0));
  EXPECT_NE(std::string(orditoLastErrorMessage()).find("kernel 'iota'"), std::string::npos) << orditoLastErrorMessage();
  EXPECT_EQ(start(kernel("bounded"), 1, 128, 0, nullptr, out), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(start(kernel("exact"), 1, 32, 0, nullptr, out), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(start(kernel("exact"), 1, 64, 0, nullptr, out), CUDA_SUCCESS);
  EXPECT_EQ(cuLaunchKernel(iota, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Launch, SharedMemoryCanBeOptedIn) {
  CUfunction reverse = kernel("reverse");
  CUdeviceptr out = allocate(4096);
  EXPECT_EQ(start(reverse, 1, 32, 60000, nullptr, out), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuFuncSetAttribute(reverse, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 300000),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuFuncSetAttribute(reverse, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, -1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuFuncSetAttribute(reverse, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 60000), CUDA_SUCCESS);
  EXPECT_EQ(start(reverse, 1, 32, 60000, nullptr, out), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
}

TEST_F(Launch, AFaultIsStickyUntilTheReset) {
  CUdeviceptr out = allocate(4096);
  ASSERT_EQ(start(kernel("iota"), 64, 128, 0, nullptr, out, 8192u), CUDA_SUCCESS) << "asynchronous: the launch is fine";
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  std::string message = orditoLastErrorMessage();
  EXPECT_NE(message.find("kernel 'iota'"), std::string::npos) << message;
  EXPECT_NE(message.find("past the end of the 4096-byte device allocation"), std::string::npos) << message;
  CUdeviceptr more = 0;
  EXPECT_EQ(cuMemAlloc(&more, 4), CUDA_ERROR_ILLEGAL_ADDRESS);
  CUstream stream = nullptr;
  EXPECT_EQ(cuStreamCreate(&stream, 0), CUDA_ERROR_ILLEGAL_ADDRESS);
  int count = 0;
  EXPECT_EQ(cuDeviceGetCount(&count), CUDA_SUCCESS);
  EXPECT_EQ(cuDevicePrimaryCtxReset(0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAlloc(&more, 4), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  EXPECT_EQ(cuDevicePrimaryCtxRetain(&context_, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAlloc(&more, 4), CUDA_SUCCESS);
}

TEST_F(Launch, ATrapIsALaunchFailure) {
  ASSERT_EQ(start(kernel("trapped"), 1, 1, 0, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
}

TEST_F(Launch, AnswersOccupancy) {
  int blocks = 0, grid = 0, size = 0;
  EXPECT_EQ(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel("iota"), 256, 0), CUDA_SUCCESS);
  EXPECT_EQ(blocks, 6) << "1536 threads of an RTX 3090's multiprocessor";
  EXPECT_EQ(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel("iota"), 2000, 0), CUDA_SUCCESS);
  EXPECT_EQ(blocks, 0);
  EXPECT_EQ(cuOccupancyMaxPotentialBlockSize(&grid, &size, kernel("iota"), nullptr, 0, 0), CUDA_SUCCESS);
  EXPECT_EQ(size, 768);
  EXPECT_EQ(grid, 2 * 82);
}

TEST_F(Launch, FunctionsHaveAttributes) {
  int value = -1;
  EXPECT_EQ(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kernel("bounded")), CUDA_SUCCESS);
  EXPECT_EQ(value, 64);
  EXPECT_EQ(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_PTX_VERSION, kernel("iota")), CUDA_SUCCESS);
  EXPECT_EQ(value, 50);
  EXPECT_EQ(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, kernel("iota")), CUDA_SUCCESS);
  EXPECT_GE(value, 8);
  EXPECT_LE(value, 24);
  EXPECT_EQ(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, nullptr), CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace
}  // namespace ordito::driver
