// See coarsening.hpp.
#include "simt/coarsening.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "ir/loops.hpp"
#include "simt/access_pattern.hpp"

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

/// What the choice looks at.
class Chooser {
 public:
  Chooser(const ir::Function& f, const Facts& facts) : f_(f), facts_(facts), shapes_(f, alone(facts.launch)) {}

  Coarsening choose() {
    const ir::LoopNest nest(ir::controlFlow(f_));
    isInLoop_.assign(f_.blocks.size(), 0);
    for (const ir::Loop& loop : nest.loops()) {
      if (nest.around(loop.header).size() != 1) continue;  // outermost ones have the others in them
      for (BlockId b = 0; b < f_.blocks.size(); ++b) isInLoop_[b] |= loop.contains(b);
      if (const auto obstacle = lookAt(loop); !obstacle.empty()) return {1, obstacle};
    }
    if (carried_ > 0) return byRegisters();
    if (sharing_ > 1) return divides(sharing_) ? Coarsening{sharing_, "warps share cache lines"} : kOdd;
    if (contiguousLoads() < cost::kManyStreams) return {1, "nothing to share"};
    return divides(cost::kMostWarps) ? Coarsening{cost::kMostWarps, "straight code reads many places"} : kOdd;
  }

 private:
  static constexpr Coarsening kOdd{1, "the block's warps cannot be shared out"};

  static ir::LaunchShape alone(ir::LaunchShape launch) {
    launch.coarsening = 1;
    return launch;
  }
  bool divides(unsigned factor) const { return facts_.warps() % factor == 0; }

  /// What in the loop keeps warps from going through it together; nothing if all is well.
  std::string_view lookAt(const ir::Loop& loop) {
    if (const unsigned warps = warpsPerLine(loop); warps > 1) {
      sharing_ = std::max(sharing_, warps);
      return {};
    }
    if (walksPointers(loop)) return "a loop walks pointers";
    unsigned carried = 0;
    for (BlockId b = 0; b < f_.blocks.size(); ++b) {
      if (!loop.contains(b)) continue;
      if (shapes_.isDivergent(b) || shapes_.isWarpVarying(b)) return "a loop's branch can tell warps apart";
      for (const ir::Phi& phi : f_.blocks[b].phis) carried += shapes_[phi.value].isGeneral();
      for (const Instruction& i : f_.blocks[b].code)
        if (i.info().effect == isa::Effect::Atomic || i.info().effect == isa::Effect::Call)
          return "a loop has atomics or calls";
    }
    carried_ = std::max(carried_, carried);
    return {};
  }

  /// How many warps read a line together in a short divergent loop; 1 if none does.
  unsigned warpsPerLine(const ir::Loop& loop) const {
    unsigned length = 0;
    bool reads = false;
    for (BlockId b = 0; b < f_.blocks.size(); ++b) {
      if (!loop.contains(b)) continue;
      for (const Instruction& i : f_.blocks[b].code) {
        if (i.info().effect == isa::Effect::Call || i.info().effect == isa::Effect::Warp) return 1;
        ++length;
        reads |= readsPartOfLine(i, shapes_);
      }
    }
    return !reads ? 1 : length <= cost::kShortLoop ? cost::kMostWarps : cost::kMostWarps / 2;
  }

  /// Does the loop gather or scatter at addresses that it carries along, one for each lane? Such a loop waits for
  /// memory, and more warps at a time would only make more code.
  bool walksPointers(const ir::Loop& loop) const {
    std::vector<char> isCarried(f_.values.size(), 0);
    for (BlockId b = 0; b < f_.blocks.size(); ++b)
      if (loop.contains(b))
        for (const ir::Phi& phi : f_.blocks[b].phis) isCarried[phi.value] = shapes_[phi.value].isGeneral();
    auto isWalked = [&](const ptx::Operand& o) {
      return o.kind == ptx::Operand::Kind::Address && o.reg != ir::kNoValue && isCarried[o.reg];
    };
    for (BlockId b = 0; b < f_.blocks.size(); ++b)
      if (loop.contains(b))
        for (const Instruction& i : f_.blocks[b].code)
          if (std::ranges::any_of(i.operands, isWalked)) return true;
    return false;
  }

  /// Contiguous loads in straight code. `in[i] + in[i + blockDim.x] + ...` warp after warp would jump to and fro
  /// between places that the host's prefetching takes for as many streams of crumbs; several warps at a time read on in
  /// each.
  unsigned contiguousLoads() const {
    unsigned loads = 0;
    for (BlockId b = 0; b < f_.blocks.size(); ++b)
      for (const Instruction& i : f_.blocks[b].code) loads += !isInLoop_[b] && contiguousBytes(i, shapes_) > 0;
    return loads;
  }

  Coarsening byRegisters() const {
    const unsigned perWarp = carried_ * cost::registersPerWarp(facts_.processor);
    for (unsigned factor = cost::kMostWarps; factor > 1; factor /= 2)
      if (divides(factor) && perWarp * factor <= cost::carriedRegisters(facts_.processor))
        return {factor, "loops carry vectors, and registers last"};
    return {1, "loops carry more vectors than there are registers"};
  }

  const ir::Function& f_;
  const Facts& facts_;
  const ir::Shapes shapes_;
  std::vector<char> isInLoop_;
  unsigned carried_ = 0, sharing_ = 1;
};

}  // namespace

Coarsening chooseCoarsening(const ir::Function& f, const ir::SyncPoints& syncPoints, const Facts& facts) {
  if (facts.baseline) return {1, "baseline code"};
  if (syncPoints.diverges()) return {1, "threads get out of step"};
  return Chooser(f, facts).choose();
}

std::string print(const Coarsening& c) { return fmt::format("{} warps together: {}\n", c.factor, c.reason); }

}  // namespace ordito::simt
