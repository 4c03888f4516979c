// What threads have written to shared memory, until bulk copies may read it.
//
// Bulk copies go through the async proxy: they see what ordinary stores have written only if a fence.proxy.async stands
// between the two, on the way that orders them: of the writer before others learn of its write, or of somebody who has
// learned of it, before the copy (PTX ISA, "Async proxy"; "Causality order"). Neither a barrier nor a __threadfence()
// is one. Words of four bytes: a bulk copy moves multiples of sixteen.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "check/clocks.hpp"
#include "machine/events.hpp"

namespace ordito::check {

class ProxyWrites {
 public:
  /// The last write of a word.
  struct Write {
    uint32_t thread;
    Clock at;
    machine::AccessKind kind;
    uint32_t line, size;
    const ptx::Function* function;
    uint64_t address;
  };
  explicit ProxyWrites(uint32_t threads) : pending_(threads) {}

  /// Addresses are offsets in the block's window.
  void wrote(const Write& write);
  /// By a bulk copy, which the async proxy knows of.
  void copiedTo(uint64_t address, uint64_t bytes);
  /// A fence.proxy.async of a thread: what it knows of is seen by bulk copies.
  void fenced(const Clocks& clocks, uint32_t thread);
  /// The first write in these bytes that is not; null if all are.
  const Write* unseen(uint64_t address, uint64_t bytes) const;

 private:
  /// `serial` 0: there is nothing to see.
  struct Word {
    uint64_t serial = 0;
    Write write{};
  };
  struct Pending {
    uint64_t word, serial;
  };
  Word& at(uint64_t word);

  std::vector<Word> words_;
  /// By thread, in the order of its writes; of some the word is another's now.
  std::vector<std::deque<Pending>> pending_;
  uint64_t serial_ = 0;
};

}  // namespace ordito::check
