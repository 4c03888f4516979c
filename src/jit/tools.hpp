// What the chapters of instructions are made with: each tool knows those above it.
#pragma once

#include "jit/access_events.hpp"
#include "jit/alignment.hpp"
#include "jit/lane_access.hpp"
#include "jit/private_variables.hpp"
#include "simt/accesses.hpp"

namespace ordito::jit {

using simt::isOrdered;

struct Tools {
  Tools(llvm::Module& module, const simt::Plan& plan, const machine::KernelLayout& layout, const Target& target)
      : context(module, plan, layout, target) {}
  Tools(const Tools&) = delete;

  EmissionContext context;
  Masks masks{context};
  Values values{context, masks};
  Operands operands{context, values};
  RuntimeCalls calls{context, masks, values};
  Addresses addresses{context, values, operands};
  Alignment alignment{context, masks, values, operands};
  GatherScatter general{context, masks, values, calls};
  LaneAccess access{context, masks, values, addresses, general};
  Counting counting{context, masks, values};
  EventCalls eventCalls{context, masks, values, operands, addresses};
  AccessEvents events{context, masks, values, addresses, counting, eventCalls};
  PrivateVariables privates{context, values, operands, events};
};

/// A chapter of the instructions.
class Chapter : protected Emitting {
 protected:
  explicit Chapter(Tools& t)
      : Emitting(t.context),
        masks_(t.masks),
        values_(t.values),
        operands_(t.operands),
        calls_(t.calls),
        addresses_(t.addresses),
        alignment_(t.alignment),
        general_(t.general),
        access_(t.access),
        counting_(t.counting),
        eventCalls_(t.eventCalls),
        events_(t.events),
        privates_(t.privates) {}

  Masks& masks_;
  Values& values_;
  Operands& operands_;
  RuntimeCalls& calls_;
  Addresses& addresses_;
  Alignment& alignment_;
  GatherScatter& general_;
  LaneAccess& access_;
  Counting& counting_;
  EventCalls& eventCalls_;
  AccessEvents& events_;
  PrivateVariables& privates_;
};

}  // namespace ordito::jit
