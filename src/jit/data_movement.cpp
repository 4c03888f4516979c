// PTX ISA, "Data Movement and Conversion Instructions": those that do not touch memory, but cvt.
#include "jit/pure_chapters.hpp"

namespace ordito::jit {

using isa::ModifierKind;
using isa::Type;
using Results = PureResults;
using Kind = ptx::Operand::Kind;

/// mov also packs {a, b, …} into one register and unpacks it.
Results DataMovement::Mov() {
  const Type t = i_.type[0], bits = isa::bits(t) == 128 ? Type::b128 : unsignedOf(isa::bits(t));
  const auto& to = i_.operands[0];
  const auto& from = i_.operands[1];
  if (to.kind == Kind::Vector) {
    LlvmValue whole = in(1, bits);
    const unsigned width = isa::bits(t) / static_cast<unsigned>(to.elements.size());
    Results r{};
    for (unsigned k = 0; k < to.elements.size(); ++k)
      r[k] = b_.CreateTrunc(b_.CreateLShr(whole, uint64_t{k} * width), type(unsignedOf(width)));
    return r;
  }
  if (from.kind == Kind::Vector) {
    const unsigned width = isa::bits(t) / static_cast<unsigned>(from.elements.size());
    LlvmValue whole = number(t, 0);
    whole = b_.CreateBitCast(whole, type(bits));
    for (unsigned k = 0; k < from.elements.size(); ++k) {
      LlvmValue part = b_.CreateZExt(operands_.operand(from.elements[k], unsignedOf(width), s_), whole->getType());
      whole = b_.CreateOr(whole, b_.CreateShl(part, uint64_t{k} * width));
    }
    return {whole};
  }
  return {passIn(1)};
}

/// Generic addresses are host addresses. A shared address is an offset into the block's window.
Results DataMovement::Cvta() {
  const Type t = i_.type[0];
  const auto space = i_.mods.name(ModifierKind::Space);
  LlvmValue a = in(1);
  if (space == "local") return {addresses_.localGeneric(a, i_, s_)};
  if (!space.starts_with("shared")) return {a};
  LlvmValue window = operands_.convertScalar(context_.sharedBase(), t, s_);
  return {i_.has(ModifierKind::To) ? b_.CreateSub(a, window) : b_.CreateAdd(a, window)};
}

Results DataMovement::Isspacep() {
  const auto space = i_.mods.name(ModifierKind::Space);
  LlvmValue a = in(1, Type::u64);
  if (space.starts_with("shared")) return {addresses_.isSharedAddress(a, s_)};
  if (space == "local") return {addresses_.isLocalAddress(a, s_)};
  if (space == "const") return {addresses_.isConstantAddress(a, s_)};
  if (space.starts_with("param")) return {addresses_.isParameterAddress(a, s_)};
  LlvmValue other = b_.CreateOr(b_.CreateOr(addresses_.isSharedAddress(a, s_), addresses_.isLocalAddress(a, s_)),
                                b_.CreateOr(addresses_.isConstantAddress(a, s_), addresses_.isParameterAddress(a, s_)));
  return {b_.CreateNot(other)};
}

Results DataMovement::CreatePolicy() { return {number(Type::u64, 0)}; }

Results DataMovement::CreatePolicyRange() { return {number(Type::u64, 0)}; }

Results DataMovement::CreatePolicyCvt() { return {number(Type::u64, 0)}; }

/// A cluster is one block, of rank 0; the address of any other is one where nothing is.
Results DataMovement::Mapa() {
  LlvmValue isMine = b_.CreateICmpEQ(in(2, Type::u32), number(Type::u32, 0));
  return {b_.CreateSelect(isMine, in(1), number(i_.type[0], ~uint64_t{0}))};
}

Results DataMovement::GetCtaRank() { return {number(Type::u32, 0)}; }

}  // namespace ordito::jit
