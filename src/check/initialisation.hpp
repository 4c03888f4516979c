// Memory that is used before anybody has written it. What is undefined is known by machine/undefined.hpp and followed
// through registers by the engine; here allocations and copies are followed, and findings told.
#pragma once

#include "check/finding.hpp"
#include "machine/events.hpp"
#include "machine/memory.hpp"

namespace ordito::check {

class Launch;

class Initialisation {
 public:
  void allocated(const machine::Allocation& allocation);
  void freed(const machine::Allocation& allocation);
  /// `call`: what the host called for it, if that is known.
  void rowsMove(const machine::RowsEvent& rows, const std::optional<CallSite>& call, Findings& findings);
  void used(const Launch& launch, const machine::UndefinedEvent& use, Findings& findings);
};

}  // namespace ordito::check
