// SSA values as LLVM values: scalars for grouped shapes, vectors of 32 lanes for general ones, and the stack slots that
// carry them between blocks. Slots are plain allocas; LLVM's SROA turns them into SSA form again, so code for one PTX
// block may be emitted several times.
#include "ir/shape_transfer.hpp"
#include "jit/emitter.hpp"

namespace ordito::jit {

using isa::Type;
using Operand = ptx::Operand;

llvm::Type* Emitter::typeOf(Type t, bool vector) {
  llvm::Type* s = nullptr;
  switch (t) {
    case Type::pred: s = b_.getInt1Ty(); break;
    case Type::f32:
    case Type::tf32: s = b_.getFloatTy(); break;
    case Type::f64: s = b_.getDoubleTy(); break;
    case Type::f16: s = b_.getHalfTy(); break;
    default: s = b_.getIntNTy(isa::bits(t)); break;
  }
  return vector ? llvm::FixedVectorType::get(s, kLanes) : s;
}

/// Nobody reads the value before it is defined again.
void Emitter::forget(ValueId v) {
  auto clear = [&](llvm::AllocaInst* slot) {
    if (slot) b_.CreateStore(llvm::PoisonValue::get(slot->getAllocatedType()), slot);
  };
  for (const auto& part : slots_[v].bases)
    for (auto* slot : part) clear(slot);
  for (auto* slot : slots_[v].vectors) clear(slot);
}

void Emitter::makeSlots() {
  llvm::IRBuilder<> at(entry_);
  slots_.resize(f_.values.size());
  for (ValueId v = 0; v < f_.values.size(); ++v) {
    if (!plan_.liveness.crossesBlock[v]) continue;
    const ir::Shape& s = shapes_[v];
    const bool isMask = f_.values[v].type == Type::pred;
    if (s.isGrouped()) {
      std::vector<llvm::AllocaInst*> shared;
      for (unsigned p = 0; p < coarsening_; ++p) {
        if (p >= partsOf(v)) {
          slots_[v].bases.push_back(slots_[v].bases[0]);
          continue;
        }
        std::vector<llvm::AllocaInst*> bases;
        for (unsigned g = 0; g < s.groups; ++g)
          bases.push_back(at.CreateAlloca(valueType(v, false), nullptr, f_.values[v].name));
        slots_[v].bases.push_back(bases);
      }
    }
    if (!s.isGrouped() || plan_.spills.isDual(v))
      for (unsigned p = 0; p < coarsening_; ++p)
        slots_[v].vectors.push_back(
            at.CreateAlloca(isMask ? storageType() : valueType(v, true), nullptr, f_.values[v].name));
  }
}

LlvmValue Emitter::splat(LlvmValue scalar) { return b_.CreateVectorSplat(kLanes, scalar); }

LlvmValue Emitter::patternVector(const ir::Pattern& p, llvm::Type* scalarType) {
  std::vector<llvm::Constant*> lanes;
  for (int64_t v : p) lanes.push_back(llvm::ConstantInt::get(scalarType, static_cast<uint64_t>(v), true));
  return llvm::ConstantVector::get(lanes);
}

/// The vector that bases and pattern stand for.
LlvmValue Emitter::fromBases(const ir::Shape& shape, const Parts& bases, llvm::Type* scalarType) {
  LlvmValue v;
  if (shape.groups == 1) {
    v = splat(bases[0]);
  } else {
    v = llvm::PoisonValue::get(llvm::FixedVectorType::get(scalarType, kLanes));
    for (unsigned g = 0; g < shape.groups; ++g) v = b_.CreateInsertElement(v, bases[g], b_.getInt32(g));
    std::vector<int> lanes;
    for (unsigned l = 0; l < kLanes; ++l) lanes.push_back(static_cast<int>(l * shape.groups / kLanes));
    v = b_.CreateShuffleVector(v, lanes);
  }
  if (shape.pattern == 0) return v;
  return b_.CreateAdd(v, patternVector(shapes_.pattern(shape.pattern), scalarType));
}

/// The base of group `group` when the value is split into `groups` groups; with the pattern added where that is
/// constant in each group.
LlvmValue Emitter::regroup(const ir::Shape& shape, const Parts& bases, unsigned groups, unsigned group,
                           bool addPattern) {
  LlvmValue base = bases[group * shape.groups / groups];
  if (!addPattern || shape.pattern == 0) return base;
  const int64_t extra = shapes_.pattern(shape.pattern)[group * kLanes / groups];
  return extra ? b_.CreateAdd(base, llvm::ConstantInt::get(base->getType(), static_cast<uint64_t>(extra), true)) : base;
}

CachedValue& Emitter::cached(ValueId v) {
  auto [it, isNew] = valueCache_.try_emplace(v);
  CachedValue& h = it->second;
  if (!isNew) return h;
  h.vectors.assign(coarsening_, nullptr);
  const Slots& s = slots_[v];
  const bool defined = !s.bases.empty() || !s.vectors.empty();
  if (shapes_[v].isGrouped()) {
    for (unsigned p = 0; p < coarsening_; ++p) {
      Parts bases;
      for (unsigned g = 0; g < shapes_[v].groups; ++g) {
        if (!defined)
          bases.push_back(llvm::Constant::getNullValue(valueType(v, false)));  // read before written: any value will do
        else if (p >= partsOf(v))
          bases.push_back(h.bases[0][g]);
        else
          bases.push_back(b_.CreateLoad(valueType(v, false), s.bases[p][g]));
      }
      h.bases.push_back(bases);
    }
  }
  if (!shapes_[v].isGrouped() || !s.vectors.empty())
    for (unsigned p = 0; p < coarsening_; ++p) {
      if (s.vectors.empty())
        h.vectors[p] = llvm::Constant::getNullValue(valueType(v, true));
      else if (f_.values[v].type == Type::pred)
        h.vectors[p] = fromStorage(b_.CreateLoad(storageType(), s.vectors[p]));
      else
        h.vectors[p] = b_.CreateLoad(valueType(v, true), s.vectors[p]);
    }
  return h;
}

LlvmValue Emitter::baseOf(ValueId v, unsigned part, unsigned group) { return cached(v).bases[part][group]; }

LlvmValue Emitter::vectorOf(ValueId v, unsigned part) {
  CachedValue& h = cached(v);
  // Not cached: a splat is free to make again, and the place where it was first made may not dominate the next use.
  if (h.vectors[part]) return h.vectors[part];
  return fromBases(shapes_[v], h.bases[part], valueType(v, false));
}

/// Gives `v` its value, in the block being emitted and, where others read it, in its slots.
void Emitter::define(ValueId v, CachedValue value) {
  value.vectors.resize(coarsening_, nullptr);
  store(v, value, outlivesIteration_[v] ? mask_ : Parts{});
  valueCache_[v] = std::move(value);
}

void Emitter::defineVector(ValueId v, Parts vectors) {
  CachedValue h;
  if (shapes_[v].isGrouped()) {
    // A chapter made a vector where the analysis knows that all lanes of a group agree: keep the bases.
    const ir::Shape& s = shapes_[v];
    for (unsigned p = 0; p < coarsening_; ++p) {
      Parts bases;
      for (unsigned g = 0; g < s.groups; ++g)
        bases.push_back(b_.CreateExtractElement(vectors[p], uint64_t{g} * kLanes / s.groups));
      h.bases.push_back(bases);
    }
  } else {
    h.vectors = std::move(vectors);
  }
  define(v, std::move(h));
}

/// Writes slots. With a mask, lanes outside of it keep what they had.
void Emitter::store(ValueId v, const CachedValue& value, const Parts& mask) {
  const Slots& s = slots_[v];
  for (unsigned p = 0; p < s.bases.size() && p < partsOf(v); ++p)
    for (unsigned g = 0; g < s.bases[p].size(); ++g) b_.CreateStore(value.bases[p][g], s.bases[p][g]);
  for (unsigned p = 0; p < s.vectors.size(); ++p) {
    LlvmValue x = value.vectors[p];
    if (!x) x = fromBases(shapes_[v], value.bases[p], valueType(v, false));
    if (f_.values[v].type == Type::pred) x = toStorage(x);
    if (!mask.empty()) x = b_.CreateSelect(mask[p], x, b_.CreateLoad(x->getType(), s.vectors[p]));
    b_.CreateStore(x, s.vectors[p]);
  }
}

LlvmValue Emitter::constant(Type t, uint64_t bits, bool vector) {
  llvm::Type* scalar = typeOf(t, false);
  llvm::Constant* c;
  if (scalar->isIntegerTy()) {  // bf16 included: it is computed with as f32
    c = llvm::ConstantInt::get(scalar, llvm::APInt(64, bits).zextOrTrunc(scalar->getIntegerBitWidth()));
  } else {
    const unsigned width = scalar->getScalarSizeInBits();
    c = llvm::ConstantFP::get(scalar, llvm::APFloat(scalar->getFltSemantics(), llvm::APInt(64, bits).trunc(width)));
  }
  return vector ? llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(kLanes), c) : c;
}

/// Reads a register of one type as another: PTX moves bits, and lets a wider register stand for a narrower operand.
LlvmValue Emitter::convertBits(LlvmValue v, llvm::Type* to) {
  if (v->getType() == to) return v;
  const unsigned from = v->getType()->getScalarSizeInBits(), want = to->getScalarSizeInBits();
  const bool vector = to->isVectorTy();
  auto integer = [&](unsigned bits) -> llvm::Type* {
    llvm::Type* t = b_.getIntNTy(bits);
    return vector ? llvm::FixedVectorType::get(t, kLanes) : t;
  };
  if (from == want) return b_.CreateBitCast(v, to);
  if (!v->getType()->isIntOrIntVectorTy()) v = b_.CreateBitCast(v, integer(from));
  v = b_.CreateZExtOrTrunc(v, integer(want));
  return b_.CreateBitCast(v, to);
}

LlvmValue Emitter::divideByUniform(LlvmValue x, ValueId d, unsigned part, bool isSigned, bool remainder,
                                   llvm::function_ref<LlvmValue()> general) {
  llvm::Type* scalarType = x->getType()->getScalarType();
  const unsigned bits = scalarType->getScalarSizeInBits();
  LlvmValue divisor = convertBits(baseOf(d, part, 0), scalarType);
  LlvmValue low = b_.CreateSub(divisor, llvm::ConstantInt::get(scalarType, 1));
  LlvmValue isPower = b_.CreateAnd(b_.CreateICmpEQ(b_.CreateAnd(divisor, low), llvm::ConstantInt::get(scalarType, 0)),
                                   b_.CreateICmpSGT(divisor, llvm::ConstantInt::get(scalarType, 0)));
  auto* power = newBlock("powerof2");
  auto* other = newBlock("anydivisor");
  auto* on = newBlock("divided");
  b_.CreateCondBr(isPower, power, other);
  b_.SetInsertPoint(power);
  LlvmValue mask = splat(low);
  LlvmValue log = splat(b_.CreateIntrinsic(llvm::Intrinsic::cttz, {scalarType}, {divisor, b_.getTrue()}));
  // Signed division rounds toward zero: negative dividends get d - 1 added first.
  LlvmValue biased = isSigned ? b_.CreateAdd(x, b_.CreateAnd(b_.CreateAShr(x, bits - 1), mask)) : x;
  LlvmValue fast;
  if (remainder)
    fast = isSigned ? b_.CreateSub(x, b_.CreateAnd(biased, b_.CreateNot(mask))) : b_.CreateAnd(x, mask);
  else
    fast = isSigned ? b_.CreateAShr(biased, log) : b_.CreateLShr(biased, log);
  auto* powerEnd = b_.GetInsertBlock();
  b_.CreateBr(on);
  b_.SetInsertPoint(other);
  LlvmValue slow = general();
  auto* otherEnd = b_.GetInsertBlock();
  b_.CreateBr(on);
  b_.SetInsertPoint(on);
  auto* result = b_.CreatePHI(x->getType(), 2);
  result->addIncoming(fast, powerEnd);
  result->addIncoming(slow, otherEnd);
  return result;
}

/// For functions too rare or too long to be worth vector code; lanes that are off get zero.
LlvmValue Emitter::perLane(const char* name, llvm::Type* result, llvm::ArrayRef<LlvmValue> arguments, const Source& s) {
  if (!s.vector()) return helper(name, result, arguments);
  return callLanes(name, result, arguments, s.part);
}

LlvmValue Emitter::sharedBytes() {
  return frameField(offsetof(machine::BlockFrame, totalSharedBytes), b_.getInt32Ty(), "sharedbytes");
}

LlvmValue Emitter::operand(const Instruction& i, size_t k, Type t, const Source& s) {
  Source own = s;
  own.addPattern |= ir::splitsOperand(i, k);
  return operand(i.operands[k], t, own);
}

LlvmValue Emitter::canonicalNan(LlvmValue v) {
  auto as = [&](llvm::Type* scalar) {
    return v->getType()->isVectorTy() ? static_cast<llvm::Type*>(llvm::FixedVectorType::get(scalar, kLanes)) : scalar;
  };
  // In integers, since LLVM may change the payload of a floating-point NaN.
  LlvmValue bits = b_.CreateBitCast(v, as(b_.getInt32Ty())), number = b_.CreateBitCast(v, as(b_.getFloatTy()));
  bits = b_.CreateSelect(b_.CreateFCmpUNO(number, number), llvm::ConstantInt::get(bits->getType(), 0x7FFFFFFF), bits);
  return b_.CreateBitCast(bits, v->getType());
}

/// `x`, the value of `v`, fit for eyes that look at bits.
LlvmValue Emitter::mended(ValueId v, LlvmValue x) { return plan_.nans.isDirty(v) ? canonicalNan(x) : x; }

/// An operand of which an f32 NaN's bits will be seen.
LlvmValue Emitter::exactBits(const Operand& o, Type t, const Source& s) {
  LlvmValue v = operand(o, t, s);
  return t == Type::f32 && o.kind == Operand::Kind::Register ? mended(o.reg, v) : v;
}

LlvmValue Emitter::operand(const Operand& o, Type t, const Source& s) {
  llvm::Type* to = typeOf(t, s.vector());
  switch (o.kind) {
    case Operand::Kind::Register: {
      LlvmValue v = s.vector() ? vectorOf(o.reg, s.part)
                               : regroup(shapes_[o.reg], cached(o.reg).bases[s.part], s.groups,
                                         static_cast<unsigned>(s.group), s.addPattern);
      v = convertBits(t == Type::f32 ? v : mended(o.reg, v), to);
      return o.negated ? b_.CreateNot(v) : v;
    }
    case Operand::Kind::Integer:
    case Operand::Kind::Float: return constant(t, ptx::immediateBits(o, t), s.vector());
    case Operand::Kind::Special: {
      if (s.vector()) return convertBits(specialVector(o.special, s.part), to);
      const ir::Shape shape = shapes_.shapeOf(o.special);
      return convertBits(
          regroup(shape, {specialBase(o.special, s.part)}, s.groups, static_cast<unsigned>(s.group), s.addPattern), to);
    }
    case Operand::Kind::Symbol: {
      LlvmValue a = symbolAddress(o, isa::bits(t));
      if (!s.vector()) return convertBits(a, to);
      return convertBits(a->getType()->isVectorTy() ? a : splat(a), to);
    }
    default:
      throw Refusal{fmt::format("kernel '{}', PTX line {}: an operand of a kind that this instruction does not take",
                                f_.kernel->name, currentLine_)};
  }
}

/// Lane 0's value of a special register (its base); see ir::Shapes::shapeOf for the patterns.
LlvmValue Emitter::specialBase(isa::Special s, unsigned part) {
  using isa::Special;
  const auto [bx, by, bz] = shapes_.launch().block;
  LlvmValue warp = b_.CreateAdd(b_.CreateMul(group_, b_.getInt32(coarsening_)), b_.getInt32(part));
  LlvmValue first = b_.CreateMul(warp, b_.getInt32(kLanes), "", true, true);
  auto rem = [&](LlvmValue v, uint32_t n) { return b_.CreateURem(v, b_.getInt32(n)); };
  auto div = [&](LlvmValue v, uint32_t n) { return b_.CreateUDiv(v, b_.getInt32(n)); };
  auto frame32 = [&](size_t offset) { return frameField(offset, b_.getInt32Ty(), "special"); };
  const bool oneRow = by == 1 && bz == 1;
  switch (s) {
    case Special::TidX:
      if (bx % kLanes == 0) return bx > kLanes ? rem(first, bx) : b_.getInt32(0);
      return oneRow ? first : b_.getInt32(0);
    case Special::TidY: return by == 1 ? b_.getInt32(0) : rem(div(first, bx), by);
    case Special::TidZ: return bz == 1 ? b_.getInt32(0) : div(first, bx * by);
    case Special::NtidX: return b_.getInt32(bx);
    case Special::NtidY: return b_.getInt32(by);
    case Special::NtidZ: return b_.getInt32(bz);
    case Special::CtaidX: return ctaid_[0];
    case Special::CtaidY: return ctaid_[1];
    case Special::CtaidZ: return ctaid_[2];
    case Special::NctaidX: return nctaid_[0];
    case Special::NctaidY: return nctaid_[1];
    case Special::NctaidZ: return nctaid_[2];
    case Special::Laneid: return b_.getInt32(0);
    case Special::Warpid: return warp;
    case Special::Nwarpid: return b_.getInt32(warps_);
    case Special::WarpSize: return b_.getInt32(kLanes);
    case Special::Smid: return frame32(offsetof(machine::BlockFrame, smid));
    case Special::Nsmid: return frame32(offsetof(machine::BlockFrame, nsmid));
    case Special::Gridid: return frameField(offsetof(machine::BlockFrame, gridid), b_.getInt64Ty(), "gridid");
    case Special::DynamicSmemSize: return frame32(offsetof(machine::BlockFrame, dynamicSharedBytes));
    case Special::TotalSmemSize: return frame32(offsetof(machine::BlockFrame, totalSharedBytes));
    case Special::Envreg1:
    case Special::Envreg2: {  // the two halves of an address
      LlvmValue a = frameField(offsetof(machine::BlockFrame, gridWorkspace), b_.getInt64Ty(), "workspace");
      return b_.CreateTrunc(s == Special::Envreg1 ? b_.CreateLShr(a, 32) : a, b_.getInt32Ty());
    }
    // A cluster is one block.
    case Special::ClusterIdX: return ctaid_[0];
    case Special::ClusterIdY: return ctaid_[1];
    case Special::ClusterIdZ: return ctaid_[2];
    case Special::ClusterCountX: return nctaid_[0];
    case Special::ClusterCountY: return nctaid_[1];
    case Special::ClusterCountZ: return nctaid_[2];
    case Special::ClusterNctaidX:
    case Special::ClusterNctaidY:
    case Special::ClusterNctaidZ:
    case Special::ClusterNctarank: return b_.getInt32(1);
    case Special::AggregateSmemSize: return frame32(offsetof(machine::BlockFrame, totalSharedBytes));
    case Special::Clock: return helper("ordito_clock32", b_.getInt32Ty(), {});
    case Special::ClockHi: return helper("ordito_clock_hi", b_.getInt32Ty(), {});
    case Special::Clock64: return helper("ordito_clock64", b_.getInt64Ty(), {});
    case Special::Globaltimer: return helper("ordito_globaltimer", b_.getInt64Ty(), {});
    case Special::GlobaltimerLo:
      return b_.CreateTrunc(helper("ordito_globaltimer", b_.getInt64Ty(), {}), b_.getInt32Ty());
    case Special::GlobaltimerHi:
      return b_.CreateTrunc(b_.CreateLShr(helper("ordito_globaltimer", b_.getInt64Ty(), {}), 32), b_.getInt32Ty());
    // Performance counters that count nothing, environment without meaning.
    default: return llvm::Constant::getNullValue(typeOf(isa::info(s).type, false));
  }
}

LlvmValue Emitter::specialVector(isa::Special s, unsigned part) {
  using isa::Special;
  const ir::Shape shape = shapes_.shapeOf(s);
  if (shape.isGrouped()) {
    LlvmValue base = specialBase(s, part);
    return fromBases(shape, {base}, base->getType());
  }
  auto lanes = [&](auto f) {
    ir::Pattern p;
    for (unsigned l = 0; l < kLanes; ++l) p[l] = static_cast<int64_t>(f(l));
    return patternVector(p, b_.getInt32Ty());
  };
  const auto [bx, by, bz] = shapes_.launch().block;
  LlvmValue warp = b_.CreateAdd(b_.CreateMul(group_, b_.getInt32(coarsening_)), b_.getInt32(part));
  LlvmValue thread = b_.CreateAdd(splat(b_.CreateMul(warp, b_.getInt32(kLanes))), lanes([](unsigned l) { return l; }));
  auto by32 = [&](uint32_t n) { return constant(Type::u32, n, true); };
  switch (s) {
    case Special::TidX: return b_.CreateURem(thread, by32(bx));
    case Special::TidY: return b_.CreateURem(b_.CreateUDiv(thread, by32(bx)), by32(by));
    case Special::TidZ: return b_.CreateUDiv(thread, by32(bx * by));
    case Special::LanemaskEq: return lanes([](unsigned l) { return 1u << l; });
    case Special::LanemaskLt: return lanes([](unsigned l) { return (1u << l) - 1; });
    case Special::LanemaskLe: return lanes([](unsigned l) { return (2u << l) - 1; });
    case Special::LanemaskGt: return lanes([](unsigned l) { return ~((2u << l) - 1); });
    case Special::LanemaskGe: return lanes([](unsigned l) { return ~((1u << l) - 1); });
    default:
      throw Refusal{fmt::format("kernel '{}', PTX line {}: special register {} is not supported by the JIT",
                                f_.kernel->name, currentLine_, isa::info(s).spelling)};
  }
}

}  // namespace ordito::jit
