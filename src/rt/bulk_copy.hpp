// What compiled code asks of cp.async.bulk: the run-time half of jit/bulk_copy.cpp.
#pragma once

#include <cstdint>

#include "machine/kernel.hpp"

namespace ordito::rt {

inline constexpr uint32_t kSharedTarget = 1, kSharedSource = 2;

/// One lane's cp.async.bulk of `bytes`; `shared` says which of both addresses lie in shared memory. The mbarrier, where
/// the target does, is told of the bytes.
void copyInBulk(const machine::BlockFrame* frame, uint32_t line, uint32_t shared, uint64_t target, uint64_t source,
                uint64_t bytes, uint64_t mbarrier);

}  // namespace ordito::rt
