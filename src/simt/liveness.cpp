// See liveness.hpp.
#include "simt/liveness.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ir/liveness.hpp"
#include "ir/print.hpp"

namespace ordito::simt {
namespace {

/// Phis, and what a barrier gives, are assigned between blocks.
std::vector<char> findCrossingBlocks(const ir::Function& f, const ir::Definitions& definitions) {
  using Kind = ir::Definition::Kind;
  std::vector<char> crosses(f.values.size(), 0);
  auto useIn = [&](ValueId v, BlockId block) {
    const ir::Definition& d = definitions[v];
    crosses[v] |= d.kind != Kind::None && (d.kind != Kind::Code || d.block != block);
  };
  for (BlockId b = 0; b < f.blocks.size(); ++b) {
    auto use = [&](ValueId v) { useIn(v, b); };
    for (const ir::Phi& phi : f.blocks[b].phis) {
      crosses[phi.value] = 1;
      for (size_t p = 0; p < phi.incoming.size(); ++p) useIn(phi.incoming[p], f.blocks[b].predecessors[p]);
    }
    for (const Instruction& i : f.blocks[b].code) ir::forEachUse(i, use);
    ir::forEachUse(f.blocks[b].end, use);
  }
  return crosses;
}

}  // namespace

bool Liveness::isLiveAt(ValueId v, uint32_t resumePoint) const {
  return std::ranges::binary_search(at[resumePoint], v);
}

Liveness findLiveness(const ir::Function& f, const ir::Definitions& definitions, const Regions& regions) {
  Liveness l;
  l.at = ir::liveIns(f, regions.resumePoints);
  l.crossesResume.assign(f.values.size(), 0);
  for (const auto& live : l.at)
    for (ValueId v : live) l.crossesResume[v] = 1;
  l.crossesBlock = findCrossingBlocks(f, definitions);
  return l;
}

std::string print(const Liveness& l, const ir::Function& f, const Regions& regions) {
  std::string text;
  for (uint32_t p = 0; p < l.at.size(); ++p) {
    text += fmt::format("B{}:", regions.resumePoints[p]);
    for (ValueId v : l.at[p]) text += " " + ir::valueName(f, v);
    text += "\n";
  }
  text += "across blocks:";
  for (ValueId v = 0; v < f.values.size(); ++v)
    if (l.crossesBlock[v]) text += " " + ir::valueName(f, v);
  return text + "\n";
}

}  // namespace ordito::simt
