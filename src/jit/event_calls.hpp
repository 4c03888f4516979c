// Telling listeners of each access and each synchronisation by itself: calls of rt/event_calls.hpp. Nothing is emitted
// unless the code is compiled for that; one warp runs at a time then.
#pragma once

#include "jit/addresses.hpp"
#include "machine/events.hpp"

namespace ordito::jit {

struct AccessEvent {
  machine::AccessKind kind;
  const Address& at;
  int64_t offset;     // of all lanes, beside the address
  const Parts& mask;  // who takes part
  unsigned bytes;     // of a lane
  /// What each lane stores, element after element; none where that is not told.
  llvm::ArrayRef<LlvmValue> stored = {};
};

struct SurfaceAccess {
  machine::AccessKind kind;
  const Parts& mask;  // lanes that have a place
  LlvmValue places;   // host addresses by lane
  unsigned bytes;     // of a lane; or
  LlvmValue handles;  // of surfaces whose texels are converted, which say it; may be null
};

class EventCalls : private Emitting {
 public:
  EventCalls(EmissionContext& context, Masks& masks, Values& values, Operands& operands, Addresses& addresses)
      : Emitting(context), masks_(masks), values_(values), operands_(operands), addresses_(addresses) {}

  bool listens() const { return plan_.facts.accesses; }
  bool isTried() const { return plan_.facts.trial; }
  bool hearsAll() const { return listens() && plan_.facts.lines.empty() && !isTried(); }
  bool hears(const Instruction& i) const;

  // Each gives the lanes that may access memory, as bits.
  LlvmValue access(const Instruction& i, const AccessEvent& e);
  /// `wanted`: how many bytes each lane reads; null for all.
  LlvmValue copy(const Instruction& i, const Address& from, const Address& to, const Parts& mask, unsigned bytes,
                 LlvmValue wanted);
  /// `shared`: which sides lie in shared memory (rt/bulk_copy.hpp). `barriers`: null if none is completed.
  LlvmValue bulkCopy(const Instruction& i, uint32_t shared, LlvmValue to, LlvmValue from, LlvmValue bytes,
                     LlvmValue barriers, const Parts& mask);
  /// `operands`: the code of the texture's operation, and what rt::TextureOperands has.
  LlvmValue texels(const Instruction& i, const Parts& mask, llvm::ArrayRef<LlvmValue> operands);
  LlvmValue surface(const Instruction& i, const SurfaceAccess& access);
  LlvmValue surfaceSite(const Instruction& i, machine::AccessKind kind, unsigned bytes) {
    return accessSite(i, kind, machine::AccessSpace::Surface, bytes);
  }
  LlvmValue askMbarrier(const Instruction& i, LlvmValue addresses, const Parts& mask);

  /// What the lanes of `mask` have done with their mbarriers; `numbers` of those in `told` are told.
  void mbarrier(const Instruction& i, machine::SyncEvent::Kind kind, LlvmValue addresses, LlvmValue numbers,
                const Parts& mask, LlvmValue told, bool touches);
  /// Of a guard of what blocks have in common.
  void operands(const Instruction& i);
  void heapFree(const Instruction& i, LlvmValue addresses);
  void fence(const Instruction& i);
  void copies(const Instruction& i, machine::SyncEvent::Kind kind, uint32_t number);
  void meeting(const Instruction& i);
  /// `ends`: the region of all threads ends here.
  void barrier(const ir::Terminator& end, const Parts& mask, bool ends);
  void beginBarriers();
  void endBarriers();
  /// For the lane scheduler.
  LlvmValue functionLines();

 private:
  LlvmValue constants(llvm::Constant* data);
  LlvmValue words(llvm::ArrayRef<uint32_t> words);
  uint32_t functionOf(const ptx::Instruction& i) const;
  LlvmValue accessSite(const Instruction& i, machine::AccessKind kind, machine::AccessSpace space, unsigned bytes);
  LlvmValue syncSite(const Instruction& i, uint32_t line, machine::SyncEvent::Kind kind);
  void numberObjects();
  LlvmValue localVariables();
  LlvmValue storedBy(llvm::ArrayRef<LlvmValue> elements);
  LlvmValue lanes(const Parts& mask) { return masks_.lanesOrAll(mask, 0); }
  LlvmValue firstAddress(const AccessEvent& e);
  LlvmValue tryAccess(const Instruction& i, const AccessEvent& e);
  void tryThread(const Instruction& i, const AccessEvent& e);
  LlvmValue isInWindow(LlvmValue window, LlvmValue address);
  void mark(LlvmValue window, LlvmValue address, uint32_t number);
  void doubt();
  LlvmValue ask(const char* name, llvm::ArrayRef<LlvmValue> arguments);
  void tell(const char* name, llvm::ArrayRef<LlvmValue> arguments);

  Masks& masks_;
  Values& values_;
  Operands& operands_;
  Addresses& addresses_;
  LlvmValue locals_ = nullptr;
  // Objects in local memory by variable: their numbers in rt::LocalVariables. Of those in frames the variables.
  std::vector<uint32_t> objectNumbers_, inFrames_;
  uint32_t objects_ = 0;  // that lie in no frame
};

/// The operand of an instruction that the manual's syntax calls `name`; null if it has none.
const ptx::Operand* operandNamed(const Instruction& i, std::string_view name);

}  // namespace ordito::jit
