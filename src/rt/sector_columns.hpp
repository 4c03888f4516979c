// How many different sectors lanes have touched in some of their iterations, of what they have left in lists: numbers
// of sectors, or indices in an array (iteration_counts.hpp). Iterations lie side by side in vectors, of which each lane
// has one, and are sorted together (sorting_network.hpp). The functions are inlined into some for each kind of
// processor.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "rt/iteration_counts.hpp"
#include "rt/sorting_network.hpp"

namespace ordito::rt {

#define INLINED __attribute__((always_inline)) inline

/// Iterations of one list that lie side by side in a vector. A vector has some such groups: iterations that follow each
/// other, or the same ones of several lists.
inline constexpr unsigned kGroup = 4;

/// From a list's numbers to sectors.
struct Numbering {
  uint32_t flip, shift, first;  // CountedLoop::Access; elements before the array's first in its sector
};

/// What is sorted together: four iterations of a list of the first lane, for each group of the vectors.
template <unsigned Width>
struct Groups {
  std::array<const uint32_t*, Width / kGroup> numbers;
  std::array<Numbering, Width / kGroup> numbering;
};

/// Lanes that have touched something there: where they are in a list, and a bit for each element of the vector that
/// counts.
struct Columns {
  unsigned used = 0;
  std::array<uint32_t, IterationLog::kLanes> at;
  std::array<uint32_t, IterationLog::kLanes> bits;
};

template <unsigned Width>
struct Numberings {
  Numbers<Width> flip, shift, rest, first;
  INLINED explicit Numberings(const Groups<Width>& groups) {
#pragma unroll
    for (unsigned k = 0; k < Width; ++k) {
      const Numbering& n = groups.numbering[k / kGroup];
      flip[k] = n.flip, shift[k] = n.shift, first[k] = n.first;
    }
    rest = (Numbers<Width>(1) << shift) - 1;
  }
  /// An index has 32 bits, and what lies before the array may not be added to it: the sum is done by quotient and rest.
  INLINED void sectorsOf(Numbers<Width>& numbers) const {
    const Numbers<Width> index = numbers ^ flip;
    numbers = (index >> shift) + (((index & rest) + first) >> shift);
  }
};

template <unsigned Width, unsigned Count>
TOGETHER void countSorted(const Groups<Width>& groups, const Columns& columns, uint32_t* different) {
  Numbers<Width> bit, numbers[Count], found;
#pragma unroll
  for (unsigned k = 0; k < Width; ++k) bit[k] = 1u << k;
  const Numberings<Width> numberings(groups);
#pragma unroll
  for (unsigned n = 0; n < Count; ++n) {
    const bool isUsed = n < columns.used;
    const size_t at = columns.at[isUsed ? n : 0];
    const Numbers<Width> bits = isUsed ? columns.bits[n] : 0;
#pragma unroll
    for (unsigned g = 0; g < Width / kGroup; ++g)
      std::memcpy(reinterpret_cast<uint32_t*>(&numbers[n]) + g * kGroup, groups.numbers[g] + at, kGroup * 4);
    numberings.sectorsOf(numbers[n]);
    numbers[n] |= __builtin_convertvector((bits & bit) == 0, Numbers<Width>);
  }
  countDifferent<Width, Count>(found, numbers);
#pragma unroll
  for (unsigned g = 0; g < Width / kGroup; ++g) {
    different[g] = 0;
#pragma unroll
    for (unsigned k = 0; k < kGroup; ++k) different[g] += found[g * kGroup + k];
  }
}

template <unsigned Width>
TOGETHER void countSome(const Groups<Width>& groups, const Columns& columns, uint32_t* different) {
  if (columns.used <= 2) return countSorted<Width, 2>(groups, columns, different);
  if (columns.used <= 4) return countSorted<Width, 4>(groups, columns, different);
  if (columns.used <= 8) return countSorted<Width, 8>(groups, columns, different);
  if (columns.used <= 12) return countSorted<Width, 12>(groups, columns, different);
  if (columns.used <= 16) return countSorted<Width, 16>(groups, columns, different);
  if (columns.used <= 20) return countSorted<Width, 20>(groups, columns, different);
  if (columns.used <= 24) return countSorted<Width, 24>(groups, columns, different);
  if (columns.used <= 28) return countSorted<Width, 28>(groups, columns, different);
  return countSorted<Width, 32>(groups, columns, different);
}

/// `different`: how many different sectors the iterations of each group have, added up.
template <unsigned Width>
using CountColumns = void(const Groups<Width>& groups, const Columns& columns, uint32_t* different);

}  // namespace ordito::rt
