// Algorithms over vectors: Thrust beside C++'s own. Thrust is NVIDIA's and not part of Ordito (Debian: libthrust-dev
// and libcub-dev); where it is not installed the variant says so.
#pragma once

#include "context.hpp"

#if __has_include(<thrust/device_vector.h>)
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#define LAB_HAS_THRUST 1
#endif

#include <numeric>

namespace lab {

inline std::vector<int> keys(const Context& c) {
  std::mt19937 random(14);
  std::vector<int> all(c.n);
  for (int& key : all) key = static_cast<int>(random() % 20001) - 10000;
  return all;
}

inline void sortLoop(Context& c, Measurement& row) {
  const std::vector<int> unsorted = keys(c);
  std::vector<int> sorted;
  timeCpuRounds(c.options.rounds, row, [&] { sorted = unsorted; }, [&] { std::sort(sorted.begin(), sorted.end()); });
  row.verified = Verified::yes;
}

#ifdef LAB_HAS_THRUST
struct Doubled {
  __host__ __device__ int operator()(int value) const { return 2 * value; }
};

/// Sorted, doubled, summed up, and added up on the way with and without the last: each against C++'s own.
inline void runThrust(Context& c, Measurement& row) {
  const std::vector<int> unsorted = keys(c);
  std::vector<int> expected = unsorted, sums(c.n), sumsBefore(c.n);
  std::sort(expected.begin(), expected.end());
  for (int& value : expected) value *= 2;
  int sum = 0;
  for (std::size_t i = 0; i < c.n; ++i) {
    sumsBefore[i] = sum;
    sums[i] = sum += expected[i];
  }
  const thrust::host_vector<int> host(unsorted.begin(), unsorted.end());
  thrust::device_vector<int> values, running(c.n), runningBefore(c.n);
  int found = -1;
  timeRounds(
      c.options.rounds, row, [&] { values = host; },
      [&] {
        thrust::sort(values.begin(), values.end());
        thrust::transform(values.begin(), values.end(), values.begin(), Doubled());
        found = thrust::reduce(values.begin(), values.end());
        thrust::inclusive_scan(values.begin(), values.end(), running.begin());
        thrust::exclusive_scan(values.begin(), values.end(), runningBefore.begin());
      },
      [] {});
  auto equals = [](const thrust::device_vector<int>& device, const std::vector<int>& what) {
    const thrust::host_vector<int> copy = device;
    return std::equal(copy.begin(), copy.end(), what.begin(), what.end());
  };
  judge(row, found == sum && equals(values, expected) && equals(running, sums) && equals(runningBefore, sumsBefore));
}
#else
inline void runThrust(Context&, Measurement& row) {
  row.verified = Verified::notApplicable;
  row.note = "Thrust is not installed (libthrust-dev, libcub-dev)";
}
#endif

}  // namespace lab
