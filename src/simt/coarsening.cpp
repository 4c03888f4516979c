// See coarsening.hpp.
#include "simt/coarsening.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "ir/loops.hpp"
#include "ptx/operands.hpp"
#include "simt/access_plan.hpp"
#include "simt/regions.hpp"

namespace ordito::simt {
namespace {

/// The contiguous bytes of global memory that a warp reads here, or 0 if it is no such load.
unsigned contiguousBytes(const Instruction& i, const ir::Shapes& shapes) {
  if (i.op != isa::Op::Ld || i.guard) return 0;
  const ptx::Operand& to = i.operands[0];
  const bool isVector = to.kind == ptx::Operand::Kind::Vector;
  const unsigned bytes = isa::bytes(i.type[0]) * (isVector ? static_cast<unsigned>(to.elements.size()) : 1);
  const auto space = i.mods.name(isa::ModifierKind::Space);
  if (!space.empty() && space != "global") return 0;
  const ptx::Operand& address = i.operands[1];
  if (address.kind != ptx::Operand::Kind::Address || address.reg == ir::kNoValue) return 0;
  const ir::Shape& shape = shapes[address.reg];
  const bool isContiguous = shape.isSegmented() && shape.segments == 1 && shape.warpVarying &&
                            classify(shapes.pattern(shape.pattern), 0, kLanes, bytes) == Run::Kind::Contiguous;
  return isContiguous ? bytes * kLanes : 0;
}

bool isVolatile(const Instruction& i) { return i.mods.name(isa::ModifierKind::Semantics) == "volatile"; }

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
  bool strides = false;       // a loop reads on elsewhere in each iteration
  unsigned loads = 0;         // contiguous ones in straight code
};

/// Loops are looked at part by part: what keeps one region's warps apart does not concern the others. A loop with a
/// barrier in it carries its vectors through all its regions.
class Chooser {
 public:
  Chooser(const ir::Analyses& analyses, const ir::SyncPoints& syncPoints, const Facts& facts)
      : f_(analyses.function()),
        facts_(facts),
        shapes_(analyses, facts.launch),
        nest_(analyses.loops()),
        definitions_(analyses.definitions()) {
    const Regions regions = findRegions(f_, syncPoints, facts);
    for (uint32_t p = 0; p < regions.resumePoints.size(); ++p) regions_.push_back(regions.at(p));
    looks_.resize(regions_.size());
    isInLoop_.assign(f_.blocks.size(), 0);
    sharesLines_.assign(f_.blocks.size(), 0);
  }

  std::vector<Coarsening> choose() {
    for (const ir::Loop& loop : nest_.loops())
      if (isOutermost(loop)) lookAt(loop);
    for (size_t r = 0; r < regions_.size(); ++r) {
      looks_[r].loads = contiguousLoads(regions_[r]);
      if (looks_[r].strides && looks_[r].loads >= cost::kManyStreams)
        looks_[r].obstacle = "a loop does the rest of straight code that reads many places";
    }
    for (BlockId b = 0; b < f_.blocks.size(); ++b)
      hasBarrierInLoop_ |= isInLoop_[b] && f_.blocks[b].end.kind == ir::Terminator::Kind::Barrier;
    const Coarsening chosen = forAll();
    std::vector<Coarsening> result;
    for (size_t r = 0; r < regions_.size(); ++r)
      result.push_back(!looks_[r].obstacle.empty() ? Coarsening{1, looks_[r].obstacle}
                       : chosen.factor > 1         ? chosen
                                                   : alone(r, chosen));
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
    unsigned loads = 0, rows = 0;
    std::vector<char> isFree(f_.blocks.size(), 0);
    for (size_t r = 0; r < regions_.size(); ++r) {
      if (!looks_[r].obstacle.empty()) continue;
      for (BlockId b : regions_[r].order()) isFree[b] = 1, rows = std::max(rows, isInLoop_[b] ? rowsRead(b) : 0);
      sharesLines |= looks_[r].sharesLines;
      loads = std::max(loads, looks_[r].loads);
    }
    if (const unsigned vectors = carried(isFree); vectors > 0) return byRegisters(vectors, rows);
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
      else if (stridesOn(loop, part))
        looks_[r].strides = true, sharesLines_[loop.header] = 1;
      else if (const auto obstacle = obstacleIn(loop, part); !obstacle.empty())
        looks_[r].obstacle = obstacle;
    }
  }

  static bool passesThrough(const ir::Loop& loop, const std::vector<char>& blocks) {
    for (BlockId b = 0; b < blocks.size(); ++b)
      if (blocks[b] && loop.contains(b)) return true;
    return false;
  }

  /// Is it a short loop that does nothing but read neighbouring words, and go on with others until its counter says
  /// so? A loop over the grid's stride is; warps that read side by side make longer pieces of what it reads in an
  /// iteration.
  bool stridesOn(const ir::Loop& loop, const std::vector<BlockId>& part) const {
    size_t length = 0;
    bool reads = false, isLeft = false;  // by some lanes before others
    for (BlockId b : part) {
      const ir::Terminator& end = f_.blocks[b].end;
      const bool isExit =
          end.kind == ir::Terminator::Kind::Branch && (!loop.contains(end.target[0]) || !loop.contains(end.target[1]));
      const bool parts = shapes_.isDivergent(b) || shapes_.isWarpVarying(b);
      if (parts && !(isExit && isCounted(end.condition))) return false;
      isLeft |= parts;
      for (const Instruction& i : f_.blocks[b].code) {
        const isa::Effect effect = i.info().effect;
        if (effect != isa::Effect::Pure && effect != isa::Effect::Load && effect != isa::Effect::Store) return false;
        reads |= contiguousBytes(i, shapes_) > 0;
      }
      length += f_.blocks[b].code.size();
    }
    return reads && isLeft && length <= cost::kShortLoop;
  }

  /// Does a comparison decide of a number that grows from lane to lane with a limit that all warps share? Where each
  /// warp has a limit of its own (a row of a sparse matrix), some would wait for others.
  bool isCounted(ValueId condition) const {
    const Instruction* i = definitions_.decisive(condition);
    if (!i || i->op != isa::Op::Setp) return false;
    const ir::Shape a = shapes_.shapeOf(i->operands[2]), b = shapes_.shapeOf(i->operands[3]);
    return a.isSegmented() && b.isSegmented() && !(a.warpVarying && b.warpVarying);
  }

  /// The most vectors that an outermost loop carries along: in the blocks that `isFree` names, and at the headers of
  /// loops that go through one of them. Of loops whose warps read side by side that is no measure.
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

  /// The words of global memory that each warp reads here for itself, the same for many of its lanes.
  unsigned rowsRead(BlockId b) const {
    unsigned rows = 0;
    for (const Instruction& i : f_.blocks[b].code) {
      if (i.op != isa::Op::Ld || ptx::spaceOf(i) == ptx::Space::Shared) continue;
      const ptx::Operand& address = i.operands[1];
      if (address.kind != ptx::Operand::Kind::Address || address.reg == ir::kNoValue) continue;
      const ir::Shape& shape = shapes_[address.reg];
      if (shape.isSegmented() && shape.warpVarying) rows = std::max(rows, shapes_.segmentsWithoutPattern(shape));
    }
    return rows;
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
  /// each. A volatile load looks for what another lane has just written, which is in the cache.
  unsigned contiguousLoads(const Region& region) const {
    unsigned loads = 0;
    for (BlockId b : region.order())
      for (const Instruction& i : f_.blocks[b].code)
        loads += !isInLoop_[b] && !isVolatile(i) && contiguousBytes(i, shapes_) > 0;
    return loads;
  }

  /// A region that alone has something to share.
  Coarsening alone(size_t region, const Coarsening& chosen) const {
    if (looks_[region].strides) return ifDivides(cost::kSharingWarps, "a loop strides over the grid");
    return readsTile(regions_[region]) ? ifDivides(cost::kColumnWarps, "warps share columns") : chosen;
  }

  /// Does straight code of a short kernel read columns, of which several warps' together are rows?
  bool readsTile(const Region& region) const {
    size_t length = 0;
    for (const ir::Block& block : f_.blocks) length += block.code.size();
    if (length > cost::kLongestTile) return false;
    const WarpDistances distances(f_, shapes_);
    for (BlockId b : region.order())
      for (const Instruction& i : f_.blocks[b].code)
        if (!isInLoop_[b] && i.op == isa::Op::Ld && readsColumns(addressForm(f_, shapes_, i, 1), i, 1, distances))
          return true;
    return false;
  }

  /// A loop with a barrier keeps its vectors in memory meanwhile, where not all warps of the block go together.
  bool areTooMany(unsigned warps) const {
    return hasBarrierInLoop_ && warps < facts_.warps() && warps > cost::kMostKeptWarps;
  }

  Coarsening byRegisters(unsigned vectors, unsigned rows) const {
    const unsigned perWarp = vectors * cost::registersPerWarp(facts_.processor);
    for (unsigned factor = cost::kMostWarps; factor > 1; factor /= 2)
      if (divides(factor) && !areTooMany(factor) && perWarp * factor <= cost::carriedRegisters(facts_.processor) &&
          rows * factor <= cost::mostRows(facts_.processor))
        return {factor, "loops carry vectors, and registers last"};
    return {1, "loops carry more vectors than there are registers"};
  }

  const ir::Function& f_;
  const Facts& facts_;
  const ir::Shapes shapes_;
  const ir::LoopNest& nest_;
  const ir::Definitions& definitions_;
  std::vector<Region> regions_;
  std::vector<Look> looks_;                   // by region
  std::vector<char> isInLoop_, sharesLines_;  // by block; by the header of an outermost loop
  bool hasBarrierInLoop_ = false;
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
