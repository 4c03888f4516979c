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
  const auto mode = i_.mods.name(ModifierKind::IntegerRounding);
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
  LlvmValue inside = b_.CreateSelect(b_.CreateFCmpOGT(v, low), v, low);  // where a NaN is, too
  inside = b_.CreateSelect(b_.CreateFCmpOLT(inside, high), inside, high);
  llvm::Type* made = type(bits < 32 ? Type::u32 : to);
  LlvmValue result = b_.CreateTrunc(hasSign ? b_.CreateFPToSI(inside, made) : b_.CreateFPToUI(inside, made), type(to));
  if (magnitude > precision)
    result =
        b_.CreateSelect(b_.CreateFCmpOGE(v, real(v, beyond)), number(to, hasSign ? top - 1 : ~uint64_t{0}), result);
  return nan == lowest ? result : b_.CreateSelect(b_.CreateFCmpUNO(v, v), number(to, nan), result);
}

/// A 64-bit integer as two f64 whose sum it is.
std::pair<LlvmValue, LlvmValue> Conversion::halvesAsDouble(LlvmValue v, Type from) {
  llvm::Type* wide = type(Type::f64);
  LlvmValue high =
      isa::isSigned(from) ? b_.CreateSIToFP(b_.CreateAShr(v, 32), wide) : b_.CreateUIToFP(b_.CreateLShr(v, 32), wide);
  return {b_.CreateFMul(high, llvm::ConstantFP::get(wide, 0x1p32)),
          b_.CreateUIToFP(b_.CreateAnd(v, number(Type::u64, UINT32_MAX)), wide)};
}

/// An integer as f64, rounded to odd: rounding that again to a narrower format is exact.
LlvmValue Conversion::toOddDouble(LlvmValue v, Type from) {
  if (isa::bits(from) < 64)
    return isa::isSigned(from) ? b_.CreateSIToFP(v, type(Type::f64)) : b_.CreateUIToFP(v, type(Type::f64));
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
  return isa::isSigned(from) ? b_.CreateSIToFP(v, type(to)) : b_.CreateUIToFP(v, type(to));
}

/// .satfinite on f16 or bf16 bits: an infinity becomes the largest number.
LlvmValue Conversion::finiteHalf(LlvmValue bits, Type t) {
  if (i_.mods.name(ModifierKind::Saturate) != "satfinite") return bits;
  const uint64_t infinity = t == Type::f16 ? 0x7C00 : 0x7F80;
  LlvmValue isInfinite = b_.CreateICmpEQ(b_.CreateAnd(bits, number(Type::u16, 0x7FFF)), number(Type::u16, infinity));
  return b_.CreateSelect(isInfinite, b_.CreateSub(bits, number(Type::u16, 1)), bits);
}

LlvmValue Conversion::convertFloatToFloat(LlvmValue v, Type to) {
  const unsigned have = v->getType()->getScalarSizeInBits(), want = isa::bits(to);
  if (have == want) return v;
  if (have < want) return b_.CreateFPExt(v, type(to));
  auto narrow = [&](LlvmValue x) -> LlvmValue {
    return isNearest() ? b_.CreateFPTrunc(x, type(to)) : narrowDirected(x, to);
  };
  return flushTiny(narrow(v), [&] { return narrow(scaleUp(v)); });
}

/// f32 with the mantissa cut to 10 bits, in the upper bits of the word; with .rna a NaN keeps its payload there.
LlvmValue Conversion::convertToTf32() {
  const auto mode = i_.mods.name(ModifierKind::Rounding);
  auto word = [&](uint64_t n) { return number(Type::u32, n); };
  LlvmValue bits = in(1, Type::u32), magnitude = b_.CreateAnd(bits, word(0x7FFFFFFF));
  LlvmValue isNan = b_.CreateICmpUGT(magnitude, word(0x7F800000));
  LlvmValue add = mode == "rz"   ? word(0)
                  : mode == "rn" ? b_.CreateAdd(b_.CreateAnd(b_.CreateLShr(bits, 13), word(1)), word(0xFFF))
                                 : word(0x1000);
  LlvmValue nan = mode == "rna" ? bits : word(0x7FFFFFFF);
  LlvmValue result = b_.CreateAnd(b_.CreateSelect(isNan, nan, b_.CreateAdd(bits, add)), word(0xFFFFE000));
  if (i_.has(ModifierKind::Relu))
    result = b_.CreateSelect(b_.CreateAnd(b_.CreateNot(isNan), b_.CreateICmpSLT(bits, word(0))), word(0), result);
  if (i_.mods.name(ModifierKind::Saturate) == "satfinite") {
    LlvmValue isInfinite = b_.CreateICmpEQ(b_.CreateAnd(result, word(0x7FFFFFFF)), word(0x7F800000));
    result = b_.CreateSelect(isInfinite, b_.CreateSub(result, word(0x2000)), result);
  }
  return result;
}

/// GPUs ignore .ftz on the way to f16.
bool Conversion::flushes(Type to) const { return i_.has(ModifierKind::Flush) && to != Type::f16; }

Results Conversion::Cvt() {
  const Type to = i_.type[0], from = i_.type[1];
  if (to == Type::tf32) return {convertToTf32()};
  if (NanPlan::onlyMoves(i_)) return {passIn(1)};
  const bool toHalf = to == Type::f16 || to == Type::bf16;
  // Between f32 and f64 a NaN keeps its payload, unless .ftz makes it canonical.
  LlvmValue v = from == Type::f32 && to == Type::f64 ? b_.CreateBitCast(in(1, Type::u32), type(from)) : in(1, from);
  if (from == Type::f32 && to == Type::f64 && flushes(to))
    v = b_.CreateSelect(b_.CreateFCmpUNO(v, v), b_.CreateBitCast(number(Type::u32, 0x7FFFFFFF), type(from)), v);
  if (!isa::isFloat(from)) {
    if (isa::isFloat(to)) {
      v = clamp(convertIntToFloat(v, from, to));
      return {toHalf ? b_.CreateBitCast(halfBits(v, to), type(to)) : v};
    }
    if (i_.has(ModifierKind::Saturate)) v = saturateInteger(v, from, to);
    return {isa::isSigned(from) ? b_.CreateSExtOrTrunc(v, type(to)) : b_.CreateZExtOrTrunc(v, type(to))};
  }
  if (isa::bits(from) == 16) v = widenHalf(in(1, Type::u16), from);
  if (from == Type::f32 && flushes(to)) v = flush(v, from);
  if (!isa::isFloat(to)) return {convertFloatToInt(roundToIntegral(v), from, to)};
  if (i_.has(ModifierKind::IntegerRounding)) v = roundToIntegral(v);
  if (toHalf) return {b_.CreateBitCast(finiteHalf(halfBits(clamp(v), to), to), type(to))};
  v = convertFloatToFloat(v, to);
  return {clamp(to == Type::f32 ? flush(v, to) : v)};
}

/// Two f32 into one packed register: a above, b below.
Results Conversion::CvtPack() {
  const Type element = isa::element(i_.type[0]);
  auto half = [&](size_t k) {
    return b_.CreateZExt(finiteHalf(halfBits(clamp(in(k, Type::f32)), element), element), type(Type::u32));
  };
  return {b_.CreateOr(b_.CreateShl(half(1), 16), half(2))};
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
  const SmallFloat f = smallFloat(i_.type[0]);
  const unsigned cut = 23 - f.mantissa;
  const uint64_t signBit = uint64_t{1} << (f.bits - 1);
  auto word = [&](uint64_t n) { return number(Type::u32, n); };
  LlvmValue bits = b_.CreateBitCast(v, type(Type::u32)), size = intrinsic(llvm::Intrinsic::fabs, {v});
  LlvmValue limited = intrinsic(llvm::Intrinsic::minnum, {size, real(size, f.largest)});
  LlvmValue raw = b_.CreateBitCast(limited, type(Type::u32));
  LlvmValue odd = b_.CreateAnd(b_.CreateLShr(raw, cut), word(1));
  LlvmValue rounded = b_.CreateLShr(b_.CreateAdd(raw, b_.CreateAdd(odd, word((1u << (cut - 1)) - 1))), cut);
  LlvmValue normal = b_.CreateSub(rounded, word(uint64_t{127 - f.bias} << f.mantissa));
  LlvmValue units = b_.CreateFMul(limited, real(limited, std::ldexp(1.0, int(f.mantissa + f.bias) - 1)));
  LlvmValue subnormal = b_.CreateFPToUI(intrinsic(llvm::Intrinsic::roundeven, {units}), type(Type::u32));
  LlvmValue isTiny = b_.CreateFCmpOLT(limited, real(limited, std::ldexp(1.0, 1 - int(f.bias))));
  LlvmValue magnitude = b_.CreateSelect(isTiny, subnormal, normal);
  LlvmValue negative = b_.CreateICmpSLT(bits, word(0));
  LlvmValue result = i_.has(ModifierKind::Relu)
                         ? b_.CreateSelect(negative, word(0), magnitude)
                         : b_.CreateOr(magnitude, b_.CreateSelect(negative, word(signBit), word(0)));
  return b_.CreateSelect(b_.CreateFCmpUNO(v, v), word(signBit - 1), result);
}

/// A small float in the low bits of a word as the bits of an f16. e5m2 is its upper half; the others at the place of
/// its fields are too small by the difference of the biases.
LlvmValue Conversion::fromFloat8(LlvmValue byte) {
  const SmallFloat f = smallFloat(i_.type[1]);
  const bool isHalf = i_.type[1] == Type::e5m2x2;
  const uint64_t signBit = uint64_t{1} << (f.bits - 1);
  auto word = [&](uint64_t n) { return number(Type::u32, n); };
  LlvmValue magnitude = b_.CreateAnd(byte, word(signBit - 1)), bits;
  LlvmValue sign = b_.CreateShl(b_.CreateAnd(byte, word(signBit)), 16 - f.bits);
  if (isHalf) {
    bits = b_.CreateOr(sign, b_.CreateShl(magnitude, 8));
  } else {
    LlvmValue small = widenHalf(b_.CreateTrunc(b_.CreateShl(magnitude, 10 - f.mantissa), type(Type::u16)), Type::f16);
    LlvmValue scaled = b_.CreateFMul(small, real(small, std::ldexp(1.0, 15 - int(f.bias))));
    LlvmValue half = b_.CreateFPTrunc(scaled, type(Type::f16));
    bits = b_.CreateOr(sign, b_.CreateZExt(b_.CreateBitCast(half, type(Type::u16)), type(Type::u32)));
  }
  if (i_.has(ModifierKind::Relu)) bits = b_.CreateSelect(b_.CreateICmpNE(sign, word(0)), word(0), bits);
  if (!f.hasNan) return bits;
  LlvmValue isNan = isHalf ? b_.CreateICmpUGT(magnitude, word(0x7C)) : b_.CreateICmpEQ(magnitude, word(0x7F));
  return b_.CreateSelect(isNan, word(0x7FFF), bits);
}

Results Conversion::packSmall() {
  const unsigned width = isa::bits(i_.type[0]) / 2;
  LlvmValue both = b_.CreateOr(b_.CreateShl(toFloat8(in(1, Type::f32)), width), toFloat8(in(2, Type::f32)));
  return {b_.CreateTrunc(both, type(width == 4 ? Type::u8 : Type::u16))};
}

Results Conversion::CvtPairToFloat8() {
  LlvmValue both =
      b_.CreateOr(b_.CreateShl(toFloat8(halfIn(1, Type::f16x2, 1)), 8), toFloat8(halfIn(1, Type::f16x2, 0)));
  return {b_.CreateTrunc(both, type(Type::u16))};
}

Results Conversion::unpackSmall() {
  const unsigned width = isa::bits(i_.type[1]) / 2;
  LlvmValue both = b_.CreateZExt(in(1, width == 4 ? Type::u8 : Type::u16), type(Type::u32));
  LlvmValue mask = number(Type::u32, (uint64_t{1} << width) - 1);
  LlvmValue low = fromFloat8(b_.CreateAnd(both, mask)), high = fromFloat8(b_.CreateLShr(both, width));
  return {b_.CreateOr(b_.CreateShl(high, 16), low)};
}

Results Conversion::CvtToFloat8() { return packSmall(); }
Results Conversion::CvtToFloat6() { return packSmall(); }
Results Conversion::CvtFromFloat8() { return unpackSmall(); }
Results Conversion::CvtFromFloat6() { return unpackSmall(); }

/// The biased exponent of an f32's bits; with .rp the next one if something lies above the power of two, which for the
/// least, 2^-127, is a subnormal number.
LlvmValue Conversion::toScale(LlvmValue bits) {
  auto word = [&](uint64_t n) { return number(Type::u32, n); };
  LlvmValue magnitude = b_.CreateAnd(bits, word(0x7FFFFFFF)), scale = b_.CreateLShr(magnitude, 23);
  if (i_.is(isa::mod<ModifierKind::Rounding>("rp"))) {
    LlvmValue mantissa = b_.CreateAnd(magnitude, word(0x7FFFFF));
    LlvmValue least = b_.CreateSelect(b_.CreateICmpEQ(scale, word(0)), word(0x400000), word(0));
    LlvmValue isUp = b_.CreateAnd(b_.CreateICmpUGT(mantissa, least), b_.CreateICmpNE(scale, word(255)));
    scale = b_.CreateAdd(scale, b_.CreateZExt(isUp, type(Type::u32)));
  }
  if (i_.has(ModifierKind::Saturate)) scale = intrinsic(llvm::Intrinsic::umin, {scale, word(254)});
  return b_.CreateSelect(b_.CreateICmpUGT(magnitude, word(0x7F800000)), word(255), scale);
}

Results Conversion::CvtToScale() {
  auto scale = [&](size_t k) { return toScale(b_.CreateBitCast(in(k, Type::f32), type(Type::u32))); };
  return {b_.CreateTrunc(b_.CreateOr(b_.CreateShl(scale(1), 8), scale(2)), type(Type::u16))};
}

/// A bf16 is the upper half of an f32.
Results Conversion::CvtPairToScale() {
  LlvmValue pair = in(1, Type::u32);
  LlvmValue high = toScale(b_.CreateAnd(pair, number(Type::u32, 0xFFFF0000))), low = toScale(b_.CreateShl(pair, 16));
  return {b_.CreateTrunc(b_.CreateOr(b_.CreateShl(high, 8), low), type(Type::u16))};
}

Results Conversion::CvtFromScale() {
  auto word = [&](uint64_t n) { return number(Type::u32, n); };
  LlvmValue pair = b_.CreateZExt(in(1, Type::u16), type(Type::u32));
  auto bfloat = [&](LlvmValue scale) {
    LlvmValue bits = b_.CreateSelect(b_.CreateICmpEQ(scale, word(0)), word(0x40), b_.CreateShl(scale, 7));
    return b_.CreateSelect(b_.CreateICmpEQ(scale, word(255)), word(0x7FFF), bits);
  };
  return {b_.CreateOr(b_.CreateShl(bfloat(b_.CreateLShr(pair, 8)), 16), bfloat(b_.CreateAnd(pair, word(0xFF))))};
}

/// Both numbers clamped, a above b, and above them what c has below.
Results Conversion::packIntegers(bool hasC) {
  const unsigned width = isa::bits(i_.type[0]);
  auto field = [&](size_t k) {
    LlvmValue v = clampTo(in(k, Type::s32), width, isSigned());
    return b_.CreateAnd(v, number(Type::u32, (uint64_t{1} << width) - 1));
  };
  LlvmValue both = b_.CreateOr(b_.CreateShl(field(1), width), field(2));
  return {hasC ? b_.CreateOr(both, b_.CreateShl(in(3, Type::u32), 2 * width)) : both};
}

Results Conversion::CvtPackInteger() { return packIntegers(false); }
Results Conversion::CvtPackNarrow() { return packIntegers(true); }

// A cache policy is a number that loads and stores ignore.

}  // namespace ordito::jit
