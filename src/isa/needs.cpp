// needs.def made ready: for each row the rules that concern it, with words as numbers. A word that a row cannot have is
// a mistake in the table and stops the program that first asks.
#include "isa/needs.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace ordito::isa {

namespace {

/// A modifier's value, or a type in a slot.
struct Word {
  bool isType = false;
  uint8_t where = 0;  // the vocabulary or the slot
  uint8_t what = 0;
};

struct Rule {
  std::vector<std::vector<Word>> terms;  // of each, one word must be there
  Need need;
};

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
  }
  return parts;
}

/// The ways in which `text` can stand in one slot of a row; `onlySlot` is that of the type that is meant, or -1.
void findWord(const Slot& slot, std::string_view text, int onlySlot, std::vector<Word>& found) {
  if (slot.kind == Slot::Kind::Type) {
    const auto type = typeFromName(text);
    if (type && (onlySlot < 0 || onlySlot == slot.type))
      found.push_back({true, slot.type, static_cast<uint8_t>(*type)});
  } else if (const uint8_t value = modifierValue(slot.modifier, text); value && slot.allows(value)) {
    found.push_back({false, static_cast<uint8_t>(slot.modifier), value});
  }
}

std::vector<Word> parseTerm(const OpInfo& row, std::string_view term) {
  int onlySlot = -1;
  if (term.starts_with("to:")) onlySlot = 0, term.remove_prefix(3);
  if (term.starts_with("from:")) onlySlot = 1, term.remove_prefix(5);
  std::vector<Word> words;
  for (std::string_view text : split(term, '|'))
    for (const Slot& slot : row.form.slotList()) findWord(slot, text, onlySlot, words);
  if (!words.empty()) return words;
  std::fprintf(stderr, "needs.def: '%.*s' has no word '%.*s'\n", int(row.name.size()), row.name.data(),
               int(term.size()), term.data());
  std::abort();
}

std::vector<std::vector<Rule>> readRules() {
  std::vector<std::vector<Rule>> rules(static_cast<size_t>(Op::Count));
  for (const NeedInfo& info : kNeeds)
    for (std::string_view name : split(info.rows, ' ')) {
      const auto* row = std::find_if(std::begin(kOps), std::end(kOps), [&](const OpInfo& o) { return o.name == name; });
      if (row == std::end(kOps))
        std::fprintf(stderr, "needs.def: no row '%s'\n", std::string(name).c_str()), std::abort();
      Rule rule{{}, {info.since, info.target}};
      for (std::string_view term : split(info.words, ' ')) rule.terms.push_back(parseTerm(*row, term));
      rules[static_cast<size_t>(row - kOps)].push_back(std::move(rule));
    }
  return rules;
}

}  // namespace

Need needOf(Op op, const Modifiers& mods, const Type (&types)[kTypeSlots]) {
  static const auto rules = readRules();
  Need need{info(op).since, info(op).target};
  auto isThere = [&](const Word& w) {
    return w.isType ? static_cast<uint8_t>(types[w.where]) == w.what : mods.value[w.where] == w.what;
  };
  for (const Rule& rule : rules[static_cast<size_t>(op)]) {
    const bool holds = std::all_of(rule.terms.begin(), rule.terms.end(), [&](const std::vector<Word>& term) {
      return std::any_of(term.begin(), term.end(), isThere);
    });
    if (!holds) continue;
    need.since = std::max(need.since, rule.need.since);
    need.target = std::max(need.target, rule.need.target);
  }
  return need;
}

bool fits(Target needed, Target have) {
  constexpr int kOldest = 20;
  if (needed.sm <= kOldest) return true;
  return have.sm >= needed.sm && (!needed.isSpecific || have.isSpecific);
}

std::string spell(Target target) { return "sm_" + std::to_string(target.sm) + (target.isSpecific ? "a" : ""); }

}  // namespace ordito::isa
