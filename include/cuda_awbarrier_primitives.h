// Barriers in shared memory that threads arrive at and wait for apart, as functions: PTX's mbarrier.
#ifndef _CUDA_AWBARRIER_PRIMITIVES_H_
#define _CUDA_AWBARRIER_PRIMITIVES_H_

#include "cuda_pipeline_primitives.h"

#if defined(__CUDA__) && defined(__cplusplus)

typedef uint64_t __mbarrier_token_t;

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
#define ORDITO_BARRIER static __device__ __inline__

namespace ordito_detail {
ORDITO_BARRIER unsigned sharedAddress(const __mbarrier_t* barrier) {
  return static_cast<unsigned>(__cvta_generic_to_shared(barrier));
}
}  // namespace ordito_detail

/// The most arrivals that a barrier can expect.
ORDITO_BARRIER unsigned int __mbarrier_maximum_count() { return (1u << 20) - 1; }

ORDITO_BARRIER void __mbarrier_init(__mbarrier_t* barrier, unsigned int expected) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(ordito_detail::sharedAddress(barrier)), "r"(expected)
               : "memory");
}

ORDITO_BARRIER void __mbarrier_inval(__mbarrier_t* barrier) {
  asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(ordito_detail::sharedAddress(barrier)) : "memory");
}

ORDITO_BARRIER __mbarrier_token_t __mbarrier_arrive(__mbarrier_t* barrier) {
  __mbarrier_token_t token;
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1];"
               : "=l"(token)
               : "r"(ordito_detail::sharedAddress(barrier))
               : "memory");
  return token;
}

/// Arrives, and is expected no more in the phases to come.
ORDITO_BARRIER __mbarrier_token_t __mbarrier_arrive_and_drop(__mbarrier_t* barrier) {
  __mbarrier_token_t token;
  asm volatile("mbarrier.arrive_drop.shared.b64 %0, [%1];"
               : "=l"(token)
               : "r"(ordito_detail::sharedAddress(barrier))
               : "memory");
  return token;
}

/// Whether the phase of the token is over.
ORDITO_BARRIER bool __mbarrier_test_wait(__mbarrier_t* barrier, __mbarrier_token_t token) {
  unsigned int over;
  asm volatile("{ .reg .pred over; mbarrier.test_wait.shared.b64 over, [%1], %2; selp.u32 %0, 1, 0, over; }"
               : "=r"(over)
               : "r"(ordito_detail::sharedAddress(barrier)), "l"(token)
               : "memory");
  return over != 0;
}

ORDITO_BARRIER bool __mbarrier_test_wait_parity(__mbarrier_t* barrier, bool parity) {
  unsigned int over;
  asm volatile("{ .reg .pred over; mbarrier.test_wait.parity.shared.b64 over, [%1], %2; selp.u32 %0, 1, 0, over; }"
               : "=r"(over)
               : "r"(ordito_detail::sharedAddress(barrier)), "r"(static_cast<unsigned int>(parity))
               : "memory");
  return over != 0;
}

/// May wait for a while before it answers; `nanoseconds` is a hint.
ORDITO_BARRIER bool __mbarrier_try_wait(__mbarrier_t* barrier, __mbarrier_token_t token, unsigned int nanoseconds) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  unsigned int over;
  asm volatile("{ .reg .pred over; mbarrier.try_wait.shared.b64 over, [%1], %2, %3; selp.u32 %0, 1, 0, over; }"
               : "=r"(over)
               : "r"(ordito_detail::sharedAddress(barrier)), "l"(token), "r"(nanoseconds)
               : "memory");
  return over != 0;
#else
  (void)nanoseconds;
  return __mbarrier_test_wait(barrier, token);
#endif
}

ORDITO_BARRIER bool __mbarrier_try_wait_parity(__mbarrier_t* barrier, bool parity, unsigned int nanoseconds) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  unsigned int over;
  asm volatile("{ .reg .pred over; mbarrier.try_wait.parity.shared.b64 over, [%1], %2, %3; selp.u32 %0, 1, 0, over; }"
               : "=r"(over)
               : "r"(ordito_detail::sharedAddress(barrier)), "r"(static_cast<unsigned int>(parity)), "r"(nanoseconds)
               : "memory");
  return over != 0;
#else
  (void)nanoseconds;
  return __mbarrier_test_wait_parity(barrier, parity);
#endif
}

/// How many arrivals the phase of the token still waited for when the token was given.
ORDITO_BARRIER unsigned int __mbarrier_token_pending_count(__mbarrier_token_t token) {
  unsigned int count;
  asm("mbarrier.pending_count.b64 %0, %1;" : "=r"(count) : "l"(token));
  return count;
}

#undef ORDITO_BARRIER
#endif

#endif
#endif
