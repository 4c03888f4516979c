// The table itself, and what must hold of it.
#include "isa/isa.hpp"

#include "isa/syntax.hpp"

namespace ordito::isa {

constexpr OpInfo kOps[] = {
#define PTX(name, syntax, types, effect, unit, since, target, anchor) \
  {#name,                                                             \
   syntax,                                                            \
   detail::parseForm(syntax),                                         \
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

static_assert(typesMatchSlots());
static_assert(sizeof(kModifiers) / sizeof(kModifiers[0]) == static_cast<size_t>(ModifierKind::Count));
static_assert(kOps[static_cast<size_t>(Op::Setp)].form.operandCount == 4 &&
              kOps[static_cast<size_t>(Op::Setp)].form.operands[1].paired);
static_assert(kOps[static_cast<size_t>(Op::Ld)].form.operands[1].kind == OperandForm::Kind::Address);
static_assert(mod<ModifierKind::Rounding>("rz").value == 3);

}  // namespace ordito::isa
