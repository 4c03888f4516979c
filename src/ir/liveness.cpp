// Backwards from each use to the definition, value by value: in SSA form there is one, and most values live in few
// blocks.
#include "ir/liveness.hpp"

#include <algorithm>

namespace ordito::ir {
namespace {

/// Where each value is defined, and in which blocks it is read (a phi reads at the end of the predecessor).
struct Places {
  std::vector<BlockId> definedIn;
  std::vector<std::vector<BlockId>> usedIn;
  std::vector<char> atEnd;  // defined by the barrier that ends its block

  explicit Places(const Function& f)
      : definedIn(f.values.size(), kNoBlock), usedIn(f.values.size()), atEnd(f.values.size(), 0) {
    for (BlockId b = 0; b < f.blocks.size(); ++b) {
      const Block& block = f.blocks[b];
      auto use = [&](ValueId v) {
        if (usedIn[v].empty() || usedIn[v].back() != b) usedIn[v].push_back(b);
      };
      auto define = [&](ValueId v, unsigned) { definedIn[v] = b; };
      for (const Phi& phi : block.phis) {
        definedIn[phi.value] = b;
        for (size_t p = 0; p < phi.incoming.size(); ++p) usedIn[phi.incoming[p]].push_back(block.predecessors[p]);
      }
      for (const Instruction& i : block.code) forEachUse(i, use), forEachDefinition(i, define);
      forEachUse(block.end, use);
      if (block.end.kind != Terminator::Kind::Barrier) continue;
      forEachDefinition(block.end.barrier, [&](ValueId v, unsigned) { definedIn[v] = b, atEnd[v] = 1; });
    }
  }
};

}  // namespace

std::vector<char> readValues(const Function& f) {
  std::vector<char> isRead(f.values.size(), 0);
  auto read = [&](ValueId v) { isRead[v] = 1; };
  for (const Block& block : f.blocks) {
    for (const Phi& phi : block.phis) std::for_each(phi.incoming.begin(), phi.incoming.end(), read);
    for (const Instruction& i : block.code) forEachUse(i, read);
    forEachUse(block.end, read);
  }
  return isRead;
}

std::vector<std::vector<ValueId>> liveIns(const Function& f, const std::vector<BlockId>& at) {
  const Places places(f);
  std::vector<uint32_t> slot(f.blocks.size(), ~0u);
  for (uint32_t k = 0; k < at.size(); ++k) slot[at[k]] = k;
  std::vector<std::vector<ValueId>> live(at.size());
  std::vector<ValueId> stamp(f.blocks.size(), kNoValue);
  for (ValueId v = 0; v < f.values.size(); ++v) {
    const BlockId origin = places.definedIn[v];
    if (origin == kNoBlock) continue;
    std::vector<BlockId> work;
    for (BlockId b : places.usedIn[v])
      if (b != origin || places.atEnd[v]) work.push_back(b);
    while (!work.empty()) {
      const BlockId b = work.back();
      work.pop_back();
      if (stamp[b] == v) continue;
      stamp[b] = v;
      if (slot[b] != ~0u) live[slot[b]].push_back(v);
      for (BlockId p : f.blocks[b].predecessors)
        if (p != origin) work.push_back(p);
    }
    // A phi is assigned on the way into its block.
    if (slot[origin] == ~0u || stamp[origin] == v) continue;
    for (const Phi& phi : f.blocks[origin].phis)
      if (phi.value == v) live[slot[origin]].push_back(v);
  }
  return live;
}

}  // namespace ordito::ir
