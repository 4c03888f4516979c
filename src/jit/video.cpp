// PTX ISA, "Video Instructions". Scalar forms are computed in 64 bits, where no sum or difference of 32-bit numbers
// overflows; SIMD forms part by part in 32.
#include <algorithm>

#include "jit/pure_chapters.hpp"

namespace ordito::jit {

using isa::ModifierKind;
using isa::Type;
using Results = PureResults;

namespace {

/// A selector's parts, the lowest first.
struct Parts8 {
  unsigned width, count, number[4];
};

/// What `selector` says, or if absent `count` parts from number `first` on.
Parts8 partsOf(uint16_t selector, unsigned count, unsigned first) {
  Parts8 p{32 / count, count, {first, first + 1, first + 2, first + 3}};
  if (!selector) return p;
  p.width = selector >> 15 ? 16 : 8;
  p.count = selector >> 12 & 7;
  for (unsigned k = 0; k < p.count; ++k) p.number[k] = selector >> 3 * k & 7;
  return p;
}

llvm::CmpInst::Predicate predicateOf(std::string_view name) {
  using P = llvm::CmpInst;
  return name == "eq"   ? P::ICMP_EQ
         : name == "ne" ? P::ICMP_NE
         : name == "lt" ? P::ICMP_SLT
         : name == "le" ? P::ICMP_SLE
         : name == "gt" ? P::ICMP_SGT
                        : P::ICMP_SGE;
}

}  // namespace

LlvmValue VideoInstructions::videoSource(size_t k, Type t) {
  const Parts8 p = partsOf(i_.operands[k].selector, 1, 0);
  return part(in(k, Type::u32), p.number[0] * p.width, p.width, isa::isSigned(t), 64);
}

/// .sat, then the second operation with c or the merge into it.
Results VideoInstructions::finishVideo(LlvmValue wide, bool isSigned) {
  const Parts8 into = partsOf(i_.operands[0].selector, 1, 0);
  if (i_.mods.name(ModifierKind::Saturate) == "sat") wide = clampTo(wide, into.width, isSigned);
  LlvmValue value = b_.CreateTrunc(wide, type(Type::u32));
  const auto second = i_.mods.name(ModifierKind::SecondOp);
  if (second == "add") return {b_.CreateAdd(value, in(3, Type::u32))};
  if (!second.empty()) {
    const bool isMin = second == "min";
    const auto id = isSigned ? (isMin ? llvm::Intrinsic::smin : llvm::Intrinsic::smax)
                             : (isMin ? llvm::Intrinsic::umin : llvm::Intrinsic::umax);
    return {intrinsic(id, {value, in(3, Type::u32)})};
  }
  if (!i_.operands[0].selector) return {value};
  const unsigned at = into.number[0] * into.width;
  const uint64_t mask = ((uint64_t{1} << into.width) - 1) << at;
  LlvmValue kept = b_.CreateAnd(in(3, Type::u32), number(Type::u32, ~mask));
  return {b_.CreateOr(kept, b_.CreateAnd(b_.CreateShl(value, at), number(Type::u32, mask)))};
}

Results VideoInstructions::video(llvm::function_ref<LlvmValue(LlvmValue, LlvmValue)> f) {
  return finishVideo(f(videoSource(1, i_.type[1]), videoSource(2, i_.type[2])), isa::isSigned(i_.type[0]));
}

Results VideoInstructions::Vadd() {
  return video([&](LlvmValue x, LlvmValue y) { return b_.CreateAdd(x, y); });
}
Results VideoInstructions::VaddThen() { return Vadd(); }
Results VideoInstructions::Vsub() {
  return video([&](LlvmValue x, LlvmValue y) { return b_.CreateSub(x, y); });
}
Results VideoInstructions::VsubThen() { return Vsub(); }
Results VideoInstructions::Vabsdiff() {
  return video([&](LlvmValue x, LlvmValue y) { return distance(x, y); });
}
Results VideoInstructions::VabsdiffThen() { return Vabsdiff(); }
Results VideoInstructions::Vmin() {
  return video([&](LlvmValue x, LlvmValue y) { return intrinsic(llvm::Intrinsic::smin, {x, y}); });
}
Results VideoInstructions::VminThen() { return Vmin(); }
Results VideoInstructions::Vmax() {
  return video([&](LlvmValue x, LlvmValue y) { return intrinsic(llvm::Intrinsic::smax, {x, y}); });
}
Results VideoInstructions::VmaxThen() { return Vmax(); }

LlvmValue VideoInstructions::distance(LlvmValue x, LlvmValue y) {
  LlvmValue difference = b_.CreateSub(x, y);
  return b_.CreateSelect(b_.CreateICmpSLT(x, y), b_.CreateNeg(difference), difference);
}

/// A shift by 32 pushes everything out of 32 bits; for .sat the number is first cut to what cannot overflow 64.
Results VideoInstructions::videoShift(bool left) {
  return video([&](LlvmValue x, LlvmValue amount) {
    const bool wraps = i_.mods.name(ModifierKind::ShiftMode) == "wrap";
    amount = wraps ? b_.CreateAnd(amount, number(Type::u64, 31))
                   : intrinsic(llvm::Intrinsic::umin, {amount, number(Type::u64, 32)});
    if (!left) return b_.CreateAShr(x, amount);
    LlvmValue isAll = b_.CreateICmpEQ(amount, number(Type::u64, 32));
    LlvmValue small = clampTo(x, 30, true);
    return b_.CreateShl(b_.CreateSelect(isAll, small, x), amount);
  });
}

Results VideoInstructions::Vshl() { return videoShift(true); }
Results VideoInstructions::VshlThen() { return videoShift(true); }
Results VideoInstructions::Vshr() { return videoShift(false); }
Results VideoInstructions::VshrThen() { return videoShift(false); }

Results VideoInstructions::Vset() {
  LlvmValue holds = b_.CreateICmp(predicateOf(i_.mods.name(ModifierKind::Compare)), videoSource(1, i_.type[1]),
                                  videoSource(2, i_.type[2]));
  return finishVideo(b_.CreateZExt(holds, type(Type::u64)), false);
}
Results VideoInstructions::VsetThen() { return Vset(); }

/// The product of two numbers of 33 bits needs 66, so this is done in 128.
Results VideoInstructions::Vmad() {
  llvm::Type* scalar = b_.getIntNTy(128);
  llvm::Type* wide = s_.vector() ? static_cast<llvm::Type*>(llvm::FixedVectorType::get(scalar, kLanes)) : scalar;
  const bool negatesProduct = i_.operands[1].negated != i_.operands[2].negated, negatesC = i_.operands[3].negated;
  const bool isSigned = isa::isSigned(i_.type[1]) || isa::isSigned(i_.type[2]) || negatesProduct || negatesC;
  auto word = [&](size_t k) {  // a register that is marked as negated comes as its complement
    LlvmValue v = in(k, Type::u32);
    return i_.operands[k].negated && i_.operands[k].kind == ptx::Operand::Kind::Register ? b_.CreateNot(v) : v;
  };
  auto source = [&](size_t k, Type t) {
    const Parts8 p = partsOf(i_.operands[k].selector, 1, 0);
    return b_.CreateSExt(part(word(k), p.number[0] * p.width, p.width, isa::isSigned(t), 64), wide);
  };
  LlvmValue product = b_.CreateMul(source(1, i_.type[1]), source(2, i_.type[2]));
  LlvmValue c = isSigned ? b_.CreateSExt(word(3), wide) : b_.CreateZExt(word(3), wide);
  if (negatesProduct) product = b_.CreateNeg(product);
  if (negatesC) c = b_.CreateNeg(c);
  LlvmValue sum = b_.CreateAdd(product, c);
  if (i_.has(ModifierKind::PlusOne)) sum = b_.CreateAdd(sum, llvm::ConstantInt::get(wide, 1));
  const auto scale = i_.mods.name(ModifierKind::VideoShift);
  if (!scale.empty()) sum = b_.CreateAShr(sum, scale == "shr7" ? 7 : 15);
  if (i_.has(ModifierKind::Saturate)) sum = clampTo(sum, 32, isSigned);
  return {b_.CreateTrunc(sum, type(Type::u32))};
}

/// The SIMD forms: selectors choose among the parts of a and b together.
Results VideoInstructions::videoParts(unsigned count, llvm::function_ref<LlvmValue(LlvmValue, LlvmValue)> f) {
  const unsigned width = 32 / count;
  const Parts8 x = partsOf(i_.operands[1].selector, count, 0), y = partsOf(i_.operands[2].selector, count, count);
  const Parts8 into = partsOf(i_.operands[0].selector, count, 0);
  LlvmValue words[2] = {in(1, Type::u32), in(2, Type::u32)}, result = in(3, Type::u32);
  for (unsigned k = 0; k < into.count; ++k) {
    const unsigned n = into.number[k], at = n * width;
    auto source = [&](unsigned number, Type t) {
      return part(words[number / count], number % count * width, width, isa::isSigned(t), 32);
    };
    LlvmValue r = f(source(x.number[n], i_.type[1]), source(y.number[n], i_.type[2]));
    if (i_.has(ModifierKind::Saturate)) r = clampTo(r, width, isa::isSigned(i_.type[0]));
    const uint64_t mask = ((uint64_t{1} << width) - 1) << at;
    if (i_.has(ModifierKind::AddInVideo))
      result = b_.CreateAdd(result, r);
    else
      result = b_.CreateOr(b_.CreateAnd(result, number(Type::u32, ~mask)),
                           b_.CreateAnd(b_.CreateShl(r, at), number(Type::u32, mask)));
  }
  return {result};
}

/// (x + y) / 2, rounded up unless negative.
LlvmValue VideoInstructions::average(LlvmValue x, LlvmValue y) {
  LlvmValue sum = b_.CreateAdd(x, y);
  LlvmValue up = b_.CreateZExt(b_.CreateICmpSGE(sum, number(Type::u32, 0)), sum->getType());
  return b_.CreateAShr(b_.CreateAdd(sum, up), 1);
}

Results VideoInstructions::videoCompare(unsigned count) {
  const auto predicate = predicateOf(i_.mods.name(ModifierKind::Compare));
  return videoParts(
      count, [&](LlvmValue x, LlvmValue y) { return b_.CreateZExt(b_.CreateICmp(predicate, x, y), x->getType()); });
}

Results VideoInstructions::Vadd2() {
  return videoParts(2, [&](LlvmValue x, LlvmValue y) { return b_.CreateAdd(x, y); });
}
Results VideoInstructions::Vadd4() {
  return videoParts(4, [&](LlvmValue x, LlvmValue y) { return b_.CreateAdd(x, y); });
}
Results VideoInstructions::Vsub2() {
  return videoParts(2, [&](LlvmValue x, LlvmValue y) { return b_.CreateSub(x, y); });
}
Results VideoInstructions::Vsub4() {
  return videoParts(4, [&](LlvmValue x, LlvmValue y) { return b_.CreateSub(x, y); });
}
Results VideoInstructions::Vavrg2() {
  return videoParts(2, [&](LlvmValue x, LlvmValue y) { return average(x, y); });
}
Results VideoInstructions::Vavrg4() {
  return videoParts(4, [&](LlvmValue x, LlvmValue y) { return average(x, y); });
}
Results VideoInstructions::Vabsdiff2() {
  return videoParts(2, [&](LlvmValue x, LlvmValue y) { return distance(x, y); });
}
Results VideoInstructions::Vabsdiff4() {
  return videoParts(4, [&](LlvmValue x, LlvmValue y) { return distance(x, y); });
}
Results VideoInstructions::Vmin2() {
  return videoParts(2, [&](LlvmValue x, LlvmValue y) { return intrinsic(llvm::Intrinsic::smin, {x, y}); });
}
Results VideoInstructions::Vmin4() {
  return videoParts(4, [&](LlvmValue x, LlvmValue y) { return intrinsic(llvm::Intrinsic::smin, {x, y}); });
}
Results VideoInstructions::Vmax2() {
  return videoParts(2, [&](LlvmValue x, LlvmValue y) { return intrinsic(llvm::Intrinsic::smax, {x, y}); });
}
Results VideoInstructions::Vmax4() {
  return videoParts(4, [&](LlvmValue x, LlvmValue y) { return intrinsic(llvm::Intrinsic::smax, {x, y}); });
}
Results VideoInstructions::Vset2() { return videoCompare(2); }
Results VideoInstructions::Vset4() { return videoCompare(4); }

}  // namespace ordito::jit
