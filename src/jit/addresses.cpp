// See addresses.hpp.
#include "jit/addresses.hpp"

#include "ptx/operands.hpp"

namespace ordito::jit {

using isa::ModifierKind;
using isa::Type;
using Operand = ptx::Operand;
using ptx::Space;
using ptx::Symbol;

Address Addresses::addressOf(const Instruction& i, size_t k) {
  const Operand& o = i.operands[k];
  Address a{simt::addressForm(f_, shapes_, i, k), {}, {}, ptx::spaceOf(i, k)};
  // The same for all lanes, but in each thread's local memory its own.
  auto same = [&](LlvmValue base) {
    if (a.space == Space::Local) return ofThreads(std::move(a), [&](unsigned) { return base; });
    a.bases.assign(warps(), {base});
    return a;
  };
  if (o.symbol.kind != Symbol::Kind::None) {
    const bool isVariable =
        o.symbol.kind == Symbol::Kind::ModuleVariable || o.symbol.kind == Symbol::Kind::LocalVariable;
    const bool isShared =
        isVariable &&
        (o.symbol.kind == Symbol::Kind::ModuleVariable ? f_.module->variables : f_.variables)[o.symbol.index].space ==
            Space::Shared;
    Operand name = o;
    name.offset = 0;
    LlvmValue base = operands_.symbolAddress(name, 64);
    if (o.symbol.kind == Symbol::Kind::LocalVariable && !isShared) a.space = Space::Local;
    if (isShared) a.space = Space::Shared, base = b_.CreateAdd(c_.sharedBase(), base);
    return same(base);
  }
  if (o.reg == ir::kNoValue)  // [immediate]
    return same(a.space == Space::Shared ? c_.sharedBase() : b_.getInt64(0));
  const ir::Shape& shape = shapes_[o.reg];
  auto extend = [&](LlvmValue v, bool vector) -> LlvmValue {
    llvm::Type* to =
        vector ? static_cast<llvm::Type*>(llvm::FixedVectorType::get(b_.getInt64Ty(), kLanes)) : b_.getInt64Ty();
    // A 32-bit offset into the shared window is taken as signed: offsets are small, and `x[tid - 1]` may pass through
    // -1 in lanes that are off.
    v = b_.CreateSExtOrTrunc(v, to);
    if (a.space != Space::Shared) return v;
    return b_.CreateAdd(vector ? values_.splat(c_.sharedBase()) : c_.sharedBase(), v);
  };
  if (a.space == Space::Local)
    return ofThreads(std::move(a), [&](unsigned p) {
      LlvmValue offset = byThread_ ? values_.baseOf(o.reg, p, 0) : values_.vectorOf(o.reg, p);
      return b_.CreateZExtOrTrunc(offset, offset->getType()->getWithNewBitWidth(64));
    });
  if (!shape.isSegmented()) {
    for (unsigned p = 0; p < warps(); ++p) a.vectors.push_back(extend(values_.vectorOf(o.reg, p), true));
    return a;
  }
  for (unsigned p = 0; p < warps(); ++p) {
    if (p > 0 && !a.warpVarying) {
      a.bases.push_back(a.bases[0]);
      continue;
    }
    Parts bases;
    for (unsigned g = 0; g < a.segments; ++g)
      bases.push_back(
          extend(values_.resegment(shape, values_.cached(o.reg).bases[p], a.segments, g, a.addsPattern), false));
    a.bases.push_back(bases);
  }
  return a;
}

/// An address in each thread's local memory, of which `offset` gives a number for all lanes, or for each, of a warp.
Address Addresses::ofThreads(Address a, llvm::function_ref<LlvmValue(unsigned part)> offset) {
  for (unsigned p = 0; p < warps(); ++p) {
    if (byThread_)
      a.bases.push_back({localFrame(p, offset(p))});
    else
      a.vectors.push_back(localFrame(p, offset(p)));
  }
  return a;
}

LlvmValue Addresses::addressVector(const Address& a, unsigned part, int64_t offset) {
  LlvmValue v;
  if (!a.isSegmented()) {
    v = a.vectors[part];
  } else {
    ir::Shape s;
    s.kind = ir::Shape::Kind::Segmented;
    s.segments = static_cast<uint8_t>(a.segments);
    v = values_.fromBases(s, a.bases[part], b_.getInt64Ty());
    if (!a.patternless()) v = b_.CreateAdd(v, values_.patternVector(a.pattern, b_.getInt64Ty()));
  }
  return offset ? b_.CreateAdd(v, values_.constant(Type::u64, static_cast<uint64_t>(offset), true)) : v;
}

/// Host addresses of offsets into each lane's local memory. A thread's local memory is contiguous; the block's threads
/// follow each other.
LlvmValue Addresses::localFrame(unsigned part, LlvmValue offsets) {
  const uint64_t bytes = plan_.memory.privateSlots.localBytes;
  LlvmValue first =
      byThread_ ? b_.CreateMul(b_.CreateZExt(c_.at.thread, b_.getInt64Ty()), b_.getInt64(bytes))
                : b_.CreateMul(b_.CreateZExt(c_.warp(part), b_.getInt64Ty()), b_.getInt64(uint64_t{kLanes} * bytes));
  LlvmValue base = b_.CreateAdd(b_.CreatePtrToInt(c_.memory.local, b_.getInt64Ty()), first);
  if (byThread_) return b_.CreateAdd(base, offsets);
  ir::Pattern lanes;
  for (unsigned l = 0; l < kLanes; ++l) lanes[l] = static_cast<int64_t>(l * bytes);
  if (!offsets->getType()->isVectorTy()) offsets = values_.splat(offsets);
  return b_.CreateAdd(b_.CreateAdd(values_.splat(base), values_.patternVector(lanes, b_.getInt64Ty())), offsets);
}

LlvmValue Addresses::localGeneric(LlvmValue a, const Instruction& i, const Source& s) {
  if (!s.vector() && !byThread_) c_.refuse(i, "a uniform local address");
  LlvmValue frame = localFrame(s.part, b_.getInt64(0));
  if (s.vector() && byThread_) frame = values_.splat(frame);
  frame = b_.CreateTrunc(frame, a->getType());
  return i.has(ModifierKind::To) ? b_.CreateSub(a, frame) : b_.CreateAdd(a, frame);
}

LlvmValue Addresses::isSharedAddress(LlvmValue a, const Source& s) {
  return b_.CreateICmpULT(b_.CreateSub(a, operands_.convertScalar(c_.sharedBase(), Type::u64, s)),
                          operands_.convertScalar(c_.sharedBytes(), Type::u64, s));
}

LlvmValue Addresses::isLocalAddress(LlvmValue a, const Source& s) {
  const uint64_t bytes = uint64_t{plan_.facts.warps()} * kLanes * plan_.memory.privateSlots.localBytes;
  LlvmValue offset =
      b_.CreateSub(a, operands_.convertScalar(b_.CreatePtrToInt(c_.memory.local, b_.getInt64Ty()), Type::u64, s));
  return b_.CreateICmpULT(offset, values_.constant(Type::u64, bytes, s.vector()));
}

LlvmValue Addresses::isConstantAddress(LlvmValue a, const Source& s) {
  LlvmValue inside = values_.constant(Type::pred, 0, s.vector());
  for (uint32_t v = 0; v < f_.module->variables.size(); ++v) {
    if (f_.module->variables[v].space != Space::Const) continue;
    Operand name;
    name.kind = Operand::Kind::Symbol;
    name.symbol = {Symbol::Kind::ModuleVariable, v};
    LlvmValue offset = b_.CreateSub(a, operands_.convertScalar(operands_.symbolAddress(name, 64), Type::u64, s));
    inside = b_.CreateOr(
        inside, b_.CreateICmpULT(offset, values_.constant(Type::u64, f_.module->variables[v].size, s.vector())));
  }
  return inside;
}

LlvmValue Addresses::isParameterAddress(LlvmValue a, const Source& s) {
  LlvmValue base = operands_.convertScalar(b_.CreatePtrToInt(c_.memory.parameters, b_.getInt64Ty()), Type::u64, s);
  return b_.CreateICmpULT(b_.CreateSub(a, base), values_.constant(Type::u64, f_.kernel->parameterBytes, s.vector()));
}

}  // namespace ordito::jit
