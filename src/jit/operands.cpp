// See operands.hpp.
#include "jit/operands.hpp"

#include "ir/shape_transfer.hpp"

namespace ordito::jit {

using isa::Type;
using Operand = ptx::Operand;
using ptx::Space;
using ptx::Symbol;

LlvmValue Operands::operand(const Instruction& i, size_t k, Type t, const Source& s) {
  Source own = s;
  own.addPattern |= ir::splitsOperand(i, k);
  return operand(i.operands[k], t, own);
}

LlvmValue Operands::operand(const Operand& o, Type t, const Source& s) {
  llvm::Type* to = values_.typeOf(t, s.vector());
  switch (o.kind) {
    case Operand::Kind::Register: {
      LlvmValue v = s.vector() ? values_.vectorOf(o.reg, s.part)
                               : values_.resegment(shapes_[o.reg], values_.cached(o.reg).bases[s.part], s.segments,
                                                   static_cast<unsigned>(s.segment), s.addPattern);
      v = values_.convertBits(t == Type::f32 ? v : mended(o.reg, v), to);
      return o.negated ? b_.CreateNot(v) : v;
    }
    case Operand::Kind::Integer:
    case Operand::Kind::Float: return values_.constant(t, ptx::immediateBits(o, t), s.vector());
    case Operand::Kind::Special: {
      if (s.vector()) return values_.convertBits(specialVector(o.special, s.part), to);
      const ir::Shape shape = shapes_.shapeOf(o.special);
      return values_.convertBits(values_.resegment(shape, {specialBase(o.special, s.part)}, s.segments,
                                                   static_cast<unsigned>(s.segment), s.addPattern),
                                 to);
    }
    case Operand::Kind::Symbol: {
      LlvmValue a = symbolAddress(o, isa::bits(t));
      if (!s.vector()) return values_.convertBits(a, to);
      return values_.convertBits(a->getType()->isVectorTy() ? a : values_.splat(a), to);
    }
    default:
      throw Refusal{fmt::format("kernel '{}', PTX line {}: an operand of a kind that this instruction does not take",
                                f_.kernel->name, c_.at.line)};
  }
}

/// An operand of which an f32 NaN's bits will be seen.
LlvmValue Operands::exactBits(const Operand& o, Type t, const Source& s) {
  LlvmValue v = operand(o, t, s);
  return t == Type::f32 && o.kind == Operand::Kind::Register ? mended(o.reg, v) : v;
}

/// `x`, the value of `v`, fit for eyes that look at bits.
LlvmValue Operands::mended(ValueId v, LlvmValue x) { return plan_.nans.isDirty(v) ? canonicalNan(x) : x; }

LlvmValue Operands::canonicalNan(LlvmValue v) {
  auto as = [&](llvm::Type* scalar) {
    return v->getType()->isVectorTy() ? static_cast<llvm::Type*>(llvm::FixedVectorType::get(scalar, kLanes)) : scalar;
  };
  // In integers, since LLVM may change the payload of a floating-point NaN.
  LlvmValue bits = b_.CreateBitCast(v, as(b_.getInt32Ty())), number = b_.CreateBitCast(v, as(b_.getFloatTy()));
  bits = b_.CreateSelect(b_.CreateFCmpUNO(number, number), llvm::ConstantInt::get(bits->getType(), 0x7FFFFFFF), bits);
  return b_.CreateBitCast(bits, v->getType());
}

LlvmValue Operands::convertScalar(LlvmValue v, Type t, const Source& s) {
  v = b_.CreateZExtOrTrunc(v, values_.typeOf(t, false));
  return s.vector() ? values_.splat(v) : v;
}

/// The address of a name as PTX's mov sees it: host addresses, but offsets for shared and local variables.
LlvmValue Operands::symbolAddress(const Operand& o, unsigned bits) {
  const uint64_t offset = static_cast<uint64_t>(o.offset);
  auto number = [&](uint64_t n) { return b_.getIntN(bits, n); };
  auto host = [&](LlvmValue p) {
    return b_.CreateZExtOrTrunc(b_.CreateAdd(b_.CreatePtrToInt(p, b_.getInt64Ty()), b_.getInt64(offset)),
                                b_.getIntNTy(bits));
  };
  switch (o.symbol.kind) {
    case Symbol::Kind::Parameter:
      return host(b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), c_.memory.parameters,
                                                f_.kernel->parameters[o.symbol.index].offset));
    case Symbol::Kind::ModuleVariable: {
      const ptx::Variable& v = f_.module->variables[o.symbol.index];
      if (v.space == Space::Shared)
        return number(v.count == 0
                          ? c_.layout.dynamicSharedOffset + offset
                          : c_.layout.sharedOffset.at({machine::KernelLayout::kModule, o.symbol.index}) + offset);
      auto* load = b_.CreateLoad(
          b_.getPtrTy(), b_.CreateConstInBoundsGEP1_64(b_.getPtrTy(), c_.memory.globals, o.symbol.index), v.name);
      load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(b_.getContext(), {}));
      return host(load);
    }
    case Symbol::Kind::LocalVariable: {
      const ptx::Variable& v = f_.variables[o.symbol.index];
      const auto key = f_.origin[o.symbol.index];
      if (v.space == Space::Shared)
        return number((v.count == 0 ? c_.layout.dynamicSharedOffset : c_.layout.sharedOffset.at(key)) + offset);
      if (v.space == Space::Local || v.space == Space::Param)
        return number(plan_.memory.privateSlots.localOffset[o.symbol.index] + offset);
      break;
    }
    case Symbol::Kind::Function: {
      LlvmValue all = c_.frameField(offsetof(machine::BlockFrame, functions), b_.getPtrTy(), "functions");
      return host(b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), all, o.symbol.index * sizeof(ptx::Function)));
    }
    default: break;
  }
  throw Refusal{
      fmt::format("kernel '{}', PTX line {}: the address of this name (a function, say) is not supported by the JIT; "
                  "run with ORDITO_ENGINE=interp",
                  f_.kernel->name, c_.at.line)};
}

}  // namespace ordito::jit
