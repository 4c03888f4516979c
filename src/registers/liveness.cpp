// Liveness, register by register: backwards from each reader to the definition.
#include <algorithm>

#include "registers/program.hpp"

namespace ordito::registers {
namespace {

struct Places {
  BlockId definedIn = ir::kNoBlock;
  std::vector<BlockId> liveInto, liveOutOf;  // blocks where it is read before any definition; whose phis' edges read it
};

}  // namespace

void findLiveness(Program& program) {
  std::vector<Places> places(program.words.size());
  for (BlockId b = 0; b < program.blocks.size(); ++b) {
    ProgramBlock& block = program.blocks[b];
    block.liveIn.clear(), block.liveOut.clear();
    for (RegisterId r : block.phis) places[r].definedIn = b;
    for (const Node& node : block.nodes)
      for (RegisterId r : node.definitions) places[r].definedIn = b;
  }
  for (BlockId b = 0; b < program.blocks.size(); ++b) {
    const ProgramBlock& block = program.blocks[b];
    for (const Node& node : block.nodes)
      for (RegisterId r : node.uses)
        if (places[r].definedIn != b && (places[r].liveInto.empty() || places[r].liveInto.back() != b))
          places[r].liveInto.push_back(b);
    for (const auto& incoming : block.incoming)
      for (size_t p = 0; p < incoming.size(); ++p)
        if (incoming[p] != ir::kNoValue) places[incoming[p]].liveOutOf.push_back(block.predecessors[p]);
  }
  std::vector<RegisterId> in(program.blocks.size(), ir::kNoValue), out = in;
  for (RegisterId r = 0; r < program.words.size(); ++r) {
    const Places& place = places[r];
    if (place.definedIn == ir::kNoBlock) continue;
    std::vector<BlockId> work = place.liveInto;
    auto leave = [&](BlockId b) {
      if (out[b] == r) return;
      out[b] = r;
      program.blocks[b].liveOut.push_back(r);
      if (b != place.definedIn) work.push_back(b);
    };
    for (BlockId b : place.liveOutOf) leave(b);
    while (!work.empty()) {
      const BlockId b = work.back();
      work.pop_back();
      if (in[b] == r) continue;
      in[b] = r;
      program.blocks[b].liveIn.push_back(r);
      for (BlockId p : program.blocks[b].predecessors) leave(p);
    }
  }
}

}  // namespace ordito::registers
