// PTX ISA, "Data Movement and Conversion Instructions": those that do not touch memory, but cvt.
#include "jit/pure_chapters.hpp"

namespace ordito::jit {

using isa::ModifierKind;
using isa::Type;
using Results = PureResults;
using Kind = ptx::Operand::Kind;

/// mov also packs {a, b, …} into one register and unpacks it.
Results DataMovement::Mov() {
  const Type t = i.type[0], bits = isa::bits(t) == 128 ? Type::b128 : unsignedOf(isa::bits(t));
  const auto& to = i.operands[0];
  const auto& from = i.operands[1];
  if (to.kind == Kind::Vector) {
    LlvmValue whole = in(1, bits);
    const unsigned width = isa::bits(t) / static_cast<unsigned>(to.elements.size());
    Results r{};
    for (unsigned k = 0; k < to.elements.size(); ++k)
      r[k] = b.CreateTrunc(b.CreateLShr(whole, uint64_t{k} * width), type(unsignedOf(width)));
    return r;
  }
  if (from.kind == Kind::Vector) {
    const unsigned width = isa::bits(t) / static_cast<unsigned>(from.elements.size());
    LlvmValue whole = number(t, 0);
    whole = b.CreateBitCast(whole, type(bits));
    for (unsigned k = 0; k < from.elements.size(); ++k) {
      LlvmValue part = b.CreateZExt(operands.operand(from.elements[k], unsignedOf(width), s), whole->getType());
      whole = b.CreateOr(whole, b.CreateShl(part, uint64_t{k} * width));
    }
    return {whole};
  }
  return {passIn(1)};
}

/// Generic addresses are host addresses. A shared address is an offset into the block's window.
Results DataMovement::Cvta() {
  const Type t = i.type[0];
  const auto space = i.mods.name(ModifierKind::Space);
  LlvmValue a = in(1);
  if (space == "local") return {addresses.localGeneric(a, i, s)};
  if (!space.starts_with("shared")) return {a};
  LlvmValue window = operands.convertScalar(context.sharedBase(), t, s);
  return {i.has(ModifierKind::To) ? b.CreateSub(a, window) : b.CreateAdd(a, window)};
}

Results DataMovement::Isspacep() {
  const auto space = i.mods.name(ModifierKind::Space);
  LlvmValue a = in(1, Type::u64);
  if (space.starts_with("shared")) return {addresses.isSharedAddress(a, s)};
  if (space == "local") return {addresses.isLocalAddress(a, s)};
  if (space == "const") return {addresses.isConstantAddress(a, s)};
  if (space.starts_with("param")) return {addresses.isParameterAddress(a, s)};
  LlvmValue other = b.CreateOr(b.CreateOr(addresses.isSharedAddress(a, s), addresses.isLocalAddress(a, s)),
                               b.CreateOr(addresses.isConstantAddress(a, s), addresses.isParameterAddress(a, s)));
  return {b.CreateNot(other)};
}

Results DataMovement::CreatePolicy() { return {number(Type::u64, 0)}; }

Results DataMovement::CreatePolicyRange() { return {number(Type::u64, 0)}; }

Results DataMovement::CreatePolicyCvt() { return {number(Type::u64, 0)}; }

/// A cluster is one block, of rank 0; the address of any other is one where nothing is.
Results DataMovement::Mapa() {
  LlvmValue isMine = b.CreateICmpEQ(in(2, Type::u32), number(Type::u32, 0));
  return {b.CreateSelect(isMine, in(1), number(i.type[0], ~uint64_t{0}))};
}

Results DataMovement::GetCtaRank() { return {number(Type::u32, 0)}; }

}  // namespace ordito::jit
