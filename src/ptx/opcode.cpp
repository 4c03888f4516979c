// Rows of one mnemonic are tried in the table's order. A row's slots are walked beside the opcode's words; an optional
// slot that could take the word but makes the rest fail is skipped instead, so that a value which stands in two
// vocabularies (.and, .cta) finds its place.
#include "ptx/opcode.hpp"

#include <algorithm>
#include <unordered_map>
#include <vector>

namespace ordito::ptx {
namespace {

using Rows = std::vector<isa::Op>;

const std::unordered_map<std::string_view, Rows>& rowsByMnemonic() {
  static const auto table = [] {
    std::unordered_map<std::string_view, Rows> rows;
    for (size_t i = 0; i < static_cast<size_t>(isa::Op::Count); ++i)
      rows[isa::kOps[i].form.mnemonic].push_back(static_cast<isa::Op>(i));
    return rows;
  }();
  return table;
}

class RowMatcher {
 public:
  RowMatcher(isa::Op op, std::span<const std::string_view> words) : row_(isa::info(op)), words_(words) {
    result.op = op;
  }

  bool match(size_t slotIndex = 0, size_t wordIndex = 0) {
    furthest = std::max(furthest, wordIndex);
    if (slotIndex == row_.form.slotCount) return wordIndex == words_.size();
    const isa::Slot& slot = row_.form.slots[slotIndex];
    if (wordIndex < words_.size() && take(slot, words_[wordIndex])) {
      if (match(slotIndex + 1, wordIndex + 1)) return true;
      drop(slot);
    }
    return slot.optional && match(slotIndex + 1, wordIndex);
  }

  /// The same with the modifiers in any order. nvcc writes atom.global.sys.add, libcu++ atom.add.acq_rel.sys and
  /// fence.cta.sc where the manual has atom.sys.global.add and fence.sc.cta, CUB vote.ballot.sync where it has
  /// vote.sync.ballot, CUTLASS ld.global.acquire and fma.rn.f16x2.relu; ldmatrix comes as .m8n8.x4 and .x4.m8n8. ptxas
  /// takes them all. Slots of these rows that share words (the layouts and types of matrices) keep their own order.
  bool matchInAnyOrder() {
    std::vector<bool> used(words_.size());
    for (const isa::Slot& slot : row_.form.slotList()) {
      size_t word = 0;
      while (word < words_.size() && (used[word] || !take(slot, words_[word]))) ++word;
      if (word < words_.size())
        used[word] = true;
      else if (!slot.optional)
        return false;
    }
    return std::all_of(used.begin(), used.end(), [](bool u) { return u; });
  }

  Opcode result;
  size_t furthest = 0;  // how many words some way through the row could take

 private:
  bool take(const isa::Slot& slot, std::string_view word) {
    if (slot.kind == isa::Slot::Kind::Type) {
      auto type = isa::typeFromName(word);
      if (!type || !row_.allows(slot.type, *type)) return false;
      result.type[slot.type] = *type;
      return true;
    }
    uint8_t value = isa::modifierValue(slot.modifier, word);
    if (!value || !slot.allows(value)) return false;
    if (result.mods.has(slot.modifier)) return false;
    result.mods[slot.modifier] = value;
    return true;
  }

  void drop(const isa::Slot& slot) {
    if (slot.kind == isa::Slot::Kind::Type)
      result.type[slot.type] = isa::Type::None;
    else
      result.mods[slot.modifier] = 0;
  }

  const isa::OpInfo& row_;
  std::span<const std::string_view> words_;
};

std::string spell(std::string_view mnemonic, std::span<const std::string_view> words) {
  std::string text(mnemonic);
  for (std::string_view word : words) text.append(".").append(word);
  return text;
}

/// The entry of refused.def for an opcode, if it has one.
const isa::RefusedInfo* refusal(std::string_view spelling) {
  for (const isa::RefusedInfo& r : isa::kRefused)
    if (spelling.starts_with(r.prefix)) return &r;
  return nullptr;
}

tl::unexpected<Error> refused(std::string_view spelling, const isa::RefusedInfo& r) {
  return fail("instruction '{}' ({}) is not supported by Ordito: {}; see 'ordito isa'", spelling, r.what, r.why);
}

tl::unexpected<Error> noRow(std::string_view mnemonic, const Rows& rows, std::span<const std::string_view> words,
                            size_t furthest) {
  std::string expected;
  for (isa::Op op : rows) expected += "\n    " + describeRow(isa::info(op));
  std::string found = furthest < words.size() ? fmt::format("found '.{}'", words[furthest])
                                              : std::string("a type or modifier is missing");
  return fail("instruction '{}' is not supported by Ordito: {}; expected one of (see 'ordito isa'):{}",
              spell(mnemonic, words), found, expected);
}

}  // namespace

Expected<Opcode> findOpcode(std::string_view mnemonic, std::span<const std::string_view> words) {
  auto rows = rowsByMnemonic().find(mnemonic);
  if (const isa::RefusedInfo* r = refusal(spell(mnemonic, words))) return refused(spell(mnemonic, words), *r);
  if (rows == rowsByMnemonic().end())
    return fail("instruction '{}' is not supported by Ordito (see 'ordito isa')", spell(mnemonic, words));
  size_t furthest = 0;
  for (isa::Op op : rows->second) {
    RowMatcher matcher(op, words);
    if (matcher.match()) return matcher.result;
    furthest = std::max(furthest, matcher.furthest);
  }
  for (isa::Op op : rows->second) {
    using isa::Effect;
    const Effect effect = isa::info(op).effect;
    const bool effects = effect == Effect::Atomic || effect == Effect::Warp || effect == Effect::Load ||
                         effect == Effect::Store || effect == Effect::Fence;
    if (!effects && op != isa::Op::FmaF) continue;
    RowMatcher matcher(op, words);
    if (matcher.matchInAnyOrder()) return matcher.result;
  }
  return noRow(mnemonic, rows->second, words, furthest);
}

std::string describeRow(const isa::OpInfo& row) {
  std::string text = isa::manualSyntax(row);
  bool used[isa::kTypeSlots] = {};
  for (const isa::Slot& slot : row.form.slotList())
    if (slot.kind == isa::Slot::Kind::Type) used[slot.type] = true;
  std::string types;
  for (int slot = 0; slot < isa::kTypeSlots; ++slot) {
    if (!used[slot]) continue;
    if (!types.empty()) types += " /";
    for (size_t t = 1; t < std::size(isa::kTypes); ++t)
      if (row.allows(slot, static_cast<isa::Type>(t))) types.append(" .").append(isa::kTypes[t].name);
  }
  return types.empty() ? text : text + "  with" + types;
}

std::string spellOpcode(const Opcode& opcode) {
  const isa::OpInfo& row = isa::info(opcode.op);
  std::string text(row.form.mnemonic);
  for (const isa::Slot& slot : row.form.slotList()) {
    std::string_view word =
        slot.kind == isa::Slot::Kind::Type ? isa::name(opcode.type[slot.type]) : opcode.mods.name(slot.modifier);
    if (!word.empty()) text.append(".").append(word);
  }
  return text;
}

std::string spellOpcode(const Instruction& i) {
  return spellOpcode(Opcode{i.op, i.mods, {i.type[0], i.type[1], i.type[2], i.type[3]}});
}

}  // namespace ordito::ptx
