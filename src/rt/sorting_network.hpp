// How many different numbers there are in each of several rows at once: row r's numbers are the elements r of as many
// vectors, which are sorted by a network of minima and maxima (K. E. Batcher, "Sorting networks and their
// applications", AFIPS 1968), so that those that differ from the one before them can be counted.
//
// The functions are inlined into some for each kind of processor. Vectors are handed on by reference: functions for all
// processors have no registers for them.
#pragma once

#include <cstdint>

namespace ordito::rt {

#define TOGETHER __attribute__((always_inline)) static inline

/// A number of each of `Width` rows.
template <unsigned Width>
using Numbers = uint32_t __attribute__((ext_vector_type(Width)));

/// Stands for no number. It is greater than all others.
inline constexpr uint32_t kNoNumber = ~0u;

/// By odd-even merging: 191 comparisons for 32 numbers, 63 for 16. `Count` is a power of two.
template <unsigned Width, unsigned Count>
TOGETHER void sort(Numbers<Width>* numbers) {
#pragma unroll
  for (unsigned sorted = 1; sorted < Count; sorted *= 2)
#pragma unroll
    for (unsigned distance = sorted; distance > 0; distance /= 2)
#pragma unroll
      for (unsigned n = 0; n < Count - distance; ++n) {
        const unsigned first = distance % sorted, place = n - first, partner = n + distance;
        if (n < first || place % (2 * distance) >= distance || n / (2 * sorted) != partner / (2 * sorted)) continue;
        const Numbers<Width> a = numbers[n], b = numbers[partner];
        numbers[n] = __builtin_elementwise_min(a, b);
        numbers[partner] = __builtin_elementwise_max(a, b);
      }
}

/// The different numbers of each row, but for kNoNumber. The numbers are sorted then.
template <unsigned Width, unsigned Count>
TOGETHER void countDifferent(Numbers<Width>& found, Numbers<Width>* numbers) {
  sort<Width, Count>(numbers);
  found = __builtin_convertvector(numbers[Count - 1] == kNoNumber, Numbers<Width>) + 1;
#pragma unroll
  for (unsigned n = 1; n < Count; ++n) found -= __builtin_convertvector(numbers[n] != numbers[n - 1], Numbers<Width>);
}

}  // namespace ordito::rt
