// See race.hpp.
#include "jit/race.hpp"

namespace ordito::jit {

bool Race::ran(Variant variant, uint64_t blocks, uint64_t nanoseconds) {
  std::lock_guard lock(mutex_);
  if (isOver()) return false;
  Result& r = of(variant);
  ++r.pieces, r.blocks += blocks, r.nanoseconds += nanoseconds;
  if (variant == turn()) thisTurn_ += nanoseconds;
  if (thisTurn_ >= rules_.turn) {
    turn_.store(turn() == Variant::Favourite ? Variant::Contender : Variant::Favourite, std::memory_order_relaxed);
    thisTurn_ = 0;
  }
  return isLong(of(Variant::Favourite)) && isLong(of(Variant::Contender)) && endHeat();
}

/// A contender that does not win the first heat has lost.
bool Race::endHeat() {
  Result &favourite = of(Variant::Favourite), &contender = of(Variant::Contender);
  const bool leads = contender.perBlock() * rules_.lead < favourite.perBlock();
  if (leads && heat_++ == 0) {
    favourite = contender = {};
    return false;
  }
  turn_.store(leads ? Variant::Contender : Variant::Favourite, std::memory_order_relaxed);
  isOver_.store(true, std::memory_order_release);
  return true;
}

std::optional<Race::Variant> Race::winner() const { return isOver() ? std::optional(turn()) : std::nullopt; }

double Race::perBlock(Variant variant) const {
  std::lock_guard lock(mutex_);
  return of(variant).perBlock();
}

}  // namespace ordito::jit
