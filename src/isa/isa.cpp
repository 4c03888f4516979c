// The table itself, and what must hold of it.
#include "isa/isa.hpp"

#include "isa/syntax.hpp"

namespace ordito::isa {

constexpr OpInfo kOps[] = {
#define PTX(name, syntax, types, effect, unit, since, target, anchor) \
  {#name,                                                             \
   syntax,                                                            \
   detail::parseForm(syntax, Effect::effect),                         \
   detail::parseTypes(types),                                         \
   Effect::effect,                                                    \
   Unit::unit,                                                        \
   since,                                                             \
   parseTarget(#target),                                              \
   anchor},
#include "isa/ptx.def"
};

/// Every type slot of a row has alternatives, and no others have.
consteval bool typesMatchSlots() {
  for (const OpInfo& row : kOps) {
    std::array<bool, kTypeSlots> used{};
    for (const Slot& slot : row.form.slotList())
      if (slot.kind == Slot::Kind::Type) used[slot.type] = true;
    for (int t = 0; t < kTypeSlots; ++t)
      if (used[t] != (row.types[t] != 0)) return false;
  }
  return true;
}

/// At most one operand names the lanes or the size, and an operand has the type of a slot only where the row has it.
consteval bool operandsFit() {
  for (const OpInfo& row : kOps) {
    int sizes = 0;
    for (const OperandForm& operand : row.form.operandList()) {
      sizes += operand.isSize;
      if (operand.type.rule == OperandType::Rule::Slot && row.types[operand.type.slot] == 0) return false;
      if (operand.touch != Touch::None && !operand.isAddress()) return false;
    }
    if (sizes > 1) return false;
  }
  return true;
}

static_assert(typesMatchSlots());
static_assert(operandsFit());
static_assert(sizeof(kModifiers) / sizeof(kModifiers[0]) == static_cast<size_t>(ModifierKind::Count));
static_assert(kOps[static_cast<size_t>(Op::Setp)].form.operandCount == 4 &&
              kOps[static_cast<size_t>(Op::Setp)].form.operands[1].paired);
static_assert(kOps[static_cast<size_t>(Op::Ld)].form.operands[1].kind == OperandForm::Kind::Address);
static_assert(mod<ModifierKind::Rounding>("rz").value == 3);
static_assert(twiceAsWide(Type::s16) == Type::s32 && twiceAsWide(Type::u32) == Type::u64);

std::string manualSyntax(const OpInfo& row) {
  std::string text;
  bool isOperand = false, isNote = false;
  for (const char c : row.syntax) {
    isOperand |= c == ' ';
    const bool isWord = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    isNote = isOperand && (c == ':' || (isNote && isWord));
    if (!isNote) text += c;
  }
  return text;
}

}  // namespace ordito::isa
