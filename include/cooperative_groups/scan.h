// inclusive_scan and exclusive_scan over a tile or the active threads.
#ifndef _COOPERATIVE_GROUPS_SCAN_H_
#define _COOPERATIVE_GROUPS_SCAN_H_

#include "../cooperative_groups.h"

#if defined(__cplusplus) && defined(__CUDA__)

namespace cooperative_groups {

template <class Group, class Type, class Operation>
static __device__ __inline__ Type inclusive_scan(const Group& group, Type value, Operation operation) {
  for (unsigned int distance = 1; distance < group.size(); distance *= 2) {
    const Type before = group.shfl_up(value, distance);
    if (group.thread_rank() >= distance) value = operation(before, value);
  }
  return value;
}
template <class Group, class Type>
static __device__ __inline__ Type inclusive_scan(const Group& group, Type value) {
  return inclusive_scan(group, value, plus<Type>());
}
/// The first thread gets a value-initialised Type.
template <class Group, class Type, class Operation>
static __device__ __inline__ Type exclusive_scan(const Group& group, Type value, Operation operation) {
  const Type before = group.shfl_up(inclusive_scan(group, value, operation), 1);
  return group.thread_rank() == 0 ? Type() : before;
}
template <class Group, class Type>
static __device__ __inline__ Type exclusive_scan(const Group& group, Type value) {
  return exclusive_scan(group, value, plus<Type>());
}

}  // namespace cooperative_groups

#endif
#endif
