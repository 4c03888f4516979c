// Races in shared and in global memory: two accesses that overlap, one of them a write, that nothing orders and that
// are not both strong (PTX ISA, "Memory Consistency Model"; docs/check.md says what counts as order).
//
// Each word of memory remembers who has written and read its bytes last, at which logical time; an access is compared
// with all of them. Order is that of clocks.hpp, which does not depend on the schedule that ran. Blocks of a launch are
// unordered, unless the kernel has fences and ordered accesses: then what releases and acquires order is followed
// (outside.hpp). Kernels that others launch are compared with those (family.hpp).
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "check/clocks.hpp"
#include "check/family.hpp"
#include "check/finding.hpp"
#include "check/outside.hpp"
#include "machine/events.hpp"

namespace ordito::check {

class Launch;

/// What reports call an access.
const char* wordOf(machine::AccessKind kind);

class Races {
 public:
  /// What a host's launch and the launches from its kernels share.
  struct Shared;
  static std::shared_ptr<Shared> share();

  Races(Launch& launch, std::shared_ptr<Shared> shared, Family::Member self)
      : launch_(launch), shared_(std::move(shared)), self_(self) {}

  void accessed(const machine::AccessEvent& access, Findings& findings);
  void synchronised(const machine::SyncEvent& sync);
  void blockChanged(const machine::BlockEvent& block);
  /// Its place among the launches, for Races of the new one.
  Family::Member launched(const machine::ChildLaunchEvent& child);
  const std::shared_ptr<Shared>& shared() const { return shared_; }

 private:
  /// An access that a word remembers.
  struct Touch {
    uint64_t block;
    ActorId actor;
    Clock at;
    Family::Member member;
    uint32_t line;
    machine::AccessKind kind;
    uint8_t bytes;  // a bit for each of the word's
    bool writes, isStrong;
    machine::MemoryScope scope;
    bool hasValue;
    uint64_t address, value;  // of the whole access
    uint32_t size;
    const ptx::Function* function;
  };
  struct Word {
    std::vector<Touch> touches;
  };
  using Words = std::unordered_map<uint64_t, Word>;

  /// What a release makes known inside the block: of the block itself, and of others.
  struct Message {
    Knowledge own;
    Reach outside;
    void join(const Message& more) {
      check::join(own, more.own);
      outside = joined(outside, more.outside);
    }
  };

  struct Block {
    explicit Block(uint32_t threads) : clocks(threads), outside(threads), fences(threads), seen(threads) {}
    Clocks clocks;
    Outside outside;
    Words shared;
    // Order by memory: what was released at a word; by thread what it knew at its last fence and what its next fence
    // acquires.
    std::unordered_map<uint64_t, Message> released;
    std::vector<Message> fences, seen;
    std::unordered_map<uint32_t, Message> arrived;  // at barriers, without waiting
    Message release(uint32_t thread) { return {clocks.release(thread), outside.known(thread)}; }
    void acquire(uint32_t thread, const Message& message) {
      clocks.acquire(thread, message.own);
      outside.acquire(thread, message.outside);
    }
  };

  Block& blockOf(const machine::BlockFrame& frame);
  void touch(const machine::AccessEvent& access, machine::AccessSpace space, uint64_t address, uint32_t bytes,
             Touch touch, Findings& findings);
  void compare(const machine::AccessEvent& access, Word& word, const Touch& touch, machine::AccessSpace space,
               Findings& findings);
  static bool reaches(const Reach& reach, const Touch& touch);
  bool areOrdered(const Block& block, const Touch& earlier, const Touch& later) const;
  void report(const machine::AccessEvent& access, machine::AccessSpace space, const Touch& earlier, const Touch& later,
              Findings& findings);
  bool isHoped(const Block& block, const Touch& earlier, const Touch& later) const;
  void followOrder(const machine::AccessEvent& access);
  void followOutside(const machine::AccessEvent& access, Block& block, uint32_t thread);
  void fence(Block& block, const machine::SyncEvent& sync, uint32_t thread);
  Reach reachOf(const machine::BlockFrame& frame, Block& block, uint32_t thread);
  void synchroniseBarrier(Block& block, const machine::SyncEvent& sync);

  Launch& launch_;
  const std::shared_ptr<Shared> shared_;
  const Family::Member self_;
  std::unordered_map<uint64_t, Reach> posted_;  // by word of global memory: what wide releases have made known there
  std::unordered_map<uint64_t, std::unique_ptr<Block>> blocks_;  // that run, by number in the grid
};

struct Races::Shared {
  Family family;
  Words global;
};

}  // namespace ordito::check
