// cuda_pipeline_primitives.h, and the same as a class: nvcuda::experimental::pipeline, what cuda::pipeline was called
// before libcu++ had it.
#ifndef _CUDA_PIPELINE_H_
#define _CUDA_PIPELINE_H_

#include "cuda_pipeline_primitives.h"
#include "cuda_awbarrier.h"

#if defined(__CUDA__) && defined(__cplusplus)

namespace nvcuda {
namespace experimental {

/// Batches of asynchronous copies of this thread, numbered from 0.
class pipeline {
 public:
  pipeline() = default;
  pipeline(const pipeline&) = delete;
  pipeline& operator=(const pipeline&) = delete;

  __device__ size_t commit() {
    __pipeline_commit();
    return batches_++;
  }
  __device__ void commit_and_wait() { wait(commit()); }
  /// Waits for the batch of that number, and for all before it.
  __device__ void wait(size_t batch) { __pipeline_wait_prior(batches_ > batch ? batches_ - 1 - batch : 0); }
  template <unsigned newest>
  __device__ void wait_prior() {
    __pipeline_wait_prior(newest);
  }
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  __device__ void arrive_on(awbarrier& barrier) { __pipeline_arrive_on(reinterpret_cast<__mbarrier_t*>(&barrier)); }
#endif

 private:
  size_t batches_ = 0;
};

/// Copies one object; in the background if hardware has copies of its size.
template <class T>
__device__ inline void memcpy_async(T& to, const T& from, pipeline&) {
  if (sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16)
    __pipeline_memcpy_async(&to, &from, sizeof(T));
  else
    to = from;
}

}  // namespace experimental
}  // namespace nvcuda

#endif
#endif
