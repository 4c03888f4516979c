#include "jit/jam.hpp"

#include <algorithm>

#include "ir/graph.hpp"
#include "jit/access_pattern.hpp"

namespace ordito::jit {
namespace {

/// The neighbouring bytes of global memory that a warp reads here, or 0 if it is no such load.
unsigned bytesOfStrip(const ir::Instruction& i, const ir::Shapes& shapes) {
  const unsigned bytes = isa::bytes(i.type[0]);
  if (i.op != isa::Op::Ld || i.guard) return 0;
  const auto space = i.mods.name(isa::ModifierKind::Space);
  if (!space.empty() && space != "global") return 0;
  const ptx::Operand& address = i.operands[1];
  if (address.kind != ptx::Operand::Kind::Address || address.reg == ir::kNoValue) return 0;
  const ir::Shape& shape = shapes[address.reg];
  const bool isStrip = shape.isGrouped() && shape.groups == 1 && shape.warpVarying &&
                       classify(shapes.pattern(shape.pattern), 0, kLanes, bytes) == Run::Kind::Contiguous;
  return isStrip ? bytes * kLanes : 0;
}

/// Does a warp read less than a cache line of neighbouring bytes here? A loop that strides over the whole grid would
/// fetch the line again for every warp that shares it.
bool readsPartOfLine(const ir::Instruction& i, const ir::Shapes& shapes) {
  constexpr unsigned kLine = 64;
  const unsigned bytes = bytesOfStrip(i, shapes);
  return bytes > 0 && bytes < kLine;
}

/// Does straight code read many strips? `in[i] + in[i + blockDim.x] + ...` warp after warp would jump to and fro
/// between places that the host's prefetching takes for as many streams of crumbs; several warps at a time read on in
/// each (2.2 times faster, measured on an unrolled reduction).
bool readsManyStrips(const ir::Function& f, const std::vector<char>& isInLoop, const ir::Shapes& shapes) {
  constexpr unsigned kStrips = 6;  // tiles of a transposition read four, and are slower together
  unsigned strips = 0;
  for (ir::BlockId b = 0; b < f.blocks.size(); ++b)
    for (const ir::Instruction& i : f.blocks[b].code) strips += !isInLoop[b] && bytesOfStrip(i, shapes) > 0;
  return strips >= kStrips;
}

/// How many warps read a line together in a short divergent loop; 1 if none does.
unsigned warpsPerLine(const ir::Function& f, const std::vector<uint32_t>& loop, const ir::Shapes& shapes) {
  constexpr unsigned kLongLoop = 40, kWarps = 8;
  unsigned length = 0;
  bool reads = false;
  for (ir::BlockId b : loop)
    for (const ir::Instruction& i : f.blocks[b].code) {
      if (i.info().effect == isa::Effect::Call || i.info().effect == isa::Effect::Warp) return 1;
      ++length;
      reads |= readsPartOfLine(i, shapes);
    }
  return !reads ? 1 : length <= kLongLoop ? kWarps : kWarps / 2;
}

/// Does the loop gather or scatter at addresses that it carries along, one for each lane? Such a loop waits for memory,
/// and more warps at a time would only make more code.
bool walksPointers(const ir::Function& f, const std::vector<uint32_t>& loop, const ir::Shapes& shapes) {
  std::vector<ir::ValueId> carried;
  for (ir::BlockId b : loop)
    for (const ir::Phi& phi : f.blocks[b].phis)
      if (shapes[phi.value].isGeneral()) carried.push_back(phi.value);
  for (ir::BlockId b : loop)
    for (const ir::Instruction& i : f.blocks[b].code)
      for (const ptx::Operand& o : i.operands)
        if (o.kind == ptx::Operand::Kind::Address && std::find(carried.begin(), carried.end(), o.reg) != carried.end())
          return true;
  return false;
}

}  // namespace

unsigned chooseJam(const ir::Function& f, const ir::LaunchShape& launch, const Target& target) {
  const ir::Shapes shapes(f, launch);
  ir::Graph graph(f.blocks.size());
  std::vector<uint32_t> all;
  for (ir::BlockId b = 0; b < f.blocks.size(); ++b) {
    all.push_back(b);
    for (unsigned k = 0; k < f.blocks[b].end.targetCount(); ++k) graph.edge(b, f.blocks[b].end.target[k]);
  }
  unsigned carried = 0, sharing = 1;
  std::vector<char> isInLoop(f.blocks.size(), 0);
  for (const auto& component : ir::components(graph, all)) {
    if (!ir::isLoop(graph, component)) continue;
    for (ir::BlockId b : component) isInLoop[b] = 1;
    unsigned here = 0;
    if (const unsigned warps = warpsPerLine(f, component, shapes); warps > 1) {
      sharing = std::max(sharing, warps);
      continue;
    }
    if (walksPointers(f, component, shapes)) return 1;
    for (ir::BlockId b : component) {
      if (shapes.isDivergent(b) || shapes.isWarpVarying(b)) return 1;
      for (const ir::Phi& phi : f.blocks[b].phis) here += shapes[phi.value].isGeneral();
      for (const ir::Instruction& i : f.blocks[b].code)
        if (i.info().effect == isa::Effect::Atomic || i.info().effect == isa::Effect::Call) return 1;
    }
    carried = std::max(carried, here);
  }
  if (sharing > 1 && carried == 0) return launch.warps() % sharing == 0 ? sharing : 1;
  if (carried == 0) {
    constexpr unsigned kWarps = 8;
    return readsManyStrips(f, isInLoop, shapes) && launch.warps() % kWarps == 0 ? kWarps : 1;
  }
  // A warp of 32-bit values takes 4 of AVX2's 16 registers and 2 of AVX-512's 32; half of them are left to operands.
  const unsigned perWarp = target.avx512 ? 2 : 4, budget = target.avx512 ? 16 : 8;
  for (unsigned jam : {8u, 4u, 2u})
    if (launch.warps() % jam == 0 && carried * perWarp * jam <= budget) return jam;
  return 1;
}

}  // namespace ordito::jit
