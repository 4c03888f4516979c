// What memory remembers of accesses, for the rules on races: by rows of 128 bytes, in the form that costs least.
//
// One instruction of a warp is kept once, as a stamp; each row that it touched has an entry that names the stamp and
// the bytes. Which lane touched which byte follows from the stamp's addresses and is asked only when two stamps may
// race. Then the row is spread: each word of it gets a list with one touch for each lane, which is exact and slow.
//
// A full barrier makes all that a block has done in its shared memory known to all of its threads, so nothing of it can
// race any more: restart() forgets everything by counting one up. Rows notice when they are used next.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "check/touch.hpp"
#include "machine/kernel.hpp"

namespace ordito::check {

constexpr uint32_t kRowBytes = 128;

/// A bit for each byte of a row.
struct ByteMask {
  uint64_t low = 0, high = 0;
  static ByteMask range(uint32_t first, uint32_t end);
  /// Of at most 32 bytes from `first`.
  static ByteMask few(uint32_t first, uint32_t bytes) {
    const uint64_t run = (uint64_t{1} << bytes) - 1;
    if (first >= 64) return {0, run << (first - 64)};
    return {run << first, first + bytes > 64 ? run >> (64 - first) : 0};
  }
  bool any() const { return (low | high) != 0; }
  /// Of a word of the row, by its number.
  uint8_t ofWord(uint32_t word) const {
    return static_cast<uint8_t>((word < 16 ? low >> 4 * word : high >> 4 * (word - 16)) & 15);
  }
  ByteMask operator&(const ByteMask& o) const { return {low & o.low, high & o.high}; }
  ByteMask operator|(const ByteMask& o) const { return {low | o.low, high | o.high}; }
  ByteMask without(const ByteMask& o) const { return {low & ~o.low, high & ~o.high}; }
  bool operator==(const ByteMask&) const = default;
};

/// Things by number from 1; numbers of what was dropped are given out again.
template <class T>
class Pool {
 public:
  uint32_t add() {
    if (!free_.empty()) {
      const uint32_t number = free_.back();
      free_.pop_back();
      return number;
    }
    if (used_ == all_.size()) all_.resize(all_.empty() ? 64 : 2 * all_.size());
    return static_cast<uint32_t>(++used_);
  }
  void drop(uint32_t number) { free_.push_back(number); }
  void clear() { used_ = 0, free_.clear(); }
  size_t size() const { return used_ - free_.size(); }
  T& operator[](uint32_t number) { return all_[number - 1]; }
  const T& operator[](uint32_t number) const { return all_[number - 1]; }

 private:
  std::vector<T> all_;
  size_t used_ = 0;
  std::vector<uint32_t> free_;
};

using Lanes = std::array<uint32_t, machine::kWarpSize>;

/// One instruction of a warp. Of numbers by lane there are arrays only where one number does not say it: 0 for none.
struct Stamp {
  uint64_t block, base;
  int64_t stride;
  const ptx::Function* function;
  Family::Member member;
  uint32_t line, warp, lanes, size;
  uint32_t interval;  // how often all threads of the block had met
  Clock at;
  machine::AccessKind kind;
  machine::MemoryScope scope;
  bool writes, isStrong;
  bool isInjective;             // no two lanes touch the same byte
  uint32_t offsets, clocks;     // addresses less `base`; else base + lane × stride
  uint32_t values, highValues;  // stored; the upper halves of 8 bytes
  uint32_t entries;             // that name it
};

class Shadow {
 public:
  struct Entry {
    ByteMask mask;
    uint32_t stamp, next;
  };
  struct Spread {
    std::array<Word, kRowBytes / kWordBytes> words;
    bool hasAgents = false;  // of asynchronous copies, which come to no barrier
  };
  struct Row {
    uint32_t newest = 0, entries = 0;
    uint32_t start = 0;                              // which restart() it has seen
    bool hasOnlyReads = true, hasOnlyStrong = true;  // of one size, if there are atomic operations
    uint32_t atomicBytes = 0;
    std::unique_ptr<Spread> spread;
  };

  /// A row by its address / kRowBytes.
  Row& row(uint64_t number);
  Pool<Stamp>& stamps() { return stamps_; }
  Pool<Lanes>& lanes() { return lanes_; }
  Pool<Entry>& entries() { return entries_; }
  void add(Row& row, uint32_t stamp, const ByteMask& mask);
  /// `link`: what names the entry: Row::newest, or the `next` of another.
  void remove(Row& row, uint32_t& link);
  /// If no entry names it.
  void dropUnused(uint32_t stamp);
  /// Drops the bytes of entries that others have touched since, so that whoever races with what is dropped races with
  /// one of those: two of different blocks, or two of different warps of the entry's own block.
  void thin(Row& row);
  /// Each word gets its list of touches; `number` is the row's.
  Spread& spread(uint64_t number, Row& row);
  /// Nothing so far can race any more, but for agents.
  void restart() { ++start_, clearPools(); }
  /// The memory is another block's from now on, in which the agents of the last one are nobody.
  void forget() { restart(), forgotten_ = start_; }
  uint64_t addressOf(const Stamp& stamp, uint32_t lane) const {
    if (stamp.offsets)
      return stamp.base + static_cast<uint64_t>(int64_t{static_cast<int32_t>(lanes_[stamp.offsets][lane])});
    return stamp.base + static_cast<uint64_t>(static_cast<int64_t>(lane) * stamp.stride);
  }
  Clock clockOf(const Stamp& stamp, uint32_t lane) const {
    return stamp.clocks ? lanes_[stamp.clocks][lane] : stamp.at;
  }

 private:
  static constexpr uint64_t kPageRows = 32;
  using Page = std::array<Row, kPageRows>;

  void clearPools() { stamps_.clear(), lanes_.clear(), entries_.clear(); }
  Touch touchOf(const Stamp& stamp, uint32_t lane) const;
  void spreadEntry(Spread& spread, uint64_t begin, const Entry& entry) const;

  std::unordered_map<uint64_t, std::unique_ptr<Page>> pages_;
  uint64_t lastNumber_ = ~uint64_t{0};
  Page* last_ = nullptr;
  uint32_t start_ = 0, forgotten_ = 0;
  Pool<Stamp> stamps_;
  Pool<Lanes> lanes_;
  Pool<Entry> entries_;
};

}  // namespace ordito::check
