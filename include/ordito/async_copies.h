// What the forms of cuda::memcpy_async share: sizes that promise an alignment, and copies that a group's threads share.
#ifndef ORDITO_ASYNC_COPIES_H
#define ORDITO_ASYNC_COPIES_H

#include "scoped_atomics.h"

namespace cuda {

/// A size in bytes that is a multiple of the alignment that both sides have.
template <size_t Alignment>
struct aligned_size_t {
  static constexpr size_t align = Alignment;
  size_t value;
  constexpr explicit __host__ __device__ aligned_size_t(size_t size) : value(size) {}
  constexpr __host__ __device__ operator size_t() const { return value; }
};

namespace ordito_async {

/// Part `rank` of `parts`: words if everything is aligned to words, in turn, so that neighbours copy neighbours.
ORDITO_ATOMIC_FUNCTION void copyPart(void* to, const void* from, size_t size, size_t rank, size_t parts) {
  if ((((uintptr_t)to | (uintptr_t)from | size) & 3) == 0) {
    for (size_t i = rank; i < size / 4; i += parts) ((uint32_t*)to)[i] = ((const uint32_t*)from)[i];
  } else {
    for (size_t i = rank; i < size; i += parts) ((char*)to)[i] = ((const char*)from)[i];
  }
}

ORDITO_ATOMIC_FUNCTION void copy(void* to, const void* from, size_t size) { memcpy(to, from, size); }
template <class Group>
ORDITO_ATOMIC_FUNCTION void copy(const Group& group, void* to, const void* from, size_t size) {
  copyPart(to, from, size, group.thread_rank(), group.size());
}

}  // namespace ordito_async
}  // namespace cuda

#endif
