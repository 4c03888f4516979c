// Logical time of the threads of one block: who knows what of whom.
//
// Each thread has a clock that counts its synchronisations, and knows of each other thread up to which of that one's
// clocks its actions have become visible. A full barrier lets all know everything, so it only moves a common base;
// lanes of a warp that synchronise need the 32 clocks of their warp; what goes from warp to warp otherwise (barriers of
// some warps, flags, locks, mbarriers) takes a clock for each thread of the block, made when it is first needed.
//
// The asynchronous copies of a thread are done by agents of its own. The clock of one counts groups of copies, and the
// thread knows of it what it has waited for. Agents never come to barriers, so the base of each is what was known to
// its thread when all met.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ordito::check {

using Clock = uint32_t;
using ActorId = uint32_t;  // a thread of the block by its index, or an agent of it

/// Who makes a thread's asynchronous copies: cp.async; the two sides of a cp.async.bulk that a group belongs to, since
/// .read waits for one side; cp.async.bulk that mbarriers wait for: one agent for each of four neighbouring mbarriers,
/// as to wait for one copy says nothing of another's.
enum class Agent : uint8_t { Copies, BulkReads, BulkWrites, Bulk };
constexpr uint32_t kBulkAgents = 4;
inline Agent bulkAgentOf(uint64_t mbarrier) {
  return static_cast<Agent>(static_cast<uint32_t>(Agent::Bulk) + mbarrier / 8 % kBulkAgents);
}

/// What somebody knows of all actors; empty: nothing beyond the base.
using Knowledge = std::vector<Clock>;

class Clocks {
 public:
  /// `hasBulk`: agents for bulk copies are wanted.
  Clocks(uint32_t threads, bool hasBulk);

  uint32_t threads() const { return threads_; }
  ActorId agentOf(uint32_t thread, Agent agent) const { return threads_ * (1 + static_cast<uint32_t>(agent)) + thread; }
  Clock now(ActorId actor) const { return clock_[actor]; }
  /// Have all threads the same clock, since they have met only all together?
  bool areEven() const { return areEven_; }
  /// How often all threads have met.
  uint32_t meetings() const { return meetings_; }
  /// Has what `other` did at its time `at` happened before what `self` does now?
  bool knows(ActorId self, ActorId other, Clock at) const;

  /// All threads have met.
  void meetAll();
  /// These threads know what each of them knows, and what `also` says; then their clocks go on.
  void meet(std::span<const uint32_t> threads, const Knowledge& also = {});
  /// What the thread makes known with a release; its clock goes on.
  Knowledge release(uint32_t thread);
  void acquire(uint32_t thread, const Knowledge& released);

  // Asynchronous copies
  void commit(uint32_t thread, Agent agent);
  /// All groups but the last `open` have arrived.
  void waitForCopies(uint32_t thread, Agent agent, uint32_t open);
  /// As release(), and the thread's copies so far are part of it.
  Knowledge releaseCopies(uint32_t thread);
  /// What the thread's bulk copies so far make known, those of one agent.
  Knowledge releaseBulk(uint32_t thread, Agent agent);

 private:
  uint32_t actors() const { return threads_ * kinds_; }
  Clock known(uint32_t thread, ActorId other) const;
  void learn(uint32_t thread, const Knowledge& from);
  Knowledge& ofWarp(uint32_t thread);

  uint32_t threads_, kinds_;  // of actors: threads, and agents of each kind
  uint32_t meetings_ = 0;
  bool areEven_ = true;
  std::vector<Clock> clock_;  // of each actor
  std::vector<Clock> base_;   // known to all, by actor
  // By thread, made when one needs it: of the actors of its warp, 32 of each kind; of all actors since the last
  // meetAll.
  std::vector<Knowledge> warp_, all_;
};

void join(Knowledge& into, const Knowledge& from);

}  // namespace ordito::check
