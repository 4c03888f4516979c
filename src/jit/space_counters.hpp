// Which counters an access to memory adds to.
#pragma once

#include "machine/counters.hpp"
#include "machine/events.hpp"
#include "ptx/operands.hpp"

namespace ordito::jit {

/// What is counted of a kind of access in one space; Count where nothing is.
struct SpaceCounters {
  machine::Counter requests, units = machine::Counter::Count, conflicts = machine::Counter::Count;
};

SpaceCounters countersOf(machine::AccessKind kind, ptx::Space space);

}  // namespace ordito::jit
