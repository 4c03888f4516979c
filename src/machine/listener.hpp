// Who listens to events. The driver has the list of all listeners (driver/listeners.cpp); the events reach those that
// this process asked for.
#pragma once

#include "machine/events.hpp"

namespace ordito::machine {

/// Hears of the kinds of events that it overrides, from several threads at once.
class Listener {
 public:
  virtual ~Listener() = default;
  /// Are kernels to be compiled so that they tell what they do? Else LaunchEvent::sites are empty.
  virtual bool wantsSites() const { return false; }
  virtual void launchEnded(const LaunchEvent&) {}
  virtual void operationEnded(const StreamEvent&) {}
  virtual void allocated(const Allocation&) {}
  virtual void freed(const Allocation&) {}
  /// The process ends, or the program asks for what is known so far.
  virtual void flush() {}
};

/// Adds one, for the life of the process; before the first event.
void addListener(Listener& listener);
bool hasListeners();
bool areSitesWanted();

/// Tell all listeners.
void raise(const LaunchEvent& event);
void raise(const StreamEvent& event);
void raiseAllocated(const Allocation& allocation);
void raiseFreed(const Allocation& allocation);
void flushListeners();

}  // namespace ordito::machine
