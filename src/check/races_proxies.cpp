// Bulk copies that read what threads have written, without a fence between the two proxies (proxy_writes.hpp).
#include "check/launch.hpp"
#include "check/races.hpp"
#include "machine/lanes.hpp"

namespace ordito::check {

using machine::AccessEvent;
using machine::AccessKind;
using machine::AccessSpace;
using machine::SyncEvent;

namespace {

/// Null: bulk copies read none of it.
ProxyWrites* writesOf(ProxyMemory& memory, AccessSpace space) {
  if (space == AccessSpace::Shared) return &memory.shared;
  return space == AccessSpace::Global ? &memory.global : nullptr;
}

}  // namespace

void Races::followProxies(const AccessEvent& access, Block& block, Findings& findings) {
  if (!block.proxies) block.proxies.emplace();
  const bool isCopy = access.kind == AccessKind::Copy;
  ProxyWrites* const source = writesOf(*block.proxies, access.space);
  ProxyWrites* const target = isCopy ? writesOf(*block.proxies, access.toSpace) : source;
  machine::forEachLane(access.at.lanes, [&](uint32_t lane) {
    const uint32_t thread = access.at.warp * machine::kWarpSize + lane;
    const uint64_t address = isCopy ? access.targets[lane] : access.addressOf(lane);
    if (access.isBulk && source) {
      const ProxyWrites::Write* const written = source->unseen(access.addressOf(lane), access.copied[lane]);
      // What nothing orders is a race as of any copy.
      if (written && block.clocks.knows(thread, written->by, written->at))
        reportUnseen(*written, access, thread, findings);
    }
    if (!target) return;
    if (access.isBulk) target->copiedTo(address, access.copied[lane]);
    if (access.isBulk || (!isCopy && !doesWrite(access.kind))) return;
    const ActorId actor = actorOf(access, block.clocks, thread, true);
    target->wrote(
        {actor, block.clocks.now(actor), access.kind, access.at.line, access.bytes, &access.at.function, address});
  });
}

void Races::fenceProxies(Block& block, uint32_t proxies, uint32_t thread) {
  if (!block.proxies) return;
  if (proxies & SyncEvent::kSharedProxy) block.proxies->shared.fenced(block.clocks, thread);
  if (proxies & SyncEvent::kGlobalProxy) block.proxies->global.fenced(block.clocks, thread);
}

void Races::reportUnseen(const ProxyWrites::Write& written, const AccessEvent& copy, uint32_t thread,
                         Findings& findings) {
  findings.add(launch_.key(Rule::RaceProxy, {written.function, written.line}, {&copy.at.function, copy.at.line}), [&] {
    Finding f = launch_.finding(Rule::RaceProxy);
    const uint64_t block = numberOf(copy.at.frame);
    const uint32_t writer = written.by % blockOf(copy.at.frame).clocks.threads();
    f.message = "a bulk copy reads what a thread has written, and no fence.proxy.async makes that visible to copies";
    f.sides = {launch_.side(*written.function, written.line, block, writer, wordOf(written.kind), written.size),
               launch_.side(copy.at.function, copy.at.line, block, thread, wordOf(copy.kind), copy.bytes)};
    f.object = copy.space == AccessSpace::Shared ? launch_.describeShared(copy.at, written.address)
                                                 : Launch::describe(written.address);
    f.help =
        "after its writes each thread executes fence.proxy.async (cuda::ptx::fence_proxy_async), then comes to "
        "the barrier behind which the copy is started";
    return f;
  });
}

}  // namespace ordito::check
