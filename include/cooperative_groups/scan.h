// inclusive_scan and exclusive_scan over a tile or the active threads.
#ifndef _COOPERATIVE_GROUPS_SCAN_H_
#define _COOPERATIVE_GROUPS_SCAN_H_

#include "../cooperative_groups.h"
#include "reduce.h"

#if defined(__cplusplus) && defined(__CUDA__)

namespace cooperative_groups {
namespace __v1 {

namespace ordito_groups {
template <class Group>
struct IsLarge {
  static constexpr bool value = false;
};
template <unsigned int Size, class Parent>
struct IsLarge<thread_block_tile<Size, Parent>> {
  static constexpr bool value = Size > 32;
};
}  // namespace ordito_groups

template <class Group, class Type, class Operation>
static __device__ __inline__ typename ordito_groups::EnableIf<!ordito_groups::IsLarge<Group>::value, Type>::type
inclusive_scan(const Group& group, Type value, Operation operation) {
  for (unsigned int distance = 1; distance < group.size(); distance *= 2) {
    const Type before = group.shfl_up(value, distance);
    if (group.thread_rank() >= distance) value = operation(before, value);
  }
  return value;
}
/// A tile of several warps: each of them for itself, then what the warps before have in all.
template <class Group, class Type, class Operation>
static __device__ __inline__ typename ordito_groups::EnableIf<ordito_groups::IsLarge<Group>::value, Type>::type
inclusive_scan(const Group& group, Type value, Operation operation) {
  const thread_block_tile<32> warp;
  value = inclusive_scan(warp, value, operation);
  Type before{};
  return group.combineBefore(warp.shfl(value, 31), operation, before) ? operation(before, value) : value;
}
template <class Group, class Type>
static __device__ __inline__ Type inclusive_scan(const Group& group, Type value) {
  return inclusive_scan(group, value, plus<Type>());
}
/// The first thread gets a value-initialised Type.
template <class Group, class Type, class Operation>
static __device__ __inline__ typename ordito_groups::EnableIf<!ordito_groups::IsLarge<Group>::value, Type>::type
exclusive_scan(const Group& group, Type value, Operation operation) {
  const Type before = group.shfl_up(inclusive_scan(group, value, operation), 1);
  return group.thread_rank() == 0 ? Type() : before;
}
template <class Group, class Type, class Operation>
static __device__ __inline__ typename ordito_groups::EnableIf<ordito_groups::IsLarge<Group>::value, Type>::type
exclusive_scan(const Group& group, Type value, Operation operation) {
  const thread_block_tile<32> warp;
  const Type inclusive = inclusive_scan(warp, value, operation);
  const Type inWarp = warp.shfl_up(inclusive, 1);
  Type before{};
  const bool hasBefore = group.combineBefore(warp.shfl(inclusive, 31), operation, before);
  if (warp.thread_rank() == 0) return before;
  return hasBefore ? operation(before, inWarp) : inWarp;
}
template <class Group, class Type>
static __device__ __inline__ Type exclusive_scan(const Group& group, Type value) {
  return exclusive_scan(group, value, plus<Type>());
}

namespace ordito_groups {
/// One thread takes the sum of all, which the last has scanned, to the variable; everybody gets what was there before.
template <class Group, class Type, class Fetch>
static __device__ __inline__ Type fetchOnce(const Group& group, const Type& scanned, Fetch fetch) {
  const Type sum = group.shfl(scanned, group.size() - 1);
  Type before{};
  if (group.thread_rank() == 0) before = fetch(sum);
  return group.shfl(before, 0);
}
}  // namespace ordito_groups

/// The scan goes on from an atomic variable (fetch_add, or what fits the operation): one thread adds the group's sum to
/// it and the old value comes before the group's own.
#define ORDITO_CG_UPDATE(operation, fetch)                                                                          \
  template <class Group, class Atomic, class Type>                                                                  \
  static __device__ __inline__ Type inclusive_scan_update(const Group& group, Atomic& atomic, Type value,           \
                                                          operation<Type> combine) {                                \
    const Type scanned = inclusive_scan(group, value, combine);                                                     \
    return combine(ordito_groups::fetchOnce(group, scanned, [&](Type sum) { return atomic.fetch(sum); }), scanned); \
  }                                                                                                                 \
  template <class Group, class Atomic, class Type>                                                                  \
  static __device__ __inline__ Type exclusive_scan_update(const Group& group, Atomic& atomic, Type value,           \
                                                          operation<Type> combine) {                                \
    const Type scanned = inclusive_scan(group, value, combine);                                                     \
    const Type before = ordito_groups::fetchOnce(group, scanned, [&](Type sum) { return atomic.fetch(sum); });      \
    const Type below = group.shfl_up(scanned, 1);                                                                   \
    return group.thread_rank() == 0 ? before : combine(before, below);                                              \
  }
ORDITO_CG_ATOMIC_OPERATIONS(ORDITO_CG_UPDATE)
#undef ORDITO_CG_UPDATE
template <class Group, class Atomic, class Type>
static __device__ __inline__ Type inclusive_scan_update(const Group& group, Atomic& atomic, Type value) {
  return inclusive_scan_update(group, atomic, value, plus<Type>());
}
template <class Group, class Atomic, class Type>
static __device__ __inline__ Type exclusive_scan_update(const Group& group, Atomic& atomic, Type value) {
  return exclusive_scan_update(group, atomic, value, plus<Type>());
}

}  // namespace __v1
using namespace __v1;
}  // namespace cooperative_groups

#endif
#endif
