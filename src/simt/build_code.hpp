// Makes SIMT code of a kernel (code.hpp): plain branches where the lanes of a batch agree, masks where they may not.
//
// Code is specialised in versions. A divergent branch on which, as it happens, all lanes agree continues in a version
// that assumes so and needs no masks: `if (i < n)` costs one test per warp, not a mask on every access. When a lane
// ends early, code goes on in the version that knows of dead lanes. Masked components are masked_code.hpp's.
#pragma once

#include "simt/by_thread.hpp"
#include "simt/code.hpp"
#include "simt/early_exits.hpp"
#include "simt/facts.hpp"
#include "simt/parting.hpp"
#include "simt/versions.hpp"

namespace ordito::simt {

/// The parts of the plan that code is made from.
struct CodeInputs {
  const ir::Function& function;
  const ir::SyncPoints& syncPoints;
  const Facts& facts;
  const ir::Shapes& shapes;
  const Regions& regions;
  const EarlyExits& exits;
  const Parting& parting;
  const Versions& versions;
  const Stretches& stretches;
};

/// With all events.
Code buildCode(const CodeInputs& inputs);

}  // namespace ordito::simt
