// See privatised_counters.hpp.
#include "simt/privatised_counters.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ptx/operands.hpp"
#include "simt/copies.hpp"

namespace ordito::simt {
namespace {

bool mayTouchShared(const Instruction& i) {
  const auto& info = i.info();
  if (info.effect == isa::Effect::Call || i.op == isa::Op::CpAsync) return true;
  if (info.effect != isa::Effect::Load && info.effect != isa::Effect::Store && info.effect != isa::Effect::Atomic)
    return false;
  if (info.unit == isa::Unit::Texture) return false;
  const ptx::Space space = ptx::spaceOf(i);
  return info.unit != isa::Unit::Lsu || space == ptx::Space::Shared || space == ptx::Space::Generic;
}

bool isSuited(const ir::Function& f, const ir::Graph& graph, BlockId start, const ir::Definitions& definitions) {
  const auto region = ir::reversePostOrder(graph, start);
  for (const BlockId b : region)
    for (const Instruction& i : f.blocks[b].code)
      if (mayTouchShared(i) && !isCount(i, definitions)) return false;
  for (const auto& component : ir::components(graph, region)) {
    if (!ir::isLoop(graph, component)) continue;
    for (const BlockId b : component)
      for (const Instruction& i : f.blocks[b].code)
        if (isCount(i, definitions)) return true;
  }
  return false;
}

}  // namespace

bool isCount(const Instruction& i, const ir::Definitions& definitions) {
  if ((i.op != isa::Op::Atom && i.op != isa::Op::Red) || ptx::spaceOf(i) != ptx::Space::Shared) return false;
  bool isUnread = true;
  ir::forEachDefinition(i, [&](ValueId v, unsigned) { isUnread &= !definitions.isRead(v); });
  return isUnread && (i.type[0] == isa::Type::u32 || i.type[0] == isa::Type::s32) &&
         i.mods.name(isa::ModifierKind::AtomOp) == "add";
}

PrivatisedCounters findPrivatisedCounters(const ir::Function& f, const ir::SyncPoints& syncPoints,
                                          const ir::Definitions& definitions, const Facts& facts) {
  PrivatisedCounters c;
  c.regions.assign(syncPoints.resumePoints.size(), 0);
  const uint32_t bytes = facts.staticSharedBytes;
  if (facts.baseline || facts.accesses || syncPoints.diverges() || syncPoints.resumePoints.size() < 2 || bytes == 0 ||
      bytes > cost::kMostPrivatised)
    return c;
  const ir::Graph graph = ir::graphBetweenSyncPoints(f);
  for (size_t p = 0; p < syncPoints.resumePoints.size(); ++p)
    c.regions[p] = isSuited(f, graph, syncPoints.resumePoints[p], definitions);
  if (std::ranges::none_of(c.regions, [](char is) { return is != 0; })) return c;
  c.bytes = static_cast<uint32_t>(roundedUp(bytes, 16));
  c.copies = copiesOf(c.bytes, cost::kFewestPrivatised);
  c.pitch = pitchOf(c.bytes, c.copies);
  return c;
}

std::string print(const PrivatisedCounters& c, const Regions& regions) {
  if (!c.any()) return "nothing\n";
  std::string text = fmt::format("{} copies of {} bytes, one every {}\n", c.copies, c.bytes, c.pitch);
  for (uint32_t p = 0; p < c.regions.size(); ++p)
    if (c.regions[p]) text += fmt::format("region at B{} counts in copies\n", regions.resumePoints[p]);
  return text;
}

}  // namespace ordito::simt
