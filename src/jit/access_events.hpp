// The events of memory accesses, and what the counters make of them: requests, 32-byte sectors, wavefronts of shared
// memory. Listeners that want each access hear of it through event_calls.hpp.
#pragma once

#include <map>
#include <tuple>

#include "jit/counting.hpp"
#include "jit/event_calls.hpp"
#include "simt/access_pattern.hpp"
#include "simt/uniform_distance.hpp"

namespace ordito::jit {

/// Who accesses memory after all.
struct Allowance {
  Parts mask;
  Parts refused;  // lanes that listeners keep from it: their loads give 0; empty: none can be
};

class AccessEvents : private Emitting {
 public:
  AccessEvents(EmissionContext& context, Masks& masks, Values& values, Addresses& addresses, Counting& counting,
               EventCalls& calls)
      : Emitting(context), masks_(masks), values_(values), addresses_(addresses), counting_(counting), calls_(calls) {}

  bool listens() const { return counting_.listens() || calls_.listens(); }
  /// The access is made by the lanes that this gives.
  Allowance raise(const Instruction& i, const AccessEvent& e);
  /// `bits`: the lanes of `mask` that may.
  Allowance allowed(const Parts& mask, LlvmValue bits);
  /// Of an operation of all lanes of `mask` together: none makes it if one is refused.
  Allowance whole(const Parts& mask, const Allowance& allowance);
  /// `x`, and zeros in the lanes that were refused.
  LlvmValue butRefused(const Allowance& allowance, unsigned part, LlvmValue x);
  /// `wanted`: how many bytes the lanes of a part want; null for all.
  Allowance raiseCopy(const Instruction& i, const Address& from, const Address& to, const Parts& mask, unsigned bytes,
                      llvm::function_ref<LlvmValue(unsigned part)> wanted);
  void countImage(const Instruction& i, machine::Counter requests);
  Allowance raiseTexels(const Instruction& i, const Parts& mask, llvm::ArrayRef<LlvmValue> operands);
  /// Of whom is to be asked before a surface's access is a fault; null where nobody hears of it.
  LlvmValue surfaceSite(const Instruction& i, machine::AccessKind kind, unsigned bytes);
  Allowance raiseSurface(const Instruction& i, const SurfaceAccess& access);

  /// The phi `v` gets the value of `incoming`, `bases`, in the lanes of `mask`.
  void notePhi(ValueId v, ValueId incoming, const std::vector<Parts>& bases, const Parts& mask);
  /// What follows is another block of the kernel.
  void beginBlock() { countedSegments_.clear(), countedRuns_.clear(), words_.clear(), anywhere_.clear(); }

 private:
  struct Anywhere {
    ValueId address;
    int64_t offset;
    Parts mask, addresses, sums;  // by part; the sum is 0 where the runtime counts later
  };

  void count(const Instruction& i, const AccessEvent& e);
  void countCopy(const Address& from, const Address& to, const Instruction& i, const Parts& mask, unsigned bytes,
                 llvm::function_ref<LlvmValue(unsigned part)> wanted);
  void countGeneric(const AccessEvent& e);
  LlvmValue unitsOf(const Instruction& i, const AccessEvent& e);
  LlvmValue sectorsOfSegment(const Address& a, LlvmValue base, unsigned first, unsigned width, unsigned bytes);
  LlvmValue segmentsLieApart(const Address& a, unsigned part, unsigned bytes, int64_t offset);
  LlvmValue sectorsOfMasks(llvm::ArrayRef<LlvmValue> starts, const Parts& mask, unsigned bytes);
  static bool isMaskedRun(const AccessEvent& e);
  LlvmValue sectorsOfRun(const Instruction& i, const AccessEvent& e);
  void countSectors(machine::Counter c, LlvmValue sum);
  LlvmValue sectorsByLane(const AccessEvent& e, unsigned part);
  LlvmValue sharedByLane(const Instruction& i, const AccessEvent& e, unsigned part);
  static ValueId addressOf(const Instruction& i, machine::AccessKind kind);
  LlvmValue lastPattern(ValueId address, unsigned bytes);
  LlvmValue unless(LlvmValue condition, LlvmValue fast, llvm::function_ref<LlvmValue()> slow);
  LlvmValue sectorsOfPairs(const Instruction& i, const AccessEvent& e, unsigned parts);
  bool hasFixedDistance(ValueId v) const;
  bool isAdvance(ValueId v, ValueId next) const;
  llvm::AllocaInst* distance(ValueId v, unsigned part);
  LlvmValue sectorsAnywhere(const Instruction& i, const AccessEvent& e);
  LlvmValue isAlike(const Anywhere& before, unsigned part, LlvmValue addresses, LlvmValue mask);
  LlvmValue sharedOfSegments(const Instruction& i, const AccessEvent& e, unsigned parts);
  LlvmValue sectorsOf(const AccessEvent& e, unsigned part);
  LlvmValue wavefrontsOf(const Instruction& i, const AccessEvent& e, unsigned part);

  Masks& masks_;
  Values& values_;
  Addresses& addresses_;
  Counting& counting_;
  EventCalls& calls_;
  using Segments = std::tuple<ValueId, unsigned, int64_t>;  // address, bytes, place in a word
  /// Accesses by several segments to shared memory, in the block being emitted: how many wavefronts they took.
  std::map<Segments, LlvmValue> countedSegments_;
  using Runs = std::tuple<ValueId, unsigned, int64_t, Parts>;  // address, bytes, offset, mask
  /// Sectors of neighbours under a mask, in the block being emitted: a store after a load takes as many.
  std::map<Runs, LlvmValue> countedRuns_;
  /// Of what was added up in the block being emitted, the words.
  std::map<LlvmValue, uint32_t> words_;
  /// Accesses by all lanes of the block being emitted that lie anywhere.
  std::vector<Anywhere> anywhere_;
  /// Of the access being counted, what is counted later goes to this word.
  std::optional<uint32_t> later_;
  /// What the runtime keeps of accesses to shared memory, by the register and the bytes.
  std::map<std::pair<ValueId, unsigned>, llvm::AllocaInst*> patterns_;
  /// Of phis with two bases: how far these are apart.
  std::map<std::pair<ValueId, unsigned>, llvm::AllocaInst*> distances_;
};

}  // namespace ordito::jit
