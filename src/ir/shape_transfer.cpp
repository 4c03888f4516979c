// See shape_transfer.hpp for the two rules; this file holds them instruction by instruction.
#include "ir/shape_transfer.hpp"

#include <algorithm>
#include <bit>

namespace ordito::ir {
namespace {

using isa::ModifierKind;
using isa::Op;
using Kind = ptx::Operand::Kind;

constexpr auto kWide = isa::mod<ModifierKind::MulMode>("wide");
constexpr auto kLo = isa::mod<ModifierKind::MulMode>("lo");

Shape segmented(unsigned segments, bool warpVarying) {
  Shape s;
  s.kind = Shape::Kind::Segmented;
  s.segments = static_cast<uint8_t>(segments);
  s.warpVarying = warpVarying;
  return s;
}

Shape general() {
  Shape s;
  s.kind = Shape::Kind::General;
  return s;
}

std::optional<uint64_t> constantOf(const ptx::Operand& o) {
  if (o.kind == Kind::Integer) return o.bits;
  return std::nullopt;
}

bool isIntegerMove(const Instruction& i) {
  return (i.op == Op::Mov && (isa::bits(i.type[0]) == 32 || isa::bits(i.type[0]) == 64) &&
          i.operands[1].kind != Kind::Vector && i.operands[0].kind != Kind::Vector) ||
         i.op == Op::Cvta;
}

/// cvt between integers of 32 and 64 bits without saturation.
bool isIntegerConversion(const Instruction& i) {
  auto ok = [](isa::Type t) { return isa::isInteger(t) && isa::bits(t) >= 32; };
  return i.op == Op::Cvt && ok(i.type[0]) && ok(i.type[1]) && !i.has(ModifierKind::Saturate);
}

int64_t signExtend(int64_t v, unsigned bits) {
  return bits >= 64 ? v : static_cast<int64_t>(static_cast<uint64_t>(v) << (64 - bits)) >> (64 - bits);
}

bool isAtomicOrdered(const Instruction& i) {
  return i.has(ModifierKind::Semantics) && i.mods.name(ModifierKind::Semantics) != "weak";
}

}  // namespace

bool splitsOperand(const Instruction& i, size_t k) {
  if ((i.op != Op::Mul && i.op != Op::Mad) || (k != 1 && k != 2)) return false;
  return !constantOf(i.operands[1]) && !constantOf(i.operands[2]);
}

bool isWidening(const Instruction& i) {
  if ((i.op == Op::Mul || i.op == Op::Mad) && i.is(kWide)) return isa::bits(i.type[0]) == 32;
  return isIntegerConversion(i) && isa::bits(i.type[0]) == 64 && isa::bits(i.type[1]) == 32;
}

Shape ShapeTransfer::withPattern(Shape s, const Pattern& p, unsigned bits) {
  Pattern wrapped = p;
  for (int64_t& v : wrapped) v = signExtend(v, bits);
  s.pattern = shapes_.intern(wrapped);
  return s;
}

Shape ShapeTransfer::operator()(const Instruction& i, ValueId value, unsigned) {
  if (i.info().unit == isa::Unit::Texture && i.info().effect != isa::Effect::Pure) return general();
  switch (i.info().effect) {
    case isa::Effect::Pure: return pure(i, value);
    case isa::Effect::Load: return load(i);
    case isa::Effect::Warp:
      if (i.op == Op::Vote || i.op == Op::Redux) {
        // The tiles of a warp may vote each for itself, with member masks of their own.
        const Shape members = shapes_.shapeOf(i.operands[2]);
        if (members.kind == Shape::Kind::Unknown) return members;
        return i.guard || !members.isUniform() ? general() : segmented(1, true);
      }
      if (i.op == Op::VoteOld || i.op == Op::Activemask) return i.guard ? general() : segmented(1, true);
      return general();
    default: return general();
  }
}

Shape ShapeTransfer::load(const Instruction& i) {
  if (i.guard) return general();
  const ptx::Operand& address = i.operands[1];
  if (address.symbol.kind == ptx::Symbol::Kind::LocalVariable &&
      shapes_.f_.variables[address.symbol.index].space != ptx::Space::Shared)
    return general();
  const auto space = i.mods.name(ModifierKind::Space);
  if (space == "local") return general();
  const Shape a = shapes_.shapeOf(address);
  if (a.kind == Shape::Kind::Unknown) return a;
  const unsigned segments = shapes_.segmentsWithoutPattern(a);
  if (!segments) return general();
  return segmented(segments, a.warpVarying || isAtomicOrdered(i));
}

Shape ShapeTransfer::pure(const Instruction& i, ValueId value) {
  bool unknown = false, anyGeneral = false, varying = false, inexact = false, patterned = false;
  unsigned segments = 1, splitSegments = 1;
  bool splittable = true;
  auto add = [&](const Shape& s) {
    unknown |= s.kind == Shape::Kind::Unknown;
    anyGeneral |= s.isGeneral();
    if (!s.isSegmented()) return;
    varying |= s.warpVarying;
    inexact |= s.inexact;
    patterned |= s.pattern != 0;
    segments = std::max<unsigned>(segments, s.segments);
    const unsigned g = shapes_.segmentsWithoutPattern(s);
    splittable &= g != 0;
    splitSegments = std::max(splitSegments, g);
  };
  const auto forms = i.info().form.operandList();
  for (size_t k = 0; k < i.operands.size(); ++k)
    if (k >= forms.size() || forms[k].kind != isa::OperandForm::Kind::Destination) add(shapes_.shapeOf(i.operands[k]));
  if (i.guard) {
    add(shapes_[i.guard.reg]);
    for (ValueId p : i.prior)
      if (p != kNoValue) add(shapes_[p]);
  }
  if (i.carryIn != kNoValue) add(shapes_[i.carryIn]);
  if (anyGeneral) return general();
  if (unknown) return Shape{};
  Shape result = segmented(segments, varying);
  if (patterned) {
    auto l = i.guard ? std::nullopt : linear(i);
    if (l) {
      if (isa::isFloat(shapes_.f_.values[value].type)) return general();  // no sum of floats makes these bits
      result = *l;
      result.warpVarying = varying;
      result.inexact |= inexact;
      result.width = static_cast<uint8_t>(widthOf(i));
    } else if (splittable) {
      result.segments = static_cast<uint8_t>(splitSegments);
    } else {
      return general();
    }
  } else if (!i.guard) {
    if (auto l = linear(i)) result.alignment = l->alignment;
    result.width = static_cast<uint8_t>(widthOf(i));
  }
  const bool mayBeInexact = !shapes_.launch().isExact && (isWidening(i) || shapes_.isAddressOnly(value));
  return result.inexact && !mayBeInexact ? general() : result;
}

/// Is base + pattern known not to wrap around at 32 bits? Each base is the value of a lane of its segment then.
bool ShapeTransfer::widensExactly(const Shape& s) const {
  if (s.pattern == 0) return true;
  if (s.width >= 32) return false;
  const Pattern& p = patternOf(s);
  const auto lanes = static_cast<std::ptrdiff_t>(kLanes / s.segments);
  for (auto segment = p.begin(); segment != p.end(); segment += lanes)
    if (*std::min_element(segment, segment + lanes) != 0) return false;
  return true;
}

/// fa * a + fb * b with bases that are multiples of 2^alignment.
Shape ShapeTransfer::combine(const Instruction& i, const Shape& a, int64_t fa, const Shape& b, int64_t fb,
                             int alignment) {
  Shape s = segmented(std::max(a.segments, b.segments), false);
  s.alignment = static_cast<uint8_t>(std::clamp(alignment, 0, 63));
  Pattern p;
  const Pattern pa = patternOf(a), pb = patternOf(b);
  for (unsigned l = 0; l < kLanes; ++l)
    p[l] = static_cast<int64_t>(static_cast<uint64_t>(pa[l]) * static_cast<uint64_t>(fa) +
                                static_cast<uint64_t>(pb[l]) * static_cast<uint64_t>(fb));
  return withPattern(s, p, isWidening(i) ? 64 : isa::bits(i.type[0]));
}

/// The number that a factor of `i` is, if it is one. An immediate of mul.wide is read as the 32-bit type that it has
/// there.
static std::optional<int64_t> factorOf(const Instruction& i, std::optional<uint64_t> constant) {
  if (!constant || !isWidening(i)) return constant;
  return isa::isSigned(i.type[0]) ? signExtend(static_cast<int64_t>(*constant), 32)
                                  : static_cast<int64_t>(*constant & 0xFFFFFFFFu);
}

/// The linear rule for mul and mad.
std::optional<Shape> ShapeTransfer::linearProduct(const Instruction& i) {
  if (!i.is(kLo) && !isWidening(i)) return std::nullopt;
  const auto& ops = i.operands;
  const Shape a = shapes_.shapeOf(ops[1]), b = shapes_.shapeOf(ops[2]);
  const Shape c = i.op == Op::Mad ? shapes_.shapeOf(ops[3]) : segmented(1, false);
  const int addend = i.op == Op::Mad ? c.alignment : 63;
  const bool inexact = isWidening(i) && !(widensExactly(a) && widensExactly(b));
  auto times = [&](const Shape& x, int64_t k) {
    const int alignment = x.alignment + (k ? std::countr_zero(static_cast<uint64_t>(k)) : 63);
    return combine(i, x, k, c, 1, std::min({alignment, 63, addend}));
  };
  std::optional<Shape> s;
  if (auto k = factorOf(i, constantOf(ops[2])); k && !b.pattern) {
    s = times(a, *k);
  } else if (auto k2 = factorOf(i, constantOf(ops[1])); k2 && !a.pattern) {
    s = times(b, *k2);
  } else if (const unsigned ga = shapes_.segmentsWithoutPattern(a), gb = shapes_.segmentsWithoutPattern(b); ga && gb) {
    // threadIdx.y * n + threadIdx.x: the factors are split into segments without a pattern, the addend keeps its own.
    const int product = a.pattern || b.pattern ? 0 : std::min(a.alignment + b.alignment, 63);
    s = combine(i, segmented(std::max(ga, gb), false), 0, c, 1, std::min(product, addend));
  }
  if (s) s->inexact |= inexact;
  return s;
}

/// The linear rule. Also computes the alignment of the result's bases, which the bit rules of later instructions need.
std::optional<Shape> ShapeTransfer::linear(const Instruction& i) {
  const auto& ops = i.operands;
  auto shape = [&](size_t k) { return shapes_.shapeOf(ops[k]); };
  const unsigned bits = isWidening(i) ? 64 : isa::bits(i.type[0]);
  if (isIntegerMove(i) || isIntegerConversion(i)) {
    Shape s = shape(1);
    const bool widens = isWidening(i);
    s.inexact |= widens && !widensExactly(s);
    if (widens) s.alignment = std::min<uint8_t>(s.alignment, 31);
    return withPattern(s, Pattern(patternOf(s)), bits);
  }
  if (isa::bits(i.type[0]) < 32 || i.has(ModifierKind::Saturate) || i.carryIn != kNoValue || i.carryOut != kNoValue)
    return std::nullopt;
  auto sum = [&](int64_t sign) {
    return combine(i, shape(1), 1, shape(2), sign, std::min(shape(1).alignment, shape(2).alignment));
  };
  switch (i.op) {
    case Op::Add: return sum(1);
    case Op::Sub: return sum(-1);
    case Op::Shl:
      if (auto c = constantOf(ops[2]); c && *c < bits)
        return combine(i, shape(1), static_cast<int64_t>(uint64_t{1} << *c), segmented(1, false), 0,
                       shape(1).alignment + static_cast<int>(*c));
      return std::nullopt;
    case Op::Mul:
    case Op::Mad: return linearProduct(i);
    case Op::And:
    case Op::Or:
    case Op::Xor:
    case Op::Shr:
      if (auto c = constantOf(ops[2])) return linearBits(i, shape(1), *c);
      if (i.op == Op::Shr) return std::nullopt;
      if (auto s = lowAndHighBits(i, shape(1), shape(2))) return s;
      if (i.op == Op::And) return std::nullopt;
      if (auto s = disjointOr(shape(1), shape(2), bits)) return s;
      return disjointOr(shape(2), shape(1), bits);
    case Op::Setp: return orderOfBases(i);
    case Op::Selp:
      if (shape(1).pattern == shape(2).pattern && shapes_.shapeOf(ops[3]).pattern == 0)
        return combine(i, shape(1), 1, segmented(std::max(shape(2).segments, shape(3).segments), false), 0,
                       std::min(shape(1).alignment, shape(2).alignment));
      return std::nullopt;
    default: return std::nullopt;
  }
}

/// The width of the result, from those of the operands: 64 where nothing is known.
unsigned ShapeTransfer::widthOf(const Instruction& i) const {
  constexpr unsigned kUnknown = 64;
  if (i.guard || i.operands.size() < 2 || isa::isFloat(i.type[0]) || i.carryIn != kNoValue) return kUnknown;
  const unsigned bits = isWidening(i) ? 64 : isa::bits(i.type[0]);
  auto width = [&](size_t k) -> unsigned { return shapes_.shapeOf(i.operands[k]).width; };
  auto within = [&](unsigned w) { return w < bits ? w : kUnknown; };
  if (isIntegerMove(i)) return width(1);
  if (isIntegerConversion(i)) return within(width(1) < 32 ? width(1) : kUnknown);
  const auto constant = i.operands.size() > 2 ? constantOf(i.operands[2]) : std::nullopt;
  switch (i.op) {
    case Op::Add: return i.has(ModifierKind::Saturate) ? kUnknown : within(std::max(width(1), width(2)) + 1);
    case Op::Mul:
      if (!i.is(kLo) && !(i.is(kWide) && width(1) < 32 && width(2) < 32)) return kUnknown;
      return within(width(1) + width(2));
    case Op::Mad:
      if (i.has(ModifierKind::Saturate)) return kUnknown;
      if (!i.is(kLo) && !(i.is(kWide) && width(1) < 32 && width(2) < 32)) return kUnknown;
      return within(std::max(width(1) + width(2), width(3)) + 1);
    case Op::Shl: return constant && *constant < bits ? within(width(1) + static_cast<unsigned>(*constant)) : kUnknown;
    case Op::Shr: {
      if (!constant || *constant >= bits) return kUnknown;
      if (width(1) >= bits) return isa::isSigned(i.type[0]) ? kUnknown : bits - static_cast<unsigned>(*constant);
      return width(1) > *constant ? width(1) - static_cast<unsigned>(*constant) : 0;
    }
    case Op::And: return std::min(width(1), width(2));
    case Op::Or:
    case Op::Xor: return std::max(width(1), width(2));
    case Op::Min: return isa::isSigned(i.type[0]) ? kUnknown : std::min(width(1), width(2));
    default: return kUnknown;
  }
}

/// high | low where no bit is in both is high + low: `blockIdx.x * 8192 | threadIdx.x`, as compilers write it.
std::optional<Shape> ShapeTransfer::disjointOr(const Shape& high, const Shape& low, unsigned bits) {
  const Pattern& h = patternOf(high);
  const Pattern& l = patternOf(low);
  if (low.width > high.alignment || low.width >= bits) return std::nullopt;
  const uint64_t mask = (uint64_t{1} << low.width) - 1;
  Pattern p;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (l[lane] < 0 || (static_cast<uint64_t>(h[lane]) & mask)) return std::nullopt;
    p[lane] = h[lane] + l[lane];
  }
  Shape s = segmented(std::max(high.segments, low.segments), false);
  s.alignment = std::min(high.alignment, low.alignment);
  return withPattern(s, p, bits);
}

/// and, or, xor of two values whose bases are multiples of 2^k and whose patterns stay below 2^k: bases meet bases and
/// patterns meet patterns. So a lane's place in a tile of lanes, put together of single bits of threadIdx.x, or a
/// swizzled column (`row & 7 ^ column`), is a pattern.
std::optional<Shape> ShapeTransfer::lowAndHighBits(const Instruction& i, const Shape& a, const Shape& b) {
  const unsigned bits = isa::bits(i.type[0]);
  const unsigned k = std::min<unsigned>(std::min(a.alignment, b.alignment), bits - 1);
  const Pattern &pa = patternOf(a), &pb = patternOf(b);
  Pattern p;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const uint64_t x = static_cast<uint64_t>(pa[lane]), y = static_cast<uint64_t>(pb[lane]);
    if (x >> k || y >> k) return std::nullopt;
    p[lane] = static_cast<int64_t>(i.op == Op::And ? x & y : i.op == Op::Or ? x | y : x ^ y);
  }
  Shape s = segmented(std::max(a.segments, b.segments), false);
  s.alignment = static_cast<uint8_t>(k);
  return withPattern(s, p, bits);
}

/// and, or, xor, shr by a constant: where every base is a multiple of 2^k and the pattern stays below 2^k, the two
/// parts do not mix.
std::optional<Shape> ShapeTransfer::linearBits(const Instruction& i, const Shape& a, uint64_t constant) {
  const unsigned bits = isa::bits(i.type[0]);
  const unsigned k = std::min<unsigned>(a.alignment, bits - 1);
  const uint64_t low = (uint64_t{1} << k) - 1;
  Pattern p = patternOf(a);
  for (int64_t v : p)
    if (v < 0 || static_cast<uint64_t>(v) > low) return std::nullopt;
  Shape s = segmented(a.segments, false);
  const int64_t c = static_cast<int64_t>(constant & low);
  switch (i.op) {
    case Op::And:
      for (int64_t& v : p) v &= c;
      // What is left of a base lies where the constant has ones above the pattern's bits.
      s.alignment = static_cast<uint8_t>(std::min(std::countr_zero(constant & ~low), 63));
      break;
    case Op::Or:
      for (int64_t& v : p) v = (v | c) - c;
      break;
    case Op::Xor:
      for (int64_t& v : p) v = (v ^ c) - c;
      break;
    default:
      if (constant >= bits) return std::nullopt;
      for (int64_t& v : p) v >>= constant;
      s.alignment = static_cast<uint8_t>(k > constant ? k - constant : 0);
      break;
  }
  return withPattern(s, p, bits);
}

/// A comparison that the bases decide for all lanes: where bases are multiples of 2^k and patterns stay below 2^k, a
/// value is less than a multiple of 2^k if its base is, and greater than one less than a multiple if its base is. So
/// whole warps take `if (threadIdx.x < 64)`.
std::optional<Shape> ShapeTransfer::orderOfBases(const Instruction& i) {
  const unsigned bits = isa::bits(i.type[0]);
  if (!isa::isInteger(i.type[0]) || isa::isPacked(i.type[0])) return std::nullopt;
  const bool swapped = shapes_.shapeOf(i.operands[2]).pattern == 0;
  const ptx::Operand& other = i.operands[swapped ? 2 : 3];
  const Shape a = shapes_.shapeOf(i.operands[swapped ? 3 : 2]), b = shapes_.shapeOf(other);
  if (b.pattern) return std::nullopt;
  uint64_t most = 0;
  for (int64_t v : patternOf(a)) most = std::max(most, static_cast<uint64_t>(v));
  const unsigned k = static_cast<unsigned>(std::bit_width(most));
  if (k > std::min<unsigned>(a.alignment, bits - 1)) return std::nullopt;
  const uint64_t low = (uint64_t{1} << k) - 1;
  const auto comparison = i.mods.name(ModifierKind::Compare);
  const bool less = comparison == "lt" || comparison == "lo" || comparison == "ge" || comparison == "hs";
  const bool lessOrEqual = comparison == "le" || comparison == "ls" || comparison == "gt" || comparison == "hi";
  const auto constant = constantOf(other);
  const bool isMultiple = constant ? (*constant & low) == 0 : b.alignment >= k;
  const bool isOneLess = constant && (*constant & low) == low;
  if (!(less && (swapped ? isOneLess : isMultiple)) && !(lessOrEqual && (swapped ? isMultiple : isOneLess)))
    return std::nullopt;
  return segmented(std::max(a.segments, b.segments), false);
}

std::vector<char> ShapeTransfer::addressOnly(const Function& f) {
  std::vector<char> only(f.values.size(), 1);
  auto pass = [](const Instruction& i) {
    return i.op == Op::Add || i.op == Op::Sub || isIntegerMove(i) || i.op == Op::Shl ||
           ((i.op == Op::Mul || i.op == Op::Mad) && i.is(kLo)) || (i.op == Op::Mad && i.is(kWide));
  };
  auto clear = [&](ValueId v, bool& changed) {
    if (only[v]) only[v] = 0, changed = true;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (const Block& block : f.blocks) {
      for (const Phi& phi : block.phis)
        if (!only[phi.value])
          for (ValueId v : phi.incoming) clear(v, changed);
      for (const Instruction& i : block.code) {
        bool destination = pass(i) && !i.guard;
        forEachDefinition(i, [&](ValueId v, unsigned) { destination &= only[v] != 0; });
        const bool isMemory = i.info().unit == isa::Unit::Lsu && i.info().effect != isa::Effect::Warp;
        const auto forms = i.info().form.operandList();
        for (size_t k = 0; k < i.operands.size(); ++k) {
          if (k < forms.size() && forms[k].kind == isa::OperandForm::Kind::Destination) continue;
          const bool isAddress = isMemory && k < forms.size() && forms[k].kind == isa::OperandForm::Kind::Address;
          if (!isAddress && !destination) forEachRegister(i.operands[k], [&](ValueId v) { clear(v, changed); });
        }
        if (i.guard) clear(i.guard.reg, changed);
        for (ValueId p : i.prior)
          if (p != kNoValue) clear(p, changed);
      }
      forEachUse(block.end, [&](ValueId v) { clear(v, changed); });
    }
  }
  return only;
}

}  // namespace ordito::ir
