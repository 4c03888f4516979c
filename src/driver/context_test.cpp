// What ends with a context, and what does not.
#include "driver/test_kernels.hpp"

namespace ordito::driver {
namespace {

class Contexts : public DriverTest {
 protected:
  static size_t freeBytes() {
    size_t left = 0, all = 0;
    EXPECT_EQ(cuMemGetInfo(&left, &all), CUDA_SUCCESS);
    return left;
  }
  static CUcontext create() {
    CUcontext made = nullptr;
    EXPECT_EQ(cuCtxCreate(&made, 0, 0), CUDA_SUCCESS);
    return made;
  }
  static CUarray array() {
    CUarray made = nullptr;
    const CUDA_ARRAY_DESCRIPTOR description{64, 64, CU_AD_FORMAT_FLOAT, 1};
    EXPECT_EQ(cuArrayCreate(&made, &description), CUDA_SUCCESS);
    return made;
  }
  static CUmipmappedArray mipmap() {
    CUmipmappedArray made = nullptr;
    const CUDA_ARRAY3D_DESCRIPTOR description{64, 64, 0, CU_AD_FORMAT_FLOAT, 1, 0};
    EXPECT_EQ(cuMipmappedArrayCreate(&made, &description, 3), CUDA_SUCCESS);
    return made;
  }
};

TEST_F(Contexts, MemoryEndsWithItsContext) {
  const size_t before = freeBytes();
  const CUcontext other = create();
  const CUdeviceptr memory = allocate(1 << 20);
  ASSERT_EQ(freeBytes(), before - (1 << 20));
  EXPECT_EQ(cuCtxDestroy(other), CUDA_SUCCESS);
  EXPECT_EQ(freeBytes(), before);
  EXPECT_EQ(cuMemFree(memory), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Contexts, ArraysEndWithTheirContext) {
  const size_t before = freeBytes();
  const CUarray kept = array();
  const CUcontext other = create();
  const CUarray ended = array();
  const CUmipmappedArray levels = mipmap();
  EXPECT_EQ(cuCtxDestroy(other), CUDA_SUCCESS);
  CUDA_ARRAY_DESCRIPTOR description;
  EXPECT_EQ(cuArrayGetDescriptor(&description, ended), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuMipmappedArrayDestroy(levels), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuArrayGetDescriptor(&description, kept), CUDA_SUCCESS);
  EXPECT_EQ(cuArrayDestroy(kept), CUDA_SUCCESS);
  EXPECT_EQ(freeBytes(), before);
}

TEST_F(Contexts, MemoryOfTheHostEndsWithItsContext) {
  void *pinned = nullptr, *kept = nullptr;
  CUdeviceptr managed = 0;
  std::vector<char> mine(4096);
  ASSERT_EQ(cuMemHostAlloc(&kept, 4096, 0), CUDA_SUCCESS);
  const CUcontext other = create();
  ASSERT_EQ(cuMemHostAlloc(&pinned, 4096, CU_MEMHOSTALLOC_PORTABLE), CUDA_SUCCESS);
  ASSERT_EQ(cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL), CUDA_SUCCESS);
  ASSERT_EQ(cuMemHostRegister(mine.data(), mine.size(), 0), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxDestroy(other), CUDA_SUCCESS);
  unsigned type = 0;
  for (const CUdeviceptr ended :
       {reinterpret_cast<CUdeviceptr>(pinned), managed, reinterpret_cast<CUdeviceptr>(mine.data())})
    EXPECT_EQ(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, ended), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFreeHost(pinned), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFree(managed), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemHostUnregister(mine.data()), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
  mine.front() = 1;
  EXPECT_EQ(cuMemFreeHost(kept), CUDA_SUCCESS);
}

TEST_F(Contexts, AResetLeavesOtherContextsTheirMemory) {
  const CUcontext other = create();
  const CUdeviceptr memory = allocate(64);
  EXPECT_EQ(cuDevicePrimaryCtxReset(0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD32(memory, 7, 16), CUDA_SUCCESS);
  EXPECT_EQ(read(memory, 16).back(), 7u);
  EXPECT_EQ(cuMemFree(memory), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxDestroy(other), CUDA_SUCCESS);
}

TEST_F(Contexts, AGraphThatOutlivesItsContextFreesNothingOfOthers) {
  CUgraph graph = nullptr;
  ASSERT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
  const CUcontext other = create();
  CUDA_MEM_ALLOC_NODE_PARAMS parameters{};
  parameters.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  parameters.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  parameters.bytesize = 1 << 20;
  CUgraphNode node = nullptr;
  ASSERT_EQ(cuGraphAddMemAllocNode(&node, graph, nullptr, 0, &parameters), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxDestroy(other), CUDA_SUCCESS);
  const CUdeviceptr memory = allocate(1 << 20);  // where the graph's was, had the context freed that
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD32(memory, 7, 16), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(memory), CUDA_SUCCESS);
}

TEST_F(Contexts, PoolsForgetWhatAResetFrees) {
  CUmemoryPool pool = nullptr;
  ASSERT_EQ(cuDeviceGetDefaultMemPool(&pool, 0), CUDA_SUCCESS);
  CUdeviceptr memory = 0;
  ASSERT_EQ(cuMemAllocAsync(&memory, 4096, nullptr), CUDA_SUCCESS);
  cuuint64_t used = 0;
  ASSERT_EQ(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used), CUDA_SUCCESS);
  EXPECT_EQ(used, 4096u);
  EXPECT_EQ(cuDevicePrimaryCtxReset(0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used), CUDA_SUCCESS);
  EXPECT_EQ(used, 0u);
}

}  // namespace
}  // namespace ordito::driver
