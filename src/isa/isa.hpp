// The instruction table as data. ptx.def is read here by the C++ preprocessor and its syntax strings are parsed at
// compile time: a misspelt modifier, type or brace in a row is a compile error. Everything that must know "which
// instructions exist" asks this table.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "isa/types.hpp"

namespace ordito::isa {

enum class Op : uint16_t {
#define PTX(name, ...) name,
#include "isa/ptx.def"
  Count
};

enum class Effect : uint8_t { Pure, Load, Store, Atomic, Warp, Barrier, Fence, Control, Call };
enum class Unit : uint8_t { Alu, Fma, Xu, Lsu, Sync, Branch };

/// Which vocabulary of modifiers.def a slot takes its value from.
enum class ModifierKind : uint8_t {
#define MODIFIER(Kind, field, values) Kind,
#include "isa/modifiers.def"
  Count
};

struct ModifierInfo {
  std::string_view field;
  std::string_view values;  // separated by one space
};

inline constexpr ModifierInfo kModifiers[] = {
#define MODIFIER(Kind, field, values) {#field, values},
#include "isa/modifiers.def"
};

/// The `index`-th value's spelling (from 1; 0 means "absent" and gives "").
constexpr std::string_view modifierName(ModifierKind kind, uint8_t index) {
  std::string_view rest = index ? kModifiers[static_cast<int>(kind)].values : std::string_view{};
  for (; index > 1; --index) rest.remove_prefix(rest.find(' ') + 1);
  return rest.substr(0, rest.find(' '));
}

/// The value (from 1) of `kind` spelt `text`, or 0.
constexpr uint8_t modifierValue(ModifierKind kind, std::string_view text) {
  for (uint8_t i = 1;; ++i) {
    std::string_view all = kModifiers[static_cast<int>(kind)].values;
    for (uint8_t k = 1; k < i; ++k) {
      size_t space = all.find(' ');
      if (space == std::string_view::npos) return 0;
      all.remove_prefix(space + 1);
    }
    if (all.substr(0, all.find(' ')) == text) return i;
    if (all.find(' ') == std::string_view::npos) return 0;
  }
}

/// The modifiers of one instruction: for each vocabulary the chosen value, 0 where absent. Compare with `is(Rounding,
/// "rz")`-style helpers: `m.is<ModifierKind::Rounding>("rz")` is checked at compile time.
struct Modifiers {
  std::array<uint8_t, static_cast<size_t>(ModifierKind::Count)> value{};

  constexpr uint8_t operator[](ModifierKind kind) const { return value[static_cast<size_t>(kind)]; }
  constexpr uint8_t& operator[](ModifierKind kind) { return value[static_cast<size_t>(kind)]; }
  constexpr bool has(ModifierKind kind) const { return (*this)[kind] != 0; }
  constexpr std::string_view name(ModifierKind kind) const { return modifierName(kind, (*this)[kind]); }
  bool operator==(const Modifiers&) const = default;
};

/// A value of a vocabulary known at compile time: `mod<ModifierKind::Rounding>("rz")`. A misspelling does not compile.
struct ModifierLiteral {
  ModifierKind kind;
  uint8_t value;
  constexpr bool in(const Modifiers& m) const { return m[kind] == value; }
};

template <ModifierKind kind>
consteval ModifierLiteral mod(const char* text) {
  uint8_t v = modifierValue(kind, text);
  if (!v) throw "no such value in this modifier's vocabulary";
  return {kind, v};
}

/// One modifier slot of a syntax line.
struct Slot {
  enum class Kind : uint8_t { Modifier, Literal, Type };
  Kind kind{};
  bool optional = false;
  ModifierKind modifier{};  // Modifier, Literal
  uint8_t literal = 0;      // Literal: the value that must stand here
  uint8_t type = 0;         // Type: 0, 1 or 2
};

/// One operand position of a syntax line.
struct OperandForm {
  enum class Kind : uint8_t { Destination, Source, Address, Label };
  Kind kind{};
  bool optional = false;
  bool paired = false;  // the optional second destination of `d[|p]`
  std::string_view name{};
};

/// The compiled form of a syntax line.
struct Form {
  std::string_view mnemonic{};
  std::array<Slot, 16> slots{};
  uint8_t slotCount = 0;
  std::array<OperandForm, 8> operands{};
  uint8_t operandCount = 0;

  constexpr std::span<const Slot> slotList() const { return {slots.data(), slotCount}; }
  constexpr std::span<const OperandForm> operandList() const { return {operands.data(), operandCount}; }
};

namespace detail {

consteval Slot parseSlot(std::string_view word, bool optional) {
  Slot slot;
  slot.optional = optional;
  constexpr std::string_view kTypeSlots[] = {"type", "dtype", "atype", "stype", "btype"};
  constexpr uint8_t kTypeIndex[] = {0, 0, 1, 1, 2};
  for (int i = 0; i < 5; ++i)
    if (word == kTypeSlots[i]) {
      slot.kind = Slot::Kind::Type;
      slot.type = kTypeIndex[i];
      return slot;
    }
  for (uint8_t k = 0; k < static_cast<uint8_t>(ModifierKind::Count); ++k)
    if (kModifiers[k].field == word && word.size() > 0) {
      auto kind = static_cast<ModifierKind>(k);
      // A field whose only value has its own name (.ftz, .cc) is a literal: both readings agree.
      slot.kind = kModifiers[k].values == word ? Slot::Kind::Literal : Slot::Kind::Modifier;
      slot.modifier = kind;
      slot.literal = 1;
      return slot;
    }
  for (uint8_t k = 0; k < static_cast<uint8_t>(ModifierKind::Count); ++k)
    if (uint8_t v = modifierValue(static_cast<ModifierKind>(k), word)) {
      slot.kind = Slot::Kind::Literal;
      slot.modifier = static_cast<ModifierKind>(k);
      slot.literal = v;
      return slot;
    }
  throw "a slot that names no modifier and no type";
}

consteval Form parseForm(std::string_view s) {
  Form form;
  size_t i = 0;
  auto word = [&](std::string_view stops) {
    size_t begin = i;
    while (i < s.size() && stops.find(s[i]) == std::string_view::npos) ++i;
    return s.substr(begin, i - begin);
  };
  form.mnemonic = word(".{ ");
  while (i < s.size() && s[i] != ' ') {
    bool optional = s[i] == '{';
    if (optional) ++i;
    if (i >= s.size() || s[i] != '.') throw "a modifier must start with a dot";
    ++i;
    form.slots[form.slotCount++] = parseSlot(word(".{} "), optional);
    if (optional) {
      if (i >= s.size() || s[i] != '}') throw "unclosed { in the modifiers";
      ++i;
    }
  }
  bool optional = false;
  while (i < s.size()) {
    char c = s[i];
    if (c == ' ' || c == ',') {
      ++i;
    } else if (c == '{') {
      optional = true;
      ++i;
    } else if (c == '}') {
      optional = false;
      ++i;
    } else if (c == '[' && s.substr(i, 2) == "[|") {
      i += 2;
      std::string_view name = word("]");
      form.operands[form.operandCount++] = {OperandForm::Kind::Destination, true, true, name};
      ++i;
    } else if (c == '[') {
      ++i;
      std::string_view name = word("]");
      form.operands[form.operandCount++] = {OperandForm::Kind::Address, optional, false, name};
      ++i;
    } else {
      std::string_view name = word(" ,[{}");
      auto kind = name == "d" || name == "p" || name == "q" ? OperandForm::Kind::Destination
                  : name == "L"                             ? OperandForm::Kind::Label
                                                            : OperandForm::Kind::Source;
      form.operands[form.operandCount++] = {kind, optional, false, name};
    }
  }
  return form;
}

/// Bit sets of the types allowed in each type slot.
consteval std::array<uint32_t, 3> parseTypes(std::string_view s) {
  std::array<uint32_t, 3> sets{};
  int slot = 0;
  size_t i = 0;
  while (i < s.size()) {
    if (s[i] == '/') {
      ++slot, ++i;
    } else if (s[i] == ' ') {
      ++i;
    } else {
      size_t begin = i;
      while (i < s.size() && s[i] != ' ' && s[i] != '/') ++i;
      auto type = typeFromName(s.substr(begin, i - begin));
      if (!type) throw "no such type";
      sets[slot] |= 1u << static_cast<int>(*type);
    }
  }
  return sets;
}

}  // namespace detail

/// One row of ptx.def.
struct OpInfo {
  std::string_view name;    // our name: "AddF"
  std::string_view syntax;  // as in the row
  Form form;
  std::array<uint32_t, 3> types;  // bit i: isa::Type(i) may stand in the slot
  Effect effect;
  Unit unit;
  int since;  // PTX ISA version × 10
  std::string_view anchor;

  constexpr bool allows(int slot, Type type) const { return types[slot] >> static_cast<int>(type) & 1; }
};

inline constexpr OpInfo kOps[] = {
#define PTX(name, syntax, types, effect, unit, since, anchor) \
  {#name, syntax, detail::parseForm(syntax), detail::parseTypes(types), Effect::effect, Unit::unit, since, anchor},
#include "isa/ptx.def"
};

constexpr const OpInfo& info(Op op) { return kOps[static_cast<int>(op)]; }

enum class Special : uint8_t {
#define SPECIAL(name, spelling, type) name,
#include "isa/special.def"
  Count
};

struct SpecialInfo {
  std::string_view spelling;
  Type type;
};

inline constexpr SpecialInfo kSpecials[] = {
#define SPECIAL(name, spelling, type) {spelling, Type::type},
#include "isa/special.def"
};

constexpr const SpecialInfo& info(Special s) { return kSpecials[static_cast<int>(s)]; }

constexpr std::optional<Special> specialFromName(std::string_view text) {
  for (uint8_t i = 0; i < static_cast<uint8_t>(Special::Count); ++i)
    if (kSpecials[i].spelling == text) return static_cast<Special>(i);
  return std::nullopt;
}

}  // namespace ordito::isa
