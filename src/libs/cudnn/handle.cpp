// libcudnn as far as it computes nothing: handles, their streams, the version. XLA makes a handle before it compiles
// anything, convolutions or not. What cuDNN computes is refused by name (refused/cudnn.def).
//
// cuDNN API, "cudnn_graph library": the calls and the numbers of their answers. No header of it is here.
#include <mutex>

#include "cuda.h"
#include "libs/handle_table.hpp"
#include "libs/version_part.hpp"

namespace {

struct Handle {
  std::mutex mutex;
  CUstream stream = nullptr;
};

auto& handles() {
  static auto* table = new ordito::libs::HandleTable<void*, Handle>;
  return *table;
}

enum Status { kSuccess = 0, kNotInitialized = 1001, kBadParameter = 2000, kNotSupported = 3000 };

// There is no such release: it is not older than the one that a program was built for, which is what programs ask.
constexpr int kMajor = 9, kMinor = 99, kPatch = 0;

}  // namespace

#define CUDNN_CALL extern "C" __attribute__((visibility("default")))

CUDNN_CALL size_t cudnnGetVersion() { return kMajor * 10000 + kMinor * 100 + kPatch; }
CUDNN_CALL size_t cudnnGetMaxDeviceVersion() { return 1210; }
CUDNN_CALL size_t cudnnGetCudartVersion() { return 13000; }

CUDNN_CALL Status cudnnGetProperty(libraryPropertyType type, int* value) {
  return ordito::libs::tellVersionPart(type, kMajor, kMinor, kPatch, value) ? kSuccess : kBadParameter;
}

CUDNN_CALL const char* cudnnGetErrorString(Status status) {
  switch (status) {
    case kSuccess: return "CUDNN_STATUS_SUCCESS";
    case kNotInitialized: return "CUDNN_STATUS_NOT_INITIALIZED";
    case kBadParameter: return "CUDNN_STATUS_BAD_PARAM";
    case kNotSupported: return "CUDNN_STATUS_NOT_SUPPORTED";
  }
  return "CUDNN_UNKNOWN_STATUS";
}

/// A handle belongs to the context that is current; without a device there is none.
CUDNN_CALL Status cudnnCreate(void** handle) {
  if (!handle) return kBadParameter;
  *handle = nullptr;
  if (cuInit(0) != CUDA_SUCCESS) return kNotInitialized;
  *handle = handles().add(std::make_shared<Handle>());
  return kSuccess;
}

CUDNN_CALL Status cudnnDestroy(void* handle) { return handles().remove(handle) ? kSuccess : kBadParameter; }

CUDNN_CALL Status cudnnSetStream(void* handle, CUstream stream) {
  const auto found = handles().find(handle);
  if (!found) return kBadParameter;
  const std::scoped_lock lock(found->mutex);
  found->stream = stream;
  return kSuccess;
}

CUDNN_CALL Status cudnnGetStream(void* handle, CUstream* stream) {
  const auto found = handles().find(handle);
  if (!found || !stream) return kBadParameter;
  const std::scoped_lock lock(found->mutex);
  *stream = found->stream;
  return kSuccess;
}
