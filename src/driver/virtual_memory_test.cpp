// Addresses and memory apart: mapping, growing, sharing, access, and what is refused.
#include <unistd.h>

#include <vector>

#include "driver/test_kernels.hpp"

namespace ordito::driver {
namespace {

constexpr size_t kUnit = 2u << 20;

class VirtualMemory : public DriverTest {
 protected:
  static CUmemAllocationProp properties() {
    CUmemAllocationProp p = {};
    p.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    p.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    return p;
  }
  static CUmemGenericAllocationHandle create(size_t bytes, CUmemAllocationProp p = properties()) {
    CUmemGenericAllocationHandle handle = 0;
    EXPECT_EQ(cuMemCreate(&handle, bytes, &p, 0), CUDA_SUCCESS);
    return handle;
  }
  static CUdeviceptr reserve(size_t bytes) {
    CUdeviceptr pointer = 0;
    EXPECT_EQ(cuMemAddressReserve(&pointer, bytes, 0, 0, 0), CUDA_SUCCESS);
    return pointer;
  }
  static void open(CUdeviceptr pointer, size_t bytes) {
    const CUmemAccessDesc all = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    EXPECT_EQ(cuMemSetAccess(pointer, bytes, &all, 1), CUDA_SUCCESS);
  }
};

TEST_F(VirtualMemory, AnArrayGrowsInPlace) {
  const CUdeviceptr array = reserve(4 * kUnit);
  for (size_t i = 0; i < 3; ++i) {
    const auto chunk = create(kUnit);
    ASSERT_EQ(cuMemMap(array + i * kUnit, kUnit, 0, chunk, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuMemRelease(chunk), CUDA_SUCCESS);  // the mapping keeps it
    open(array + i * kUnit, kUnit);
    ASSERT_EQ(cuMemsetD32(array + i * kUnit, static_cast<unsigned>(i + 1), kUnit / 4), CUDA_SUCCESS);
  }
  // Copies cross the borders of mappings, but not the end.
  std::vector<unsigned> host(3 * kUnit / 4);
  ASSERT_EQ(cuMemcpyDtoH(host.data(), array, 3 * kUnit), CUDA_SUCCESS);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(host[(i + 1) * kUnit / 4 - 1], i + 1);
  EXPECT_EQ(cuMemcpyDtoH(host.data(), array + kUnit, 3 * kUnit), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAddressFree(array, 4 * kUnit), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemUnmap(array, kUnit + kUnit / 2), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemUnmap(array, 3 * kUnit), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyDtoH(host.data(), array, 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAddressFree(array, 4 * kUnit), CUDA_SUCCESS);
}

TEST_F(VirtualMemory, MemoryIsCountedAndShown) {
  size_t before = 0, during = 0, after = 0, total = 0;
  ASSERT_EQ(cuMemGetInfo(&before, &total), CUDA_SUCCESS);
  const auto memory = create(4 * kUnit);
  ASSERT_EQ(cuMemGetInfo(&during, &total), CUDA_SUCCESS);
  EXPECT_EQ(before - during, 4 * kUnit);
  // One memory at two places.
  const CUdeviceptr a = reserve(4 * kUnit), b = reserve(4 * kUnit);
  ASSERT_EQ(cuMemMap(a, 4 * kUnit, 0, memory, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuMemMap(b, 4 * kUnit, 0, memory, 0), CUDA_SUCCESS);
  open(a, 4 * kUnit);
  open(b, 4 * kUnit);
  unsigned value = 0;
  ASSERT_EQ(cuMemsetD32(a + kUnit, 77, 1), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpyDtoH(&value, b + kUnit, 4), CUDA_SUCCESS);
  EXPECT_EQ(value, 77u);
  CUmemGenericAllocationHandle again = 0;
  ASSERT_EQ(cuMemRetainAllocationHandle(&again, reinterpret_cast<void*>(a + 5)), CUDA_SUCCESS);
  EXPECT_EQ(again, memory);
  EXPECT_EQ(cuMemRelease(memory), CUDA_SUCCESS);
  EXPECT_EQ(cuMemRelease(memory), CUDA_SUCCESS);
  EXPECT_EQ(cuMemRelease(memory), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemUnmap(a, 4 * kUnit), CUDA_SUCCESS);
  EXPECT_EQ(cuMemUnmap(b, 4 * kUnit), CUDA_SUCCESS);
  ASSERT_EQ(cuMemGetInfo(&after, &total), CUDA_SUCCESS);
  EXPECT_EQ(after, before);
  EXPECT_EQ(cuMemAddressFree(a, 4 * kUnit), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAddressFree(b, 4 * kUnit), CUDA_SUCCESS);
}

TEST_F(VirtualMemory, MemoryGoesThroughAFileDescriptor) {
  CUmemAllocationProp p = properties();
  p.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  const auto memory = create(kUnit, p), plain = create(kUnit);
  int file = -1;
  EXPECT_EQ(cuMemExportToShareableHandle(&file, plain, p.requestedHandleTypes, 0), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(cuMemExportToShareableHandle(&file, memory, p.requestedHandleTypes, 0), CUDA_SUCCESS);
  CUmemGenericAllocationHandle other = 0;
  ASSERT_EQ(cuMemImportFromShareableHandle(&other, reinterpret_cast<void*>(static_cast<intptr_t>(file)),
                                           p.requestedHandleTypes),
            CUDA_SUCCESS);
  close(file);
  const CUdeviceptr a = reserve(2 * kUnit);
  ASSERT_EQ(cuMemMap(a, kUnit, 0, memory, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuMemMap(a + kUnit, kUnit, 0, other, 0), CUDA_SUCCESS);
  open(a, 2 * kUnit);
  unsigned value = 0;
  ASSERT_EQ(cuMemsetD32(a + 64, 5, 1), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpyDtoH(&value, a + kUnit + 64, 4), CUDA_SUCCESS);
  EXPECT_EQ(value, 5u);
  for (const auto handle : {memory, plain, other}) EXPECT_EQ(cuMemRelease(handle), CUDA_SUCCESS);
  EXPECT_EQ(cuMemUnmap(a, 2 * kUnit), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAddressFree(a, 2 * kUnit), CUDA_SUCCESS);
}

TEST_F(VirtualMemory, NoContextIsNeeded) {
  CUcontext context = nullptr;
  ASSERT_EQ(cuCtxPopCurrent(&context), CUDA_SUCCESS);
  const auto memory = create(kUnit);
  const CUdeviceptr a = reserve(kUnit);
  EXPECT_EQ(cuMemMap(a, kUnit, 0, memory, 0), CUDA_SUCCESS);
  open(a, kUnit);
  EXPECT_EQ(cuMemUnmap(a, kUnit), CUDA_SUCCESS);
  EXPECT_EQ(cuMemRelease(memory), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAddressFree(a, kUnit), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxPushCurrent(context), CUDA_SUCCESS);
}

TEST_F(VirtualMemory, WhatMakesNoSenseIsRefused) {
  CUmemAllocationProp p = properties();
  size_t granularity = 0;
  ASSERT_EQ(cuMemGetAllocationGranularity(&granularity, &p, CU_MEM_ALLOC_GRANULARITY_MINIMUM), CUDA_SUCCESS);
  EXPECT_EQ(granularity, kUnit);
  CUmemGenericAllocationHandle handle = 0;
  EXPECT_EQ(cuMemCreate(&handle, kUnit + 1, &p, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemCreate(&handle, size_t{1} << 50, &p, 0), CUDA_ERROR_OUT_OF_MEMORY);
  p.location.type = CU_MEM_LOCATION_TYPE_HOST;
  EXPECT_EQ(cuMemCreate(&handle, kUnit, &p, 0), CUDA_ERROR_NOT_SUPPORTED);
  CUdeviceptr pointer = 0;
  EXPECT_EQ(cuMemAddressReserve(&pointer, kUnit / 2, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAddressReserve(&pointer, kUnit, 3, 0, 0), CUDA_ERROR_INVALID_VALUE);
  handle = create(kUnit);
  pointer = reserve(2 * kUnit);
  EXPECT_EQ(cuMemMap(pointer, 2 * kUnit, 0, handle, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemMap(pointer + kUnit / 2, kUnit, 0, handle, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemMap(pointer + 2 * kUnit, kUnit, 0, handle, 0), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(cuMemMap(pointer, kUnit, 0, handle, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemMap(pointer, kUnit, 0, handle, 0), CUDA_ERROR_INVALID_VALUE);
  unsigned long long flags = 1;
  const CUmemLocation here = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  EXPECT_EQ(cuMemGetAccess(&flags, &here, pointer), CUDA_SUCCESS);
  EXPECT_EQ(flags, 0u);
  EXPECT_EQ(cuMemFree(pointer), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemUnmap(pointer, kUnit), CUDA_SUCCESS);
  EXPECT_EQ(cuMemRelease(handle), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAddressFree(pointer, kUnit), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAddressFree(pointer, 2 * kUnit), CUDA_SUCCESS);
}

}  // namespace
}  // namespace ordito::driver
