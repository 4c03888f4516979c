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

Region::Region(const ir::Function& f, const ir::Stops& stops, const ir::Graph& graph, std::vector<uint32_t> points)
    : points_(std::move(points)), position_(f.blocks.size(), 0), role_(f.blocks.size(), 0) {
  if (points_.size() == 1) {
    order_ = ir::reversePostOrder(graph, stops.points[points_[0]]);
  } else {
    std::vector<char> reached(f.blocks.size(), 0);
    for (uint32_t point : points_)
      for (BlockId b : ir::reversePostOrder(graph, stops.points[point])) reached[b] = 1;
    order_ = kernelOrder(f, reached);
  }
  for (uint32_t i = 0; i < order_.size(); ++i) role_[order_[i]] |= kInside, position_[order_[i]] = i;
  for (BlockId b : order_)
    if (f.blocks[b].end.kind == Kind::Barrier) role_[f.blocks[b].end.target[0]] |= kPhisAssigned;
  // Where threads get out of step, every group keeps the result of a barrier itself.
  if (!stops.parks()) return;
  for (uint32_t point : points_)
    for (BlockId from : f.blocks[stops.points[point]].predecessors)
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

Regions findRegions(const ir::Function& f, const ir::Stops& stops, const Facts& facts) {
  Regions r;
  r.function = &f, r.stops = &stops;
  r.points = stops.points;
  r.pointOf.assign(f.blocks.size(), Regions::kNoPoint);
  for (uint32_t p = 0; p < r.points.size(); ++p) r.pointOf[r.points[p]] = p;
  for (const ir::Block& block : f.blocks) r.instructions += block.code.size();
  r.graph = ir::graphBetweenStops(f);
  size_t scheduled = 0;
  for (uint32_t p = 0; p < r.points.size(); ++p) {
    const BlockId start = r.points[p];
    Regions::Entry entry{start == 0, stops.spinAt(start) != nullptr, false};
    for (BlockId from : f.blocks[start].predecessors)
      if (f.blocks[from].end.kind == Kind::Barrier) (stops.meets[from] ? entry.inStep : entry.outOfStep) = true;
    size_t instructions = 0;
    for (BlockId b : ir::reversePostOrder(r.graph, start)) {
      entry.isIndependent |= stops.spinAt(b) || stops.isLoose(f, b);
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
  for (uint32_t p = 0; p < r.points.size(); ++p) {
    const Regions::Entry& e = r.entries[p];
    text +=
        fmt::format("region {} at B{}:{}{}{}, blocks{}\n", p, r.points[p], e.inStep ? " in step" : "",
                    e.inStep && e.outOfStep ? " and" : "", e.outOfStep ? " out of step" : "", names(r.at(p).order()));
    if (e.isIndependent) text += fmt::format("region {}: independently scheduled\n", p);
  }
  if (r.sharesScheduled && !r.scheduled.empty())
    text += fmt::format("the scheduler's regions share one copy, blocks{}\n", names(r.shared().order()));
  return text;
}

}  // namespace ordito::simt
