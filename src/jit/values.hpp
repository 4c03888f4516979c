// SSA values as LLVM values: scalars for segmented shapes, vectors of 32 lanes for general ones, and the stack slots
// that carry them between blocks. Slots are plain allocas; LLVM's SROA turns them into SSA form again, so code for one
// PTX block may be emitted several times.
#pragma once

#include <map>

#include "jit/masks.hpp"

namespace ordito::jit {

/// The value of an SSA name while its block is emitted.
struct CachedValue {
  std::vector<Parts> bases;  // segmented: [part][segment]
  Parts vectors;             // general, or made from the bases on demand; null where not made yet
};

/// Where an SSA value lives between blocks.
struct Slots {
  /// [part][segment]; parts share one slot when the value is the same for all warps.
  std::vector<std::vector<llvm::AllocaInst*>> bases;
  std::vector<llvm::AllocaInst*> vectors;  // [part]
};

/// Element `k` of a vector operand, or the operand itself.
inline const ptx::Operand& elementOf(const ptx::Operand& o, unsigned k) {
  return o.kind == ptx::Operand::Kind::Vector ? o.elements[k] : o;
}

class Values : private Emitting {
 public:
  Values(EmissionContext& context, Masks& masks) : Emitting(context), masks_(masks) {}

  // ---- types and constants
  llvm::Type* typeOf(isa::Type t, bool vector);
  llvm::Type* valueType(ValueId v, bool vector) { return typeOf(f_.values[v].type, vector); }
  llvm::Type* memoryType(isa::Type t);
  LlvmValue constant(isa::Type t, uint64_t bits, bool vector);
  LlvmValue patternVector(const ir::Pattern& p, llvm::Type* scalarType);

  // ---- what a name stands for
  CachedValue& cached(ValueId v);
  LlvmValue baseOf(ValueId v, unsigned part, unsigned segment);
  LlvmValue vectorOf(ValueId v, unsigned part);
  /// How many of the warps that advance together have a value of their own.
  unsigned partsOf(ValueId v) const { return simt::isShared(shapes_[v]) ? 1 : warps(); }
  Parts conditionMask(ValueId condition, bool negated);
  Parts guardedMask(const Instruction& i);

  // ---- what it stands for from now on
  void define(ValueId v, CachedValue value);
  void defineVector(ValueId v, Parts vectors);
  void defineElements(const Instruction& i, const std::vector<Parts>& values);
  void store(ValueId v, const CachedValue& value, const Parts& mask);
  void forget(ValueId v);

  // ---- from one form to another
  LlvmValue splat(LlvmValue scalar);
  LlvmValue fromBases(const ir::Shape& shape, const Parts& bases, llvm::Type* scalarType);
  LlvmValue resegment(const ir::Shape& shape, const Parts& bases, unsigned segments, unsigned segment, bool addPattern);
  LlvmValue lanesOf(LlvmValue vector, unsigned first, unsigned count);
  LlvmValue convertBits(LlvmValue v, llvm::Type* to);
  LlvmValue extendLoaded(LlvmValue v, const Instruction& i, ValueId to, bool vector);

  // ---- between blocks
  void makeSlots();
  std::vector<Slots>& slots() { return slots_; }
  std::map<ValueId, CachedValue>& cache() { return valueCache_; }

 private:
  Masks& masks_;
  std::vector<Slots> slots_;
  std::map<ValueId, CachedValue> valueCache_;
};

}  // namespace ordito::jit
