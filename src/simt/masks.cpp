// See masks.hpp.
#include "simt/masks.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ordito::simt {
namespace {

using Kind = ir::Terminator::Kind;

class Finder {
 public:
  Finder(const ir::Shapes& shapes, const Versions& versions, const Regions& regions, const Region& region,
         const std::vector<BlockId>& assumed)
      : f_(*regions.function),
        syncPoints_(*regions.syncPoints),
        shapes_(shapes),
        versions_(versions),
        graph_(regions.graph),
        region_(region),
        assumed_(assumed),
        sidesOf_(f_.blocks.size()) {
    masks_.masked.assign(f_.blocks.size(), 0);
    masks_.component.assign(f_.blocks.size(), Masks::kNoComponent);
  }

  Masks find() {
    for (BlockId b : region_.order())
      if (parts(b)) markSides(b);
    for (BlockId seed : region_.order())
      if (masks_.masked[seed] && masks_.component[seed] == Masks::kNoComponent) collect(seed);
    for (BlockId b : region_.order())
      if (parts(b)) joinBehind(b);
    return std::move(masks_);
  }

 private:
  bool parts(BlockId b) const {
    return shapes_.isDivergent(b) && std::find(assumed_.begin(), assumed_.end(), b) == assumed_.end();
  }

  /// The two sides of a branch wait for each other at its join, so they belong together although no edge connects them.
  /// One side may be nothing but the join, which is then reached from the other side over a synchronisation point only,
  /// and is masked if a branch further out has parted lanes: so the targets themselves belong to the sides.
  void markSides(BlockId b) {
    const auto& influence = versions_.influence[b];
    const ir::Terminator& end = f_.blocks[b].end;
    std::vector<BlockId> sides;
    for (unsigned k = 0; k < end.targetCount(); ++k) {
      const BlockId to = end.target[k];
      if (influence[to] || !region_.contains(to) || ir::isExitOnly(f_.blocks[to])) continue;
      sides.push_back(to);
      sidesOf_[to].push_back(static_cast<uint32_t>(together_.size()));
    }
    for (BlockId n : region_.order()) {
      if (!influence[n] || ir::isExitOnly(f_.blocks[n])) continue;
      masks_.masked[n] = 1;
      sides.push_back(n);
      sidesOf_[n].push_back(static_cast<uint32_t>(together_.size()));
    }
    together_.push_back(std::move(sides));
  }

  /// All masked blocks that are connected with `seed`.
  void collect(BlockId seed) {
    id_ = static_cast<uint32_t>(masks_.components.size());
    masks_.components.emplace_back();
    std::vector<BlockId>& blocks = masks_.components[id_].blocks;
    visit(seed);
    while (!work_.empty()) {
      const BlockId n = work_.back();
      work_.pop_back();
      blocks.push_back(n);
      visitNeighbours(n);
    }
    std::ranges::sort(blocks, {}, [&](BlockId b) { return region_.position(b); });
  }

  void visit(BlockId b) {
    if (region_.contains(b) && masks_.masked[b] && masks_.component[b] == Masks::kNoComponent)
      masks_.component[b] = id_, work_.push_back(b);
  }

  void visitNeighbours(BlockId n) {
    Masks::Component& c = masks_.components[id_];
    for (uint32_t sides : sidesOf_[n]) {
      for (BlockId s : together_[sides]) visit(s);
      together_[sides].clear();
    }
    for (BlockId s : graph_.successors[n]) {
      visit(s);
      c.loses |= ir::isExitOnly(f_.blocks[s]);
    }
    for (BlockId p : f_.blocks[n].predecessors)
      if (f_.blocks[p].end.kind != Kind::Barrier) visit(p);
    // A lane that waits is gone for this region, as one that ends is for good.
    const Kind end = f_.blocks[n].end.kind;
    c.loses |= end == Kind::Exit || end == Kind::Barrier || syncPoints_.spinAt(n) != nullptr;
  }

  /// Lanes that went into a component and did not end there are together again at the join of the branch that parted
  /// them. A join behind a synchronisation point is none of this region's: nobody gets there.
  void joinBehind(BlockId b) {
    const BlockId join = shapes_.joinOf(b);
    if (join == ir::kNoBlock || !region_.contains(join) || masks_.masked[join]) return;
    const auto& influence = versions_.influence[b];
    for (BlockId n : region_.order())
      if (influence[n] && masks_.masked[n]) masks_.components[masks_.component[n]].next = join;
  }

  const ir::Function& f_;
  const ir::SyncPoints& syncPoints_;
  const ir::Shapes& shapes_;
  const Versions& versions_;
  const ir::Graph& graph_;
  const Region& region_;
  const std::vector<BlockId>& assumed_;
  Masks masks_;
  std::vector<std::vector<BlockId>> together_;  // the sides of each branch
  std::vector<std::vector<uint32_t>> sidesOf_;  // by block: those that it belongs to
  std::vector<BlockId> work_;
  uint32_t id_ = 0;
};

std::string print(const Region& region, const Masks& masks, const Regions& regions) {
  std::string text;
  for (const Masks::Component& c : masks.components) {
    text += fmt::format("from B{}: masked", regions.resumePoints[region.resumePoints()[0]]);
    for (BlockId b : c.blocks) text += fmt::format(" B{}", b);
    if (c.loses) text += ", lanes may end or stop";
    text += c.next == ir::kNoBlock ? ", never together again\n" : fmt::format(", together again at B{}\n", c.next);
  }
  return text;
}

}  // namespace

Masks findMasks(const ir::Shapes& shapes, const Versions& versions, const Regions& regions, const Region& region,
                const std::vector<BlockId>& assumed) {
  return Finder(shapes, versions, regions, region, assumed).find();
}

std::string printMasks(const ir::Shapes& shapes, const Versions& versions, const Regions& regions) {
  std::string text;
  for (uint32_t p = 0; p < regions.resumePoints.size(); ++p) {
    const Region region = regions.at(p);
    text += print(region, findMasks(shapes, versions, regions, region, {}), regions);
  }
  return text.empty() ? "nothing\n" : text;
}

}  // namespace ordito::simt
