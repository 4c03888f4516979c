// See early_exits.hpp.
#include "simt/early_exits.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ordito::simt {
namespace {

using Kind = ir::Terminator::Kind;

/// Branches that threads take differently, and behind one side of which a thread may end.
std::vector<BlockId> partingBranches(const ir::Function& f, const ir::SyncPoints& syncPoints,
                                     const ir::Shapes& shapes) {
  std::vector<BlockId> branches;
  for (BlockId b = 0; b < f.blocks.size(); ++b) {
    if (f.blocks[b].end.kind != Kind::Branch) continue;
    if (!shapes.isDivergent(b) && !shapes.isWarpVarying(b) && !syncPoints.differs[b]) continue;
    const auto influence = shapes.influence(b);
    if (std::ranges::any_of(influence, [&](BlockId n) { return f.blocks[n].end.kind == Kind::Exit; }))
      branches.push_back(b);
  }
  return branches;
}

/// Blocks that can be reached behind one of `from`.
std::vector<char> blocksBehind(const ir::Function& f, const std::vector<BlockId>& from) {
  std::vector<char> behind(f.blocks.size(), 0);
  std::vector<BlockId> work = from;
  while (!work.empty()) {
    const ir::Terminator& end = f.blocks[work.back()].end;
    work.pop_back();
    for (unsigned k = 0; k < end.targetCount(); ++k)
      if (!behind[end.target[k]]) behind[end.target[k]] = 1, work.push_back(end.target[k]);
  }
  return behind;
}

}  // namespace

bool EarlyExits::mayMissLater() const {
  return std::any_of(mayMiss.begin() + 1, mayMiss.end(), [](char m) { return m != 0; });
}

EarlyExits findEarlyExits(const ir::Function& f, const ir::SyncPoints& syncPoints, const ir::Shapes& shapes,
                          const Regions& regions) {
  EarlyExits e;
  const auto& block = shapes.launch().block;
  e.partialBlock = uint64_t{block[0]} * block[1] * block[2] % kLanes != 0;
  const auto branches = partingBranches(f, syncPoints, shapes);
  for (BlockId b : branches) e.needsLive |= shapes.isDivergent(b);
  const auto behind = blocksBehind(f, branches);
  for (BlockId resumePoint : regions.resumePoints) {
    e.mayMiss.push_back(e.partialBlock || behind[resumePoint]);
    e.needsLive |= e.mayMiss.back() != 0;
  }
  e.needsLive |= syncPoints.stepping == ir::SyncPoints::Stepping::Lanes;
  return e;
}

unsigned exitSide(const ir::Function& f, const ir::Terminator& end) {
  if (end.kind != Kind::Branch) return 2;
  for (unsigned k = 0; k < 2; ++k)
    if (ir::isExitOnly(f.blocks[end.target[k]])) return k;
  return 2;
}

bool isPredicatedExit(const ir::Function& f, const ir::Terminator& end) {
  const unsigned side = exitSide(f, end);
  const bool goesBack = f.blocks[end.target[0]].line <= end.line;
  return side == 0 || (side == 1 && !goesBack);
}

std::string print(const EarlyExits& e, const Regions& regions) {
  std::string text = fmt::format("live masks: {}\n", e.needsLive ? "kept" : "not needed");
  if (e.partialBlock) text += "the last warp is not full\n";
  for (uint32_t p = 0; p < e.mayMiss.size(); ++p)
    text +=
        fmt::format("B{}: {}\n", regions.resumePoints[p], e.mayMiss[p] ? "threads may be missing" : "all threads come");
  return text;
}

}  // namespace ordito::simt
