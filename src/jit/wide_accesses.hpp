// Accesses of 128 bits in one register (.b128): two words of 64 bits next to each other for loads and stores, one call
// for each lane for atomics.
#pragma once

#include "jit/tools.hpp"

namespace ordito::jit {

class WideAccesses : private Chapter {
 public:
  explicit WideAccesses(Tools& tools) : Chapter(tools) {}

  void load(const Instruction& i, const Address& a, const Allowance& allowance);
  void store(const Instruction& i);
  void atomic(const Instruction& i);

 private:
  LlvmValue half(LlvmValue wide, unsigned half);
  LlvmValue join(LlvmValue low, LlvmValue high);
};

}  // namespace ordito::jit
