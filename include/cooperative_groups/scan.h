// inclusive_scan and exclusive_scan over a tile or the active threads.
#ifndef _COOPERATIVE_GROUPS_SCAN_H_
#define _COOPERATIVE_GROUPS_SCAN_H_

#include "../cooperative_groups.h"

#if defined(__cplusplus) && defined(__CUDA__)

namespace cooperative_groups {

namespace ordito_detail {
template <class Group>
struct IsLarge {
  static constexpr bool value = false;
};
template <unsigned int Size, class Parent>
struct IsLarge<thread_block_tile<Size, Parent>> {
  static constexpr bool value = Size > 32;
};
}  // namespace ordito_detail

template <class Group, class Type, class Operation>
static __device__ __inline__ typename ordito_detail::EnableIf<!ordito_detail::IsLarge<Group>::value, Type>::type
inclusive_scan(const Group& group, Type value, Operation operation) {
  for (unsigned int distance = 1; distance < group.size(); distance *= 2) {
    const Type before = group.shfl_up(value, distance);
    if (group.thread_rank() >= distance) value = operation(before, value);
  }
  return value;
}
/// A tile of several warps: each of them for itself, then what the warps before have in all.
template <class Group, class Type, class Operation>
static __device__ __inline__ typename ordito_detail::EnableIf<ordito_detail::IsLarge<Group>::value, Type>::type
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
static __device__ __inline__ typename ordito_detail::EnableIf<!ordito_detail::IsLarge<Group>::value, Type>::type
exclusive_scan(const Group& group, Type value, Operation operation) {
  const Type before = group.shfl_up(inclusive_scan(group, value, operation), 1);
  return group.thread_rank() == 0 ? Type() : before;
}
template <class Group, class Type, class Operation>
static __device__ __inline__ typename ordito_detail::EnableIf<ordito_detail::IsLarge<Group>::value, Type>::type
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

}  // namespace cooperative_groups

#endif
#endif
