// Instructions through which the lanes of a warp see each other: shfl, vote, match, redux, activemask, bar.warp.sync.
// Each body runs once for all lanes that take part (`active`); a lane reads its operands from its own instruction,
// which may be another one with the same meaning.
#include "interp/executor.hpp"

namespace ordito::interp {

using isa::mod;
using isa::ModifierKind;
using isa::Type;

/// The manual's pseudo-code for the source lane. A source that does not take part is undefined there; here the lane
/// keeps its own value.
void Executor::shuffle() {
  std::array<uint64_t, 32> values{}, results{};
  std::array<bool, 32> inRange{};
  std::array<uint32_t, 32> sources{};
  uint32_t absent = 0;  // lanes whose source does not take part
  for (uint32_t lane : Lanes(active_)) {
    select(lane);
    values[lane] = read(2, Type::b32);
  }
  for (uint32_t lane : Lanes(active_)) {
    select(lane);
    int self = int(lane), b = int(read(3, Type::u32) & 31);
    int c = int(read(4, Type::u32)), clamp = c & 31, segment = c >> 8 & 31;
    int highest = (self & segment) | (clamp & ~segment), lowest = self & segment, source = self;
    switch (instruction_->mods[ModifierKind::ShflMode]) {
      case mod<ModifierKind::ShflMode>("up").value: source = self - b, inRange[lane] = source >= highest; break;
      case mod<ModifierKind::ShflMode>("down").value: source = self + b, inRange[lane] = source <= highest; break;
      case mod<ModifierKind::ShflMode>("bfly").value: source = self ^ b, inRange[lane] = source <= highest; break;
      default: source = lowest | (b & ~segment & 31), inRange[lane] = source <= highest; break;
    }
    bool participates = inRange[lane] && (active_ >> source & 1);
    if (inRange[lane] && !participates) absent |= 1u << lane;
    sources[lane] = uint32_t(participates ? source : self);
    results[lane] = values[sources[lane]];
  }
  if (block_.isHeard) moveUndefined(0, 2, sources, absent);
  for (uint32_t lane : Lanes(active_)) {
    select(lane);
    write(0, Type::b32, results[lane]);
    if (present(1)) writePredicate(1, inRange[lane]);
  }
}

void Executor::Shfl() { shuffle(); }
void Executor::ShflOld() { shuffle(); }

void Executor::vote(uint32_t lanes) {
  uint32_t ballot = 0;
  for (uint32_t lane : Lanes(lanes)) {
    select(lane);
    ballot |= uint32_t(readPredicate(1)) << lane;
  }
  for (uint32_t lane : Lanes(lanes)) {
    select(lane);
    switch (instruction_->mods[ModifierKind::VoteMode]) {
      case mod<ModifierKind::VoteMode>("all").value: writePredicate(0, ballot == lanes); break;
      case mod<ModifierKind::VoteMode>("any").value: writePredicate(0, ballot != 0); break;
      case mod<ModifierKind::VoteMode>("uni").value: writePredicate(0, ballot == 0 || ballot == lanes); break;
      default: write(0, Type::b32, ballot); break;
    }
  }
}

void Executor::Vote() { vote(active_); }
void Executor::VoteOld() { vote(active_); }

/// any: the lanes that hold the same value. all: every lane if they all do, else none.
void Executor::Match() {
  std::array<uint64_t, 32> values{};
  for (uint32_t lane : Lanes(active_)) {
    select(lane);
    values[lane] = read(2, type());
  }
  auto lanesWith = [&](uint64_t value) {
    uint32_t mask = 0;
    for (uint32_t lane : Lanes(active_)) mask |= uint32_t(values[lane] == value) << lane;
    return mask;
  };
  for (uint32_t lane : Lanes(active_)) {
    select(lane);
    uint32_t same = lanesWith(values[lane]);
    bool wantsAll = is(mod<ModifierKind::MatchMode>("all"));
    write(0, Type::b32, wantsAll && same != active_ ? 0 : same);
    if (present(1)) writePredicate(1, same == active_);
  }
}

void Executor::Activemask() {
  for (uint32_t lane : Lanes(active_)) {
    select(lane);
    write(0, Type::b32, active_);
  }
}

void Executor::Redux() {
  Type t = type();
  auto combineTwo = [&](uint64_t a, uint64_t b) -> uint64_t {
    bool less = isa::isSigned(t) ? signExtend(a, 32) < signExtend(b, 32) : a < b;
    switch (instruction_->mods[ModifierKind::ReduxOp]) {
      case mod<ModifierKind::ReduxOp>("add").value: return lowBits(a + b, 32);
      case mod<ModifierKind::ReduxOp>("min").value: return less ? a : b;
      case mod<ModifierKind::ReduxOp>("max").value: return less ? b : a;
      case mod<ModifierKind::ReduxOp>("and").value: return a & b;
      case mod<ModifierKind::ReduxOp>("or").value: return a | b;
      default: return a ^ b;
    }
  };
  uint64_t result = 0;
  bool first = true;
  for (uint32_t lane : Lanes(active_)) {
    select(lane);
    uint64_t value = read(1, t);
    result = first ? value : combineTwo(result, value);
    first = false;
  }
  for (uint32_t lane : Lanes(active_)) {
    select(lane);
    write(0, t, result);
  }
}

/// The lowest lane leads.
void Executor::Elect() {
  const uint32_t leader = *Lanes(active_).begin();
  for (uint32_t lane : Lanes(active_)) {
    select(lane);
    write(0, Type::b32, leader);
    writePredicate(1, lane == leader);
  }
}

/// Meeting was all.
void Executor::BarWarpSync() {}

}  // namespace ordito::interp
