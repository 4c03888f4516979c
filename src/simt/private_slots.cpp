// See private_slots.hpp.
#include "simt/private_slots.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ptx/local_objects.hpp"

namespace ordito::simt {
namespace {

using Key = PrivateSlots::Key;
using ptx::Operand;
using ptx::Space;
using ptx::Symbol;

size_t elementsOf(const Operand& o) { return std::max<size_t>(1, o.elements.size()); }

Key elementKey(const Key& first, size_t k, const Instruction& i) {
  return {first.first, first.second + static_cast<int64_t>(k * isa::bytes(i.type[0]))};
}

/// By place: which blocks access it, and how first.
class FirstAccesses {
 public:
  enum How : char { kNone, kReads, kWrites };
  explicit FirstAccesses(const ir::Function& f) : f_(f) {
    for (BlockId b = 0; b < f.blocks.size(); ++b)
      for (const Instruction& i : f.blocks[b].code) collect(b, i);
  }
  const std::map<Key, std::vector<char>>& all() const { return first_; }

 private:
  void collect(BlockId b, const Instruction& i) {
    if (i.op == isa::Op::Call) {
      for (const Operand& o : i.operands[2].elements) noteParameter(o, b, kReads);
      for (const Operand& o : i.operands[0].elements) noteParameter(o, b, kWrites);
    } else if (i.op == isa::Op::Ld || i.op == isa::Op::St) {
      const bool isStore = i.op == isa::Op::St;
      const auto key = privateKey(f_, i.operands[isStore ? 0 : 1]);
      for (size_t k = 0; key && k < elementsOf(i.operands[isStore ? 1 : 0]); ++k)
        note(elementKey(*key, k, i), b, isStore && !i.guard ? kWrites : kReads);
    }
  }
  void noteParameter(const Operand& o, BlockId b, How how) {
    if (o.symbol.kind == Symbol::Kind::LocalVariable) note({o.symbol.index, 0}, b, how);
  }
  void note(Key key, BlockId b, How how) {
    auto& at = first_.try_emplace(key, f_.blocks.size(), kNone).first->second;
    if (at[b] == kNone) at[b] = how;
  }

  const ir::Function& f_;
  std::map<Key, std::vector<char>> first_;
};

/// In which blocks a place is live where control enters.
std::vector<char> liveBlocks(const ir::Function& f, const std::vector<char>& first) {
  std::vector<char> live(f.blocks.size(), 0);
  std::vector<BlockId> work;
  for (BlockId b = 0; b < f.blocks.size(); ++b)
    if (first[b] == FirstAccesses::kReads) live[b] = 1, work.push_back(b);
  while (!work.empty()) {
    const BlockId b = work.back();
    work.pop_back();
    for (BlockId p : f.blocks[b].predecessors)
      if (!live[p] && first[p] != FirstAccesses::kWrites) live[p] = 1, work.push_back(p);
  }
  return live;
}

/// By variable: does it live across a resume point?
std::vector<char> variablesAcross(const ir::Function& f, const Regions& regions) {
  std::vector<char> across(f.variables.size(), 0);
  if (regions.resumePoints.size() < 2) return across;
  const FirstAccesses accesses(f);
  for (const auto& [key, first] : accesses.all()) {
    const auto live = liveBlocks(f, first);
    for (size_t p = 1; p < regions.resumePoints.size(); ++p) across[key.first] |= live[regions.resumePoints[p]];
  }
  return across;
}

/// Looks at all uses of private variables, and takes back from `isPrivate` what cannot be a slot.
class Accesses {
 public:
  Accesses(const ir::Function& f, std::vector<char>& isPrivate) : f_(f), isPrivate_(isPrivate) {
    for (const ir::Block& block : f.blocks)
      for (const Instruction& i : block.code) visit(i);
    refuseOverlaps();
  }
  std::map<Key, isa::Type> types;

 private:
  void visit(const Instruction& i) {
    const bool isAccess = i.op == isa::Op::Ld || i.op == isa::Op::St;
    for (const Operand& o : i.operands) {
      visit(i, o, isAccess && o.kind == Operand::Kind::Address);
      for (const Operand& element : o.elements)
        if (i.op != isa::Op::Call || isAggregate(element)) visit(i, element, false);
    }
  }
  void visit(const Instruction& i, const Operand& o, bool isAccess) {
    if (o.symbol.kind != Symbol::Kind::LocalVariable || f_.variables[o.symbol.index].space == Space::Shared) return;
    const auto key = privateKey(f_, o);
    if (!isAccess || !key) {
      isPrivate_[o.symbol.index] = 0;
      return;
    }
    const bool isStore = i.info().effect == isa::Effect::Store;
    for (size_t k = 0; k < elementsOf(i.operands[isStore ? 1 : 0]); ++k) {
      const auto [it, isNew] = types.try_emplace(elementKey(*key, k, i), i.type[0]);
      if (isa::bits(it->second) != isa::bits(i.type[0])) isPrivate_[o.symbol.index] = 0;
    }
  }
  /// Such an argument lies in memory, since its words are read whatever they were stored as.
  bool isAggregate(const Operand& o) const {
    constexpr uint64_t kLongestWord = 8;
    return o.symbol.kind == Symbol::Kind::LocalVariable && f_.variables[o.symbol.index].size > kLongestWord;
  }
  void refuseOverlaps() {
    for (auto it = types.begin(); it != types.end(); ++it) {
      const auto next = std::next(it);
      if (next == types.end() || next->first.first != it->first.first) continue;
      if (it->first.second + static_cast<int64_t>(isa::bytes(it->second)) > next->first.second)
        isPrivate_[it->first.first] = 0;
    }
  }

  const ir::Function& f_;
  std::vector<char>& isPrivate_;
};

}  // namespace

std::optional<Key> privateKey(const ir::Function& f, const Operand& o) {
  if (o.kind != Operand::Kind::Address || o.symbol.kind != Symbol::Kind::LocalVariable || o.reg != ir::kNoValue)
    return std::nullopt;
  if (f.variables[o.symbol.index].space == Space::Shared) return std::nullopt;
  return Key{o.symbol.index, o.offset};
}

PrivateSlots findPrivateSlots(const ir::Function& f, const Regions& regions, const Facts& facts) {
  PrivateSlots p;
  p.isPrivate = variablesAcross(f, regions);
  for (char& flag : p.isPrivate) flag = !flag;
  // Listeners hear addresses; what is no .local variable holds parameters, of which they hear nothing.
  for (size_t v = 0; facts.accesses && v < f.variables.size(); ++v)
    p.isPrivate[v] &= f.variables[v].space != Space::Local;
  p.types = Accesses(f, p.isPrivate).types;
  std::erase_if(p.types, [&](const auto& slot) { return !p.isPrivate[slot.first.first]; });
  p.localOffset.assign(f.variables.size(), 0);
  ptx::LocalPlaces places{.hasZones = facts.accesses};
  for (size_t v = 0; v < f.variables.size(); ++v)
    if (f.variables[v].space != Space::Shared && !p.isPrivate[v]) p.localOffset[v] = places.place(f.variables[v]);
  p.localBytes = roundedUp(places.bytes(), 16);
  return p;
}

std::string print(const PrivateSlots& p, const ir::Function& f) {
  std::string text;
  for (const auto& [key, type] : p.types)
    text += fmt::format("{} + {}: a slot of {}\n", f.variables[key.first].name, key.second, isa::name(type));
  for (size_t v = 0; v < f.variables.size(); ++v)
    if (f.variables[v].space != Space::Shared && !p.isPrivate[v])
      text += fmt::format("{}: in memory at {}\n", f.variables[v].name, p.localOffset[v]);
  return text + fmt::format("local memory: {} bytes\n", p.localBytes);
}

}  // namespace ordito::simt
