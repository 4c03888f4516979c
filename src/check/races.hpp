// Races in shared and in global memory: two accesses that overlap, one of them a write, that nothing orders and that
// are not both strong (PTX ISA, "Memory Consistency Model"; docs/check.md says what counts as order).
//
// Memory remembers who has written and read its bytes last, at which logical time; an access is compared with all of
// them: row by row with whole instructions of warps where these cannot race (races_rows.cpp, shadow.hpp), and otherwise
// word by word and lane by lane (races.cpp), which alone would give the same verdicts. Order is that of clocks.hpp,
// which does not depend on the schedule that ran. Blocks of a launch are unordered, unless the kernel has fences and
// ordered accesses: then what releases and acquires order is followed (outside.hpp). Kernels that others launch are
// compared with those (family.hpp).
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "check/clocks.hpp"
#include "check/family.hpp"
#include "check/finding.hpp"
#include "check/meetings.hpp"
#include "check/outside.hpp"
#include "check/proxy_writes.hpp"
#include "check/shadow.hpp"
#include "check/touch.hpp"
#include "machine/events.hpp"

namespace ordito::check {

class Launch;

/// What reports call an access.
const char* wordOf(machine::AccessKind kind);

class Races {
 public:
  /// What a host's launch and the launches from its kernels share.
  struct Shared;
  /// `isByLane`: every access is looked at lane by lane and word by word, as tests compare with.
  static std::shared_ptr<Shared> share(bool isByLane = false);
  /// The place of the launch that the host has made.
  static Family::Member first(Shared& shared, std::shared_ptr<const Launch> launch);

  Races(Launch& launch, std::shared_ptr<Shared> shared, Family::Member self)
      : launch_(launch), shared_(std::move(shared)), self_(self) {}

  void accessed(const machine::AccessEvent& access, Findings& findings);
  /// A read through a texture or a surface, in global memory.
  void fetched(const machine::AccessEvent& access, Findings& findings);
  void synchronised(const machine::SyncEvent& sync);
  void blockChanged(const machine::BlockEvent& block);
  /// Its place among the launches, for Races of the new one.
  Family::Member launched(const machine::ChildLaunchEvent& child);
  const std::shared_ptr<Shared>& shared() const { return shared_; }

 private:
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
    Block(uint32_t threads, bool hasBulk) : clocks(threads, hasBulk), outside(threads) {}
    Clocks clocks;
    Outside outside;
    Meetings meetings;
    Shadow shared;
    // Order by memory: what was released at a word; by thread what it knew at its last fence and what its next fence
    // acquires.
    std::unordered_map<uint64_t, Message> released;
    std::unordered_map<uint32_t, Message> fences, seen;
    std::unordered_map<uint32_t, Message> arrived;  // at barriers, without waiting
    std::optional<ProxyMemory> proxies;             // where there are bulk copies
    /// As new, but for the memory that it has.
    void reset(uint32_t threads, bool hasBulk) {
      clocks = Clocks(threads, hasBulk), outside = Outside(threads);
      meetings.clear();
      for (auto* messages : {&fences, &seen, &arrived}) messages->clear();
      released.clear(), proxies.reset();
      shared.forget();
    }
    Message release(uint32_t thread) { return {clocks.release(thread), outside.known(thread)}; }
    void acquire(uint32_t thread, const Message& message) {
      clocks.acquire(thread, message.own);
      outside.acquire(thread, message.outside);
    }
  };
  /// Bytes of one row that an instruction touches.
  struct Part {
    uint64_t row;
    ByteMask mask;
  };
  struct Parts {
    std::array<Part, 2 * machine::kWarpSize> all;
    uint32_t count = 0;
    bool isInjective = true;
    void add(uint64_t row, const ByteMask& mask);
    void addRange(uint64_t address, uint64_t bytes);
  };

  Block& blockOf(const machine::BlockFrame& frame);
  void accessedByLane(const machine::AccessEvent& access, Block& block, Findings& findings);
  Touch touchOf(const machine::AccessEvent& access, const Block& block, uint32_t lane) const;
  static ActorId actorOf(const machine::AccessEvent& access, const Clocks& clocks, uint32_t thread, bool isTarget);
  Shadow& shadowOf(Block& block, machine::AccessSpace space) const;
  void touch(const machine::AccessEvent& access, machine::AccessSpace space, uint64_t address, uint32_t bytes,
             Touch touch, Findings& findings);

  // By rows
  bool canUseRows(const machine::AccessEvent& access) const;
  void accessedByRow(const machine::AccessEvent& access, Block& block, Findings& findings);
  static void findParts(const machine::AccessEvent& access, Parts& parts);
  std::optional<uint32_t> stampOf(const machine::AccessEvent& access, const Block& block, Shadow& shadow,
                                  const Parts& parts) const;
  bool enter(const Block& block, Shadow& shadow, Shadow::Row& row, uint32_t stamp, const ByteMask& mask) const;
  static bool areStepsOfThreads(const Shadow& shadow, const Stamp& earlier, const Stamp& later);
  bool areOrdered(const Block& block, const Shadow& shadow, const Stamp& earlier, const Stamp& later) const;
  void touchPart(const machine::AccessEvent& access, Block& block, const Part& part, Findings& findings);

  // Through textures and surfaces
  const Touch* staleWrite(const Block& block, const Touch& touch);
  void reportStale(const Touch& written, const Touch& read, Findings& findings);

  // Through the async proxy
  void followProxies(const machine::AccessEvent& access, Block& block, Findings& findings);
  static void fenceProxies(Block& block, uint32_t proxies, uint32_t thread);
  void reportUnseen(const ProxyWrites::Write& written, const machine::AccessEvent& copy, uint32_t thread,
                    Findings& findings);

  void compare(const machine::AccessEvent& access, Word& word, const Touch& touch, machine::AccessSpace space,
               Findings& findings);
  static bool reaches(const Reach& reach, const Touch& touch);
  static bool areMixed(const Touch& one, const Touch& other);
  bool areOrdered(const Block& block, const Touch& earlier, const Touch& later) const;
  void report(const machine::AccessEvent& access, machine::AccessSpace space, const Touch& earlier, const Touch& later,
              Findings& findings);
  bool isHoped(const Block& block, const Touch& earlier, const Touch& later) const;
  void followOrder(const machine::AccessEvent& access);
  void followOutside(const machine::AccessEvent& access, Block& block, uint32_t thread);
  void fence(Block& block, const machine::SyncEvent& sync, uint32_t thread);
  Reach reachOf(const machine::BlockFrame& frame, Block& block, uint32_t thread);
  void synchroniseBarrier(Block& block, const machine::SyncEvent& sync);
  static void synchroniseCopies(Clocks& clocks, const machine::SyncEvent& sync, uint32_t thread);

  Launch& launch_;
  const std::shared_ptr<Shared> shared_;
  const Family::Member self_;
  std::unordered_map<uint64_t, Reach> posted_;  // by word of global memory: what wide releases have made known there
  std::unordered_map<uint64_t, std::unique_ptr<Block>> blocks_;  // that run, by number in the grid
  std::vector<std::unique_ptr<Block>> spare_;                    // of blocks that have ended
  uint64_t lastNumber_ = ~uint64_t{0};
  Block* last_ = nullptr;
};

struct Races::Shared {
  Family family;
  Shadow global;
  bool isByLane = false;
};

}  // namespace ordito::check
