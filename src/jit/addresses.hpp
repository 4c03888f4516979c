// Memory operands as host addresses. A segmented address is a scalar base and a pattern that is known when the kernel
// is compiled; only a general one is a vector.
#pragma once

#include "jit/operands.hpp"

namespace ordito::jit {

/// A memory operand as host addresses.
struct Address : simt::AddressForm {
  std::vector<Parts> bases;  // segmented: [part][segment], i64
  Parts vectors;             // general: <32 x i64>
  ptx::Space space = ptx::Space::Generic;
};

class Addresses : private Emitting {
 public:
  Addresses(EmissionContext& context, Values& values, Operands& operands)
      : Emitting(context), values_(values), operands_(operands) {}

  Address addressOf(const Instruction& i, size_t k);
  LlvmValue addressVector(const Address& a, unsigned part, int64_t offset);
  LlvmValue localFrame(unsigned part, LlvmValue offsets);
  /// cvta(.to).local: the generic address of an offset into the thread's local memory, or back.
  LlvmValue localGeneric(LlvmValue a, const Instruction& i, const Source& s);
  LlvmValue isLocalAddress(LlvmValue a, const Source& s);
  LlvmValue isSharedAddress(LlvmValue a, const Source& s);
  LlvmValue isConstantAddress(LlvmValue a, const Source& s);
  LlvmValue isParameterAddress(LlvmValue a, const Source& s);

 private:
  Address ofThreads(Address a, llvm::function_ref<LlvmValue(unsigned part)> offset);

  Values& values_;
  Operands& operands_;
};

}  // namespace ordito::jit
