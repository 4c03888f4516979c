// Thrust's algorithms called by threads, in their own order (thrust::seq) and with the policy of the device, which
// means the same there. With whatever copy of Thrust there is.
#include <thrust/copy.h>
#include <thrust/count.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/extrema.h>
#include <thrust/functional.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#include <thrust/unique.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "expect.hpp"

constexpr int kRows = 40, kEach = 17, kResults = 6;

struct Twice {
  __host__ __device__ int operator()(int v) const { return 2 * v; }
};

/// A thread for each row: sums and places, and the row scanned, sorted and without its doubles.
template <class Policy>
__device__ void doRow(const Policy& policy, const int* row, int* results, int* scanned, int* sorted) {
  results[0] = thrust::reduce(policy, row, row + kEach, 0, thrust::plus<int>());
  results[1] = static_cast<int>(thrust::max_element(policy, row, row + kEach) - row);
  results[2] = static_cast<int>(thrust::count(policy, row, row + kEach, 3));
  results[3] = thrust::transform_reduce(policy, row, row + kEach, Twice(), 1, thrust::plus<int>());
  results[4] = static_cast<int>(thrust::min_element(policy, row, row + kEach) - row);
  thrust::inclusive_scan(policy, row, row + kEach, scanned);
  thrust::copy(policy, row, row + kEach, sorted);
  thrust::sort(policy, sorted, sorted + kEach);
  results[5] = static_cast<int>(thrust::unique(policy, sorted, sorted + kEach) - sorted);
}

__global__ void rows(const int* in, int* results, int* scanned, int* sorted, bool isOfDevice) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= kRows) return;
  if (isOfDevice)
    doRow(thrust::device, in + i * kEach, results + i * kResults, scanned + i * kEach, sorted + i * kEach);
  else
    doRow(thrust::seq, in + i * kEach, results + i * kResults, scanned + i * kEach, sorted + i * kEach);
}

int main() {
  std::vector<int> in(kRows * kEach);
  unsigned state = 1;
  for (int& v : in) v = static_cast<int>((state = state * 1664525u + 1013904223u) >> 16) % 10;
  thrust::device_vector<int> device(in.begin(), in.end()), results(kRows * kResults), scanned(in.size()),
      sorted(in.size());
  for (const bool isOfDevice : {false, true}) {
    rows<<<2, 32>>>(thrust::raw_pointer_cast(device.data()), thrust::raw_pointer_cast(results.data()),
                    thrust::raw_pointer_cast(scanned.data()), thrust::raw_pointer_cast(sorted.data()), isOfDevice);
    EXPECT_OK(cudaDeviceSynchronize());
    for (int i = 0; i < kRows; ++i) {
      const auto first = in.begin() + i * kEach, last = first + kEach;
      EXPECT(results[i * kResults] == std::accumulate(first, last, 0));
      EXPECT(results[i * kResults + 1] == std::max_element(first, last) - first);
      EXPECT(results[i * kResults + 2] == std::count(first, last, 3));
      EXPECT(results[i * kResults + 3] == 1 + 2 * std::accumulate(first, last, 0));
      EXPECT(results[i * kResults + 4] == std::min_element(first, last) - first);
      std::vector<int> row(first, last), sums(kEach);
      std::partial_sum(first, last, sums.begin());
      EXPECT(scanned[i * kEach + kEach - 1] == sums.back());
      std::sort(row.begin(), row.end());
      row.erase(std::unique(row.begin(), row.end()), row.end());
      EXPECT(results[i * kResults + 5] == static_cast<int>(row.size()));
      for (size_t k = 0; k < row.size(); ++k) EXPECT(sorted[i * kEach + static_cast<int>(k)] == row[k]);
    }
  }
  return 0;
}
