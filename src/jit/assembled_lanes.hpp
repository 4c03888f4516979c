// Gathers and scatters as assembly, for hosts without instructions for them: each lane's address goes to a register,
// and its element from or to memory. LLVM would choose the same instructions, but it looks at each element of a vector
// again for each other one (strided.cpp; what it saves is in bench/RESULTS.md, 2026-11-29).
#pragma once

#include <string>

namespace ordito::jit {

/// Element `k` of 4 or 8 bytes of a register of 16 bytes is read from memory, and what is behind it is of no use; or
/// is written there.
std::string loadElement(unsigned bytes, unsigned k, const std::string& from, const std::string& to);
std::string storeElement(unsigned bytes, unsigned k, const std::string& from, const std::string& to);

/// For elements of 4 or 8 bytes, on a host with AVX2.
struct AssembledLanes {
  explicit AssembledLanes(unsigned elementBytes) : bytes(elementBytes) {}
  unsigned lanes() const { return 32 / bytes; }     // of one piece of assembly
  unsigned addresses() const { return 8 / bytes; }  // vectors of four each

  /// Operands: the result, two vectors and two numbers to use; the addresses.
  std::string gather() const;
  /// Operands: two vectors and two numbers to use; the value, the addresses.
  std::string scatter() const;

  unsigned bytes;
};

}  // namespace ordito::jit
