// From an instruction to the code that emits it: pure ones go to Lower once for each base or vector, the others to the
// chapter that knows their effect.
#include <llvm/IR/MDBuilder.h>

#include <algorithm>

#include "ir/shape_transfer.hpp"
#include "jit/lower.hpp"

namespace ordito::jit {

using isa::Effect;
using isa::Op;

Lower::Results Lower::run() {
  switch (i.op) {
#undef ORDITO_PURE
#undef ORDITO_OTHER
#define ORDITO_PURE(name) \
  case Op::name: return name();
#define ORDITO_OTHER(name)
#define PTX(name, syntax, types, effect, ...) ORDITO_EFFECT_##effect(name)
#include "isa/ptx.def"
    default: e.refuse(i, "this instruction is not pure");
  }
}

Emitter::Results Emitter::pureBody(const Instruction& i, const Source& s) { return Lower(*this, i, s).run(); }

void Emitter::emitInstruction(const Instruction& i) {
  if (i.info().unit == isa::Unit::Tensor) return emitMatrix(i);
  if (i.info().unit == isa::Unit::Texture && i.info().effect != Effect::Pure) return emitImage(i);
  switch (i.op) {
    case Op::CpAsync: return emitAsyncCopy(i);
    case Op::CpBulkLoad:
    case Op::CpBulkShared:
    case Op::CpBulkStore: return emitBulkCopy(i);
    case Op::CpAsyncWait:
    case Op::CpAsyncWaitAll: return compilerFence();
    case Op::AtomVector:
    case Op::RedVector: return emitVectorAtomic(i);
    case Op::AtomExch128:
    case Op::AtomCas128: return emitWideAtomic(i);
    default: break;
  }
  switch (i.info().effect) {
    case Effect::Pure: return emitPure(i);
    case Effect::Load: return emitLoad(i);
    case Effect::Store: return emitStore(i);
    case Effect::Atomic:
      if (i.info().unit == isa::Unit::Sync) return emitMbarrier(i);
      return emitAtomic(i);
    case Effect::Warp: return emitWarp(i);
    case Effect::Call: return emitCall(i);
    case Effect::Fence:
      if (i.op == Op::Membar || i.op == Op::Fence || i.op == Op::FenceProxy || i.op == Op::FenceProxySpace ||
          i.op == Op::FenceProxyGeneric || i.op == Op::FenceRestricted || i.op == Op::MembarProxy ||
          i.op == Op::FenceMbarrierInit || i.op == Op::BarrierClusterArrive)
        b_.CreateFence(llvm::AtomicOrdering::SequentiallyConsistent);
      return;  // prefetch, nanosleep and their like change no result
    case Effect::Barrier:
    case Effect::Control: return;  // terminators
  }
}

void Emitter::emitPure(const Instruction& i) {
  std::vector<ValueId> results;
  ir::forEachDefinition(i, [&](ValueId v, unsigned) { results.push_back(v); });
  if (results.empty()) return;
  const ir::Shape shape = shapes_[results[0]];
  // Of two results, only one may be kept lane by lane across a stop.
  const bool isGrouped = std::ranges::all_of(results, [&](ValueId v) { return shapes_[v].isGrouped(); });
  if (shape.isGrouped() && shape.inexact && ir::isWidening(i)) return emitWidening(i);
  std::vector<CachedValue> cached(results.size());
  // Which entry of the body's results belongs to which definition: carries come last, and absent destinations are
  // skipped.
  std::vector<unsigned> source;
  const auto forms = i.info().form.operandList();
  unsigned position = 0;
  for (size_t k = 0; k < i.operands.size() && k < forms.size(); ++k) {
    if (forms[k].kind != isa::OperandForm::Kind::Destination) continue;
    if (i.operands[k].kind == ptx::Operand::Kind::Vector)
      for (const auto& element : i.operands[k].elements) {
        if (element.kind == ptx::Operand::Kind::Register) source.push_back(position);
        ++position;
      }
    else if (i.operands[k].kind == ptx::Operand::Kind::Register)
      source.push_back(position++);
    else
      ++position;
  }
  if (i.carryOut != ir::kNoValue) source.push_back(Results{}.size() - 1);
  auto deposit = [&](const Results& r, const Source& s, auto&& put) {
    for (size_t k = 0; k < results.size(); ++k) {
      llvm::Type* want = valueType(results[k], s.vector());
      LlvmValue v = r[source[k]];
      const bool extends = isa::isSigned(i.type[0]) && v->getType()->isIntOrIntVectorTy() &&
                           want->getScalarSizeInBits() > v->getType()->getScalarSizeInBits();
      v = extends && want->isIntOrIntVectorTy() ? b_.CreateSExt(v, want) : convertBits(v, want);
      const bool mixed = plan_.nans.isMixed(results[k]);
      if (mixed && NanPlan::isArithmetic(i)) v = canonicalNan(v);
      if (i.guard && k < i.prior.size() && i.prior[k] != ir::kNoValue) {
        LlvmValue guard = s.vector() ? vectorOf(i.guard.reg, s.part)
                                     : regroup(shapes_[i.guard.reg], this->cached(i.guard.reg).bases[s.part], s.groups,
                                               static_cast<unsigned>(s.group), true);
        LlvmValue prior = s.vector() ? vectorOf(i.prior[k], s.part)
                                     : regroup(shapes_[i.prior[k]], this->cached(i.prior[k]).bases[s.part], s.groups,
                                               static_cast<unsigned>(s.group), true);
        if (mixed) prior = mended(i.prior[k], prior);
        v = i.guard.negated ? b_.CreateSelect(guard, prior, v) : b_.CreateSelect(guard, v, prior);
      }
      put(k, v);
    }
  };
  if (!isGrouped) {
    for (unsigned p = 0; p < coarsening_; ++p) {
      Source s;
      s.part = p;
      deposit(pureBody(i, s), s, [&](size_t k, LlvmValue v) { cached[k].vectors.push_back(v); });
    }
    for (size_t k = 0; k < results.size(); ++k) defineVector(results[k], std::move(cached[k].vectors));
    return;
  }
  // Where the result keeps a pattern, the rule for its bases is the linear one, whatever the operands could be split
  // into: with their patterns added here too, those would count twice.
  bool elementwise = shape.pattern == 0;
  for (size_t k = 0; k < i.operands.size(); ++k) {
    if (k < forms.size() && forms[k].kind == isa::OperandForm::Kind::Destination) continue;
    const unsigned g = shapes_.groupsWithoutPattern(shapes_.shapeOf(i.operands[k]));
    elementwise &= g != 0 && g <= shape.groups;
  }
  for (unsigned p = 0; p < coarsening_; ++p) {
    if (p >= partsOf(results[0])) {
      for (CachedValue& h : cached) h.bases.push_back(h.bases[0]);
      continue;
    }
    for (CachedValue& h : cached) h.bases.emplace_back();
    for (unsigned g = 0; g < shape.groups; ++g) {
      Source s;
      s.part = p, s.group = static_cast<int>(g), s.groups = shape.groups, s.addPattern = elementwise;
      deposit(pureBody(i, s), s, [&](size_t k, LlvmValue v) { cached[k].bases[p].push_back(v); });
    }
  }
  for (size_t k = 0; k < results.size(); ++k) define(results[k], std::move(cached[k]));
}

/// One branch and one cold call for all groups of all warps: the call spills what is live, which is much code.
void Emitter::checkWidening(const std::vector<Parts>& bases, LlvmValue wraps, const ir::Pattern& pattern,
                            bool isSigned) {
  auto* cold = newBlock("wraps");
  auto* on = newBlock("widened");
  b_.CreateCondBr(wraps, cold, on, llvm::MDBuilder(context_).createUnlikelyBranchWeights());
  b_.SetInsertPoint(cold);
  if (!widened_)  // room for the bases of all warps and the active lanes of each
    widened_ =
        llvm::IRBuilder<>(entry_).CreateAlloca(llvm::ArrayType::get(b_.getInt64Ty(), coarsening_ * (kLanes + 1)));
  unsigned slot = 0;
  auto keep = [&](LlvmValue v) { b_.CreateStore(v, b_.CreateConstGEP1_32(b_.getInt64Ty(), widened_, slot++)); };
  for (const Parts& part : bases)
    for (LlvmValue base : part) keep(base);
  for (unsigned p = 0; p < bases.size(); ++p) {
    LlvmValue lanes = b_.getInt32(~0u);
    if (!mask_.empty()) {
      lanes = laneBits(mask_[p]);
      // A base that all warps have in common is right if it is for the lanes of each.
      for (unsigned q = bases.size(); q < mask_.size(); ++q) lanes = b_.CreateOr(lanes, laneBits(mask_[q]));
    }
    keep(b_.CreateZExt(lanes, b_.getInt64Ty()));
  }
  auto* table = new llvm::GlobalVariable(module_, llvm::ArrayType::get(b_.getInt64Ty(), kLanes), true,
                                         llvm::GlobalValue::PrivateLinkage,
                                         llvm::ConstantDataArray::get(context_, llvm::ArrayRef<int64_t>(pattern)));
  helper("ordito_check_widening", b_.getVoidTy(),
         {frame_, b_.getInt32(currentLine_), widened_, b_.getInt32(static_cast<uint32_t>(bases.size())),
          b_.getInt32(static_cast<uint32_t>(bases[0].size())), table, b_.getInt32(isSigned)});
  b_.CreateBr(on);
  b_.SetInsertPoint(on);
}

/// A 32-bit value with a pattern becomes 64 bits wide. base + pattern may have wrapped around at 32 bits in some lane,
/// so the wide base is chosen to be right for lanes that did not: zero-extended where nothing carries, else
/// sign-extended (`tid - 1` as unsigned, whose lane 0 is then masked off). Where an active lane would still get a wrong
/// address, the cold call stops the kernel with an explanation; not so where the value is used in another place, where
/// the lanes in question may be off. Readers other than addresses get an exact vector.
void Emitter::emitWidening(const Instruction& i) {
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
  const unsigned width = kLanes / shape.groups;
  std::vector<Parts> wideBases(partsOf(result));
  LlvmValue anyWraps = nullptr;
  for (unsigned p = 0; p < partsOf(result); ++p)
    for (unsigned g = 0; g < shape.groups; ++g) {
      Source s;
      s.part = p, s.group = static_cast<int>(g), s.groups = shape.groups;
      LlvmValue base = operand(i, a, narrow, s);
      const auto [low, high] = std::minmax_element(pattern.begin() + g * width, pattern.begin() + (g + 1) * width);
      LlvmValue sext = b_.CreateSExt(base, b_.getInt64Ty()), zext = b_.CreateZExt(base, b_.getInt64Ty());
      LlvmValue first = b_.CreateAdd(isSigned ? sext : zext, b_.getInt64(static_cast<uint64_t>(*low)));
      LlvmValue last = b_.CreateAdd(isSigned ? sext : zext, b_.getInt64(static_cast<uint64_t>(*high)));
      LlvmValue wraps;
      if (isSigned) {
        wraps = b_.CreateOr(b_.CreateICmpSLT(first, b_.getInt64(static_cast<uint64_t>(INT64_C(-2147483648)))),
                            b_.CreateICmpSGT(last, b_.getInt64(INT64_C(2147483647))));
      } else {
        wraps = b_.CreateOr(b_.CreateICmpSLT(first, b_.getInt64(0)), b_.CreateICmpSGT(last, b_.getInt64(UINT32_MAX)));
      }
      anyWraps = anyWraps ? b_.CreateOr(anyWraps, wraps) : wraps;
      wideBases[p].push_back(isSigned ? sext : b_.CreateSelect(wraps, sext, zext));
    }
  if (!plan_.speculated[result]) checkWidening(wideBases, anyWraps, pattern, isSigned);
  CachedValue h;
  for (unsigned p = 0; p < coarsening_; ++p) {
    if (p >= partsOf(result)) {
      h.bases.push_back(h.bases[0]);
      continue;
    }
    h.bases.emplace_back();
    for (unsigned g = 0; g < shape.groups; ++g) {
      Source s;
      s.part = p, s.group = static_cast<int>(g), s.groups = shape.groups;
      LlvmValue wideBase = wideBases[p][g];
      if (isMul)
        wideBase = b_.CreateMul(wideBase, isSigned ? b_.CreateSExt(operand(i, factor, narrow, s), b_.getInt64Ty())
                                                   : b_.CreateZExt(operand(i, factor, narrow, s), b_.getInt64Ty()));
      if (i.op == Op::Mad) wideBase = b_.CreateAdd(wideBase, operand(i, 3, wide, s));
      h.bases[p].push_back(wideBase);
    }
  }
  if (plan_.spills.isDual(result))
    for (unsigned p = 0; p < coarsening_; ++p) {
      Source s;
      s.part = p;
      h.vectors.push_back(pureBody(i, s)[0]);
    }
  define(result, std::move(h));
}

}  // namespace ordito::jit
