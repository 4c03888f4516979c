// See outside.hpp.
#include "check/outside.hpp"

#include <ranges>
#include <utility>

namespace ordito::check {

Reach joined(const Reach& one, const Reach& two) {
  if (!two || one == two) return one;
  if (!one) return two;
  auto both = std::make_shared<Blocks>(*one);
  bool isMore = false;
  for (const auto& [block, knowledge] : *two) {
    std::shared_ptr<const Knowledge>& mine = (*both)[block];
    if (mine == knowledge) continue;
    isMore = true;
    Knowledge sum = mine ? *mine : Knowledge();
    join(sum, *knowledge);
    mine = std::make_shared<const Knowledge>(std::move(sum));
  }
  return isMore ? both : one;
}

bool knows(const Reach& reach, uint64_t block, ActorId actor, Clock at) {
  if (!reach) return false;
  const auto it = reach->find(block);
  return it != reach->end() && actor < it->second->size() && at <= (*it->second)[actor];
}

const Outside::Thread& Outside::of(uint32_t thread) const {
  static const Thread nothing;
  return threads_.empty() ? nothing : threads_[thread];
}

Outside::Thread& Outside::made(uint32_t thread) {
  if (threads_.empty()) threads_.resize(count_);
  return threads_[thread];
}

void Outside::acquire(uint32_t thread, const Reach& reach) {
  if (reach) made(thread).known = joined(of(thread).known, reach);
}

void Outside::see(uint32_t thread, const Reach& reach, bool isAtomic) {
  Thread& t = made(thread);
  t.seen = joined(t.seen, reach);
  if (isAtomic) t.hoped = joined(t.hoped, reach);
}

void Outside::acquireSeen(uint32_t thread) {
  if (of(thread).seen) acquire(thread, std::exchange(made(thread).seen, nullptr));
}

template <class Threads>
void Outside::meetThose(const Threads& threads) {
  if (threads_.empty()) return;
  Reach known, hoped;
  for (uint32_t t : threads) {
    known = joined(known, threads_[t].known);
    hoped = joined(hoped, threads_[t].hoped);
  }
  if (!known && !hoped) return;
  for (uint32_t t : threads) {
    threads_[t].known = known;
    threads_[t].hoped = hoped;
  }
}

void Outside::meet(std::span<const uint32_t> threads) { meetThose(threads); }
void Outside::meetAll() { meetThose(std::views::iota(uint32_t{0}, count_)); }

}  // namespace ordito::check
