// How far the comparisons of a block were from coming out otherwise, which says in which other blocks they come out
// alike (ir/block_forms.hpp).
//
// An operand is shifted from block to block by one step, or is the greater or the lesser of several values with steps
// of their own: compilers make max(x, y) >= n of x >= n || y >= n. Such a comparison is taken apart again. It is told
// what the values were, and for each thread it is enough that those which decide keep their side: of a maximum that is
// below, all; of one that is not, the greatest. So threads at the right edge say nothing of y.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "ir/block_forms.hpp"

namespace ordito::check {

/// Blocks whose distance along `step` lies in [low, high].
struct Limit {
  ir::BlockStep step;
  int64_t low, high;
};

/// What a guard compares.
struct Term {
  enum class Kind : uint8_t { Plain, Least, Greatest };
  std::vector<ir::BlockStep> shifts{};  // by any of which it may be shifted
  Kind kind = Kind::Plain;
  uint32_t line = 0;       // of the instruction that chooses
  std::vector<Term> of{};  // its two operands
  bool operator==(const Term&) const = default;
};

struct Guard {
  ir::GuardOperands what;
  Term a, b;
  bool operator==(const Guard& o) const { return what.kind == o.what.kind && a == o.a && b == o.b; }
};

/// Of two terms in one block.
class Margin {
 public:
  void add(ir::GuardOperands::Kind kind, int64_t a, int64_t b);
  /// The blocks in which they compare alike for all threads, and every time: their distance from this one.
  void addLimits(const ir::GuardOperands& what, const ir::BlockStep& a, const ir::BlockStep& b,
                 std::vector<Limit>& limits) const;

 private:
  int64_t lowA_ = INT64_MAX, highA_ = INT64_MIN, lowB_ = INT64_MAX, highB_ = INT64_MIN;
  // Of a - b: the greatest below zero, the least above; whether it was zero.
  std::optional<int64_t> below_, above_;
  bool isZero_ = false, overlaps_ = false;
  uint64_t bitsOfA_ = 0, bitsOfB_ = 0;
};

/// The operands that each thread of a block had last at an instruction.
class LastOperands {
 public:
  void set(uint32_t line, uint32_t thread, int64_t a, int64_t b) { last_[{line, thread}] = {a, b}; }
  std::optional<std::pair<int64_t, int64_t>> find(uint32_t line, uint32_t thread) const;
  void clear() { last_.clear(); }

 private:
  std::map<std::pair<uint32_t, uint32_t>, std::pair<int64_t, int64_t>> last_;
};

/// Of a guard in one block. The guard must outlive it.
class GuardMargin {
 public:
  explicit GuardMargin(const Guard& guard) : guard_(guard) {}
  void add(uint32_t thread, int64_t a, int64_t b, const LastOperands& last);
  void addLimits(std::vector<Limit>& limits) const;

 private:
  struct Valued {
    const Term* term;
    int64_t value;
  };
  void compare(Valued a, Valued b, uint32_t thread, const LastOperands& last);
  std::vector<Valued> whatDecides(const Valued& one, bool isLeft, bool isBelow, bool isEqual, uint32_t thread,
                                  const LastOperands& last) const;

  const Guard& guard_;
  std::map<std::pair<const Term*, const Term*>, Margin> margins_;
};

}  // namespace ordito::check
