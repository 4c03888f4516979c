// Races in shared and in global memory: two accesses that overlap, one of them a write, that nothing orders and that
// are not both strong (PTX ISA, "Memory Consistency Model"; docs/check.md says what counts as order).
//
// Each word of memory remembers who has written and read its bytes last, at which logical time; an access is compared
// with all of them. Order is that of clocks.hpp, which does not depend on the schedule that ran. Blocks of a launch are
// unordered, which is exact for kernels without fences and ordered accesses; of others only accesses of one block are
// compared.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "check/clocks.hpp"
#include "check/finding.hpp"
#include "machine/events.hpp"

namespace ordito::check {

class Launch;

/// What reports call an access.
const char* wordOf(machine::AccessKind kind);

class Races {
 public:
  explicit Races(Launch& launch) : launch_(launch) {}

  void accessed(const machine::AccessEvent& access, Findings& findings);
  void synchronised(const machine::SyncEvent& sync);
  void blockChanged(const machine::BlockEvent& block);

 private:
  /// An access that a word remembers.
  struct Touch {
    uint64_t block;
    ActorId actor;
    Clock at;
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

  struct Block {
    explicit Block(uint32_t threads) : clocks(threads), fences(threads), seen(threads) {}
    Clocks clocks;
    Words shared;
    // Order by memory: what was released at a word; by thread what it knew at its last fence and what its next fence
    // acquires.
    std::unordered_map<uint64_t, Knowledge> released;
    std::vector<Knowledge> fences, seen;
    std::unordered_map<uint32_t, Knowledge> arrived;  // at barriers, without waiting
  };

  Block& blockOf(const machine::BlockFrame& frame);
  void touch(const machine::AccessEvent& access, machine::AccessSpace space, uint64_t address, uint32_t bytes,
             Touch touch, Findings& findings);
  void compare(const machine::AccessEvent& access, Word& word, const Touch& touch, machine::AccessSpace space,
               Findings& findings);
  bool areOrdered(const Block& block, const Touch& earlier, const Touch& later) const;
  void report(const machine::AccessEvent& access, machine::AccessSpace space, const Touch& earlier, const Touch& later,
              Findings& findings);
  void followOrder(const machine::AccessEvent& access);
  void synchroniseBarrier(Block& block, const machine::SyncEvent& sync);

  Launch& launch_;
  std::unordered_map<uint64_t, std::unique_ptr<Block>> blocks_;  // that run, by number in the grid
  Words global_;
};

}  // namespace ordito::check
