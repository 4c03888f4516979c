// What the threads of a block know of other blocks of the grid: order that goes through global memory, by releases and
// acquires of a scope wide enough for both (PTX ISA, "Memory Consistency Model": "Release and Acquire Patterns",
// "Observation"). What one thread knows others learn where they meet.
//
// Knowledge of a block is never changed once it is made, so that many threads and words share it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "check/clocks.hpp"

namespace ordito::check {

/// By block: what is known of its threads. Null: nothing.
using Blocks = std::map<uint64_t, std::shared_ptr<const Knowledge>>;
using Reach = std::shared_ptr<const Blocks>;

Reach joined(const Reach& one, const Reach& two);
bool knows(const Reach& reach, uint64_t block, ActorId actor, Clock at);

/// Of one block.
class Outside {
 public:
  explicit Outside(uint32_t threads) : count_(threads) {}

  const Reach& known(uint32_t thread) const { return of(thread).known; }
  /// Known only if a relaxed atomic operation without a fence behind it counted as an acquire.
  const Reach& hoped(uint32_t thread) const { return of(thread).hoped; }
  /// What the thread's strong writes make known: what it knew, and had done, at its last wide fence.
  const Reach& fenced(uint32_t thread) const { return of(thread).fenced; }

  void acquire(uint32_t thread, const Reach& reach);
  /// A strong read without an acquire; of an atomic operation it may be hoped that it is one.
  void see(uint32_t thread, const Reach& reach, bool isAtomic);
  /// A fence: what was seen is acquired.
  void acquireSeen(uint32_t thread);
  void setFenced(uint32_t thread, Reach reach, Clock at) {
    made(thread).fenced = std::move(reach);
    made(thread).fence = at;
  }
  /// The thread's clock at its last wide fence, if it has written nothing strongly since. The next such write is part
  /// of the release: whoever observed it comes behind it, too. Whoever did need not have observed later ones.
  std::optional<Clock> fence(uint32_t thread) const { return of(thread).fence; }
  void forgetFence(uint32_t thread) {
    if (of(thread).fence) made(thread).fence.reset();
  }
  void meet(std::span<const uint32_t> threads);
  void meetAll();

 private:
  struct Thread {
    Reach known, hoped, seen, fenced;
    std::optional<Clock> fence;
  };
  template <class Threads>
  void meetThose(const Threads& threads);
  const Thread& of(uint32_t thread) const;
  Thread& made(uint32_t thread);

  uint32_t count_;
  std::vector<Thread> threads_;  // empty: nobody knows anything
};

}  // namespace ordito::check
