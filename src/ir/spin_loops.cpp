// A loop may spin if the condition of one of its exits can depend on a load or an atomic inside it whose answer another
// thread may change. A retry loop around compare-and-swap is no such loop, since a failure means that somebody else
// succeeded; nor is a counter from which every iteration takes a number.
#include "ir/spin_loops.hpp"

#include "ptx/operands.hpp"

namespace ordito::ir {
namespace {

using isa::Effect;
using isa::ModifierKind;
using isa::Op;
using Kind = Terminator::Kind;
using OperandKind = ptx::Operand::Kind;

bool isFence(Op op) { return op == Op::Membar || op == Op::Fence || op == Op::Nanosleep; }

class SpinFinder {
 public:
  SpinFinder(const Function& f, const Graph& graph, const Definitions& definitions)
      : f_(f), graph_(graph), definitions_(definitions) {}

  SpinLoops run() {
    SpinLoops found;
    const LoopNest nest(graph_);
    for (const Loop& loop : nest.loops()) {
      bool waits = false;
      for (BlockId b = 0; b < f_.blocks.size(); ++b)
        for (unsigned k = 0; k < f_.blocks[b].end.targetCount(); ++k)
          if (loop.members[b] && f_.blocks[b].end.target[k] == loop.header) waits |= mayWait(around(b, loop));
      if (!waits) continue;
      // Where every iteration has a barrier in it, the others have theirs anyhow.
      if (iterationsWithoutBarrier(loop))
        found.spins.push_back(loop);
      else
        found.polls = true;
    }
    return found;
  }

 private:
  /// Can threads go round the loop without passing a barrier?
  bool iterationsWithoutBarrier(const Loop& loop) const {
    std::vector<char> seen(f_.blocks.size(), 0);
    std::vector<BlockId> work{loop.header};
    while (!work.empty()) {
      const BlockId b = work.back();
      work.pop_back();
      if (f_.blocks[b].end.kind == Kind::Barrier && f_.blocks[b].end.barrier.op != Op::BarWarpSync) continue;
      for (unsigned k = 0; k < f_.blocks[b].end.targetCount(); ++k) {
        const BlockId to = f_.blocks[b].end.target[k];
        if (to == loop.header) return true;
        if (loop.members[to] && !seen[to]) seen[to] = 1, work.push_back(to);
      }
    }
    return false;
  }

  /// The part of the loop that lies on ways round through `latch`: two loops may share a header, and the inner one
  /// spin.
  Loop around(BlockId latch, const Loop& loop) const {
    Loop part{loop.header, std::vector<char>(f_.blocks.size(), 0)};
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

  bool mayWait(const Loop& loop) {
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
  void forEachSource(ValueId v, const Loop& loop, F&& visit) {
    std::vector<char> seen(f_.values.size(), 0);
    std::vector<ValueId> work{v};
    bool controls = false;
    while (!work.empty()) {
      v = work.back();
      work.pop_back();
      if (v == kNoValue || seen[v] || definitions_[v].block == kNoBlock || !loop.members[definitions_[v].block])
        continue;
      seen[v] = 1;
      if (const Phi* phi = definitions_.phi(v)) {
        for (ValueId in : phi->incoming) work.push_back(in);
        if (phi->incoming.size() < 2 || definitions_[v].block == loop.header || controls) continue;
        controls = true;
        for (BlockId b = 0; b < f_.blocks.size(); ++b)
          if (loop.members[b] && f_.blocks[b].end.kind == Kind::Branch) work.push_back(f_.blocks[b].end.condition);
        continue;
      }
      if (!definitions_.instruction(v)) continue;  // a barrier's result
      visit(*definitions_.instruction(v));
      forEachUse(*definitions_.instruction(v), [&](ValueId u) { work.push_back(u); });
    }
  }

  bool dependsOnObserver(ValueId condition, const Loop& loop, bool hasFence) {
    bool found = false;
    forEachSource(condition, loop, [&](const Instruction& i) { found |= observes(i, loop, hasFence); });
    return found;
  }

  /// Can the instruction's answer change because of another thread, without this one making progress?
  bool observes(const Instruction& i, const Loop& loop, bool hasFence) {
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
  bool isRetry(const Instruction& cas, const Loop& loop) {
    if (cas.operands[2].kind != OperandKind::Register) return false;
    bool own = false;
    forEachSource(cas.operands[2].reg, loop, [&](const Instruction& i) { own |= &i == &cas; });
    return own;
  }

  const Function& f_;
  const Graph& graph_;
  const Definitions& definitions_;
};

}  // namespace

bool onlyTestsPhases(const Function& f, const Loop& loop) {
  const auto isTest = [](Op op) {
    return op == Op::MbarrierTestWait || op == Op::MbarrierTestParity || op == Op::MbarrierTryWait ||
           op == Op::MbarrierTryParity;
  };
  bool tests = false;
  for (BlockId b = 0; b < f.blocks.size(); ++b) {
    if (!loop.members[b]) continue;
    if (f.blocks[b].end.kind == Kind::Barrier) return false;
    for (const Instruction& i : f.blocks[b].code) {
      tests |= isTest(i.op);
      const bool readsParameter = i.info().effect == Effect::Load && ptx::spaceOf(i) == ptx::Space::Param;
      if (i.info().effect != Effect::Pure && !isTest(i.op) && i.op != Op::Nanosleep && !readsParameter) return false;
    }
  }
  return tests;
}

SpinLoops findSpinLoops(const Function& function, const Graph& graph, const Definitions& definitions) {
  return SpinFinder(function, graph, definitions).run();
}

}  // namespace ordito::ir
