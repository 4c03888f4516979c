// See margin.hpp.
#include "check/margin.hpp"

#include <algorithm>
#include <bit>

namespace ordito::check {

using ir::BlockStep;
using GuardKind = ir::GuardOperands::Kind;

void Margin::add(GuardKind kind, int64_t a, int64_t b) {
  lowA_ = std::min(lowA_, a), highA_ = std::max(highA_, a);
  lowB_ = std::min(lowB_, b), highB_ = std::max(highB_, b);
  if (kind == GuardKind::Or) {
    bitsOfA_ |= static_cast<uint64_t>(a), bitsOfB_ |= static_cast<uint64_t>(b);
    overlaps_ |= (a & b) != 0;
    return;
  }
  const int64_t difference = static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
  isZero_ |= difference == 0;
  if (difference < 0) below_ = std::max(below_.value_or(difference), difference);
  if (difference > 0) above_ = std::min(above_.value_or(difference), difference);
}

/// The operands stay numbers of their type, of 64 bits in its middle half; the difference keeps its sign. Operands of
/// an `or` stay apart if one is shifted by multiples of more than the other has.
void Margin::addLimits(const ir::GuardOperands& what, const BlockStep& a, const BlockStep& b,
                       std::vector<Limit>& limits) const {
  if (lowA_ > highA_) return;  // nobody came there
  constexpr int64_t kHuge = INT64_C(1) << 61;
  if (what.kind == GuardKind::Or) {
    const auto keep = [&](const BlockStep& step, uint64_t others) {
      const uint64_t mask = std::bit_width(others) > 62 ? ~uint64_t{0} : std::bit_ceil(others + 1) - 1;
      const bool isFree =
          std::ranges::all_of(step, [&](int64_t by) { return (static_cast<uint64_t>(by) & mask) == 0; });
      if (!isFree || overlaps_) limits.push_back({step, 0, 0});
    };
    return keep(a, bitsOfB_), keep(b, bitsOfA_);
  }
  const bool isWide = isa::bits(what.type) == 64, isSigned = isa::isSigned(what.type);
  const int64_t least = !isSigned ? 0
                        : isWide  ? -kHuge
                                  : INT32_MIN,
                most = isWide     ? kHuge
                       : isSigned ? INT32_MAX
                                  : int64_t{UINT32_MAX};
  const auto stay = [&](const BlockStep& step, int64_t low, int64_t high) {
    if (low < least || high > most)
      limits.push_back({step, 0, 0});
    else if (step != BlockStep{})
      limits.push_back({step, least - low, most - high});
  };
  stay(a, lowA_, highA_), stay(b, lowB_, highB_);
  // Who is outside of that middle is not shifted, and nobody in it gets past him.
  const bool isFar = isWide && (std::min(lowA_, lowB_) < -kHuge || std::max(highA_, highB_) > kHuge);
  if (what.kind == GuardKind::Widen || isFar) return;
  BlockStep step = a;
  for (size_t d = 0; d < step.size(); ++d) step[d] -= b[d];
  if (step == BlockStep{}) return;
  Limit limit{step, INT64_MIN, INT64_MAX};
  if (below_) limit.high = -*below_ - (what.kind == GuardKind::LessOrEqual ? 0 : 1);
  if (above_) limit.low = -*above_ + (what.kind == GuardKind::Less ? 0 : 1);
  if (isZero_ && what.kind != GuardKind::Less) limit.high = std::min<int64_t>(limit.high, 0);
  if (isZero_ && what.kind != GuardKind::LessOrEqual) limit.low = std::max<int64_t>(limit.low, 0);
  limits.push_back(limit);
}

std::optional<std::pair<int64_t, int64_t>> LastOperands::find(uint32_t line, uint32_t thread) const {
  const auto found = last_.find({line, thread});
  return found == last_.end() ? std::nullopt : std::optional(found->second);
}

void GuardMargin::add(uint32_t thread, int64_t a, int64_t b, const LastOperands& last) {
  compare({&guard_.a, a}, {&guard_.b, b}, thread, last);
}

/// A sum by `or` and a widening need their operands whole.
void GuardMargin::compare(Valued a, Valued b, uint32_t thread, const LastOperands& last) {
  const GuardKind kind = guard_.what.kind;
  if (kind != GuardKind::Or && kind != GuardKind::Widen) {
    const bool isBelow = kind == GuardKind::LessOrEqual ? a.value <= b.value : a.value < b.value;
    const bool isEqual = kind == GuardKind::Equal && a.value == b.value;
    if (const auto parts = whatDecides(a, true, isBelow, isEqual, thread, last); !parts.empty()) {
      for (const Valued& part : parts) compare(part, b, thread, last);
      return;
    }
    if (const auto parts = whatDecides(b, false, isBelow, isEqual, thread, last); !parts.empty()) {
      for (const Valued& part : parts) compare(a, part, thread, last);
      return;
    }
  }
  margins_[{a.term, b.term}].add(kind, a.value, b.value);
}

/// The parts of an operand that must keep their side so that it does; none: it has no parts, or they are not those that
/// were told last. `isLeft`: it is a of a < b.
std::vector<GuardMargin::Valued> GuardMargin::whatDecides(const Valued& one, bool isLeft, bool isBelow, bool isEqual,
                                                          uint32_t thread, const LastOperands& last) const {
  if (one.term->kind == Term::Kind::Plain) return {};
  const auto told = last.find(one.term->line, thread);
  if (!told) return {};
  const bool isGreatest = one.term->kind == Term::Kind::Greatest;
  const Valued first{&one.term->of[0], told->first}, second{&one.term->of[1], told->second};
  const Valued& chosen = (first.value >= second.value) == isGreatest ? first : second;
  if (chosen.value != one.value) return {};
  if (isEqual || isGreatest == (isBelow == isLeft)) return {first, second};
  return {chosen};
}

void GuardMargin::addLimits(std::vector<Limit>& limits) const {
  for (const auto& [terms, margin] : margins_)
    for (const BlockStep& a : terms.first->shifts)
      for (const BlockStep& b : terms.second->shifts) margin.addLimits(guard_.what, a, b, limits);
}

}  // namespace ordito::check
