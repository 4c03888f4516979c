// See warp_order.hpp.
#include "simt/warp_order.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ptx/operands.hpp"

namespace ordito::simt {
namespace {

/// What the blocks of a region do to shared memory.
struct SharedUse {
  bool reads = false, stores = false;

  void add(const ir::Block& block) {
    for (const Instruction& i : block.code)
      for (const ptx::MemoryAccess& m : ptx::MemoryAccesses(i)) {
        if (m.space != ptx::Space::Shared) continue;
        reads |= m.kind == ptx::MemoryAccess::Kind::Load || m.kind == ptx::MemoryAccess::Kind::Atomic;
        stores |= m.kind != ptx::MemoryAccess::Kind::Load;
      }
  }
};

bool prints(const ir::Function& f) {
  const auto callsPrintf = [&](const Instruction& i) {
    return i.op == isa::Op::Call && i.operands[1].symbol.kind == ptx::Symbol::Kind::Function &&
           f.module->functions[i.operands[1].symbol.index].name == "vprintf";
  };
  return std::ranges::any_of(f.blocks, [&](const ir::Block& b) { return std::ranges::any_of(b.code, callsPrintf); });
}

}  // namespace

WarpOrder findWarpOrder(const ir::Function& f, const Regions& regions, const Facts& facts) {
  WarpOrder order;
  order.lastFirst.assign(regions.resumePoints.size(), 0);
  if (facts.accesses || prints(f)) return order;
  for (uint32_t p = 1; p < regions.resumePoints.size(); ++p) {
    if (!regions.entries[p].converged || regions.entries[p].isScheduled()) continue;
    const Region region = regions.at(p);
    SharedUse use;
    for (BlockId b : region.order()) use.add(f.blocks[b]);
    order.lastFirst[p] = use.reads && use.stores;
  }
  return order;
}

std::string print(const WarpOrder& order, const Regions& regions) {
  std::string text;
  for (uint32_t p = 0; p < order.lastFirst.size(); ++p)
    text += fmt::format("B{}: the {} warp first\n", regions.resumePoints[p], order.lastFirst[p] ? "last" : "first");
  return text;
}

}  // namespace ordito::simt
