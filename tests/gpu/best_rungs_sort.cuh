// Radix sort of one sweep for each digit against CUB's radix sort: keys of 32 bits, all bits random.
#pragma once

#include <cub/device/device_radix_sort.cuh>
#include <random>

#include "../../lab/sorting/onesweep.cuh"
#include "best_rungs.hpp"

namespace rungs {

struct SortData {
  const lab::DeviceArray<unsigned>& in;
  lab::DeviceArray<unsigned>& out;
  const std::vector<unsigned>& expected;
  unsigned n;
  double referenceMs;
};

template <unsigned Warps, unsigned Each>
void compareSortShape(const SortData& data) {
  const unsigned tile = onesweepTile(Warps, Each);
  lab::DeviceArray<unsigned> other(data.n), counts(kDigitPasses * kDigits);
  lab::DeviceArray<unsigned> words(kDigitPasses * onesweepWords(data.n, tile));
  data.out.fillBytes(0xff);
  const double ms = timeOf([&] {
    LAB_CHECK(cudaMemsetAsync(counts.get(), 0, counts.length() * sizeof(unsigned)));
    LAB_CHECK(cudaMemsetAsync(words.get(), 0, words.length() * sizeof(unsigned)));
    launchOnesweep<Warps, Each>(data.in.get(), data.out.get(), other.get(), data.n, 8 * processors(), counts.get(),
                                words.get());
  });
  expect(contents(data.out, data.n) == data.expected, "sort");
  lines.push_back({"sort", std::to_string(32 * Warps) + " threads, " + std::to_string(Each) + " keys each", ms,
                   data.referenceMs, 0.9});
}

inline void compareSort(unsigned n) {
  std::vector<unsigned> host(n);
  std::mt19937 random(26);
  for (unsigned& key : host) key = random();
  lab::DeviceArray<unsigned> in(n), out(n);
  in.upload(host.data(), n);
  Cub library([&](void* storage, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortKeys(storage, bytes, in.get(), out.get(), static_cast<int>(n));
  });
  const double referenceMs = timeOf([&] { library(); });
  const std::vector<unsigned> expected = contents(out, n);
  const SortData data{in, out, expected, n, referenceMs};
  compareSortShape<8, 16>(data);
  compareSortShape<8, 24>(data);
  compareSortShape<12, 16>(data);
  compareSortShape<12, 20>(data);
  compareSortShape<12, 23>(data);
  compareSortShape<12, 26>(data);
  compareSortShape<16, 16>(data);
  compareSortShape<16, 20>(data);
}

}  // namespace rungs
