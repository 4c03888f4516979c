// Random comparisons of maxima and minima: the blocks that the margins of one block allow compare as it does.
#include "check/margin.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

namespace ordito::check {
namespace {

using GuardKind = ir::GuardOperands::Kind;

constexpr int64_t kSide = 6;  // of the grid
constexpr uint32_t kThreads = 8;
using Block = std::array<int64_t, 3>;

/// A value of each thread that steps from block to block, or an extreme of two such.
struct Expression {
  Term term;
  std::array<int64_t, kThreads> start{};
  std::vector<Expression> of{};
};

int64_t valueOf(const Expression& e, uint32_t thread, const Block& block) {
  if (e.of.empty()) {
    const ir::BlockStep& step = e.term.shifts[0];
    return e.start[thread] + step[0] * block[0] + step[1] * block[1];
  }
  const int64_t a = valueOf(e.of[0], thread, block), b = valueOf(e.of[1], thread, block);
  return e.term.kind == Term::Kind::Greatest ? std::max(a, b) : std::min(a, b);
}

void tell(const Expression& e, uint32_t thread, const Block& block, LastOperands& last) {
  if (e.of.empty()) return;
  for (const Expression& part : e.of) tell(part, thread, block, last);
  last.set(e.term.line, thread, valueOf(e.of[0], thread, block), valueOf(e.of[1], thread, block));
}

bool outcome(GuardKind kind, int64_t a, int64_t b) {
  return kind == GuardKind::Less ? a < b : kind == GuardKind::LessOrEqual ? a <= b : a == b;
}

class Fuzz {
 public:
  explicit Fuzz(uint32_t seed) : random_(seed) {}
  int64_t pick(int64_t count) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(count)); }

  Expression expression(unsigned depth) {
    Expression e;
    if (depth == 0 || pick(3) == 0) {
      e.term.shifts = {{pick(9) - 4, pick(9) - 4, 0}};
      for (int64_t& start : e.start) start = pick(24) - 12;
      return e;
    }
    e.of = {expression(depth - 1), expression(depth - 1)};
    e.term.kind = pick(2) ? Term::Kind::Greatest : Term::Kind::Least;
    e.term.line = ++line_;
    for (const Expression& part : e.of) {
      e.term.of.push_back(part.term);
      e.term.shifts.insert(e.term.shifts.end(), part.term.shifts.begin(), part.term.shifts.end());
    }
    return e;
  }

 private:
  std::mt19937 random_;
  uint32_t line_ = 0;
};

struct Comparison {
  Guard guard{};
  Expression a{}, b{};
};

std::vector<Limit> limitsOf(const Comparison& c, const Block& block) {
  GuardMargin margin(c.guard);
  for (uint32_t thread = 0; thread < kThreads; ++thread) {
    LastOperands last;
    tell(c.a, thread, block, last), tell(c.b, thread, block, last);
    margin.add(thread, valueOf(c.a, thread, block), valueOf(c.b, thread, block), last);
  }
  std::vector<Limit> limits;
  margin.addLimits(limits);
  return limits;
}

bool isAllowed(const std::vector<Limit>& limits, const Block& from, const Block& to) {
  return std::ranges::all_of(limits, [&](const Limit& limit) {
    int64_t by = 0;
    for (size_t d = 0; d < 3; ++d) by += limit.step[d] * (to[d] - from[d]);
    return limit.low <= by && by <= limit.high;
  });
}

template <class Visit>
void forEachBlock(Visit visit) {
  for (int64_t y = 0; y < kSide; ++y)
    for (int64_t x = 0; x < kSide; ++x) visit(Block{x, y, 0});
}

TEST(Margin, AllowedBlocksCompareAlike) {
  Fuzz fuzz(1);
  uint64_t allowed = 0, others = 0;
  for (int round = 0; round < 2000; ++round) {
    const GuardKind kind = std::array{GuardKind::Less, GuardKind::LessOrEqual, GuardKind::Equal}[fuzz.pick(3)];
    Comparison c{.a = fuzz.expression(2), .b = fuzz.expression(2)};
    c.guard = {{kind, 1, 2, isa::Type::s32}, c.a.term, c.b.term};
    const Block from{fuzz.pick(kSide), fuzz.pick(kSide), 0};
    const std::vector<Limit> limits = limitsOf(c, from);
    EXPECT_TRUE(isAllowed(limits, from, from));
    forEachBlock([&](const Block& to) {
      const bool isIn = isAllowed(limits, from, to);
      (isIn ? allowed : others) += 1;
      for (uint32_t t = 0; isIn && t < kThreads; ++t)
        ASSERT_EQ(outcome(kind, valueOf(c.a, t, from), valueOf(c.b, t, from)),
                  outcome(kind, valueOf(c.a, t, to), valueOf(c.b, t, to)));
    });
  }
  EXPECT_GT(allowed, 10'000u);
  EXPECT_GT(others, 10'000u);
}

/// max(x, y) < 23 in blocks of 4 × 2 threads, 6 × 12 of them: what says that x is too large says nothing of y.
TEST(Margin, AnEdgeIsOneClass) {
  Comparison c;
  c.a.of = {Expression{.term = {.shifts = {{4, 0, 0}}}}, Expression{.term = {.shifts = {{0, 2, 0}}}}};
  for (uint32_t t = 0; t < kThreads; ++t) c.a.of[0].start[t] = t % 4, c.a.of[1].start[t] = t / 4;
  c.a.term = {{{4, 0, 0}, {0, 2, 0}}, Term::Kind::Greatest, 1, {c.a.of[0].term, c.a.of[1].term}};
  c.b = {.term = {.shifts = {{0, 0, 0}}}};
  c.b.start.fill(23);
  c.guard = {{GuardKind::Less, 1, 2, isa::Type::s32}, c.a.term, c.b.term};
  const Block edge{5, 0, 0};
  const std::vector<Limit> limits = limitsOf(c, edge);
  for (int64_t y = 0; y < 11; ++y) EXPECT_TRUE(isAllowed(limits, edge, {5, y, 0})) << y;
  EXPECT_FALSE(isAllowed(limits, edge, {4, 0, 0}));
  EXPECT_FALSE(isAllowed(limits, edge, {5, 11, 0}));
}

}  // namespace
}  // namespace ordito::check
