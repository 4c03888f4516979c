// Cuts a list of PTX instructions into basic blocks (PTX ISA, "Control Flow Instructions"). A block ends at a branch,
// an exit, a trap or a barrier; a guard on one of these, or on a call, becomes a branch around a block that holds it,
// so that later passes meet guards only on plain instructions.
#include <algorithm>
#include <map>

#include "ir/graph.hpp"
#include "ir/inline.hpp"
#include "ir/ir.hpp"

namespace ordito::ir {
namespace {

using isa::Op;
using Kind = Terminator::Kind;

/// A guard of an instruction is a select of each result, for which there are two places; more of them, and calls, are
/// branched around.
bool needsBranch(const ptx::Instruction& inst) {
  unsigned results = 0;
  const Instruction i(inst);
  forEachDefinition(i, [&](const ValueId&, unsigned) { ++results; });
  return inst.op == Op::Call || results > Instruction{}.prior.size();
}

bool isBarrier(Op op) { return isa::info(op).effect == isa::Effect::Barrier; }
bool endsThread(Op op) { return op == Op::Ret || op == Op::Exit; }
bool endsBlock(Op op) { return op == Op::Bra || endsThread(op) || op == Op::Trap || op == Op::Brkpt || isBarrier(op); }

class Builder {
 public:
  Builder(const ptx::Module& module, const ptx::Function& kernel, Inlined inlined,
          const std::set<uint32_t>& warpSyncPoints, bool announces)
      : source_(std::move(inlined.function)), warpSyncPoints_(warpSyncPoints), announces_(announces) {
    out_.module = &module;
    out_.kernel = &kernel;
    out_.values = source_.registers;
    out_.variables = source_.variables;
    out_.origin = std::move(inlined.origin);
    out_.stack = std::move(inlined.stack);
  }

  Function run() {
    findLeaders();
    out_.blocks.resize(leaders_.size() + 1);
    const BlockId end = static_cast<BlockId>(leaders_.size());  // falling off the end of the body ends the thread
    for (BlockId b = 0; b < leaders_.size(); ++b) {
      uint32_t syncPoint =
          b + 1 < leaders_.size() ? leaders_[b + 1] : static_cast<uint32_t>(source_.instructions.size());
      fill(b, leaders_[b], syncPoint, b + 1 < leaders_.size() ? b + 1 : end);
    }
    out_.blocks[end].end.kind = Kind::Exit;
    return std::move(out_);
  }

 private:
  void findLeaders() {
    std::vector<uint32_t> at{0};
    for (uint32_t i = 0; i < source_.instructions.size(); ++i) {
      const ptx::Instruction& inst = source_.instructions[i];
      if (endsBlock(inst.op)) at.push_back(i + 1);
      // Only where branches lead to: compilers that note source lines put a label at each, which nobody jumps to.
      if (inst.op == Op::Bra) at.push_back(source_.labels[inst.operands[0].label].instruction);
    }
    std::sort(at.begin(), at.end());
    at.erase(std::unique(at.begin(), at.end()), at.end());
    while (!at.empty() && at.back() >= source_.instructions.size()) at.pop_back();
    leaders_ = std::move(at);
    for (BlockId b = 0; b < leaders_.size(); ++b) blockAt_[leaders_[b]] = b;
  }

  BlockId target(uint32_t label) const {
    auto it = blockAt_.find(source_.labels[label].instruction);
    return it == blockAt_.end() ? static_cast<BlockId>(leaders_.size()) : it->second;
  }

  BlockId newBlock(uint32_t line) {
    out_.blocks.emplace_back();
    out_.blocks.back().line = line;
    return static_cast<BlockId>(out_.blocks.size() - 1);
  }

  void setJump(BlockId b, BlockId to, uint32_t line, bool isInstruction) {
    Terminator& end = out_.blocks[b].end;
    end = {};
    end.kind = Kind::Jump;
    end.target[0] = to;
    end.line = line;
    end.isInstruction = isInstruction;
  }

  void setBranch(BlockId b, const ptx::Guard& guard, BlockId taken, BlockId otherwise, uint32_t line,
                 bool isInstruction) {
    if (taken == otherwise) return setJump(b, taken, line, isInstruction);
    Terminator& end = out_.blocks[b].end;
    end = {};
    end.kind = Kind::Branch;
    end.condition = guard.reg;
    end.negated = guard.negated;
    end.target = {taken, otherwise};
    end.line = line;
    end.isInstruction = isInstruction;
  }

  void fill(BlockId b, uint32_t begin, uint32_t syncPoint, BlockId next) {
    out_.blocks[b].line = source_.instructions[begin].line;
    BlockId current = b;
    for (uint32_t i = begin; i < syncPoint; ++i) {
      const ptx::Instruction& inst = source_.instructions[i];
      if (endsBlock(inst.op)) return finish(current, inst, next);
      if (inst.guard && needsBranch(inst)) {
        announce(current, inst);
        BlockId call = newBlock(inst.line), after = newBlock(inst.line);
        setBranch(current, inst.guard, call, after, inst.line, false);
        Instruction plain(inst);
        plain.guard = {};
        plain.raisesIssue &= !announces_;
        out_.blocks[call].code.push_back(std::move(plain));
        setJump(call, after, inst.line, false);
        current = after;
        continue;
      }
      if (inst.info().form.memberMask >= 0 && warpSyncPoints_.count(inst.line)) {
        current = syncPointForWarp(current, inst);
        continue;
      }
      out_.blocks[current].code.emplace_back(inst);
    }
    setJump(current, next, source_.instructions[syncPoint - 1].line, false);
  }

  void announce(BlockId b, const ptx::Instruction& inst) {
    if (announces_) out_.blocks[b].code.emplace_back(announcement(inst));
  }

  /// The lanes that `inst` names meet before it; under a guard only those where it holds. Returns where code goes on.
  BlockId syncPointForWarp(BlockId current, const ptx::Instruction& inst) {
    const BlockId together = newBlock(inst.line), after = newBlock(inst.line);
    if (inst.guard) {
      const BlockId guarded = newBlock(inst.line);
      setBranch(current, inst.guard, guarded, after, inst.line, false);
      current = guarded;
    }
    Terminator& end = out_.blocks[current].end;
    end = {};
    end.kind = Kind::Barrier;
    end.line = inst.line;
    end.isInstruction = inst.op == Op::BarWarpSync;
    end.target[0] = together;
    end.barrier.op = Op::BarWarpSync;
    end.barrier.line = inst.line;
    end.barrier.operands = {inst.operands[static_cast<size_t>(inst.info().form.memberMask)]};
    if (inst.op != Op::BarWarpSync) {
      Instruction plain(inst);
      plain.guard = {};
      out_.blocks[together].code.push_back(std::move(plain));
    }
    setJump(together, after, inst.line, false);
    return after;
  }

  void finish(BlockId b, const ptx::Instruction& inst, BlockId next) {
    if (inst.op == Op::Bra) {
      BlockId to = target(inst.operands[0].label);
      if (inst.guard && to == next && inst.raisesIssue) {
        announce(b, inst);
        return setJump(b, to, inst.line, !announces_);
      }
      if (inst.guard) return setBranch(b, inst.guard, to, next, inst.line, inst.raisesIssue);
      return setJump(b, to, inst.line, inst.raisesIssue);
    }
    if (inst.guard) {
      announce(b, inst);
      BlockId guarded = newBlock(inst.line);
      setBranch(b, inst.guard, guarded, next, inst.line, false);
      b = guarded;
    }
    Terminator& end = out_.blocks[b].end;
    end = {};
    end.line = inst.line;
    end.isInstruction = inst.raisesIssue && !(inst.guard && announces_);
    if (isBarrier(inst.op)) {
      end.kind = Kind::Barrier;
      end.barrier = Instruction(inst);
      end.barrier.guard = {};
      end.target[0] = next;
      if (inst.has(isa::ModifierKind::RedOp)) {
        // Its result exists only behind the barrier: a block of its own there, so that no phi takes it on the way.
        const BlockId behind = newBlock(inst.line);
        out_.blocks[b].end.target[0] = behind;
        setJump(behind, next, inst.line, false);
      }
    } else {
      end.kind = endsThread(inst.op) ? Kind::Exit : Kind::Trap;
      if (end.kind == Kind::Trap && !inst.operands.empty())
        end.cause = static_cast<Terminator::Cause>(inst.operands[0].bits);
    }
  }

  ptx::Function source_;
  const std::set<uint32_t>& warpSyncPoints_;
  const bool announces_;
  Function out_;
  std::vector<uint32_t> leaders_;
  std::map<uint32_t, BlockId> blockAt_;
};

/// Gives every instruction that uses the condition code a register for it: add.cc defines it, addc reads it.
void makeCarryExplicit(Function& f) {
  ValueId carry = kNoValue;
  auto get = [&] {
    if (carry == kNoValue) {
      f.values.push_back({"%cc", isa::Type::pred});
      carry = static_cast<ValueId>(f.values.size() - 1);
    }
    return carry;
  };
  for (Block& block : f.blocks)
    for (Instruction& i : block.code) {
      if (i.op == Op::Addc || i.op == Op::Subc || i.op == Op::Madc) i.carryIn = get();
      if (i.has(isa::ModifierKind::Carry)) i.carryOut = get();
    }
}

void makePriorExplicit(Function& f) {
  for (Block& block : f.blocks)
    for (Instruction& i : block.code)
      if (i.guard)
        forEachDefinition(i, [&](ValueId reg, unsigned k) {
          if (k < i.prior.size()) i.prior[k] = reg;
        });
}

/// Gives every branch to a bare `ret` an exit block of its own. Compilers merge all returns of a kernel into one; kept
/// apart, an early return is seen to end some lanes and to leave the others together. A branch of the program that
/// leads there is all that is executed, as on a GPU, where it is a predicated exit.
void splitExits(Function& f) {
  const BlockId count = static_cast<BlockId>(f.blocks.size());
  for (BlockId b = 0; b < count; ++b)
    for (unsigned k = 0; k < f.blocks[b].end.targetCount(); ++k) {
      const Terminator& end = f.blocks[b].end;
      bool hasExit = k == 0 && end.isInstruction && end.kind != Kind::Barrier, isInstruction = false;
      BlockId to = end.target[k];
      auto pass = [&](const Terminator& through) {
        isInstruction |= !hasExit && through.isInstruction;
        hasExit |= through.isInstruction;
      };
      // Through blocks that only jump on, too.
      for (size_t steps = 0;
           steps < f.blocks.size() && f.blocks[to].code.empty() && f.blocks[to].end.kind == Kind::Jump; ++steps) {
        pass(f.blocks[to].end);
        to = f.blocks[to].end.target[0];
      }
      if (!f.blocks[to].code.empty() || f.blocks[to].end.kind != Kind::Exit) continue;
      pass(f.blocks[to].end);
      Block exit;
      exit.end.kind = Kind::Exit;
      exit.end.isInstruction = isInstruction;
      exit.end.line = f.blocks[to].end.line;
      exit.line = f.blocks[to].line;
      f.blocks.push_back(std::move(exit));
      f.blocks[b].end.target[k] = static_cast<BlockId>(f.blocks.size() - 1);
    }
}

/// Drops unreachable blocks and numbers the rest in reverse post-order; the entry gets no predecessor.
void normalise(Function& f) {
  const auto order = reversePostOrder(controlFlow(f), 0);
  std::vector<BlockId> number(f.blocks.size(), kNoBlock);
  bool entryHasPredecessor = false;
  for (BlockId old : order)
    for (unsigned k = 0; k < f.blocks[old].end.targetCount(); ++k)
      entryHasPredecessor |= f.blocks[old].end.target[k] == 0;
  const BlockId shift = entryHasPredecessor ? 1 : 0;
  for (BlockId i = 0; i < order.size(); ++i) number[order[i]] = i + shift;
  std::vector<Block> blocks(order.size() + shift);
  if (shift) {
    blocks[0].end.kind = Kind::Jump;
    blocks[0].end.target[0] = 1;
    blocks[0].line = f.blocks[0].line;
  }
  for (BlockId old : order) blocks[number[old]] = std::move(f.blocks[old]);
  f.blocks = std::move(blocks);
  for (BlockId b = shift; b < f.blocks.size(); ++b)
    for (unsigned k = 0; k < f.blocks[b].end.targetCount(); ++k)
      f.blocks[b].end.target[k] = number[f.blocks[b].end.target[k]];
}

}  // namespace

Graph controlFlow(const Function& f) {
  Graph g(f.blocks.size());
  for (BlockId b = 0; b < f.blocks.size(); ++b)
    for (unsigned k = 0; k < f.blocks[b].end.targetCount(); ++k) g.edge(b, f.blocks[b].end.target[k]);
  return g;
}

std::vector<uint32_t> immediatePostDominators(const Function& f) {
  Graph backwards = controlFlow(f).reversed();
  const auto end = static_cast<uint32_t>(backwards.size());
  backwards.successors.emplace_back();
  for (BlockId b = 0; b < f.blocks.size(); ++b)
    if (f.blocks[b].end.targetCount() == 0) backwards.edge(end, b);
  return immediateDominators(backwards, end);
}

void fillPredecessors(Function& f) {
  for (Block& block : f.blocks) block.predecessors.clear();
  for (BlockId b = 0; b < f.blocks.size(); ++b)
    for (unsigned k = 0; k < f.blocks[b].end.targetCount(); ++k)
      f.blocks[f.blocks[b].end.target[k]].predecessors.push_back(b);
}

Expected<Function> buildCfg(const ptx::Module& module, const ptx::Function& kernel,
                            const std::set<uint32_t>& warpSyncPoints, bool announces, bool hasZones) {
  auto inlined = inlineCalls(module, kernel, announces, hasZones);
  if (!inlined) return tl::unexpected(inlined.error());
  if (inlined->function.instructions.empty()) {
    ptx::Instruction ret;
    ret.op = Op::Ret;
    ret.line = kernel.line;
    ret.raisesIssue = ret.raisesAccess = false;
    inlined->function.instructions.push_back(ret);
  }
  Function f = Builder(module, kernel, std::move(*inlined), warpSyncPoints, announces).run();
  makeCarryExplicit(f);
  makePriorExplicit(f);
  splitExits(f);
  normalise(f);
  fillPredecessors(f);
  return f;
}

}  // namespace ordito::ir
