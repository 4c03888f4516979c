// See speculated.hpp.
#include "ir/speculated.hpp"

namespace ordito::ir {
namespace {

/// Blocks that only jumps join have one name: the first of them.
std::vector<BlockId> straightLines(const Function& f) {
  std::vector<BlockId> name(f.blocks.size());
  for (BlockId b = 0; b < f.blocks.size(); ++b) {
    BlockId first = b;
    for (size_t steps = 0; steps < f.blocks.size(); ++steps) {
      const auto& before = f.blocks[first].predecessors;
      if (before.size() != 1 || f.blocks[before[0]].end.kind != Terminator::Kind::Jump) break;
      first = before[0];
    }
    name[b] = first;
  }
  return name;
}

}  // namespace

std::vector<char> speculatedValues(const Analyses& analyses) {
  const Function& f = analyses.function();
  const std::vector<BlockId> name = straightLines(f);
  const Definitions& definitions = analyses.definitions();
  auto isElsewhere = [&](ValueId v, BlockId b) {
    return !definitions.instruction(v) || name[definitions[v].block] != name[b];
  };
  std::vector<char> speculated(f.values.size(), 0);
  for (BlockId b = 0; b < f.blocks.size(); ++b) {
    for (const Phi& phi : f.blocks[b].phis)
      for (ValueId v : phi.incoming) speculated[v] = 1;
    for (const Instruction& i : f.blocks[b].code) forEachUse(i, [&](ValueId v) { speculated[v] |= isElsewhere(v, b); });
  }
  // What a speculated value is computed from is used where that is.
  for (bool changed = true; changed;) {
    changed = false;
    for (const Block& block : f.blocks)
      for (auto i = block.code.rbegin(); i != block.code.rend(); ++i) {
        bool result = false;
        forEachDefinition(*i, [&](ValueId v, unsigned) { result |= speculated[v] != 0; });
        if (!result) continue;
        forEachUse(*i, [&](ValueId v) {
          changed |= !speculated[v];
          speculated[v] = 1;
        });
      }
  }
  return speculated;
}

}  // namespace ordito::ir
