// PTX ISA, "Data Movement and Conversion Instructions": cvt.
#include <cmath>

#include "jit/pure_chapters.hpp"

namespace ordito::jit {

using isa::ModifierKind;
using isa::Type;
using Results = PureResults;

LlvmValue Conversion::saturateInteger(LlvmValue v, Type from, Type to) {
  const unsigned bits = isa::bits(to);
  auto limit = [&](uint64_t n) { return number(from, n); };
  const uint64_t highest = isa::isSigned(to) ? (uint64_t{1} << (bits - 1)) - 1
                           : bits == 64      ? ~uint64_t{0}
                                             : (uint64_t{1} << bits) - 1;
  const int64_t lowest = isa::isSigned(to) ? -static_cast<int64_t>(highest) - 1 : 0;
  const bool sourceReaches =
      isa::bits(from) > bits || (isa::bits(from) == bits && !isa::isSigned(from) && isa::isSigned(to));
  if (isa::isSigned(from)) {
    if (isa::bits(from) > bits || !isa::isSigned(to))
      v = intrinsic(llvm::Intrinsic::smax, {v, limit(static_cast<uint64_t>(lowest))});
    if (isa::bits(from) > bits) v = intrinsic(llvm::Intrinsic::smin, {v, limit(highest)});
  } else if (sourceReaches) {
    v = intrinsic(llvm::Intrinsic::umin, {v, limit(highest)});
  }
  return v;
}

LlvmValue Conversion::roundToIntegral(LlvmValue v) {
  const auto mode = i.mods.name(ModifierKind::IntegerRounding);
  const auto id = mode == "rmi"   ? llvm::Intrinsic::floor
                  : mode == "rpi" ? llvm::Intrinsic::ceil
                  : mode == "rzi" ? llvm::Intrinsic::trunc
                                  : llvm::Intrinsic::roundeven;
  return intrinsic(id, {v});
}

/// Out-of-range values saturate. A NaN becomes 0, but the number with only the top bit set where f64 or 64-bit integers
/// are concerned. `v` has no fraction. (LLVM's saturating conversion of vectors goes lane by lane, 37 ns for a warp.)
LlvmValue Conversion::convertFloatToInt(LlvmValue v, Type from, Type to) {
  const bool hasSign = isa::isSigned(to);
  const int bits = static_cast<int>(isa::bits(to)), precision = from == Type::f64 ? 53 : 24, magnitude = bits - hasSign;
  const uint64_t top = uint64_t{1} << (bits - 1), lowest = hasSign ? top : 0;
  const uint64_t nan = from == Type::f64 || bits == 64 ? top : 0;
  const double beyond = std::ldexp(1.0, magnitude);  // the least number that is too large
  const double largest = beyond - std::ldexp(1.0, std::max(0, magnitude - precision));
  LlvmValue low = real(v, hasSign ? -beyond : 0), high = real(v, largest);
  LlvmValue inside = b.CreateSelect(b.CreateFCmpOGT(v, low), v, low);  // where a NaN is, too
  inside = b.CreateSelect(b.CreateFCmpOLT(inside, high), inside, high);
  llvm::Type* made = type(bits < 32 ? Type::u32 : to);
  LlvmValue result = b.CreateTrunc(hasSign ? b.CreateFPToSI(inside, made) : b.CreateFPToUI(inside, made), type(to));
  if (magnitude > precision)
    result = b.CreateSelect(b.CreateFCmpOGE(v, real(v, beyond)), number(to, hasSign ? top - 1 : ~uint64_t{0}), result);
  return nan == lowest ? result : b.CreateSelect(b.CreateFCmpUNO(v, v), number(to, nan), result);
}

/// A 64-bit integer as two f64 whose sum it is.
std::pair<LlvmValue, LlvmValue> Conversion::halvesAsDouble(LlvmValue v, Type from) {
  llvm::Type* wide = type(Type::f64);
  LlvmValue high =
      isa::isSigned(from) ? b.CreateSIToFP(b.CreateAShr(v, 32), wide) : b.CreateUIToFP(b.CreateLShr(v, 32), wide);
  return {b.CreateFMul(high, llvm::ConstantFP::get(wide, 0x1p32)),
          b.CreateUIToFP(b.CreateAnd(v, number(Type::u64, UINT32_MAX)), wide)};
}

/// An integer as f64, rounded to odd: rounding that again to a narrower format is exact.
LlvmValue Conversion::toOddDouble(LlvmValue v, Type from) {
  if (isa::bits(from) < 64)
    return isa::isSigned(from) ? b.CreateSIToFP(v, type(Type::f64)) : b.CreateUIToFP(v, type(Type::f64));
  const auto [high, low] = halvesAsDouble(v, from);
  return addToOdd(high, low);
}

LlvmValue Conversion::convertIntToFloat(LlvmValue v, Type from, Type to) {
  if (to == Type::f16 || to == Type::bf16) return toOddDouble(v, from);
  if (!isNearest()) {
    if (to == Type::f32) return narrowDirected(toOddDouble(v, from), to);
    // Both halves of 64 bits are exact, and fewer bits in all.
    if (isa::bits(from) == 64) {
      const auto [high, low] = halvesAsDouble(v, from);
      return directed("add", {high, low}, to);
    }
  }
  return isa::isSigned(from) ? b.CreateSIToFP(v, type(to)) : b.CreateUIToFP(v, type(to));
}

/// .satfinite on f16 or bf16 bits: an infinity becomes the largest number.
LlvmValue Conversion::finiteHalf(LlvmValue bits, Type t) {
  if (i.mods.name(ModifierKind::Saturate) != "satfinite") return bits;
  const uint64_t infinity = t == Type::f16 ? 0x7C00 : 0x7F80;
  LlvmValue isInfinite = b.CreateICmpEQ(b.CreateAnd(bits, number(Type::u16, 0x7FFF)), number(Type::u16, infinity));
  return b.CreateSelect(isInfinite, b.CreateSub(bits, number(Type::u16, 1)), bits);
}

LlvmValue Conversion::convertFloatToFloat(LlvmValue v, Type to) {
  const unsigned have = v->getType()->getScalarSizeInBits(), want = isa::bits(to);
  if (have == want) return v;
  if (have < want) return b.CreateFPExt(v, type(to));
  auto narrow = [&](LlvmValue x) -> LlvmValue {
    return isNearest() ? b.CreateFPTrunc(x, type(to)) : narrowDirected(x, to);
  };
  return flushTiny(narrow(v), [&] { return narrow(scaleUp(v)); });
}

/// f32 with the mantissa cut to 10 bits, in the upper bits of the word; with .rna a NaN keeps its payload there.
LlvmValue Conversion::convertToTf32() {
  const auto mode = i.mods.name(ModifierKind::Rounding);
  auto word = [&](uint64_t n) { return number(Type::u32, n); };
  LlvmValue bits = in(1, Type::u32), magnitude = b.CreateAnd(bits, word(0x7FFFFFFF));
  LlvmValue isNan = b.CreateICmpUGT(magnitude, word(0x7F800000));
  LlvmValue add = mode == "rz"   ? word(0)
                  : mode == "rn" ? b.CreateAdd(b.CreateAnd(b.CreateLShr(bits, 13), word(1)), word(0xFFF))
                                 : word(0x1000);
  LlvmValue nan = mode == "rna" ? bits : word(0x7FFFFFFF);
  LlvmValue result = b.CreateAnd(b.CreateSelect(isNan, nan, b.CreateAdd(bits, add)), word(0xFFFFE000));
  if (i.has(ModifierKind::Relu))
    result = b.CreateSelect(b.CreateAnd(b.CreateNot(isNan), b.CreateICmpSLT(bits, word(0))), word(0), result);
  if (i.mods.name(ModifierKind::Saturate) == "satfinite") {
    LlvmValue isInfinite = b.CreateICmpEQ(b.CreateAnd(result, word(0x7FFFFFFF)), word(0x7F800000));
    result = b.CreateSelect(isInfinite, b.CreateSub(result, word(0x2000)), result);
  }
  return result;
}

/// GPUs ignore .ftz on the way to f16.
bool Conversion::flushes(Type to) const { return i.has(ModifierKind::Flush) && to != Type::f16; }

Results Conversion::Cvt() {
  const Type to = i.type[0], from = i.type[1];
  if (to == Type::tf32) return {convertToTf32()};
  if (NanPlan::onlyMoves(i)) return {passIn(1)};
  const bool toHalf = to == Type::f16 || to == Type::bf16;
  // Between f32 and f64 a NaN keeps its payload, unless .ftz makes it canonical.
  LlvmValue v = from == Type::f32 && to == Type::f64 ? b.CreateBitCast(in(1, Type::u32), type(from)) : in(1, from);
  if (from == Type::f32 && to == Type::f64 && flushes(to))
    v = b.CreateSelect(b.CreateFCmpUNO(v, v), b.CreateBitCast(number(Type::u32, 0x7FFFFFFF), type(from)), v);
  if (!isa::isFloat(from)) {
    if (isa::isFloat(to)) {
      v = clamp(convertIntToFloat(v, from, to));
      return {toHalf ? b.CreateBitCast(halfBits(v, to), type(to)) : v};
    }
    if (i.has(ModifierKind::Saturate)) v = saturateInteger(v, from, to);
    return {isa::isSigned(from) ? b.CreateSExtOrTrunc(v, type(to)) : b.CreateZExtOrTrunc(v, type(to))};
  }
  if (isa::bits(from) == 16) v = widenHalf(in(1, Type::u16), from);
  if (from == Type::f32 && flushes(to)) v = flush(v, from);
  if (!isa::isFloat(to)) return {convertFloatToInt(roundToIntegral(v), from, to)};
  if (i.has(ModifierKind::IntegerRounding)) v = roundToIntegral(v);
  if (toHalf) return {b.CreateBitCast(finiteHalf(halfBits(clamp(v), to), to), type(to))};
  v = convertFloatToFloat(v, to);
  return {clamp(to == Type::f32 ? flush(v, to) : v)};
}

/// Two f32 into one packed register: a above, b below.
Results Conversion::CvtPack() {
  const Type element = isa::element(i.type[0]);
  auto half = [&](size_t k) {
    return b.CreateZExt(finiteHalf(halfBits(clamp(in(k, Type::f32)), element), element), type(Type::u32));
  };
  return {b.CreateOr(b.CreateShl(half(1), 16), half(2))};
}

namespace {

/// A format of 8, 6 or 4 bits. What has no NaN makes the largest number of it.
struct SmallFloat {
  unsigned bits, mantissa, bias;
  double largest;
  bool hasNan;
};

SmallFloat smallFloat(Type t) {
  switch (t) {
    case Type::e4m3x2: return {8, 3, 7, 448, true};
    case Type::e5m2x2: return {8, 2, 15, 57344, true};
    case Type::e2m3x2: return {6, 3, 1, 7.5, false};
    case Type::e3m2x2: return {6, 2, 3, 28, false};
    default: return {4, 1, 1, 6, false};
  }
}

}  // namespace

/// An f32 in the format of the result: by integer rounding of the bits where the result is normal, by a multiplication
/// where it is not. What is too large becomes the largest number.
LlvmValue Conversion::toFloat8(LlvmValue v) {
  const SmallFloat f = smallFloat(i.type[0]);
  const unsigned cut = 23 - f.mantissa;
  const uint64_t signBit = uint64_t{1} << (f.bits - 1);
  auto word = [&](uint64_t n) { return number(Type::u32, n); };
  LlvmValue bits = b.CreateBitCast(v, type(Type::u32)), size = intrinsic(llvm::Intrinsic::fabs, {v});
  LlvmValue limited = intrinsic(llvm::Intrinsic::minnum, {size, real(size, f.largest)});
  LlvmValue raw = b.CreateBitCast(limited, type(Type::u32));
  LlvmValue odd = b.CreateAnd(b.CreateLShr(raw, cut), word(1));
  LlvmValue rounded = b.CreateLShr(b.CreateAdd(raw, b.CreateAdd(odd, word((1u << (cut - 1)) - 1))), cut);
  LlvmValue normal = b.CreateSub(rounded, word(uint64_t{127 - f.bias} << f.mantissa));
  LlvmValue units = b.CreateFMul(limited, real(limited, std::ldexp(1.0, int(f.mantissa + f.bias) - 1)));
  LlvmValue subnormal = b.CreateFPToUI(intrinsic(llvm::Intrinsic::roundeven, {units}), type(Type::u32));
  LlvmValue isTiny = b.CreateFCmpOLT(limited, real(limited, std::ldexp(1.0, 1 - int(f.bias))));
  LlvmValue magnitude = b.CreateSelect(isTiny, subnormal, normal);
  LlvmValue negative = b.CreateICmpSLT(bits, word(0));
  LlvmValue result = i.has(ModifierKind::Relu)
                         ? b.CreateSelect(negative, word(0), magnitude)
                         : b.CreateOr(magnitude, b.CreateSelect(negative, word(signBit), word(0)));
  return b.CreateSelect(b.CreateFCmpUNO(v, v), word(signBit - 1), result);
}

/// A small float in the low bits of a word as the bits of an f16. e5m2 is its upper half; the others at the place of
/// its fields are too small by the difference of the biases.
LlvmValue Conversion::fromFloat8(LlvmValue byte) {
  const SmallFloat f = smallFloat(i.type[1]);
  const bool isHalf = i.type[1] == Type::e5m2x2;
  const uint64_t signBit = uint64_t{1} << (f.bits - 1);
  auto word = [&](uint64_t n) { return number(Type::u32, n); };
  LlvmValue magnitude = b.CreateAnd(byte, word(signBit - 1)), bits;
  LlvmValue sign = b.CreateShl(b.CreateAnd(byte, word(signBit)), 16 - f.bits);
  if (isHalf) {
    bits = b.CreateOr(sign, b.CreateShl(magnitude, 8));
  } else {
    LlvmValue small = widenHalf(b.CreateTrunc(b.CreateShl(magnitude, 10 - f.mantissa), type(Type::u16)), Type::f16);
    LlvmValue scaled = b.CreateFMul(small, real(small, std::ldexp(1.0, 15 - int(f.bias))));
    LlvmValue half = b.CreateFPTrunc(scaled, type(Type::f16));
    bits = b.CreateOr(sign, b.CreateZExt(b.CreateBitCast(half, type(Type::u16)), type(Type::u32)));
  }
  if (i.has(ModifierKind::Relu)) bits = b.CreateSelect(b.CreateICmpNE(sign, word(0)), word(0), bits);
  if (!f.hasNan) return bits;
  LlvmValue isNan = isHalf ? b.CreateICmpUGT(magnitude, word(0x7C)) : b.CreateICmpEQ(magnitude, word(0x7F));
  return b.CreateSelect(isNan, word(0x7FFF), bits);
}

Results Conversion::packSmall() {
  const unsigned width = isa::bits(i.type[0]) / 2;
  LlvmValue both = b.CreateOr(b.CreateShl(toFloat8(in(1, Type::f32)), width), toFloat8(in(2, Type::f32)));
  return {b.CreateTrunc(both, type(width == 4 ? Type::u8 : Type::u16))};
}

Results Conversion::CvtPairToFloat8() {
  LlvmValue both = b.CreateOr(b.CreateShl(toFloat8(halfIn(1, Type::f16x2, 1)), 8), toFloat8(halfIn(1, Type::f16x2, 0)));
  return {b.CreateTrunc(both, type(Type::u16))};
}

Results Conversion::unpackSmall() {
  const unsigned width = isa::bits(i.type[1]) / 2;
  LlvmValue both = b.CreateZExt(in(1, width == 4 ? Type::u8 : Type::u16), type(Type::u32));
  LlvmValue mask = number(Type::u32, (uint64_t{1} << width) - 1);
  LlvmValue low = fromFloat8(b.CreateAnd(both, mask)), high = fromFloat8(b.CreateLShr(both, width));
  return {b.CreateOr(b.CreateShl(high, 16), low)};
}

Results Conversion::CvtToFloat8() { return packSmall(); }
Results Conversion::CvtToFloat6() { return packSmall(); }
Results Conversion::CvtFromFloat8() { return unpackSmall(); }
Results Conversion::CvtFromFloat6() { return unpackSmall(); }

/// The biased exponent of an f32's bits; with .rp the next one if something lies above the power of two, which for the
/// least, 2^-127, is a subnormal number.
LlvmValue Conversion::toScale(LlvmValue bits) {
  auto word = [&](uint64_t n) { return number(Type::u32, n); };
  LlvmValue magnitude = b.CreateAnd(bits, word(0x7FFFFFFF)), scale = b.CreateLShr(magnitude, 23);
  if (i.is(isa::mod<ModifierKind::Rounding>("rp"))) {
    LlvmValue mantissa = b.CreateAnd(magnitude, word(0x7FFFFF));
    LlvmValue least = b.CreateSelect(b.CreateICmpEQ(scale, word(0)), word(0x400000), word(0));
    LlvmValue isUp = b.CreateAnd(b.CreateICmpUGT(mantissa, least), b.CreateICmpNE(scale, word(255)));
    scale = b.CreateAdd(scale, b.CreateZExt(isUp, type(Type::u32)));
  }
  if (i.has(ModifierKind::Saturate)) scale = intrinsic(llvm::Intrinsic::umin, {scale, word(254)});
  return b.CreateSelect(b.CreateICmpUGT(magnitude, word(0x7F800000)), word(255), scale);
}

Results Conversion::CvtToScale() {
  auto scale = [&](size_t k) { return toScale(b.CreateBitCast(in(k, Type::f32), type(Type::u32))); };
  return {b.CreateTrunc(b.CreateOr(b.CreateShl(scale(1), 8), scale(2)), type(Type::u16))};
}

/// A bf16 is the upper half of an f32.
Results Conversion::CvtPairToScale() {
  LlvmValue pair = in(1, Type::u32);
  LlvmValue high = toScale(b.CreateAnd(pair, number(Type::u32, 0xFFFF0000))), low = toScale(b.CreateShl(pair, 16));
  return {b.CreateTrunc(b.CreateOr(b.CreateShl(high, 8), low), type(Type::u16))};
}

Results Conversion::CvtFromScale() {
  auto word = [&](uint64_t n) { return number(Type::u32, n); };
  LlvmValue pair = b.CreateZExt(in(1, Type::u16), type(Type::u32));
  auto bfloat = [&](LlvmValue scale) {
    LlvmValue bits = b.CreateSelect(b.CreateICmpEQ(scale, word(0)), word(0x40), b.CreateShl(scale, 7));
    return b.CreateSelect(b.CreateICmpEQ(scale, word(255)), word(0x7FFF), bits);
  };
  return {b.CreateOr(b.CreateShl(bfloat(b.CreateLShr(pair, 8)), 16), bfloat(b.CreateAnd(pair, word(0xFF))))};
}

/// Both numbers clamped, a above b, and above them what c has below.
Results Conversion::packIntegers(bool hasC) {
  const unsigned width = isa::bits(i.type[0]);
  auto field = [&](size_t k) {
    LlvmValue v = clampTo(in(k, Type::s32), width, isSigned());
    return b.CreateAnd(v, number(Type::u32, (uint64_t{1} << width) - 1));
  };
  LlvmValue both = b.CreateOr(b.CreateShl(field(1), width), field(2));
  return {hasC ? b.CreateOr(both, b.CreateShl(in(3, Type::u32), 2 * width)) : both};
}

Results Conversion::CvtPackInteger() { return packIntegers(false); }
Results Conversion::CvtPackNarrow() { return packIntegers(true); }

// A cache policy is a number that loads and stores ignore.

}  // namespace ordito::jit
