// The shape analysis: an optimistic data-flow iteration in which shapes only grow (unknown, segmented, general) and
// branches only become divergent.
//
// What a divergent branch does to others (sync dependence): a block that two paths from the branch reach on different
// sides is a join, and its phis take different inputs in different lanes; a loop that some lanes leave earlier makes
// its exit phis differ (temporal divergence). See Rosemann, Moll, Hack: "An Abstract Interpretation for SPMD Divergence
// on Reducible Control Flow Graphs", POPL 2021; joins are found by their label propagation.
#include "ir/shape.hpp"

#include <algorithm>
#include <bit>
#include <map>

#include "ir/graph.hpp"
#include "ir/shape_transfer.hpp"
#include "ir/sync_points.hpp"

namespace ordito::ir {
namespace {

Shape uniform(bool warpVarying, uint8_t alignment = 0, int width = 64) {
  Shape s;
  s.width = static_cast<uint8_t>(width);
  s.kind = Shape::Kind::Segmented;
  s.warpVarying = warpVarying;
  s.alignment = alignment;
  return s;
}

Shape general() {
  Shape s;
  s.kind = Shape::Kind::General;
  return s;
}

/// Joins for every branch. A side that only leads to an early exit does not delay the others' reconvergence, so it is
/// left out of the graph; unless the others can still get to a part of it: then lanes of both sides may meet there.
class JoinFinder {
 public:
  explicit JoinFinder(const Function& f, const std::vector<BlockId>& order)
      : f_(f), graph_(controlFlow(f)), position_(f.blocks.size(), 0) {
    for (uint32_t i = 0; i < order.size(); ++i) position_[order[i]] = i;
    reversed_ = graph_.reversed();
    Graph ends(f.blocks.size() + 1);
    const auto end = static_cast<uint32_t>(f.blocks.size());
    for (uint32_t n = 0; n < end; ++n) {
      for (uint32_t s : reversed_.successors[n]) ends.edge(n, s);
      if (f.blocks[n].end.kind == Terminator::Kind::Exit) ends.edge(end, n);
    }
    everyExit_ = immediateDominators(ends, end);
  }

  BlockId joinOf(BlockId b) {
    const BlockId last = lastExitFrom(b);
    if (last == kNoBlock) return kNoBlock;
    auto [it, isNew] = postDominators_.try_emplace(last);
    if (isNew) it->second = immediateDominators(reversed_, last);
    BlockId join = it->second[b], before = b, meeting = kNoBlock;
    while (join != kNoNode && join != b && join != everyExit_[b]) {
      if (!stillMeet(b, before, join, meeting)) meeting = meetingBehind(b, join);
      if (meeting == kNoBlock) break;
      before = join;
      join = it->second[join] == join ? kNoNode : it->second[join];
    }
    return join == kNoNode || join == b ? kNoBlock : join;
  }

 private:
  /// What can be reached from `from`, without going through `cut`.
  std::vector<char> reach(const std::vector<BlockId>& from, BlockId cut) const {
    std::vector<char> seen(f_.blocks.size(), 0);
    std::vector<BlockId> work;
    auto push = [&](BlockId n) {
      if (n != cut && !seen[n]) seen[n] = 1, work.push_back(n);
    };
    for (BlockId n : from) push(n);
    while (!work.empty()) {
      const BlockId n = work.back();
      work.pop_back();
      for (uint32_t s : graph_.successors[n]) push(s);
    }
    return seen;
  }

  /// A block to which lanes that are together again at `join` may come, and to which others have gone from `b`.
  BlockId meetingBehind(BlockId b, BlockId join) const {
    const auto sides = reach(graph_.successors[b], join), onward = reach({join}, b);
    for (BlockId n = 0; n < f_.blocks.size(); ++n)
      if (sides[n] && onward[n] && !isExitOnly(f_.blocks[n])) return n;
    return kNoBlock;
  }

  /// Spares most of those searches: what lanes behind `before` and others met at, those behind `join`, further down,
  /// meet at as well if they get there; where no way leads back up, so that none of the paths is cut now.
  bool stillMeet(BlockId b, BlockId before, BlockId join, BlockId meeting) {
    if (meeting == kNoBlock) return false;
    auto [it, isNew] = reachable_.try_emplace(join);
    if (isNew) it->second = reach({join}, kNoBlock);
    return it->second[meeting] && !it->second[b] && !it->second[before];
  }

  /// The exit furthest down in the order among those that `b` reaches.
  BlockId lastExitFrom(BlockId b) {
    std::vector<char> seen(f_.blocks.size(), 0);
    std::vector<BlockId> work{b};
    BlockId last = kNoBlock;
    while (!work.empty()) {
      BlockId n = work.back();
      work.pop_back();
      if (seen[n]) continue;
      seen[n] = 1;
      if (f_.blocks[n].end.kind == Terminator::Kind::Exit && (last == kNoBlock || position_[n] > position_[last]))
        last = n;
      for (uint32_t s : graph_.successors[n]) work.push_back(s);
    }
    return last;
  }

  const Function& f_;
  Graph graph_, reversed_;
  std::vector<uint32_t> position_, everyExit_;
  std::map<BlockId, std::vector<uint32_t>> postDominators_;  // of one exit
  std::map<BlockId, std::vector<char>> reachable_;           // from a block
};

}  // namespace

Shapes::Shapes(const Analyses& analyses, const LaunchShape& launch, const SyncPoints* syncPoints,
               std::vector<char> coarsened)
    : f_(analyses.function()),
      launch_(launch),
      syncPoints_(syncPoints && syncPoints->diverges() ? syncPoints : nullptr),
      coarsened_(std::move(coarsened)),
      patterns_{Pattern{}},
      order_(reversePostOrder(analyses.graph(), 0)),
      loops_(analyses.loops()) {
  const size_t blocks = f_.blocks.size();
  shapes_.resize(f_.values.size());
  divergent_.assign(blocks, 0);
  varying_.assign(blocks, 0);
  divergentJoin_.assign(blocks, 0);
  varyingJoin_.assign(blocks, 0);
  findJoins();
  findAddressOnly();
  iterate();
}

PatternId Shapes::intern(const Pattern& p) {
  for (PatternId i = 0; i < patterns_.size(); ++i)
    if (patterns_[i] == p) return i;
  patterns_.push_back(p);
  return static_cast<PatternId>(patterns_.size() - 1);
}

unsigned Shapes::segmentsWithoutPattern(const Shape& shape) const {
  if (!shape.isSegmented()) return 0;
  const Pattern& p = patterns_[shape.pattern];
  for (unsigned segments = shape.segments; segments <= kMaxSegments; segments *= 2) {
    const unsigned width = kLanes / segments;
    bool constant = true;
    for (unsigned lane = 0; lane < kLanes; ++lane) constant &= p[lane] == p[lane / width * width];
    if (constant) return segments;
  }
  return 0;
}

/// What lanes have of which nothing is known; of a thread alone, whatever that is, there is one.
Shape Shapes::unlike() const { return launch_.byThread ? uniform(true) : general(); }

Shape Shapes::shapeOf(isa::Special special) const {
  using isa::Special;
  if (launch_.byThread) return uniform(true);
  const auto [bx, by, bz] = launch_.block;
  const unsigned warps = launch_.warps();
  const bool many = warps > 1;
  const int widthX = std::bit_width(bx - 1), widthY = std::bit_width(by - 1), widthZ = std::bit_width(bz - 1);
  auto patterned = [&](auto f, bool varies, uint8_t alignment, int width) {
    Pattern p;
    for (unsigned lane = 0; lane < kLanes; ++lane) p[lane] = f(lane);
    Shape s = uniform(varies, alignment, width);
    s.pattern = const_cast<Shapes*>(this)->intern(p);
    return s;
  };
  const bool rowsOfWarps = bx % kLanes == 0, warpsOfRows = kLanes % bx == 0, planar = bx * by % kLanes == 0;
  switch (special) {
    case Special::TidX:
      if (rowsOfWarps || (by == 1 && bz == 1))
        return patterned([](unsigned l) { return l; }, bx > kLanes, bx > kLanes ? 5 : 63, std::max(widthX, 5));
      if (warpsOfRows) return patterned([bx = bx](unsigned l) { return l % bx; }, false, 63, widthX);
      return general();
    case Special::TidY:
      if (by == 1) return uniform(false, 63, 0);
      if (rowsOfWarps) return uniform(many, 0, widthY);
      if (warpsOfRows && (planar || bz == 1))
        return patterned([bx = bx](unsigned l) { return l / bx; }, many && bx * by > kLanes,
                         static_cast<uint8_t>(bx * by > kLanes ? std::countr_zero(kLanes / bx) : 63),
                         std::max(widthY, static_cast<int>(std::bit_width((kLanes - 1) / bx))));
      return general();
    case Special::TidZ:
      if (bz == 1) return uniform(false, 63, 0);
      if (planar) return uniform(many, 0, widthZ);
      return general();
    case Special::Laneid: return patterned([](unsigned l) { return l; }, false, 63, 5);
    case Special::LanemaskEq:
    case Special::LanemaskLe:
    case Special::LanemaskLt:
    case Special::LanemaskGe:
    case Special::LanemaskGt: return general();
    case Special::NtidX: return uniform(false, static_cast<uint8_t>(std::countr_zero(bx)), std::bit_width(bx));
    case Special::NtidY: return uniform(false, static_cast<uint8_t>(std::countr_zero(by)), std::bit_width(by));
    case Special::CtaidX: return uniform(false, 0, 31);  // limits of every compute capability
    case Special::CtaidY:
    case Special::CtaidZ: return uniform(false, 0, 16);
    case Special::Warpid: return uniform(many);
    case Special::Clock:
    case Special::ClockHi:
    case Special::Clock64:
    case Special::Globaltimer:
    case Special::GlobaltimerLo:
    case Special::GlobaltimerHi: return uniform(true);
    default: return uniform(false);
  }
}

Shape Shapes::shapeOf(const ptx::Operand& operand) const {
  using Kind = ptx::Operand::Kind;
  switch (operand.kind) {
    case Kind::Register: return shapes_[operand.reg];
    case Kind::Address: return operand.reg == kNoValue ? uniform(false) : shapes_[operand.reg];
    case Kind::Special: return shapeOf(operand.special);
    case Kind::Integer:
      return uniform(false, static_cast<uint8_t>(operand.bits ? std::countr_zero(operand.bits) : 63),
                     std::bit_width(operand.bits));
    case Kind::Symbol: {
      // A variable of a thread has another address in every lane; any other has one address.
      const bool perThread = operand.symbol.kind == ptx::Symbol::Kind::LocalVariable &&
                             f_.variables[operand.symbol.index].space != ptx::Space::Shared;
      return perThread ? unlike() : uniform(false);
    }
    case Kind::Vector: {
      Shape all = uniform(false);
      for (const auto& element : operand.elements) all = meet(all, shapeOf(element));
      return all;
    }
    default: return uniform(false);
  }
}

/// The least shape that covers both; a phi's rule, without control.
Shape Shapes::meet(const Shape& a, const Shape& b) const {
  if (a.kind == Shape::Kind::Unknown) return b;
  if (b.kind == Shape::Kind::Unknown) return a;
  if (a.isGeneral() || b.isGeneral()) return general();
  Shape s = a;
  s.warpVarying |= b.warpVarying;
  s.inexact |= b.inexact;
  s.alignment = std::min(a.alignment, b.alignment);
  s.width = std::max(a.width, b.width);
  if (a.pattern == b.pattern && a.segments == b.segments) return s;
  const unsigned ga = segmentsWithoutPattern(a), gb = segmentsWithoutPattern(b);
  if (!ga || !gb) return general();
  s.pattern = 0;
  s.alignment = 0;
  s.segments = static_cast<uint8_t>(std::max(ga, gb));
  return s;
}

void Shapes::findJoins() {
  join_.assign(f_.blocks.size(), kNoBlock);
  JoinFinder finder(f_, order_);
  for (BlockId b : order_) {
    const Terminator& end = f_.blocks[b].end;
    if (end.kind != Terminator::Kind::Branch) continue;
    // Lanes that end here leave no trace: the others are together on the other side at once.
    if (isExitOnly(f_.blocks[end.target[0]]))
      join_[b] = end.target[1];
    else if (isExitOnly(f_.blocks[end.target[1]]))
      join_[b] = end.target[0];
    else
      join_[b] = finder.joinOf(b);
  }
}

std::vector<BlockId> Shapes::influence(BlockId b) const {
  std::vector<char> seen(f_.blocks.size(), 0);
  std::vector<BlockId> work, result;
  auto push = [&](BlockId s) {
    if (s != join_[b] && !seen[s]) seen[s] = 1, work.push_back(s), result.push_back(s);
  };
  const Terminator& end = f_.blocks[b].end;
  for (unsigned k = 0; k < end.targetCount(); ++k) push(end.target[k]);
  while (!work.empty()) {
    BlockId n = work.back();
    work.pop_back();
    for (unsigned k = 0; k < f_.blocks[n].end.targetCount(); ++k) push(f_.blocks[n].end.target[k]);
  }
  return result;
}

/// Marks the joins of the branch that ends `b`: each path carries the label of the side it took, or the name of the
/// last join on it; a block that meets two labels is a join and labels on. A side's label is no block's name: the
/// branch may lead straight to the join.
void Shapes::markJoins(BlockId b, std::vector<char>& marks) {
  const auto region = influence(b);
  std::vector<char> inside(f_.blocks.size(), 0);
  for (BlockId n : region) inside[n] = 1;
  if (join_[b] != kNoBlock) inside[join_[b]] = 2;
  std::vector<BlockId> label(f_.blocks.size(), kNoBlock);
  std::vector<BlockId> work;
  auto offer = [&](BlockId to, BlockId l) {
    if (!inside[to]) return;
    if (label[to] == kNoBlock) {
      label[to] = l;
    } else if (label[to] != l && label[to] != to) {
      label[to] = to;
      marks[to] = 1;
    } else {
      return;
    }
    if (inside[to] == 1) work.push_back(to);
  };
  const Terminator& end = f_.blocks[b].end;
  const BlockId sides = static_cast<BlockId>(f_.blocks.size());
  for (unsigned k = 0; k < end.targetCount(); ++k) offer(end.target[k], sides + k);
  while (!work.empty()) {
    BlockId n = work.back();
    work.pop_back();
    for (unsigned k = 0; k < f_.blocks[n].end.targetCount(); ++k) offer(f_.blocks[n].end.target[k], label[n]);
  }
  // Temporal divergence: exits of loops around the branch that its lanes can take at different times.
  for (uint32_t loop : loops_.around(b))
    for (BlockId n = 0; n < f_.blocks.size(); ++n) {
      if (!inside[n] || loops_.loops()[loop].contains(n)) continue;
      for (BlockId p : f_.blocks[n].predecessors)
        if (loops_.loops()[loop].contains(p)) marks[n] = 1;
    }
}

bool Shapes::updateBranch(BlockId b) {
  const Terminator& end = f_.blocks[b].end;
  if (end.kind != Terminator::Kind::Branch) return false;
  const Shape& c = shapes_[end.condition];
  if (c.kind == Shape::Kind::Unknown) return false;
  const bool divergent = !c.isUniform() || (c.warpVarying && !coarsened_.empty() && coarsened_[b]);
  bool changed = false;
  if (divergent && !divergent_[b]) {
    divergent_[b] = 1;
    markJoins(b, divergentJoin_);
    changed = true;
  }
  if ((divergent || c.warpVarying) && !varying_[b]) {
    varying_[b] = 1;
    markJoins(b, varyingJoin_);
    changed = true;
  }
  return changed;
}

Shape Shapes::transferPhi(BlockId b, const Phi& phi) const {
  Shape s;
  for (ValueId v : phi.incoming) s = meet(s, shapes_[v]);
  if (s.kind == Shape::Kind::Unknown) return s;
  if (divergentJoin_[b]) return general();
  if (varyingJoin_[b]) s.warpVarying = true;
  if (s.inexact && !addressOnly_[phi.value]) return general();
  return s;
}

void Shapes::findAddressOnly() { addressOnly_ = ShapeTransfer::addressOnly(f_); }

/// What threads that are diverged may have in a schedule-variant value is known for each warp or each lane only.
Shape Shapes::acrossSyncPoints(ValueId v, Shape s) const {
  if (!syncPoints_ || syncPoints_->scheduleVariant[v] == SyncPoints::Stepping::Together || !s.isSegmented()) return s;
  if (syncPoints_->scheduleVariant[v] == SyncPoints::Stepping::Lanes) return general();
  s.warpVarying = true;
  return s;
}

void Shapes::iterate() {
  std::vector<char> defined(f_.values.size(), 0);
  for (const Block& block : f_.blocks) {
    for (const Phi& phi : block.phis) defined[phi.value] = 1;
    for (const Instruction& i : block.code) forEachDefinition(i, [&](ValueId v, unsigned) { defined[v] = 1; });
    if (block.end.kind == Terminator::Kind::Barrier)
      forEachDefinition(block.end.barrier, [&](ValueId v, unsigned) { defined[v] = 1; });
  }
  for (ValueId v = 0; v < f_.values.size(); ++v)
    if (!defined[v]) shapes_[v] = uniform(false);
  ShapeTransfer transfer(*this);
  auto grow = [&](ValueId v, const Shape& s) {
    Shape merged = shapes_[v].isGeneral() ? shapes_[v] : acrossSyncPoints(v, s);
    if (merged.isGeneral()) merged = unlike();
    if (merged == shapes_[v]) return false;
    shapes_[v] = merged;
    return true;
  };
  constexpr unsigned kPatience = 8;
  std::vector<char> slow(f_.values.size(), 0);
  unsigned rounds = 0;
  for (bool changed = true; changed;) {
    changed = false;
    // Alignment can shrink, and width grow, slowly around a loop; a phi in which they still do so after a few rounds
    // gives them up, so that the iteration ends.
    ++rounds;
    auto limited = [&](ValueId v, Shape s) {
      const Shape& old = shapes_[v];
      if (rounds > kPatience && (s.alignment != old.alignment || s.width != old.width)) slow[v] = 1;
      if (slow[v]) s.alignment = 0, s.width = 64;
      return s;
    };
    for (BlockId b : order_) {
      const Block& block = f_.blocks[b];
      for (const Phi& phi : block.phis) changed |= grow(phi.value, limited(phi.value, transferPhi(b, phi)));
      for (const Instruction& i : block.code)
        forEachDefinition(i, [&](ValueId v, unsigned index) { changed |= grow(v, transfer(i, v, index)); });
      if (block.end.kind == Terminator::Kind::Barrier)
        forEachDefinition(block.end.barrier, [&](ValueId v, unsigned) {
          changed |= grow(v, syncPoints_ && !syncPoints_->meets[b] ? general() : uniform(false));
        });
      changed |= updateBranch(b);
    }
    if (rounds > 200) return giveUp();
  }
  for (Shape& s : shapes_)
    if (s.kind == Shape::Kind::Unknown) s = unlike();
}

/// The iteration did not end: the always-true answer.
void Shapes::giveUp() {
  for (Shape& s : shapes_) s = unlike();
  if (launch_.byThread) return;
  for (BlockId b = 0; b < f_.blocks.size(); ++b)
    if (f_.blocks[b].end.kind == Terminator::Kind::Branch) divergent_[b] = varying_[b] = 1;
}

}  // namespace ordito::ir
