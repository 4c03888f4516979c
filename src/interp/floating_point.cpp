// PTX ISA, "Floating-Point Instructions", "Half Precision Floating-Point Instructions" and their packed forms.
//
// The approximate instructions are computed in double by the host's libm and rounded once: within 0.51 ulp of the true
// value, far inside the bounds that the manual grants (the GPU's own bits differ in the last places).
#include <cmath>
#include <numbers>

#include "interp/executor.hpp"

namespace ordito::interp {

using isa::mod;
using isa::ModifierKind;
using isa::Type;

namespace {

double valueOf(uint64_t bits, Type element) { return toDouble(bits, formatOf(element)); }

uint64_t roundedTo(double value, Type element) {
  return convertFloat(std::bit_cast<uint64_t>(value), Type::f64, element, Rounding::NearestEven);
}

}  // namespace

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
  Rounding rounding = roundingOf(instruction->mods);
  floatLanes(sources, [&](Type element, auto v) {
    return finishFloat(compute(op, element, v[0], v[1], v[2], rounding, tiny()), element);
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
    result |= finishFloat(compute(op, Type::f32, v[0], v[1], v[2], roundingOf(instruction->mods), tiny()), Type::f32)
              << shift;
  }
  write(0, Type::b64, result);
}

void Executor::AddPair() { floatPair(FloatOp::Add, 2); }
void Executor::SubPair() { floatPair(FloatOp::Sub, 2); }
void Executor::MulPair() { floatPair(FloatOp::Mul, 2); }
void Executor::FmaPair() { floatPair(FloatOp::Fma, 3); }

/// div.approx multiplies by a reciprocal that has become 0 for |b| > 2^126; all other forms divide.
void Executor::DivF() {
  if (!is(mod<ModifierKind::Precision>("approx"))) return floatArithmetic(FloatOp::Div, 2);
  floatLanes(2, [&](Type element, auto v) {
    double divisor = std::fabs(valueOf(v[1], element));
    bool vanishes = divisor > 0x1p126 && divisor < 0x1p128;
    uint64_t zero = v[1] & formatOf(element).signBit();
    uint64_t result = vanishes ? compute(FloatOp::Mul, element, v[0], zero, 0, Rounding::NearestEven)
                               : compute(FloatOp::Div, element, v[0], v[1], 0, Rounding::NearestEven);
    return finishFloat(result, element);
  });
}

/// A function of one element computed in double. The f64 forms with .ftz are gross approximations: they look at and
/// give the upper 32 bits only.
void Executor::approximate(double (*function)(double)) {
  floatLanes(1, [&](Type element, auto v) -> uint64_t {
    Format f = formatOf(element);
    bool gross = element == Type::f64 && has(ModifierKind::Flush);
    if (gross) v[0] &= ~uint64_t{0} << 32;
    if (isNan(v[0], f))
      return gross ? uint64_t{0x7FFFFFFF} << 32 : element == Type::f64 ? quieted(v[0], f) : canonicalNan(element);
    uint64_t upper = gross ? ~uint64_t{0} << 32 : ~uint64_t{0};
    double result = function(toDouble(v[0], f));
    if (std::isnan(result)) return gross ? uint64_t{0x7FFFFFFF} << 32 : canonicalNan(element);
    return finishFloat(roundedTo(result, element), element) & upper;
  });
}

void Executor::Rcp() {
  if (is(mod<ModifierKind::Precision>("approx"))) return approximate([](double x) { return 1 / x; });
  Rounding rounding = roundingOf(instruction->mods);
  floatLanes(1, [&](Type element, auto v) {
    return finishFloat(compute(FloatOp::Div, element, formatOf(element).one(), v[0], 0, rounding, tiny()), element);
  });
}

void Executor::Sqrt() {
  if (is(mod<ModifierKind::Precision>("approx"))) return approximate([](double x) { return std::sqrt(x); });
  floatArithmetic(FloatOp::Sqrt, 1);
}

void Executor::Rsqrt() {
  approximate([](double x) { return 1 / std::sqrt(x); });
}
void Executor::Sin() {
  // The GPU first scales x to turns, where the smallest arguments vanish.
  approximate(
      [](double x) { return std::fabs(x) / (2 * std::numbers::pi) < 0x1p-126 ? std::copysign(0.0, x) : std::sin(x); });
}
void Executor::Cos() {
  approximate([](double x) { return std::cos(x); });
}
void Executor::Lg2() {
  approximate([](double x) { return std::log2(x); });
}
void Executor::Ex2() {
  approximate([](double x) { return std::exp2(x); });
}
void Executor::Tanh() {
  approximate([](double x) { return std::tanh(x); });
}

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
  switch (instruction->mods[ModifierKind::TestOp]) {
    case mod<ModifierKind::TestOp>("finite").value: return writePredicate(0, finite);
    case mod<ModifierKind::TestOp>("infinite").value: return writePredicate(0, isInfinite(a, f));
    case mod<ModifierKind::TestOp>("number").value: return writePredicate(0, !isNan(a, f));
    case mod<ModifierKind::TestOp>("notanumber").value: return writePredicate(0, isNan(a, f));
    case mod<ModifierKind::TestOp>("normal").value: return writePredicate(0, finite && !isSubnormal(a, f));
    default: return writePredicate(0, isSubnormal(a, f));
  }
}

}  // namespace ordito::interp
