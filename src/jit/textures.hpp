// PTX ISA, "Texture Instructions" and "Surface Instructions": 32 lanes at a time to the machine's texture unit.
#pragma once

#include "jit/atomics.hpp"

namespace ordito::jit {

class Textures : private Chapter {
 public:
  Textures(Tools& tools, Atomics& atomics) : Chapter(tools), atomics_(atomics) {}

  void emit(const Instruction& i);

 private:
  void fetch(const Instruction& i, size_t offset);
  void defineResidency(const Instruction& i);
  void query(const Instruction& i);
  void loadSurface(const Instruction& i);
  void storeSurface(const Instruction& i);
  void reduceSurface(const Instruction& i);
  LlvmValue isThere(LlvmValue places) { return b_.CreateICmpNE(places, values_.constant(isa::Type::u64, 0, true)); }
  LlvmValue surfaceAddresses(const Instruction& i, size_t k, unsigned bytes, const Parts& mask, unsigned part,
                             machine::AccessKind kind);
  LlvmValue imageHandles(const ptx::Operand& o, unsigned part);
  LlvmValue imageNumbers(const ptx::Operand* list, isa::Type t, unsigned part);

  Atomics& atomics_;
};

}  // namespace ordito::jit
