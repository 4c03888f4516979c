// See clocks.hpp.
#include "check/clocks.hpp"

#include <algorithm>

#include "machine/kernel.hpp"

namespace ordito::check {

using machine::kWarpSize;

void join(Knowledge& into, const Knowledge& from) {
  if (into.size() < from.size()) into.resize(from.size());
  for (size_t i = 0; i < from.size(); ++i) into[i] = std::max(into[i], from[i]);
}

/// Clocks begin at 1, so that 0 is before everything.
Clocks::Clocks(uint32_t threads, bool hasBulk)
    : threads_(threads),
      kinds_(hasBulk ? 1 + static_cast<uint32_t>(Agent::Bulk) + kBulkAgents : 2),
      clock_(actors(), 1),
      base_(actors()) {}

Clock Clocks::known(uint32_t thread, ActorId other) const {
  Clock best = base_[other];
  if (!all_.empty() && !all_[thread].empty()) best = std::max(best, all_[thread][other]);
  const uint32_t of = other % threads_, kind = other / threads_;
  if (of / kWarpSize == thread / kWarpSize && !warp_.empty() && !warp_[thread].empty())
    best = std::max(best, warp_[thread][of % kWarpSize + kind * kWarpSize]);
  return best;
}

/// An agent knows what its thread knew when it started the copy, which is when it is asked.
bool Clocks::knows(ActorId self, ActorId other, Clock at) const {
  const uint32_t thread = self % threads_;
  if (other == thread) return true;
  return at <= known(thread, other);
}

/// The base of each thread is its clock now; clocks go on behind it. Nobody knows more of an agent than its base unless
/// it was told.
void Clocks::meetAll() {
  ++meetings_;
  if (!warp_.empty() || !all_.empty())
    for (ActorId agent = threads_; agent < actors(); ++agent) base_[agent] = known(agent % threads_, agent);
  for (uint32_t t = 0; t < threads_; ++t) base_[t] = clock_[t]++;
  all_.clear();
}

Knowledge& Clocks::ofWarp(uint32_t thread) {
  if (warp_.empty()) warp_.resize(threads_);
  if (warp_[thread].empty()) warp_[thread].resize(kinds_ * kWarpSize);
  return warp_[thread];
}

void Clocks::learn(uint32_t thread, const Knowledge& from) {
  if (from.empty()) return;
  if (all_.empty()) all_.resize(threads_);
  if (all_[thread].empty()) all_[thread].resize(actors());
  join(all_[thread], from);
}

Knowledge Clocks::release(uint32_t thread) {
  Knowledge knowledge(actors());
  for (ActorId other = 0; other < actors(); ++other) knowledge[other] = known(thread, other);
  knowledge[thread] = clock_[thread]++;
  areEven_ = false;
  return knowledge;
}

void Clocks::acquire(uint32_t thread, const Knowledge& released) { learn(thread, released); }

/// Lanes of one warp that know nothing of other warps need no more than the clocks of the warp.
void Clocks::meet(std::span<const uint32_t> threads, const Knowledge& also) {
  const bool isOneWarp = also.empty() && std::ranges::all_of(threads, [&](uint32_t t) {
                           return t / kWarpSize == threads[0] / kWarpSize && (all_.empty() || all_[t].empty());
                         });
  if (!isOneWarp) {
    Knowledge together = also;
    for (uint32_t t : threads) join(together, release(t));
    for (uint32_t t : threads) learn(t, together);
    return;
  }
  Knowledge together(kinds_ * kWarpSize);
  areEven_ = false;
  for (uint32_t t : threads) {
    join(together, ofWarp(t));
    together[t % kWarpSize] = clock_[t]++;
  }
  for (uint32_t t : threads) warp_[t] = together;
}

void Clocks::commit(uint32_t thread, Agent agent) { ++clock_[agentOf(thread, agent)]; }

void Clocks::waitForCopies(uint32_t thread, Agent agent, uint32_t open) {
  const Clock begun = clock_[agentOf(thread, agent)] - 1;  // groups that are closed
  if (open >= begun) return;
  Clock& known = ofWarp(thread)[kWarpSize * (1 + static_cast<uint32_t>(agent)) + thread % kWarpSize];
  known = std::max(known, begun - open);
}

Knowledge Clocks::releaseCopies(uint32_t thread) {
  Knowledge knowledge = release(thread);
  const ActorId agent = agentOf(thread, Agent::Copies);
  knowledge[agent] = clock_[agent]++;
  return knowledge;
}

Knowledge Clocks::releaseBulk(uint32_t thread, Agent agent) {
  Knowledge knowledge(actors());
  const ActorId actor = agentOf(thread, agent);
  knowledge[actor] = clock_[actor]++;
  return knowledge;
}

}  // namespace ordito::check
