// The instruction table as data. ptx.def is read by the C++ preprocessor and its syntax strings are parsed at compile
// time (syntax.hpp): a misspelt modifier, type or brace in a row is a compile error. Everything that must know "which
// instructions exist" asks this table.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string>
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

/// The state spaces of PTX; Generic where an instruction names none.
enum class Space : uint8_t { Generic, Reg, Const, Global, Local, Param, Shared };

/// What an instruction does at an address.
enum class Touch : uint8_t { None, Read, Write, Update };

/// Which type an operand is of.
struct OperandType {
  enum class Rule : uint8_t {
    None,    // it is no value
    Fixed,   // `type`
    Slot,    // that of type slot `slot`
    Wide,    // that of the first slot, or under .wide the one of twice its width
    Matrix,  // that of the registers of a matrix's fragment
  };
  Rule rule = Rule::Slot;
  uint8_t slot = 0;
  Type type{};
};

/// One operand position of a syntax line.
struct OperandForm {
  enum class Kind : uint8_t { Destination, Source, Address, Label, Image };
  Kind kind{};
  bool optional = false;
  bool paired = false;  // the second destination of `d[|p]`, which may be absent, and of `d|p`
  std::string_view name{};
  OperandType type{};
  Touch touch{};
  Space space{};        // of an address: where it is, whatever space the instruction names; Generic: there
  bool isSize = false;  // a constant: how many bytes the instruction moves

  constexpr bool isAddress() const { return kind == Kind::Address || kind == Kind::Image; }
};

/// The compiled form of a syntax line.
struct Form {
  std::string_view mnemonic{};
  std::array<Slot, 16> slots{};
  uint8_t slotCount = 0;
  std::array<OperandForm, 8> operands{};
  uint8_t operandCount = 0;
  int8_t memberMask = -1;  // the operand that names the lanes which execute the instruction together; -1: none does

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
  std::string_view syntax;  // as in the row; manualSyntax gives it as the manual has it
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

/// The syntax line as the manual prints it: without what the row says of operands behind colons.
std::string manualSyntax(const OpInfo& row);

/// The number in a modifier's value: 4 for .v4 and .x4, 0 where there is none.
constexpr unsigned numberIn(const Modifiers& mods, ModifierKind kind) {
  unsigned number = 0;
  for (const char c : mods.name(kind))
    if (c >= '0' && c <= '9') number = number * 10 + static_cast<unsigned>(c - '0');
  return number;
}

inline constexpr std::string_view kSpaces[] = {"", "reg", "const", "global", "local", "param", "shared"};

/// The space of each word of the vocabulary: .param::entry is Param, .shared::cta is Shared.
inline constexpr auto kSpaceOfWord = [] {
  std::array<Space, 16> spaces{};
  for (size_t word = 1; word < spaces.size(); ++word) {
    const std::string_view name = modifierName(ModifierKind::Space, static_cast<uint8_t>(word)),
                           space = name.substr(0, name.find(':'));
    for (size_t s = 0; s < std::size(kSpaces); ++s)
      if (kSpaces[s] == space) spaces[word] = static_cast<Space>(s);
  }
  return spaces;
}();

/// The space that the modifiers name, Generic if they name none.
constexpr Space spaceOf(const Modifiers& mods) { return kSpaceOfWord[mods[ModifierKind::Space]]; }

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
