// SSA construction: phis at iterated dominance frontiers (Cytron et al., TOPLAS 1991), pruned by liveness, and renaming
// along the dominator tree.
//
// Loops are closed on the way (LCSSA): every edge that leaves a loop gets a block of its own, and a register that the
// loop defines and somebody outside reads gets a phi there, though it has one predecessor. That phi is where the values
// of lanes that left the loop in different iterations are gathered, which is what makes divergent loops right (temporal
// divergence).
#include <algorithm>
#include <set>

#include "ir/graph.hpp"
#include "ir/ir.hpp"
#include "ir/loops.hpp"

namespace ordito::ir {

namespace {

struct ExitBlock {
  BlockId block;
  std::vector<uint32_t> loops;  // that its edge leaves
};

/// Puts a block on every edge that leaves a loop.
std::vector<ExitBlock> splitLoopExits(Function& f, const LoopNest& nest) {
  std::vector<ExitBlock> exits;
  const BlockId count = static_cast<BlockId>(f.blocks.size());
  for (BlockId b = 0; b < count; ++b)
    for (unsigned k = 0; k < f.blocks[b].end.targetCount(); ++k) {
      BlockId to = f.blocks[b].end.target[k];
      auto loops = nest.left(b, to);
      if (loops.empty() || isExitOnly(f.blocks[to])) continue;
      Block exit;
      exit.end.kind = Terminator::Kind::Jump;
      exit.end.target[0] = to;
      exit.end.line = f.blocks[b].end.line;
      exit.line = exit.end.line;
      f.blocks.push_back(std::move(exit));
      f.blocks[b].end.target[k] = static_cast<BlockId>(f.blocks.size() - 1);
      exits.push_back({f.blocks[b].end.target[k], std::move(loops)});
    }
  return exits;
}

/// Reads before writes of each register, by block.
struct RegisterUse {
  std::vector<BlockId> exposed;      // blocks that read it before any write of their own
  std::vector<BlockId> definitions;  // blocks that write it
};

class SsaBuilder {
 public:
  explicit SsaBuilder(Function& f) : f_(f) {}

  void run() {
    const LoopNest nest(controlFlow(f_));
    exits_ = splitLoopExits(f_, nest);
    fillPredecessors(f_);
    graph_ = controlFlow(f_);
    idom_ = immediateDominators(graph_, 0);
    computeFrontiers();
    collectUses();
    stamp_.assign(f_.blocks.size(), 0);
    for (ValueId r = 0; r < uses_.size(); ++r)
      if (!uses_[r].exposed.empty()) placePhis(r, nest);
    rename();
  }

 private:
  void computeFrontiers() {
    frontier_.resize(f_.blocks.size());
    for (BlockId b = 0; b < f_.blocks.size(); ++b) {
      if (f_.blocks[b].predecessors.size() < 2) continue;
      for (BlockId p : f_.blocks[b].predecessors)
        for (BlockId runner = p; runner != idom_[b]; runner = idom_[runner]) {
          if (std::find(frontier_[runner].begin(), frontier_[runner].end(), b) == frontier_[runner].end())
            frontier_[runner].push_back(b);
          if (idom_[runner] == runner) break;
        }
    }
  }

  void collectUses() {
    uses_.resize(f_.values.size());
    std::vector<BlockId> lastWrite(f_.values.size(), kNoBlock), lastExposed(f_.values.size(), kNoBlock);
    for (BlockId b = 0; b < f_.blocks.size(); ++b) {
      auto read = [&](ValueId r) {
        if (lastWrite[r] != b && lastExposed[r] != b) lastExposed[r] = b, uses_[r].exposed.push_back(b);
      };
      auto write = [&](ValueId r, unsigned) {
        if (lastWrite[r] != b) lastWrite[r] = b, uses_[r].definitions.push_back(b);
      };
      for (const Instruction& i : f_.blocks[b].code) forEachUse(i, read), forEachDefinition(i, write);
      const Terminator& end = f_.blocks[b].end;
      forEachUse(end, read);
      // bar.red writes its result when the barrier is passed: a definition at the end of this block.
      if (end.kind == Terminator::Kind::Barrier) forEachDefinition(end.barrier, write);
    }
  }

  void placePhis(ValueId r, const LoopNest& nest) {
    const RegisterUse& use = uses_[r];
    ++epoch_;
    std::vector<BlockId> live, work = use.exposed;
    std::set<BlockId> writes(use.definitions.begin(), use.definitions.end());
    while (!work.empty()) {
      BlockId b = work.back();
      work.pop_back();
      if (stamp_[b] == epoch_) continue;
      stamp_[b] = epoch_;
      live.push_back(b);
      for (BlockId p : f_.blocks[b].predecessors)
        if (!writes.count(p)) work.push_back(p);
    }
    auto isLive = [&](BlockId b) { return stamp_[b] == epoch_; };
    std::vector<BlockId> sources = use.definitions, placed;
    std::set<BlockId> hasPhi;
    for (const ExitBlock& exit : exits_) {
      if (!isLive(exit.block)) continue;
      bool defined = false;
      for (BlockId d : use.definitions)
        for (uint32_t loop : exit.loops) defined |= nest.loops()[loop].contains(d);
      if (defined && hasPhi.insert(exit.block).second) placed.push_back(exit.block), sources.push_back(exit.block);
    }
    const bool single = use.definitions.size() == 1 && placed.empty();
    if (use.definitions.empty()) return;
    if (single && std::all_of(live.begin(), live.end(), [&](BlockId b) {
          return b != use.definitions[0] && dominates(idom_, use.definitions[0], b);
        }))
      return;
    for (size_t i = 0; i < sources.size(); ++i)
      for (BlockId b : frontier_[sources[i]])
        if (isLive(b) && hasPhi.insert(b).second) placed.push_back(b), sources.push_back(b);
    for (BlockId b : placed)
      f_.blocks[b].phis.push_back({r, std::vector<ValueId>(f_.blocks[b].predecessors.size(), kNoValue)});
  }

  void rename() {
    phiRegister_.resize(f_.blocks.size());
    for (BlockId b = 0; b < f_.blocks.size(); ++b)
      for (const Phi& phi : f_.blocks[b].phis) phiRegister_[b].push_back(phi.value);
    registers_ = std::move(f_.values);
    f_.values.clear();
    current_.assign(registers_.size(), kNoValue);
    std::vector<std::vector<BlockId>> children(f_.blocks.size());
    for (BlockId b = 1; b < f_.blocks.size(); ++b)
      if (idom_[b] != kNoNode) children[idom_[b]].push_back(b);
    struct Frame {
      BlockId block;
      size_t child;
      std::vector<std::pair<ValueId, ValueId>> undo;
    };
    std::vector<Frame> stack;
    auto enter = [&](BlockId b) {
      stack.push_back({b, 0, {}});
      undo_ = &stack.back().undo;
      renameBlock(b);
    };
    enter(0);
    while (!stack.empty()) {
      Frame& frame = stack.back();
      if (frame.child < children[frame.block].size()) {
        enter(children[frame.block][frame.child++]);
        continue;
      }
      for (auto it = frame.undo.rbegin(); it != frame.undo.rend(); ++it) current_[it->first] = it->second;
      stack.pop_back();
    }
  }

  ValueId define(ValueId reg) {
    f_.values.push_back(registers_[reg]);
    ValueId v = static_cast<ValueId>(f_.values.size() - 1);
    undo_->push_back({reg, current_[reg]});
    current_[reg] = v;
    return v;
  }

  /// A register read before it is written: a value without a definition, which reads as anything.
  ValueId read(ValueId reg) {
    if (current_[reg] != kNoValue) return current_[reg];
    f_.values.push_back(registers_[reg]);
    return static_cast<ValueId>(f_.values.size() - 1);
  }

  void renameInstruction(Instruction& i) {
    forEachUse(i, [&](ValueId& r) { r = read(r); });
    forEachDefinition(i, [&](ValueId& r, unsigned) { r = define(r); });
  }

  void renameBlock(BlockId b) {
    Block& block = f_.blocks[b];
    for (Phi& phi : block.phis) phi.value = define(phi.value);
    for (Instruction& i : block.code) renameInstruction(i);
    if (block.end.condition != kNoValue) block.end.condition = read(block.end.condition);
    if (block.end.kind == Terminator::Kind::Barrier) renameInstruction(block.end.barrier);
    for (unsigned k = 0; k < block.end.targetCount(); ++k) {
      BlockId to = block.end.target[k];
      Block& next = f_.blocks[to];
      for (size_t p = 0; p < next.predecessors.size(); ++p)
        if (next.predecessors[p] == b)
          for (size_t i = 0; i < next.phis.size(); ++i) next.phis[i].incoming[p] = read(phiRegister_[to][i]);
    }
  }

  Function& f_;
  Graph graph_;
  std::vector<ExitBlock> exits_;
  std::vector<uint32_t> idom_;
  std::vector<std::vector<BlockId>> frontier_;
  std::vector<RegisterUse> uses_;
  std::vector<uint32_t> stamp_;
  uint32_t epoch_ = 0;
  std::vector<ptx::Register> registers_;
  std::vector<ValueId> current_;
  std::vector<std::vector<ValueId>> phiRegister_;
  std::vector<std::pair<ValueId, ValueId>>* undo_ = nullptr;
};

}  // namespace

void buildSsa(Function& function) { SsaBuilder(function).run(); }

}  // namespace ordito::ir
