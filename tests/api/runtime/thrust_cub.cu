// Thrust's algorithms and CUB's, over a whole device and in a block, against plain loops. With whatever copy of them
// there is: Debian's packages, or a clone of CCCL.
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/unique.h>

#include <algorithm>
#include <cub/cub.cuh>
#include <iterator>
#include <numeric>
#include <vector>

#include "expect.hpp"

struct Square {
  __host__ __device__ int operator()(int v) const { return v * v; }
};

struct IsOdd {
  __host__ __device__ bool operator()(int v) const { return v % 2 != 0; }
};

std::vector<int> numbers(int count) {
  std::vector<int> all(count);
  unsigned state = 1;
  for (int& v : all) v = static_cast<int>((state = state * 1664525u + 1013904223u) >> 16) % 1000;
  return all;
}

template <class Vector>
std::vector<int> hostCopy(const Vector& device) {
  std::vector<int> copy(device.size());
  thrust::copy(device.begin(), device.end(), copy.begin());
  return copy;
}

void thrustAlgorithms(int count) {
  const std::vector<int> in = numbers(count);
  thrust::device_vector<int> device(in.begin(), in.end());
  std::vector<int> expected = in;

  EXPECT(thrust::reduce(device.begin(), device.end(), 0, thrust::plus<int>()) ==
         std::accumulate(in.begin(), in.end(), 0));
  EXPECT(thrust::reduce(device.begin(), device.end(), -1, thrust::maximum<int>()) ==
         *std::max_element(in.begin(), in.end()));

  thrust::device_vector<int> result(count);
  thrust::transform(device.begin(), device.end(), result.begin(), Square());
  for (int& v : expected) v *= v;
  EXPECT(hostCopy(result) == expected);

  thrust::inclusive_scan(device.begin(), device.end(), result.begin());
  std::partial_sum(in.begin(), in.end(), expected.begin());
  EXPECT(hostCopy(result) == expected);
  thrust::exclusive_scan(device.begin(), device.end(), result.begin());
  EXPECT(result[0] == 0 && result[count - 1] == expected[count - 2]);

  result.erase(thrust::copy_if(device.begin(), device.end(), result.begin(), IsOdd()), result.end());
  expected.clear();
  std::copy_if(in.begin(), in.end(), std::back_inserter(expected), IsOdd());
  EXPECT(hostCopy(result) == expected);

  thrust::device_vector<int> places(count);
  thrust::sequence(places.begin(), places.end());
  thrust::device_vector<int> keys = device;
  thrust::stable_sort_by_key(keys.begin(), keys.end(), places.begin());
  const std::vector<int> sortedPlaces = hostCopy(places);
  thrust::sort(device.begin(), device.end());
  expected = in;
  std::sort(expected.begin(), expected.end());
  EXPECT(hostCopy(device) == expected && hostCopy(keys) == expected);
  for (int i = 0; i < count; ++i) EXPECT(in[sortedPlaces[i]] == expected[i]);

  device.erase(thrust::unique(device.begin(), device.end()), device.end());
  expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
  EXPECT(hostCopy(device) == expected);
}

/// A call of CUB asks for memory first and works then.
template <class Call>
void withStorage(const Call& call) {
  size_t bytes = 0;
  EXPECT_OK(call(nullptr, bytes));
  void* storage = nullptr;
  EXPECT_OK(cudaMalloc(&storage, bytes));
  EXPECT_OK(call(storage, bytes));
  EXPECT_OK(cudaFree(storage));
}

void deviceWide(int count) {
  const std::vector<int> in = numbers(count);
  thrust::device_vector<int> device(in.begin(), in.end()), out(count), one(1);
  int *from = thrust::raw_pointer_cast(device.data()), *to = thrust::raw_pointer_cast(out.data());
  int* single = thrust::raw_pointer_cast(one.data());

  withStorage([&](void* s, size_t& bytes) { return cub::DeviceReduce::Sum(s, bytes, from, single, count); });
  EXPECT(one[0] == std::accumulate(in.begin(), in.end(), 0));

  std::vector<int> expected(count);
  withStorage([&](void* s, size_t& bytes) { return cub::DeviceScan::InclusiveSum(s, bytes, from, to, count); });
  std::partial_sum(in.begin(), in.end(), expected.begin());
  EXPECT(hostCopy(out) == expected);

  withStorage([&](void* s, size_t& bytes) { return cub::DeviceRadixSort::SortKeys(s, bytes, from, to, count); });
  expected = in;
  std::sort(expected.begin(), expected.end());
  EXPECT(hostCopy(out) == expected);

  withStorage(
      [&](void* s, size_t& bytes) { return cub::DeviceSelect::If(s, bytes, from, to, single, count, IsOdd()); });
  expected.clear();
  std::copy_if(in.begin(), in.end(), std::back_inserter(expected), IsOdd());
  EXPECT(one[0] == static_cast<int>(expected.size()));
  out.resize(expected.size());
  EXPECT(hostCopy(out) == expected);

  thrust::device_vector<int> counts(10);
  int* bins = thrust::raw_pointer_cast(counts.data());
  withStorage([&](void* s, size_t& bytes) {
    return cub::DeviceHistogram::HistogramEven(s, bytes, from, bins, 11, 0, 1000, count);
  });
  std::vector<int> histogram(10);
  for (int v : in) ++histogram[v / 100];
  EXPECT(hostCopy(counts) == histogram);
}

constexpr int kBlock = 128, kItems = 4;

/// Loads a tile, scans it, sorts it, adds it up, and counts in each warp.
__global__ void inBlock(const int* in, int* scanned, int* sorted, int* sum, int* largest) {
  using Load = cub::BlockLoad<int, kBlock, kItems, cub::BLOCK_LOAD_TRANSPOSE>;
  using Store = cub::BlockStore<int, kBlock, kItems, cub::BLOCK_STORE_TRANSPOSE>;
  using Scan = cub::BlockScan<int, kBlock>;
  using Sort = cub::BlockRadixSort<int, kBlock, kItems>;
  using Reduce = cub::BlockReduce<int, kBlock>;
  using Warp = cub::WarpReduce<int>;
  __shared__ union {
    typename Load::TempStorage load;
    typename Store::TempStorage store;
    typename Scan::TempStorage scan;
    typename Sort::TempStorage sort;
    typename Reduce::TempStorage reduce;
    typename Warp::TempStorage warp[kBlock / 32];
  } shared;
  int items[kItems], results[kItems];
  Load(shared.load).Load(in, items);
  __syncthreads();
  Scan(shared.scan).InclusiveSum(items, results);
  __syncthreads();
  Store(shared.store).Store(scanned, results);
  __syncthreads();
  const int total = Reduce(shared.reduce).Sum(items);
  if (threadIdx.x == 0) *sum = total;
  __syncthreads();
  const int most = Warp(shared.warp[threadIdx.x / 32]).Reduce(items[0], [](int a, int b) { return a > b ? a : b; });
  if (threadIdx.x % 32 == 0) largest[threadIdx.x / 32] = most;
  __syncthreads();
  Sort(shared.sort).Sort(items);
  __syncthreads();
  Store(shared.store).Store(sorted, items);
}

void blockWide() {
  std::vector<int> in = numbers(kBlock * kItems);
  thrust::device_vector<int> device(in.begin(), in.end()), scanned(in.size()), sorted(in.size()), sum(1), largest(4);
  inBlock<<<1, kBlock>>>(thrust::raw_pointer_cast(device.data()), thrust::raw_pointer_cast(scanned.data()),
                         thrust::raw_pointer_cast(sorted.data()), thrust::raw_pointer_cast(sum.data()),
                         thrust::raw_pointer_cast(largest.data()));
  EXPECT_OK(cudaDeviceSynchronize());
  std::vector<int> expected(in.size());
  std::partial_sum(in.begin(), in.end(), expected.begin());
  EXPECT(hostCopy(scanned) == expected);
  EXPECT(sum[0] == expected.back());
  for (int warp = 0; warp < 4; ++warp) {
    int most = 0;
    for (int lane = 0; lane < 32; ++lane) most = std::max(most, in[(warp * 32 + lane) * kItems]);
    EXPECT(largest[warp] == most);
  }
  std::sort(in.begin(), in.end());
  EXPECT(hostCopy(sorted) == in);
}

int main() {
  for (int count : {1000, 100003}) thrustAlgorithms(count);
  deviceWide(50021);
  blockWide();
  return finish();
}
