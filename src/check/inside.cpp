// See inside.hpp. A walk from definition to definition. Numbers count as those without sign that registers hold; a sum
// or a product counts only if it stays below the sign of its type, so it is the same for numbers with and without sign.
#include "check/inside.hpp"

#include <algorithm>
#include <bit>

namespace ordito::check {

using isa::ModifierKind;
using isa::Op;
using Kind = ptx::Operand::Kind;

namespace {

constexpr unsigned kDeepest = 12;
constexpr auto kWide = isa::mod<ModifierKind::MulMode>("wide");
constexpr auto kLo = isa::mod<ModifierKind::MulMode>("lo");

unsigned zerosOf(uint64_t number) { return static_cast<unsigned>(std::countr_zero(number)); }
uint64_t mostOf(unsigned bits) { return bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1; }
bool isWhole(isa::Type t) { return !isa::isFloat(t) && !isa::isPacked(t) && (isa::isInteger(t) || isa::isBits(t)); }

}  // namespace

const ptx::Variable* Inside::variable(const ptx::Symbol& symbol) const {
  if (symbol.kind == ptx::Symbol::Kind::ModuleVariable) return &f_.module->variables[symbol.index];
  return symbol.kind == ptx::Symbol::Kind::LocalVariable ? &f_.variables[symbol.index] : nullptr;
}

bool Inside::contains(const ptx::Operand& address, unsigned bytes) const {
  if (!address.is(Kind::Address) || address.offset < 0 || !std::has_single_bit(bytes)) return false;
  const auto offset = static_cast<uint64_t>(address.offset);
  Found at = of(address.symbol, 0);
  if (address.reg != ir::kNoValue) {
    ptx::Operand reg;
    reg.kind = Kind::Register, reg.reg = address.reg;
    at = address.symbol.kind == ptx::Symbol::Kind::None ? of(reg, 0) : std::nullopt;
  }
  at = sum(at, Range{offset, zerosOf(offset), {}}, 64);
  const ptx::Variable* const array = at ? variable(at->array) : nullptr;
  return array && at->most + bytes <= array->size && uint64_t{1} << std::min(at->zeros, 63u) >= bytes;
}

/// Arrays whose size the launch decides have none here.
Inside::Found Inside::of(const ptx::Symbol& symbol, uint64_t offset) const {
  const ptx::Variable* const v = variable(symbol);
  if (!v || v->space != ptx::Space::Shared || v->count == 0 || v->size == 0) return std::nullopt;
  return Range{offset, std::min(zerosOf(std::max(v->alignment, 1u)), zerosOf(offset)), symbol};
}

Inside::Found Inside::of(const ptx::Operand& o, unsigned depth) const {
  using isa::Special;
  const auto below = [](uint32_t count) -> Found { return Range{count - 1, count == 1 ? 64u : 0u, {}}; };
  switch (o.kind) {
    case Kind::Integer: return Range{o.bits, zerosOf(o.bits), {}};
    case Kind::Symbol: return o.offset < 0 ? std::nullopt : of(o.symbol, static_cast<uint64_t>(o.offset));
    case Kind::Special:
      if (o.special == Special::TidX) return below(threads_[0]);
      if (o.special == Special::TidY) return below(threads_[1]);
      if (o.special == Special::TidZ) return below(threads_[2]);
      return std::nullopt;
    case Kind::Register: break;
    default: return std::nullopt;
  }
  const ir::Instruction* const i = definitions_.decisive(o.reg);
  if (!i || depth == kDeepest || i->operands.empty() || !i->operands[0].is(Kind::Register)) return std::nullopt;
  return made(*i, depth + 1);
}

Inside::Found Inside::sum(const Found& a, const Found& b, unsigned bits) {
  using ptx::Symbol;
  if (!a || !b || a->most > mostOf(bits - 1) - std::min(b->most, mostOf(bits - 1)) || b->most > mostOf(bits - 1))
    return std::nullopt;
  if (a->array.kind != Symbol::Kind::None && b->array.kind != Symbol::Kind::None) return std::nullopt;
  return Range{a->most + b->most, std::min(a->zeros, b->zeros),
               a->array.kind != Symbol::Kind::None ? a->array : b->array};
}

Inside::Found Inside::product(const Found& a, const Found& b, unsigned bits) {
  using ptx::Symbol;
  if (!a || !b || a->array.kind != Symbol::Kind::None || b->array.kind != Symbol::Kind::None) return std::nullopt;
  if (b->most != 0 && a->most > mostOf(bits - 1) / b->most) return std::nullopt;
  return Range{a->most * b->most, std::min(a->zeros + b->zeros, 64u), {}};
}

/// Of numbers that a type without sign has few of, any; others are as they were.
Inside::Found Inside::converted(const ir::Instruction& i, unsigned depth) const {
  const isa::Type to = i.type[0], from = i.type[1];
  if (!isWhole(to) || !isWhole(from) || i.has(ModifierKind::Saturate)) return std::nullopt;
  Found x = of(i.operands[1], depth);
  const unsigned least = std::min(isa::bits(to), isa::bits(from));
  if (x && x->array.kind != ptx::Symbol::Kind::None) return std::nullopt;
  if (x && x->most <= mostOf(least - 1)) return x;
  if (isa::isSigned(from) || isa::isSigned(to) || isa::bits(from) > 16 || isa::bits(to) < isa::bits(from))
    return std::nullopt;
  return Range{mostOf(isa::bits(from)), 0, {}};
}

/// What is left of any number: the bits of a mask, a remainder, the upper bits, the lesser.
Inside::Found Inside::masked(const ir::Instruction& i, unsigned depth) const {
  const unsigned bits = isa::bits(i.type[0]);
  const Found a = of(i.operands[1], depth), b = of(i.operands[2], depth);
  const bool isUnsigned = !isa::isSigned(i.type[0]);
  const auto isNumber = [](const Found& x) { return x && x->array.kind == ptx::Symbol::Kind::None; };
  if ((a && !isNumber(a)) || (b && !isNumber(b))) return std::nullopt;
  if (i.op == Op::And) {
    if (!a && !b) return std::nullopt;
    const uint64_t most = std::min({a ? a->most : ~uint64_t{0}, b ? b->most : ~uint64_t{0}, mostOf(bits)});
    return Range{most, std::max(a ? a->zeros : 0, b ? b->zeros : 0), {}};
  }
  if (i.op == Op::Min && isUnsigned && (a || b))
    return Range{std::min(a ? a->most : ~uint64_t{0}, b ? b->most : ~uint64_t{0}),
                 a && b ? std::min(a->zeros, b->zeros) : 0,
                 {}};
  if (!i.operands[2].is(Kind::Integer)) return std::nullopt;
  const uint64_t by = i.operands[2].bits & mostOf(bits);
  if (i.op == Op::Rem && isUnsigned && by > 0) return Range{by - 1, 0, {}};
  if (i.op == Op::Shr && isUnsigned && by < bits)
    return Range{std::min(a ? a->most : mostOf(bits), mostOf(bits)) >> by, 0, {}};
  return std::nullopt;
}

Inside::Found Inside::made(const ir::Instruction& i, unsigned depth) const {
  const isa::Type type = i.type[0];
  const unsigned bits = isa::bits(type);
  const auto operand = [&](size_t k) { return of(i.operands[k], depth); };
  if (!isWhole(type) || i.carryIn != ir::kNoValue || i.carryOut != ir::kNoValue || i.has(ModifierKind::Saturate))
    return std::nullopt;
  switch (i.op) {
    case Op::Mov: return operand(1);
    case Op::Ld: return !isa::isSigned(type) && bits <= 16 ? Found(Range{mostOf(bits), 0, {}}) : std::nullopt;
    case Op::Cvt: return converted(i, depth);
    case Op::Add: return sum(operand(1), operand(2), bits);
    case Op::Mul:
    case Op::Mad: {
      if (!i.is(kWide) && !i.is(kLo)) return std::nullopt;
      const Found a = operand(1), b = operand(2);
      // With a sign, a factor of half the width could be below 0.
      if (!a || !b || std::max(a->most, b->most) > mostOf(bits - 1)) return std::nullopt;
      const unsigned width = i.is(kWide) ? 2 * bits : bits;
      const Found p = product(a, b, width);
      return i.op == Op::Mul ? p : sum(p, operand(3), width);
    }
    case Op::Shl:
      if (!i.operands[2].is(Kind::Integer) || i.operands[2].bits >= bits - 1) return std::nullopt;
      return product(operand(1),
                     Range{uint64_t{1} << i.operands[2].bits, zerosOf(uint64_t{1} << i.operands[2].bits), {}}, bits);
    case Op::And:
    case Op::Min:
    case Op::Rem:
    case Op::Shr: return masked(i, depth);
    default: return std::nullopt;
  }
}

}  // namespace ordito::check
