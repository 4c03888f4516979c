// See regions.hpp.
#include "simt/regions.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ordito::simt {
namespace {

using Kind = ir::Terminator::Kind;

/// What can be reached from the points, in the order of the whole kernel.
std::vector<BlockId> kernelOrder(const ir::Function& f, const std::vector<char>& reached) {
  auto order = ir::reversePostOrder(ir::controlFlow(f), 0);
  std::erase_if(order, [&](BlockId b) { return !reached[b]; });
  return order;
}

std::string names(const std::vector<BlockId>& blocks) {
  std::string text;
  for (BlockId b : blocks) text += fmt::format(" B{}", b);
  return text;
}

}  // namespace

Region::Region(const ir::Function& f, const ir::SyncPoints& syncPoints, const ir::Graph& graph,
               std::vector<uint32_t> resumePoints)
    : resumePoints_(std::move(resumePoints)), position_(f.blocks.size(), 0), role_(f.blocks.size(), 0) {
  if (resumePoints_.size() == 1) {
    order_ = ir::reversePostOrder(graph, syncPoints.resumePoints[resumePoints_[0]]);
  } else {
    std::vector<char> reached(f.blocks.size(), 0);
    for (uint32_t resumePoint : resumePoints_)
      for (BlockId b : ir::reversePostOrder(graph, syncPoints.resumePoints[resumePoint])) reached[b] = 1;
    order_ = kernelOrder(f, reached);
  }
  for (uint32_t i = 0; i < order_.size(); ++i) role_[order_[i]] |= kInside, position_[order_[i]] = i;
  for (BlockId b : order_)
    if (f.blocks[b].end.kind == Kind::Barrier) role_[f.blocks[b].end.target[0]] |= kPhisAssigned;
  // Where threads get diverged, every batch keeps the result of a barrier itself.
  if (!syncPoints.diverges()) return;
  for (uint32_t resumePoint : resumePoints_)
    for (BlockId from : f.blocks[syncPoints.resumePoints[resumePoint]].predecessors)
      if (f.blocks[from].end.kind == Kind::Barrier) role_[from] |= kResultReceived;
}

bool Region::defines(const ir::Definition& d) const {
  switch (d.kind) {
    case ir::Definition::Kind::None: return false;
    case ir::Definition::Kind::Code: return role_[d.block] & kInside;
    case ir::Definition::Kind::Phi: return role_[d.block] & (kInside | kPhisAssigned);
    case ir::Definition::Kind::Barrier: return role_[d.block] & (kInside | kResultReceived);
  }
  return false;
}

Regions findRegions(const ir::Function& f, const ir::SyncPoints& syncPoints, const Facts& facts) {
  Regions r;
  r.function = &f, r.syncPoints = &syncPoints;
  r.resumePoints = syncPoints.resumePoints;
  r.pointOf.assign(f.blocks.size(), Regions::kNoResumePoint);
  for (uint32_t p = 0; p < r.resumePoints.size(); ++p) r.pointOf[r.resumePoints[p]] = p;
  for (const ir::Block& block : f.blocks) r.instructions += block.code.size();
  r.graph = ir::graphBetweenSyncPoints(f);
  size_t scheduled = 0;
  for (uint32_t p = 0; p < r.resumePoints.size(); ++p) {
    const BlockId start = r.resumePoints[p];
    Regions::Entry entry{start == 0, syncPoints.spinAt(start) != nullptr, false};
    for (BlockId from : f.blocks[start].predecessors)
      if (f.blocks[from].end.kind == Kind::Barrier) (syncPoints.meets[from] ? entry.converged : entry.diverged) = true;
    size_t instructions = 0;
    for (BlockId b : ir::reversePostOrder(r.graph, start)) {
      entry.isIndependent |= syncPoints.spinAt(b) || syncPoints.isIndependent(f, b);
      instructions += f.blocks[b].code.size();
    }
    r.entries.push_back(entry);
    if (!entry.isScheduled()) continue;
    r.scheduled.push_back(p);
    scheduled += instructions;
  }
  r.sharesScheduled = facts.baseline || scheduled > std::max(cost::kSmallKernel, cost::kMostCopies * r.instructions);
  return r;
}

std::string print(const Regions& r) {
  std::string text;
  for (uint32_t p = 0; p < r.resumePoints.size(); ++p) {
    const Regions::Entry& e = r.entries[p];
    text += fmt::format("region {} at B{}:{}{}{}, blocks{}\n", p, r.resumePoints[p], e.converged ? " converged" : "",
                        e.converged && e.diverged ? " and" : "", e.diverged ? " diverged" : "", names(r.at(p).order()));
    if (e.isIndependent) text += fmt::format("region {}: independently scheduled\n", p);
  }
  if (r.sharesScheduled && !r.scheduled.empty())
    text += fmt::format("the scheduler's regions share one copy, blocks{}\n", names(r.shared().order()));
  return text;
}

}  // namespace ordito::simt
