// What a memory pool says of itself: the numbers are those of an H200 with driver 580.
#include "expect.hpp"

using Bytes = unsigned long long;
constexpr Bytes kMiB = 1 << 20;

struct Pool {
  cudaMemPool_t pool = nullptr;
  cudaStream_t stream = nullptr;

  Bytes get(cudaMemPoolAttr attribute) const {
    Bytes value = ~0ull;
    EXPECT_OK(cudaMemPoolGetAttribute(pool, attribute, &value));
    return value;
  }
  void set(cudaMemPoolAttr attribute, Bytes value) const {
    EXPECT_OK(cudaMemPoolSetAttribute(pool, attribute, &value));
  }
  Bytes reserved() const { return get(cudaMemPoolAttrReservedMemCurrent) / kMiB; }
  Bytes mostReserved() const { return get(cudaMemPoolAttrReservedMemHigh) / kMiB; }
  Bytes used() const { return get(cudaMemPoolAttrUsedMemCurrent); }

  void* allocate(Bytes bytes) const {
    void* memory = nullptr;
    EXPECT_OK(cudaMallocAsync(&memory, bytes, stream));
    return memory;
  }
  void free(void* memory) const { EXPECT_OK(cudaFreeAsync(memory, stream)); }
  void wait() const { EXPECT_OK(cudaStreamSynchronize(stream)); }
  void trim(Bytes least) const { EXPECT_OK(cudaMemPoolTrimTo(pool, least)); }
};

static void smallOnes(const Pool& p) {
  EXPECT(p.reserved() == 0 && p.used() == 0);
  void *first = p.allocate(1000), *second = p.allocate(513);
  EXPECT(p.reserved() == 32 && p.used() == 1513);
  p.free(first);
  EXPECT(p.used() == 513);
  p.wait();
  EXPECT(p.reserved() == 32);
  p.free(second);
  EXPECT(p.reserved() == 32 && p.used() == 0);
  p.wait();
  EXPECT(p.reserved() == 0 && p.mostReserved() == 32 && p.get(cudaMemPoolAttrUsedMemHigh) == 1513);
}

static void trimmed(const Pool& p) {
  void *first = p.allocate(33 * kMiB), *second = p.allocate(kMiB);
  EXPECT(p.reserved() == 64);
  p.free(first);
  EXPECT(p.reserved() == 64 && p.used() == kMiB);
  p.wait();
  EXPECT(p.reserved() == 32);
  p.free(second);
  p.trim(0);  // nobody has waited since
  EXPECT(p.reserved() == 32);
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT(p.reserved() == 0 && p.mostReserved() == 64);
}

static void keptByThreshold(const Pool& p) {
  void* memory = p.allocate(100 * kMiB);
  p.trim(0);
  EXPECT(p.reserved() == 128);
  p.free(memory);
  p.set(cudaMemPoolAttrReleaseThreshold, 40 * kMiB);
  p.wait();
  EXPECT(p.reserved() == 32);
  p.trim(10 * kMiB);
  EXPECT(p.reserved() == 32);
  p.set(cudaMemPoolAttrReleaseThreshold, 0);
  p.set(cudaMemPoolAttrReservedMemHigh, 0);
  EXPECT(p.mostReserved() == 32);
  p.free(p.allocate(1));
  cudaEvent_t event;
  EXPECT_OK(cudaEventCreate(&event));
  EXPECT_OK(cudaEventRecord(event, p.stream));
  EXPECT_OK(cudaEventSynchronize(event));
  EXPECT(p.reserved() == 0);
  EXPECT_OK(cudaEventDestroy(event));
}

int main() {
  Pool p;
  EXPECT_OK(cudaDeviceGetDefaultMemPool(&p.pool, 0));
  EXPECT_OK(cudaStreamCreate(&p.stream));
  smallOnes(p);
  trimmed(p);
  keptByThreshold(p);
  EXPECT_OK(cudaStreamDestroy(p.stream));
  return finish();
}
