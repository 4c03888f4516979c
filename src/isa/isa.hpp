// The instruction table as data. ptx.def is read by the C++ preprocessor and its syntax strings are parsed at compile
// time (syntax.hpp): a misspelt modifier, type or brace in a row is a compile error. Everything that must know "which
// instructions exist" asks this table.
#pragma once

#include <array>
#include <compare>
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
enum class Unit : uint8_t { Alu, Fma, Xu, Lsu, Sync, Branch, Tensor, Texture };

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
  std::string_view rest = kModifiers[static_cast<int>(kind)].values;
  for (uint8_t i = 1;; ++i) {
    const size_t space = rest.find(' ');
    if (rest.substr(0, space) == text) return i;
    if (space == std::string_view::npos) return 0;
    rest.remove_prefix(space + 1);
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

/// Types that one instruction can name: .dtype, .atype or .stype, .btype, .ctype.
inline constexpr int kTypeSlots = 4;

/// One modifier slot of a syntax line.
struct Slot {
  enum class Kind : uint8_t { Modifier, Literal, Type };
  Kind kind{};
  bool optional = false;
  ModifierKind modifier{};  // Modifier, Literal
  uint8_t literal = 0;      // Literal: the value that must stand here
  uint8_t type = 0;         // Type: 0 to 3
  uint32_t allowed = ~0u;   // Modifier: bit v-1 is set if value v may stand here

  constexpr bool allows(uint8_t value) const {
    return kind == Kind::Literal ? value == literal : allowed >> (value - 1) & 1;
  }
};

/// One operand position of a syntax line.
struct OperandForm {
  enum class Kind : uint8_t { Destination, Source, Address, Label, Image };
  Kind kind{};
  bool optional = false;
  bool paired = false;  // the second destination of `d[|p]`, which may be absent, and of `d|p`
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

/// Bit sets of the types allowed in each type slot.
using TypeSets = std::array<uint64_t, kTypeSlots>;

/// A GPU architecture that code can be for: sm_90a is {90, true}. Larger is younger.
struct Target {
  int sm = 0;
  bool isSpecific = false;  // with a suffix: has what only that architecture, or its family, has
  constexpr auto operator<=>(const Target&) const = default;
};

/// "90a"
consteval Target parseTarget(std::string_view text) {
  Target target;
  for (char c : text) {
    if (c == 'a')
      target.isSpecific = true;
    else if (c < '0' || c > '9' || target.isSpecific)
      throw "a target is a number, and perhaps an a";
    else
      target.sm = target.sm * 10 + (c - '0');
  }
  return target;
}

/// One row of ptx.def.
struct OpInfo {
  std::string_view name;    // our name: "AddF"
  std::string_view syntax;  // as in the row
  Form form;
  TypeSets types;  // bit i: isa::Type(i) may stand in the slot
  Effect effect;
  Unit unit;
  int since;  // PTX ISA version × 10
  Target target;
  std::string_view anchor;

  constexpr bool allows(int slot, Type type) const { return types[slot] >> static_cast<int>(type) & 1; }
};

/// The table, by Op. isa.cpp parses it, at compile time and once for all.
extern const OpInfo kOps[static_cast<size_t>(Op::Count)];

/// An instruction that is refused by name.
struct RefusedInfo {
  std::string_view prefix, what, why;
};

inline constexpr RefusedInfo kRefused[] = {
#define REFUSED(prefix, what, why) {prefix, what, why},
#include "isa/refused.def"
};

inline const OpInfo& info(Op op) { return kOps[static_cast<int>(op)]; }

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
