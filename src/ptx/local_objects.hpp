// The objects in a thread's local memory, for those who check accesses: what an access may touch is the variable that
// its address was made from. Where such code is made, room is left around each variable, a red zone, so that an address
// that has come through memory or a call, of which nothing is known, does not lead from one straight into the next.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/module.hpp"

namespace ordito::ptx {

/// By instruction: the variable in local memory that its address was made from, or kNoVariable if it is none, or not
/// known. Empty if the function has no such variables.
std::vector<uint32_t> localObjects(const Function& function);

/// Bytes in front of and behind a variable that nothing else may take; none around what is no `.local` variable.
uint32_t redZone(const Variable& variable);

/// The next place for a variable: [begin, end). What was placed last ends at `end` and wants `zone` bytes behind it.
struct LocalPlaces {
  uint64_t end = 0;
  uint64_t zone = 0;
  bool hasZones = false;

  /// Where the variable begins.
  uint64_t place(const Variable& variable);
  /// Of all that was placed, the last zone included.
  uint64_t bytes() const { return end + zone; }
};

}  // namespace ordito::ptx
