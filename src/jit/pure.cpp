// See pure.hpp.
#include "jit/pure.hpp"

#include <llvm/IR/MDBuilder.h>

#include <algorithm>
#include <optional>

#include "ir/shape_transfer.hpp"
#include "jit/pure_chapters.hpp"

namespace ordito::jit {

using isa::Op;

/// Each chapter's rows are cases; `Chapter` is the class that has their bodies.
PureResults PureInstructions::body(const Instruction& i, const Source& s) {
#define PTX(name, syntax, types, effect, ...) \
  ORDITO_IF_##effect(case Op::name : return Chapter(tools_, comparisons_, i, s).name();)
  switch (i.op) {
    {
      using Chapter = IntegerArithmetic;
#include "isa/ptx/integer.def"
    }
    {
      using Chapter = ExtendedPrecision;
#include "isa/ptx/extended_precision.def"
    }
    {
      using Chapter = FloatingPoint;
#include "isa/ptx/floating_point.def"
    }
    {
      using Chapter = SpecialFunctions;
#include "isa/ptx/special_functions.def"
    }
    {
      using Chapter = ComparisonAndSelection;
#include "isa/ptx/comparison.def"
    }
    {
      using Chapter = LogicAndShift;
#include "isa/ptx/logic.def"
    }
    {
      using Chapter = DataMovement;
#include "isa/ptx/data_movement.def"
    }
    {
      using Chapter = Conversion;
#include "isa/ptx/conversion.def"
    }
    {
      using Chapter = VideoInstructions;
#include "isa/ptx/video.def"
    }
    {
      using Chapter = OtherChapters;
#include "isa/ptx/async_copy.def"
#include "isa/ptx/control_flow.def"
#include "isa/ptx/matrix.def"
#include "isa/ptx/surface.def"
#include "isa/ptx/synchronization.def"
#include "isa/ptx/texture.def"
    }
    default: c_.refuse(i, "this instruction is not pure");
  }
#undef PTX
}

void PureInstructions::emit(const Instruction& i, bool isChecked) {
  const Definitions d = definitionsOf(i);
  if (d.values.empty()) return;
  const ir::Shape shape = shapes_[d.values[0]];
  if (shape.isSegmented() && shape.inexact && ir::isWidening(i)) return emitWidening(i, isChecked);
  // Of two results, only one may be kept lane by lane across a stop.
  const bool isSegmented = std::ranges::all_of(d.values, [&](ValueId v) { return shapes_[v].isSegmented(); });
  isSegmented ? emitBases(i, d) : emitVectors(i, d);
}

/// Carries come last, and absent destinations are skipped.
PureInstructions::Definitions PureInstructions::definitionsOf(const Instruction& i) {
  Definitions d;
  ir::forEachDefinition(i, [&](ValueId v, unsigned) { d.values.push_back(v); });
  const auto forms = i.info().form.operandList();
  unsigned position = 0;
  for (size_t k = 0; k < i.operands.size() && k < forms.size(); ++k) {
    if (forms[k].kind != isa::OperandForm::Kind::Destination) continue;
    const unsigned count =
        i.operands[k].kind == ptx::Operand::Kind::Vector ? static_cast<unsigned>(i.operands[k].elements.size()) : 1;
    for (unsigned element = 0; element < count; ++element, ++position)
      if (elementOf(i.operands[k], element).kind == ptx::Operand::Kind::Register) d.source.push_back(position);
  }
  if (i.carryOut != ir::kNoValue) d.source.push_back(PureResults{}.size() - 1);
  return d;
}

/// What the body has computed for definition `k`, as the value of its register; where the guard does not hold, what
/// that has been before.
LlvmValue PureInstructions::result(const Instruction& i, const Definitions& d, size_t k, LlvmValue v, const Source& s) {
  const ValueId defined = d.values[k];
  llvm::Type* want = values_.valueType(defined, s.vector());
  const bool extends = isa::isSigned(i.type[0]) && v->getType()->isIntOrIntVectorTy() &&
                       want->getScalarSizeInBits() > v->getType()->getScalarSizeInBits();
  v = extends && want->isIntOrIntVectorTy() ? b_.CreateSExt(v, want) : values_.convertBits(v, want);
  const bool mixed = plan_.nans.isMixed(defined);
  if (mixed && NanPlan::isArithmetic(i)) v = operands_.canonicalNan(v);
  if (!i.guard || k >= i.prior.size() || i.prior[k] == ir::kNoValue) return v;
  auto valueOf = [&](ValueId x) {
    return s.vector() ? values_.vectorOf(x, s.part)
                      : values_.resegment(shapes_[x], values_.cached(x).bases[s.part], s.segments,
                                          static_cast<unsigned>(s.segment), true);
  };
  LlvmValue guard = valueOf(i.guard.reg), prior = valueOf(i.prior[k]);
  if (mixed) prior = operands_.mended(i.prior[k], prior);
  return i.guard.negated ? b_.CreateSelect(guard, prior, v) : b_.CreateSelect(guard, v, prior);
}

void PureInstructions::emitVectors(const Instruction& i, const Definitions& d) {
  std::vector<Parts> vectors(d.values.size());
  for (unsigned p = 0; p < warps(); ++p) {
    Source s;
    s.part = p;
    const PureResults r = body(i, s);
    for (size_t k = 0; k < vectors.size(); ++k) vectors[k].push_back(result(i, d, k, r[d.source[k]], s));
  }
  for (size_t k = 0; k < vectors.size(); ++k) values_.defineVector(d.values[k], std::move(vectors[k]));
}

void PureInstructions::emitBases(const Instruction& i, const Definitions& d) {
  const ir::Shape shape = shapes_[d.values[0]];
  const bool elementwise = isElementwise(i, shape);
  std::vector<CachedValue> cached(d.values.size());
  for (unsigned p = 0; p < warps(); ++p) {
    if (p >= values_.partsOf(d.values[0])) {
      for (CachedValue& h : cached) h.bases.push_back(h.bases[0]);
      continue;
    }
    for (CachedValue& h : cached) h.bases.emplace_back();
    for (unsigned g = 0; g < shape.segments; ++g) {
      Source s;
      s.part = p, s.segment = static_cast<int>(g), s.segments = shape.segments, s.addPattern = elementwise;
      const PureResults r = body(i, s);
      for (size_t k = 0; k < cached.size(); ++k) cached[k].bases[p].push_back(result(i, d, k, r[d.source[k]], s));
    }
  }
  for (size_t k = 0; k < cached.size(); ++k) values_.define(d.values[k], std::move(cached[k]));
}

/// Are the operands' patterns added to their bases? Where the result keeps a pattern, the rule for its bases is the
/// linear one, whatever the operands could be split into: with their patterns added here too, those would count twice.
bool PureInstructions::isElementwise(const Instruction& i, const ir::Shape& shape) const {
  const auto forms = i.info().form.operandList();
  bool elementwise = shape.pattern == 0;
  for (size_t k = 0; k < i.operands.size(); ++k) {
    if (k < forms.size() && forms[k].kind == isa::OperandForm::Kind::Destination) continue;
    const unsigned g = shapes_.segmentsWithoutPattern(shapes_.shapeOf(i.operands[k]));
    elementwise &= g != 0 && g <= shape.segments;
  }
  return elementwise;
}

/// The distance between lanes that stand in a row.
static std::optional<uint64_t> stepOf(const ir::Pattern& pattern) {
  const int64_t step = pattern[1] - pattern[0];
  for (unsigned l = 0; l < kLanes; ++l)
    if (pattern[l] != int64_t{l} * step) return std::nullopt;
  return static_cast<uint64_t>(step);
}

/// The lanes for which the bases of part `p` have to be right.
LlvmValue PureInstructions::lanesReading(const std::vector<Parts>& bases, unsigned p) {
  if (c_.at.mask.empty()) return b_.getInt32(~0u);
  LlvmValue lanes = masks_.laneBits(c_.at.mask[p]);
  // A base that all warps have in common is right if it is for the lanes of each.
  for (unsigned q = bases.size(); q < c_.at.mask.size(); ++q)
    lanes = b_.CreateOr(lanes, masks_.laneBits(c_.at.mask[q]));
  return lanes;
}

void PureInstructions::checkWideningOfAll(const std::vector<Parts>& bases, const ir::Pattern& pattern, bool isSigned) {
  if (!widened_)  // room for the bases of all warps and the active lanes of each
    widened_ = llvm::IRBuilder<>(c_.entry).CreateAlloca(llvm::ArrayType::get(b_.getInt64Ty(), warps() * (kLanes + 1)));
  unsigned slot = 0;
  auto keep = [&](LlvmValue v) { b_.CreateStore(v, b_.CreateConstGEP1_32(b_.getInt64Ty(), widened_, slot++)); };
  for (const Parts& part : bases)
    for (LlvmValue base : part) keep(base);
  for (unsigned p = 0; p < bases.size(); ++p) keep(b_.CreateZExt(lanesReading(bases, p), b_.getInt64Ty()));
  auto* table = new llvm::GlobalVariable(
      c_.module, llvm::ArrayType::get(b_.getInt64Ty(), kLanes), true, llvm::GlobalValue::PrivateLinkage,
      llvm::ConstantDataArray::get(b_.getContext(), llvm::ArrayRef<int64_t>(pattern)));
  c_.helper("ordito_check_widening", b_.getVoidTy(),
            {c_.frame, b_.getInt32(c_.at.line), widened_, b_.getInt32(static_cast<uint32_t>(bases.size())),
             b_.getInt32(static_cast<uint32_t>(bases[0].size())), table, b_.getInt32(isSigned)});
}

/// One branch and one cold call for all segments of all warps: the call spills what is live, which is much code.
void PureInstructions::checkWidening(const std::vector<Parts>& bases, LlvmValue wraps, const ir::Pattern& pattern,
                                     bool isSigned) {
  auto* cold = c_.newBlock("wraps");
  auto* on = c_.newBlock("widened");
  // What warps that are not in the block hold may be poison; the call asks their active lanes, of which they have none.
  b_.CreateCondBr(b_.CreateFreeze(wraps), cold, on, llvm::MDBuilder(b_.getContext()).createUnlikelyBranchWeights());
  b_.SetInsertPoint(cold);
  if (const auto step = stepOf(pattern); step && bases.size() == 1 && bases[0].size() == 1)
    c_.helper("ordito_check_linear_widening", b_.getVoidTy(),
              {c_.frame, b_.getInt32(c_.at.line), bases[0][0], lanesReading(bases, 0), b_.getInt64(*step),
               b_.getInt32(isSigned)});
  else
    checkWideningOfAll(bases, pattern, isSigned);
  b_.CreateBr(on);
  b_.SetInsertPoint(on);
}

/// Is there no 32-bit number that is `wide` plus `low`, or plus `high`?
LlvmValue PureInstructions::wrapsAround(LlvmValue wide, bool isSigned, int64_t low, int64_t high) {
  LlvmValue first = b_.CreateAdd(wide, b_.getInt64(static_cast<uint64_t>(low)));
  LlvmValue last = b_.CreateAdd(wide, b_.getInt64(static_cast<uint64_t>(high)));
  if (isSigned)
    return b_.CreateOr(b_.CreateICmpSLT(first, b_.getInt64(static_cast<uint64_t>(INT64_C(-2147483648)))),
                       b_.CreateICmpSGT(last, b_.getInt64(INT64_C(2147483647))));
  return b_.CreateOr(b_.CreateICmpSLT(first, b_.getInt64(0)), b_.CreateICmpSGT(last, b_.getInt64(UINT32_MAX)));
}

/// A 32-bit value with a pattern becomes 64 bits wide. base + pattern may have wrapped around at 32 bits in some lane,
/// so the wide base is chosen to be right for lanes that did not: zero-extended where nothing carries, else
/// sign-extended (`tid - 1` as unsigned, whose lane 0 is then masked off). Where an active lane would still get a wrong
/// address, the cold call stops the kernel with an explanation; not so where the value is used in another place, where
/// the lanes in question may be off. Readers other than addresses get an exact vector.
void PureInstructions::emitWidening(const Instruction& i, bool isChecked) {
  ValueId result = ir::kNoValue;
  ir::forEachDefinition(i, [&](ValueId v, unsigned) { result = v; });
  const bool isMul = i.op != Op::Cvt;
  const isa::Type narrow = isMul ? i.type[0] : i.type[1];
  const bool isSigned = isa::isSigned(narrow);
  const isa::Type wide = isSigned ? isa::Type::s64 : isa::Type::u64;
  size_t a = 1, factor = 2;
  if (isMul && shapes_.shapeOf(i.operands[1]).pattern == 0) std::swap(a, factor);
  const ir::Shape narrowShape = shapes_.shapeOf(i.operands[a]);
  const ir::Pattern pattern = shapes_.pattern(narrowShape.pattern);
  const ir::Shape& shape = shapes_[result];
  const unsigned width = kLanes / shape.segments;
  std::vector<Parts> wideBases(values_.partsOf(result));
  LlvmValue anyWraps = nullptr;
  for (unsigned p = 0; p < values_.partsOf(result); ++p)
    for (unsigned g = 0; g < shape.segments; ++g) {
      Source s;
      s.part = p, s.segment = static_cast<int>(g), s.segments = shape.segments;
      LlvmValue base = operands_.operand(i, a, narrow, s);
      const auto [low, high] = std::minmax_element(pattern.begin() + g * width, pattern.begin() + (g + 1) * width);
      LlvmValue sext = b_.CreateSExt(base, b_.getInt64Ty()), zext = b_.CreateZExt(base, b_.getInt64Ty());
      LlvmValue wraps = wrapsAround(isSigned ? sext : zext, isSigned, *low, *high);
      anyWraps = anyWraps ? b_.CreateOr(anyWraps, wraps) : wraps;
      wideBases[p].push_back(isSigned ? sext : b_.CreateSelect(wraps, sext, zext));
    }
  if (isChecked && !plan_.speculated[result]) checkWidening(wideBases, anyWraps, pattern, isSigned);
  CachedValue h;
  for (unsigned p = 0; p < warps(); ++p) {
    if (p >= values_.partsOf(result)) {
      h.bases.push_back(h.bases[0]);
      continue;
    }
    h.bases.emplace_back();
    for (unsigned g = 0; g < shape.segments; ++g) {
      Source s;
      s.part = p, s.segment = static_cast<int>(g), s.segments = shape.segments;
      LlvmValue wideBase = wideBases[p][g];
      if (isMul)
        wideBase =
            b_.CreateMul(wideBase, isSigned ? b_.CreateSExt(operands_.operand(i, factor, narrow, s), b_.getInt64Ty())
                                            : b_.CreateZExt(operands_.operand(i, factor, narrow, s), b_.getInt64Ty()));
      if (i.op == Op::Mad) wideBase = b_.CreateAdd(wideBase, operands_.operand(i, 3, wide, s));
      h.bases[p].push_back(wideBase);
    }
  }
  if (plan_.kept.spills.isDual(result))
    for (unsigned p = 0; p < warps(); ++p) {
      Source s;
      s.part = p;
      h.vectors.push_back(body(i, s)[0]);
    }
  values_.define(result, std::move(h));
}

}  // namespace ordito::jit
