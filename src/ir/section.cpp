// See section.hpp.
#include "ir/section.hpp"

#include <algorithm>
#include <utility>

namespace ordito::ir {
namespace {

using Kind = Terminator::Kind;

bool contains(const std::vector<BlockId>& blocks, BlockId b) { return std::ranges::binary_search(blocks, b); }

template <class F>
void forEachTarget(Terminator& end, F&& f) {
  for (unsigned k = 0; k < end.targetCount(); ++k) f(end.target[k]);
}

/// Immediate post-dominators, by a node behind all ends of the kernel, whose number is that of the blocks.
std::vector<uint32_t> postDominators(const Function& f) {
  Graph backwards = controlFlow(f).reversed();
  const auto end = static_cast<uint32_t>(f.blocks.size());
  backwards.successors.emplace_back();
  for (BlockId b = 0; b < end; ++b)
    if (f.blocks[b].end.targetCount() == 0) backwards.edge(end, b);
  return immediateDominators(backwards, end);
}

/// What can be reached from `first` without going through `exit`; nothing if there is another way in, or an end
/// although there is an exit.
std::optional<Section> sectionBetween(const Function& f, BlockId first, BlockId exit) {
  Section s{first, exit, {}};
  std::vector<char> seen(f.blocks.size(), 0);
  std::vector<BlockId> work{first};
  while (!work.empty()) {
    const BlockId b = work.back();
    work.pop_back();
    if (b == exit || seen[b]) continue;
    seen[b] = 1;
    const Terminator& end = f.blocks[b].end;
    const bool ends = end.kind == Kind::Exit && exit == kNoBlock;
    if (end.kind != Kind::Jump && end.kind != Kind::Branch && !ends) return std::nullopt;
    for (unsigned k = 0; k < end.targetCount(); ++k) work.push_back(end.target[k]);
  }
  for (BlockId b = 0; b < seen.size(); ++b) {
    if (!seen[b]) continue;
    s.blocks.push_back(b);
    // Nor may a loop go round through the first block: it would be left and entered again.
    for (BlockId p : f.blocks[b].predecessors)
      if ((b == first) == (seen[p] != 0)) return std::nullopt;
  }
  return s;
}

}  // namespace

BlockId splitBlock(Function& f, BlockId b, size_t at) {
  const auto next = static_cast<BlockId>(f.blocks.size());
  f.blocks.emplace_back();
  Block &head = f.blocks[b], &rest = f.blocks[next];
  rest.code.assign(std::make_move_iterator(head.code.begin() + static_cast<std::ptrdiff_t>(at)),
                   std::make_move_iterator(head.code.end()));
  head.code.resize(at);
  rest.end = std::exchange(head.end, Terminator{});
  rest.line = rest.code.empty() ? rest.end.line : rest.code.front().line;
  head.end.kind = Kind::Jump;
  head.end.target[0] = next;
  head.end.line = rest.line;
  rest.predecessors = {b};
  forEachTarget(rest.end, [&](BlockId to) { std::ranges::replace(f.blocks[to].predecessors, b, next); });
  return next;
}

std::optional<Section> findSection(const Function& f, BlockId first, const std::vector<BlockId>& blocks) {
  const auto behind = postDominators(f);
  const auto end = static_cast<uint32_t>(f.blocks.size());
  for (uint32_t exit = behind[first];; exit = behind[exit]) {
    const auto section = sectionBetween(f, first, exit < end ? exit : kNoBlock);
    if (section && std::ranges::all_of(blocks, [&](BlockId b) { return contains(section->blocks, b); })) return section;
    if (exit >= end) return std::nullopt;
  }
}

SectionCopies::SectionCopies(Function& f, const Section& section) : f_(f), section_(section) { closeWithPhis(); }

ValueId SectionCopies::newValue(ValueId like) {
  f_.values.push_back(ptx::Register(f_.values[like]));
  return static_cast<ValueId>(f_.values.size() - 1);
}

/// What the section makes and others read goes through phis of its exit.
void SectionCopies::closeWithPhis() {
  std::vector<char> isMade(f_.values.size(), 0);
  for (BlockId b : section_.blocks) {
    for (const Phi& phi : f_.blocks[b].phis) isMade[phi.value] = 1;
    for (const Instruction& i : f_.blocks[b].code) forEachDefinition(i, [&](ValueId v, unsigned) { isMade[v] = 1; });
  }
  std::map<ValueId, ValueId> closed;
  auto close = [&](ValueId& v) {
    if (v >= isMade.size() || !isMade[v]) return;
    auto [it, isNew] = closed.try_emplace(v, kNoValue);
    if (isNew) it->second = newValue(v);
    v = it->second;
  };
  for (BlockId b = 0; b < f_.blocks.size(); ++b) {
    if (contains(section_.blocks, b)) continue;
    Block& block = f_.blocks[b];
    for (Phi& phi : block.phis)
      for (size_t p = 0; p < phi.incoming.size(); ++p)
        if (!contains(section_.blocks, block.predecessors[p])) close(phi.incoming[p]);
    for (Instruction& i : block.code) forEachUse(i, close);
    forEachUse(block.end, close);
  }
  if (closed.empty()) return;
  Block& exit = f_.blocks[section_.exit];
  for (const auto& [made, name] : closed) {
    // Others than the section lead to its exit only behind it: they bring back what the exit has.
    Phi phi{name, {}};
    for (BlockId p : exit.predecessors) phi.incoming.push_back(contains(section_.blocks, p) ? made : name);
    exit.phis.push_back(std::move(phi));
  }
}

BlockId SectionCopies::add(std::map<ValueId, ValueId> names, const Change& change) {
  std::map<BlockId, BlockId> copies;
  for (BlockId b : section_.blocks) {
    copies[b] = static_cast<BlockId>(f_.blocks.size());
    f_.blocks.push_back(Block(f_.blocks[b]));
    const Block& block = f_.blocks[b];
    auto define = [&](ValueId v, unsigned) { names[v] = newValue(v); };
    for (const Phi& phi : block.phis) define(phi.value, 0);
    for (const Instruction& i : block.code) forEachDefinition(i, define);
  }
  auto rename = [&](ValueId& v, unsigned = 0) {
    if (const auto it = names.find(v); it != names.end()) v = it->second;
  };
  for (const auto& [original, copy] : copies) {
    Block& block = f_.blocks[copy];
    for (Phi& phi : block.phis) {
      rename(phi.value);
      for (ValueId& v : phi.incoming) rename(v);
    }
    std::vector<Instruction> code;
    for (Instruction& i : block.code) {
      forEachUse(i, rename);
      forEachDefinition(i, rename);
      change(i, code);
      code.push_back(std::move(i));
    }
    block.code = std::move(code);
    forEachUse(block.end, rename);
    if (original == section_.first) block.predecessors.clear();
    for (BlockId& p : block.predecessors) p = copies.at(p);
    forEachTarget(block.end, [&](BlockId& to) {
      if (to == section_.exit)
        leadToExit(original, copy, names);
      else
        to = copies.at(to);
    });
  }
  return copies.at(section_.first);
}

/// The exit has one more way in, on which its phis get what comes from `from`, by the names of the copy.
void SectionCopies::leadToExit(BlockId from, BlockId copy, const std::map<ValueId, ValueId>& names) {
  Block& exit = f_.blocks[section_.exit];
  const auto edge = std::ranges::find(exit.predecessors, from) - exit.predecessors.begin();
  for (Phi& phi : exit.phis) {
    const ValueId v = phi.incoming[static_cast<size_t>(edge)];
    const auto it = names.find(v);
    phi.incoming.push_back(it == names.end() ? v : it->second);
  }
  exit.predecessors.push_back(copy);
}

void SectionCopies::finish() {
  const std::vector<BlockId> order = reversePostOrder(controlFlow(f_), 0);
  std::vector<BlockId> number(f_.blocks.size(), kNoBlock);
  std::vector<Block> blocks;
  for (BlockId b : order) {
    number[b] = static_cast<BlockId>(blocks.size());
    blocks.push_back(std::move(f_.blocks[b]));
  }
  for (Block& block : blocks) {
    forEachTarget(block.end, [&](BlockId& to) { to = number[to]; });
    for (BlockId& p : block.predecessors) p = number[p];
  }
  f_.blocks = std::move(blocks);
}

}  // namespace ordito::ir
