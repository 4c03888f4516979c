// See memory_order.hpp.
#include "machine/memory_order.hpp"

#include "ptx/operands.hpp"

namespace ordito::machine {

using isa::mod;
using isa::ModifierKind;

/// Atomic operations without a word are relaxed, loads and stores are weak.
MemoryOrder memoryOrder(const ptx::Instruction& i) {
  switch (i.mods[ModifierKind::Semantics]) {
    case mod<ModifierKind::Semantics>("volatile").value: return MemoryOrder::Volatile;
    case mod<ModifierKind::Semantics>("relaxed").value: return MemoryOrder::Relaxed;
    case mod<ModifierKind::Semantics>("acquire").value: return MemoryOrder::Acquire;
    case mod<ModifierKind::Semantics>("release").value: return MemoryOrder::Release;
    case mod<ModifierKind::Semantics>("acq_rel").value: return MemoryOrder::AcquireRelease;
    default: break;
  }
  return i.info().effect == isa::Effect::Atomic ? MemoryOrder::Relaxed : MemoryOrder::Weak;
}

/// membar is fence.sc, and a fence without a word is acq_rel.
MemoryOrder fenceOrder(const ptx::Instruction& i) {
  if (i.op == isa::Op::Membar || i.mods.name(ModifierKind::Semantics) == "sc") return MemoryOrder::Sequential;
  const MemoryOrder said = memoryOrder(i);
  return said == MemoryOrder::Weak ? MemoryOrder::AcquireRelease : said;
}

/// Without a word an atomic is .gpu; a volatile access acts as one of .sys.
MemoryScope memoryScope(const ptx::Instruction& i) {
  const std::string_view level = i.mods.name(ModifierKind::MembarLevel);
  const std::string_view said = level.empty() ? i.mods.name(ModifierKind::Scope) : level;
  if (said == "cta") return MemoryScope::Block;
  if (said == "cluster") return MemoryScope::Cluster;
  if (said == "gpu" || said == "gl") return MemoryScope::Gpu;
  if (said.empty() && i.info().effect == isa::Effect::Atomic) return MemoryScope::Gpu;
  return MemoryScope::System;
}

uint32_t fencedProxies(const ptx::Instruction& i) {
  if (i.op == isa::Op::FenceProxySpace)
    return ptx::spaceOf(i) == ptx::Space::Global ? SyncEvent::kGlobalProxy : SyncEvent::kSharedProxy;
  const bool isAll = i.op == isa::Op::FenceProxy && i.mods.name(ModifierKind::ProxyKind) == "async";
  return isAll ? SyncEvent::kGlobalProxy | SyncEvent::kSharedProxy : 0;
}

}  // namespace ordito::machine
