// PTX ISA, "Floating-Point Instructions", "Half Precision Floating-Point Instructions" and their packed forms. The
// approximate ones give the bits of a GPU's special function unit (machine/multifunction_unit.hpp).
#include "interp/executor.hpp"

namespace ordito::interp {

using isa::mod;
using isa::ModifierKind;
using isa::Type;
using machine::Multifunction;

constexpr uint64_t kOutOfBounds = 0x7FFF;

/// body(element type, operands) for the one element of a scalar type or both of a packed one; the sources are operands
/// 1 … `sources`.
template <class F>
void Executor::floatLanes(size_t sources, F body) {
  Type element = isa::element(type());
  unsigned width = isa::bits(element);
  uint64_t result = 0;
  for (unsigned shift = 0; shift < isa::bits(type()); shift += width) {
    std::array<uint64_t, 3> values{};
    for (size_t i = 0; i < sources; ++i) {
      values[i] = lowBits(read(i + 1, type()) >> shift, width);
      if (has(ModifierKind::Flush)) values[i] = flush(values[i], formatOf(element));
    }
    result |= body(element, values) << shift;
  }
  write(0, type(), result);
}

/// .ftz, .sat and .relu on a result.
uint64_t Executor::finishFloat(uint64_t bits, Type element) const {
  Format f = formatOf(element);
  if (has(ModifierKind::Flush)) bits = flush(bits, f);
  if (has(ModifierKind::Saturate)) bits = saturate(bits, f);
  if (has(ModifierKind::Relu) && !isNan(bits, f) && isNegative(bits, f)) bits = 0;
  return bits;
}

void Executor::floatArithmetic(FloatOp op, size_t sources) {
  Rounding rounding = roundingOf(instruction_->mods);
  floatLanes(sources, [&](Type element, auto v) {
    // .oob: a NaN of this one pattern stands for what lies outside of a tensor, and makes zero.
    const bool isOutside = has(ModifierKind::OutOfBounds) && std::count(v.begin(), v.end(), kOutOfBounds);
    return isOutside ? 0 : finishFloat(compute(op, element, v[0], v[1], v[2], rounding, tiny()), element);
  });
}

void Executor::AddF() { floatArithmetic(FloatOp::Add, 2); }
void Executor::SubF() { floatArithmetic(FloatOp::Sub, 2); }
void Executor::MulF() { floatArithmetic(FloatOp::Mul, 2); }
void Executor::FmaF() { floatArithmetic(FloatOp::Fma, 3); }
void Executor::MadF() { floatArithmetic(FloatOp::Fma, 3); }

/// Two f32 side by side in 64 bits.
void Executor::floatPair(FloatOp op, size_t sources) {
  uint64_t result = 0;
  for (unsigned shift = 0; shift < 64; shift += 32) {
    std::array<uint64_t, 3> v{};
    for (size_t i = 0; i < sources; ++i) {
      v[i] = lowBits(read(i + 1, Type::b64) >> shift, 32);
      if (has(ModifierKind::Flush)) v[i] = flush(v[i], formatOf(Type::f32));
    }
    result |= finishFloat(compute(op, Type::f32, v[0], v[1], v[2], roundingOf(instruction_->mods), tiny()), Type::f32)
              << shift;
  }
  write(0, Type::b64, result);
}

void Executor::AddPair() { floatPair(FloatOp::Add, 2); }
void Executor::SubPair() { floatPair(FloatOp::Sub, 2); }
void Executor::MulPair() { floatPair(FloatOp::Mul, 2); }
void Executor::FmaPair() { floatPair(FloatOp::Fma, 3); }

void Executor::DivF() {
  const bool full = is(mod<ModifierKind::Precision>("full"));
  if (!full && !is(mod<ModifierKind::Precision>("approx"))) return floatArithmetic(FloatOp::Div, 2);
  floatLanes(2, [&](Type element, auto v) -> uint64_t {
    return finishFloat(machine::approximateQuotient(static_cast<uint32_t>(v[0]), static_cast<uint32_t>(v[1]), full,
                                                    has(ModifierKind::Flush)),
                       element);
  });
}

/// f16 and bf16 are computed as f32 and cut.
void Executor::approximate(Multifunction function) {
  floatLanes(1, [&](Type element, auto v) -> uint64_t {
    if (element == Type::f32)
      return finishFloat(machine::approximate(function, static_cast<uint32_t>(v[0]), has(ModifierKind::Flush)),
                         element);
    const auto wide = static_cast<uint32_t>(convertFloat(v[0], element, Type::f32, Rounding::NearestEven));
    const uint32_t result = machine::multifunction(function, wide);
    return finishFloat(element == Type::f16 ? machine::cutToHalf(result) : machine::cutToBfloat(result), element);
  });
}

/// The f64 forms with .approx.ftz are gross: they look at and give the upper 32 bits only.
void Executor::approximateDouble(uint32_t (*upperWord)(uint32_t)) {
  floatLanes(1, [&](Type, auto v) { return uint64_t{upperWord(static_cast<uint32_t>(v[0] >> 32))} << 32; });
}

void Executor::Rcp() {
  if (is(mod<ModifierKind::Precision>("approx"))) {
    if (type() == Type::f64) return approximateDouble(machine::reciprocalOfDouble);
    return approximate(Multifunction::Rcp);
  }
  Rounding rounding = roundingOf(instruction_->mods);
  floatLanes(1, [&](Type element, auto v) {
    return finishFloat(compute(FloatOp::Div, element, formatOf(element).one(), v[0], 0, rounding, tiny()), element);
  });
}

void Executor::Sqrt() {
  if (is(mod<ModifierKind::Precision>("approx"))) return approximate(Multifunction::Sqrt);
  floatArithmetic(FloatOp::Sqrt, 1);
}

void Executor::Rsqrt() {
  if (type() != Type::f64) return approximate(Multifunction::Rsqrt);
  if (has(ModifierKind::Flush)) return approximateDouble(machine::reciprocalRootOfDouble);
  floatLanes(
      1, [](Type, auto v) { return std::bit_cast<uint64_t>(machine::reciprocalRoot(std::bit_cast<double>(v[0]))); });
}

void Executor::Sin() { approximate(Multifunction::Sin); }
void Executor::Cos() { approximate(Multifunction::Cos); }
void Executor::Lg2() { approximate(Multifunction::Lg2); }
void Executor::Ex2() { approximate(Multifunction::Ex2); }
void Executor::Tanh() { approximate(Multifunction::Tanh); }

/// Sign operations work on the bits. Which NaN they give is open; GPUs give the canonical one, and in f64 the operand,
/// sign and all, quiet.
void Executor::changeSign(uint64_t (*change)(uint64_t bits, Format format)) {
  floatLanes(1, [&](Type element, auto v) {
    Format f = formatOf(element);
    if (isNan(v[0], f)) return element == Type::f64 ? quieted(v[0], f) : canonicalNan(element);
    return change(v[0], f);
  });
}

void Executor::AbsF() {
  changeSign([](uint64_t bits, Format f) { return bits & ~f.signBit(); });
}

void Executor::NegF() {
  changeSign([](uint64_t bits, Format f) { return bits ^ f.signBit(); });
}

/// IEEE 754-2019 minimumNumber/maximumNumber, or minimum/maximum with .NaN; +0 is greater than -0.
uint64_t Executor::minMaxElement(Type element, uint64_t a, uint64_t b, bool wantsMax) const {
  Format f = formatOf(element);
  if (isNan(a, f) || isNan(b, f)) {
    if (isNan(a, f) && isNan(b, f) && element == Type::f64) return quieted(b, f);
    if (has(ModifierKind::NanMode) || (isNan(a, f) && isNan(b, f))) return canonicalNan(element);
    return isNan(a, f) ? b : a;
  }
  double x = toDouble(a, f), y = toDouble(b, f);
  bool less = x != y ? x < y : isNegative(a, f);
  return less != wantsMax ? a : b;
}

void Executor::minMaxF(bool wantsMax) {
  floatLanes(2, [&](Type element, auto v) {
    Format f = formatOf(element);
    if (!has(ModifierKind::XorSign)) return minMaxElement(element, v[0], v[1], wantsMax);
    uint64_t sign = (v[0] ^ v[1]) & f.signBit();
    uint64_t chosen = minMaxElement(element, v[0] & ~f.signBit(), v[1] & ~f.signBit(), wantsMax);
    return isNan(chosen, f) ? chosen : chosen | sign;
  });
}

void Executor::MinF() { minMaxF(false); }
void Executor::MaxF() { minMaxF(true); }

/// The magnitude of b with the sign of a.
void Executor::Copysign() {
  uint64_t sign = formatOf(type()).signBit();
  write(0, type(), (read(1, type()) & sign) | (read(2, type()) & ~sign));
}

void Executor::Testp() {
  Format f = formatOf(type());
  uint64_t a = read(1, type());
  bool finite = !isNan(a, f) && !isInfinite(a, f);
  switch (instruction_->mods[ModifierKind::TestOp]) {
    case mod<ModifierKind::TestOp>("finite").value: return writePredicate(0, finite);
    case mod<ModifierKind::TestOp>("infinite").value: return writePredicate(0, isInfinite(a, f));
    case mod<ModifierKind::TestOp>("number").value: return writePredicate(0, !isNan(a, f));
    case mod<ModifierKind::TestOp>("notanumber").value: return writePredicate(0, isNan(a, f));
    case mod<ModifierKind::TestOp>("normal").value: return writePredicate(0, finite && !isSubnormal(a, f));
    default: return writePredicate(0, isSubnormal(a, f));
  }
}

}  // namespace ordito::interp
