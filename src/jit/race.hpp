// Which of two variants of a kernel is faster, found out on the launches that run anyway.
//
// The plan's estimates know neither a graph's degrees nor a host's caches. Where they lie close to each other, both
// variants compute the same, block by block: so some blocks run on one and some on the other, and the clock decides.
//
// Blocks of one grid may have very different work. The variants therefore take turns, piece by piece, and what counts
// is the sum. A second heat must confirm the first before the plan's choice is given up, since hosts are shared and
// noisy.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>

namespace ordito::jit {

/// Any number of threads may run pieces.
class Race {
 public:
  /// The plan's choice, and what runs against it.
  enum class Variant : uint8_t { Favourite, Contender };

  struct Rules {
    uint64_t heat = 5'000'000;  // nanoseconds of a processor that each variant runs in a heat, at least
    uint64_t pieces = 16;       // and pieces
    uint64_t turn = 500'000;    // nanoseconds that one of them runs before the other does, who finds cold caches then
    double lead = 1.05;         // by which the contender must be faster in both heats
  };
  Race() : Race(Rules{}) {}
  explicit Race(const Rules& rules) : rules_(rules) {}

  /// What the next piece should run on.
  Variant turn() const { return turn_.load(std::memory_order_relaxed); }
  /// `blocks` blocks have run in `nanoseconds`. True once: for the piece that decides the race.
  bool ran(Variant variant, uint64_t blocks, uint64_t nanoseconds);
  bool isOver() const { return isOver_.load(std::memory_order_acquire); }
  /// Nothing before the race is over.
  std::optional<Variant> winner() const;
  /// Nanoseconds of a processor for each block, as the last heat has it.
  double perBlock(Variant variant) const;

 private:
  struct Result {
    uint64_t pieces = 0, blocks = 0, nanoseconds = 0;
    double perBlock() const { return blocks ? static_cast<double>(nanoseconds) / static_cast<double>(blocks) : 0; }
  };
  Result& of(Variant v) { return results_[static_cast<size_t>(v)]; }
  const Result& of(Variant v) const { return results_[static_cast<size_t>(v)]; }
  bool isLong(const Result& r) const { return r.nanoseconds >= rules_.heat && r.pieces >= rules_.pieces; }
  bool endHeat();

  const Rules rules_;
  mutable std::mutex mutex_;
  Result results_[2];
  uint64_t thisTurn_ = 0;  // nanoseconds
  unsigned heat_ = 0;
  std::atomic<Variant> turn_{Variant::Favourite};
  std::atomic<bool> isOver_{false};
};

}  // namespace ordito::jit
