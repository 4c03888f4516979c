// memcpy_async: a copy that the threads of a group share. It is done when the call returns; wait() makes it visible to
// the group.
#ifndef _COOPERATIVE_GROUPS_MEMCPY_ASYNC_H_
#define _COOPERATIVE_GROUPS_MEMCPY_ASYNC_H_

#include "../cooperative_groups.h"

#if defined(__cplusplus) && defined(__CUDA__)

namespace cooperative_groups {
namespace __v1 {

template <class Group>
static __device__ __inline__ void memcpy_async(const Group& group, void* to, const void* from, size_t bytes) {
  const bool words = (((size_t)to | (size_t)from | bytes) & 3) == 0;
  const size_t rank = group.thread_rank(), size = group.size();
  if (words) {
    for (size_t i = rank; i < bytes / 4; i += size) ((unsigned int*)to)[i] = ((const unsigned int*)from)[i];
  } else {
    for (size_t i = rank; i < bytes; i += size) ((char*)to)[i] = ((const char*)from)[i];
  }
}
template <class Group, class Type>
static __device__ __inline__ void memcpy_async(const Group& group, Type* to, const Type* from, size_t bytes) {
  memcpy_async(group, (void*)to, (const void*)from, bytes);
}
template <class Group, class Type, class ToLayout, class FromLayout>
static __device__ __inline__ void memcpy_async(const Group& group, Type* to, const ToLayout& to_elements,
                                               const Type* from, const FromLayout& from_elements) {
  const size_t limit = to_elements, available = from_elements;
  memcpy_async(group, (void*)to, (const void*)from, (available < limit ? available : limit) * sizeof(Type));
}
template <class Group>
static __device__ __inline__ void wait(const Group& group) {
  group.sync();
}
template <unsigned int Pending, class Group>
static __device__ __inline__ void wait_prior(const Group& group) {
  group.sync();
}

}  // namespace __v1
using namespace __v1;
}  // namespace cooperative_groups

#endif
#endif
