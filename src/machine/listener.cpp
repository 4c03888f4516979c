// See listener.hpp. The list is complete before anybody raises an event, so it is read without a lock.
#include "machine/listener.hpp"

#include <algorithm>
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

void raise(const LaunchEvent& event) {
  for (Listener* l : listeners()) l->launchEnded(event);
}
void raise(const StreamEvent& event) {
  for (Listener* l : listeners()) l->operationEnded(event);
}
void raiseAllocated(const Allocation& allocation) {
  for (Listener* l : listeners()) l->allocated(allocation);
}
void raiseFreed(const Allocation& allocation) {
  for (Listener* l : listeners()) l->freed(allocation);
}
void flushListeners() {
  for (Listener* l : listeners()) l->flush();
}

}  // namespace ordito::machine
