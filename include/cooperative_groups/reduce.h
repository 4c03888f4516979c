// reduce(group, value, operation) over a tile or the active threads: every thread gets the result.
#ifndef _COOPERATIVE_GROUPS_REDUCE_H_
#define _COOPERATIVE_GROUPS_REDUCE_H_

#include "../cooperative_groups.h"

#if defined(__cplusplus) && defined(__CUDA__)

namespace cooperative_groups {
namespace __v1 {

template <class Type>
struct plus {
  __device__ Type operator()(const Type& a, const Type& b) const { return a + b; }
};
template <class Type>
struct less {
  __device__ Type operator()(const Type& a, const Type& b) const { return b < a ? b : a; }
};
template <class Type>
struct greater {
  __device__ Type operator()(const Type& a, const Type& b) const { return a < b ? b : a; }
};
template <class Type>
struct bit_and {
  __device__ Type operator()(const Type& a, const Type& b) const { return a & b; }
};
template <class Type>
struct bit_or {
  __device__ Type operator()(const Type& a, const Type& b) const { return a | b; }
};
template <class Type>
struct bit_xor {
  __device__ Type operator()(const Type& a, const Type& b) const { return a ^ b; }
};

template <unsigned int Size, class Parent, class Type, class Operation>
static __device__ __inline__ typename ordito_groups::EnableIf<(Size <= 32), Type>::type reduce(
    const thread_block_tile<Size, Parent>& tile, Type value, Operation operation) {
  for (unsigned int distance = Size / 2; distance > 0; distance /= 2) {
    value = operation(value, tile.shfl_xor(value, distance));
  }
  return value;
}
/// A tile of several warps: each of them first, then over the warps.
template <unsigned int Size, class Parent, class Type, class Operation>
static __device__ __inline__ typename ordito_groups::EnableIf<(Size > 32), Type>::type reduce(
    const thread_block_tile<Size, Parent>& tile, Type value, Operation operation) {
  return tile.combine(reduce(thread_block_tile<32>(), value, operation), operation);
}

/// Groups of any size: fold the upper part onto the lower, then spread the first thread's result.
template <class Type, class Operation>
static __device__ __inline__ Type reduce(const coalesced_group& group, Type value, Operation operation) {
  for (unsigned int count = group.size(); count > 1;) {
    const unsigned int half = (count + 1) / 2;
    const Type other = group.shfl_down(value, half);
    if (group.thread_rank() + half < count) value = operation(value, other);
    count = half;
  }
  return group.shfl(value, 0);
}

/// Each operation that an atomic variable can do by itself, and its member that does it.
#define ORDITO_CG_ATOMIC_OPERATIONS(apply)                                                           \
  apply(plus, fetch_add) apply(bit_and, fetch_and) apply(bit_or, fetch_or) apply(bit_xor, fetch_xor) \
      apply(less, fetch_min) apply(greater, fetch_max)

/// The group's result goes into an atomic variable, by one thread: added to what is there (or combined as the operation
/// says), or stored over it.
#define ORDITO_CG_UPDATE(operation, fetch)                                                              \
  template <class Group, class Atomic, class Type>                                                      \
  static __device__ __inline__ void reduce_update_async(const Group& group, Atomic& atomic, Type value, \
                                                        operation<Type> combine) {                      \
    const Type result = reduce(group, value, combine);                                                  \
    if (group.thread_rank() == 0) atomic.fetch(result);                                                 \
  }
ORDITO_CG_ATOMIC_OPERATIONS(ORDITO_CG_UPDATE)
#undef ORDITO_CG_UPDATE
template <class Group, class Atomic, class Type, class Operation>
static __device__ __inline__ void reduce_store_async(const Group& group, Atomic& atomic, Type value,
                                                     Operation operation) {
  const Type result = reduce(group, value, operation);
  if (group.thread_rank() == 0) atomic.store(result);
}

}  // namespace __v1
using namespace __v1;
}  // namespace cooperative_groups

#endif
#endif
