// Blocks are in reverse post-order and phis are not looked through, so each value's operands are known before it: one
// pass over the code.
#include "simt/known_bits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "ir/print.hpp"

namespace ordito::simt {
namespace {

using isa::Op;
using ptx::Symbol;
using OperandKind = ptx::Operand::Kind;

constexpr unsigned kAll = 64;
constexpr unsigned kMostPhis = 4;  // of loops within each other, or one behind the other

unsigned zeroBitsOf(uint64_t n) { return n ? static_cast<unsigned>(std::countr_zero(n)) : kAll; }

/// As far as bases and pattern tell.
unsigned ofShape(const ir::Shapes& shapes, const ir::Shape& s) {
  if (!s.isSegmented()) return 0;
  unsigned known = s.alignment;
  for (int64_t p : shapes.pattern(s.pattern)) known = std::min(known, zeroBitsOf(static_cast<uint64_t>(p)));
  return known;
}

}  // namespace

KnownBits::KnownBits(const ir::Function& f, const ir::Shapes& shapes, const ir::Definitions& definitions)
    : f_(f), definitions_(definitions), zeros_(f.values.size(), 0) {
  for (ValueId v = 0; v < zeros_.size(); ++v) zeros_[v] = static_cast<uint8_t>(ofShape(shapes, shapes[v]));
  for (const ir::Block& block : f.blocks)
    for (const Instruction& i : block.code) {
      if (i.guard || i.operands.empty() || i.operands[0].kind != OperandKind::Register) continue;
      uint8_t& zeros = zeros_[i.operands[0].reg];
      if (definitions.instruction(i.operands[0].reg) == &i)
        zeros = static_cast<uint8_t>(std::max<unsigned>(zeros, ofDefinition(i)));
    }
}

unsigned KnownBits::ofTerm(const ir::Term& t) const {
  return std::min(zeroBits(*t.value) + (t.factor ? zeroBits(*t.factor) : 0) + t.shift, kAll);
}

unsigned KnownBits::ofDefinition(const Instruction& i) const {
  if (i.op == Op::And) return std::max(zeroBits(i.operands[1]), zeroBits(i.operands[2]));
  if (i.op == Op::Or) return std::min(zeroBits(i.operands[1]), zeroBits(i.operands[2]));
  const ir::Sum sum = ir::sumOf(i);
  unsigned found = sum.count ? kAll : 0;
  for (const ir::Term& t : sum) found = std::min(found, ofTerm(t));
  return found;
}

unsigned KnownBits::zeroBits(const ptx::Operand& o) const {
  if (o.kind == OperandKind::Integer) return zeroBitsOf(o.bits);
  if (o.kind == OperandKind::Special) return 0;
  if (o.symbol.kind != Symbol::Kind::None)
    return std::min(zeroBits(o.symbol), zeroBitsOf(static_cast<uint64_t>(o.offset)));
  return o.kind == OperandKind::Register ? zeroBits(o.reg) : 0;
}

unsigned KnownBits::zeroBits(const Symbol& s) const {
  constexpr uint32_t kParameterBlock = 16;
  switch (s.kind) {
    case Symbol::Kind::ModuleVariable: return zeroBitsOf(std::max(f_.module->variables[s.index].alignment, 1u));
    case Symbol::Kind::LocalVariable: return zeroBitsOf(std::max(f_.variables[s.index].alignment, 1u));
    case Symbol::Kind::Parameter: return zeroBitsOf(f_.kernel->parameters[s.index].offset | kParameterBlock);
    default: return 0;
  }
}

ValueId KnownBits::root(ValueId v, unsigned bits, const Liveness& liveness,
                        const std::vector<uint32_t>& resumePoints) const {
  /// Is there a point where `v` is still known and `from` no more?
  auto outlives = [&](ValueId from) {
    return std::ranges::any_of(resumePoints,
                               [&](uint32_t p) { return liveness.isLiveAt(v, p) && !liveness.isLiveAt(from, p); });
  };
  /// A value of one block is known there only, and `v` may be asked for in another.
  auto staysBehind = [&](ValueId from) { return liveness.crossesBlock[v] && !liveness.crossesBlock[from]; };
  for (unsigned phis = 0;;) {
    const ValueId from = behind(v, bits, phis);
    if (from == ir::kNoValue || outlives(from) || staysBehind(from)) return v;
    v = from;
  }
}

void KnownBits::keepRoots(Liveness& liveness) const {
  constexpr unsigned kMostBits = 5;  // of accesses of 32 bytes
  auto keep = [&](ValueId v, BlockId block) {
    const ir::Definition& d = definitions_[v];
    if (d.kind == ir::Definition::Kind::Code && d.block != block) liveness.crossesBlock[v] = 1;
  };
  for (BlockId b = 0; b < f_.blocks.size(); ++b)
    for (const Instruction& i : f_.blocks[b].code)
      for (const ptx::Operand& o : i.operands) {
        if (o.kind != OperandKind::Address || o.reg == ir::kNoValue) continue;
        for (unsigned bits = zeroBits(o.reg) + 1; bits <= kMostBits; ++bits) {
          unsigned phis = 0;
          for (ValueId v = behind(o.reg, bits, phis); v != ir::kNoValue; v = behind(v, bits, phis)) keep(v, b);
        }
      }
}

ValueId KnownBits::behind(ValueId v, unsigned bits, unsigned& phis) const {
  if (!definitions_.phi(v)) return termThatDecides(v, bits);
  return phis++ < kMostPhis ? behindPhi(v, bits) : ir::kNoValue;
}

/// The term of `v` that is left when all others are multiples; none if there is no such one.
ValueId KnownBits::termThatDecides(ValueId v, unsigned bits) const {
  const Instruction* i = definitions_.decisive(v);
  if (!i) return ir::kNoValue;
  const ir::Sum sum = ir::sumOf(*i);
  if (sum.subtracts) return ir::kNoValue;
  const ir::Term* left = nullptr;
  for (const ir::Term& t : sum) {
    const bool othersVanish =
        std::ranges::all_of(sum, [&](const ir::Term& o) { return &o == &t || ofTerm(o) >= bits; });
    if (!left && t.isPlain() && othersVanish) left = &t;
  }
  return left && left->value->kind == OperandKind::Register ? left->value->reg : ir::kNoValue;
}

/// What a loop's value was before the loop, if each iteration adds multiples: a pointer that is moved on.
ValueId KnownBits::behindPhi(ValueId v, unsigned bits) const {
  ValueId before = ir::kNoValue;
  for (ValueId incoming : definitions_.phi(v)->incoming) {
    ValueId from = incoming;
    while (from != v && from != ir::kNoValue && !definitions_.phi(from)) {
      const ValueId next = termThatDecides(from, bits);
      if (next == ir::kNoValue) break;
      from = next;
    }
    if (from == v) continue;
    if (incoming == ir::kNoValue || before != ir::kNoValue) return ir::kNoValue;
    before = incoming;
  }
  return before;
}

std::string print(const KnownBits& bits, const ir::Function& f) {
  std::string text;
  for (ValueId v = 0; v < f.values.size(); ++v)
    if (const unsigned zeros = bits.zeroBits(v))
      text += zeros >= kAll ? fmt::format("{}: zero\n", ir::valueName(f, v))
                            : fmt::format("{}: a multiple of {}\n", ir::valueName(f, v), uint64_t{1} << zeros);
  return text.empty() ? "nothing\n" : text;
}

}  // namespace ordito::simt
