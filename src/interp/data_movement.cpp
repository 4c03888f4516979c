// PTX ISA, "Data Movement and Conversion Instructions": moves, loads and stores, address spaces, conversions. (shfl is
// in warp.cpp, prmt in logic.cpp.)
#include "interp/executor.hpp"

namespace ordito::interp {

using isa::mod;
using isa::ModifierKind;
using isa::Type;
using ptx::Space;

/// Also packs {a, b} into a wider register and unpacks one: operands see to that.
void Executor::Mov() { write(operand(0), type(), read(operand(1), type())); }

// Every load and store here is as strong as .sc, so the cache and ordering modifiers need no code.
void Executor::Ld() { loadInstruction(); }
void Executor::Ldu() { loadInstruction(); }
void Executor::St() { storeInstruction(); }
void Executor::Prefetch() {}

void Executor::Isspacep() {
  uint64_t address = read(1, Type::u64);
  Space wanted = spaceOf(instruction->mods);
  switch (wanted) {
    case Space::Shared: return writePredicate(0, inShared(address));
    case Space::Local:
    case Space::Param: return writePredicate(0, inPrivateMemory(address, wanted));
    case Space::Const: return writePredicate(0, inConstant(address));
    default:
      writePredicate(0, !inShared(address) && !inPrivateMemory(address, Space::Local) &&
                            !inPrivateMemory(address, Space::Param) && !inConstant(address));
  }
}

/// Only shared addresses differ from generic ones.
void Executor::Cvta() {
  uint64_t address = read(1, Type::u64);
  uint64_t window = spaceOf(instruction->mods) == Space::Shared ? reinterpret_cast<uint64_t>(block.frame.shared) : 0;
  write(0, Type::u64, has(ModifierKind::To) ? address - window : address + window);
}

/// GPUs ignore .ftz on the way to f16.
bool Executor::flushes(Type to) const { return has(ModifierKind::Flush) && to != Type::f16; }

/// .sat, .satfinite, .relu and .ftz on a floating-point result of a conversion.
uint64_t Executor::clampConverted(uint64_t bits, Type to) const {
  Format f = formatOf(to);
  if (flushes(to)) bits = flush(bits, f);
  if (has(ModifierKind::Relu) && !isNan(bits, f) && isNegative(bits, f)) bits = 0;
  if (is(mod<ModifierKind::Saturate>("sat"))) return saturate(bits, f);
  if (is(mod<ModifierKind::Saturate>("satfinite")) && isInfinite(bits, f)) return (bits & f.signBit()) | f.largest();
  return bits;
}

namespace {

/// An integer clamped to the range of another integer type.
uint64_t clampInteger(uint64_t bits, Type from, Type to) {
  unsigned width = isa::bits(to);
  bool negative = isa::isSigned(from) && signExtend(bits, isa::bits(from)) < 0;
  uint64_t largest = lowBits(~uint64_t{0}, width - isa::isSigned(to));
  if (!negative) return std::min(bits, largest);
  if (!isa::isSigned(to)) return 0;
  int64_t least = -int64_t(largest) - 1;
  return uint64_t(std::max(signExtend(bits, isa::bits(from)), least));
}

}  // namespace

/// One value of the source type as a value of the destination type.
uint64_t Executor::convert(uint64_t bits) const {
  Type to = type(0), from = type(1);
  bool rounds = has(ModifierKind::IntegerRounding);
  bool onlyMoves =
      from == Type::f32 && to == from && !rounds && !has(ModifierKind::Flush) && !has(ModifierKind::Saturate);
  if (onlyMoves) return bits;
  if (isa::isFloat(from)) {
    // Arithmetic flushes, and makes a NaN canonical.
    if (flushes(to) && from == Type::f32)
      bits = isNan(bits, formatOf(from)) ? canonicalNan(from) : flush(bits, formatOf(from));
    if (flushes(to) && from == Type::bf16 && isNan(bits, formatOf(from))) return canonicalNan(to);
    if (!isa::isFloat(to)) return convertToInteger(bits, from, to, integerRoundingOf(instruction->mods));
    if (rounds) bits = roundToIntegral(bits, from, integerRoundingOf(instruction->mods));
    uint64_t result = from == to ? bits
                                 : convertFloat(bits, from, to, roundingOf(instruction->mods),
                                                flushes(to) ? Tiny::Flush : Tiny::Keep);
    if (to == Type::tf32 && isNan(bits, formatOf(from)) && roundingOf(instruction->mods) == Rounding::NearestAway)
      result = bits & ~uint64_t{0x1FFF};  // .rna alone keeps the payload
    if (from == to && isNan(bits, formatOf(from)) && from != Type::f64) result = canonicalNan(to);
    return clampConverted(result, to);
  }
  uint64_t wide = isa::isSigned(from) ? uint64_t(signExtend(bits, isa::bits(from))) : bits;
  if (isa::isFloat(to))
    return clampConverted(convertInteger(wide, isa::isSigned(from), to, roundingOf(instruction->mods)), to);
  return has(ModifierKind::Saturate) ? clampInteger(bits, from, to) : wide;
}

void Executor::Cvt() { write(0, type(0), convert(read(1, type(1)))); }

/// Two f32 values into one packed register: a goes to the upper half.
void Executor::CvtPack() {
  Type element = isa::element(type(0));
  auto half = [&](size_t i) {
    return clampConverted(convertFloat(read(i, Type::f32), Type::f32, element, roundingOf(instruction->mods)), element);
  };
  write(0, type(0), half(1) << 16 | half(2));
}

}  // namespace ordito::interp
