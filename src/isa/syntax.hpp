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
      std::string_view name = word("]");
      form.operands[form.operandCount++] = {OperandForm::Kind::Destination, true, true, name};
      ++i;
    } else if (c == '|') {
      ++i;
      form.operands[form.operandCount++] = {OperandForm::Kind::Destination, false, true, word(" ,")};
    } else if (c == '[') {
      ++i;
      std::string_view name = word("]");
      auto kind = name.find(',') == std::string_view::npos ? OperandForm::Kind::Address : OperandForm::Kind::Image;
      form.operands[form.operandCount++] = {kind, optional, false, name};
      ++i;
    } else {
      std::string_view name = word(" ,[{}|");
      auto kind = name == "d" || name == "p" || name == "q" ? OperandForm::Kind::Destination
                  : name == "L"                             ? OperandForm::Kind::Label
                                                            : OperandForm::Kind::Source;
      form.operands[form.operandCount++] = {kind, optional, false, name};
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
