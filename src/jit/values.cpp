// SSA values as LLVM values: scalars for segmented shapes, vectors of 32 lanes for general ones, and the stack slots
// that carry them between blocks. Slots are plain allocas; LLVM's SROA turns them into SSA form again, so code for one
// PTX block may be emitted several times.
#include "jit/values.hpp"

#include <algorithm>

#include "ir/shape_transfer.hpp"

namespace ordito::jit {

using isa::Type;
using Operand = ptx::Operand;

llvm::Type* Values::typeOf(Type t, bool vector) {
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
void Values::forget(ValueId v) {
  auto clear = [&](llvm::AllocaInst* slot) {
    if (slot) b_.CreateStore(llvm::PoisonValue::get(slot->getAllocatedType()), slot);
  };
  for (const auto& part : slots_[v].bases)
    for (auto* slot : part) clear(slot);
  for (auto* slot : slots_[v].vectors) clear(slot);
}

void Values::makeSlots() {
  llvm::IRBuilder<> at(c_.entry);
  slots_.resize(f_.values.size());
  const unsigned most = plan_.facts.coarsening.most();
  for (ValueId v = 0; v < f_.values.size(); ++v) {
    if (!plan_.kept.liveness.crossesBlock[v]) continue;
    const ir::Shape& s = shapes_[v];
    const bool isMask = f_.values[v].type == Type::pred;
    if (s.isSegmented()) {
      for (unsigned p = 0; p < most; ++p) {
        if (p > 0 && simt::isShared(s)) {
          slots_[v].bases.push_back(slots_[v].bases[0]);
          continue;
        }
        std::vector<llvm::AllocaInst*> bases;
        for (unsigned g = 0; g < s.segments; ++g)
          bases.push_back(at.CreateAlloca(valueType(v, false), nullptr, f_.values[v].name));
        slots_[v].bases.push_back(bases);
      }
    }
    if (!s.isSegmented() || plan_.kept.spills.isDual(v))
      for (unsigned p = 0; p < most; ++p)
        slots_[v].vectors.push_back(
            at.CreateAlloca(isMask ? masks_.storageType() : valueType(v, true), nullptr, f_.values[v].name));
  }
}

LlvmValue Values::splat(LlvmValue scalar) { return b_.CreateVectorSplat(kLanes, scalar); }

LlvmValue Values::patternVector(const ir::Pattern& p, llvm::Type* scalarType) {
  std::vector<llvm::Constant*> lanes;
  for (int64_t v : p) lanes.push_back(llvm::ConstantInt::get(scalarType, static_cast<uint64_t>(v), true));
  return llvm::ConstantVector::get(lanes);
}

/// The vector that bases and pattern stand for.
LlvmValue Values::fromBases(const ir::Shape& shape, const Parts& bases, llvm::Type* scalarType) {
  LlvmValue v;
  if (shape.segments == 1) {
    v = splat(bases[0]);
  } else {
    v = llvm::PoisonValue::get(llvm::FixedVectorType::get(scalarType, kLanes));
    for (unsigned g = 0; g < shape.segments; ++g) v = b_.CreateInsertElement(v, bases[g], b_.getInt32(g));
    std::vector<int> lanes;
    for (unsigned l = 0; l < kLanes; ++l) lanes.push_back(static_cast<int>(l * shape.segments / kLanes));
    v = b_.CreateShuffleVector(v, lanes);
  }
  if (shape.pattern == 0) return v;
  return b_.CreateAdd(v, patternVector(shapes_.pattern(shape.pattern), scalarType));
}

/// The base of segment `segment` when the value is split into `segments` segments; with the pattern added where that is
/// constant in each segment.
LlvmValue Values::resegment(const ir::Shape& shape, const Parts& bases, unsigned segments, unsigned segment,
                            bool addPattern) {
  LlvmValue base = bases[segment * shape.segments / segments];
  if (!addPattern || shape.pattern == 0) return base;
  const int64_t extra = shapes_.pattern(shape.pattern)[segment * kLanes / segments];
  return extra ? b_.CreateAdd(base, llvm::ConstantInt::get(base->getType(), static_cast<uint64_t>(extra), true)) : base;
}

CachedValue& Values::cached(ValueId v) {
  auto [it, isNew] = valueCache_.try_emplace(v);
  CachedValue& h = it->second;
  if (!isNew) return h;
  h.vectors.assign(warps(), nullptr);
  const Slots& s = slots_[v];
  const bool defined = !s.bases.empty() || !s.vectors.empty();
  if (shapes_[v].isSegmented()) {
    for (unsigned p = 0; p < warps(); ++p) {
      Parts bases;
      for (unsigned g = 0; g < shapes_[v].segments; ++g) {
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
  if (!shapes_[v].isSegmented() || !s.vectors.empty())
    for (unsigned p = 0; p < warps(); ++p) {
      if (s.vectors.empty())
        h.vectors[p] = llvm::Constant::getNullValue(valueType(v, true));
      else if (f_.values[v].type == Type::pred)
        h.vectors[p] = masks_.fromStorage(b_.CreateLoad(masks_.storageType(), s.vectors[p]));
      else
        h.vectors[p] = b_.CreateLoad(valueType(v, true), s.vectors[p]);
    }
  return h;
}

LlvmValue Values::baseOf(ValueId v, unsigned part, unsigned segment) { return cached(v).bases[part][segment]; }

LlvmValue Values::vectorOf(ValueId v, unsigned part) {
  CachedValue& h = cached(v);
  // Not cached: a splat is free to make again, and the place where it was first made may not dominate the next use.
  if (h.vectors[part]) return h.vectors[part];
  return fromBases(shapes_[v], h.bases[part], valueType(v, false));
}

/// Gives `v` its value, in the block being emitted and, where others read it, in its slots.
void Values::define(ValueId v, CachedValue value) {
  value.vectors.resize(warps(), nullptr);
  const bool keeps = c_.at.keeping && std::ranges::find(*c_.at.keeping, v) != c_.at.keeping->end();
  store(v, value, keeps ? c_.at.mask : Parts{});
  valueCache_[v] = std::move(value);
}

void Values::defineVector(ValueId v, Parts vectors) {
  CachedValue h;
  if (shapes_[v].isSegmented()) {
    // A chapter made a vector where the analysis knows that all lanes of a segment agree: keep the bases.
    const ir::Shape& s = shapes_[v];
    for (unsigned p = 0; p < warps(); ++p) {
      Parts bases;
      for (unsigned g = 0; g < s.segments; ++g)
        bases.push_back(b_.CreateExtractElement(vectors[p], uint64_t{g} * kLanes / s.segments));
      h.bases.push_back(bases);
    }
  } else {
    h.vectors = std::move(vectors);
  }
  define(v, std::move(h));
}

/// Writes slots. With a mask, lanes outside of it keep what they had.
void Values::store(ValueId v, const CachedValue& value, const Parts& mask) {
  const Slots& s = slots_[v];
  for (unsigned p = 0; p < (s.bases.empty() ? 0 : partsOf(v)); ++p)
    for (unsigned g = 0; g < s.bases[p].size(); ++g) b_.CreateStore(value.bases[p][g], s.bases[p][g]);
  for (unsigned p = 0; p < (s.vectors.empty() ? 0 : warps()); ++p) {
    LlvmValue x = value.vectors[p];
    if (!x) x = fromBases(shapes_[v], value.bases[p], valueType(v, false));
    if (f_.values[v].type == Type::pred) x = masks_.toStorage(x);
    if (!mask.empty()) x = b_.CreateSelect(mask[p], x, b_.CreateLoad(x->getType(), s.vectors[p]));
    b_.CreateStore(x, s.vectors[p]);
  }
}

LlvmValue Values::constant(Type t, uint64_t bits, bool vector) {
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
LlvmValue Values::convertBits(LlvmValue v, llvm::Type* to) {
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

llvm::Type* Values::memoryType(Type t) {
  if (t == Type::f32) return b_.getFloatTy();
  if (t == Type::f64) return b_.getDoubleTy();
  return b_.getIntNTy(isa::bits(t));
}

/// A loaded element in the type of the register it goes to: narrower types are sign- or zero-extended.
LlvmValue Values::extendLoaded(LlvmValue v, const Instruction& i, ValueId to, bool vector) {
  llvm::Type* want = valueType(to, vector);
  if (v->getType()->isIntOrIntVectorTy() && want->isIntOrIntVectorTy())
    return isa::isSigned(i.type[0]) ? b_.CreateSExtOrTrunc(v, want) : b_.CreateZExtOrTrunc(v, want);
  return convertBits(v, want);
}

LlvmValue Values::lanesOf(LlvmValue vector, unsigned first, unsigned count) {
  if (count == kLanes) return vector;
  std::vector<int> lanes;
  for (unsigned l = 0; l < count; ++l) lanes.push_back(static_cast<int>(first + l));
  return b_.CreateShuffleVector(vector, lanes);
}

/// Defines the elements of the vector that is operand 0, or that operand itself; `values` has an entry for each, which
/// has one value for each part.
void Values::defineElements(const Instruction& i, const std::vector<Parts>& values) {
  unsigned definition = 0;
  for (unsigned k = 0; k < values.size(); ++k) {
    const Operand& to = elementOf(i.operands[0], k);
    if (to.kind != Operand::Kind::Register) continue;
    Parts parts;
    for (unsigned p = 0; p < warps(); ++p) {
      LlvmValue v = convertBits(values[k][p], valueType(to.reg, true));
      if (i.guard)
        v = b_.CreateSelect(conditionMask(i.guard.reg, i.guard.negated)[p], v, vectorOf(i.prior[definition], p));
      parts.push_back(v);
    }
    defineVector(to.reg, parts);
    ++definition;
  }
}

/// Lanes on which `condition` (or its negation) holds.
Parts Values::conditionMask(ValueId condition, bool negated) {
  Parts parts;
  for (unsigned p = 0; p < warps(); ++p) {
    LlvmValue m = vectorOf(condition, p);
    parts.push_back(negated ? b_.CreateNot(m) : m);
  }
  return parts;
}

/// The current mask, cut by the instruction's guard.
Parts Values::guardedMask(const Instruction& i) {
  if (!i.guard) return c_.at.mask;
  return masks_.both(c_.at.mask, conditionMask(i.guard.reg, i.guard.negated));
}

}  // namespace ordito::jit
