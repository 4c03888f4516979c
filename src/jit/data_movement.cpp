// PTX ISA, "Data Movement and Conversion Instructions": those that do not touch memory.
#include "jit/lower.hpp"

namespace ordito::jit {

using isa::ModifierKind;
using isa::Type;
using Results = Lower::Results;
using Kind = ptx::Operand::Kind;

/// mov also packs {a, b, …} into one register and unpacks it.
Results Lower::Mov() {
  const Type t = i.type[0];
  const auto& to = i.operands[0];
  const auto& from = i.operands[1];
  if (to.kind == Kind::Vector) {
    if (to.elements.size() > 3) e.refuse(i, "mov into more than three registers is not supported by the JIT");
    LlvmValue whole = in(1, unsignedOf(isa::bits(t)));
    const unsigned width = isa::bits(t) / static_cast<unsigned>(to.elements.size());
    Results r{};
    for (unsigned k = 0; k < to.elements.size(); ++k) r[k] = b.CreateTrunc(b.CreateLShr(whole, uint64_t{k} * width), type(unsignedOf(width)));
    return r;
  }
  if (from.kind == Kind::Vector) {
    const unsigned width = isa::bits(t) / static_cast<unsigned>(from.elements.size());
    LlvmValue whole = number(t, 0);
    whole = b.CreateBitCast(whole, type(unsignedOf(isa::bits(t))));
    for (unsigned k = 0; k < from.elements.size(); ++k) {
      LlvmValue part = b.CreateZExt(e.operand(from.elements[k], unsignedOf(width), s), whole->getType());
      whole = b.CreateOr(whole, b.CreateShl(part, uint64_t{k} * width));
    }
    return {whole};
  }
  return {in(1)};
}

/// Generic addresses are host addresses. A shared address is an offset into the block's window.
Results Lower::Cvta() {
  const Type t = i.type[0];
  const auto space = i.mods.name(ModifierKind::Space);
  LlvmValue a = in(1);
  if (space == "local") return {e.localGeneric(a, i, s)};
  if (!space.starts_with("shared")) return {a};
  LlvmValue window = e.convertScalar(e.sharedBase(), t, s);
  return {i.has(ModifierKind::To) ? b.CreateSub(a, window) : b.CreateAdd(a, window)};
}

Results Lower::Isspacep() {
  const auto space = i.mods.name(ModifierKind::Space);
  LlvmValue a = in(1, Type::u64);
  LlvmValue inShared = b.CreateICmpULT(b.CreateSub(a, e.convertScalar(e.sharedBase(), Type::u64, s)), number(Type::u64, uint64_t{1} << 31));
  if (space.starts_with("shared")) return {inShared};
  LlvmValue inLocal = e.isLocalAddress(a, s);
  if (space == "local") return {inLocal};
  if (space == "global") return {b.CreateNot(b.CreateOr(inShared, inLocal))};
  e.refuse(i, "isspacep of this space is not supported by the JIT");
}

LlvmValue Lower::saturateInteger(LlvmValue v, Type from, Type to) {
  const unsigned bits = isa::bits(to);
  auto limit = [&](uint64_t n) { return number(from, n); };
  const uint64_t highest = isa::isSigned(to) ? (uint64_t{1} << (bits - 1)) - 1 : bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  const int64_t lowest = isa::isSigned(to) ? -static_cast<int64_t>(highest) - 1 : 0;
  const bool sourceReaches = isa::bits(from) > bits || (isa::bits(from) == bits && !isa::isSigned(from) && isa::isSigned(to));
  if (isa::isSigned(from)) {
    if (isa::bits(from) > bits || !isa::isSigned(to)) v = intrinsic(llvm::Intrinsic::smax, {v, limit(static_cast<uint64_t>(lowest))});
    if (isa::bits(from) > bits) v = intrinsic(llvm::Intrinsic::smin, {v, limit(highest)});
  } else if (sourceReaches) {
    v = intrinsic(llvm::Intrinsic::umin, {v, limit(highest)});
  }
  return v;
}

LlvmValue Lower::roundToIntegral(LlvmValue v, Type, std::string_view mode) {
  const auto id = mode == "rni" ? llvm::Intrinsic::roundeven : mode == "rmi" ? llvm::Intrinsic::floor : mode == "rpi" ? llvm::Intrinsic::ceil : llvm::Intrinsic::trunc;
  return intrinsic(id, {v});
}

/// Out-of-range values saturate, NaN becomes 0.
LlvmValue Lower::convertFloatToInt(LlvmValue v, Type, Type to) {
  const auto id = isa::isSigned(to) ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat;
  return b.CreateIntrinsic(id, {type(to), v->getType()}, {v});
}

LlvmValue Lower::convertIntToFloat(LlvmValue v, Type from, Type to) {
  const Type computed = to == Type::f16 || to == Type::bf16 ? Type::f32 : to;
  if (!isNearest()) {
    LlvmValue wide = isa::isSigned(from) ? b.CreateSExt(v, type(Type::s64)) : b.CreateZExt(v, type(Type::u64));
    const std::string name = fmt::format("ordito_from_{}_{}_{}", isa::isSigned(from) ? "s64" : "u64", i.mods.name(ModifierKind::Rounding), isa::name(computed));
    return e.perLane(name.c_str(), type(computed)->getScalarType(), {wide});
  }
  return isa::isSigned(from) ? b.CreateSIToFP(v, type(computed)) : b.CreateUIToFP(v, type(computed));
}

LlvmValue Lower::convertFloatToFloat(LlvmValue v, Type from, Type to) {
  if (to == Type::bf16) {
    // Round to nearest even on the bits; a NaN becomes NVIDIA's 0x7fff.
    if (from == Type::f64) v = b.CreateFPTrunc(v, type(Type::f32));
    LlvmValue bits = b.CreateBitCast(v, type(Type::u32));
    LlvmValue odd = b.CreateAnd(b.CreateLShr(bits, 16), number(Type::u32, 1));
    LlvmValue rounded = i.mods.name(ModifierKind::Rounding) == "rz" ? bits : b.CreateAdd(bits, b.CreateAdd(odd, number(Type::u32, 0x7FFF)));
    LlvmValue high = b.CreateTrunc(b.CreateLShr(rounded, 16), type(Type::u16));
    return b.CreateSelect(b.CreateFCmpUNO(v, v), number(Type::u16, 0x7FFF), high);
  }
  const unsigned have = v->getType()->getScalarSizeInBits(), want = isa::bits(to);
  if (have == want) return v;
  if (have < want) return b.CreateFPExt(v, type(to));
  if (isNearest()) return b.CreateFPTrunc(v, type(to));
  const std::string name = fmt::format("ordito_narrow_{}_{}", i.mods.name(ModifierKind::Rounding), isa::name(to));
  if (to == Type::f16) {
    LlvmValue wide = have == 64 ? v : b.CreateFPExt(v, type(Type::f64));
    return b.CreateBitCast(e.perLane(name.c_str(), b.getInt16Ty(), {wide}), type(Type::f16));
  }
  return e.perLane(name.c_str(), type(to)->getScalarType(), {v});
}

Results Lower::Cvt() {
  const Type to = i.type[0], from = i.type[1];
  if (to == Type::tf32) e.refuse(i, "cvt to tf32 is not supported by the JIT");
  if (!isa::isFloat(from) && !isa::isFloat(to)) {
    LlvmValue v = in(1, from);
    if (i.has(ModifierKind::Saturate)) v = saturateInteger(v, from, to);
    return {isa::isSigned(from) ? b.CreateSExtOrTrunc(v, type(to)) : b.CreateZExtOrTrunc(v, type(to))};
  }
  if (!isa::isFloat(from)) return floatOut(convertIntToFloat(in(1, from), from, to), to);
  LlvmValue v = floatIn(1, from);
  if (i.has(ModifierKind::IntegerRounding)) v = roundToIntegral(v, from, i.mods.name(ModifierKind::IntegerRounding));
  if (!isa::isFloat(to)) return {convertFloatToInt(v, from, to)};
  if ((to == Type::f16 || to == Type::bf16) && (i.has(ModifierKind::Saturate) || i.has(ModifierKind::Relu))) return floatOut(v, to);
  if (to == Type::f16 || to == Type::bf16) return {convertFloatToFloat(v, from, to)};
  return floatOut(convertFloatToFloat(v, from, to), to);
}

/// Two f32 into one packed register: a above, b below.
Results Lower::CvtPack() {
  const Type element = isa::element(i.type[0]);
  auto half = [&](size_t k) {
    LlvmValue v = in(k, Type::f32);
    if (i.has(ModifierKind::Relu)) v = b.CreateSelect(b.CreateFCmpOLT(v, number(Type::f32, 0)), number(Type::f32, 0), v);
    return b.CreateZExt(b.CreateBitCast(convertFloatToFloat(v, Type::f32, element), type(Type::u16)), type(Type::u32));
  };
  return {b.CreateOr(b.CreateShl(half(1), 16), half(2))};
}

}  // namespace ordito::jit
