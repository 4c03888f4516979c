// See iteration_counts.hpp.
#include "rt/iteration_counts.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <set>
#include <vector>

#include "rt/sector_columns.hpp"

namespace ordito::rt {

namespace {

using Block = CountedLoop::Block;
using Access = CountedLoop::Access;
using Kind = CountedLoop::Kind;

constexpr unsigned kLanes = IterationLog::kLanes, kIterations = IterationLog::kIterations;
constexpr auto kSector = static_cast<unsigned>(kSectorBytes);
constexpr uint32_t kFar = kNoNumber - 1;

TOGETHER uint64_t countOf(uint64_t bits) { return static_cast<uint64_t>(std::popcount(bits)); }
/// A bit for each number below `count`, which is 64 at most.
TOGETHER uint64_t bitsBelow(unsigned count) { return count < 64 ? (uint64_t{1} << count) - 1 : ~uint64_t{0}; }

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

// ---- all of a loop
/// Accesses anywhere of a block.
struct Lists {
  uint32_t count = 0;
  std::array<const Access*, CountedLoop::kMostAccesses> of;
  bool empty() const { return count == 0; }
  void add(const Access* access) { of[count++] = access; }
};

/// Its functions are inlined into one for each kind of processor. Loops go over all lanes, also those that have left
/// nothing: a compiler makes vectors of them then.
template <unsigned Width, CountColumns<Width>* countColumns>
class Counting {
 public:
  INLINED Counting(const CountedLoop* loop, std::byte* log, uint64_t* words, uint32_t lanes, uint32_t unfinished)
      : loop_(*loop),
        blocks_(reinterpret_cast<const Block*>(loop + 1)),
        guards_(reinterpret_cast<const CountedLoop::Guard*>(blocks_ + loop->blocks)),
        accesses_(reinterpret_cast<const Access*>(guards_ + loop->guards)),
        layout_{loop->rows, loop->lists},
        log_(log),
        words_(words) {
    auto* begun = reinterpret_cast<uint64_t*>(log + IterationLog::row(kBegunRow));
    std::fill(begun + lanes, begun + kLanes, 0);
    for (unsigned l = 0; l < kLanes; ++l) last_[l] = unfinished >> l & 1 ? 0 : begun[l] ^ begun[l] >> 1;
    in_[0] = begun;
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
    for (uint32_t b = 1; b < loop_.blocks; ++b) followed_[b].fill(0);
    for (uint32_t b = 0; b < loop_.blocks; ++b) {
      const Block& block = blocks_[b];
      const uint64_t* in = in_[b];
      uint64_t any = 0, lanes = 0;
      for (unsigned l = 0; l < kLanes; ++l) any |= in[l], lanes += countOf(in[l]);
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
    auto& to = followed_[target];
    for (unsigned l = 0; l < kLanes; ++l) to[l] |= from(l);
  }

  /// Of two sides one is the way out of the loop: a lane that is finished has taken it in its last iteration.
  INLINED void leave(const Block& block, const uint64_t* in, uint64_t lanes) {
    uint64_t anyLeft = 0, anyStayed = 0, left = 0;
    for (unsigned l = 0; l < kLanes; ++l) {
      const uint64_t last = in[l] & last_[l];
      anyLeft |= last, anyStayed |= in[l] & ~last, left += last != 0;
    }
    const bool leavesIfTaken = block.decision == Block::kLeavesIfTaken;
    follow(block.targets[leavesIfTaken], [&](unsigned l) { return in[l] & ~last_[l]; });
    countBranch(block, leavesIfTaken ? left : lanes - left, anyLeft & anyStayed);
  }

  INLINED void part(const Block& block, const uint64_t* in) {
    const uint64_t* logged = row(block.decision);
    uint64_t anyTaken = 0, anyOther = 0, lanes = 0;
    for (unsigned l = 0; l < kLanes; ++l) {
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
    uint64_t lanes = 0;
    for (unsigned l = 0; l < kLanes; ++l) lanes += countOf(in[l] & holds[l]);
    words_[guard.word] += lanes;
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
    if (!walk_.isOf(access)) findWalk(access);
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
    const uint64_t *in = in_[access.block], *last = row(access.place), *before = walk_.addresses();
    for (unsigned l = 0; l < kLanes; ++l)
      addresses[l] = last[l] - static_cast<uint64_t>(int64_t{access.step} * (std::bit_width(in[l]) - 1));
    uint64_t differs = walk_.block != access.block || walk_.step != access.step || !in[0];
    const uint64_t apart = addresses[0] - before[0];
    for (unsigned l = 0; l < kLanes; ++l) differs |= in[l] ? (addresses[l] - before[l]) ^ apart : 0;
    if (!(differs | apart % kSector)) return walk_.add(access.place);
    walk_.block = access.block, walk_.step = access.step, walk_.rows = 0;
    walk_.add(access.place);
    std::ranges::copy(addresses, walk_.padded.begin() + 1);
    walk_.sectors.fill(0);
    findClosePairs(in);
  }

  /// Addresses keep their distances, so lanes that are a sector and more apart are never in one.
  INLINED void findClosePairs(const uint64_t* in) {
    uint32_t takePart = 0;
    uint64_t lanes = 0;
    for (unsigned l = 0; l < kLanes; ++l) lanes += countOf(in[l]), takePart |= uint32_t{in[l] != 0} << l;
    walk_.pairs = 0, walk_.lanes = lanes;
    // Mostly the first lanes take part, and each is behind the one before it.
    uint32_t close = 0, descends = 0;
    const uint64_t *addresses = walk_.addresses(), *before = walk_.padded.data();
    for (unsigned l = 0; l < kLanes; ++l) {
      close |= uint32_t{addresses[l] - before[l] < kSector} << l;
      descends |= uint32_t{addresses[l] < before[l]} << l;
    }
    close &= ~1u, descends &= ~1u;
    const auto used = static_cast<unsigned>(std::popcount(takePart));
    const auto usual = static_cast<uint32_t>(bitsBelow(used));
    if (takePart == usual && !(descends & usual)) {
      for (close &= usual; close; close &= close - 1)
        addClosePairs(in, static_cast<unsigned>(std::countr_zero(close)), [](unsigned k) { return k; });
      return;
    }
    std::array<uint8_t, kLanes> order;
    for (unsigned k = 0; takePart; takePart &= takePart - 1)
      order[k++] = static_cast<uint8_t>(std::countr_zero(takePart));
    std::sort(order.begin(), order.begin() + used, [&](unsigned a, unsigned b) { return addresses[a] < addresses[b]; });
    for (unsigned k = 1; k < used; ++k) addClosePairs(in, k, [&](unsigned n) { return order[n]; });
  }

  /// The lane that is number `k` of the order, with those before it that are close.
  INLINED void addClosePairs(const uint64_t* in, unsigned k, const auto& order) {
    const uint64_t* addresses = walk_.addresses();
    const uint64_t at = addresses[order(k)];
    for (unsigned before = k; before-- > 0;) {
      const uint64_t apart = at - addresses[order(before)];
      if (apart >= kSector) break;
      walk_.close[walk_.pairs++] = {k, static_cast<uint32_t>(at % kSector), static_cast<uint32_t>(apart), in[order(k)],
                                    in[order(before)]};
    }
  }

  const uint32_t* listOf(const Access& access) const {
    return reinterpret_cast<const uint32_t*>(log_ + layout_.list(access.place));
  }

  Numbering numberingOf(const Access& access) const {
    if (access.shift == 0) return {};
    const auto first = *reinterpret_cast<const uint64_t*>(log_ + layout_.window(access.place));
    return {access.flip, access.shift, static_cast<uint32_t>(first)};
  }

  /// Those of one block, as many at a time as a vector has groups. The fewer they are, the more iterations of them.
  INLINED void countLists(const Lists& lists, const uint64_t* in) {
    uint64_t any = 0;
    for (unsigned l = 0; l < kLanes; ++l) any |= in[l];
    for (uint32_t l = 0; l < lists.count;) {
      const uint32_t many = std::min(std::bit_floor(lists.count - l), Width / kGroup);
      const unsigned iterations = Width / many;
      for (unsigned first = 0; first < kIterations && any >> first; first += iterations)
        countTogether(&lists.of[l], many, columnsOf(in, first, iterations));
      l += many;
    }
    for (uint32_t l = 0; l < lists.count; ++l) words_[lists.of[l]->word] += sectorsBeyond(*lists.of[l]);
  }

  INLINED static Columns columnsOf(const uint64_t* in, unsigned first, unsigned iterations) {
    // The same bits for each list.
    const uint32_t lists = static_cast<uint32_t>(bitsBelow(Width)) / static_cast<uint32_t>(bitsBelow(iterations));
    Columns columns;
    uint32_t takePart = 0;
    for (unsigned l = 0; l < kLanes; ++l) {
      columns.at[l] = l * IterationLog::kListStride + first;
      columns.bits[l] = static_cast<uint32_t>(in[l] >> first & bitsBelow(iterations)) * lists;
      takePart |= uint32_t{columns.bits[l] != 0} << l;
    }
    columns.used = static_cast<unsigned>(std::popcount(takePart));
    if (takePart == static_cast<uint32_t>(bitsBelow(columns.used))) return columns;
    for (unsigned k = 0; takePart; ++k, takePart &= takePart - 1) {
      const auto l = static_cast<unsigned>(std::countr_zero(takePart));
      columns.at[k] = columns.at[l], columns.bits[k] = columns.bits[l];
    }
    return columns;
  }

  INLINED void countTogether(const Access* const* accesses, unsigned many, const Columns& columns) {
    if (columns.used == 0) return;
    if (columns.used == 1) {
      for (unsigned k = 0; k < many; ++k) words_[accesses[k]->word] += countOf(columns.bits[0]) / many;
      return;
    }
    const unsigned groupsOfList = Width / kGroup / many;
    Groups<Width> groups;
    for (unsigned k = 0, g = 0; k < many; ++k) {
      const uint32_t* list = listOf(*accesses[k]);
      const Numbering numbering = numberingOf(*accesses[k]);
      for (const unsigned end = g + groupsOfList; g < end; ++g, list += kGroup)
        groups.numbers[g] = list, groups.numbering[g] = numbering;
    }
    std::array<uint32_t, Width / kGroup> different;
    countColumns(groups, columns, different.data());
    for (unsigned k = 0, g = 0; k < many; ++k) {
      uint64_t sectors = 0;
      for (const unsigned end = g + groupsOfList; g < end; ++g) sectors += different[g];
      words_[accesses[k]->word] += sectors;
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
    uint32_t block = CountedLoop::kNone;
    int32_t step = 0;
    uint64_t rows = 0;  // a bit for each, of the first 64
    std::array<uint64_t, 1 + kLanes> padded{};
    uint64_t lanes = 0;
    unsigned pairs = 0;
    std::array<ClosePair, kLanes*(kLanes - 1) / 2> close;
    std::array<uint64_t, kSector> sectors{};                         // by the offset in a sector; 0: not known yet
    const uint64_t* addresses() const { return padded.data() + 1; }  // in the first iteration, by lane
    void add(uint32_t row) { rows |= row < 64 ? uint64_t{1} << row : 0; }
    bool isOf(const Access& access) const {
      return access.block == block && access.step == step && access.place < 64 && rows >> access.place & 1;
    }
  };

  const CountedLoop& loop_;
  const Block* blocks_;
  const CountedLoop::Guard* guards_;
  const Access* accesses_;
  const IterationLog layout_;
  std::byte* log_;
  uint64_t* words_;
  std::array<uint64_t, kLanes> last_;                         // the iteration in which the lane left the loop
  std::array<const uint64_t*, CountedLoop::kMostBlocks> in_;  // by block: iterations of the lanes
  std::array<std::array<uint64_t, kLanes>, CountedLoop::kMostBlocks> followed_;
  std::array<uint64_t, CountedLoop::kMostBlocks> anyIn_;
  Walk walk_;
  std::array<Lists, CountedLoop::kMostBlocks> lists_;
};

// ---- for the host
#define LOOP const CountedLoop *loop, std::byte *log, uint64_t *words, uint32_t lanes, uint32_t unfinished
// With the counting of bits in vectors: since Ice Lake, and Zen 4.
#define AVX512                                                                                           \
  __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx512vpopcntdq,popcnt,bmi,lzcnt"), \
                 min_vector_width(512)))
#define AVX2 __attribute__((target("avx2,popcnt,bmi,lzcnt")))

AVX512 void columnsAvx512(const Groups<16>& groups, const Columns& columns, uint32_t* different) {
  countSome<16>(groups, columns, different);
}
AVX2 void columnsAvx2(const Groups<8>& groups, const Columns& columns, uint32_t* different) {
  countSome<8>(groups, columns, different);
}
void columnsSse2(const Groups<8>& groups, const Columns& columns, uint32_t* different) {
  countSome<8>(groups, columns, different);
}

AVX512 void countAvx512(LOOP) { Counting<16, columnsAvx512>(loop, log, words, lanes, unfinished).count(); }
AVX2 void countAvx2(LOOP) { Counting<8, columnsAvx2>(loop, log, words, lanes, unfinished).count(); }
void countSse2(LOOP) { Counting<8, columnsSse2>(loop, log, words, lanes, unfinished).count(); }

bool hasAvx512() {
  return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512cd") &&
         __builtin_cpu_supports("avx512vpopcntdq");
}

auto* best() {
  if (hasAvx512()) return countAvx512;
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
