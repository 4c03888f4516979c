// What is said of managed memory and remembered, and pools by kind and place: the answers of an H200 with driver 580.
#include <array>
#include <cstring>

#include "driver/test_kernels.hpp"

namespace ordito::driver {
namespace {

constexpr size_t kPage = 4096, kPages = 16;
constexpr CUmemLocation kDevice{CU_MEM_LOCATION_TYPE_DEVICE, 0}, kHost{CU_MEM_LOCATION_TYPE_HOST, 0};

class Managed : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    ASSERT_EQ(cuMemAllocManaged(&memory_, kPages * kPage, CU_MEM_ATTACH_GLOBAL), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  }

  int get(CUmem_range_attribute attribute, size_t from = 0, size_t bytes = kPages * kPage) {
    int value = 99;
    EXPECT_EQ(cuMemRangeGetAttribute(&value, sizeof value, attribute, memory_ + from, bytes), CUDA_SUCCESS);
    return value;
  }
  CUresult advise(CUmem_advise advice, CUdevice device = 0, size_t from = 0, size_t bytes = kPages * kPage) {
    return cuMemAdvise(memory_ + from, bytes, advice, device);
  }
  std::array<int, 4> users() {
    std::array<int, 4> all{99, 99, 99, 99};
    EXPECT_EQ(
        cuMemRangeGetAttribute(all.data(), sizeof all, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, memory_, kPages * kPage),
        CUDA_SUCCESS);
    return all;
  }

  CUdeviceptr memory_ = 0;
  CUstream stream_ = nullptr;
};

TEST_F(Managed, AdviceOnReadingIsKeptByPages) {
  constexpr auto kMostly = CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY;
  EXPECT_EQ(get(kMostly), 0);
  EXPECT_EQ(advise(CU_MEM_ADVISE_SET_READ_MOSTLY, 9, 0, 8 * kPage), CUDA_SUCCESS);
  EXPECT_EQ(get(kMostly, 0, 8 * kPage), 1);
  EXPECT_EQ(get(kMostly, 8 * kPage, kPage), 0);
  EXPECT_EQ(get(kMostly), 0);
  EXPECT_EQ(advise(CU_MEM_ADVISE_UNSET_READ_MOSTLY), CUDA_SUCCESS);
  EXPECT_EQ(get(kMostly, 0, kPage), 0);
  EXPECT_EQ(advise(CU_MEM_ADVISE_SET_READ_MOSTLY, 0, 5000, 100), CUDA_SUCCESS);
  EXPECT_EQ(get(kMostly, 0, kPage), 0);
  EXPECT_EQ(get(kMostly, kPage, kPage), 1);
  EXPECT_EQ(get(kMostly, 2 * kPage, kPage), 0);
}

TEST_F(Managed, TheLocationThatIsPreferredIsRemembered) {
  constexpr auto kPreferred = CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION;
  EXPECT_EQ(get(kPreferred), CU_DEVICE_INVALID);
  EXPECT_EQ(advise(CU_MEM_ADVISE_SET_PREFERRED_LOCATION, 0), CUDA_SUCCESS);
  EXPECT_EQ(get(kPreferred), 0);
  EXPECT_EQ(get(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE), CU_MEM_LOCATION_TYPE_DEVICE);
  EXPECT_EQ(get(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID), 0);
  EXPECT_EQ(advise(CU_MEM_ADVISE_SET_PREFERRED_LOCATION, CU_DEVICE_CPU, 0, kPage), CUDA_SUCCESS);
  EXPECT_EQ(get(kPreferred), CU_DEVICE_INVALID);
  EXPECT_EQ(get(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE), CU_MEM_LOCATION_TYPE_NONE);
  EXPECT_EQ(get(kPreferred, 0, kPage), CU_DEVICE_CPU);
  EXPECT_EQ(get(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE, 0, kPage), CU_MEM_LOCATION_TYPE_HOST);
  EXPECT_EQ(advise(CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION), CUDA_SUCCESS);
  EXPECT_EQ(get(kPreferred, 0, kPage), CU_DEVICE_INVALID);
  EXPECT_EQ(advise(CU_MEM_ADVISE_SET_PREFERRED_LOCATION, 9), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(advise(static_cast<CUmem_advise>(9)), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAdvise_v2(memory_, kPage, CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION, {CU_MEM_LOCATION_TYPE_NONE, 0}),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Managed, UsersAreListedWhereAllOfItIsTheirs) {
  EXPECT_EQ(users(), (std::array{-2, -2, -2, -2}));
  EXPECT_EQ(advise(CU_MEM_ADVISE_SET_ACCESSED_BY, CU_DEVICE_CPU), CUDA_SUCCESS);
  EXPECT_EQ(advise(CU_MEM_ADVISE_SET_ACCESSED_BY, 0), CUDA_SUCCESS);
  EXPECT_EQ(users(), (std::array{0, -1, -2, -2}));
  EXPECT_EQ(get(CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY), 0);
  EXPECT_EQ(advise(CU_MEM_ADVISE_UNSET_ACCESSED_BY, 0, 0, kPage), CUDA_SUCCESS);
  EXPECT_EQ(users(), (std::array{-1, -2, -2, -2}));
  EXPECT_EQ(cuMemAdvise_v2(memory_, kPage, CU_MEM_ADVISE_SET_ACCESSED_BY, {CU_MEM_LOCATION_TYPE_HOST_NUMA, 0}),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Managed, WhereItWasPrefetchedToIsRemembered) {
  constexpr auto kLast = CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION;
  EXPECT_EQ(get(kLast), CU_DEVICE_INVALID);
  EXPECT_EQ(cuMemPrefetchAsync(memory_, kPages * kPage, 0, stream_), CUDA_SUCCESS);
  EXPECT_EQ(get(kLast), 0);
  EXPECT_EQ(get(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE), CU_MEM_LOCATION_TYPE_DEVICE);
  EXPECT_EQ(cuMemPrefetchAsync(memory_, kPage, CU_DEVICE_CPU, stream_), CUDA_SUCCESS);
  EXPECT_EQ(get(kLast), CU_DEVICE_INVALID);
  EXPECT_EQ(get(kLast, 0, kPage), CU_DEVICE_CPU);
  EXPECT_EQ(get(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE, 0, kPage), CU_MEM_LOCATION_TYPE_HOST);
  CUdeviceptr pieces[] = {memory_, memory_ + kPage, memory_ + 2 * kPage};
  size_t sizes[] = {kPage, kPage, kPage}, starts[] = {0, 2};
  CUmemLocation places[] = {kDevice, kHost};
  EXPECT_EQ(cuMemPrefetchBatchAsync(pieces, sizes, 3, places, starts, 2, 0, stream_), CUDA_SUCCESS);
  EXPECT_EQ(get(kLast, 0, 2 * kPage), 0);
  EXPECT_EQ(get(kLast, 2 * kPage, kPage), CU_DEVICE_CPU);
  EXPECT_EQ(cuMemDiscardBatchAsync(pieces, sizes, 3, 0, stream_), CUDA_SUCCESS);
  EXPECT_EQ(cuMemDiscardAndPrefetchBatchAsync(pieces, sizes, 3, places + 1, starts, 1, 0, stream_), CUDA_SUCCESS);
  EXPECT_EQ(get(kLast, 0, 3 * kPage), CU_DEVICE_CPU);
  starts[0] = 1;
  EXPECT_EQ(cuMemPrefetchBatchAsync(pieces, sizes, 3, places, starts, 2, 0, stream_), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Managed, QuestionsAreChecked) {
  int values[2] = {99, 99};
  constexpr auto kMostly = CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY;
  for (const size_t bytes : {0u, 3u, 8u})
    EXPECT_EQ(cuMemRangeGetAttribute(values, bytes, kMostly, memory_, kPage), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemRangeGetAttribute(values, 6, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, memory_, kPage),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemRangeGetAttribute(values, 4, kMostly, memory_, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemRangeGetAttribute(values, 4, kMostly, memory_, (kPages + 1) * kPage), CUDA_ERROR_INVALID_VALUE);
  const CUdeviceptr device = allocate(kPage);
  EXPECT_EQ(cuMemAdvise(device, kPage, CU_MEM_ADVISE_SET_READ_MOSTLY, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemRangeGetAttribute(values, 4, kMostly, device, kPage), CUDA_ERROR_INVALID_VALUE);
  void* data[] = {values, values + 1};
  size_t sizes[] = {4, 4};
  CUmem_range_attribute both[] = {kMostly, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION};
  EXPECT_EQ(cuMemRangeGetAttributes(data, sizes, both, 2, memory_, kPage), CUDA_SUCCESS);
  EXPECT_EQ(values[0], 0);
  EXPECT_EQ(values[1], CU_DEVICE_INVALID);
}

TEST_F(Managed, WhatWasSaidEndsWithTheMemory) {
  ASSERT_EQ(advise(CU_MEM_ADVISE_SET_READ_MOSTLY), CUDA_SUCCESS);
  ASSERT_EQ(cuMemFree(memory_), CUDA_SUCCESS);
  ASSERT_EQ(cuMemAllocManaged(&memory_, kPages * kPage, CU_MEM_ATTACH_GLOBAL), CUDA_SUCCESS);
  EXPECT_EQ(get(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY), 0);
  EXPECT_EQ(get(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, 0, kPage), 0);
}

class Pools : public Managed {
 protected:
  static CUmemoryPool standard(CUmemAllocationType type, CUmemLocation location) {
    CUmemoryPool pool = nullptr;
    EXPECT_EQ(cuMemGetDefaultMemPool(&pool, &location, type), CUDA_SUCCESS);
    return pool;
  }
  static CUmemoryPool current(CUmemAllocationType type, CUmemLocation location) {
    CUmemoryPool pool = nullptr;
    EXPECT_EQ(cuMemGetMemPool(&pool, &location, type), CUDA_SUCCESS);
    return pool;
  }
  CUdeviceptr take(CUmemoryPool pool) {
    CUdeviceptr memory = 0;
    EXPECT_EQ(cuMemAllocFromPoolAsync(&memory, kPage, pool, stream_), CUDA_SUCCESS);
    return memory;
  }
  template <class T>
  static T ask(CUdeviceptr memory, CUpointer_attribute attribute) {
    T value{};
    EXPECT_EQ(cuPointerGetAttribute(&value, attribute, memory), CUDA_SUCCESS);
    return value;
  }
  static unsigned access(CUmemoryPool pool, CUmemLocation location) {
    CUmemAccess_flags flags{};
    EXPECT_EQ(cuMemPoolGetAccess(&flags, pool, &location), CUDA_SUCCESS);
    return flags;
  }
};

constexpr auto kPinned = CU_MEM_ALLOCATION_TYPE_PINNED;
constexpr auto kManaged = CU_MEM_ALLOCATION_TYPE_MANAGED;

TEST_F(Pools, AreByKindAndPlace) {
  CUmemoryPool devices = nullptr, none = nullptr;
  ASSERT_EQ(cuDeviceGetDefaultMemPool(&devices, 0), CUDA_SUCCESS);
  EXPECT_EQ(standard(kPinned, kDevice), devices);
  EXPECT_NE(standard(kPinned, kHost), devices);
  EXPECT_NE(standard(kManaged, kDevice), standard(kManaged, kHost));
  EXPECT_EQ(standard(kManaged, kHost), standard(kManaged, kHost));
  struct {
    CUmemAllocationType type;
    CUmemLocation location;
    CUresult answer;
  } const wrong[] = {{kPinned, {CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT, 0}, CUDA_ERROR_NOT_SUPPORTED},
                     {kPinned, {CU_MEM_LOCATION_TYPE_NONE, 0}, CUDA_ERROR_INVALID_VALUE},
                     {kManaged, {CU_MEM_LOCATION_TYPE_DEVICE, 7}, CUDA_ERROR_INVALID_VALUE},
                     {CU_MEM_ALLOCATION_TYPE_INVALID, kDevice, CUDA_ERROR_INVALID_VALUE}};
  for (const auto& each : wrong) {
    CUmemLocation location = each.location;
    EXPECT_EQ(cuMemGetMemPool(&none, &location, each.type), each.answer);
  }
  EXPECT_EQ(cuMemPoolDestroy(standard(kPinned, kHost)), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuDeviceSetMemPool(0, standard(kPinned, kHost)), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Pools, OfManagedMemoryGiveManagedMemory) {
  const CUmemoryPool pool = standard(kManaged, kHost);
  memory_ = take(pool);
  EXPECT_EQ(ask<unsigned>(memory_, CU_POINTER_ATTRIBUTE_IS_MANAGED), 1u);
  EXPECT_EQ(ask<unsigned>(memory_, CU_POINTER_ATTRIBUTE_MEMORY_TYPE), static_cast<unsigned>(CU_MEMORYTYPE_DEVICE));
  EXPECT_EQ(ask<CUmemoryPool>(memory_, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE), pool);
  EXPECT_EQ(get(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, 0, kPage), CU_DEVICE_CPU);
  EXPECT_EQ(cuMemAdvise(memory_, kPage, CU_MEM_ADVISE_SET_READ_MOSTLY, 0), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(cuMemPrefetchAsync(memory_, kPage, 0, stream_), CUDA_SUCCESS);
  EXPECT_EQ(get(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, 0, kPage), 0);
  ASSERT_EQ(start(kernel("iota"), 1, 128, 0, stream_, memory_, 100u), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(stream_), CUDA_SUCCESS);
  EXPECT_EQ(reinterpret_cast<const unsigned*>(memory_)[99], 99u);
  EXPECT_EQ(cuMemFreeAsync(memory_, stream_), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFreeAsync(memory_, stream_), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuStreamSynchronize(stream_), CUDA_SUCCESS);
}

TEST_F(Pools, OfTheHostAreTheDevicesOnceThatHasAccess) {
  const CUmemoryPool pool = standard(kPinned, kHost);
  EXPECT_EQ(access(pool, kDevice), 0u);
  EXPECT_EQ(access(pool, kHost), 3u);
  CUdeviceptr memory = take(pool), told = 0;
  EXPECT_EQ(ask<unsigned>(memory, CU_POINTER_ATTRIBUTE_MEMORY_TYPE), static_cast<unsigned>(CU_MEMORYTYPE_HOST));
  EXPECT_EQ(cuPointerGetAttribute(&told, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, memory), CUDA_ERROR_INVALID_VALUE);
  CUmemAccessDesc give{kDevice, CU_MEM_ACCESS_FLAGS_PROT_READWRITE}, take{kHost, CU_MEM_ACCESS_FLAGS_PROT_NONE};
  EXPECT_EQ(cuMemPoolSetAccess(pool, &give, 1), CUDA_SUCCESS);
  EXPECT_EQ(cuMemPoolSetAccess(pool, &take, 1), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(ask<CUdeviceptr>(memory, CU_POINTER_ATTRIBUTE_DEVICE_POINTER), memory);
  give.flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
  EXPECT_EQ(cuMemPoolSetAccess(standard(kPinned, kDevice), &give, 1), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cuMemPoolSetAccess(pool, &give, 1), CUDA_SUCCESS);
  EXPECT_EQ(access(pool, kDevice), 0u);
  EXPECT_EQ(cuMemFreeHost(reinterpret_cast<void*>(memory)), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFree(memory), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamBeginCapture(stream_, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAllocFromPoolAsync(&memory, kPage, pool, stream_), CUDA_ERROR_NOT_SUPPORTED);
  CUgraph captured = nullptr;
  EXPECT_EQ(cuStreamEndCapture(stream_, &captured), CUDA_SUCCESS);
}

TEST_F(Pools, AreReplacedByOnesOfTheirKind) {
  CUmemPoolProps properties{};
  properties.allocType = kManaged;
  properties.location = kHost;
  CUmemoryPool own = nullptr;
  ASSERT_EQ(cuMemPoolCreate(&own, &properties), CUDA_SUCCESS);
  CUmemLocation host = kHost, device = kDevice;
  EXPECT_EQ(cuMemSetMemPool(&device, kManaged, own), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemSetMemPool(&host, kPinned, own), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemSetMemPool(&host, kManaged, own), CUDA_SUCCESS);
  EXPECT_EQ(current(kManaged, kHost), own);
  EXPECT_EQ(cuMemPoolDestroy(own), CUDA_SUCCESS);
  EXPECT_EQ(current(kManaged, kHost), standard(kManaged, kHost));
}

}  // namespace
}  // namespace ordito::driver
