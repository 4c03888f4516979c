// One access of one thread to one word of memory, as the rules on races compare it.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "check/clocks.hpp"
#include "check/family.hpp"
#include "machine/events.hpp"

namespace ordito::check {

constexpr uint32_t kWordBytes = 4;

inline bool isAtomic(machine::AccessKind kind) {
  return kind == machine::AccessKind::Atomic || kind == machine::AccessKind::Reduction;
}

inline bool doesWrite(machine::AccessKind kind) {
  return kind == machine::AccessKind::Store || kind == machine::AccessKind::MatrixStore || isAtomic(kind);
}
inline bool isStrong(const machine::AccessEvent& access) {
  return access.order != machine::MemoryOrder::Weak || isAtomic(access.kind);
}
/// Does what it does reach the other blocks?
inline bool isWide(machine::MemoryScope scope) {
  return scope == machine::MemoryScope::Gpu || scope == machine::MemoryScope::System;
}

/// How many bytes the lanes touch together if these follow each other in the order of lanes, or are the same ones; 0:
/// they do not.
inline uint64_t bytesInOnePiece(const machine::AccessEvent& access) {
  if (access.addresses) return 0;
  if (access.stride == 0) return access.bytes;
  const uint64_t run = uint64_t{access.at.lanes} >> std::countr_zero(access.at.lanes);
  if (access.stride != access.bytes || (run & (run + 1)) != 0) return 0;
  return uint64_t{access.bytes} * static_cast<uint32_t>(std::popcount(run));
}

/// An access that a word remembers.
struct Touch {
  uint64_t block;
  ActorId actor;
  Clock at;
  Clock shown;  // other blocks that know this of the actor come behind the access
  Family::Member member;
  uint32_t line;
  machine::AccessKind kind;
  uint8_t bytes;  // a bit for each of the word's
  bool writes, isStrong;
  machine::MemoryScope scope;
  bool hasValue;
  uint64_t address, value;  // of the whole access
  uint32_t size;
  const ptx::Function* function;
};

struct Word {
  std::vector<Touch> touches;
};

}  // namespace ordito::check
