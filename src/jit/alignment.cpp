// Misaligned accesses. A GPU refuses an access whose address is no multiple of its size (PTX ISA, "Operand Type
// Checking" of ld and st; cuda: "misaligned address"), a host does it.
//
// Most addresses are a pointer plus multiples of the size, so only the pointer is tested: one scalar test, and LLVM
// drops those that repeat one that is passed anyway. An address of which nothing is known is tested lane by lane.
#include "jit/alignment.hpp"

#include <llvm/IR/MDBuilder.h>

#include <algorithm>
#include <bit>

namespace ordito::jit {

using isa::ModifierKind;
using ptx::Symbol;
using OperandKind = ptx::Operand::Kind;

/// Ends the launch if operand `k` of `i` is no multiple of `bytes` in an active lane.
void Alignment::check(const Instruction& i, size_t k, unsigned bytes, const Parts& mask) {
  const ptx::Operand& o = i.operands[k];
  const unsigned bits = static_cast<unsigned>(std::countr_zero(bytes));
  if (bits == 0 || i.mods.name(ModifierKind::Space).starts_with("param")) return;
  const uint64_t low = bytes - 1, offset = static_cast<uint64_t>(o.offset) & low;
  if (o.reg == ir::kNoValue) {
    if (o.symbol.kind == Symbol::Kind::None) return;  // [immediate]: faults anyway
    if (o.symbol.kind == Symbol::Kind::LocalVariable && f_.variables[o.symbol.index].space == ptx::Space::Param) return;
    if (plan_.memory.knownBits.zeroBits(o.symbol) >= bits && offset == 0) return;
    ptx::Operand name = o;
    name.kind = OperandKind::Symbol;
    return failIfMisaligned(b_.CreateAnd(operands_.symbolAddress(name, 64), b_.getInt64(low)), i, mask);
  }
  if (plan_.memory.knownBits.zeroBits(o.reg) >= bits) {
    if (offset) failIfMisaligned(b_.getInt64(offset), i, mask);
    return;
  }
  const ValueId root = plan_.memory.knownBits.root(o.reg, bits, plan_.kept.liveness, c_.at.region->resumePoints());
  if (isa::isFloat(f_.values[root].type)) return;
  if (!checkedRoots_.insert({root, bits, offset}).second && !i.guard && !plan_.facts.accesses) return;
  const ir::Shape& shape = shapes_[root];
  auto lowBits = [&](LlvmValue v) {
    LlvmValue sum = offset ? b_.CreateAdd(v, llvm::ConstantInt::get(v->getType(), offset)) : v;
    return b_.CreateAnd(sum, llvm::ConstantInt::get(v->getType(), low));
  };
  const bool samePattern = [&] {
    if (!shape.isSegmented()) return false;
    for (int64_t p : shapes_.pattern(shape.pattern))
      if (static_cast<uint64_t>(p) & low) return false;
    return true;
  }();
  if (samePattern && mask.empty() && offset == 0) {  // one test of all bases together
    LlvmValue all = values_.baseOf(root, 0, 0);
    for (unsigned p = 0; p < values_.partsOf(root); ++p)
      for (unsigned g = 0; g < shape.segments; ++g) all = b_.CreateOr(all, values_.baseOf(root, p, g));
    return failIfMisaligned(lowBits(all), i, mask);
  }
  if (samePattern && (shape.segments == 1 || mask.empty())) {
    for (unsigned p = 0; p < values_.partsOf(root); ++p)
      for (unsigned g = 0; g < shape.segments; ++g)
        failIfMisaligned(lowBits(values_.baseOf(root, p, g)), i,
                         mask.empty() || values_.partsOf(root) < warps() ? mask : Parts{mask[p]});
    return;
  }
  for (unsigned p = 0; p < values_.partsOf(root); ++p) {
    LlvmValue bad =
        b_.CreateICmpNE(lowBits(values_.vectorOf(root, p)), values_.constant(f_.values[root].type, 0, true));
    failIfMisaligned(masks_.laneBits(masks_.both(masks_.maskOf(mask, p), bad)), i, {});
  }
}

/// Ends the launch if `bad` is not zero and a lane of the mask is active.
void Alignment::failIfMisaligned(LlvmValue bad, const Instruction& i, const Parts& mask) {
  LlvmValue fails = b_.CreateICmpNE(bad, llvm::Constant::getNullValue(bad->getType()));
  if (!mask.empty() && (i.guard || warps() > 1 || plan_.facts.accesses))
    fails = b_.CreateAnd(b_.CreateFreeze(fails), masks_.anyLane(mask));  // Masks::both tells why
  auto* fault = c_.newBlock("misaligned");
  auto* on = c_.newBlock("aligned");
  llvm::MDBuilder weights(b_.getContext());
  b_.CreateCondBr(fails, fault, on, weights.createUnlikelyBranchWeights());
  b_.SetInsertPoint(fault);
  c_.helper("ordito_misaligned", b_.getVoidTy(), {c_.frame, b_.getInt32(i.line)}, true);
  b_.CreateUnreachable();
  b_.SetInsertPoint(on);
}

}  // namespace ordito::jit
