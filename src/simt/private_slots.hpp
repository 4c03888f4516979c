// Thread-private variables (call arguments above all) that only constants index, always with one type at one place,
// live in slots, which LLVM turns into registers, instead of memory. Slots belong to the code and not to a warp, so
// what lives across a resume point stays in memory. The others get their place in the thread's local memory here.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "simt/regions.hpp"

namespace ordito::simt {

struct PrivateSlots {
  using Key = std::pair<uint32_t, int64_t>;  // variable, offset
  std::map<Key, isa::Type> types;            // of the slots
  std::vector<char> isPrivate;               // by variable: it has slots, and no memory
  std::vector<uint64_t> localOffset;         // by variable, of those in memory
  size_t localBytes = 0;                     // of a thread's local memory
};

PrivateSlots findPrivateSlots(const ir::Function& function, const Regions& regions, const Facts& facts);

/// The slot that a memory operand would name: a private variable and a constant offset.
std::optional<PrivateSlots::Key> privateKey(const ir::Function& function, const ptx::Operand& operand);

std::string print(const PrivateSlots& slots, const ir::Function& function);

}  // namespace ordito::simt
