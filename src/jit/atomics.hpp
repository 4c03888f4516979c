// PTX ISA, "Parallel Synchronization and Communication Instructions": atomics and reductions in memory.
#pragma once

#include "jit/combined_atomics.hpp"
#include "jit/privatised_copies.hpp"
#include "jit/single_atomics.hpp"

namespace ordito::jit {

class Atomics : private Chapter {
 public:
  explicit Atomics(Tools& tools) : Chapter(tools), single_(tools), combined_(tools), copies_(tools) {}

  void emit(const Instruction& i);
  void emitVector(const Instruction& i);
  SingleAtomics& single() { return single_; }
  CombinedAtomics& combined() { return combined_; }

 private:
  /// The operands of an atomic for one part of the batch; of a compare-and-swap `first` is what memory is compared
  /// with.
  struct AtomicOperands {
    LlvmValue first, second;
    ptx::Space space;
    bool compares;
  };
  void emitOne(const Instruction& i, const simt::Access& access);
  LlvmValue sharedOffsets(const Instruction& i, size_t k, const Address& a, unsigned part);
  std::vector<LlvmValue> sharedAddresses(LlvmValue offsets, unsigned copies);
  void emitUnread(const Instruction& i, const AtomicOperands& o, LlvmValue offsets, unsigned copies);
  LlvmValue emitByLanes(const Instruction& i, const AtomicOperands& o, LlvmValue addresses, LlvmValue lanes,
                        LlvmValue before);
  void emitCounts(const Instruction& i, size_t at, const Address& a);
  LlvmValue emitWarp(const Instruction& i, const simt::Access& access, const AtomicOperands& o, const WarpAtomic& w,
                     LlvmValue before);
  LlvmValue emitTogether(const Instruction& i, const AtomicOperands& o, const WarpAtomic& w, LlvmValue place,
                         LlvmValue before);
  LlvmValue choose(LlvmValue condition, LlvmValue before, llvm::function_ref<LlvmValue()> then,
                   llvm::function_ref<LlvmValue()> otherwise);

  SingleAtomics single_;
  CombinedAtomics combined_;
  PrivatisedCopies copies_;
};

}  // namespace ordito::jit
