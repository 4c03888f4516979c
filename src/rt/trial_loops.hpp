// The loops of trial_cells.hpp. They are written without branches, so that the compiler makes vector code of them;
// included by a source for each width of vectors, with TRIAL_LOOPS naming what it defines.
#include <cstring>

#include "rt/trial_cells.hpp"

namespace ordito::rt {
namespace {

constexpr uint32_t kLanes = 32;

struct Next {
  uint32_t cell, doubt;
};

inline uint32_t choose(bool condition, uint32_t yes, uint32_t no) { return condition ? yes : no; }

/// What it means if two lanes do it to one cell with one instruction.
enum class Twice : uint8_t { Fine, Doubt, Noted };

/// Would one more of the same change nothing that matters? Nobody asks for the thread or the step of such cells, only
/// for the interval.
template <bool kShared>
bool isSettled(uint32_t old, uint32_t kind, const TrialTimes& t) {
  const uint32_t wanted = kind | (kShared ? cell::kDefined : 0);
  return (old >= t.interval) & ((old & (cell::kKind | (kShared ? cell::kDefined : 0))) == wanted);
}

/// Of global memory: several blocks have touched it in the one way that they may, so anything else by anybody is a
/// doubt, whoever was last.
inline bool isOfOthersToo(uint32_t old, const TrialTimes& t) {
  return (old >= t.launch) & ((old & (cell::kOthers | cell::kDefined)) == cell::kOthers);
}

template <bool kShared>
struct Read {
  static constexpr Twice kTwice = Twice::Noted;
  static bool isSettled(uint32_t old, const TrialTimes& t) {
    const bool isOne = rt::isSettled<kShared>(old, cell::kReadMany, t);
    if constexpr (kShared) return isOne;
    return isOne | (isOfOthersToo(old, t) & ((old & cell::kKind) <= cell::kReadMany));
  }
  static Next of(uint32_t old, uint32_t thread, const TrialTimes& t) {
    const bool isForeign = old < t.block, isPast = old < t.interval, isAsleep = old < t.warp;
    const uint32_t kind = old & cell::kKind;
    const bool isStrong = kind == cell::kStrong, isSame = (old & cell::kThread) == thread,
               isMate = ((old ^ thread) & cell::kWarp) == 0, wasWritten = (old & cell::kEarlier) != 0;
    bool doubt;
    uint32_t flags;
    if constexpr (kShared) {
      doubt = isForeign | ((old & cell::kDefined) == 0);
      flags = cell::kDefined;
    } else {
      const bool isTouched = old >= t.launch, isOthers = (old & cell::kOthers) != 0,
                 isWritten = (old & cell::kDefined) != 0;
      doubt = (isForeign & isTouched & (isWritten | isStrong)) | (isPast & !isForeign & isOthers & isStrong);
      flags = choose(isForeign, choose(isTouched, cell::kOthers, 0), old & (cell::kOthers | cell::kDefined));
    }
    const bool isOwn = isSame & ((kind == cell::kReadOne) | (kind == cell::kWriteOne));
    const bool isRead = (kind == cell::kReadOne) | (kind == cell::kReadWarp), isWrite = kind == cell::kWriteOne;
    // What mates did before their warp met is as good as done by the thread itself, but for others.
    const bool isFresh = isMate & isAsleep & (isRead | isWrite);
    const uint32_t earlier = choose((isWrite & !isOwn) | wasWritten, cell::kEarlier, 0);
    const bool isMany = kind == cell::kReadMany;
    doubt |= !isPast & !isOwn & !isFresh & !isMany & (!isRead | (!isMate & wasWritten));
    const uint32_t kindNow = choose(isPast | isFresh, cell::kReadOne,
                                    choose(isOwn, kind, choose(isMany | !isMate, cell::kReadMany, cell::kReadWarp)));
    const uint32_t earlierNow = choose(isPast | (isOwn & isWrite), 0, earlier);
    return {t.now | kindNow | thread | flags | earlierNow, doubt};
  }
};

template <bool kShared>
struct Write {
  static constexpr Twice kTwice = Twice::Doubt;
  static bool isSettled(uint32_t, const TrialTimes&) { return false; }
  static Next of(uint32_t old, uint32_t thread, const TrialTimes& t) {
    const bool isPast = old < t.interval, isAsleep = old < t.warp;
    const uint32_t kind = old & cell::kKind;
    const bool isOwn = ((old & cell::kThread) == thread) & ((kind == cell::kReadOne) | (kind == cell::kWriteOne));
    const bool isFresh = (((old ^ thread) & cell::kWarp) == 0) & isAsleep &
                         ((kind == cell::kReadOne) | (kind == cell::kReadWarp) | (kind == cell::kWriteOne));
    bool doubt = !isPast & !isOwn & !isFresh;
    if constexpr (!kShared)
      doubt |= ((old < t.block) & (old >= t.launch)) | ((old >= t.block) & ((old & cell::kOthers) != 0));
    return {t.now | cell::kWriteOne | thread | cell::kDefined, doubt};
  }
};

template <bool kShared>
struct Strong {
  static constexpr Twice kTwice = Twice::Fine;
  static bool isSettled(uint32_t old, const TrialTimes& t) {
    const bool isOne = rt::isSettled<kShared>(old, cell::kStrong, t);
    if constexpr (kShared) return isOne;
    return isOne | (isOfOthersToo(old, t) & ((old & cell::kKind) == cell::kStrong));
  }
  static Next of(uint32_t old, uint32_t thread, const TrialTimes& t) {
    const bool isForeign = old < t.block, isPast = old < t.interval, isStrong = (old & cell::kKind) == cell::kStrong;
    bool doubt = !isPast & !isStrong;
    uint32_t flags = cell::kDefined;
    if constexpr (kShared) {
      doubt |= isForeign | ((old & cell::kDefined) == 0);
    } else {
      const bool isTouched = old >= t.launch, isWritten = (old & cell::kDefined) != 0,
                 isOthers = (old & cell::kOthers) != 0;
      doubt |= (isForeign & isTouched & (!isStrong | isWritten)) | (!isForeign & isOthers & !isStrong);
      flags = choose(isForeign, choose(isTouched, cell::kOthers, 0), old & (cell::kOthers | cell::kDefined));
    }
    return {t.now | cell::kStrong | thread | flags, doubt};
  }
};

template <class Op, unsigned kUnits>
bool denseOf(uint32_t* cells, uint32_t lanes, uint32_t thread, const TrialTimes& times) {
  const TrialTimes t = times;
  uint32_t doubt = 0;
  for (uint32_t k = 0; k < kLanes * kUnits; ++k) {
    const uint32_t lane = k / kUnits, old = cells[k], isOn = lanes >> lane & 1;
    const Next next = Op::of(old, thread + lane, t);
    doubt |= next.doubt & isOn;
    cells[k] = isOn ? next.cell : old;
  }
  return doubt != 0;
}

template <class Op>
bool dense(uint32_t* cells, uint32_t lanes, uint32_t units, uint32_t thread, const TrialTimes& times) {
  switch (units) {
    case 1: return denseOf<Op, 1>(cells, lanes, thread, times);
    case 2: return denseOf<Op, 2>(cells, lanes, thread, times);
    case 4: return denseOf<Op, 4>(cells, lanes, thread, times);
    case 8: return denseOf<Op, 8>(cells, lanes, thread, times);
    default: return denseOf<Op, 16>(cells, lanes, thread, times);
  }
}

/// The lanes at once, each from what the cell was before; gives the lanes that find another's cell in place of theirs.
template <class Op>
uint32_t together(uint32_t* cells, const uint32_t* at, uint32_t lanes, uint32_t thread, const TrialTimes& times,
                  bool* doubts) {
  const TrialTimes t = times;
  alignas(64) uint32_t next[kLanes];
  for (uint32_t l = 0; l < kLanes; ++l) next[l] = cells[at[l]];
  uint32_t doubt = 0, others = 0, changes = 0;
  for (uint32_t l = 0; l < kLanes; ++l) changes |= (lanes >> l & 1) & static_cast<uint32_t>(!Op::isSettled(next[l], t));
  if (!changes) return 0;
  for (uint32_t l = 0; l < kLanes; ++l) {
    const Next made = Op::of(next[l], thread + l, t);
    doubt |= made.doubt & (lanes >> l);
    next[l] = made.cell;
  }
  for (uint32_t rest = lanes; rest; rest &= rest - 1) {
    const auto l = static_cast<uint32_t>(__builtin_ctz(rest));
    cells[at[l]] = next[l];
  }
  *doubts |= (doubt & 1) != 0;
  if (Op::kTwice == Twice::Fine) return 0;
  for (uint32_t l = 0; l < kLanes; ++l) others |= static_cast<uint32_t>(cells[at[l]] != next[l]) << l;
  return others & lanes;
}

template <class Op>
bool sparseUnit(uint32_t* cells, const uint32_t* at, uint32_t lanes, uint32_t thread, const TrialTimes& times) {
  bool doubt = false;
  const uint32_t others = together<Op>(cells, at, lanes, thread, times, &doubt);
  if (!others || Op::kTwice == Twice::Doubt) return doubt || others;
  together<Op>(cells, at, others, thread, times, &doubt);  // then several lanes have read it, whichever is last
  return doubt;
}

/// By lane, which cell is its first.
inline void findCells(const TrialPlaces& places, uint32_t* at) {
  const uint64_t* const addresses = places.addresses;
  const uint64_t origin = places.origin;
  const unsigned shift = places.shift;
  for (uint32_t l = 0; l < kLanes; ++l) at[l] = static_cast<uint32_t>((addresses[l] - origin) >> shift);
}

template <class Op>
bool sparse(uint32_t* cells, const TrialPlaces& places, uint32_t lanes, uint32_t units, uint32_t thread,
            const TrialTimes& times) {
  alignas(64) uint32_t at[kLanes];
  findCells(places, at);
  bool doubt = false;
  for (uint32_t k = 0; k < units; ++k) doubt |= sparseUnit<Op>(cells + k, at, lanes, thread, times);
  return doubt;
}

/// What cells are to be that an access would not change: since when, and which bits of those that are asked.
struct Wanted {
  uint32_t since, asked, bits;
};

/// Without a mask: lanes that are off look at a cell of one that is on.
inline bool areAll(const uint32_t* cells, const uint32_t* at, uint32_t units, const Wanted& wanted) {
  uint32_t oldest = ~0u, differs = 0;
  for (uint32_t k = 0; k < units; ++k)
    for (uint32_t l = 0; l < kLanes; ++l) {
      const uint32_t old = cells[at[l] + k];
      oldest = old < oldest ? old : oldest, differs |= (old & wanted.asked) ^ wanted.bits;
    }
  return oldest >= wanted.since && differs == 0;
}

/// All that isOfOthersToo() and Strong::isSettled() ask.
bool areSettled(const uint32_t* cells, const TrialPlaces& places, uint32_t units, const TrialTimes& times) {
  alignas(64) uint32_t at[kLanes];
  findCells(places, at);
  return areAll(cells, at, units,
                {times.launch, cell::kKind | cell::kOthers | cell::kDefined, cell::kStrong | cell::kOthers});
}

bool areSettledWithin(const uint32_t* cells, const TrialPlaces& places, const TrialBounds& bounds, uint32_t lanes,
                      uint32_t units, const TrialTimes& times) {
  const uint64_t origin = places.origin, low = bounds.low, span = bounds.high - bounds.low;
  const uint64_t first = places.addresses[__builtin_ctz(lanes)];
  const unsigned shift = places.shift;
  alignas(64) uint32_t at[kLanes];
  uint64_t bits = 0, outside = 0;
  for (uint32_t l = 0; l < kLanes; ++l) {
    const uint64_t a = (lanes >> l & 1 ? places.addresses[l] : first) - origin;
    bits |= a, outside |= static_cast<uint64_t>(a - low > span);
    at[l] = static_cast<uint32_t>(a >> shift);
  }
  if ((bits & bounds.misaligned) | outside) return false;
  return areAll(cells, at, units, {times.interval, cell::kKind | cell::kDefined, cell::kStrong | cell::kDefined});
}

template <class Op>
bool single(uint32_t* cells, uint32_t units, uint32_t thread, uint32_t otherThread, const TrialTimes& times) {
  uint32_t doubt = 0;
  for (uint32_t k = 0; k < units; ++k) {
    Next next = Op::of(cells[k], thread, times);
    doubt |= next.doubt;
    if (otherThread != thread) next = Op::of(next.cell, otherThread, times);
    doubt |= next.doubt;
    cells[k] = next.cell;
  }
  return doubt != 0;
}

void extent(TrialExtent& e, uint32_t lanes, const uint64_t* addresses, uint64_t origin, uint32_t bytes) {
  const auto lowest = static_cast<uint32_t>(__builtin_ctz(lanes)),
             highest = kLanes - 1 - static_cast<uint32_t>(__builtin_clz(lanes));
  const uint64_t first = addresses[lowest] - origin, last = addresses[highest] - origin;
  uint64_t low = first, high = first, bits = 0;
  for (uint32_t l = 0; l < kLanes; ++l) {
    const uint64_t a = lanes >> l & 1 ? addresses[l] - origin : first;
    e.at[l] = a;
    low = a < low ? a : low, high = a > high ? a : high, bits |= a;
  }
  e.low = low, e.high = high, e.bits = bits, e.areNeighbours = false;
  const uint64_t far = uint64_t{highest - lowest} * bytes;
  if (low != first || high != last || high - low != far) return;  // most that are none end here
  uint64_t differs = 0, place = first - uint64_t{lowest} * bytes;
  for (uint32_t l = 0; l < kLanes; ++l, place += bytes) differs |= lanes >> l & 1 ? e.at[l] ^ place : 0;
  e.areNeighbours = differs == 0;
}

}  // namespace

extern const TrialLoops TRIAL_LOOPS;
const TrialLoops TRIAL_LOOPS = {{{dense<Read<false>>, dense<Write<false>>, dense<Strong<false>>},
                                 {dense<Read<true>>, dense<Write<true>>, dense<Strong<true>>}},
                                {{sparse<Read<false>>, sparse<Write<false>>, sparse<Strong<false>>},
                                 {sparse<Read<true>>, sparse<Write<true>>, sparse<Strong<true>>}},
                                {{single<Read<false>>, single<Write<false>>, single<Strong<false>>},
                                 {single<Read<true>>, single<Write<true>>, single<Strong<true>>}},
                                areSettled,
                                areSettledWithin,
                                extent};

}  // namespace ordito::rt
