// Private variables that need no memory (simt/private_slots.hpp): a stack slot of lane vectors for each element.
#pragma once

#include <map>

#include "jit/access_events.hpp"

namespace ordito::jit {

class PrivateVariables : private Emitting {
 public:
  PrivateVariables(EmissionContext& context, Values& values, Operands& operands, AccessEvents& events)
      : Emitting(context), values_(values), operands_(operands), events_(events) {}

  void makeSlots();
  /// A block begins, in which nothing is written yet.
  void forget();
  void load(const Instruction& i);
  void store(const Instruction& i);

  struct Slot {
    llvm::Type* type;
    std::vector<llvm::AllocaInst*> parts;
  };
  std::map<simt::PrivateSlots::Key, Slot>& slots() { return privateSlots_; }

 private:
  Values& values_;
  Operands& operands_;
  AccessEvents& events_;
  std::map<simt::PrivateSlots::Key, Slot> privateSlots_;
};

}  // namespace ordito::jit
