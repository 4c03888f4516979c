// The sequential references of the reduction: the plain loop, and the two recursions whose pairings the kernels use.
// Both recursions work in place and are right for any size, not only powers of two.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

namespace cpu {

inline long long sumSequential(const int* data, std::size_t size) {
  long long sum = 0;
  for (std::size_t i = 0; i < size; ++i) sum += data[i];
  return sum;
}

/// Neighbored pairs: level s adds element i+s to element i for i = 0, 2s, 4s ... The recursion ends when no element has
/// a neighbour at distance `stride`; stopping one level earlier would lose half of the array.
inline int sumNeighbored(int* data, std::size_t size, std::size_t stride = 1) {
  if (size == 0) return 0;
  if (stride >= size) return data[0];
  for (std::size_t i = 0; i + stride < size; i += 2 * stride) data[i] += data[i + stride];
  return sumNeighbored(data, size, 2 * stride);
}

/// Interleaved pairs: the upper half is added to the lower. With an odd size the middle element waits for the next
/// level.
inline int sumInterleaved(int* data, std::size_t size) {
  if (size == 0) return 0;
  if (size == 1) return data[0];
  const std::size_t half = (size + 1) / 2;
  for (std::size_t i = 0; i + half < size; ++i) data[i] += data[i + half];
  return sumInterleaved(data, half);
}

inline void printStep(const std::vector<int>& values, std::size_t stride) {
  std::printf("  stride %zu:", stride);
  for (const int value : values) std::printf(" %3d", value);
  std::printf("\n");
}

/// Shows both pairings step by step on 1..8.
inline void tracePairs() {
  const std::vector<int> start = {1, 2, 3, 4, 5, 6, 7, 8};
  std::vector<int> values = start;
  std::printf("neighbored pairs: A[t] += A[t + 2^i] for t a multiple of 2^(i+1)\n");
  for (std::size_t stride = 1; stride < values.size(); stride *= 2) {
    for (std::size_t t = 0; t < values.size(); t += 2 * stride) values[t] += values[t + stride];
    printStep(values, stride);
  }
  values = start;
  std::printf("interleaved pairs: A[t] += A[t + len/2^(i+1)] for t < len/2^(i+1)\n");
  for (std::size_t stride = values.size() / 2; stride > 0; stride /= 2) {
    for (std::size_t t = 0; t < stride; ++t) values[t] += values[t + stride];
    printStep(values, stride);
  }
}

/// Both pairings with any operator, for a power of two of values.
template <class T, class Operator>
T combineNeighbored(std::vector<T> values, Operator combine) {
  for (std::size_t stride = 1; stride < values.size(); stride *= 2) {
    for (std::size_t t = 0; t < values.size(); t += 2 * stride) values[t] = combine(values[t], values[t + stride]);
  }
  return values[0];
}
template <class T, class Operator>
T combineInterleaved(std::vector<T> values, Operator combine) {
  for (std::size_t stride = values.size() / 2; stride > 0; stride /= 2) {
    for (std::size_t t = 0; t < stride; ++t) values[t] = combine(values[t], values[t + stride]);
  }
  return values[0];
}

/// Neighbored pairs keep the order, so the operator need only be associative, as joining texts is. Interleaved pairs
/// bring together what stood apart: the operator must be commutative, too.
inline bool traceOperators() {
  const std::vector<std::string> letters = {"a", "b", "c", "d", "e", "f", "g", "h"};
  const std::vector<int> numbers = {1, 2, 3, 4, 5, 6, 7, 8};
  auto join = [](const std::string& one, const std::string& other) { return one + other; };
  int additions = 0;
  auto add = [&](int one, int other) { return ++additions, one + other; };
  const std::string kept = combineNeighbored(letters, join);
  const std::string mixed = combineInterleaved(letters, join);
  const int neighbored = combineNeighbored(numbers, add);
  const int after = additions;
  const int interleaved = combineInterleaved(numbers, add);
  std::printf("joining letters: neighbored %s, interleaved %s; adding 1..8: %d and %d, with %d and %d additions\n",
              kept.c_str(), mixed.c_str(), neighbored, interleaved, after, additions - after);
  return kept == "abcdefgh" && mixed != kept && neighbored == interleaved;
}

}  // namespace cpu
