// See iteration_counts.hpp.
#include "rt/iteration_counts.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <set>
#include <vector>

#include "rt/sorting_network.hpp"

namespace ordito::rt {

namespace {

using Block = CountedLoop::Block;
using Access = CountedLoop::Access;
using Kind = CountedLoop::Kind;

constexpr unsigned kLanes = IterationLog::kLanes, kIterations = IterationLog::kIterations, kSector = 32;
constexpr unsigned kTogether = 4;  // iterations of two lists whose sectors are sorted at once
constexpr uint32_t kFar = kNoNumber - 1;

#define INLINED __attribute__((always_inline)) inline

TOGETHER uint64_t countOf(uint64_t bits) { return static_cast<uint64_t>(std::popcount(bits)); }

// ---- sectors outside of the window
struct FarAccess {
  uint32_t list, lane, iteration;
  uint64_t sector;
};

/// A block may be left by a fault: the log says how many there are.
thread_local std::vector<FarAccess> farAccesses;

// ---- walks
/// In which iterations two lanes are in one sector, of which the later one is at `place` in its sector at first,
/// `apart` bytes behind the other, and `step` further each time.
constexpr uint64_t sharedIterations(uint32_t step, uint32_t place, uint32_t apart) {
  uint64_t bits = 0;
  for (unsigned k = 0; k < kIterations; ++k)
    if ((place + step * k) % kSector >= apart) bits |= uint64_t{1} << k;
  return bits;
}

/// Of words, by step, place and distance.
constexpr unsigned kWords = kSector / 4;
constexpr auto kSharedIterations = [] {
  std::array<std::array<std::array<uint64_t, kWords>, kWords>, kWords> table{};
  for (uint32_t step = 0; step < kWords; ++step)
    for (uint32_t place = 0; place < kWords; ++place)
      for (uint32_t apart = 0; apart < kWords; ++apart)
        table[step][place][apart] = sharedIterations(4 * step, 4 * place, 4 * apart);
  return table;
}();

TOGETHER uint64_t lookUpShared(uint32_t step, uint32_t place, uint32_t apart) {
  if ((step | place | apart) % 4) return sharedIterations(step, place, apart);
  return kSharedIterations[step / 4][place / 4][apart / 4];
}

// ---- sectors that lie anywhere
/// Lanes that have touched something in four iterations: where these are in a list, and a bit for each that counts.
struct Columns {
  unsigned used = 0;
  std::array<uint32_t, kLanes> at;
  std::array<uint32_t, kLanes> bits;
};

/// Different sectors of both.
struct Counted {
  uint32_t sectors, others;
};

template <unsigned Count>
TOGETHER Counted countSorted(const uint32_t* list, const uint32_t* other, const Columns& columns) {
  constexpr Numbers<kTogether> kBits = {1, 2, 4, 8};
  constexpr unsigned kBoth = 2 * kTogether;
  Numbers<kBoth> numbers[Count], found;
#pragma unroll
  for (unsigned n = 0; n < Count; ++n) {
    const bool isUsed = n < columns.used;
    const size_t at = columns.at[isUsed ? n : 0];
    Numbers<kTogether> sectors, others, bits = isUsed ? columns.bits[n] : 0;
    std::memcpy(&sectors, list + at, sizeof sectors);
    std::memcpy(&others, other + at, sizeof others);
    const auto isOff = __builtin_convertvector((bits & kBits) == 0, Numbers<kTogether>);
    numbers[n] = __builtin_shufflevector(sectors | isOff, others | isOff, 0, 1, 2, 3, 4, 5, 6, 7);
  }
  countDifferent<kBoth, Count>(found, numbers);
  return {__builtin_reduce_add(__builtin_shufflevector(found, found, 0, 1, 2, 3)),
          __builtin_reduce_add(__builtin_shufflevector(found, found, 4, 5, 6, 7))};
}

TOGETHER Counted countSome(const uint32_t* list, const uint32_t* other, const Columns& columns) {
  if (columns.used <= 2) return countSorted<2>(list, other, columns);
  if (columns.used <= 4) return countSorted<4>(list, other, columns);
  if (columns.used <= 8) return countSorted<8>(list, other, columns);
  if (columns.used <= 12) return countSorted<12>(list, other, columns);
  if (columns.used <= 16) return countSorted<16>(list, other, columns);
  if (columns.used <= 20) return countSorted<20>(list, other, columns);
  if (columns.used <= 24) return countSorted<24>(list, other, columns);
  if (columns.used <= 28) return countSorted<28>(list, other, columns);
  return countSorted<32>(list, other, columns);
}

using CountColumns = Counted(const uint32_t* list, const uint32_t* other, const Columns& columns);

// ---- all of a loop
/// Accesses anywhere of a block.
struct Lists {
  uint32_t count = 0;
  std::array<const Access*, CountedLoop::kMostAccesses> of;
  bool empty() const { return count == 0; }
  void add(const Access* access) { of[count++] = access; }
};

/// Its functions are inlined into one for each kind of processor.
template <CountColumns* countColumns>
class Counting {
 public:
  INLINED Counting(const CountedLoop* loop, std::byte* log, uint64_t* words, uint32_t lanes, uint32_t unfinished)
      : loop_(*loop),
        blocks_(reinterpret_cast<const Block*>(loop + 1)),
        guards_(reinterpret_cast<const CountedLoop::Guard*>(blocks_ + loop->blocks)),
        accesses_(reinterpret_cast<const Access*>(guards_ + loop->guards)),
        layout_{loop->rows, loop->lists},
        log_(log),
        words_(words),
        lanes_(lanes),
        unfinished_(unfinished) {
    in_[0] = row(kBegunRow);
    for (uint32_t b = 1; b < loop->blocks; ++b) in_[b] = followed_[b].data();
  }

  INLINED void count() {
    followBlocks();
    for (uint32_t g = 0; g < loop_.guards; ++g) countGuard(guards_[g]);
    countAccesses();
    forgetFarAccesses();
  }

 private:
  INLINED const uint64_t* row(uint32_t k) const {
    return reinterpret_cast<const uint64_t*>(log_ + IterationLog::row(k));
  }

  /// From the header on, where each lane has been in which iterations.
  INLINED void followBlocks() {
    for (uint32_t b = 1; b < loop_.blocks; ++b) std::fill_n(followed_[b].begin(), lanes_, 0);
    for (uint32_t b = 0; b < loop_.blocks; ++b) {
      const Block& block = blocks_[b];
      const uint64_t* in = in_[b];
      uint64_t any = 0, lanes = 0;
      for (unsigned l = 0; l < lanes_; ++l) any |= in[l], lanes += countOf(in[l]);
      anyIn_[b] = any;
      words_[block.warps] += countOf(any);
      words_[block.lanes] += lanes;
      if (block.decision == Block::kJumps)
        follow(block.targets[0], [&](unsigned l) { return in[l]; });
      else if (block.decision == Block::kLeavesIfTaken || block.decision == Block::kLeavesElse)
        leave(block, in, lanes);
      else
        part(block, in);
    }
  }

  /// Lanes come to `target` in the iterations that `from` gives.
  INLINED void follow(uint32_t target, const auto& from) {
    if (target == CountedLoop::kNone) return;
    for (unsigned l = 0; l < lanes_; ++l) followed_[target][l] |= from(l);
  }

  /// Of two sides one is the way out of the loop: a lane that is finished has taken it in its last iteration.
  INLINED void leave(const Block& block, const uint64_t* in, uint64_t lanes) {
    const uint64_t* begun = in_[0];
    uint64_t anyLeft = 0, anyStayed = 0, left = 0;
    for (unsigned l = 0; l < lanes_; ++l) {
      const uint64_t last = in[l] & (unfinished_ >> l & 1 ? 0 : begun[l] ^ begun[l] >> 1);
      anyLeft |= last, anyStayed |= in[l] & ~last, left += last != 0;
    }
    const bool leavesIfTaken = block.decision == Block::kLeavesIfTaken;
    follow(block.targets[leavesIfTaken],
           [&](unsigned l) { return in[l] & (unfinished_ >> l & 1 ? ~uint64_t{0} : ~(begun[l] ^ begun[l] >> 1)); });
    countBranch(block, leavesIfTaken ? left : lanes - left, anyLeft & anyStayed);
  }

  INLINED void part(const Block& block, const uint64_t* in) {
    const uint64_t* logged = row(block.decision);
    uint64_t anyTaken = 0, anyOther = 0, lanes = 0;
    for (unsigned l = 0; l < lanes_; ++l) {
      const uint64_t taken = in[l] & logged[l];
      anyTaken |= taken, anyOther |= in[l] & ~taken, lanes += countOf(taken);
    }
    follow(block.targets[0], [&](unsigned l) { return in[l] & logged[l]; });
    follow(block.targets[1], [&](unsigned l) { return in[l] & ~logged[l]; });
    countBranch(block, lanes, anyTaken & anyOther);
  }

  INLINED void countBranch(const Block& block, uint64_t taken, uint64_t parted) {
    if (block.taken != CountedLoop::kNone) words_[block.taken] += taken;
    if (block.parted != CountedLoop::kNone) words_[block.parted] += countOf(parted);
  }

  INLINED void countGuard(const CountedLoop::Guard& guard) {
    const uint64_t *in = in_[guard.block], *holds = row(guard.row);
    for (unsigned l = 0; l < lanes_; ++l) words_[guard.word] += countOf(in[l] & holds[l]);
  }

  INLINED void countAccesses() {
    for (uint32_t a = 0; a < loop_.accesses; ++a) {
      const Access& access = accesses_[a];
      if (access.kind == Kind::Same) words_[access.word] += countOf(anyIn_[access.block]);
      if (access.kind == Kind::Walk) words_[access.word] += sectorsOfWalk(access);
      if (access.kind == Kind::Anywhere) lists_[access.block].add(&access);
    }
    for (uint32_t b = 0; b < loop_.blocks; ++b)
      if (!lists_[b].empty()) countLists(lists_[b], in_[b]);
  }

  /// A lane counts in the iterations in which it is in the sector of none before it.
  INLINED uint64_t sectorsOfWalk(const Access& access) {
    if (walk_.block != access.block || walk_.row != access.place || walk_.step != access.step) findWalk(access);
    uint64_t& sectors = walk_.sectors[static_cast<uint32_t>(access.offset) % kSector];
    if (sectors) return sectors;
    sectors = walk_.lanes;
    for (unsigned n = 0; n < walk_.pairs; ++n) {
      uint64_t shared = 0;
      const ClosePair* pair = &walk_.close[n];
      for (;; pair = &walk_.close[++n]) {
        const auto place = (pair->place + static_cast<uint32_t>(access.offset)) % kSector;
        shared |= pair->inBefore & lookUpShared(static_cast<uint32_t>(access.step) % kSector, place, pair->apart);
        if (n + 1 == walk_.pairs || walk_.close[n + 1].lane != pair->lane) break;
      }
      sectors -= countOf(pair->in & shared);
    }
    return sectors;
  }

  /// Two arrays are mostly read alike, whole sectors apart.
  INLINED void findWalk(const Access& access) {
    std::array<uint64_t, kLanes> addresses;  // in the first iteration
    const uint64_t *in = in_[access.block], *last = row(access.place);
    for (unsigned l = 0; l < lanes_; ++l)
      addresses[l] =
          last[l] - static_cast<uint64_t>(int64_t{access.step}) * static_cast<uint64_t>(std::bit_width(in[l]) - 1);
    uint64_t differs = walk_.block != access.block || walk_.step != access.step || !in[0];
    const uint64_t apart = addresses[0] - walk_.addresses[0];
    for (unsigned l = 0; l < lanes_; ++l) differs |= in[l] ? (addresses[l] - walk_.addresses[l]) ^ apart : 0;
    walk_.row = access.place;
    if (!(differs | apart % kSector)) return;
    walk_.block = access.block, walk_.step = access.step, walk_.addresses = addresses;
    walk_.sectors.fill(0);
    findClosePairs(in);
  }

  /// Addresses keep their distances, so lanes that are a sector and more apart are never in one.
  INLINED void findClosePairs(const uint64_t* in) {
    std::array<uint8_t, kLanes> order;
    const auto& addresses = walk_.addresses;
    unsigned used = 0;
    walk_.lanes = walk_.pairs = 0;
    for (unsigned l = 0; l < lanes_; ++l) {
      order[used] = static_cast<uint8_t>(l);
      used += in[l] != 0;
      walk_.lanes += countOf(in[l]);
    }
    uint32_t close = 0;  // to the one before them
    bool isSorted = true;
    for (unsigned k = 1; k < used; ++k) {
      const uint64_t before = addresses[order[k - 1]], at = addresses[order[k]];
      isSorted &= before <= at;
      close |= uint32_t{at - before < kSector} << k;
    }
    if (!isSorted) {
      std::sort(order.begin(), order.begin() + used,
                [&](unsigned a, unsigned b) { return addresses[a] < addresses[b]; });
      close = ~1u & static_cast<uint32_t>((uint64_t{1} << used) - 1);
    }
    for (; close; close &= close - 1) {
      const auto k = static_cast<unsigned>(std::countr_zero(close));
      for (unsigned before = k; before-- > 0;) {
        const uint64_t at = addresses[order[k]], apart = at - addresses[order[before]];
        if (apart >= kSector) break;
        walk_.close[walk_.pairs++] = {k, static_cast<uint32_t>(at % kSector), static_cast<uint32_t>(apart),
                                      in[order[k]], in[order[before]]};
      }
    }
  }

  const uint32_t* listOf(const Access& access) const {
    return reinterpret_cast<const uint32_t*>(log_ + layout_.list(access.place));
  }

  /// Those of one block, two by two.
  INLINED void countLists(const Lists& lists, const uint64_t* in) {
    std::array<uint8_t, kLanes> lanes;  // that have iterations left
    unsigned left = 0;
    for (unsigned l = 0; l < lanes_; ++l) lanes[left] = static_cast<uint8_t>(l), left += in[l] != 0;
    for (unsigned first = 0; left; first += kTogether) {
      Columns columns;
      unsigned more = 0;
      for (unsigned k = 0; k < left; ++k) {
        const uint64_t from = in[lanes[k]] >> first;
        columns.at[columns.used] = lanes[k] * IterationLog::kListStride + first;
        columns.bits[columns.used] = static_cast<uint32_t>(from) & ((1u << kTogether) - 1);
        columns.used += columns.bits[columns.used] != 0;
        lanes[more] = lanes[k];
        more += from >> kTogether != 0;
      }
      left = more;
      if (columns.used) countColumnsOf(lists, columns);
    }
    for (uint32_t l = 0; l < lists.count; ++l) words_[lists.of[l]->word] += sectorsBeyond(*lists.of[l]);
  }

  INLINED void countColumnsOf(const Lists& lists, const Columns& columns) {
    for (uint32_t l = 0; l < lists.count; l += 2) {
      const Access& one = *lists.of[l];
      const Access& other = *lists.of[std::min(l + 1, lists.count - 1)];
      Counted counted{static_cast<uint32_t>(countOf(columns.bits[0])), static_cast<uint32_t>(countOf(columns.bits[0]))};
      if (columns.used > 1) counted = countColumns(listOf(one), listOf(other), columns);
      words_[one.word] += counted.sectors;
      if (&one != &other) words_[other.word] += counted.others;
    }
  }

  /// Where many lie outside of their window, it moves to what is accessed next.
  void forgetFarAccesses() {
    auto& count = *reinterpret_cast<uint64_t*>(log_ + layout_.far());
    if (count > kLanes) std::memset(log_ + layout_.window(0), 0, layout_.lists * sizeof(uint64_t));
    count = 0;
  }

  /// All sectors outside of the window have counted as one.
  uint64_t sectorsBeyond(const Access& access) const {
    const uint64_t count = *reinterpret_cast<const uint64_t*>(log_ + layout_.far());
    if (count == 0) return 0;
    std::array<std::set<uint64_t>, kIterations> sectors;
    for (uint64_t a = 0; a < count; ++a) {
      const FarAccess& far = farAccesses[a];
      if (far.list == access.place && in_[access.block][far.lane] >> far.iteration & 1)
        sectors[far.iteration].insert(far.sector);
    }
    uint64_t more = 0;
    for (const auto& there : sectors) more += there.empty() ? 0 : there.size() - 1;
    return more;
  }

  /// Two lanes that are less than a sector apart, of which `lane` is the later.
  struct ClosePair {
    uint32_t lane, place, apart;  // `place` is in the sector
    uint64_t in, inBefore;        // iterations of the later and of the other
  };
  /// What accesses have in common that walk alike.
  struct Walk {
    uint32_t block = CountedLoop::kNone, row = CountedLoop::kNone;
    int32_t step = 0;
    std::array<uint64_t, kLanes> addresses{};
    uint64_t lanes = 0;
    unsigned pairs = 0;
    std::array<ClosePair, kLanes*(kLanes - 1) / 2> close;
    std::array<uint64_t, kSector> sectors{};  // by the offset in a sector; 0: not known yet
  };

  const CountedLoop& loop_;
  const Block* blocks_;
  const CountedLoop::Guard* guards_;
  const Access* accesses_;
  const IterationLog layout_;
  std::byte* log_;
  uint64_t* words_;
  const uint32_t lanes_, unfinished_;
  std::array<const uint64_t*, CountedLoop::kMostBlocks> in_;  // by block: iterations of the lanes
  std::array<std::array<uint64_t, kLanes>, CountedLoop::kMostBlocks> followed_;
  std::array<uint64_t, CountedLoop::kMostBlocks> anyIn_;
  Walk walk_;
  std::array<Lists, CountedLoop::kMostBlocks> lists_;
};

// ---- for the host
#define LOOP const CountedLoop *loop, std::byte *log, uint64_t *words, uint32_t lanes, uint32_t unfinished
#define AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,popcnt"), min_vector_width(256)))
#define AVX2 __attribute__((target("avx2,popcnt")))

AVX512 Counted columnsAvx512(const uint32_t* list, const uint32_t* other, const Columns& columns) {
  return countSome(list, other, columns);
}
AVX2 Counted columnsAvx2(const uint32_t* list, const uint32_t* other, const Columns& columns) {
  return countSome(list, other, columns);
}
Counted columnsSse2(const uint32_t* list, const uint32_t* other, const Columns& columns) {
  return countSome(list, other, columns);
}

AVX512 void countAvx512(LOOP) { Counting<columnsAvx512>(loop, log, words, lanes, unfinished).count(); }
AVX2 void countAvx2(LOOP) { Counting<columnsAvx2>(loop, log, words, lanes, unfinished).count(); }
void countSse2(LOOP) { Counting<columnsSse2>(loop, log, words, lanes, unfinished).count(); }

auto* best() {
  if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    return countAvx512;
  return __builtin_cpu_supports("avx2") ? countAvx2 : countSse2;
}

}  // namespace

void countIterations(const CountedLoop* loop, std::byte* log, uint64_t* words, uint32_t lanes, uint32_t unfinished) {
  static auto* const count = best();
  count(loop, log, words, lanes, unfinished);
}

uint32_t sectorElsewhere(const CountedLoop* loop, std::byte* log, uint32_t list, uint32_t lane, uint32_t iteration,
                         uint64_t address) {
  const IterationLog layout{loop->rows, loop->lists};
  auto& window = *reinterpret_cast<uint64_t*>(log + layout.window(list));
  auto& count = *reinterpret_cast<uint64_t*>(log + layout.far());
  constexpr uint64_t kBytes = uint64_t{kSectorsInWindow} * kSector;
  if (window == 0) {
    window = address < kBytes / 2 + kSector ? kSector : (address - kBytes / 2) / kSector * kSector;
    if (address >= window) return static_cast<uint32_t>((address - window) / kSector);
  }
  farAccesses.resize(count);
  farAccesses.push_back({list, lane, iteration, address / kSector});
  ++count;
  return kFar;
}

}  // namespace ordito::rt
