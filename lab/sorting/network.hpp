// Bitonic sequences and the network that sorts by them, on the host and step by step.
//
// A sequence is bitonic if it rises and then falls, or is a rotation of such a one. Comparing the element i of its
// first half with the element i of its second half, and putting the smaller one first, gives two bitonic halves of
// which no element of the first is larger than one of the second (a split). Splitting the halves again until single
// elements are left sorts (a merge). A network that sorts anything first builds longer and longer bitonic sequences by
// merging neighbours in opposite directions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace sorting {

using Keys = std::vector<unsigned>;

/// Going once around the sequence, the direction of equal neighbours left out, it turns at most twice.
inline bool isBitonic(const Keys& keys) {
  int turns = 0;
  int first = 0;
  int last = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const unsigned next = keys[(i + 1) % keys.size()];
    const int direction = next > keys[i] ? 1 : next < keys[i] ? -1 : 0;
    if (direction == 0) continue;
    if (last != 0 && direction != last) ++turns;
    if (first == 0) first = direction;
    last = direction;
  }
  if (first != last) ++turns;
  return turns <= 2;
}

/// A column of comparators: elements `distance` apart are put in order, downwards where the bit `stage` of the index is
/// set.
struct Column {
  std::size_t stage;
  std::size_t distance;
};

inline std::vector<Column> mergeColumns(std::size_t length) {
  std::vector<Column> columns;
  for (std::size_t distance = length / 2; distance > 0; distance /= 2) columns.push_back({length, distance});
  return columns;
}

/// All columns for `length` elements, a power of two.
inline std::vector<Column> sortColumns(std::size_t length) {
  std::vector<Column> columns;
  for (std::size_t stage = 2; stage <= length; stage *= 2) {
    for (const Column& column : mergeColumns(stage)) columns.push_back(column);
  }
  return columns;
}

/// Applies a column and returns how many comparators it has.
inline std::size_t apply(const Column& column, Keys& keys) {
  std::size_t comparators = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::size_t partner = i ^ column.distance;
    if (partner < i) continue;
    ++comparators;
    const bool upwards = (i & column.stage) == 0;
    if ((keys[i] > keys[partner]) == upwards) std::swap(keys[i], keys[partner]);
  }
  return comparators;
}

inline Keys half(const Keys& keys, std::size_t which) {
  const auto begin = keys.begin() + static_cast<std::ptrdiff_t>(which * keys.size() / 2);
  return Keys(begin, begin + static_cast<std::ptrdiff_t>(keys.size() / 2));
}

/// What a split promises: two bitonic halves, and no element of the first is larger than one of the second.
inline bool splitIsRight(const Keys& keys) {
  const Keys first = half(keys, 0);
  const Keys second = half(keys, 1);
  return isBitonic(first) && isBitonic(second) &&
         *std::max_element(first.begin(), first.end()) <= *std::min_element(second.begin(), second.end());
}

/// Zeros and ones by the bits of `word`. A network that sorts all of these sorts everything (the 0-1 principle).
inline Keys zeroOne(unsigned word, std::size_t length) {
  Keys keys(length);
  for (std::size_t i = 0; i < length; ++i) keys[i] = word >> i & 1;
  return keys;
}

}  // namespace sorting
