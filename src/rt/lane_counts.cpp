// See lane_counts.hpp.
#include "rt/lane_counts.hpp"

#include <array>
#include <bit>
#include <cstring>
#include <utility>

namespace ordito::rt {

namespace {

constexpr unsigned kLanes = 32;
using Longs = uint64_t __attribute__((ext_vector_type(kLanes)));
using Words = uint32_t __attribute__((ext_vector_type(kLanes)));
using Shorts = uint16_t __attribute__((ext_vector_type(kLanes)));
using Bytes = uint8_t __attribute__((ext_vector_type(kLanes)));

#define TOGETHER __attribute__((always_inline)) static inline

template <class Vector>
TOGETHER void read(Vector& to, const void* from) {
  std::memcpy(&to, from, sizeof to);
}

alignas(64) constexpr auto kPlaces = [] {
  std::array<uint64_t, kLanes> places{};
  for (unsigned l = 0; l < kLanes; ++l) places[l] = l;
  return places;
}();

/// All ones in the active lanes.
TOGETHER void spread(Longs& on, uint32_t lanes) {
  using Bits = bool __attribute__((ext_vector_type(kLanes)));
  on = 0 - __builtin_convertvector(__builtin_bit_cast(Bits, lanes), Longs);
}

/// 16 bits for each of `numbers`, which are 0 in lanes that are off and mostly close to 0 elsewhere. Different numbers
/// within 2^14 of 0 stay different: then it returns true. Others may get the same by chance. A lane that is off gets a
/// number that no other lane has.
TOGETHER bool shorten(Shorts& to, const Longs& numbers, const Longs& on) {
  constexpr uint64_t kNear = 1 << 14, kShort = 2 * kNear - 1;
  Longs off;
  read(off, kPlaces.data());
  const Longs shortened = (numbers ^ numbers >> 15 ^ numbers >> 30) & kShort;
  to = __builtin_convertvector((shortened & on) | ((off + 2 * kNear) & ~on), Shorts);
  return __builtin_reduce_or(numbers + kNear) <= kShort;
}

/// Each lane's number for the lane that comes `Distance` later, and that for the first lanes from the last.
template <unsigned Distance, size_t... Lane>
TOGETHER void rotate(Shorts& to, const Shorts& from, std::index_sequence<Lane...>) {
  to = __builtin_shufflevector(from, from, (Lane + kLanes - Distance) % kLanes...);
}

/// All ones in the lanes whose number the lane has that comes one of `Distance + 1` earlier, or of the first lanes one
/// of the last.
template <size_t... Distance>
TOGETHER void findSame(Shorts& same, const Shorts& numbers, std::index_sequence<Distance...>) {
  same = 0;
  const auto compare = [&]<unsigned D>(std::integral_constant<unsigned, D>) __attribute__((always_inline)) {
    Shorts others;
    rotate<D>(others, numbers, std::make_index_sequence<kLanes>());
    same |= __builtin_convertvector(numbers == others, Shorts);
  };
  (compare(std::integral_constant<unsigned, Distance + 1>()), ...);
}

/// Have two lanes the same number? Each pair of lanes is at most 16 apart, one way round.
TOGETHER bool repeats(const Shorts& numbers) {
  Shorts same;
  findSame(same, numbers, std::make_index_sequence<kLanes / 2>());
  return __builtin_reduce_or(same) != 0;
}

/// All ones in the lanes whose number a lane before has.
TOGETHER void findRepeated(Shorts& repeated, const Shorts& numbers) {
  alignas(64) uint16_t line[2 * kLanes];
  std::memset(line, 0xFF, sizeof line / 2);  // a number that no lane has
  std::memcpy(line + kLanes, &numbers, sizeof numbers);
  repeated = 0;
  for (unsigned distance = 1; distance < kLanes; ++distance) {
    Shorts others;
    read(others, line + kLanes - distance);
    repeated |= __builtin_convertvector(numbers == others, Shorts);
  }
}

template <size_t... Lane>
TOGETHER void halve(auto& low, auto& high, const auto& from, std::index_sequence<Lane...>) {
  low = __builtin_shufflevector(from, from, Lane...);
  high = __builtin_shufflevector(from, from, (Lane + sizeof...(Lane))...);
}

TOGETHER bool isAny(const auto& which) { return __builtin_reduce_or(which) != 0; }

using Half = uint32_t __attribute__((ext_vector_type(kLanes / 2)));

/// The lanes `Distance` before each of `from`, whose first ones come out of `before`.
template <unsigned Distance, size_t... Lane>
TOGETHER void earlier(Half& to, const Half& before, const Half& from, std::index_sequence<Lane...>) {
  to = __builtin_shufflevector(before, from, (Lane + kLanes / 2 - Distance)...);
}

/// How many of the numbers are different; none of them is the largest one.
TOGETHER uint32_t countDistinct(const Half& low, const Half& high) {
  constexpr auto kAll = std::make_index_sequence<kLanes / 2>();
  using IsNew = decltype(low != high);
  constexpr size_t kChains = 4;  // of comparisons that wait for each other
  IsNew newLow[kChains], newHigh[kChains];
  for (size_t k = 0; k < kChains; ++k) newLow[k] = newHigh[k] = ~IsNew(0);
  newHigh[0] = high != low;
  const Half none = ~0u;
  const auto compare = [&]<size_t D>(std::integral_constant<size_t, D>) __attribute__((always_inline)) {
    Half beforeLow, beforeHigh;
    earlier<D>(beforeLow, none, low, kAll), earlier<D>(beforeHigh, low, high, kAll);
    newLow[D % kChains] &= low != beforeLow;
    newHigh[D % kChains] &= high != beforeHigh;
    newHigh[D % kChains] &= high != beforeLow;  // 16 + D before
  };
  [&]<size_t... D>(std::index_sequence<D...>) __attribute__((always_inline)) {
    (compare(std::integral_constant<size_t, D + 1>()), ...);
  }(std::make_index_sequence<kLanes / 2 - 1>());
  const IsNew isLow = newLow[0] & newLow[1] & newLow[2] & newLow[3];
  const IsNew isHigh = newHigh[0] & newHigh[1] & newHigh[2] & newHigh[3];
  const auto count = [](const IsNew& isNew) __attribute__((always_inline)) {
    using Bits = bool __attribute__((ext_vector_type(kLanes / 2)));
    return std::popcount(__builtin_bit_cast(uint16_t, __builtin_convertvector(isNew, Bits)));
  };
  return static_cast<uint32_t>(count(isLow) + count(isHigh));
}

/// Lanes that are off go with the first that is on. Sectors that lie close together are bits of a word.
TOGETHER uint32_t countSectors(const int64_t* addresses, uint32_t lanes, uint32_t bytes) {
  Longs at, on;
  read(at, addresses);
  spread(on, lanes);
  if (isAny(((at & 31) + bytes - 1 & on) > 31)) return 0;  // a lane touches two
  const auto first = static_cast<uint64_t>(addresses[std::countr_zero(lanes)]) >> 5;
  const Longs sectors = ((at >> 5) - first) & on, close = sectors + 32;
  if (!isAny(close > 63)) return static_cast<uint32_t>(std::popcount(__builtin_reduce_or(Longs(1) << close)));
  const Longs moved = sectors + (uint64_t{1} << 30);
  if (isAny(moved >> 31 != 0)) return 0;
  Half low, high;
  halve(low, high, __builtin_convertvector(moved, Words), std::make_index_sequence<kLanes / 2>());
  return countDistinct(low, high);
}

/// By bank, the bytes to add for a lane that goes there: a one at the bank's place. The last row is for no bank.
constexpr auto kOneHot = [] {
  std::array<std::array<uint8_t, kLanes>, kLanes + 1> rows{};
  for (unsigned bank = 0; bank < kLanes; ++bank) rows[bank][bank] = 1;
  return rows;
}();

/// The most lanes of `counted` in one bank.
TOGETHER uint32_t mostInBank(const Longs& word, const Shorts& counted) {
  const Shorts bank = __builtin_convertvector(word & 31, Shorts);
  const Shorts row = (bank & counted) | (Shorts(kLanes) & ~counted);
  alignas(64) uint8_t rows[kLanes];
  const Bytes narrow = __builtin_convertvector(row, Bytes);
  std::memcpy(rows, &narrow, sizeof rows);
  Bytes counts = 0;
  for (unsigned l = 0; l < kLanes; ++l) {
    Bytes one;
    read(one, kOneHot[rows[l]].data());
    counts += one;
  }
  return __builtin_reduce_max(counts);
}

/// Banks to which more than `Least` of the lanes go, a bit for each: 0, 1 and 2.
struct BankSets {
  uint32_t some, two, three;
};

/// Sets of two halves of the lanes make those of all.
template <unsigned Width>
TOGETHER void joinBanks(BankSets& sets, const auto& some, const auto& two, const auto& three) {
  if constexpr (Width == 1) {
    sets = {some[0], two[0], three[0]};
  } else {
    using Half = uint32_t __attribute__((ext_vector_type(Width / 2)));
    Half some0, some1, two0, two1, three0, three1;
    halve(some0, some1, some, std::make_index_sequence<Width / 2>());
    halve(two0, two1, two, std::make_index_sequence<Width / 2>());
    halve(three0, three1, three, std::make_index_sequence<Width / 2>());
    const Half three2 = three0 | three1 | (two0 & some1) | (some0 & two1), two2 = two0 | two1 | (some0 & some1);
    joinBanks<Width / 2>(sets, Half(some0 | some1), two2, three2);
  }
}

/// Of lanes whose words are distinct: few lanes in a bank are seen from the sets.
TOGETHER uint32_t mostOfDistinct(const Longs& word, const Longs& on) {
  const Words bit = __builtin_convertvector((Longs(1) << (word & 31)) & on, Words);
  BankSets sets;
  joinBanks<kLanes>(sets, bit, Words(0), Words(0));
  if (sets.three) return mostInBank(word, __builtin_convertvector(on, Shorts));
  return sets.two ? 2 : 1;
}

/// 0 where it cannot be told; `isDistinct`: no two lanes of `on` have the same word.
TOGETHER uint32_t countWordsOfBank(const Longs& word, const Longs& on, uint64_t first, uint32_t& isDistinct) {
  Shorts words, repeated = 0;
  if (!shorten(words, (word - first) & on, on)) return 0;
  isDistinct = !repeats(words);
  if (isDistinct) return mostOfDistinct(word, on);
  findRepeated(repeated, words);
  return mostInBank(word, __builtin_convertvector(on, Shorts) & ~repeated);
}

/// With all lanes on, of `last`, which has just been filled.
TOGETHER void tellHalves(const Longs& word, SharedPattern& last) {
  last.isTold = last.words == 1, last.halves = 0;
  if (last.words != 2 || !last.isDistinct) return;
  uint32_t banks = 0;
  for (unsigned l = 0; l < kLanes; ++l) banks |= 1u << (word[l] & 31);
  for (unsigned l = 0; l < kLanes / 2; ++l) last.halves |= uint32_t{(word[l] & 31) == (word[l + kLanes / 2] & 31)} << l;
  last.isTold = std::popcount(last.halves) == static_cast<int>(kLanes) - std::popcount(banks);
}

/// Does the instruction come back with the pattern of last time? Else it is kept.
TOGETHER bool comesBack(const Longs& at, SharedPattern& last) {
  const Words places = __builtin_convertvector(at - (at[0] & ~uint64_t{3}), Words);
  Words before;
  read(before, last.places);
  if (__builtin_reduce_or(places ^ before) == 0) return true;
  std::memcpy(last.places, &places, sizeof places);
  last.words = last.isTold = 0;
  return false;
}

TOGETHER uint32_t countWords(const int64_t* addresses, uint32_t lanes, uint32_t bytes, SharedPattern& last) {
  Longs at, on;
  read(at, addresses);
  const bool isSame = comesBack(at, last);
  if (isSame && last.words && (lanes == ~0u || last.words == 1)) return last.words;
  spread(on, lanes);
  if (__builtin_reduce_or(((at & 3) + bytes - 1 & on) >> 2)) return 0;  // a lane touches two
  const Longs word = at >> 2;
  if (isSame && last.words && last.isDistinct) return mostOfDistinct(word, on);
  const auto first = static_cast<uint64_t>(addresses[std::countr_zero(lanes)]) >> 2;
  uint32_t isDistinct = 0;
  if (lanes == ~0u) {
    last.words = countWordsOfBank(word, on, first, last.isDistinct);
    tellHalves(word, last);
    return last.words;
  }
  // Worth to know of all lanes, if they are in order: the next one may be told by it.
  if (isSame && !last.words && !__builtin_reduce_or(((at & 3) + bytes - 1) >> 2)) {
    last.words = countWordsOfBank(word, Longs(~uint64_t{0}), first, last.isDistinct);
    tellHalves(word, last);
  }
  return countWordsOfBank(word, on, first, isDistinct);
}

// ---- for the host's widest vectors
#define WIDE __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#define AVX2 __attribute__((target("avx2")))

WIDE uint32_t sectorsWide(const int64_t* a, uint32_t lanes, uint32_t bytes) { return countSectors(a, lanes, bytes); }
AVX2 uint32_t sectorsAvx2(const int64_t* a, uint32_t lanes, uint32_t bytes) { return countSectors(a, lanes, bytes); }
WIDE uint32_t wordsWide(const int64_t* a, uint32_t lanes, uint32_t bytes, SharedPattern& last) {
  return countWords(a, lanes, bytes, last);
}
AVX2 uint32_t wordsAvx2(const int64_t* a, uint32_t lanes, uint32_t bytes, SharedPattern& last) {
  return countWords(a, lanes, bytes, last);
}
uint32_t sectorsNeverTold(const int64_t*, uint32_t, uint32_t) { return 0; }
uint32_t wordsNeverTold(const int64_t*, uint32_t, uint32_t, SharedPattern&) { return 0; }

template <class Count>
Count* best(Count* wide, Count* avx2, Count* neverTold) {
  if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    return wide;
  return __builtin_cpu_supports("avx2") ? avx2 : neverTold;
}

}  // namespace

uint32_t sectorsTogether(const int64_t* addresses, uint32_t lanes, uint32_t bytes) {
  static auto* const count = best(sectorsWide, sectorsAvx2, sectorsNeverTold);
  return count(addresses, lanes, bytes);
}

uint32_t wordsOfBank(const int64_t* addresses, uint32_t lanes, uint32_t bytes, SharedPattern& last) {
  static auto* const count = best(wordsWide, wordsAvx2, wordsNeverTold);
  return count(addresses, lanes, bytes, last);
}

}  // namespace ordito::rt
