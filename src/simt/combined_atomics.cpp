// See combined_atomics.hpp.
#include "simt/combined_atomics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <vector>

#include "ir/graph.hpp"
#include "ir/loops.hpp"
#include "ir/print.hpp"
#include "ir/shape_transfer.hpp"
#include "ptx/operands.hpp"
#include "simt/accesses.hpp"

namespace ordito::simt {
namespace {

using isa::Effect;
using isa::ModifierKind;
using isa::Op;
using ptx::Space;

bool mayBeGlobal(Space space) { return space == Space::Global || space == Space::Generic; }

/// Does it order others, or is it seen at once by all who watch?
bool isStrong(const Instruction& i) {
  const auto order = i.mods.name(ModifierKind::Semantics), cache = i.mods.name(ModifierKind::CacheOp);
  if (i.info().effect == Effect::Atomic) return !order.empty() && order != "relaxed";
  return isOrdered(i) || cache == "cv";
}

bool isWaiting(const Instruction& i, const ir::Definitions& definitions) {
  if ((i.op != Op::Atom && i.op != Op::Red) || !combinationOf(i) || isStrong(i)) return false;
  if (!mayBeGlobal(ptx::spaceOf(i)) || i.mods.name(ModifierKind::Scope) == "sys") return false;
  bool isRead = false;
  ir::forEachDefinition(i, [&](ValueId v, unsigned) { isRead |= definitions.isRead(v); });
  return !isRead;
}

enum class Effects : uint8_t { None, Looks, Ends };

bool touchesGlobal(const Instruction& i) {
  return std::ranges::any_of(ptx::MemoryAccesses(i), [](const ptx::MemoryAccess& m) { return mayBeGlobal(m.space); });
}

/// What `i`, no member, means for operations that wait.
Effects effectsOf(const Instruction& i) {
  const Effect effect = i.info().effect;
  if (effect == Effect::Pure || effect == Effect::Warp) return Effects::None;
  if (effect == Effect::Load && i.info().unit == isa::Unit::Texture) return Effects::None;
  const bool isAtomic = effect == Effect::Atomic && i.info().unit == isa::Unit::Lsu;
  if (effect != Effect::Load && effect != Effect::Store && !isAtomic) return Effects::Ends;
  if (!touchesGlobal(i)) return Effects::None;
  if (isStrong(i)) return Effects::Ends;
  if (i.op == Op::Ld && i.has(ModifierKind::NonCoherent)) return Effects::None;
  // What an atomic finds may say that another block's turn has come.
  const bool isPlain = i.op == Op::Ld || i.op == Op::St || i.op == Op::Red || i.op == Op::RedVector;
  return isPlain ? Effects::Looks : Effects::Ends;
}

/// The combination that most of the kernel's atomics ask for.
std::optional<Combination> commonest(const ir::Function& f, const ir::Definitions& definitions) {
  std::vector<std::pair<Combination, size_t>> counts;
  for (const ir::Block& block : f.blocks)
    for (const Instruction& i : block.code) {
      if (!isWaiting(i, definitions)) continue;
      const auto known = std::ranges::find(counts, *combinationOf(i), &std::pair<Combination, size_t>::first);
      known == counts.end() ? void(counts.emplace_back(*combinationOf(i), 1)) : void(++known->second);
    }
  if (counts.empty()) return std::nullopt;
  return std::ranges::max_element(counts, {}, &std::pair<Combination, size_t>::second)->first;
}

/// By block: can a thread of the block come to its start behind a member?
std::vector<char> blocksBehind(const ir::Analyses& analyses, const std::set<const Instruction*>& members) {
  const ir::Function& f = analyses.function();
  std::vector<char> behind(f.blocks.size(), 0);
  std::vector<BlockId> work;
  for (BlockId b = 0; b < f.blocks.size(); ++b)
    if (std::ranges::any_of(f.blocks[b].code, [&](const Instruction& i) { return members.contains(&i); }))
      work.push_back(b);
  while (!work.empty()) {
    const BlockId b = work.back();
    work.pop_back();
    for (const BlockId to : analyses.graph().successors[b])
      if (!behind[to]) behind[to] = 1, work.push_back(to);
  }
  return behind;
}

/// The instruction of `block` that gives the register `o`.
const Instruction* madeIn(const ir::Block& block, const ir::Definitions& definitions, const ptx::Operand& o) {
  if (o.kind != ptx::Operand::Kind::Register) return nullptr;
  const Instruction* i = definitions.decisive(o.reg);
  const bool isHere =
      i != nullptr && std::ranges::any_of(block.code, [&](const Instruction& each) { return &each == i; });
  return isHere ? i : nullptr;
}

/// What the block itself makes of a pointer and an index, which have the values then that the place was made of.
std::optional<IndexedPlace> indexedPlace(const ir::Block& block, const Instruction& atomic,
                                         const ir::Definitions& definitions, const ir::Shapes& shapes) {
  ptx::Operand place = atomic.operands[atomic.op == Op::Red ? 0 : 1];
  if (place.reg == ir::kNoValue || !shapes[place.reg].isGeneral()) return std::nullopt;
  place.kind = ptx::Operand::Kind::Register;
  const Instruction* sum = madeIn(block, definitions, place);
  if (sum == nullptr || sum->op != Op::Add || isa::bits(sum->type[0]) != 64) return std::nullopt;
  for (size_t k = 1; k <= 2; ++k) {
    const ptx::Operand& pointer = sum->operands[3 - k];
    const Instruction* index = madeIn(block, definitions, sum->operands[k]);
    if (index == nullptr || index->op != Op::Mul || !ir::isWidening(*index) || !shapes.shapeOf(pointer).isUniform() ||
        pointer.kind != ptx::Operand::Kind::Register)
      continue;
    const ptx::Operand &x = index->operands[1], &factor = index->operands[2];
    constexpr uint64_t kLargest = 64;  // bytes from index to index: no word of the buffer is further than 32 bits tell
    const bool isPower = factor.kind == ptx::Operand::Kind::Integer && std::has_single_bit(factor.bits);
    if (isPower && x.kind == ptx::Operand::Kind::Register && factor.bits <= kLargest)
      return IndexedPlace{pointer.reg, x.reg, static_cast<unsigned>(std::countr_zero(factor.bits))};
  }
  return std::nullopt;
}

}  // namespace

std::optional<Combination> combinationOf(const Instruction& i) {
  using Operation = Combination::Operation;
  const isa::Type t = i.type[0];
  const unsigned bytes = isa::bytes(t);
  if ((i.op != Op::Atom && i.op != Op::Red) || isa::isFloat(isa::element(t)) || (bytes != 4 && bytes != 8))
    return std::nullopt;
  const auto name = i.mods.name(ModifierKind::AtomOp);
  auto with = [&](Operation o) { return Combination{o, static_cast<uint8_t>(bytes)}; };
  if (name == "add") return with(Operation::Add);
  if (name == "and") return with(Operation::And);
  if (name == "or") return with(Operation::Or);
  if (name == "xor") return with(Operation::Xor);
  if (name == "min") return with(isa::isSigned(t) ? Operation::Min : Operation::UMin);
  if (name == "max") return with(isa::isSigned(t) ? Operation::Max : Operation::UMax);
  return std::nullopt;
}

CombinedAtomics findCombinedAtomics(const ir::Analyses& analyses, const ir::SyncPoints& syncPoints,
                                    const ir::Shapes& shapes, const Facts& facts) {
  const ir::Function& f = analyses.function();
  const ir::Definitions& definitions = analyses.definitions();
  CombinedAtomics c;
  const bool isToldOf = facts.accesses && !facts.trial;  // a trial asks where accesses go, and never what is there
  if (facts.baseline || isToldOf || syncPoints.diverges() || syncPoints.polls || !syncPoints.spins.empty()) return c;
  const auto combination = commonest(f, definitions);
  if (!combination) return c;
  c.combination = *combination;
  for (const ir::Block& block : f.blocks)
    for (const Instruction& i : block.code)
      if (isWaiting(i, definitions) && combinationOf(i) == combination) {
        c.members.insert(&i);
        if (const auto place = indexedPlace(block, i, definitions, shapes)) c.indexed.emplace(&i, *place);
      }
  const std::vector<char> behind = blocksBehind(analyses, c.members);
  for (BlockId b = 0; b < f.blocks.size(); ++b) {
    bool isBehind = behind[b] != 0;
    for (const Instruction& i : f.blocks[b].code) {
      const bool isMember = c.members.contains(&i);
      if (isBehind && !isMember) {
        const Effects effects = effectsOf(i);
        if (effects == Effects::Looks) c.looking.insert(&i);
        if (effects == Effects::Ends) c.ending.insert(&i);
      }
      isBehind |= isMember;
    }
  }
  return c;
}

std::string print(const CombinedAtomics& c, const ir::Function& f) {
  if (!c.any()) return "nothing\n";
  constexpr const char* kNames[] = {"add", "and", "or", "xor", "min", "max", "umin", "umax"};
  std::string text =
      fmt::format("{} of {} bytes\n", kNames[static_cast<size_t>(c.combination.operation)], c.combination.bytes);
  for (const ir::Block& block : f.blocks)
    for (const Instruction& i : block.code) {
      if (c.members.contains(&i)) {
        text += instructionName(i) + " waits";
        if (const IndexedPlace* p = c.placeOf(i))
          text += fmt::format(", at {} + {} << {}", ir::valueName(f, p->pointer), ir::valueName(f, p->index), p->shift);
        text += "\n";
      }
      if (c.looking.contains(&i)) text += instructionName(i) + " looks\n";
      if (c.ending.contains(&i)) text += instructionName(i) + " ends the wait\n";
    }
  return text;
}

}  // namespace ordito::simt
