// `scan --trace`: every algorithm on 1..8, why the racing form is wrong, and additions and steps counted for one tile.
#pragma once

#include <cstdio>
#include <vector>

#include "../common/lab.hpp"
#include "tiles.cuh"

namespace trace {

struct Cost {
  std::vector<unsigned> answers;
  unsigned additions = 0;
  unsigned steps = 0;
};

template <class Algorithm>
Cost counted(const std::vector<unsigned>& values) {
  const unsigned n = static_cast<unsigned>(values.size());
  const unsigned block = n / Algorithm::kPerThread;
  lab::DeviceArray<unsigned> in(n), out(n), counts(2);
  in.upload(values.data(), n);
  counts.clear();
  scanCounted<Algorithm><<<1, block, Algorithm::words(block) * sizeof(unsigned)>>>(in.get(), out.get(), counts.get());
  lab::launched("scanCounted");
  Cost cost;
  cost.answers.resize(n);
  out.download(cost.answers.data(), n);
  unsigned both[2];
  counts.download(both, 2);
  cost.additions = both[0];
  cost.steps = both[1];
  return cost;
}

inline void print(const char* name, const std::vector<unsigned>& values) {
  std::printf("  %-34s", name);
  for (const unsigned value : values) std::printf(" %3u", value);
  std::printf("\n");
}

/// What the racing form computes if the threads take their turns in ascending order.
inline std::vector<unsigned> ascendingOrder(std::vector<unsigned> values) {
  for (std::size_t distance = 1; distance < values.size(); distance *= 2) {
    for (std::size_t i = distance; i < values.size(); ++i) values[i] += values[i - distance];
  }
  return values;
}

inline std::vector<unsigned> sequential(std::vector<unsigned> values) {
  for (std::size_t i = 1; i < values.size(); ++i) values[i] += values[i - 1];
  return values;
}

inline unsigned log2(unsigned n) { return n < 2 ? 0 : 1 + log2(n / 2); }

inline bool printCost(const char* name, const Cost& cost, const std::vector<unsigned>& expected, unsigned steps,
                      unsigned additions) {
  const bool right = cost.answers == expected && cost.steps == steps && cost.additions == additions;
  std::printf("  %-12s %6u steps %8u additions   expected %6u and %8u%s\n", name, cost.steps, cost.additions, steps,
              additions, right ? "" : "   WRONG");
  return right;
}

/// A sequential scan adds n-1 times in as many steps; Horn n log2 n - (n-1) times in log2 n; Blelloch's tree 2(n-1)
/// times in 2 log2 n.
inline bool showCosts(unsigned n) {
  std::vector<unsigned> values(n);
  for (unsigned i = 0; i < n; ++i) values[i] = i % 10;
  const std::vector<unsigned> expected = sequential(values);
  const unsigned levels = log2(n);
  std::printf("one tile of %u\n", n);
  std::printf("  %-12s %6u steps %8u additions\n", "sequential", n - 1, n - 1);
  bool right = printCost("Horn", counted<HornDoubleBuffer>(values), expected, levels, n * levels - (n - 1));
  right &= printCost("Blelloch", counted<Blelloch<false>>(values), expected, 2 * levels, 2 * (n - 1));
  return right;
}

inline bool show() {
  const std::vector<unsigned> values = {1, 2, 3, 4, 5, 6, 7, 8};
  const std::vector<unsigned> expected = sequential(values);
  const std::vector<unsigned> horn = counted<HornDoubleBuffer>(values).answers;
  const std::vector<unsigned> tree = counted<Blelloch<false>>(values).answers;
  std::printf("inclusive prefix sums\n");
  print("given", values);
  print("sequential", expected);
  print("Horn", horn);
  print("Blelloch", tree);
  std::printf("one barrier in place, on eight ones\n");
  print("threads in ascending order (wrong)", ascendingOrder(std::vector<unsigned>(8, 1)));
  bool right = horn == expected && tree == expected;
  for (const unsigned n : {8u, 64u, 1024u}) right &= showCosts(n);
  return right;
}

}  // namespace trace
