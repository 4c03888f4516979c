// See stretch_rules.hpp.
#include "simt/stretch_rules.hpp"

#include <algorithm>

#include "ptx/operands.hpp"
#include "simt/accesses.hpp"

namespace ordito::simt {

using isa::Effect;
using isa::Unit;
using ptx::MemoryAccess;
using Kind = ir::Terminator::Kind;

std::string_view StretchRules::obstacleTo(BlockId first, const std::vector<char>& members) const {
  if (std::ranges::find(in_.syncPoints.resumePoints, first) != in_.syncPoints.resumePoints.end())
    return "threads wait in front of it";
  bool loadsShared = false, storesShared = false;
  for (BlockId b = 0; b < f_.blocks.size(); ++b) {
    if (!members[b]) continue;
    if (const auto obstacle = obstacleIn(b, first, members); !obstacle.empty()) return obstacle;
    for (const Instruction& i : f_.blocks[b].code)
      for (const MemoryAccess& m : ptx::MemoryAccesses(i))
        if (m.space == ptx::Space::Shared || m.space == ptx::Space::Generic)
          (m.kind == MemoryAccess::Kind::Load ? loadsShared : storesShared) = true;
  }
  // Old programs count on the lanes of a warp going in lock-step.
  if (loadsShared && storesShared) return "threads may pass values through shared memory";
  return obstacleBehind(members);
}

std::string_view StretchRules::obstacleIn(BlockId b, BlockId first, const std::vector<char>& members) const {
  for (const Instruction& i : f_.blocks[b].code)
    if (const auto obstacle = obstacleTo(i); !obstacle.empty()) return obstacle;
  if (f_.blocks[b].end.kind != Kind::Jump && f_.blocks[b].end.kind != Kind::Branch) return "threads wait or end in it";
  const bool isWayIn = std::ranges::any_of(f_.blocks[b].predecessors, [&](BlockId p) { return !members[p]; });
  return b != first && isWayIn ? "it has more than one way in" : "";
}

std::string_view StretchRules::obstacleTo(const Instruction& i) const {
  const Effect effect = i.info().effect;
  if (effect != Effect::Pure && effect != Effect::Load && effect != Effect::Store)
    return "it has more than arithmetic, loads and stores";
  const Unit unit = i.info().unit;
  if (unit == Unit::Tensor || unit == Unit::Texture) return "lanes work together in it";
  if (effect == Effect::Pure) return {};
  if (i.guard) return "an access has a guard";
  if (isOrdered(i)) return "an access must not be moved";
  if (isa::bits(i.type[0]) > 64) return "an access is of 128 bits";
  // A trial asks of the lanes of a warp together, but for reads of what nobody writes.
  const ptx::Space space = ptx::spaceOf(i);
  const bool isPlain = effect == Effect::Load && (space == ptx::Space::Global || space == ptx::Space::Param);
  if (in_.facts.trial && !isPlain) return "a trial is asked about it";
  for (const MemoryAccess& m : ptx::MemoryAccesses(i))
    if (const auto key = privateKey(f_, i.operands[m.operand]); key && in_.privateSlots.isPrivate[key->first])
      return "it uses a variable that is in registers";
  return {};
}

/// All threads must leave for one place, which takes what each of them brings.
std::string_view StretchRules::obstacleBehind(const std::vector<char>& members) const {
  if (exitOf(members) == ir::kNoBlock) return "threads leave it for several places";
  const bool isShared = std::ranges::any_of(leavesOf(members), [&](ValueId v) { return in_.shapes[v].isSegmented(); });
  return isShared ? "what it leaves is the same for several lanes" : "";
}

std::vector<ValueId> StretchRules::leavesOf(const std::vector<char>& members) const {
  std::vector<char> isRead(f_.values.size(), 0);
  auto read = [&](ValueId v) {
    const ir::Definition& d = in_.analyses.definitions()[v];
    isRead[v] |= d.kind != ir::Definition::Kind::None && members[d.block];
  };
  for (BlockId b = 0; b < f_.blocks.size(); ++b) {
    if (members[b]) continue;
    for (const Instruction& i : f_.blocks[b].code) ir::forEachUse(i, read);
    ir::forEachUse(f_.blocks[b].end, read);
    for (const ir::Phi& phi : f_.blocks[b].phis)
      for (size_t p = 0; p < phi.incoming.size(); ++p)
        if (!members[f_.blocks[b].predecessors[p]]) read(phi.incoming[p]);
  }
  for (const ir::Phi& phi : f_.blocks[exitOf(members)].phis) isRead[phi.value] = 1;
  std::vector<ValueId> leaves;
  for (ValueId v = 0; v < isRead.size(); ++v)
    if (isRead[v]) leaves.push_back(v);
  return leaves;
}

BlockId StretchRules::exitOf(const std::vector<char>& members) const {
  BlockId exit = ir::kNoBlock;
  for (BlockId b = 0; b < f_.blocks.size(); ++b)
    for (unsigned k = 0; members[b] && k < f_.blocks[b].end.targetCount(); ++k) {
      const BlockId to = f_.blocks[b].end.target[k];
      if (members[to] || to == exit) continue;
      if (exit != ir::kNoBlock) return ir::kNoBlock;
      exit = to;
    }
  return exit;
}

}  // namespace ordito::simt
