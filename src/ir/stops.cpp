// Three questions: which loops spin, which stops take threads out of step, which values are not steady.
//
// A loop may spin if the condition of one of its exits can depend on a load or an atomic inside it whose answer another
// thread may change. A retry loop around compare-and-swap is no such loop, since a failure means that somebody else
// succeeded; nor is a counter from which every turn takes a number.
#include "ir/stops.hpp"

#include <algorithm>

#include "ir/graph.hpp"
#include "ir/liveness.hpp"

namespace ordito::ir {
namespace {

using isa::Effect;
using isa::ModifierKind;
using isa::Op;
using Kind = Terminator::Kind;
using OperandKind = ptx::Operand::Kind;

/// Loops of the graph, inner ones included, as member flags.
void findLoops(const Graph& graph, const std::vector<uint32_t>& nodes, const std::vector<uint32_t>& position,
               std::vector<Stops::Spin>& loops) {
  for (const auto& component : components(graph, nodes)) {
    const auto& s = graph.successors[component[0]];
    if (component.size() == 1 && std::find(s.begin(), s.end(), component[0]) == s.end()) continue;
    Stops::Spin loop;
    loop.members.assign(graph.size(), 0);
    for (uint32_t n : component) loop.members[n] = 1;
    loop.header = *std::min_element(component.begin(), component.end(),
                                    [&](uint32_t a, uint32_t b) { return position[a] < position[b]; });
    std::vector<uint32_t> inner;
    for (uint32_t n : component)
      if (n != loop.header) inner.push_back(n);
    loops.push_back(std::move(loop));
    findLoops(graph, inner, position, loops);
  }
}

bool isFence(Op op) { return op == Op::Membar || op == Op::Fence || op == Op::Nanosleep; }

class StopFinder {
 public:
  StopFinder(const Function& f, const LaunchShape& launch) : f_(f), launch_{launch.block, 1}, graph_(f.blocks.size()) {
    definition_.assign(f.values.size(), nullptr);
    phi_.assign(f.values.size(), nullptr);
    definedIn_.assign(f.values.size(), kNoBlock);
    for (BlockId b = 0; b < f.blocks.size(); ++b) {
      for (unsigned k = 0; k < f.blocks[b].end.targetCount(); ++k) graph_.edge(b, f.blocks[b].end.target[k]);
      for (const Phi& phi : f.blocks[b].phis) phi_[phi.value] = &phi, definedIn_[phi.value] = b;
      for (const Instruction& i : f.blocks[b].code)
        forEachDefinition(i, [&](ValueId v, unsigned) { definition_[v] = &i, definedIn_[v] = b; });
      if (f.blocks[b].end.kind == Kind::Barrier)
        forEachDefinition(f.blocks[b].end.barrier, [&](ValueId v, unsigned) { definedIn_[v] = b; });
    }
  }

  Stops run() {
    Stops stops;
    stops.points.push_back(0);
    auto add = [&](BlockId b) {
      if (std::find(stops.points.begin(), stops.points.end(), b) == stops.points.end()) stops.points.push_back(b);
    };
    for (const Block& block : f_.blocks)
      if (block.end.kind == Kind::Barrier) add(block.end.target[0]);
    findSpins(stops);
    if (stops.points.size() == 1 && stops.spins.empty()) return stops;
    classify(stops);
    if (!stops.parks()) return stops;
    for (const Stops::Spin& spin : stops.spins) add(spin.header);
    findUnsteady(stops);
    return stops;
  }

 private:
  void findSpins(Stops& stops) {
    const auto order = reversePostOrder(graph_, 0);
    std::vector<uint32_t> position(f_.blocks.size(), 0);
    for (uint32_t i = 0; i < order.size(); ++i) position[order[i]] = i;
    std::vector<Stops::Spin> loops;
    findLoops(graph_, order, position, loops);
    for (Stops::Spin& loop : loops) {
      bool waits = false;
      for (BlockId b = 0; b < f_.blocks.size(); ++b)
        for (unsigned k = 0; k < f_.blocks[b].end.targetCount(); ++k)
          if (loop.members[b] && f_.blocks[b].end.target[k] == loop.header) waits |= mayWait(around(b, loop));
      if (waits) stops.spins.push_back(std::move(loop));
    }
  }

  /// The part of the loop that lies on ways round through `latch`: two loops may share a header, and the inner one
  /// spin.
  Stops::Spin around(BlockId latch, const Stops::Spin& loop) const {
    Stops::Spin part{loop.header, std::vector<char>(f_.blocks.size(), 0)};
    part.members[loop.header] = 1;
    std::vector<BlockId> work{latch};
    while (!work.empty()) {
      const BlockId b = work.back();
      work.pop_back();
      if (part.members[b] || !loop.members[b]) continue;
      part.members[b] = 1;
      for (BlockId p : f_.blocks[b].predecessors) work.push_back(p);
    }
    return part;
  }

  bool mayWait(const Stops::Spin& loop) {
    bool hasFence = false, looks = false;
    for (BlockId b = 0; b < f_.blocks.size(); ++b) {
      if (!loop.members[b]) continue;
      for (const Instruction& i : f_.blocks[b].code) hasFence |= isFence(i.op);
    }
    for (BlockId b = 0; b < f_.blocks.size(); ++b)
      if (loop.members[b])
        for (const Instruction& i : f_.blocks[b].code) looks |= observes(i, loop, hasFence);
    if (!looks) return false;
    for (BlockId b = 0; b < f_.blocks.size(); ++b) {
      const Terminator& end = f_.blocks[b].end;
      if (!loop.members[b] || end.kind != Kind::Branch) continue;
      if (loop.members[end.target[0]] && loop.members[end.target[1]]) continue;
      if (dependsOnObserver(end.condition, loop, hasFence)) return true;
    }
    return false;
  }

  /// Calls visit(instruction) for each instruction of the loop on which `v` depends; through a phi also for those that
  /// decide which of its values is taken.
  template <class F>
  void forEachSource(ValueId v, const Stops::Spin& loop, F&& visit) {
    std::vector<char> seen(f_.values.size(), 0);
    std::vector<ValueId> work{v};
    bool controls = false;
    while (!work.empty()) {
      v = work.back();
      work.pop_back();
      if (v == kNoValue || seen[v] || definedIn_[v] == kNoBlock || !loop.members[definedIn_[v]]) continue;
      seen[v] = 1;
      if (phi_[v]) {
        for (ValueId in : phi_[v]->incoming) work.push_back(in);
        if (phi_[v]->incoming.size() < 2 || definedIn_[v] == loop.header || controls) continue;
        controls = true;
        for (BlockId b = 0; b < f_.blocks.size(); ++b)
          if (loop.members[b] && f_.blocks[b].end.kind == Kind::Branch) work.push_back(f_.blocks[b].end.condition);
        continue;
      }
      if (!definition_[v]) continue;  // a barrier's result
      visit(*definition_[v]);
      forEachUse(*definition_[v], [&](ValueId u) { work.push_back(u); });
    }
  }

  bool dependsOnObserver(ValueId condition, const Stops::Spin& loop, bool hasFence) {
    bool found = false;
    forEachSource(condition, loop, [&](const Instruction& i) { found |= observes(i, loop, hasFence); });
    return found;
  }

  /// Can the instruction's answer change because of another thread, without this one making progress?
  bool observes(const Instruction& i, const Stops::Spin& loop, bool hasFence) {
    const auto space = i.mods.name(ModifierKind::Space);
    if (space == "local" || space.starts_with("param") || space == "const") return false;
    if (i.info().effect == Effect::Load) {
      if (i.op != Op::Ld) return false;
      const auto order = i.mods.name(ModifierKind::Semantics), cache = i.mods.name(ModifierKind::CacheOp);
      return hasFence || (!order.empty() && order != "weak") || cache == "cv" || cache == "cg";
    }
    if (i.info().effect != Effect::Atomic || i.op == Op::Red) return false;
    if (i.op == Op::AtomCas) return !isRetry(i, loop);
    if (i.op != Op::Atom) return true;
    const auto operation = i.mods.name(ModifierKind::AtomOp);
    if (operation != "add" && operation != "inc" && operation != "dec") return true;
    return i.operands[2].kind == OperandKind::Integer && i.operands[2].bits == 0;
  }

  /// Does the compare-and-swap compare with what it, or a load before the loop, has read?
  bool isRetry(const Instruction& cas, const Stops::Spin& loop) {
    if (cas.operands[2].kind != OperandKind::Register) return false;
    bool own = false;
    forEachSource(cas.operands[2].reg, loop, [&](const Instruction& i) { own |= &i == &cas; });
    return own;
  }

  void classify(Stops& stops) {
    const Shapes shapes(f_, launch_);
    std::vector<char> byLanes(f_.blocks.size(), 0), byWarps(f_.blocks.size(), 0);
    for (BlockId b = 0; b < f_.blocks.size(); ++b) {
      if (f_.blocks[b].end.kind != Kind::Branch || !(shapes.isDivergent(b) || shapes.isWarpVarying(b))) continue;
      for (BlockId n : shapes.influence(b)) (shapes.isDivergent(b) ? byLanes : byWarps)[n] = 1;
    }
    auto raise = [&](Stops::Stepping to) { stops.stepping = std::max(stops.stepping, to); };
    for (BlockId b = 0; b < f_.blocks.size(); ++b) {
      if (f_.blocks[b].end.kind != Kind::Barrier) continue;
      if (byLanes[b]) raise(Stops::Stepping::Lanes);
      if (byWarps[b]) raise(Stops::Stepping::Warps);
      raise(steppingOf(f_.blocks[b].end.barrier, shapes));
    }
    for (const Stops::Spin& spin : stops.spins) {
      if (byLanes[spin.header])
        raise(Stops::Stepping::Lanes);
      else if (launch_.warps() > 1)
        raise(Stops::Stepping::Warps);
    }
  }

  /// What the barrier's own operands ask for: its number, and how many threads take part.
  Stops::Stepping steppingOf(const Instruction& barrier, const Shapes& shapes) const {
    if (barrier.op == Op::BarWarpSync) return Stops::Stepping::Lanes;
    auto result = Stops::Stepping::Together;
    const auto forms = barrier.info().form.operandList();
    for (size_t k = 0; k < barrier.operands.size(); ++k) {
      const ptx::Operand& o = barrier.operands[k];
      if (k < forms.size() && forms[k].name == "b" && o.kind != OperandKind::None) {
        const auto threads = uint64_t{launch_.block[0]} * launch_.block[1] * launch_.block[2];
        if (o.kind != OperandKind::Integer || o.bits != threads) result = std::max(result, Stops::Stepping::Warps);
      }
      if (k >= forms.size() || (forms[k].name != "a" && forms[k].name != "b")) continue;
      const Shape s = shapes.shapeOf(o);
      if (!s.isUniform()) result = Stops::Stepping::Lanes;
      if (s.warpVarying) result = std::max(result, Stops::Stepping::Warps);
    }
    return result;
  }

  void findUnsteady(Stops& stops) {
    stops.unsteady.assign(f_.values.size(), 0);
    std::vector<char> known(f_.values.size(), 0);
    for (const auto& live : liveIns(f_, stops.points))
      for (ValueId v : live) stops.unsteady[v] = !isSteady(v, known);
  }

  /// Would every execution of its definition give a thread the same value? `known`: 0 not looked at, 1 no, 2 yes. A
  /// value on which the answer is still being worked out depends on itself and counts as unsteady.
  bool isSteady(ValueId v, std::vector<char>& known) const {
    if (definedIn_[v] == kNoBlock) return true;  // read before it is written
    if (known[v]) return known[v] == 2;
    known[v] = 1;
    const Instruction* i = definition_[v];
    if (!i) return false;
    bool steady = i->info().effect == Effect::Pure || isConstantLoad(*i);
    forEachUse(*i, [&](ValueId u) { steady = steady && isSteady(u, known); });
    for (const ptx::Operand& o : i->operands) steady = steady && !readsClock(o);
    known[v] = steady ? 2 : 1;
    return steady;
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

  const Function& f_;
  LaunchShape launch_;
  Graph graph_;
  std::vector<const Instruction*> definition_;
  std::vector<const Phi*> phi_;
  std::vector<BlockId> definedIn_;
};

}  // namespace

Stops findStops(const Function& function, const LaunchShape& launch) { return StopFinder(function, launch).run(); }

}  // namespace ordito::ir
