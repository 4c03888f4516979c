// See describe.hpp. Values are named as ir/print.hpp names them.
#include "ir/describe.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ir/block_forms.hpp"
#include "ir/liveness.hpp"
#include "ir/loops.hpp"
#include "ir/print.hpp"
#include "ir/speculated.hpp"
#include "ir/sync_points.hpp"

namespace ordito::ir {
namespace {

std::string blockNames(const std::vector<BlockId>& blocks) {
  std::string text;
  for (BlockId b : blocks) text += fmt::format(" B{}", b);
  return text;
}

std::vector<BlockId> flagged(const std::vector<char>& flags) {
  std::vector<BlockId> blocks;
  for (BlockId b = 0; b < flags.size(); ++b)
    if (flags[b]) blocks.push_back(b);
  return blocks;
}

/// "lane * 4" where that is all, else each lane's number.
std::string describePattern(const Pattern& p) {
  for (unsigned lane = 0; lane < kLanes; ++lane)
    if (p[lane] != p[1] * lane) return fmt::format("{}", fmt::join(p, " "));
  return fmt::format("lane * {}", p[1]);
}

std::string describeShape(const Shapes& shapes, const Shape& s) {
  if (s.kind == Shape::Kind::Unknown) return "never defined";
  if (s.isGeneral()) return "general";
  std::string text = s.isUniform() ? "uniform" : s.segments == 1 ? "base" : fmt::format("{} bases", s.segments);
  if (s.pattern) text += " + " + describePattern(shapes.pattern(s.pattern));
  if (s.warpVarying) text += ", other in each warp";
  if (s.alignment) text += fmt::format(", aligned to 2^{}", s.alignment);
  if (s.width < 64) text += fmt::format(", below 2^{}", s.width);
  if (s.inexact) text += ", exact as an address";
  return text;
}

std::string describeShapes(const Function& f, const LaunchShape& launch) {
  const Analyses analyses(f);
  const SyncPoints syncPoints = findSyncPoints(analyses, launch);
  const Shapes shapes(analyses, launch, &syncPoints);
  std::string text;
  for (ValueId v = 0; v < f.values.size(); ++v)
    text += fmt::format("{}: {}\n", valueName(f, v), describeShape(shapes, shapes[v]));
  for (BlockId b = 0; b < f.blocks.size(); ++b) {
    if (f.blocks[b].end.kind != Terminator::Kind::Branch) continue;
    const BlockId join = shapes.joinOf(b);
    text += fmt::format("B{}: {}, {}\n", b,
                        shapes.isDivergent(b)     ? "divergent"
                        : shapes.isWarpVarying(b) ? "other in each warp"
                                                  : "the same for all",
                        join == kNoBlock ? "no join" : fmt::format("joins at B{}", join));
  }
  return text;
}

std::string_view describe(SyncPoints::Stepping stepping) {
  constexpr std::string_view kWords[] = {"nobody", "warps", "lanes"};
  return kWords[static_cast<size_t>(stepping)];
}

std::string describeSyncPoints(const Function& f, const LaunchShape& launch) {
  const SyncPoints syncPoints = findSyncPoints(Analyses(f), launch);
  std::string text = "resume points:" + blockNames(syncPoints.resumePoints) + "\n";
  text += fmt::format("diverged: {}\n", describe(syncPoints.stepping));
  for (const Loop& spin : syncPoints.spins)
    text += fmt::format("spins: B{}, blocks{}\n", spin.header, blockNames(flagged(spin.members)));
  for (BlockId b = 0; b < f.blocks.size(); ++b) {
    if (f.blocks[b].end.kind == Terminator::Kind::Barrier)
      text += fmt::format("B{}: a barrier that {} reaches together\n", b,
                          syncPoints.meets[b] ? "the block" : "not everybody");
    if (syncPoints.independentRegion[b] != SyncPoints::Stepping::Together)
      text += fmt::format("B{}: {} may be diverged\n", b, describe(syncPoints.independentRegion[b]));
  }
  if (syncPoints.polls) text += "waits for other blocks around barriers\n";
  return text;
}

std::string describeLoops(const Function& f, const LaunchShape&) {
  const Analyses analyses(f);
  const LoopNest& nest = analyses.loops();
  std::string text;
  for (const Loop& loop : nest.loops())
    text += fmt::format("B{}: blocks{}, depth {}\n", loop.header, blockNames(flagged(loop.members)),
                        nest.around(loop.header).size());
  return text;
}

std::string describeLiveIns(const Function& f, const LaunchShape&) {
  std::vector<BlockId> all(f.blocks.size());
  for (BlockId b = 0; b < all.size(); ++b) all[b] = b;
  const auto live = liveIns(f, all);
  std::string text;
  for (BlockId b = 0; b < all.size(); ++b) {
    text += fmt::format("B{}:", b);
    for (ValueId v : live[b]) text += " " + valueName(f, v);
    text += "\n";
  }
  return text;
}

std::string describeSpeculated(const Function& f, const LaunchShape&) {
  const std::vector<char> speculated = speculatedValues(Analyses(f));
  std::string text;
  for (ValueId v = 0; v < speculated.size(); ++v)
    if (speculated[v]) text += valueName(f, v) + "\n";
  return text;
}

std::string describeBlockForms(const Function& f, const LaunchShape& launch) {
  return print(BlockForms(f, {.block = launch.block}), f);
}

constexpr Analysis kAnalyses[] = {
    {"block-forms", "what each value of a block adds for each block further", describeBlockForms},
    {"shapes", "how each value varies between lanes and warps, and which branches diverge", describeShapes},
    {"sync-points", "where threads wait for one another, and who may be diverged", describeSyncPoints},
    {"loops", "loops and how they are nested", describeLoops},
    {"live", "the values that are live where control enters a block", describeLiveIns},
    {"speculated", "values that are used where other lanes may be active", describeSpeculated},
};

}  // namespace

std::span<const Analysis> analyses() { return kAnalyses; }

const Analysis* findAnalysis(std::string_view name) {
  for (const Analysis& analysis : kAnalyses)
    if (analysis.name == name) return &analysis;
  return nullptr;
}

}  // namespace ordito::ir
