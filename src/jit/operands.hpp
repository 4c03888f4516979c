// Operands of instructions: registers, immediates, special registers, addresses of names.
#pragma once

#include "jit/values.hpp"

namespace ordito::jit {

/// Where a body's operands come from: lane vectors of one part, or the scalars of one segment.
struct Source {
  unsigned part = 0;
  int segment = -1;       // -1: vectors
  unsigned segments = 1;  // of the result, when scalar
  bool addPattern = false;
  bool vector() const { return segment < 0; }
};

class Operands : private Emitting {
 public:
  Operands(EmissionContext& context, Values& values) : Emitting(context), values_(values) {}

  /// Operand `k` of `i`, as type `t`.
  LlvmValue operand(const Instruction& i, size_t k, isa::Type t, const Source& s);
  LlvmValue operand(const ptx::Operand& o, isa::Type t, const Source& s);
  /// The same, where an f32 NaN's bits will be seen.
  LlvmValue exactBits(const ptx::Operand& o, isa::Type t, const Source& s);
  LlvmValue mended(ValueId v, LlvmValue x);
  /// f32 values with the NaN that a GPU computes in place of any other.
  LlvmValue canonicalNan(LlvmValue v);
  LlvmValue symbolAddress(const ptx::Operand& o, unsigned bits);
  /// A scalar 64-bit number as an operand of type `t`.
  LlvmValue convertScalar(LlvmValue v, isa::Type t, const Source& s);
  LlvmValue specialVector(isa::Special s, unsigned part);

 private:
  LlvmValue specialBase(isa::Special s, unsigned part);
  LlvmValue ofLane(isa::Special s, LlvmValue lane);

  Values& values_;
};

}  // namespace ordito::jit
