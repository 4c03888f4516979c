// See listener.hpp. The list is complete before anybody raises an event, so it is read without a lock.
#include "machine/listener.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

namespace ordito::machine {

namespace {

std::vector<Listener*>& listeners() {
  static auto* all = new std::vector<Listener*>;  // never destroyed: streams may still run while the process exits
  return *all;
}

}  // namespace

void addListener(Listener& listener) { listeners().push_back(&listener); }
bool hasListeners() { return !listeners().empty(); }
bool areSitesWanted() {
  return std::any_of(listeners().begin(), listeners().end(), [](const Listener* l) { return l->wantsSites(); });
}

bool areAccessesWanted() {
  return std::any_of(listeners().begin(), listeners().end(), [](const Listener* l) { return l->wantsAccesses(); });
}

bool areUndefinedWanted() {
  return std::any_of(listeners().begin(), listeners().end(), [](const Listener* l) { return l->wantsUndefined(); });
}

bool areAnnotationsWanted() {
  return std::any_of(listeners().begin(), listeners().end(), [](const Listener* l) { return l->wantsAnnotations(); });
}

/// Each of them is asked.
uint32_t allowedLanes(const AccessEvent& event) {
  uint32_t lanes = event.at.lanes;
  for (Listener* l : listeners()) lanes &= l->allowed(event);
  return lanes;
}

std::unique_ptr<BlockJudge> judgeOf(const LaunchEvent& launch) {
  Listener* only = nullptr;
  for (Listener* l : listeners()) {
    if (l->wantsSites() || (l->wantsAccesses() && only)) return nullptr;
    if (l->wantsAccesses()) only = l;
  }
  return only ? only->judge(launch) : nullptr;
}

void raise(const AccessEvent& event) {
  for (Listener* l : listeners()) l->accessed(event);
}
void raise(const OperandsEvent& event) {
  for (Listener* l : listeners()) l->comesToGuard(event);
}
void raise(const SyncEvent& event) {
  for (Listener* l : listeners()) l->synchronised(event);
}
void raise(const BlockEvent& event) {
  for (Listener* l : listeners()) l->blockChanged(event);
}
void raise(const UndefinedEvent& event) {
  for (Listener* l : listeners()) l->usedUndefined(event);
}
void raise(const HeapFreeEvent& event) {
  for (Listener* l : listeners()) l->heapFrees(event);
}
void raise(const RowsEvent& event) {
  for (Listener* l : listeners()) l->rowsMove(event);
}

void raise(const ChildLaunchEvent& event) {
  for (Listener* l : listeners()) l->childLaunched(event);
}
namespace {
std::atomic<int> openLaunches{0};
}

void raiseBegan(const LaunchEvent& event) {
  ++openLaunches;
  for (Listener* l : listeners()) l->launchBegan(event);
}
bool isHostHeld() {
  return std::ranges::any_of(listeners(), [](const Listener* l) { return l->holdsHost(); });
}
void raise(const LaunchEvent& event) {
  for (Listener* l : listeners()) l->launchEnded(event);
  --openLaunches;
}
bool areLaunchesOpen() { return openLaunches > 0; }
void raiseSubmitted(const StreamEvent& event, std::span<const StreamPoint> after) {
  for (Listener* l : listeners()) l->operationSubmitted(event, after);
}
void raiseBegan(const StreamEvent& event) {
  for (Listener* l : listeners()) l->operationBegan(event);
}
void raise(const StreamEvent& event) {
  for (Listener* l : listeners()) l->operationEnded(event);
}
void raise(const Annotation& annotation) {
  for (Listener* l : listeners()) l->annotated(annotation);
}
void raise(const NameEvent& event) {
  for (Listener* l : listeners()) l->named(event);
}

void raise(const GraphNodeEvent& event) {
  for (Listener* l : listeners()) l->graphNodeBegan(event);
}
void raise(const LibraryCall& call) {
  for (Listener* l : listeners()) l->libraryCallEnded(call);
}
void raiseHostWaited(StreamPoint point) {
  for (Listener* l : listeners()) l->hostWaited(point);
}
void raiseHostWaitedForAll(uint64_t context) {
  for (Listener* l : listeners()) l->hostWaitedForAll(context);
}
void raise(const FailedCallEvent& event) {
  for (Listener* l : listeners()) l->callFailed(event);
}
void raiseLastErrorRead() {
  for (Listener* l : listeners()) l->lastErrorRead();
}
void raiseAllocated(const Allocation& allocation) {
  for (Listener* l : listeners()) l->allocated(allocation);
}
void raiseFreed(const Allocation& allocation) {
  for (Listener* l : listeners()) l->freed(allocation);
}
namespace {

std::mutex flushing;  // a report that two write at once is damaged

void flushAll() {
  for (Listener* l : listeners()) l->flush();
}

}  // namespace

void flushListeners() {
  const std::lock_guard lock(flushing);
  flushAll();
}

void flushListenersAtEnd() {
  flushing.lock();
  flushAll();
}

}  // namespace ordito::machine
