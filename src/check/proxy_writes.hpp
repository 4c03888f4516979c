// What threads of a block have written to memory, until bulk copies may read it.
//
// Bulk copies go through the async proxy: they see what ordinary stores, and cp.async, have written only if a
// fence.proxy.async stands between the two, on the way that orders them: of the writer before others learn of its
// write, or of somebody who has learned of it, before the copy (PTX ISA, "Async proxy"; "Causality order"). Neither a
// barrier nor a __threadfence() is one. Words of four bytes: a bulk copy moves multiples of sixteen.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>

#include "check/clocks.hpp"
#include "check/touch.hpp"
#include "machine/events.hpp"

namespace ordito::check {

/// Of one state space.
class ProxyWrites {
 public:
  /// The last write of a word.
  struct Write {
    ActorId by;
    Clock at;
    machine::AccessKind kind;
    uint32_t line, size;
    const ptx::Function* function;
    uint64_t address;
  };

  /// Addresses of shared memory are offsets in the block's window.
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
  static constexpr uint64_t kWords = 32;  // of a row
  using Row = std::array<Word, kWords>;
  struct Pending {
    uint64_t word, serial;
  };
  Word& at(uint64_t word);
  /// Calls visit(word) for what is kept of the words from `first` to before `end`, until it says false.
  template <class Self, class Visit>
  static void forEachWord(Self& self, uint64_t first, uint64_t end, Visit visit);

  std::unordered_map<uint64_t, std::unique_ptr<Row>> rows_;
  /// By actor, in the order of its writes; of some the word is another's now.
  std::unordered_map<ActorId, std::deque<Pending>> pending_;
  uint64_t serial_ = 0;
};

/// Of what bulk copies read.
struct ProxyMemory {
  ProxyWrites shared, global;
};

}  // namespace ordito::check
