// How many sectors and shared-memory wavefronts a warp's access takes: the GPU profiler's definitions as plain
// functions, and what compiled code calls where it cannot tell by formula.
#pragma once

#include <cstdint>

#include "machine/events.hpp"
#include "machine/kernel.hpp"
#include "rt/lane_counts.hpp"

namespace ordito::rt {

/// Distinct 32-byte sectors that the active lanes touch, `bytes` each.
uint32_t countSectors(const int64_t* addresses, uint32_t lanes, uint32_t bytes);

struct SharedCount {
  uint32_t wavefronts = 0;  // passes over the 32 banks of 4 bytes
  uint32_t ideal = 0;       // that an access of this width takes without conflicts
  /// As compiled code takes it: wavefronts in the low half, those that conflicts added in the high half.
  uint64_t packed() const { return wavefronts | uint64_t{wavefronts - ideal} << 32; }
};

/// Lanes go in groups that move at most 128 bytes (all 32 for up to 4 bytes, half a warp for 8, a quarter for 16); in
/// each group, distinct words of one bank take a pass each, and a word read by several lanes is broadcast. The groups
/// of a load are twice as large when lanes read in pairs: when each active lane l has the address of l ^ 1, or each
/// that of l ^ 2 (measured on an H200, tests/gpu/access_patterns.cu).
SharedCount countShared(const int64_t* addresses, uint32_t lanes, uint32_t bytes, machine::AccessKind kind);

/// The same, and what is learnt of the pattern of addresses is kept in `last` for the next access of the instruction.
SharedCount countShared(const int64_t* addresses, uint32_t lanes, uint32_t bytes, machine::AccessKind kind,
                        SharedPattern& last);

/// Sectors that a copy from global to shared memory (cp.async) fetches. Its lanes go in groups that move 128 bytes, and
/// each group in passes: a lane whose words in shared memory meet others in a bank waits for the next pass, and every
/// pass fetches its sectors for itself (likewise measured).
uint32_t countCopiedSectors(const int64_t* from, const int64_t* to, uint32_t lanes, uint32_t bytes);

/// What an access by generic addresses did in each space. Compiled code reads it by place.
struct GenericCount {
  uint64_t globalRequests, globalSectors, sharedRequests, sharedPacked, localRequests;
};

// Called by compiled code. `kind` is a machine::AccessKind.
void addCounters(uint64_t* to, const uint64_t* from, uint64_t count);
uint64_t sectorsOfLanes(const int64_t* addresses, uint32_t lanes, uint32_t bytes);
uint64_t sharedOfLanes(const int64_t* addresses, uint32_t lanes, uint32_t bytes, uint32_t kind, SharedPattern* last);
uint64_t copiedSectorsOfLanes(const int64_t* from, const int64_t* to, uint32_t lanes, uint32_t bytes);
void genericOfLanes(const machine::BlockFrame* frame, const int64_t* addresses, uint32_t lanes, uint32_t bytes,
                    uint32_t kind, GenericCount* out);

}  // namespace ordito::rt
