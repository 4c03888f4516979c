// See parting.hpp.
#include "simt/parting.hpp"

#include <fmt/format.h>

#include "simt/accesses.hpp"
#include "simt/early_exits.hpp"

namespace ordito::simt {
namespace {

bool leavesTrace(const Instruction& i) {
  const auto effect = i.info().effect;
  return effect != isa::Effect::Pure && (effect != isa::Effect::Load || isOrdered(i));
}

/// Is nothing seen of a thread that has come to the end of block `b`?
bool leavesNoTrace(const ir::Function& f, BlockId b) {
  std::vector<char> before(f.blocks.size(), 0);
  std::vector<BlockId> work{b};
  before[b] = 1;
  while (!work.empty()) {
    const ir::Block& block = f.blocks[work.back()];
    work.pop_back();
    for (const Instruction& i : block.code)
      if (leavesTrace(i)) return false;
    for (BlockId p : block.predecessors)
      if (!before[p]) before[p] = 1, work.push_back(p);
  }
  return true;
}

}  // namespace

Parting findParting(const ir::Function& f, const ir::SyncPoints& syncPoints, const ir::Shapes& shapes,
                    const Facts& facts) {
  Parting p;
  p.isAllowed = facts.coarsening.most() > 1 && syncPoints.resumePoints.size() == 1 && !syncPoints.diverges() &&
                !facts.counters && !facts.dropsBarriers;
  p.startsAnew.assign(f.blocks.size(), 0);
  for (BlockId b = 0; p.isAllowed && b < f.blocks.size(); ++b)
    p.startsAnew[b] = shapes.isDivergent(b) && exitSide(f, f.blocks[b].end) < 2 && leavesNoTrace(f, b);
  return p;
}

std::string print(const Parting& p) {
  if (!p.isAllowed) return "no warps of a batch part\n";
  std::string text = "batches that are not whole part at the start\n";
  for (BlockId b = 0; b < p.startsAnew.size(); ++b)
    if (p.startsAnew[b]) text += fmt::format("warps start anew from B{}\n", b);
  return text;
}

}  // namespace ordito::simt
