// Which blocks of a grid a thread runs: those of its own share first, the same in each launch over the same grid, then
// what is left of the others'. What a block reads is often what a block of the same number wrote in the launch before,
// and lies in the cache of the processor that ran it (bench/RESULTS.md, 2026-11-29: why the sort's time has two
// values).
//
// Only for blocks that wait for no others: those must begin in the order of their numbers.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace ordito::machine {

class BlockShares {
 public:
  /// Pieces 0 to `pieces` - 1 for as many threads.
  BlockShares(uint64_t pieces, unsigned threads) : threads_(threads), shares_(new Share[threads]) {
    for (unsigned t = 0; t < threads; ++t) {
      shares_[t].next = pieces * t / threads;
      shares_[t].end = pieces * (t + 1) / threads;
    }
  }

  /// A piece for a thread, which nobody has taken. To be asked at most as often as there are pieces: then each caller
  /// finds one, since a share that is used up stays so.
  uint64_t take(unsigned thread) {
    for (unsigned k = 0;; ++k) {
      Share& share = shares_[(thread + k) % threads_];
      const uint64_t piece = share.next.fetch_add(1, std::memory_order_relaxed);
      if (piece < share.end) return piece;
    }
  }

 private:
  struct alignas(64) Share {
    std::atomic<uint64_t> next{0};
    uint64_t end = 0;
  };
  unsigned threads_;
  std::unique_ptr<Share[]> shares_;
};

}  // namespace ordito::machine
