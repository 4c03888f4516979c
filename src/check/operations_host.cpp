// The host as a party of the races in operations.hpp: which pages it must not touch before it has waited, and what is
// told when it does.
#include <algorithm>

#include "check/operations.hpp"

namespace ordito::check {

using machine::MemoryKind;
using machine::StreamEvent;
using machine::StreamPoint;

namespace {

constexpr uint64_t kPage = HostGuard::kPage;
/// So many strong reads of one kernel look like a loop that waits for the host, or for another operation.
constexpr uint64_t kPatience = 1u << 16;

/// How many bytes from the start of a page on belong to memory that the host can reach, and to nobody else; 0: the page
/// holds other things too.
uint64_t hostBytesOf(uint64_t page) {
  const auto a = machine::allocations().find(page);
  if (!a || a->isOnDevice()) return 0;
  const uint64_t bytes = std::min(kPage, a->address + a->bytes - page);
  // Pinned and managed memory has pages of its own; registered memory shares them with its neighbours.
  return a->kind == MemoryKind::Registered && bytes < kPage ? 0 : bytes;
}

}  // namespace

/// Of memory that the host can reach.
Operations::HostUse Operations::hostUseOf(const Operation& operation) {
  HostUse use;
  const auto isHosts = [](uint64_t page) { return hostBytesOf(page) > 0; };
  for (const Touched& t : operation.touched) {
    if (t.use == Use::Lifetime) continue;
    use.used.addPages(t.bytes, isHosts);
    if (t.use == Use::Write) use.written.addPages(t.bytes, isHosts);
  }
  return use;
}

/// Only pages of which pending operations have used every byte: a right program may touch the others, and hand them to
/// system calls, which would fail.
void Operations::guardHost() {
  const auto isPending = [this](const Operation& o) {
    return o.hasEnded && !o.hostUse.used.empty() && !o.signalsHost && !isBlind_ && !order_.isBeforeHost(o.point);
  };
  std::vector<std::pair<uint64_t, uint64_t>> pending;
  for (const Operation& operation : all_)
    if (isPending(operation)) pending.emplace_back(operation.point.stream, operation.point.number);
  if (pending == guarded_) return;
  guarded_ = std::move(pending);
  HostUse all;
  const auto isAny = [](uint64_t) { return true; };
  for (const Operation& operation : all_) {
    if (!isPending(operation)) continue;
    all.used.addPages(operation.hostUse.used, isAny);
    all.written.addPages(operation.hostUse.written, isAny);
  }
  std::vector<HostGuard::Range> ranges;
  all.used.forEachPage([&](uint64_t page) {
    const uint64_t bytes = hostBytesOf(page);
    if (!bytes || !all.used.hasStartOf(page, bytes)) return;
    const bool mayRead = !all.written.hasStartOf(page, bytes);
    if (!ranges.empty() && ranges.back().end == page && ranges.back().mayRead == mayRead)
      ranges.back().end += kPage;
    else
      ranges.push_back({page, page + kPage, mayRead});
  });
  guard_.keep(std::move(ranges));
}

void Operations::hostMemoryFreed(const machine::Allocation& a) {
  if (a.isOnDevice()) return;
  for (Operation& operation : all_) {
    operation.hostUse.used.remove(a.address, a.bytes);
    operation.hostUse.written.remove(a.address, a.bytes);
  }
  guarded_.reset();
  guardHost();
}

/// Before the order changes: what the host has touched meanwhile.
void Operations::hostTouches(Findings& findings) {
  for (HostGuard::Touch& touch : guard_.touches()) {
    ByteSet byte;
    byte.add(touch.address, 1);
    Operation host{.point = {},
                   .context = 0,
                   .isBlocking = true,
                   .kind = StreamEvent::Kind::Value,
                   .name = {},
                   .call = touch.call};
    Touched mine{.use = touch.isWrite ? Use::Write : Use::Read};
    mine.side = sideOf(host, touch.isWrite ? "write" : "read", 0);
    mine.side.operation = "the host";
    mine.bytes = std::move(byte);
    host.touched.push_back(std::move(mine));
    for (const Operation& operation : all_)
      if (operation.hasEnded && !order_.isBeforeHost(operation.point)) compare(operation, host, findings);
  }
}

void Operations::began(const StreamEvent& event) {
  const bool usesMemory = event.kind != StreamEvent::Kind::EventRecord && event.kind != StreamEvent::Kind::EventWait &&
                          event.kind != StreamEvent::Kind::Allocation;
  if (!usesMemory) return;
  running_.insert({event.stream, event.correlation});
  guard_.lift();
  // What the program's own function waits for is not seen.
  if (event.kind == StreamEvent::Kind::Value || (event.kind == StreamEvent::Kind::HostFunction && *event.name == 0))
    mayWaitForHost({event.stream, event.correlation});
}

void Operations::hasRun(StreamPoint point) {
  running_.erase({point.stream, point.number});
  waiting_.erase({point.stream, point.number});
  holdsHost_ = waiting_.empty();
  guardHost();
  if (running_.empty()) guard_.restore();
}

void Operations::mayWaitForHost(StreamPoint point) {
  waiting_.insert({point.stream, point.number});
  holdsHost_ = false;
}

void Operations::readsStrongly(Operation& operation) {
  if (++operation.strongReads == kPatience) mayWaitForHost(operation.point);
}

}  // namespace ordito::check
