// See spill_slots.hpp.
#include "simt/spill_slots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "ir/print.hpp"
#include "ir/shape_transfer.hpp"

namespace ordito::simt {
namespace {

/// Values that share a slot. The leader of a class is its first member.
class Classes {
 public:
  explicit Classes(size_t count) : leader_(count) { std::iota(leader_.begin(), leader_.end(), ValueId{0}); }
  ValueId leader(ValueId v) {
    while (leader_[v] != v) v = leader_[v] = leader_[leader_[v]];
    return v;
  }
  /// Of two leaders; returns the one that leads both.
  ValueId join(ValueId a, ValueId b) {
    leader_[std::max(a, b)] = std::min(a, b);
    return std::min(a, b);
  }

 private:
  std::vector<ValueId> leader_;
};

/// Values from a widening with a pattern that somebody reads as more than an address.
std::vector<char> findDual(const ir::Function& f, const ir::Shapes& shapes) {
  std::vector<char> dual(f.values.size(), 0);
  for (const ir::Block& block : f.blocks)
    for (const Instruction& i : block.code)
      if (ir::isWidening(i))
        ir::forEachDefinition(i, [&](ValueId v, unsigned) {
          dual[v] = shapes[v].isSegmented() && shapes[v].inexact && !shapes.isAddressOnly(v);
        });
  return dual;
}

/// Are their copies laid out alike?
bool areAlike(const SpillSlots& slots, const ir::Function& f, const ir::Shapes& shapes, ValueId a, ValueId b) {
  const ir::Shape &x = shapes[a], &y = shapes[b];
  return f.values[a].type == f.values[b].type && x.isSegmented() == y.isSegmented() && x.segments == y.segments &&
         x.pattern == y.pattern && isShared(x) == isShared(y) && slots.isDual(a) == slots.isDual(b);
}

void joinPhis(Classes& classes, const SpillSlots& slots, const SpillSlots::Inputs& in) {
  const ir::Function& f = in.function;
  std::vector<std::set<uint32_t>> starts(f.values.size());  // of a class, at its leader: where one of it is live
  for (uint32_t resumePoint = 0; resumePoint < in.liveness.at.size(); ++resumePoint)
    for (ValueId v : in.liveness.at[resumePoint]) starts[v].insert(resumePoint);
  auto meet = [&](const std::set<uint32_t>& a, const std::set<uint32_t>& b) {
    return std::ranges::any_of(a, [&](uint32_t resumePoint) { return b.contains(resumePoint); });
  };
  for (const ir::Block& block : f.blocks)
    for (const ir::Phi& phi : block.phis)
      for (ValueId from : phi.incoming) {
        if (from == ir::kNoValue || !slots.isKept(phi.value) || !slots.isKept(from) ||
            !areAlike(slots, f, in.shapes, phi.value, from))
          continue;
        const ValueId a = classes.leader(phi.value), b = classes.leader(from);
        if (a == b || meet(starts[a], starts[b])) continue;
        const ValueId leader = classes.join(a, b), other = leader == a ? b : a;
        starts[leader].insert(starts[other].begin(), starts[other].end());
      }
}

constexpr size_t kWord = 8;

}  // namespace

size_t SpillSlots::stride(size_t bytesPerWarp) {
  return roundedUp(bytesPerWarp, bytesPerWarp > cost::kPackedSpill ? cost::kCacheLine : 4);
}

SpillSlots::SpillSlots(const Inputs& in) : dual_(findDual(in.function, in.shapes)) {
  constexpr size_t kLine = cost::kCacheLine;
  const size_t count = in.function.values.size();
  kept_.assign(count, 0), bytes_.assign(count, 0), offset_.assign(count, 0);
  for (ValueId v = 0; v < count; ++v) {
    const ir::Shape& s = in.shapes[v];
    // What all warps share stays in its place, unless warps can be diverged.
    kept_[v] = in.liveness.crossesResume[v] && !in.rematerialised[v] &&
               (!s.isSegmented() || s.warpVarying || dual_[v] || in.syncPoints.diverges());
    if (kept_[v]) bytes_[v] = bytesOf(in, v);
  }
  dummy = allocate(kLine, 1);
  live = allocate(kLiveBytes, in.facts.warps());
  if (in.syncPoints.diverges()) scheduler = allocate(in.facts.schedulerBytes, 1);
  reduction = allocate(kLine, 1);
  if (in.counters.any()) counters = allocate(in.counters.scratchBytes(), 1);
  if (in.facts.accesses) arrivals = allocate(in.facts.arrivalBytes, 1);
  allocateSlots(in);
}

void SpillSlots::allocateSlots(const Inputs& in) {
  Classes classes(kept_.size());
  if (!in.syncPoints.diverges()) joinPhis(classes, *this, in);
  std::vector<size_t> allocated(kept_.size(), 0);  // by leader; 0 is the dummy's place
  for (ValueId v = 0; v < kept_.size(); ++v) {
    if (!kept_[v]) continue;
    size_t& slot = allocated[classes.leader(v)];
    if (!slot) slot = allocate(bytes_[v], in.facts.warps());
    offset_[v] = slot;
  }
}

/// Bases a double word each. A mask is a bit for each lane, or a word where the host computes with words.
size_t SpillSlots::bytesOf(const Inputs& in, ValueId v) const {
  const isa::Type type = in.function.values[v].type;
  const bool bits = isa::isPredicate(type) && in.facts.processor.avx512;
  const size_t vector = bits ? kLanes / 8 : kLanes * std::max<size_t>(isa::bits(type), 32) / 8;
  const ir::Shape& s = in.shapes[v];
  const size_t bases = kWord * s.segments;
  return !s.isSegmented() ? vector : dual_[v] ? roundedUp(bases, cost::kCacheLine) + vector : bases;
}

size_t SpillSlots::allocate(size_t bytesPerCopy, unsigned copies) {
  const size_t at = total;
  total += roundedUp(stride(bytesPerCopy) * copies, cost::kCacheLine);
  return at;
}

std::string print(const SpillSlots& slots, const ir::Function& f) {
  std::string text;
  for (ValueId v = 0; v < f.values.size(); ++v)
    if (slots.isKept(v))
      text += fmt::format("{}: {} bytes for each warp at {}{}\n", ir::valueName(f, v), slots.bytes(v), slots.offset(v),
                          slots.isDual(v) ? ", bases and vector" : "");
  return text + fmt::format("scratch: {} bytes\n", slots.total);
}

}  // namespace ordito::simt
