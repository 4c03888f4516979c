#include "jit/jam.hpp"

#include <algorithm>

#include "ir/graph.hpp"

namespace ordito::jit {

unsigned chooseJam(const ir::Function& f, const ir::LaunchShape& launch, const Target& target) {
  const ir::Shapes shapes(f, launch);
  ir::Graph graph(f.blocks.size());
  std::vector<uint32_t> all;
  for (ir::BlockId b = 0; b < f.blocks.size(); ++b) {
    all.push_back(b);
    for (unsigned k = 0; k < f.blocks[b].end.targetCount(); ++k) graph.edge(b, f.blocks[b].end.target[k]);
  }
  unsigned carried = 0;
  bool hasLoop = false;
  for (const auto& component : ir::components(graph, all)) {
    const auto& successors = graph.successors[component[0]];
    if (component.size() == 1 && std::find(successors.begin(), successors.end(), component[0]) == successors.end())
      continue;
    hasLoop = true;
    unsigned here = 0;
    for (ir::BlockId b : component) {
      if (shapes.isDivergent(b) || shapes.isWarpVarying(b)) return 1;
      for (const ir::Phi& phi : f.blocks[b].phis) here += shapes[phi.value].isGeneral();
      for (const ir::Instruction& i : f.blocks[b].code)
        if (i.info().effect == isa::Effect::Atomic || i.info().effect == isa::Effect::Call) return 1;
    }
    carried = std::max(carried, here);
  }
  if (!hasLoop || carried == 0) return 1;
  // A warp of 32-bit values takes 4 of AVX2's 16 registers and 2 of AVX-512's 32; half of them are left to operands.
  const unsigned perWarp = target.avx512 ? 2 : 4, budget = target.avx512 ? 16 : 8;
  for (unsigned jam : {8u, 4u, 2u})
    if (launch.warps() % jam == 0 && carried * perWarp * jam <= budget) return jam;
  return 1;
}

}  // namespace ordito::jit
