// See warp_distances.hpp.
#include "simt/warp_distances.hpp"

#include <fmt/format.h>

#include "ir/print.hpp"
#include "ir/shape_transfer.hpp"

namespace ordito::simt {

using OperandKind = ptx::Operand::Kind;

namespace {

/// The first thread of each warp, in x, y and z.
std::array<int64_t, 3> firstThread(const ir::LaunchShape& launch, unsigned warp) {
  const uint64_t thread = uint64_t{warp} * kLanes, bx = launch.block[0], by = launch.block[1];
  return {static_cast<int64_t>(thread % bx), static_cast<int64_t>(thread / bx % by),
          static_cast<int64_t>(thread / bx / by)};
}

/// Numbers of fewer bits are kept with their sign.
int64_t narrowed(int64_t distance, unsigned bits) {
  return bits >= 64 ? distance : static_cast<int64_t>(static_cast<uint64_t>(distance) << (64 - bits)) >> (64 - bits);
}

}  // namespace

WarpDistances::WarpDistances(const ir::Function& f, const ir::Shapes& shapes)
    : f_(f), shapes_(shapes), distances_(f.values.size()) {
  for (bool changed = true; changed;) {
    changed = false;
    for (const ir::Block& block : f.blocks) changed |= visit(block);
  }
}

std::optional<int64_t> WarpDistances::of(ValueId v) const {
  if (v >= distances_.size() || distances_[v].kind != Distance::Kind::Constant) return std::nullopt;
  return distances_[v].bytes;
}

WarpDistances::Distance WarpDistances::meet(const Distance& a, const Distance& b) {
  if (a.kind == Distance::Kind::Any) return b;
  if (b.kind == Distance::Kind::Any || a == b) return a;
  return {Distance::Kind::Varying};
}

bool WarpDistances::update(ValueId v, const Distance& d) {
  const Distance now = meet(distances_[v], d);
  const bool changed = now != distances_[v];
  distances_[v] = now;
  return changed;
}

bool WarpDistances::visit(const ir::Block& block) {
  bool changed = false;
  for (const ir::Phi& phi : block.phis) changed |= update(phi.value, ofPhi(phi));
  for (const Instruction& i : block.code)
    ir::forEachDefinition(i, [&](ValueId v, unsigned) { changed |= update(v, ofInstruction(i, v)); });
  return changed;
}

WarpDistances::Distance WarpDistances::ofSpecial(isa::Special special) const {
  using isa::Special;
  const ir::Shape shape = shapes_.shapeOf(special);
  if (!shape.isSegmented()) return {Distance::Kind::Varying};
  if (!shape.warpVarying) return {Distance::Kind::Constant, 0};
  if (special != Special::TidX && special != Special::TidY && special != Special::TidZ)
    return {Distance::Kind::Varying};
  const size_t axis = special == Special::TidX ? 0 : special == Special::TidY ? 1 : 2;
  const ir::LaunchShape& launch = shapes_.launch();
  Distance d;
  for (unsigned w = 1; w < launch.warps(); ++w)
    d = meet(d, {Distance::Kind::Constant, firstThread(launch, w)[axis] - firstThread(launch, w - 1)[axis]});
  return d;
}

WarpDistances::Distance WarpDistances::ofOperand(const ptx::Operand& o) const {
  if (o.kind == OperandKind::Special) return ofSpecial(o.special);
  if (o.kind == OperandKind::Register) return distances_[o.reg];
  const ir::Shape shape = shapes_.shapeOf(o);
  return {shape.isSegmented() && !shape.warpVarying ? Distance::Kind::Constant : Distance::Kind::Varying};
}

WarpDistances::Distance WarpDistances::ofPhi(const ir::Phi& phi) const {
  const ir::Shape& shape = shapes_[phi.value];
  if (!shape.isSegmented()) return {Distance::Kind::Varying};
  if (!shape.warpVarying) return {Distance::Kind::Constant, 0};
  Distance d;
  for (const ValueId v : phi.incoming)
    d = meet(d, v == ir::kNoValue ? Distance{Distance::Kind::Varying} : distances_[v]);
  return d;
}

WarpDistances::Distance WarpDistances::ofInstruction(const Instruction& i, ValueId v) const {
  const ir::Shape& shape = shapes_[v];
  if (!shape.isSegmented()) return {Distance::Kind::Varying};
  if (!shape.warpVarying) return {Distance::Kind::Constant, 0};
  const ir::Sum sum = ir::sumOf(i);
  if (i.guard || sum.count == 0) return {Distance::Kind::Varying};
  Distance total{Distance::Kind::Constant, 0};
  for (const ir::Term& t : sum) {
    const Distance d = ofOperand(*t.value);
    if (d.kind == Distance::Kind::Any) return d;
    // What is below 2^31 in all lanes is widened as it is.
    const bool widens = ir::isWidening(i) && (t.factor || i.op == isa::Op::Cvt);
    const bool wraps = widens && d.bytes != 0 && shapes_.shapeOf(*t.value).width >= 32;
    const auto factor = t.constantFactor();
    if (d.kind == Distance::Kind::Varying || wraps || (!factor && d.bytes != 0)) return {Distance::Kind::Varying};
    if (!factor && ofOperand(*t.factor) != Distance{Distance::Kind::Constant, 0}) return {Distance::Kind::Varying};
    const uint64_t times = d.bytes == 0 ? 0 : static_cast<uint64_t>(d.bytes) * static_cast<uint64_t>(*factor);
    const bool isTaken = sum.subtracts && &t != sum.begin();
    total.bytes = static_cast<int64_t>(static_cast<uint64_t>(total.bytes) + (isTaken ? 0 - times : times));
  }
  total.bytes = narrowed(total.bytes, isa::bits(f_.values[v].type));
  return total;
}

std::string print(const WarpDistances& distances, const ir::Function& f) {
  std::string text;
  for (ValueId v = 0; v < f.values.size(); ++v)
    if (const auto d = distances.of(v); d && *d != 0) text += fmt::format("{}: {}\n", ir::valueName(f, v), *d);
  return text.empty() ? "nothing\n" : text;
}

}  // namespace ordito::simt
