// See operands.hpp. Everything comes from the rows and notes of isa/ptx.def and the words of isa/modifiers.def.
#include "ptx/operands.hpp"

#include <algorithm>

#include "ptx/matrix.hpp"

namespace ordito::ptx {
namespace {

using isa::ModifierKind;
using isa::OperandForm;
using isa::Touch;
using isa::Type;
using Kind = MemoryAccess::Kind;
using Pattern = MemoryAccess::Pattern;

Kind kindOf(const Instruction& i, Touch touch) {
  if (touch == Touch::Read) return Kind::Load;
  if (touch == Touch::Write) return Kind::Store;
  const auto operands = i.info().form.operandList();
  const bool hasResult = std::any_of(operands.begin(), operands.end(),
                                     [](const OperandForm& o) { return o.kind == OperandForm::Kind::Destination; });
  return hasResult ? Kind::Atomic : Kind::Reduction;
}

/// The constant that says how many bytes `i` moves, if it has one.
const Operand* sizeOf(const Instruction& i) {
  const auto forms = i.info().form.operandList();
  for (size_t k = 0; k < forms.size(); ++k)
    if (forms[k].isSize) return &i.operands[k];
  return nullptr;
}

/// The fragment that a wmma.load or wmma.store moves.
Fragment fragmentMoved(const Instruction& i) {
  const auto forms = i.info().form.operandList();
  for (size_t k = 0; k < forms.size(); ++k)
    if (forms[k].type.rule == isa::OperandType::Rule::Matrix) return fragmentOf(i, k);
  return {};
}

/// PTX ISA, "ldmatrix": the rows of a matrix of 8×8 elements of 16 bits have 16 bytes each.
constexpr unsigned kRowBytes = 16;

void measure(const Instruction& i, MemoryAccess& access) {
  if (const unsigned matrices = isa::numberIn(i.mods, ModifierKind::TileCount)) {
    access.pattern = Pattern::Rows;
    access.count = static_cast<uint8_t>(matrices);
    access.bytes = kRowBytes;
    return;
  }
  if (const Fragment f = fragmentMoved(i); f.registers) {
    access.pattern = Pattern::Matrix;
    access.bytes = f.rows * f.columns * isa::bits(f.element) / 8;
    return;
  }
  if (const Operand* size = sizeOf(i)) {
    access.bytes = static_cast<unsigned>(size->bits);
    return;
  }
  access.count = static_cast<uint8_t>(std::max(1u, isa::numberIn(i.mods, ModifierKind::Vector)));
  access.bytes = isa::bytes(i.type[0]) * access.count;
}

/// A texture converts what it reads, and a surface accessed by .p what it reads and writes, from and to the format.
bool isFormatted(const Instruction& i) { return !i.is(isa::mod<ModifierKind::SurfaceAccess>("b")); }

MemoryAccess accessAt(const Instruction& i, size_t k) {
  const OperandForm& form = i.info().form.operands[k];
  MemoryAccess access;
  access.kind = kindOf(i, form.touch);
  access.operand = static_cast<uint8_t>(k);
  if (form.kind == OperandForm::Kind::Image) {
    access.pattern = Pattern::Image;
    access.space = Space::Global;
    if (isFormatted(i)) return access;
    measure(i, access);
    access.pattern = Pattern::Image;
    return access;
  }
  access.space = spaceOf(i, k);
  access.isAsync = i.has(ModifierKind::AsyncWord) && form.touch != Touch::Update;
  measure(i, access);
  return access;
}

}  // namespace

Type operandType(const Instruction& i, size_t k) {
  using Rule = isa::OperandType::Rule;
  const isa::OperandType& type = i.info().form.operands[k].type;
  switch (type.rule) {
    case Rule::None: return Type::None;
    case Rule::Fixed: return type.type;
    case Rule::Slot: return i.type[type.slot];
    case Rule::Wide: return i.is(isa::mod<ModifierKind::MulMode>("wide")) ? isa::twiceAsWide(i.type[0]) : i.type[0];
    case Rule::Matrix: return fragmentOf(i, k).registerType();
  }
  return Type::None;
}

Space spaceOf(const Instruction& i) { return isa::spaceOf(i.mods); }

Space spaceOf(const Instruction& i, size_t k) {
  const Space own = i.info().form.operands[k].space;
  return own == Space::Generic ? spaceOf(i) : own;
}

MemoryAccesses::MemoryAccesses(const Instruction& i) {
  const auto forms = i.info().form.operandList();
  for (size_t k = 0; k < forms.size(); ++k)
    if (forms[k].touch != Touch::None) accesses_[count_++] = accessAt(i, k);
}

}  // namespace ordito::ptx
