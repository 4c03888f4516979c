// Allocation, copies and pointer attributes: the answers that an H200 was seen to give.
#include <cstring>
#include <string>

#include "driver/extensions.hpp"
#include "driver/test_kernels.hpp"

namespace ordito::driver {
namespace {

using Memory = DriverTest;

TEST_F(Memory, AllocationLimits) {
  CUdeviceptr pointer = 0;
  EXPECT_EQ(cuMemAlloc(&pointer, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAlloc(&pointer, size_t{1} << 40), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(cuMemAlloc(&pointer, size_t{1} << 62), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(cuMemFree(0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(0x1234), CUDA_ERROR_INVALID_VALUE);
  pointer = allocate(4096);
  EXPECT_EQ(cuMemFree(pointer + 256), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFree(pointer), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(pointer), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Memory, CopiesAreChecked) {
  char host[64] = {};
  CUdeviceptr asDevice = reinterpret_cast<CUdeviceptr>(host);
  CUdeviceptr device = allocate(4096);
  EXPECT_EQ(cuMemcpyHtoD(0x1000, host, 16), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyHtoD(asDevice, host, 16), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyDtoH(host, asDevice, 16), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyDtoD(0x10, 0x20, 16), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyHtoD(device + 4096 - 8, host, 16), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyHtoD(0x1000, host, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpy(asDevice, asDevice + 32, 16), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD8(asDevice, 1, 16), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemsetD8(device, 1, 1 << 30), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemsetD32(device + 2, 1, 1), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Memory, TwoAndThreeDimensionalCopies) {
  CUdeviceptr plane = 0;
  size_t pitch = 0;
  ASSERT_EQ(cuMemAllocPitch(&plane, &pitch, 10 * 4, 6, 4), CUDA_SUCCESS);
  EXPECT_EQ(pitch, 512u);
  ASSERT_EQ(cuMemsetD2D32(plane, pitch, 7, 10, 6), CUDA_SUCCESS);
  unsigned rows[6][10] = {};
  CUDA_MEMCPY2D down = {};
  down.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  down.srcDevice = plane;
  down.srcPitch = pitch;
  down.srcXInBytes = 4;
  down.srcY = 1;
  down.dstMemoryType = CU_MEMORYTYPE_HOST;
  down.dstHost = rows;
  down.dstPitch = sizeof rows[0];
  down.WidthInBytes = 3 * 4;
  down.Height = 2;
  ASSERT_EQ(cuMemcpy2D(&down), CUDA_SUCCESS);
  for (int y = 0; y < 6; ++y)
    for (int x = 0; x < 10; ++x) EXPECT_EQ(rows[y][x], y < 2 && x < 3 ? 7u : 0u);
  down.Height = 6;
  EXPECT_EQ(cuMemcpy2D(&down), CUDA_ERROR_INVALID_VALUE) << "row 6 of 6 does not exist";

  CUdeviceptr box = allocate(4 * 4 * 4);
  ASSERT_EQ(cuMemsetD8(box, 1, 64), CUDA_SUCCESS);
  unsigned char cube[64] = {};
  CUDA_MEMCPY3D c = {};
  c.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
  c.srcDevice = box;
  c.srcPitch = 4;
  c.srcHeight = 4;
  c.dstMemoryType = CU_MEMORYTYPE_HOST;
  c.dstHost = cube;
  c.dstPitch = 4;
  c.dstHeight = 4;
  c.dstZ = 1;
  c.WidthInBytes = 2;
  c.Height = 2;
  c.Depth = 2;
  ASSERT_EQ(cuMemcpy3D(&c), CUDA_SUCCESS);
  int sum = 0;
  for (unsigned char value : cube) sum += value;
  EXPECT_EQ(sum, 8);
  EXPECT_EQ(cube[16], 1);
  EXPECT_EQ(cube[0], 0);
}

TEST_F(Memory, PointersHaveAttributes) {
  unsigned type = 9;
  int local = 0;
  EXPECT_EQ(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, reinterpret_cast<CUdeviceptr>(&local)),
            CUDA_ERROR_INVALID_VALUE);
  CUdeviceptr device = allocate(100);
  EXPECT_EQ(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, device + 50), CUDA_SUCCESS);
  EXPECT_EQ(type, static_cast<unsigned>(CU_MEMORYTYPE_DEVICE));
  void* pinned = nullptr;
  ASSERT_EQ(cuMemHostAlloc(&pinned, 100, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, reinterpret_cast<CUdeviceptr>(pinned)),
            CUDA_SUCCESS);
  EXPECT_EQ(type, static_cast<unsigned>(CU_MEMORYTYPE_HOST));
  CUdeviceptr managed = 0;
  ASSERT_EQ(cuMemAllocManaged(&managed, 100, CU_MEM_ATTACH_GLOBAL), CUDA_SUCCESS);
  unsigned isManaged = 0;
  EXPECT_EQ(cuPointerGetAttribute(&isManaged, CU_POINTER_ATTRIBUTE_IS_MANAGED, managed), CUDA_SUCCESS);
  EXPECT_EQ(isManaged, 1u);
  EXPECT_EQ(orditoPointerSides(&local), 1);
  EXPECT_EQ(orditoPointerSides(reinterpret_cast<void*>(device)), 2);
  EXPECT_EQ(orditoPointerSides(pinned), 3);
  EXPECT_EQ(orditoPointerSides(reinterpret_cast<void*>(managed)), 3);
  EXPECT_EQ(cuMemFreeHost(&local), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFreeHost(pinned), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(managed), CUDA_SUCCESS);
}

TEST_F(Memory, HostMemoryIsRegisteredOnce) {
  char host[64];
  EXPECT_EQ(cuMemHostRegister(host, 64, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemHostRegister(host, 64, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  EXPECT_EQ(cuMemHostUnregister(host), CUDA_SUCCESS);
  EXPECT_EQ(cuMemHostUnregister(host), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
  void* nothing = &nothing;
  EXPECT_EQ(cuMemHostAlloc(&nothing, 0, 0), CUDA_SUCCESS);
  EXPECT_EQ(nothing, nullptr);
}

TEST_F(Memory, StreamOrderedAllocation) {
  CUstream stream = nullptr;
  ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  CUdeviceptr pointer = 0;
  ASSERT_EQ(cuMemAllocAsync(&pointer, 4000, stream), CUDA_SUCCESS);
  ASSERT_EQ(start(kernel("iota"), 8, 128, 0, stream, pointer, 1000u), CUDA_SUCCESS);
  std::vector<unsigned> host(1000);
  ASSERT_EQ(cuMemcpyDtoHAsync(host.data(), pointer, 4000, stream), CUDA_SUCCESS);
  ASSERT_EQ(cuMemFreeAsync(pointer, stream), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(host[999], 999u);
  EXPECT_EQ(cuMemFree(pointer), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuStreamDestroy(stream), CUDA_SUCCESS);
}

TEST_F(Memory, ErrorsHaveNames) {
  const char* text = nullptr;
  EXPECT_EQ(cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &text), CUDA_SUCCESS);
  EXPECT_STREQ(text, "CUDA_ERROR_ILLEGAL_ADDRESS");
  EXPECT_EQ(cuGetErrorString(CUDA_ERROR_INVALID_VALUE, &text), CUDA_SUCCESS);
  EXPECT_STREQ(text, "invalid argument");
  EXPECT_EQ(cuGetErrorName(static_cast<CUresult>(12345), &text), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace
}  // namespace ordito::driver
