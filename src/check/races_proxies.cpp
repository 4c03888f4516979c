// Bulk copies that read what threads have written, without a fence between the two proxies (proxy_writes.hpp).
#include "check/launch.hpp"
#include "check/races.hpp"
#include "machine/lanes.hpp"

namespace ordito::check {

using machine::AccessEvent;
using machine::AccessKind;
using machine::AccessSpace;

void Races::followProxies(const AccessEvent& access, Block& block, Findings& findings) {
  const bool isShared = access.space == AccessSpace::Shared;
  if (!block.proxyWrites) block.proxyWrites.emplace(block.clocks.threads());
  ProxyWrites& writes = *block.proxyWrites;
  machine::forEachLane(access.at.lanes, [&](uint32_t lane) {
    const uint32_t thread = access.at.warp * machine::kWarpSize + lane;
    const uint64_t address = access.addressOf(lane);
    if (access.isBulk && isShared) {
      const ProxyWrites::Write* const written = writes.unseen(address, access.copied[lane]);
      // What nothing orders is a race as of any copy.
      if (written && block.clocks.knows(thread, written->thread, written->at))
        reportUnseen(*written, access, thread, findings);
    }
    if (access.isBulk && access.toSpace == AccessSpace::Shared) writes.copiedTo(access.targets[lane], access.bytes);
    if (isShared && doesWrite(access.kind))
      writes.wrote(
          {thread, block.clocks.now(thread), access.kind, access.at.line, access.bytes, &access.at.function, address});
  });
}

void Races::reportUnseen(const ProxyWrites::Write& written, const AccessEvent& copy, uint32_t thread,
                         Findings& findings) {
  findings.add(launch_.key(Rule::RaceProxy, {written.function, written.line}, {&copy.at.function, copy.at.line}), [&] {
    Finding f = launch_.finding(Rule::RaceProxy);
    const uint64_t block = numberOf(copy.at.frame);
    f.message = "a bulk copy reads what a thread has written, and no fence.proxy.async makes that visible to copies";
    f.sides = {launch_.side(*written.function, written.line, block, written.thread, wordOf(written.kind), written.size),
               launch_.side(copy.at.function, copy.at.line, block, thread, wordOf(copy.kind), copy.bytes)};
    f.object = launch_.describeShared(copy.at, written.address);
    f.help =
        "after its writes each thread executes fence.proxy.async (cuda::ptx::fence_proxy_async), then comes to "
        "the barrier behind which the copy is started";
    return f;
  });
}

}  // namespace ordito::check
