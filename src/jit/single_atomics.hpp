// The atomic operation of one lane, and of lanes that all change one place.
#pragma once

#include "jit/atomic_operations.hpp"
#include "jit/tools.hpp"

namespace ordito::jit {

class SingleAtomics : private Chapter {
 public:
  explicit SingleAtomics(Tools& tools) : Chapter(tools) {}

  /// One lane's; returns the old value. Shared memory is touched by no other host thread. `compare`: what memory is
  /// compared with first, or null.
  LlvmValue once(const Instruction& i, LlvmValue address, LlvmValue operand, LlvmValue compare, ptx::Space space);
  /// That of all `lanes` (null: all) on one place, as if they came one after the other and nobody between: the place is
  /// changed once. `operands` is a vector; returns that of the old values if somebody `reads` them.
  LlvmValue together(const Instruction& i, LlvmValue address, LlvmValue operands, LlvmValue lanes, ptx::Space space,
                     bool reads);

 private:
  LlvmValue sumOnce(LlvmValue old, LlvmValue x, LlvmValue flushes);
  LlvmValue flushes(LlvmValue address, ptx::Space space);
  LlvmValue loopAtomic(LlvmValue p, llvm::Type* bits, llvm::function_ref<LlvmValue(LlvmValue)> next);
  LlvmValue change(AtomicOperation op, LlvmValue address, LlvmValue x, ptx::Space space);
  LlvmValue addFloats(LlvmValue address, LlvmValue operands, LlvmValue lanes, ptx::Space space, bool reads);
  LlvmValue prefixes(AtomicOperation op, LlvmValue vector, LlvmValue identity);
};

}  // namespace ordito::jit
