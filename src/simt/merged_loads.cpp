// See merged_loads.hpp.
#include "simt/merged_loads.hpp"

#include <algorithm>

#include "simt/accesses.hpp"

namespace ordito::simt {
namespace {

using isa::Effect;
using ptx::Operand;

constexpr unsigned kWord = 4;

/// Is this a plain load of one word at an address that differs from lane to lane without a pattern?
bool mayBeMerged(const Instruction& i, const ir::Shapes& shapes) {
  if (i.op != isa::Op::Ld || i.guard || isOrdered(i) || isa::bits(i.type[0]) != 8 * kWord) return false;
  const auto space = i.mods.name(isa::ModifierKind::Space);
  if (!space.starts_with("global") && !space.starts_with("shared")) return false;
  const Operand &to = i.operands[0], &from = i.operands[1];
  return to.kind == Operand::Kind::Register && from.kind == Operand::Kind::Address && from.reg != ir::kNoValue &&
         !shapes[from.reg].isSegmented() && !shapes[to.reg].isSegmented();
}

/// How many loads from the first one on read words in a row: one, two or four.
size_t wordsInARow(const std::vector<const Instruction*>& loads, size_t first) {
  auto offset = [&](size_t k) { return loads[k]->operands[1].offset; };
  size_t count = 1;
  while (first + count < loads.size() && count < cost::kMergedWords &&
         offset(first + count) == offset(first) + static_cast<int64_t>(count * kWord))
    ++count;
  return count == 3 ? 2 : count;
}

/// Merges the loads from one register, none of which is kept from the others by a write.
void merge(std::vector<const Instruction*> loads, MergedLoads& result) {
  std::ranges::sort(loads, [](const Instruction* a, const Instruction* b) {
    return std::pair(a->operands[1].offset, a) < std::pair(b->operands[1].offset, b);
  });
  for (size_t first = 0; first < loads.size();) {
    const size_t count = wordsInARow(loads, first);
    if (count > 1) {
      const std::vector<const Instruction*> members(loads.begin() + static_cast<ptrdiff_t>(first),
                                                    loads.begin() + static_cast<ptrdiff_t>(first + count));
      result.runs[*std::ranges::min_element(members)] = members;  // the one that comes first in the code
      result.members.insert(members.begin(), members.end());
    }
    first += count;
  }
}

}  // namespace

MergedLoads findMergedLoads(const ir::Function& f, const ir::Shapes& shapes, const Facts& facts) {
  MergedLoads result;
  if (facts.accesses) return result;  // a listener may keep a lane from one of them
  for (const ir::Block& block : f.blocks) {
    std::map<std::pair<ValueId, std::string_view>, std::vector<const Instruction*>> open;
    auto close = [&] {
      for (auto& [from, loads] : open) merge(std::move(loads), result);
      open.clear();
    };
    for (const Instruction& i : block.code) {
      const Effect effect = i.info().effect;
      if (mayBeMerged(i, shapes))
        open[{i.operands[1].reg, i.mods.name(isa::ModifierKind::Space)}].push_back(&i);
      else if ((effect != Effect::Pure && effect != Effect::Load) || isOrdered(i))
        close();
    }
    close();
  }
  return result;
}

std::string print(const MergedLoads& m, const ir::Function& f) {
  std::string text;
  for (const ir::Block& block : f.blocks)
    for (const Instruction& i : block.code) {
      const auto found = m.runs.find(&i);
      if (found == m.runs.end()) continue;
      text += instructionName(i) + " loads for";
      for (const Instruction* member : found->second) text += " line " + std::to_string(member->line);
      text += "\n";
    }
  return text.empty() ? "nothing\n" : text;
}

}  // namespace ordito::simt
