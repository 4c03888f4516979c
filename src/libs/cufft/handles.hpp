// What is behind cuFFT's handles, which are numbers.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "cufftXt.h"
#include "libs/cufft/callbacks.hpp"
#include "libs/stream_task.hpp"

namespace ordito::cufft {

struct Handle {
  cudaStream_t stream = nullptr;
  std::shared_ptr<const Plan> plan;  // null: created, but not made
  std::vector<int> devices;          // of cufftXtSetGPUs
  std::map<cufftProperty, long long> properties;
  Callbacks callbacks;
};

/// The handles of the process, by their numbers.
class Handles {
 public:
  static Handles& all() {
    static Handles handles;
    return handles;
  }
  cufftHandle add() {
    const std::scoped_lock lock(mutex_);
    handles_[++last_] = {};
    return last_;
  }
  /// Calls use(handle) if there is such a handle.
  template <class Use>
  cufftResult with(cufftHandle number, const Use& use) {
    const std::scoped_lock lock(mutex_);
    const auto found = handles_.find(number);
    return found == handles_.end() ? CUFFT_INVALID_PLAN : use(found->second);
  }
  cufftResult remove(cufftHandle number) {
    const std::scoped_lock lock(mutex_);
    return handles_.erase(number) ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN;
  }

 private:
  std::mutex mutex_;
  std::map<cufftHandle, Handle> handles_;
  cufftHandle last_ = 0;
};

inline cufftResult statusOf(CUresult result) { return result == CUDA_SUCCESS ? CUFFT_SUCCESS : CUFFT_EXEC_FAILED; }

}  // namespace ordito::cufft
