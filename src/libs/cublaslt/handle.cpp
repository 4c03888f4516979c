// libcublasLt as far as it computes nothing: its handles, which XLA makes beside those of cuBLAS and without which it
// has no cuBLAS either. What it computes is refused by name (refused/cublasLt.def).
//
// cuBLAS API, "Using the cuBLASLt API": the calls and the numbers of their answers. No header of it is here.
#include "cuda.h"
#include "libs/handle_table.hpp"

namespace {

struct Handle {};

auto& handles() {
  static auto* table = new ordito::libs::HandleTable<void*, Handle>;
  return *table;
}

enum Status { kSuccess = 0, kNotInitialized = 1, kInvalidValue = 7 };

}  // namespace

#define LT_CALL extern "C" __attribute__((visibility("default")))

LT_CALL Status cublasLtCreate(void** handle) {
  if (!handle) return kInvalidValue;
  *handle = nullptr;
  if (cuInit(0) != CUDA_SUCCESS) return kNotInitialized;
  *handle = handles().add(std::make_shared<Handle>());
  return kSuccess;
}

LT_CALL Status cublasLtDestroy(void* handle) { return handles().remove(handle) ? kSuccess : kInvalidValue; }
