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

namespace {

/// The union of many, which are mostly the same.
class Union {
 public:
  void add(const Reach& more) {
    if (!more || more == last_) return;
    if (!last_ && sums_.empty()) {
      last_ = only_ = more;
      return;
    }
    if (only_) join(*std::exchange(only_, nullptr));
    join(*(last_ = more));
  }
  Reach take() {
    if (only_ || sums_.empty()) return only_;
    auto all = std::make_shared<Blocks>();
    for (auto& [block, sum] : sums_) (*all)[block] = std::make_shared<const Knowledge>(std::move(sum));
    return all;
  }

 private:
  void join(const Blocks& more) {
    for (const auto& [block, knowledge] : more) check::join(sums_[block], *knowledge);
  }
  Reach last_, only_;  // only_: there has been no other
  std::map<uint64_t, Knowledge> sums_;
};

}  // namespace

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

/// A fence and a barrier behind it make known what a fence behind the barrier would, if another thread then writes:
/// "__threadfence(); __syncthreads(); if (first) atomicAdd(...)" is how grids meet, and GPUs keep to it. So it is with
/// what one has seen, and others have a fence for.
template <class Threads>
void Outside::meetThose(const Threads& threads) {
  if (threads_.empty()) return;
  for (Reach Thread::* what : {&Thread::known, &Thread::hoped, &Thread::seen, &Thread::fenced}) {
    Union all;
    for (uint32_t t : threads) all.add(threads_[t].*what);
    const Reach sum = all.take();
    if (!sum) continue;
    for (uint32_t t : threads) threads_[t].*what = sum;
  }
}

void Outside::meet(std::span<const uint32_t> threads) { meetThose(threads); }
void Outside::meetAll() { meetThose(std::views::iota(uint32_t{0}, count_)); }

}  // namespace ordito::check
