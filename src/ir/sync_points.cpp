// Four questions: which loops spin (spin_loops.cpp), which synchronisation points let threads diverge, how far, and
// which values vary with the schedule. Whether threads reach a barrier together depends on the shapes of conditions,
// and these on what threads diverged compute, so the answers are taken again until they stay.
#include "ir/sync_points.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>

#include "ir/definitions.hpp"
#include "ir/graph.hpp"
#include "ir/liveness.hpp"
#include "ir/spin_loops.hpp"

namespace ordito::ir {
namespace {

using isa::Effect;
using isa::ModifierKind;
using isa::Op;
using Kind = Terminator::Kind;
using OperandKind = ptx::Operand::Kind;
using Stepping = SyncPoints::Stepping;

class SyncPointFinder {
 public:
  SyncPointFinder(const Analyses& analyses, const LaunchShape& launch)
      : analyses_(analyses),
        f_(analyses.function()),
        launch_{launch.block},
        graph_(analyses.graph()),
        definitions_(analyses.definitions()) {}

  SyncPoints run() {
    SyncPoints syncPoints;
    syncPoints.resumePoints.push_back(0);
    auto add = [&](BlockId b) {
      if (std::find(syncPoints.resumePoints.begin(), syncPoints.resumePoints.end(), b) == syncPoints.resumePoints.end())
        syncPoints.resumePoints.push_back(b);
    };
    for (const Block& block : f_.blocks)
      if (block.end.kind == Kind::Barrier) add(block.end.target[0]);
    SpinLoops found = findSpinLoops(f_, graph_, definitions_);
    syncPoints.spins = std::move(found.spins);
    syncPoints.polls = found.polls;
    const size_t blocks = f_.blocks.size();
    syncPoints.independentRegion.assign(blocks, Stepping::Together);
    syncPoints.meets.assign(blocks, 0);
    syncPoints.differs.assign(blocks, 0);
    for (BlockId b = 0; b < blocks; ++b) syncPoints.meets[b] = f_.blocks[b].end.kind == Kind::Barrier;
    const bool hasSyncPoints = syncPoints.resumePoints.size() > 1 || !syncPoints.spins.empty();
    if (!hasSyncPoints && !hasWarpOperations()) return syncPoints;
    for (const Loop& spin : syncPoints.spins) add(spin.header);
    auto shapes = std::make_unique<Shapes>(analyses_, launch_);
    while (classify(syncPoints, *shapes) && syncPoints.diverges()) {
      findScheduleVariant(syncPoints);
      shapes = std::make_unique<Shapes>(analyses_, launch_, &syncPoints);
    }
    findApart(syncPoints, *shapes);
    return syncPoints;
  }

 private:
  /// Where threads that may be diverged can part.
  struct Parting {
    std::vector<char> byLanes, byWarps;  // by block: only some lanes, or warps, may come here
  };

  Parting findParting(const SyncPoints& syncPoints, const Shapes& shapes) const {
    Parting parting{std::vector<char>(f_.blocks.size(), 0), std::vector<char>(f_.blocks.size(), 0)};
    for (BlockId b = 0; b < f_.blocks.size(); ++b) {
      if (f_.blocks[b].end.kind != Kind::Branch) continue;
      const bool lanes =
          shapes.isDivergent(b) || (syncPoints.differs[b] && syncPoints.independentRegion[b] == Stepping::Lanes);
      if (!lanes && !shapes.isWarpVarying(b) && !syncPoints.differs[b]) continue;
      auto region = shapes.influence(b);
      if (waitsBeforeExit(syncPoints, region)) region = reachableFrom(b);
      for (BlockId n : region) (lanes ? parting.byLanes : parting.byWarps)[n] = 1;
    }
    return parting;
  }

  /// The others do not wait at the join of a branch for threads that end on the way. If these have to wait somewhere
  /// before, they are still there when the others go on.
  bool waitsBeforeExit(const SyncPoints& syncPoints, const std::vector<BlockId>& region) const {
    bool exits = false, waits = false;
    for (BlockId n : region) {
      exits |= f_.blocks[n].end.kind == Kind::Exit;
      waits |= f_.blocks[n].end.kind == Kind::Barrier || syncPoints.spinAt(n);
    }
    return exits && waits;
  }

  std::vector<BlockId> reachableFrom(BlockId b) const {
    std::vector<char> seen(f_.blocks.size(), 0);
    std::vector<BlockId> found;
    auto push = [&](BlockId from) {
      for (uint32_t to : graph_.successors[from])
        if (!seen[to]) seen[to] = 1, found.push_back(to);
    };
    push(b);
    for (size_t k = 0; k < found.size(); ++k) push(found[k]);
    return found;
  }

  /// Which barriers all threads reach together, and the independently scheduled regions behind the other
  /// synchronisation points. Returns whether anything has changed; barriers only stop meeting, and independently
  /// scheduled regions only grow.
  bool classify(SyncPoints& syncPoints, const Shapes& shapes) {
    const SyncPoints before = syncPoints;
    findDiffering(syncPoints, shapes);
    const Parting parting = findParting(syncPoints, shapes);
    auto grow = [&](BlockId b, Stepping to) {
      syncPoints.independentRegion[b] = std::max(syncPoints.independentRegion[b], to);
    };
    for (BlockId b = 0; b < f_.blocks.size(); ++b) {
      if (f_.blocks[b].end.kind != Kind::Barrier) continue;
      const Stepping here = std::max(steppingOf(f_.blocks[b].end.barrier, shapes),
                                     parting.byLanes[b]                          ? Stepping::Lanes
                                     : parting.byWarps[b] && launch_.warps() > 1 ? Stepping::Warps
                                                                                 : Stepping::Together);
      syncPoints.meets[b] &= here == Stepping::Together;
      if (!syncPoints.meets[b]) grow(f_.blocks[b].end.target[0], std::max(here, Stepping::Warps));
    }
    for (BlockId b : sharedWithOthers(syncPoints)) {
      syncPoints.meets[b] = 0;
      grow(f_.blocks[b].end.target[0], Stepping::Warps);
    }
    for (const Loop& spin : syncPoints.spins)
      grow(spin.header, parting.byLanes[spin.header] ? Stepping::Lanes : Stepping::Warps);
    floodIndependentRegions(syncPoints);
    return syncPoints.meets != before.meets || syncPoints.independentRegion != before.independentRegion ||
           syncPoints.differs != before.differs || before.scheduleVariant.empty();
  }

  /// The number of the barrier that ends block `b`, or nothing where it varies. A cluster's barrier has none.
  std::optional<uint64_t> numberOf(BlockId b) const {
    const Instruction& i = f_.blocks[b].end.barrier;
    const auto forms = i.info().form.operandList();
    for (size_t k = 0; k < i.operands.size() && k < forms.size(); ++k) {
      if (forms[k].name != "a") continue;
      return i.operands[k].kind == OperandKind::Integer ? std::optional(i.operands[k].bits) : std::nullopt;
    }
    return ~uint64_t{0};
  }

  /// Barriers that all threads would reach together but for others that wait in another place for a barrier of the
  /// same number: those count as arrived.
  std::vector<BlockId> sharedWithOthers(const SyncPoints& syncPoints) const {
    std::set<uint64_t> numbers;
    bool isAny = false;
    for (BlockId b = 0; b < f_.blocks.size(); ++b) {
      if (!syncPoints.isIndependent(f_, b) || f_.blocks[b].end.barrier.op == Op::BarWarpSync) continue;
      const auto number = numberOf(b);
      isAny |= !number;
      if (number) numbers.insert(*number);
    }
    std::vector<BlockId> shared;
    for (BlockId b = 0; b < f_.blocks.size(); ++b) {
      if (!syncPoints.meets[b]) continue;
      const auto number = numberOf(b);
      if (isAny || (number ? numbers.count(*number) != 0 : !numbers.empty())) shared.push_back(b);
    }
    return shared;
  }

  /// Independently scheduled regions reach as far as control does without passing a barrier where all meet.
  void floodIndependentRegions(SyncPoints& syncPoints) const {
    std::vector<BlockId> work;
    for (BlockId b = 0; b < f_.blocks.size(); ++b)
      if (syncPoints.independentRegion[b] != Stepping::Together) work.push_back(b);
    while (!work.empty()) {
      const BlockId b = work.back();
      work.pop_back();
      syncPoints.stepping = std::max(syncPoints.stepping, syncPoints.independentRegion[b]);
      if (syncPoints.meets[b]) continue;
      for (unsigned k = 0; k < f_.blocks[b].end.targetCount(); ++k) {
        Stepping& next = syncPoints.independentRegion[f_.blocks[b].end.target[k]];
        if (next < syncPoints.independentRegion[b])
          next = syncPoints.independentRegion[b], work.push_back(f_.blocks[b].end.target[k]);
      }
    }
  }

  /// Values that threads diverged may see differently, although their shape says that they are the same: what was
  /// read from memory in a independently scheduled region, and what depends on it. Marks the branches of independently
  /// scheduled regions that such a value decides.
  void findDiffering(SyncPoints& syncPoints, const Shapes& shapes) {
    differs_.assign(f_.values.size(), 0);
    std::vector<char> joins(f_.blocks.size(), 0);
    for (bool changed = true; changed;) {
      changed = false;
      auto mark = [&](char& flag) { changed |= !flag, flag = 1; };
      for (BlockId b = 0; b < f_.blocks.size(); ++b) {
        const Block& block = f_.blocks[b];
        for (const Phi& phi : block.phis) {
          bool any = joins[b];
          for (ValueId v : phi.incoming) any |= differs_[v] != 0;
          if (any) mark(differs_[phi.value]);
        }
        for (const Instruction& i : block.code) {
          bool any = maySeeOthers(i, syncPoints.independentRegion[b]);
          forEachUse(i, [&](ValueId u) { any |= differs_[u] != 0; });
          if (any) forEachDefinition(i, [&](ValueId v, unsigned) { mark(differs_[v]); });
        }
        if (syncPoints.isIndependent(f_, b))
          forEachDefinition(block.end.barrier, [&](ValueId v, unsigned) { mark(differs_[v]); });
        if (block.end.kind != Kind::Branch || syncPoints.independentRegion[b] == Stepping::Together ||
            !differs_[block.end.condition])
          continue;
        if (!syncPoints.differs[b]) mark(syncPoints.differs[b]);
        for (BlockId n : shapes.influence(b)) joins[n] = 1;
        if (shapes.joinOf(b) != kNoBlock) joins[shapes.joinOf(b)] = 1;
      }
    }
  }

  /// Can the instruction's answer depend on when a thread gets there?
  static bool maySeeOthers(const Instruction& i, Stepping independentRegion) {
    const Effect effect = i.info().effect;
    if (independentRegion == Stepping::Together) return false;
    if (effect == Effect::Load) return !isConstantLoad(i);
    if (effect == Effect::Warp) return independentRegion == Stepping::Lanes;
    if (effect != Effect::Pure) return true;
    return std::any_of(i.operands.begin(), i.operands.end(), readsClock);
  }

  bool hasWarpOperations() const {
    for (const Block& block : f_.blocks)
      for (const Instruction& i : block.code)
        if (i.info().form.memberMask >= 0) return true;
    return false;
  }

  /// Warp operations on both sides of a branch at which lanes part may be meant to meet.
  void findApart(SyncPoints& syncPoints, const Shapes& shapes) const {
    for (BlockId b = 0; b < f_.blocks.size(); ++b) {
      if (f_.blocks[b].end.kind != Kind::Branch || !shapes.isDivergent(b)) continue;
      auto region = shapes.influence(b);
      const bool exits =
          std::any_of(region.begin(), region.end(), [&](BlockId n) { return f_.blocks[n].end.kind == Kind::Exit; });
      if (exits) region = reachableFrom(b);
      std::vector<char> inside(f_.blocks.size(), 0);
      for (BlockId n : region) inside[n] = 1;
      const auto first = sideOf(b, 0, inside), second = sideOf(b, 1, inside);
      uint32_t lanes[2] = {0, 0};
      for (BlockId n = 0; n < f_.blocks.size(); ++n)
        if (first[n] != second[n]) lanes[first[n] ? 0 : 1] |= lanesNamedIn(n);
      if (!(lanes[0] & lanes[1])) continue;
      for (BlockId n = 0; n < f_.blocks.size(); ++n)
        if (first[n] != second[n])
          for (const Instruction& i : f_.blocks[n].code)
            if (lanesNamedBy(i)) syncPoints.apart.insert(i.line);
    }
  }

  std::vector<char> sideOf(BlockId branch, unsigned k, const std::vector<char>& inside) const {
    std::vector<char> seen(f_.blocks.size(), 0);
    std::vector<BlockId> work;
    auto push = [&](BlockId n) {
      if (inside[n] && !seen[n] && n != branch) seen[n] = 1, work.push_back(n);
    };
    push(f_.blocks[branch].end.target[k]);
    while (!work.empty()) {
      const BlockId n = work.back();
      work.pop_back();
      for (uint32_t to : graph_.successors[n]) push(to);
    }
    return seen;
  }

  uint32_t lanesNamedIn(BlockId b) const {
    uint32_t lanes = 0;
    for (const Instruction& i : f_.blocks[b].code) lanes |= lanesNamedBy(i);
    return lanes;
  }

  /// The lanes that a warp operation may wait for although they are not active: all those that are not known. What
  /// activemask said is active.
  uint32_t lanesNamedBy(const Instruction& i) const {
    const int8_t k = i.info().form.memberMask;
    if (k < 0) return 0;
    const ptx::Operand& members = i.operands[static_cast<size_t>(k)];
    if (members.kind == OperandKind::Integer) return static_cast<uint32_t>(members.bits);
    const Instruction* source = members.kind == OperandKind::Register ? definitions_.instruction(members.reg) : nullptr;
    return source && source->op == Op::Activemask ? 0 : ~0u;
  }

  /// What the barrier's own operands ask for: its number, and how many threads take part.
  Stepping steppingOf(const Instruction& barrier, const Shapes& shapes) const {
    if (barrier.op == Op::BarWarpSync) return Stepping::Lanes;
    // Nobody waits, so nobody meets.
    if (barrier.op == Op::BarArrive || barrier.op == Op::BarrierArrive) return Stepping::Warps;
    auto result = Stepping::Together;
    const auto forms = barrier.info().form.operandList();
    for (size_t k = 0; k < barrier.operands.size(); ++k) {
      const ptx::Operand& o = barrier.operands[k];
      if (k < forms.size() && forms[k].name == "b" && o.kind != OperandKind::None) {
        const auto threads = uint64_t{launch_.block[0]} * launch_.block[1] * launch_.block[2];
        if (o.kind != OperandKind::Integer || o.bits != threads) result = std::max(result, Stepping::Warps);
      }
      if (k >= forms.size() || (forms[k].name != "a" && forms[k].name != "b")) continue;
      const Shape s = shapes.shapeOf(o);
      if (!s.isUniform()) result = Stepping::Lanes;
      if (s.warpVarying) result = std::max(result, Stepping::Warps);
    }
    return result;
  }

  /// Where all threads meet they come for the same time, so there only what they saw differently may differ.
  void findScheduleVariant(SyncPoints& syncPoints) {
    syncPoints.scheduleVariant.assign(f_.values.size(), Stepping::Together);
    std::vector<char> isIndependent(syncPoints.resumePoints.size(), 0), known(f_.values.size(), 0);
    for (size_t p = 0; p < syncPoints.resumePoints.size(); ++p) {
      isIndependent[p] = syncPoints.spinAt(syncPoints.resumePoints[p]) != nullptr;
      for (BlockId from : f_.blocks[syncPoints.resumePoints[p]].predecessors)
        isIndependent[p] |= syncPoints.isIndependent(f_, from);
    }
    const auto live = liveIns(f_, syncPoints.resumePoints);
    for (size_t p = 0; p < syncPoints.resumePoints.size(); ++p)
      for (ValueId v : live[p])
        if (differs_[v] || (isIndependent[p] && !isScheduleInvariant(v, known)))
          syncPoints.scheduleVariant[v] =
              std::max(syncPoints.scheduleVariant[v], syncPoints.independentRegion[definitions_[v].block]);
  }

  /// Would every execution of its definition give a thread the same value? `known`: 0 not looked at, 1 no, 2 yes. A
  /// value on which the answer is still being worked out depends on itself and counts as schedule-variant.
  bool isScheduleInvariant(ValueId v, std::vector<char>& known) const {
    if (definitions_[v].block == kNoBlock) return true;  // read before it is written
    if (known[v]) return known[v] == 2;
    known[v] = 1;
    const Instruction* i = definitions_.instruction(v);
    if (!i) return false;
    bool scheduleInvariant = i->info().effect == Effect::Pure || isConstantLoad(*i);
    forEachUse(*i, [&](ValueId u) { scheduleInvariant = scheduleInvariant && isScheduleInvariant(u, known); });
    for (const ptx::Operand& o : i->operands) scheduleInvariant = scheduleInvariant && !readsClock(o);
    known[v] = scheduleInvariant ? 2 : 1;
    return scheduleInvariant;
  }

  static bool isConstantLoad(const Instruction& i) {
    if (i.op != Op::Ld) return false;
    const auto space = i.mods.name(ModifierKind::Space);
    if (space == "const") return true;
    return space.starts_with("param") && i.operands[1].symbol.kind == ptx::Symbol::Kind::Parameter;
  }

  static bool readsClock(const ptx::Operand& o) {
    using isa::Special;
    if (o.kind != OperandKind::Special) return false;
    switch (o.special) {
      case Special::Clock:
      case Special::ClockHi:
      case Special::Clock64:
      case Special::Globaltimer:
      case Special::GlobaltimerLo:
      case Special::GlobaltimerHi: return true;
      default: return false;
    }
  }

  const Analyses& analyses_;
  const Function& f_;
  LaunchShape launch_;
  const Graph& graph_;
  const Definitions& definitions_;
  std::vector<char> differs_;  // by value: see findDiffering
};

}  // namespace

Graph graphBetweenSyncPoints(const Function& f) {
  Graph graph(f.blocks.size());
  for (BlockId b = 0; b < f.blocks.size(); ++b)
    if (f.blocks[b].end.kind != Kind::Barrier)
      for (unsigned k = 0; k < f.blocks[b].end.targetCount(); ++k) graph.edge(b, f.blocks[b].end.target[k]);
  return graph;
}

SyncPoints findSyncPoints(const Analyses& analyses, const LaunchShape& launch) {
  return SyncPointFinder(analyses, launch).run();
}

bool addWarpSyncPoints(const Function& function, const SyncPoints& syncPoints, std::set<uint32_t>& lines) {
  const size_t before = lines.size();
  for (BlockId b = 0; b < function.blocks.size(); ++b)
    if (syncPoints.independentRegion[b] == Stepping::Lanes)
      for (const Instruction& i : function.blocks[b].code)
        if (i.info().form.memberMask >= 0) lines.insert(i.line);
  lines.insert(syncPoints.apart.begin(), syncPoints.apart.end());
  return lines.size() != before;
}

}  // namespace ordito::ir
