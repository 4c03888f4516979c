// Memory and events that processes of one host share.
#include <cstring>

#include "runtime/call.hpp"

using namespace ordito::runtime;

namespace {

/// A handle is the same bytes in both APIs.
template <class To, class From>
To same(const From& handle) {
  static_assert(sizeof(To) == sizeof(From));
  To result;
  std::memcpy(&result, &handle, sizeof result);
  return result;
}

}  // namespace

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* pointer) {
  if (handle == nullptr) return finish(cudaErrorInvalidValue);
  return call([&] {
    CUipcMemHandle name{};
    const CUresult result = cuIpcGetMemHandle(&name, address(pointer));
    if (result == CUDA_SUCCESS) *handle = same<cudaIpcMemHandle_t>(name);
    return result;
  });
}

cudaError_t cudaIpcOpenMemHandle(void** pointer, cudaIpcMemHandle_t handle, unsigned int flags) {
  if (pointer == nullptr) return finish(cudaErrorInvalidValue);
  return call([&] { return cuIpcOpenMemHandle(address(pointer), same<CUipcMemHandle>(handle), flags); });
}

cudaError_t cudaIpcCloseMemHandle(void* pointer) {
  return call([&] { return cuIpcCloseMemHandle(address(pointer)); });
}

cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t* handle, cudaEvent_t event) {
  if (handle == nullptr) return finish(cudaErrorInvalidValue);
  return call([&] {
    CUipcEventHandle name{};
    const CUresult result = cuIpcGetEventHandle(&name, event);
    if (result == CUDA_SUCCESS) *handle = same<cudaIpcEventHandle_t>(name);
    return result;
  });
}

cudaError_t cudaIpcOpenEventHandle(cudaEvent_t* event, cudaIpcEventHandle_t handle) {
  if (event == nullptr) return finish(cudaErrorInvalidValue);
  return call([&] { return cuIpcOpenEventHandle(event, same<CUipcEventHandle>(handle)); });
}
