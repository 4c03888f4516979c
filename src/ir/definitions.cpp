// See definitions.hpp.
#include "ir/definitions.hpp"

#include "ir/liveness.hpp"

namespace ordito::ir {
namespace {

using isa::ModifierKind;
using isa::Op;
using OperandKind = ptx::Operand::Kind;

constexpr auto kWide = isa::mod<ModifierKind::MulMode>("wide");
constexpr auto kLo = isa::mod<ModifierKind::MulMode>("lo");

/// A conversion that keeps the low bits.
bool keepsLowBits(const Instruction& i) {
  return isa::isInteger(i.type[0]) && isa::isInteger(i.type[1]) && isa::bits(i.type[1]) >= 32 &&
         !i.has(ModifierKind::Saturate);
}

bool isVector(const ptx::Operand& o) { return o.kind == OperandKind::Vector; }

}  // namespace

Definitions::Definitions(const Function& f) : definitions_(f.values.size()), isRead_(readValues(f)) {
  using Kind = Definition::Kind;
  for (BlockId b = 0; b < f.blocks.size(); ++b) {
    const Block& block = f.blocks[b];
    for (const Phi& phi : block.phis) definitions_[phi.value] = {Kind::Phi, b, nullptr, &phi};
    for (const Instruction& i : block.code)
      forEachDefinition(i, [&](ValueId v, unsigned) { definitions_[v] = {Kind::Code, b, &i, nullptr}; });
    if (block.end.kind == Terminator::Kind::Barrier)
      forEachDefinition(block.end.barrier, [&](ValueId v, unsigned) { definitions_[v] = {Kind::Barrier, b}; });
  }
}

std::optional<int64_t> Term::constantFactor() const {
  if (!factor) return int64_t{1} << shift;
  if (factor->kind != OperandKind::Integer) return std::nullopt;
  return static_cast<int64_t>(factor->bits << shift);
}

Sum sumOf(const Instruction& i) {
  constexpr uint64_t kLongestShift = 63;
  const auto& o = i.operands;
  switch (i.op) {
    case Op::Mov:
    case Op::Cvta:
      if (isVector(o[0]) || isVector(o[1])) return {};
      return {{Term{&o[1]}}, 1};
    case Op::Cvt: return keepsLowBits(i) ? Sum{{Term{&o[1]}}, 1} : Sum{};
    case Op::Add:
    case Op::Sub:
      if (i.has(ModifierKind::Saturate)) return {};
      return {{Term{&o[1]}, Term{&o[2]}}, 2, i.op == Op::Sub};
    case Op::Mul: return i.is(kWide) || i.is(kLo) ? Sum{{Term{&o[1], &o[2]}}, 1} : Sum{};
    case Op::Mad: return i.is(kWide) || i.is(kLo) ? Sum{{Term{&o[1], &o[2]}, Term{&o[3]}}, 2} : Sum{};
    case Op::Shl:
      if (o[2].kind != OperandKind::Integer || o[2].bits > kLongestShift) return {};
      return {{Term{&o[1], nullptr, static_cast<unsigned>(o[2].bits)}}, 1};
    default: return {};
  }
}

}  // namespace ordito::ir
