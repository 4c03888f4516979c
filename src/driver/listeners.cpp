// A listener is a folder of its own and a line here: a function that gives it, or null when nobody asked for it.
#include "driver/listeners.hpp"

#include "caches/collector.hpp"
#include "check/checker.hpp"
#include "fidelity/collector.hpp"
#include "hotspots/hotspots.hpp"
#include "lanes/lanes.hpp"
#include "machine/ending_signals.hpp"
#include "machine/listener.hpp"
#include "profile/profile.hpp"
#include "timeline/timeline.hpp"

namespace ordito::driver {

namespace {

constexpr machine::Listener* (*kListeners[])() = {
    profile::listener,   // what each launch counted (ordito profile)
    hotspots::listener,  // the lines that moved most (ordito profile --hotspots)
    lanes::listener,     // what the lanes of one warp touch (ordito lab run access --plot)
    caches::listener,    // hits of the caches (ordito profile --caches)
    check::listener,     // memory errors and races (ordito check)
    fidelity::listener,  // the instructions that do not give a GPU's bits (ordito run --fidelity)
    timeline::listener,  // when the operations of streams ran (ordito run --timeline)
};

}  // namespace

void addListeners() {
  bool any = false;
  for (auto* give : kListeners)
    if (machine::Listener* listener = give()) machine::addListener(*listener), any = true;
  if (any) machine::reportOnEndingSignals();
}

}  // namespace ordito::driver
