// What of a launch can be said of one block by what another has done: where its accesses to memory lie, and which
// comparisons must come out alike (ir/block_forms.hpp).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "check/margin.hpp"
#include "ir/block_forms.hpp"
#include "machine/events.hpp"

namespace ordito::check {

using BlockNumber = std::array<uint32_t, 3>;

/// How far a block's values lie from another's.
int64_t distance(const ir::BlockStep& step, const BlockNumber& from, const BlockNumber& to);

/// Lines of the PTX; of code that was inlined, that of the function it comes from.
struct ProofPlan {
  std::unordered_map<uint32_t, ir::BlockStep> sites;  // of addresses
  std::unordered_map<uint32_t, Guard> guards;
  std::unordered_set<uint32_t> chosen;  // of minima and maxima that guards compare
  /// Lines of accesses whose addresses may be any: of global memory, that only read or are atomic operations, however
  /// often they happen; of shared memory, that happen in all blocks alike.
  std::unordered_map<uint32_t, bool> open;  // is it an atomic operation?
  std::unordered_set<uint32_t> told;        // the open ones that do not stay in their object by themselves (inside.hpp)
  /// Lines of accesses to shared memory that not all blocks make, and of those that cover them (covers.hpp): the latter
  /// count as stores, too.
  std::unordered_set<uint32_t> covered, covering;
  /// Lines of fetches, which may be anywhere in a texture that the launch names, and the texture's handle.
  std::unordered_map<uint32_t, uint64_t> textures;
  bool usesGlobalAlone = true;              // and lanes exchange nothing: no other memory, no warp operations
  const ptx::Function* function = nullptr;  // that the open lines and those of fetches lie in

  /// Are there lines of which all blocks must tell?
  bool leavesOpen() const { return !told.empty() || !textures.empty(); }

  /// Nothing if some access or synchronisation of a block depends on more than the block's number, the threads'
  /// numbers and the launch: on what the kernel has loaded.
  static std::optional<ProofPlan> of(const machine::LaunchEvent& launch);
};

}  // namespace ordito::check
