// Asynchronous copies to shared memory, and waiting for batches of them.
#ifndef _CUDA_PIPELINE_PRIMITIVES_H_
#define _CUDA_PIPELINE_PRIMITIVES_H_

#if defined(__CUDA__) && defined(__cplusplus)

#include <stdint.h>

typedef uint64_t __mbarrier_t;

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
// GPUs before sm_80 have no asynchronous copies: a copy is done at once, and there is nothing to wait for.
static __device__ __inline__ void __pipeline_memcpy_async(void* __restrict__ shared, const void* __restrict__ global,
                                                          size_t bytes, size_t zeros = 0) {
  if (bytes != 4 && bytes != 8 && bytes != 16) __trap();
  for (size_t k = 0; k < bytes; ++k)
    static_cast<char*>(shared)[k] = k < bytes - zeros ? static_cast<const char*>(global)[k] : 0;
}
static __device__ __inline__ void __pipeline_commit() {}
static __device__ __inline__ void __pipeline_wait_prior(size_t) {}
#else
/// Copies `bytes` (4, 8 or 16) and sets the last `zeros` of them to zero instead.
static __device__ __inline__ void __pipeline_memcpy_async(void* __restrict__ shared, const void* __restrict__ global,
                                                          size_t bytes, size_t zeros = 0) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  const unsigned wanted = static_cast<unsigned>(bytes - zeros);
  if (bytes == 4)
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(global), "r"(wanted) : "memory");
  else if (bytes == 8)
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(to), "l"(global), "r"(wanted) : "memory");
  else if (bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(global), "r"(wanted) : "memory");
  else
    __trap();
}

static __device__ __inline__ void __pipeline_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

/// Waits for all but the last `batches` batches.
static __device__ __inline__ void __pipeline_wait_prior(size_t batches) {
  switch (batches) {
    case 0: asm volatile("cp.async.wait_group 0;" ::: "memory"); break;
    case 1: asm volatile("cp.async.wait_group 1;" ::: "memory"); break;
    case 2: asm volatile("cp.async.wait_group 2;" ::: "memory"); break;
    case 3: asm volatile("cp.async.wait_group 3;" ::: "memory"); break;
    case 4: asm volatile("cp.async.wait_group 4;" ::: "memory"); break;
    case 5: asm volatile("cp.async.wait_group 5;" ::: "memory"); break;
    case 6: asm volatile("cp.async.wait_group 6;" ::: "memory"); break;
    case 7: asm volatile("cp.async.wait_group 7;" ::: "memory"); break;
    default: asm volatile("cp.async.wait_group 8;" ::: "memory"); break;
  }
}

/// The barrier gets an arrival when this thread's copies are done.
static __device__ __inline__ void __pipeline_arrive_on(__mbarrier_t* barrier) {
  const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(barrier));
  asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"(at) : "memory");
}
#endif

#endif
#endif
