// The grammar of ptx.def's rows, run by the compiler. Only isa.cpp includes it.
#pragma once

#include "isa/isa.hpp"

namespace ordito::isa::detail {

/// A field of modifiers.def, or one value of a field.
struct Word {
  std::string_view text;
  ModifierKind kind{};
  uint8_t number = 0;
  constexpr explicit operator bool() const { return !text.empty(); }
};

/// All words of modifiers.def by hash, since comparing each slot with each of them takes a compiler more steps than it
/// will go. The first field that has a value gets it.
struct Words {
  static constexpr size_t kBuckets = 2048;
  std::array<Word, kBuckets> fields{}, values{};

  static constexpr size_t hash(std::string_view text) {
    uint32_t h = 2166136261u;
    for (char c : text) h = (h ^ static_cast<unsigned char>(c)) * 16777619u;
    return h % kBuckets;
  }
  static constexpr const Word& find(const std::array<Word, kBuckets>& table, std::string_view text) {
    size_t at = hash(text);
    while (table[at] && table[at].text != text) at = (at + 1) % kBuckets;
    return table[at];
  }
  static constexpr void add(std::array<Word, kBuckets>& table, const Word& word) {
    Word& place = const_cast<Word&>(find(table, word.text));
    if (!place) place = word;
  }
  constexpr Word field(std::string_view text) const { return find(fields, text); }
  constexpr Word value(std::string_view text) const { return find(values, text); }

  consteval Words() {
    for (uint8_t k = 0; k < static_cast<uint8_t>(ModifierKind::Count); ++k) {
      const auto kind = static_cast<ModifierKind>(k);
      add(fields, {kModifiers[k].field, kind, 1});
      std::string_view rest = kModifiers[k].values;
      for (uint8_t number = 1; !rest.empty(); ++number) {
        const size_t space = rest.find(' ');
        add(values, {rest.substr(0, space), kind, number});
        rest = space == std::string_view::npos ? std::string_view{} : rest.substr(space + 1);
      }
    }
  }
};

inline constexpr Words kWords;

consteval Slot parseSlot(std::string_view word, bool optional) {
  Slot slot;
  slot.optional = optional;
  constexpr std::string_view kNames[] = {"type", "dtype", "atype", "stype", "btype", "ctype"};
  constexpr uint8_t kTypeIndex[] = {0, 0, 1, 1, 2, 3};
  for (int i = 0; i < 6; ++i)
    if (word == kNames[i]) {
      slot.kind = Slot::Kind::Type;
      slot.type = kTypeIndex[i];
      return slot;
    }
  if (const Word field = kWords.field(word)) {
    // A field whose only value has its own name (.ftz, .cc) is a literal: both readings agree.
    const bool isLiteral = kModifiers[static_cast<size_t>(field.kind)].values == word;
    slot.kind = isLiteral ? Slot::Kind::Literal : Slot::Kind::Modifier;
    slot.modifier = field.kind;
    slot.literal = 1;
    return slot;
  }
  if (const Word value = kWords.value(word)) {
    slot.kind = Slot::Kind::Literal;
    slot.modifier = value.kind;
    slot.literal = value.number;
    return slot;
  }
  throw "a slot that names no modifier and no type";
}

/// `.m16n8k8|m16n8k16`: some values of one vocabulary.
consteval Slot parseChoice(std::string_view words, bool optional) {
  Slot choice;
  choice.optional = optional;
  choice.kind = Slot::Kind::Modifier;
  choice.allowed = 0;
  for (bool first = true; !words.empty(); first = false) {
    const size_t bar = words.find('|');
    const std::string_view word = words.substr(0, bar);
    if (first) choice.modifier = parseSlot(word, optional).modifier;
    const uint8_t value = modifierValue(choice.modifier, word);
    if (value == 0 || value > 32) throw "the values of a choice must come from the vocabulary of the first";
    choice.allowed |= 1u << (value - 1);
    words = bar == std::string_view::npos ? std::string_view{} : words.substr(bar + 1);
  }
  return choice;
}

/// What stands behind a colon of an operand: its type, what is done there, and where.
consteval void parseNote(std::string_view word, OperandForm& operand) {
  constexpr std::string_view kTouches[] = {"none", "read", "write", "update"};
  constexpr std::string_view kSlots[] = {"dtype", "stype", "btype", "ctype"};
  using Rule = OperandType::Rule;
  for (uint8_t t = 0; t < 4 && operand.isAddress(); ++t)
    if (word == kTouches[t]) return void(operand.touch = static_cast<Touch>(t));
  for (uint8_t s = 0; s < std::size(kSpaces) && operand.isAddress(); ++s)
    if (word == kSpaces[s]) return void(operand.space = static_cast<Space>(s));
  for (uint8_t slot = 0; slot < kTypeSlots; ++slot)
    if (word == kSlots[slot]) return void(operand.type = {Rule::Slot, slot, {}});
  if (word == "size") return operand.isSize = true, void(operand.type = {Rule::Fixed, 0, Type::u32});
  if (word == "wide") return void(operand.type = {Rule::Wide, 0, {}});
  if (word == "matrix") return void(operand.type = {Rule::Matrix, 0, {}});
  if (word == "none") return void(operand.type = {Rule::None, 0, {}});
  const auto type = typeFromName(word);
  if (!type) throw "what stands behind an operand's colon is no type and nothing that is done there";
  operand.type = {Rule::Fixed, 0, *type};
}

/// What an operand is where its row does not say it: the conventions at the top of ptx.def.
consteval void setDefaults(OperandForm& operand, bool hasType, Effect effect) {
  using Rule = OperandType::Rule;
  if (operand.isAddress() || operand.kind == OperandForm::Kind::Label) {
    operand.type = {Rule::None, 0, {}};
    if (!operand.isAddress()) return;
    operand.touch = effect == Effect::Load     ? Touch::Read
                    : effect == Effect::Store  ? Touch::Write
                    : effect == Effect::Atomic ? Touch::Update
                                               : Touch::None;
    return;
  }
  const std::string_view name = operand.name;
  if (name == "p" || name == "q")
    operand.type = {Rule::Fixed, 0, Type::pred};
  else if (name == "m")
    operand.type = {Rule::Fixed, 0, Type::b32};
  else if (name == "u")
    operand.type = {Rule::Fixed, 0, Type::b64};
  else if (!hasType)
    operand.type = {Rule::Fixed, 0, Type::u32};
}

/// Reads the operand whose text is `name[:note]…` and adds it to the form.
consteval void addOperand(Form& form, std::string_view text, OperandForm operand, Effect effect) {
  const size_t colon = text.find(':');
  operand.name = text.substr(0, colon);
  if (operand.kind == OperandForm::Kind::Source) {
    if (operand.name == "d" || operand.name == "p" || operand.name == "q")
      operand.kind = OperandForm::Kind::Destination;
    if (operand.name == "L") operand.kind = OperandForm::Kind::Label;
  }
  bool hasType = false;
  for (const Slot& slot : form.slotList()) hasType |= slot.kind == Slot::Kind::Type && slot.type == 0;
  setDefaults(operand, hasType, effect);
  while (text.find(':') != std::string_view::npos) {
    text.remove_prefix(text.find(':') + 1);
    parseNote(text.substr(0, text.find(':')), operand);
  }
  if (operand.name == "m") form.memberMask = static_cast<int8_t>(form.operandCount);
  form.operands[form.operandCount++] = operand;
}

consteval Form parseForm(std::string_view s, Effect effect) {
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
    const std::string_view slot = word(".{} ");
    form.slots[form.slotCount++] =
        slot.find('|') == std::string_view::npos ? parseSlot(slot, optional) : parseChoice(slot, optional);
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
      addOperand(form, word("]"), {OperandForm::Kind::Destination, true, true}, effect);
      ++i;
    } else if (c == '|') {
      ++i;
      addOperand(form, word(" ,"), {OperandForm::Kind::Destination, false, true}, effect);
    } else if (c == '[') {
      ++i;
      const std::string_view text = word("]");
      const bool isImage = text.find(',') != std::string_view::npos;
      addOperand(form, text, {isImage ? OperandForm::Kind::Image : OperandForm::Kind::Address, optional}, effect);
      ++i;
    } else {
      addOperand(form, word(" ,[{}|"), {OperandForm::Kind::Source, optional}, effect);
    }
  }
  return form;
}

consteval TypeSets parseTypes(std::string_view s) {
  TypeSets sets{};
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
      sets[slot] |= uint64_t{1} << static_cast<int>(*type);
    }
  }
  return sets;
}

}  // namespace ordito::isa::detail
