// See free_phis.hpp.
#include "simt/free_phis.hpp"

#include <algorithm>

#include "ir/graph.hpp"
#include "ir/liveness.hpp"
#include "ptx/operands.hpp"

namespace ordito::simt {
namespace {

using ir::isAmong;
using Kind = ir::Terminator::Kind;
using Flags = std::vector<char>;  // by value

/// What the blocks that the loop leads to read, and what lanes bring there that leave at the latch: others go round
/// before them.
Flags readBehind(const ir::Function& f, const std::vector<BlockId>& loop, BlockId latch) {
  std::vector<BlockId> exits;
  Flags isRead(f.values.size(), 0);
  const auto read = [&](ValueId v) { isRead[v] = 1; };
  for (BlockId b : loop)
    for (unsigned k = 0; k < f.blocks[b].end.targetCount(); ++k) {
      const BlockId to = f.blocks[b].end.target[k];
      if (isAmong(loop, to)) continue;
      exits.push_back(to);
      if (b == latch) ir::forEachIncoming(f, latch, to, read);
    }
  for (const auto& live : ir::liveIns(f, exits)) std::ranges::for_each(live, read);
  return isRead;
}

/// What addresses are computed of in the loop.
class AddressParts {
 public:
  AddressParts(const ir::Function& f, const std::vector<BlockId>& loop)
      : f_(f), loop_(loop), isPart_(f.values.size(), 0) {
    for (BlockId b : loop)
      for (const Instruction& i : f.blocks[b].code)
        for (const ptx::MemoryAccess& m : ptx::MemoryAccesses(i)) add(i.operands[m.operand].reg);
    for (bool grows = true; grows;) grows = growThroughBlocks();
  }
  bool contains(ValueId v) const { return isPart_[v] != 0; }

 private:
  bool add(ValueId v) {
    if (v == ir::kNoValue || isPart_[v]) return false;
    return isPart_[v] = 1;
  }

  bool growThroughBlocks() {
    bool grows = false;
    for (BlockId b : loop_) {
      for (const ir::Phi& phi : f_.blocks[b].phis)
        if (isPart_[phi.value])
          for (ValueId v : phi.incoming) grows |= add(v);
      for (const Instruction& i : f_.blocks[b].code) {
        bool defines = false;
        ir::forEachDefinition(i, [&](ValueId v, unsigned) { defines |= isPart_[v] != 0; });
        if (defines) ir::forEachUse(i, [&](ValueId v) { grows |= add(v); });
      }
    }
    return grows;
  }

  const ir::Function& f_;
  const std::vector<BlockId>& loop_;
  Flags isPart_;
};

/// Does a lane that is still in its iteration come to the latch again, in a loop inside?
bool isInInnerLoop(const ir::Graph& graph, const std::vector<BlockId>& loop, BlockId header, BlockId latch) {
  for (const auto& component : ir::components(graph, loop, header))
    if (isAmong(component, latch) && latch != header)
      return component.size() > 1 || isAmong(graph.successors[latch], latch);
  return false;
}

/// The block of the loop that leads back to its header; none if there are several.
BlockId onlyLatch(const ir::Function& f, const std::vector<BlockId>& loop, BlockId header) {
  BlockId latch = ir::kNoBlock;
  for (BlockId p : f.blocks[header].predecessors) {
    if (!isAmong(loop, p)) continue;
    if (latch != ir::kNoBlock) return ir::kNoBlock;
    latch = p;
  }
  return latch;
}

}  // namespace

FreePhis findFreePhis(const CodeInputs& in, const std::vector<BlockId>& loop, BlockId header) {
  const ir::Function& f = in.function;
  if (in.facts.processor.avx512) return {};  // masked instructions blend for nothing
  const auto meets = [](const Instruction& i) { return i.info().effect == isa::Effect::Warp; };
  const auto isAlone = [&](BlockId b) {
    const Kind end = f.blocks[b].end.kind;
    return (end == Kind::Jump || end == Kind::Branch) && std::ranges::none_of(f.blocks[b].code, meets);
  };
  if (!std::ranges::all_of(loop, isAlone)) return {};
  FreePhis free{onlyLatch(f, loop, header), {}};
  if (free.latch == ir::kNoBlock || isInInnerLoop(in.regions.graph, loop, header, free.latch)) return {};
  const Flags isRead = readBehind(f, loop, free.latch);
  const AddressParts addresses(f, loop);
  for (const ir::Phi& phi : f.blocks[header].phis) {
    const ValueId v = phi.value;
    const bool isWhole = !isa::isFloat(f.values[v].type) && in.shapes[v].isGeneral();
    if (isWhole && !isRead[v] && !addresses.contains(v)) free.phis.push_back(v);
  }
  return free;
}

}  // namespace ordito::simt
