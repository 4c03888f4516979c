// The events of memory accesses, and what their only listener here, the counters, makes of them: requests, 32-byte
// sectors, wavefronts of shared memory.
#pragma once

#include <map>
#include <tuple>

#include "jit/addresses.hpp"
#include "jit/counting.hpp"
#include "machine/events.hpp"
#include "simt/access_pattern.hpp"

namespace ordito::jit {

struct AccessEvent {
  machine::AccessKind kind;
  const Address& at;
  int64_t offset;     // of all lanes, beside the address
  const Parts& mask;  // who takes part
  unsigned bytes;     // of a lane
};

class AccessEvents : private Emitting {
 public:
  AccessEvents(EmissionContext& context, Masks& masks, Values& values, Addresses& addresses, Counting& counting)
      : Emitting(context), masks_(masks), values_(values), addresses_(addresses), counting_(counting) {}

  bool listens() const { return counting_.listens(); }
  void raise(const Instruction& i, const AccessEvent& e);
  /// `wanted`: how many bytes the lanes of a part want; null for all.
  void raiseCopy(const Instruction& i, const Address& from, const Address& to, const Parts& mask, unsigned bytes,
                 llvm::function_ref<LlvmValue(unsigned part)> wanted);
  void raiseImage(const Instruction& i, machine::Counter requests);

  /// The phi `v` gets the value of `incoming`, `bases`, in the lanes of `mask`.
  void notePhi(ValueId v, ValueId incoming, const std::vector<Parts>& bases, const Parts& mask);
  /// What follows is another block of the kernel.
  void beginBlock() { countedGroups_.clear(); }

 private:
  void countGeneric(const AccessEvent& e);
  LlvmValue unitsOf(const Instruction& i, const AccessEvent& e);
  LlvmValue sectorsOfGroup(const Address& a, LlvmValue base, unsigned first, unsigned width, unsigned bytes);
  LlvmValue groupsLieApart(const Address& a, unsigned part, unsigned bytes, int64_t offset);
  LlvmValue sectorsOfMask(LlvmValue start, LlvmValue lanes, unsigned bytes);
  LlvmValue sectorsByLane(const AccessEvent& e, unsigned part);
  LlvmValue sharedByLane(const AccessEvent& e, unsigned part);
  LlvmValue lastPattern();
  LlvmValue unless(LlvmValue condition, LlvmValue fast, llvm::function_ref<LlvmValue()> slow);
  LlvmValue sectorsOfPairs(const Instruction& i, const AccessEvent& e, unsigned parts);
  bool hasFixedDistance(ValueId v) const;
  bool isAdvance(ValueId v, ValueId next) const;
  llvm::AllocaInst* distance(ValueId v, unsigned part);
  LlvmValue sectorsOfAscending(const AccessEvent& e, unsigned part);
  LlvmValue runsWith(LlvmValue begins, LlvmValue lanes);
  LlvmValue sharedOfGroups(const AccessEvent& e, unsigned parts);
  LlvmValue sectorsOf(const AccessEvent& e, unsigned part);
  LlvmValue wavefrontsOf(const AccessEvent& e, unsigned part);

  Masks& masks_;
  Values& values_;
  Addresses& addresses_;
  Counting& counting_;
  using Groups = std::tuple<ValueId, unsigned, int64_t>;  // address, bytes, place in a word
  /// Accesses by several groups to shared memory, in the block being emitted: how many wavefronts they took.
  std::map<Groups, LlvmValue> countedGroups_;
  /// Of phis with two bases: how far these are apart.
  std::map<std::pair<ValueId, unsigned>, llvm::AllocaInst*> distances_;
};

}  // namespace ordito::jit
