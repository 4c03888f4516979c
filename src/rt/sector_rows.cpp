// See sector_rows.hpp.
#include "rt/sector_rows.hpp"

#include <immintrin.h>

#include <bit>
#include <cstring>
#include <utility>

#include "rt/access_counts.hpp"
#include "rt/sorting_network.hpp"

namespace ordito::rt {

namespace {

constexpr unsigned kLanes = SectorRows::kLanes;

template <unsigned Width, size_t... Element>
TOGETHER void interleave(Numbers<Width>& low, Numbers<Width>& high, const Numbers<Width>& a, const Numbers<Width>& b,
                         std::index_sequence<Element...>) {
  low = __builtin_shufflevector(a, b, (Element / 2 + Element % 2 * Width)...);
  high = __builtin_shufflevector(a, b, (Width / 2 + Element / 2 + Element % 2 * Width)...);
}

/// Rows become columns: in each round every row is interleaved with the one half of all further on.
template <unsigned Width>
TOGETHER void transpose(Numbers<Width>* rows) {
  Numbers<Width> next[Width];
#pragma unroll
  for (unsigned round = 1; round < Width; round *= 2) {
#pragma unroll
    for (unsigned r = 0; r < Width / 2; ++r)
      interleave<Width>(next[2 * r], next[2 * r + 1], rows[r], rows[r + Width / 2], std::make_index_sequence<Width>());
#pragma unroll
    for (unsigned r = 0; r < Width; ++r) rows[r] = next[r];
  }
}

/// Distinct sectors of `Width` rows from `first` on. Lanes that are off come last.
template <unsigned Width>
TOGETHER void countSome(uint32_t* counts, const SectorRows& rows, unsigned first) {
  Numbers<Width> lanes[kLanes];
#pragma unroll
  for (unsigned l = 0; l < kLanes; l += Width) {
#pragma unroll
    for (unsigned r = 0; r < Width; ++r) std::memcpy(&lanes[l + r], &rows.sectors[first + r][l], sizeof lanes[0]);
    transpose<Width>(lanes + l);
  }
  Numbers<Width> found;
  countDifferent<Width, kLanes>(found, lanes);
  std::memcpy(counts, &found, sizeof found);
}

template <unsigned Width>
TOGETHER void countAll(uint32_t* counts, const SectorRows& rows) {
  for (unsigned r = 0; r < rows.count; r += Width) countSome<Width>(counts + r, rows, r);
}

// ---- for the host's widest vectors
using Count = void(uint32_t* counts, const SectorRows& rows);

__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl"), min_vector_width(512))) void countWide(
    uint32_t* counts, const SectorRows& rows) {
  countAll<16>(counts, rows);
}
__attribute__((target("avx2"))) void countAvx2(uint32_t* counts, const SectorRows& rows) { countAll<8>(counts, rows); }
void countSse2(uint32_t* counts, const SectorRows& rows) { countAll<4>(counts, rows); }

// ---- for hosts that compare sixteen numbers with sixteen others in one instruction
#define INTERSECTING __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx512vp2intersect,popcnt")))

/// Lanes that are on and whose sector none before them has. `vpconflictd` tells which lanes before have the same.
INTERSECTING TOGETHER __mmask16 firstOfSector(__m512i sectors) {
  const __mmask16 isOn = _mm512_cmpneq_epi32_mask(sectors, _mm512_set1_epi32(static_cast<int>(SectorRows::kOff)));
  return _mm512_mask_cmpeq_epi32_mask(isOn, _mm512_conflict_epi32(sectors), _mm512_setzero_si512());
}

INTERSECTING void countIntersecting(uint32_t* counts, const SectorRows& rows) {
  for (unsigned r = 0; r < rows.count; ++r) {
    const __m512i low = _mm512_load_si512(&rows.sectors[r][0]), high = _mm512_load_si512(&rows.sectors[r][kLanes / 2]);
    __mmask16 lowInHigh = 0, highInLow = 0;
    _mm512_2intersect_epi32(low, high, &lowInHigh, &highInLow);
    const auto found = static_cast<uint32_t>(firstOfSector(high) & ~highInLow) << 16 | firstOfSector(low);
    counts[r] = static_cast<uint32_t>(std::popcount(found));
  }
}

Count* best() {
  if (__builtin_cpu_supports("avx512vp2intersect") && __builtin_cpu_supports("avx512bw")) return countIntersecting;
  if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    return countWide;
  return __builtin_cpu_supports("avx2") ? countAvx2 : countSse2;
}

}  // namespace

void countRows(SectorRows* rows, uint64_t* words) {
  static Count* const count = best();
  uint32_t counts[SectorRows::kRows];
  count(counts, *rows);
  for (uint32_t r = 0; r < rows->count; ++r) words[rows->word[r]] += counts[r];
  rows->count = 0;
}

uint64_t sectorsElsewhere(SectorRows* rows, const int64_t* addresses, uint32_t lanes, uint32_t bytes) {
  if (!lanes) return 0;
  const auto place = static_cast<uint64_t>(addresses[std::countr_zero(lanes)]);
  rows->begin = (place < SectorRows::kWindow / 2 ? 0 : place - SectorRows::kWindow / 2) & ~uint64_t{31};
  return countSectors(addresses, lanes, bytes);
}

}  // namespace ordito::rt
