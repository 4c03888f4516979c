// PTX ISA, "Comparison and Selection Instructions".
#include "interp/executor.hpp"

namespace ordito::interp {

using isa::mod;
using isa::ModifierKind;
using isa::Type;

namespace {

using Mod = ModifierKind;

/// -1, 0, 1, or 2 when the operands are unordered (a NaN among them).
int order(Type type, uint64_t a, uint64_t b, bool asUnsigned) {
  if (isa::isFloat(type)) {
    Format f = formatOf(type);
    if (isNan(a, f) || isNan(b, f)) return 2;
    double x = toDouble(a, f), y = toDouble(b, f);
    return x < y ? -1 : x > y;
  }
  if (asUnsigned || !isa::isSigned(type)) return a < b ? -1 : a > b;
  int64_t x = signExtend(a, isa::bits(type)), y = signExtend(b, isa::bits(type));
  return x < y ? -1 : x > y;
}

}  // namespace

/// The instruction's comparison of two elements. The ordered ones are false on NaN, those ending in u true.
bool Executor::compare(Type type, uint64_t a, uint64_t b) const {
  if (has(Mod::Flush)) a = flush(a, formatOf(type)), b = flush(b, formatOf(type));
  uint8_t op = instruction_->mods[Mod::Compare];
  bool asUnsigned = op >= mod<Mod::Compare>("lo").value && op <= mod<Mod::Compare>("hs").value;
  int o = order(type, a, b, asUnsigned);
  bool unordered = o == 2;
  switch (op) {
    case mod<Mod::Compare>("eq").value: return o == 0;
    case mod<Mod::Compare>("ne").value: return !unordered && o != 0;
    case mod<Mod::Compare>("lt").value:
    case mod<Mod::Compare>("lo").value: return o == -1;
    case mod<Mod::Compare>("le").value:
    case mod<Mod::Compare>("ls").value: return o <= 0;
    case mod<Mod::Compare>("gt").value:
    case mod<Mod::Compare>("hi").value: return o == 1;
    case mod<Mod::Compare>("ge").value:
    case mod<Mod::Compare>("hs").value: return o == 0 || o == 1;
    case mod<Mod::Compare>("equ").value: return unordered || o == 0;
    case mod<Mod::Compare>("neu").value: return o != 0;
    case mod<Mod::Compare>("ltu").value: return unordered || o == -1;
    case mod<Mod::Compare>("leu").value: return unordered || o <= 0;
    case mod<Mod::Compare>("gtu").value: return o >= 1;
    case mod<Mod::Compare>("geu").value: return o >= 0;
    case mod<Mod::Compare>("num").value: return !unordered;
    default: return unordered;
  }
}

bool Executor::combine(bool compared, bool c) const {
  switch (instruction_->mods[Mod::BoolOp]) {
    case mod<Mod::BoolOp>("and").value: return compared && c;
    case mod<Mod::BoolOp>("or").value: return compared || c;
    case mod<Mod::BoolOp>("xor").value: return compared != c;
    default: return compared;
  }
}

/// set writes true as all ones for integers and as 1.0 for floating point, per half when packed numbers are compared.
void Executor::setResult(bool hasBool) {
  Type from = isa::element(type(1)), to = isa::element(type(0));
  uint64_t a = read(1, type(1)), b = read(2, type(1));
  bool c = hasBool && readPredicate(3);
  bool halves = isa::isPacked(type(1));
  uint64_t one = isa::isFloat(to) ? formatOf(to).one() : lowBits(~uint64_t{0}, halves ? 16 : isa::bits(to));
  auto result = [&](unsigned shift) {
    unsigned width = isa::bits(from);
    return combine(compare(from, lowBits(a >> shift, width), lowBits(b >> shift, width)), c) ? one : 0;
  };
  write(0, type(0), halves ? result(0) | result(16) << 16 : result(0));
}

void Executor::Set() { setResult(false); }
void Executor::SetBool() { setResult(true); }

/// p and q: the comparison and its negation, or for packed types the comparisons of the lower and the upper half.
void Executor::setPredicates(bool hasBool) {
  Type element = isa::element(type());
  unsigned width = isa::bits(element);
  uint64_t a = read(2, type()), b = read(3, type());
  bool c = hasBool && readPredicate(4);
  bool low = compare(element, lowBits(a, width), lowBits(b, width));
  bool second = isa::isPacked(type()) ? compare(element, a >> 16, b >> 16) : !low;
  writePredicate(0, combine(low, c));
  if (present(1)) writePredicate(1, combine(second, c));
}

void Executor::Setp() { setPredicates(false); }
void Executor::SetpBool() { setPredicates(true); }

void Executor::Selp() { write(0, type(), readPredicate(3) ? read(1, type()) : read(2, type())); }

/// a if c >= 0, else b; a NaN selects b, -0 selects a.
void Executor::Slct() {
  bool first;
  if (type(1) == Type::f32) {
    Format f = formatOf(Type::f32);
    uint64_t c = read(3, Type::f32);
    if (has(Mod::Flush)) c = flush(c, f);
    first = !isNan(c, f) && (!isNegative(c, f) || isZero(c, f));
  } else {
    first = readSigned(3, type(1)) >= 0;
  }
  write(0, type(0), first ? read(1, type(0)) : read(2, type(0)));
}

}  // namespace ordito::interp
