// PTX ISA, "Parallel Synchronization and Communication Instructions": atomics and reductions in memory.
#pragma once

#include "jit/privatised_copies.hpp"

namespace ordito::jit {

class Atomics : private Chapter {
 public:
  explicit Atomics(Tools& tools) : Chapter(tools), copies_(tools) {}

  void emit(const Instruction& i);
  void emitVector(const Instruction& i);
  LlvmValue once(const Instruction& i, LlvmValue address, LlvmValue operand, LlvmValue compare, ptx::Space space);

 private:
  /// The operands of an atomic for one part of the group; of a compare-and-swap `first` is what memory is compared
  /// with.
  struct AtomicOperands {
    LlvmValue first, second;
    ptx::Space space;
    bool compares;
  };
  void emitOne(const Instruction& i, const simt::Access& access);
  LlvmValue sumOnce(LlvmValue old, LlvmValue x, LlvmValue flushes);
  LlvmValue loopAtomic(LlvmValue p, llvm::Type* bits, llvm::function_ref<LlvmValue(LlvmValue)> next);
  LlvmValue loopAtomicAdd(LlvmValue p, LlvmValue x, LlvmValue flushes);
  LlvmValue sharedOffsets(const Instruction& i, size_t k, const Address& a, unsigned part);
  std::vector<LlvmValue> sharedAddresses(LlvmValue offsets, unsigned copies);
  void emitUnread(const Instruction& i, const AtomicOperands& o, LlvmValue offsets, unsigned copies);
  LlvmValue emitByLanes(const Instruction& i, const AtomicOperands& o, LlvmValue addresses, LlvmValue lanes,
                        LlvmValue before);
  void emitCounts(const Instruction& i, size_t at, const Address& a);

  PrivatisedCopies copies_;
};

}  // namespace ordito::jit
