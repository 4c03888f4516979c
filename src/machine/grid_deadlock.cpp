// See grid_deadlock.hpp.
#include "machine/grid_deadlock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "machine/block_names.hpp"

namespace ordito::machine {

namespace {

using Clock = std::chrono::steady_clock;
constexpr uint32_t kEnded = ~0u;
/// A block may arrive without waiting (barrier_arrive) and end, so the counts alone could be right by accident while
/// another block still computes: every block must have been seen to wait in a span in which nothing changed.
constexpr auto kSpan = std::chrono::milliseconds(300);

}  // namespace

GridDeadlock::GridDeadlock(const GridLaunch& launch)
    : launch_(launch), blocks_(launch.grid.count()), since_(Clock::now()), waitedIn_(blocks_), line_(blocks_) {}

uint64_t GridDeadlock::numberOf(const BlockFrame& frame) const {
  return frame.ctaid[0] + uint64_t{launch_.grid.x} * (frame.ctaid[1] + uint64_t{launch_.grid.y} * frame.ctaid[2]);
}

void GridDeadlock::ended(const BlockFrame& frame) {
  const std::lock_guard lock(mutex_);
  waitedIn_[numberOf(frame)] = kEnded;
  ++endedCount_;
}

void GridDeadlock::suspended(const BlockFrame& frame) {
  const std::lock_guard lock(mutex_);
  waitedIn_[numberOf(frame)] = span_;
}

/// Blocks that have arrived at the barrier since all last met there.
uint64_t GridDeadlock::arrived() const {
  const uint32_t word = __atomic_load_n(reinterpret_cast<const uint32_t*>(launch_.gridWorkspace + 4), __ATOMIC_ACQUIRE);
  const uint64_t count = word & 0x7FFFFFFF, first = 0x80000000 - (blocks_ - 1);
  return count < blocks_ ? count : count - first + 1;
}

bool GridDeadlock::allStillWait() const {
  return std::all_of(waitedIn_.begin(), waitedIn_.end(),
                     [&](uint32_t span) { return span == kEnded || span == span_; });
}

bool GridDeadlock::isThere() {
  const std::lock_guard lock(mutex_);
  if (isThere_ || endedCount_ == 0) return isThere_;
  const uint64_t now = arrived();
  if (now != seenArrived_ || endedCount_ != seenEnded_) {
    seenArrived_ = now;
    seenEnded_ = endedCount_;
    since_ = Clock::now();
    ++span_;
    return false;
  }
  isThere_ = now > 0 && now + endedCount_ == blocks_ && Clock::now() - since_ >= kSpan && allStillWait();
  return isThere_;
}

void GridDeadlock::waits(const BlockFrame& frame) {
  const std::lock_guard lock(mutex_);
  line_[numberOf(frame)] = frame.waitsAt;
}

/// Those that `selects` takes.
template <class Selects>
std::string GridDeadlock::namesOf(Selects selects) const {
  std::vector<uint64_t> blocks;
  for (uint64_t b = 0; b < blocks_; ++b)
    if (selects(b)) blocks.push_back(b);
  return blockNames(launch_.grid, blocks);
}

std::optional<Fault> GridDeadlock::fault() const {
  const std::lock_guard lock(mutex_);
  if (!isThere_) return std::nullopt;
  auto isWaiting = [&](uint64_t block) { return waitedIn_[block] != kEnded; };
  std::set<uint32_t> lines;
  for (uint64_t b = 0; b < blocks_; ++b)
    if (isWaiting(b)) lines.insert(line_[b]);
  Fault fault;
  fault.kind = FaultKind::BarrierDeadlock;
  fault.kernel = launch_.kernelName ? launch_.kernelName : "?";
  fault.ptxLine = *lines.begin();
  fault.message = fmt::format(
      "kernel '{}': a deadlock: {} of the grid's {} blocks wait in grid.sync() for ever, since "
      "the others have ended:",
      fault.kernel, blocks_ - endedCount_, blocks_);
  for (const uint32_t line : lines)
    fault.message += fmt::format(" {} wait{}{};", namesOf([&](uint64_t b) { return isWaiting(b) && line_[b] == line; }),
                                 line ? " at PTX line " : "", line ? fmt::to_string(line) : "");
  fault.message += fmt::format(" {} have ended", namesOf([&](uint64_t b) { return !isWaiting(b); }));
  return fault;
}

}  // namespace ordito::machine
