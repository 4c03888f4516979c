// See coarsening.hpp.
#include "simt/coarsening.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "ir/loops.hpp"
#include "simt/access_pattern.hpp"
#include "simt/regions.hpp"

namespace ordito::simt {
namespace {

/// The contiguous bytes of global memory that a warp reads here, or 0 if it is no such load.
unsigned contiguousBytes(const Instruction& i, const ir::Shapes& shapes) {
  const unsigned bytes = isa::bytes(i.type[0]);
  if (i.op != isa::Op::Ld || i.guard) return 0;
  const auto space = i.mods.name(isa::ModifierKind::Space);
  if (!space.empty() && space != "global") return 0;
  const ptx::Operand& address = i.operands[1];
  if (address.kind != ptx::Operand::Kind::Address || address.reg == ir::kNoValue) return 0;
  const ir::Shape& shape = shapes[address.reg];
  const bool isContiguous = shape.isGrouped() && shape.groups == 1 && shape.warpVarying &&
                            classify(shapes.pattern(shape.pattern), 0, kLanes, bytes) == Run::Kind::Contiguous;
  return isContiguous ? bytes * kLanes : 0;
}

/// Does a warp read less than a cache line here? A loop that strides over the whole grid would fetch the line again for
/// every warp that shares it.
bool readsPartOfLine(const Instruction& i, const ir::Shapes& shapes) {
  const unsigned bytes = contiguousBytes(i, shapes);
  return bytes > 0 && bytes < cost::kCacheLine;
}

/// What a region has that speaks for or against it.
struct Look {
  std::string_view obstacle;  // why its warps go one by one; nothing if all is well
  bool sharesLines = false;   // a loop's warps read cache lines together
};

/// Loops are looked at part by part: what keeps one region's warps apart does not concern the others. A loop with a
/// barrier in it carries its vectors through all its regions.
class Chooser {
 public:
  Chooser(const ir::Analyses& analyses, const ir::SyncPoints& syncPoints, const Facts& facts)
      : f_(analyses.function()), facts_(facts), shapes_(analyses, facts.launch), nest_(analyses.loops()) {
    const Regions regions = findRegions(f_, syncPoints, facts);
    for (uint32_t p = 0; p < regions.resumePoints.size(); ++p) regions_.push_back(regions.at(p));
    looks_.resize(regions_.size());
    isInLoop_.assign(f_.blocks.size(), 0);
    sharesLines_.assign(f_.blocks.size(), 0);
  }

  std::vector<Coarsening> choose() {
    for (const ir::Loop& loop : nest_.loops())
      if (isOutermost(loop)) lookAt(loop);
    const Coarsening chosen = forAll();
    std::vector<Coarsening> result;
    for (const Look& look : looks_) result.push_back(look.obstacle.empty() ? chosen : Coarsening{1, look.obstacle});
    return result;
  }

 private:
  bool divides(unsigned factor) const { return facts_.warps() % factor == 0; }
  Coarsening ifDivides(unsigned factor, std::string_view reason) const {
    return divides(factor) ? Coarsening{factor, reason} : Coarsening{1, "the block's warps cannot be shared out"};
  }
  /// It has the others in it.
  bool isOutermost(const ir::Loop& loop) const { return nest_.around(loop.header).size() == 1; }

  /// For the regions without an obstacle.
  Coarsening forAll() const {
    bool sharesLines = false;
    unsigned loads = 0;
    std::vector<char> isFree(f_.blocks.size(), 0);
    for (size_t r = 0; r < regions_.size(); ++r) {
      if (!looks_[r].obstacle.empty()) continue;
      for (BlockId b : regions_[r].order()) isFree[b] = 1;
      sharesLines |= looks_[r].sharesLines;
      loads = std::max(loads, contiguousLoads(regions_[r]));
    }
    if (const unsigned vectors = carried(isFree); vectors > 0) return byRegisters(vectors);
    if (sharesLines) return ifDivides(cost::kSharingWarps, "warps share cache lines");
    if (loads < cost::kManyStreams) return {1, "nothing to share"};
    return ifDivides(cost::kMostWarps, "straight code reads many places");
  }

  /// The outermost loop, part by part.
  void lookAt(const ir::Loop& loop) {
    for (size_t r = 0; r < regions_.size(); ++r) {
      std::vector<BlockId> part;
      for (BlockId b : regions_[r].order())
        if (loop.contains(b)) part.push_back(b), isInLoop_[b] = 1;
      if (part.empty()) continue;
      if (sharesLines(part))
        looks_[r].sharesLines = true, sharesLines_[loop.header] = 1;
      else if (const auto obstacle = obstacleIn(loop, part); !obstacle.empty())
        looks_[r].obstacle = obstacle;
    }
  }

  static bool passesThrough(const ir::Loop& loop, const std::vector<char>& blocks) {
    for (BlockId b = 0; b < blocks.size(); ++b)
      if (blocks[b] && loop.contains(b)) return true;
    return false;
  }

  /// The most vectors that an outermost loop carries along: in the blocks that `isFree` names, and at the headers of
  /// loops that go through one of them. Of loops whose warps share cache lines that is no measure.
  unsigned carried(std::vector<char> isFree) const {
    for (const ir::Loop& loop : nest_.loops())
      if (passesThrough(loop, isFree)) isFree[loop.header] = 1;
    unsigned most = 0;
    for (const ir::Loop& loop : nest_.loops()) {
      if (!isOutermost(loop) || sharesLines_[loop.header]) continue;
      unsigned here = 0;
      for (BlockId b = 0; b < f_.blocks.size(); ++b)
        if (isFree[b] && loop.contains(b))
          for (const ir::Phi& phi : f_.blocks[b].phis) here += shapes_[phi.value].isGeneral();
      most = std::max(most, here);
    }
    return most;
  }

  /// What in these blocks of a loop keeps warps from going through them together; nothing if all is well.
  std::string_view obstacleIn(const ir::Loop& loop, const std::vector<BlockId>& blocks) const {
    if (walksPointers(loop, blocks)) return "a loop walks pointers";
    for (BlockId b : blocks) {
      if (shapes_.isDivergent(b) || shapes_.isWarpVarying(b)) return "a loop's branch can tell warps apart";
      for (const Instruction& i : f_.blocks[b].code)
        if (i.info().effect == isa::Effect::Atomic || i.info().effect == isa::Effect::Call)
          return "a loop has atomics or calls";
    }
    return {};
  }

  /// Do warps read cache lines together in this part of a divergent loop?
  bool sharesLines(const std::vector<BlockId>& blocks) const {
    bool reads = false;
    for (BlockId b : blocks)
      for (const Instruction& i : f_.blocks[b].code) {
        if (i.info().effect == isa::Effect::Call || i.info().effect == isa::Effect::Warp) return false;
        reads |= readsPartOfLine(i, shapes_);
      }
    return reads;
  }

  /// Does the loop gather or scatter at addresses that it carries along, one for each lane? Such a loop waits for
  /// memory, and more warps at a time would only make more code.
  bool walksPointers(const ir::Loop& loop, const std::vector<BlockId>& blocks) const {
    std::vector<char> isCarried(f_.values.size(), 0);
    for (BlockId b = 0; b < f_.blocks.size(); ++b)
      if (loop.contains(b))
        for (const ir::Phi& phi : f_.blocks[b].phis) isCarried[phi.value] = shapes_[phi.value].isGeneral();
    auto isWalked = [&](const ptx::Operand& o) {
      return o.kind == ptx::Operand::Kind::Address && o.reg != ir::kNoValue && isCarried[o.reg];
    };
    for (BlockId b : blocks)
      for (const Instruction& i : f_.blocks[b].code)
        if (std::ranges::any_of(i.operands, isWalked)) return true;
    return false;
  }

  /// Contiguous loads in straight code. `in[i] + in[i + blockDim.x] + ...` warp after warp would jump to and fro
  /// between places that the host's prefetching takes for as many streams of crumbs; several warps at a time read on in
  /// each.
  unsigned contiguousLoads(const Region& region) const {
    unsigned loads = 0;
    for (BlockId b : region.order())
      for (const Instruction& i : f_.blocks[b].code) loads += !isInLoop_[b] && contiguousBytes(i, shapes_) > 0;
    return loads;
  }

  Coarsening byRegisters(unsigned vectors) const {
    const unsigned perWarp = vectors * cost::registersPerWarp(facts_.processor);
    for (unsigned factor = cost::kMostWarps; factor > 1; factor /= 2)
      if (divides(factor) && perWarp * factor <= cost::carriedRegisters(facts_.processor))
        return {factor, "loops carry vectors, and registers last"};
    return {1, "loops carry more vectors than there are registers"};
  }

  const ir::Function& f_;
  const Facts& facts_;
  const ir::Shapes shapes_;
  const ir::LoopNest& nest_;
  std::vector<Region> regions_;
  std::vector<Look> looks_;                   // by region
  std::vector<char> isInLoop_, sharesLines_;  // by block; by the header of an outermost loop
};

}  // namespace

CoarseningFactors CoarseningFactors::inTurn(const std::vector<unsigned>& factors, size_t resumePoints, unsigned warps) {
  std::vector<unsigned> byResumePoint;
  for (size_t p = 0; p < resumePoints; ++p) {
    const unsigned factor = factors[p % factors.size()];
    byResumePoint.push_back(warps % factor == 0 ? factor : 1);
  }
  return CoarseningFactors(std::move(byResumePoint));
}

unsigned CoarseningFactors::most() const {
  return byResumePoint_.empty() ? 1 : *std::ranges::max_element(byResumePoint_);
}

bool CoarseningFactors::areAll(unsigned warps) const {
  return std::ranges::all_of(byResumePoint_, [&](unsigned factor) { return factor == warps; }) &&
         (warps == 1 || !byResumePoint_.empty());
}

std::vector<Coarsening> chooseCoarsening(const ir::Analyses& analyses, const ir::SyncPoints& syncPoints,
                                         const Facts& facts) {
  const size_t regions = syncPoints.resumePoints.size();
  if (facts.baseline) return std::vector<Coarsening>(regions, {1, "baseline code"});
  if (syncPoints.diverges()) return std::vector<Coarsening>(regions, {1, "threads can be diverged"});
  return Chooser(analyses, syncPoints, facts).choose();
}

CoarseningFactors factorsOf(const std::vector<Coarsening>& regions) {
  std::vector<unsigned> factors;
  for (const Coarsening& c : regions) factors.push_back(c.factor);
  return CoarseningFactors(std::move(factors));
}

std::vector<char> coarsenedBlocks(const ir::Function& f, const ir::SyncPoints& syncPoints, const Facts& facts) {
  if (facts.coarsening.most() == 1) return {};
  std::vector<char> coarsened(f.blocks.size(), 0);
  const Regions regions = findRegions(f, syncPoints, facts);
  for (uint32_t p = 0; p < regions.resumePoints.size(); ++p) {
    if (facts.coarsening.at(p) == 1) continue;
    const Region region = regions.at(p);
    for (BlockId b : region.order()) coarsened[b] = 1;
  }
  return coarsened;
}

std::string print(const std::vector<Coarsening>& regions) {
  std::string text;
  for (size_t p = 0; p < regions.size(); ++p)
    text += fmt::format("region {}: {} warps together: {}\n", p, regions[p].factor, regions[p].reason);
  return text;
}

}  // namespace ordito::simt
