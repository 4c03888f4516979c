// See build_code.hpp.
#include "simt/build_code.hpp"

#include <algorithm>
#include <utility>

#include "simt/code_versions.hpp"
#include "simt/code_writer.hpp"
#include "simt/masked_code.hpp"
#include "simt/thread_code.hpp"

namespace ordito::simt {
namespace {

using ir::kNoBlock;
using Kind = ir::Terminator::Kind;

class CodeBuilder {
 public:
  explicit CodeBuilder(const CodeInputs& inputs)
      : in_(inputs),
        f_(inputs.function),
        w_(inputs.function),
        versions_(inputs.shapes, inputs.versions, inputs.regions),
        outliving_(inputs.function.values.size(), 0) {}

  Code build() {
    const Regions& regions = in_.regions;
    if (regions.sharesScheduled && !regions.scheduled.empty())
      buildScheduled(regions.shared());
    else
      for (uint32_t p : regions.scheduled) buildScheduled(regions.at(p));
    for (uint32_t p = 0; p < regions.resumePoints.size(); ++p)
      if (regions.entries[p].converged && !regions.entries[p].isIndependent) buildConverged(p);
    return std::move(code_);
  }

 private:
  // ---- regions and their entries
  void beginRegion(Region region, bool isScheduled) {
    code_.regions.push_back({std::move(region), isScheduled, {}, {}, 0});
    region_ = &code_.regions.back();
    w_.begin(*region_);
    versions_.beginRegion(region_->region);
    places_.clear();
  }
  void endRegion() {
    while (!work_.empty()) {
      const Work next = work_.back();
      work_.pop_back();
      w_.continueAt(next.at);
      next.isComponent ? writeComponent(next.id, next.version) : writeBlock(next.id, next.version);
    }
    w_.finish();
  }
  void beginEntry(uint32_t resumePoint) {
    resumePoint_ = resumePoint;
    const CodeBlockId entry = w_.newBlock("entry");
    region_->entries.push_back({resumePoint, entry});
    w_.continueAt(entry);
  }

  void buildConverged(uint32_t resumePoint) {
    beginRegion(in_.regions.at(resumePoint), false);
    beginEntry(resumePoint);
    const BlockId first = in_.regions.resumePoints[resumePoint];
    if (!in_.exits.mayMiss[resumePoint]) {
      if (in_.exits.needsLive) w_.addFor(CodeOp::SetLive, kAllLanes);
      w_.branch(codeFor(first, versions_.number({hasFullVersion(), {}})));
      return endRegion();
    }
    const MaskId lanes = w_.mask(resumePoint == 0 ? CodeOp::Launched : CodeOp::Kept);
    w_.addFor(CodeOp::SetLive, lanes);
    const CodeBlockId partial = w_.newBlock("partial");
    if (hasFullVersion())
      w_.branchWhole(lanes, codeFor(first, versions_.number({true, {}})), partial);
    else
      w_.branch(partial);
    w_.continueAt(partial);
    if (in_.parting.isAllowed) {
      w_.add(CodeOp::RunApart);
      w_.branch(kRegionEnd);
    } else {
      w_.branchAny(lanes, codeFor(first, versions_.number({false, {}})), kRegionEnd);
    }
    endRegion();
  }

  /// For the lanes that the scheduler brings, who see the others as if they had ended.
  void buildScheduled(Region region) {
    beginRegion(std::move(region), true);
    const std::vector<uint32_t> resumePoints = region_->region.resumePoints();
    for (uint32_t p : resumePoints) {
      beginEntry(p);
      const MaskId lanes = w_.mask(CodeOp::Given);
      w_.addFor(CodeOp::SetLive, lanes);
      const bool mayMiss = std::ranges::any_of(resumePoints, [&](uint32_t q) { return comesInPart(q); });
      if (!mayMiss || in_.regions.sharesScheduled) {
        arrive(in_.regions.resumePoints[p], versions_.number({hasFullVersion() && !mayMiss, {}}));
        continue;
      }
      const CodeBlockId whole = w_.newBlock("whole"), part = w_.newBlock("part");
      w_.branchWhole(lanes, whole, part);
      w_.continueAt(whole);
      arrive(in_.regions.resumePoints[p], versions_.number({true, {}}));
      w_.continueAt(part);
      arrive(in_.regions.resumePoints[p], versions_.number({false, {}}));
    }
    endRegion();
  }

  /// May lanes of a warp be missing that the scheduler brings there?
  bool comesInPart(uint32_t p) const {
    return in_.exits.mayMiss[p] ||
           (in_.regions.entries[p].diverged &&
            in_.syncPoints.independentRegion[in_.regions.resumePoints[p]] == ir::SyncPoints::Stepping::Lanes);
  }

  /// May code be made for warps all of whose lanes are there, besides that for any warp? Not what a block of a large
  /// kernel runs once.
  bool hasFullVersion() const {
    const Regions& regions = in_.regions;
    const bool runsOnce =
        resumePoint_ == 0 && regions.resumePoints.size() > 1 && regions.instructions > cost::kLargeKernel;
    return !in_.exits.needsLive || (!in_.facts.baseline && !runsOnce);
  }

  // ---- blocks of code, and who is written next
  struct Work {
    bool isComponent;
    uint32_t id, version;
    CodeBlockId at;
  };
  CodeBlockId placeOf(bool isComponent, uint32_t id, uint32_t version, const std::vector<BlockId>& blocks) {
    auto [it, isNew] = places_.try_emplace({isComponent, version, id}, kNoCodeBlock);
    if (!isNew) return it->second;
    it->second = w_.newBlock(isComponent ? "masked" : "block");
    for (BlockId b : blocks) written_ += f_.blocks[b].code.size();
    work_.push_back({isComponent, id, version, it->second});
    return it->second;
  }
  CodeBlockId codeFor(BlockId b, uint32_t version) { return placeOf(false, b, version, {b}); }
  CodeBlockId codeForComponent(uint32_t component, uint32_t version) {
    return placeOf(true, component, version, versions_.masks(version).components[component].blocks);
  }

  /// Versions multiply, so a kernel may only grow so much.
  bool isWorthCopy(BlockId b, uint32_t version) const {
    if (in_.facts.baseline || (in_.regions.sharesScheduled && region_->isScheduled) ||
        written_ > std::max(cost::kSmallKernel, cost::kMostCopies * in_.regions.instructions))
      return false;
    if (versions_[version].assumes(b)) return true;
    return versions_[version].assumed.size() < cost::kMostAssumptions && in_.versions.isWorthCopy[b];
  }

  // ---- lanes that are together
  MaskId live(uint32_t version) { return versions_[version].full ? kAllLanes : w_.mask(CodeOp::Live); }
  void endAll() {
    if (in_.exits.needsLive) w_.add(CodeOp::EndAll);
    w_.branch(kRegionEnd);
  }

  void writeBlock(BlockId b, uint32_t version) {
    const MaskId lanes = live(version);
    runBlock(w_, in_, outliving_, b, lanes, false);
    const ir::Terminator& end = f_.blocks[b].end;
    switch (end.kind) {
      case Kind::Jump: return goTo(b, end.target[0], version);
      case Kind::Exit: return endAll();
      case Kind::Trap: w_.add(CodeOp::Trap, b); return;
      case Kind::Barrier: return writeBarrier(b, version, lanes);
      case Kind::Branch: break;
    }
    if (const unsigned side = exitSide(f_, end); side < 2)
      return in_.shapes.isDivergent(b) ? writeRetire(b, version, side, lanes) : writeExit(b, version, side, lanes);
    if (in_.shapes.isDivergent(b)) return writeDivergent(b, version, lanes);
    const CodeBlockId side[2] = {w_.newBlock("taken", w_.here()), w_.newBlock("other", w_.here())};
    w_.branchUniform(end, side[0], side[1]);
    for (unsigned k = 0; k < 2; ++k) {
      w_.continueAt(side[k]);
      if (k == 0) w_.addFor(CodeOp::TakenEvent, b, lanes);
      goTo(b, end.target[k], version);
    }
  }

  void writeBarrier(BlockId b, uint32_t version, MaskId lanes) {
    if (region_->isScheduled) {
      w_.addFor(CodeOp::Park, b, lanes);
      return w_.branch(kRegionEnd);
    }
    const ir::Terminator& end = f_.blocks[b].end;
    const uint32_t next = in_.regions.pointOf[end.target[0]];
    w_.add(CodeOp::CheckBarrier, b);
    if (end.barrier.has(isa::ModifierKind::RedOp)) w_.addFor(CodeOp::ReduceBarrier, b, lanes);
    w_.assign(b, end.target[0], kAllLanes);
    w_.addFor(CodeOp::Spill, kAllLanes).resumePoint = next;
    w_.add(CodeOp::KeepShared);
    CodeOperation& over = w_.add(CodeOp::NextRegion);
    over.resumePoint = next;
    over.isWhole = versions_[version].full;
  }

  /// Control passes from `from` to `to` with all lanes of the batch.
  void goTo(BlockId from, BlockId to, uint32_t version) {
    w_.assign(from, to, kAllLanes);
    if (const auto* spin = in_.syncPoints.spinAt(to); spin && spin->members[from])
      w_.addFor(CodeOp::CountSpin, to, live(version));
    arrive(to, version);
  }

  /// All live lanes are at `to`, whose phis have their values.
  void arrive(BlockId to, uint32_t version) {
    if (const Stretch* stretch = in_.stretches.from(to)) {
      w_.runThreads(*stretch, live(version));
      return arrive(stretch->exit, version);
    }
    version = optimisticVersion(to, versions_.at(version, to));
    const Masks& masks = versions_.masks(version);
    if (!masks.masked[to]) return w_.branch(codeFor(to, version));
    const uint32_t component = masks.component[to];
    clearWaiting(masks.components[component]);
    w_.addFor(CodeOp::Wait, to, live(version));
    w_.branch(codeForComponent(component, version));
  }

  /// Lanes that enter a loop together stay so until a branch parts them: the version that assumes the loop's divergent
  /// branches to have agreed so far.
  uint32_t optimisticVersion(BlockId to, uint32_t version) {
    CodeVersion v = versions_[version];
    for (BlockId b : region_->region.order()) {
      if (!in_.shapes.isDivergent(b) || !in_.versions.influence[b][to] || v.assumes(b)) continue;
      if (!isWorthCopy(b, version) || v.assumed.size() >= cost::kMostAssumptions) return version;
      v.assumed.push_back(b);
    }
    std::ranges::sort(v.assumed);
    return versions_.number(v);
  }

  void clearWaiting(const Masks::Component& component) {
    for (BlockId n : component.blocks) w_.add(CodeOp::ClearWaiting, n);
  }

  /// A branch that may part the lanes: a version for the case that it does not, and masks.
  void writeDivergent(BlockId b, uint32_t version, MaskId lanes) {
    const ir::Terminator& end = f_.blocks[b].end;
    const bool copies = isWorthCopy(b, version);
    const CodeBlockId before = w_.here();
    CodeBlockId all[2] = {};
    if (copies) {
      all[0] = w_.newBlock("alltaken", before), all[1] = w_.newBlock("nonetaken", before);
      const CodeBlockId open = w_.newBlock("open", before);
      w_.branchOnBase(end, all, open);
      w_.continueAt(open);
    }
    const MaskId holds = w_.condition(end, end.negated);
    const MaskId side[2] = {w_.both(lanes, holds), w_.butNot(lanes, holds)};
    if (copies) {
      const CodeBlockId some = w_.newBlock("sometaken", w_.here()), mixed = w_.newBlock("mixed", some);
      w_.branchAny(side[1], some, all[0]);
      w_.continueAt(some);
      w_.branchAny(side[0], mixed, all[1]);
      for (unsigned k = 0; k < 2; ++k) {
        w_.continueAt(all[k]);
        if (k == 0) w_.addFor(CodeOp::TakenEvent, b, lanes);
        goTo(b, end.target[k], versions_.agreeing(version, b));
      }
      w_.continueAt(mixed);
    }
    w_.addPart(b, lanes, side[0]);
    const uint32_t masked = versions_.parting(version, b);
    const Masks& masks = versions_.masks(masked);
    const uint32_t component = masks.component[masks.masked[end.target[0]] ? end.target[0] : end.target[1]];
    clearWaiting(masks.components[component]);
    for (unsigned k = 0; k < 2; ++k) {
      w_.assign(b, end.target[k], side[k]);
      if (masks.masked[end.target[k]]) w_.addFor(CodeOp::Wait, end.target[k], side[k]);
    }
    w_.branch(codeForComponent(component, masked));
  }

  /// A branch that all lanes of the batch take alike, and one side of which ends them.
  void writeExit(BlockId b, uint32_t version, unsigned side, MaskId lanes) {
    const ir::Terminator& end = f_.blocks[b].end;
    const CodeBlockId ended = w_.newBlock("ended", w_.here()), on = w_.newBlock("goon", w_.here());
    w_.branchUniform(end, side == 0 ? ended : on, side == 0 ? on : ended);
    w_.continueAt(on);
    if (side == 1) w_.addFor(CodeOp::TakenEvent, b, lanes);
    goTo(b, end.target[1 - side], version);
    w_.continueAt(ended);
    if (side == 0) w_.addFor(CodeOp::TakenEvent, b, lanes);
    w_.addFor(CodeOp::ExitEvent, end.target[side], lanes);
    endAll();
  }

  /// A branch one side of which ends lanes: `if (i >= n) return`.
  void writeRetire(BlockId b, uint32_t version, unsigned side, MaskId lanes) {
    const ir::Terminator& end = f_.blocks[b].end;
    const BlockId onward = end.target[1 - side];
    const MaskId retiring = w_.condition(end, (side == 0) == end.negated);
    const CodeBlockId ended = w_.newBlock("ended");
    if (versions_[version].full) {
      const CodeBlockId some = w_.newBlock("someend", w_.here()), none = w_.newBlock("noneends", w_.here());
      w_.branchAny(retiring, some, none);
      w_.continueAt(none);
      if (side == 1) w_.addFor(CodeOp::TakenEvent, b, lanes);
      goTo(b, onward, version);
      w_.continueAt(some);
      if (in_.parting.startsAnew[b]) {
        w_.add(CodeOp::RunApart);
        w_.branch(ended);
        w_.continueAt(ended);
        return endAll();
      }
    }
    const MaskId leaving = w_.both(lanes, retiring), left = w_.butNot(lanes, retiring);
    w_.addPart(b, lanes, side == 0 ? leaving : left);
    w_.addFor(CodeOp::ExitEvent, end.target[side], leaving);
    w_.addFor(CodeOp::SetLive, left);
    const CodeBlockId on = w_.newBlock("goon", w_.here());
    w_.branchAny(left, on, ended);
    w_.continueAt(on);
    goTo(b, onward, versions_.partial(version));
    w_.continueAt(ended);
    endAll();
  }

  // ---- lanes that have parted
  void writeComponent(uint32_t component, uint32_t version) {
    const Masks& masks = versions_.masks(version);
    const Masks::Component& c = masks.components[component];
    MaskedCode(w_, in_, {region_->region, region_->isScheduled, masks}, outliving_).write(c.blocks);
    if (c.next == kNoBlock) return endAll();
    if (!c.loses) return arrive(c.next, version);
    const uint32_t partial = versions_.partial(version);
    const CodeBlockId on = w_.newBlock("goon"), ended = w_.newBlock("ended");
    w_.branchAny(live(partial), on, ended);
    w_.continueAt(ended);
    w_.branch(kRegionEnd);
    w_.continueAt(on);
    arrive(c.next, partial);
  }

  const CodeInputs& in_;
  const ir::Function& f_;
  Code code_;
  CodeWriter w_;
  CodeVersions versions_;
  OutlivingValues outliving_;
  RegionCode* region_ = nullptr;
  uint32_t resumePoint_ = 0;
  std::map<std::tuple<bool, uint32_t, uint32_t>, CodeBlockId> places_;  // by kind, version, number
  std::vector<Work> work_;
  size_t written_ = 0;  // instructions of the versions that are or will be written
};

}  // namespace

Code buildCode(const CodeInputs& inputs) {
  return inputs.facts.launch.byThread ? buildThreadCode(inputs) : CodeBuilder(inputs).build();
}

}  // namespace ordito::simt
