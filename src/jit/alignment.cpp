// Misaligned accesses. A GPU refuses an access whose address is no multiple of its size (PTX ISA, "Operand Type
// Checking" of ld and st; cuda: "misaligned address"), a host does it.
//
// Most addresses are a pointer plus multiples of the size, so only the pointer is tested: one scalar test, and LLVM
// drops those that repeat one that is passed anyway. An address of which nothing is known is tested lane by lane.
#include <llvm/IR/MDBuilder.h>

#include <algorithm>
#include <bit>

#include "jit/emitter.hpp"

namespace ordito::jit {

using isa::ModifierKind;
using isa::Op;
using ptx::Symbol;
using OperandKind = ptx::Operand::Kind;

namespace {
constexpr unsigned kDepth = 16;  // definitions looked through
constexpr auto kWide = isa::mod<ModifierKind::MulMode>("wide");
constexpr auto kLo = isa::mod<ModifierKind::MulMode>("lo");

/// A conversion that keeps the low bits.
bool isPlainConversion(const Instruction& i) {
  return isa::isInteger(i.type[0]) && isa::isInteger(i.type[1]) && isa::bits(i.type[1]) >= 32 &&
         !i.has(ModifierKind::Saturate);
}
}  // namespace

/// How many low bits of the operand are zero in all lanes, as far as its definition says; 64 for zero itself.
unsigned Emitter::zeroBits(const ptx::Operand& o, unsigned depth) const {
  if (o.kind == OperandKind::Integer) return o.bits ? static_cast<unsigned>(std::countr_zero(o.bits)) : 64;
  if (o.kind == OperandKind::Special) return 0;
  if (o.symbol.kind != Symbol::Kind::None) return std::min(symbolZeroBits(o.symbol), offsetZeroBits(o.offset));
  return o.kind == OperandKind::Register ? zeroBits(o.reg, depth) : 0;
}

unsigned Emitter::offsetZeroBits(int64_t offset) {
  return offset ? static_cast<unsigned>(std::countr_zero(static_cast<uint64_t>(offset))) : 64;
}

/// Of the address of a variable; parameters lie where their offsets say, in a block that is aligned for anything.
unsigned Emitter::symbolZeroBits(const Symbol& s) const {
  switch (s.kind) {
    case Symbol::Kind::ModuleVariable:
      return static_cast<unsigned>(std::countr_zero(std::max(f_.module->variables[s.index].alignment, 1u)));
    case Symbol::Kind::LocalVariable:
      return static_cast<unsigned>(std::countr_zero(std::max(f_.variables[s.index].alignment, 1u)));
    case Symbol::Kind::Parameter:
      return static_cast<unsigned>(std::countr_zero(f_.kernel->parameters[s.index].offset | 16u));
    default: return 0;
  }
}

unsigned Emitter::zeroBits(ValueId v, unsigned depth) const {
  unsigned known = 0;
  if (shapes_[v].isGrouped()) {
    known = shapes_[v].alignment;
    for (int64_t p : shapes_.pattern(shapes_[v].pattern)) known = std::min(known, offsetZeroBits(p));
  }
  const Instruction* i = definition_[v];
  if (!i || i->guard || depth == 0) return known;
  auto of = [&](size_t k) { return zeroBits(i->operands[k], depth - 1); };
  auto product = [&] { return std::min(of(1) + of(2), 64u); };
  unsigned found = 0;
  switch (i->op) {
    case Op::Mov:
    case Op::Cvta: found = i->operands[1].kind == OperandKind::Vector ? 0 : of(1); break;
    case Op::Cvt: found = isPlainConversion(*i) ? of(1) : 0; break;
    case Op::Add:
    case Op::Sub: found = i->has(ModifierKind::Saturate) ? 0 : std::min(of(1), of(2)); break;
    case Op::Mul: found = i->is(kWide) || i->is(kLo) ? product() : 0; break;
    case Op::Mad: found = i->is(kWide) || i->is(kLo) ? std::min(product(), of(3)) : 0; break;
    case Op::Shl:
      if (i->operands[2].kind == OperandKind::Integer)
        found = std::min(of(1) + static_cast<unsigned>(std::min<uint64_t>(i->operands[2].bits, 64)), 64u);
      break;
    case Op::And: found = std::max(of(1), of(2)); break;
    case Op::Or: found = std::min(of(1), of(2)); break;
    default: break;
  }
  return std::max(known, found);
}

/// Is there a point, of those from which the code being emitted is entered, where `v` is still known and what it was
/// made from no more?
bool Emitter::outlives(ValueId v, ValueId from) const {
  return std::any_of(regionPoints_.begin(), regionPoints_.end(), [&](uint32_t point) {
    const auto& found = liveAt_[point];
    return std::binary_search(found.begin(), found.end(), v) && !std::binary_search(found.begin(), found.end(), from);
  });
}

/// The value that decides the low `bits` bits of `v`: what is left when multiples of 2^bits are taken away.
ValueId Emitter::alignmentRoot(ValueId v, unsigned bits) const {
  for (unsigned depth = 0; depth < kDepth; ++depth) {
    const Instruction* i = definition_[v];
    if (!i || i->guard) return v;
    size_t next = 0;
    auto vanishes = [&](size_t k) { return zeroBits(i->operands[k], kDepth) >= bits; };
    switch (i->op) {
      case Op::Mov:
      case Op::Cvta: next = 1; break;
      case Op::Cvt: next = isPlainConversion(*i) ? 1 : 0; break;
      case Op::Add: next = i->has(ModifierKind::Saturate) ? 0 : vanishes(2) ? 1 : vanishes(1) ? 2 : 0; break;
      case Op::Mad: {
        const bool exact = i->is(kWide) || i->is(kLo);
        const unsigned product = zeroBits(i->operands[1], kDepth) + zeroBits(i->operands[2], kDepth);
        next = exact && product >= bits ? 3 : 0;
        break;
      }
      default: break;
    }
    // cvta.local and its like add a base that is aligned for anything.
    if (!next || i->operands[next].kind != OperandKind::Register) return v;
    const ValueId from = i->operands[next].reg;
    if (outlives(v, from)) return v;
    v = from;
  }
  return v;
}

/// Ends the launch if operand `k` of `i` is no multiple of `bytes` in an active lane.
void Emitter::checkAlignment(const Instruction& i, size_t k, unsigned bytes, const Parts& mask) {
  const ptx::Operand& o = i.operands[k];
  const unsigned bits = static_cast<unsigned>(std::countr_zero(bytes));
  if (bits == 0 || i.mods.name(ModifierKind::Space).starts_with("param")) return;
  const uint64_t low = bytes - 1, offset = static_cast<uint64_t>(o.offset) & low;
  if (o.reg == ir::kNoValue) {
    if (o.symbol.kind == Symbol::Kind::None) return;  // [immediate]: faults anyway
    if (o.symbol.kind == Symbol::Kind::LocalVariable && f_.variables[o.symbol.index].space == ptx::Space::Param) return;
    if (symbolZeroBits(o.symbol) >= bits && offset == 0) return;
    ptx::Operand name = o;
    name.kind = OperandKind::Symbol;
    return failIfMisaligned(b_.CreateAnd(symbolAddress(name, 64), b_.getInt64(low)), i, mask);
  }
  if (zeroBits(o.reg, kDepth) >= bits) {
    if (offset) failIfMisaligned(b_.getInt64(offset), i, mask);
    return;
  }
  const ValueId root = alignmentRoot(o.reg, bits);
  if (isa::isFloat(f_.values[root].type)) return;
  if (!checkedRoots_.insert({root, bits, offset}).second && !i.guard) return;
  const ir::Shape& shape = shapes_[root];
  auto lowBits = [&](LlvmValue v) {
    LlvmValue sum = offset ? b_.CreateAdd(v, llvm::ConstantInt::get(v->getType(), offset)) : v;
    return b_.CreateAnd(sum, llvm::ConstantInt::get(v->getType(), low));
  };
  const bool samePattern = [&] {
    if (!shape.isGrouped()) return false;
    for (int64_t p : shapes_.pattern(shape.pattern))
      if (static_cast<uint64_t>(p) & low) return false;
    return true;
  }();
  if (samePattern && mask.empty() && offset == 0) {  // one test of all bases together
    LlvmValue all = baseOf(root, 0, 0);
    for (unsigned p = 0; p < partsOf(root); ++p)
      for (unsigned g = 0; g < shape.groups; ++g) all = b_.CreateOr(all, baseOf(root, p, g));
    return failIfMisaligned(lowBits(all), i, mask);
  }
  if (samePattern && (shape.groups == 1 || mask.empty())) {
    for (unsigned p = 0; p < partsOf(root); ++p)
      for (unsigned g = 0; g < shape.groups; ++g)
        failIfMisaligned(lowBits(baseOf(root, p, g)), i, mask.empty() || partsOf(root) < jam_ ? mask : Parts{mask[p]});
    return;
  }
  for (unsigned p = 0; p < partsOf(root); ++p) {
    LlvmValue bad = b_.CreateICmpNE(lowBits(vectorOf(root, p)), constant(f_.values[root].type, 0, true));
    if (!mask.empty()) bad = b_.CreateAnd(bad, mask[p]);
    failIfMisaligned(laneBits(bad), i, {});
  }
}

/// Ends the launch if `bad` is not zero and a lane of the mask is active.
void Emitter::failIfMisaligned(LlvmValue bad, const Instruction& i, const Parts& mask) {
  LlvmValue fails = b_.CreateICmpNE(bad, llvm::Constant::getNullValue(bad->getType()));
  if (!mask.empty() && (i.guard || jam_ > 1)) fails = b_.CreateAnd(fails, anyLane(mask));
  auto* fault = newBlock("misaligned");
  auto* on = newBlock("aligned");
  llvm::MDBuilder weights(context_);
  b_.CreateCondBr(fails, fault, on, weights.createUnlikelyBranchWeights());
  b_.SetInsertPoint(fault);
  helper("ordito_misaligned", b_.getVoidTy(), {frame_, b_.getInt32(i.line)}, true);
  b_.CreateUnreachable();
  b_.SetInsertPoint(on);
}

}  // namespace ordito::jit
