// See covers.hpp. A walk against the flow of control, from the access to what covers it. It is lost where the address
// is computed, since what lies before that is of another address, and where threads meet.
#include "check/covers.hpp"

#include <algorithm>

namespace ordito::check {

using ir::BlockId;
using ir::Instruction;
using ptx::MemoryAccess;

namespace {

/// Plain accesses of lanes, each at an address of its own.
const MemoryAccess* plainAccess(const ptx::MemoryAccesses& accesses) {
  if (accesses.size() != 1) return nullptr;
  const MemoryAccess& m = accesses[0];
  const bool isPlain = m.kind == MemoryAccess::Kind::Load || m.kind == MemoryAccess::Kind::Store;
  return isPlain && m.pattern == MemoryAccess::Pattern::Lanes && !m.isAsync ? &m : nullptr;
}

bool defines(const Instruction& i, ir::ValueId value) {
  bool does = false;
  ir::forEachDefinition(i, [&](ir::ValueId v, size_t) { does |= v == value; });
  return does;
}

bool synchronises(const Instruction& i) {
  const isa::Effect effect = i.info().effect;
  return i.info().form.memberMask >= 0 || effect == isa::Effect::Warp || effect == isa::Effect::Fence ||
         effect == isa::Effect::Call || i.info().unit == isa::Unit::Sync;
}

}  // namespace

Covers::Step Covers::look(BlockId block, const Instruction& i, const Wanted& wanted) const {
  const ptx::MemoryAccesses accesses(i);
  const MemoryAccess* const m = plainAccess(accesses);
  // With a guard some of the threads leave it out.
  if (m && m->space == wanted.space && m->bytes >= wanted.bytes && i.operands[m->operand] == wanted.address &&
      !i.guard && !forms_.isVarying(block))
    return Step::Found;
  return synchronises(i) || defines(i, wanted.address.reg) ? Step::Lost : Step::GoOn;
}

/// The first `end` instructions of a block, from the last to the first.
Covers::Step Covers::lookBack(BlockId block, size_t end, const Wanted& wanted,
                              std::vector<const Instruction*>& found) const {
  const auto& code = f_.blocks[block].code;
  while (end > 0) {
    const Instruction& i = code[--end];
    const Step step = look(block, i, wanted);
    if (step == Step::Found) found.push_back(&i);
    if (step != Step::GoOn) return step;
  }
  return isEnd(block, wanted) ? Step::Lost : Step::GoOn;
}

/// Does the way end at the beginning of the block, or does another address come from there?
bool Covers::isEnd(BlockId block, const Wanted& wanted) const {
  const ir::Block& b = f_.blocks[block];
  const auto isPlainWay = [&](BlockId from) {
    const auto kind = f_.blocks[from].end.kind;
    return kind == ir::Terminator::Kind::Jump || kind == ir::Terminator::Kind::Branch;
  };
  return b.predecessors.empty() || !std::ranges::all_of(b.predecessors, isPlainWay) ||
         std::ranges::any_of(b.phis, [&](const ir::Phi& phi) { return phi.value == wanted.address.reg; });
}

std::optional<std::vector<const Instruction*>> Covers::of(BlockId block, size_t instruction) const {
  const Instruction& i = f_.blocks[block].code[instruction];
  const ptx::MemoryAccesses accesses(i);
  const MemoryAccess* const m = plainAccess(accesses);
  if (!m) return std::nullopt;
  const Wanted wanted{i.operands[m->operand], m->space, m->bytes};
  std::vector<const Instruction*> found;
  std::set<BlockId> seen;
  std::vector<std::pair<BlockId, size_t>> open{{block, instruction}};
  while (!open.empty()) {
    const auto [at, end] = open.back();
    open.pop_back();
    const Step step = lookBack(at, end, wanted, found);
    if (step == Step::Lost) return std::nullopt;
    if (step == Step::Found) continue;
    for (const BlockId from : f_.blocks[at].predecessors)
      if (seen.insert(from).second) open.emplace_back(from, f_.blocks[from].code.size());
  }
  return found;
}

}  // namespace ordito::check
