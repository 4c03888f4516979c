// nvcuda::experimental::awbarrier, what cuda::barrier was called before libcu++ had it.
#ifndef _CUDA_AWBARRIER_H_
#define _CUDA_AWBARRIER_H_

#include "cuda_awbarrier_primitives.h"

#if defined(__CUDA__) && defined(__cplusplus) && (!defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800)

namespace nvcuda {
namespace experimental {

/// A barrier in shared memory, initialised by one thread before any other uses it.
class awbarrier {
 public:
  class arrival_token {
   public:
    arrival_token() = default;
    __device__ uint32_t pending_count() const { return __mbarrier_token_pending_count(token_); }

   private:
    __device__ explicit arrival_token(__mbarrier_token_t token) : token_(token) {}
    __mbarrier_token_t token_;
    friend class awbarrier;
  };

  awbarrier() = default;
  awbarrier(const awbarrier&) = delete;
  awbarrier& operator=(const awbarrier&) = delete;

  __device__ arrival_token arrive() { return arrival_token(__mbarrier_arrive(&barrier_)); }
  __device__ arrival_token arrive_and_drop() { return arrival_token(__mbarrier_arrive_and_drop(&barrier_)); }
  __device__ bool timed_wait(arrival_token token, uint32_t hint) {
    return __mbarrier_try_wait(&barrier_, token.token_, hint);
  }
  __device__ bool timed_wait_parity(bool parity, uint32_t hint) {
    return __mbarrier_try_wait_parity(&barrier_, parity, hint);
  }
  __device__ void wait(arrival_token token) {
    while (!__mbarrier_test_wait(&barrier_, token.token_)) __nanosleep(20);
  }
  __device__ void arrive_and_wait() { wait(arrive()); }
  __device__ bool try_wait(arrival_token token, uint32_t hint) { return timed_wait(token, hint); }
  __device__ static __host__ constexpr uint32_t max() { return (1u << 20) - 1; }

 private:
  __mbarrier_t barrier_;
  friend __device__ inline void init(awbarrier* barrier, uint32_t expected);
};

__device__ inline void init(awbarrier* barrier, uint32_t expected) { __mbarrier_init(&barrier->barrier_, expected); }

}  // namespace experimental
}  // namespace nvcuda

#endif
#endif
