// The names and the texts of cuBLAS's status codes, which cuBLASLt shares.
#pragma once

#include "cublas_api.h"

namespace ordito::cublas {

inline const char* statusName(cublasStatus_t status) {
  switch (status) {
#define VALUE(name) \
  case name: return #name;
#include "refused/cublasStatus_t.def"
  }
  return "CUBLAS_STATUS_UNKNOWN";
}
/// As a sentence.
inline const char* statusText(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_SUCCESS: return "success";
    case CUBLAS_STATUS_NOT_INITIALIZED: return "the library was not initialized";
    case CUBLAS_STATUS_ALLOC_FAILED: return "the resource allocation failed";
    case CUBLAS_STATUS_INVALID_VALUE: return "an invalid value was used as an argument";
    case CUBLAS_STATUS_ARCH_MISMATCH: return "an absent device architectural feature is required";
    case CUBLAS_STATUS_MAPPING_ERROR: return "an access to GPU memory space failed";
    case CUBLAS_STATUS_EXECUTION_FAILED: return "the GPU program failed to execute";
    case CUBLAS_STATUS_INTERNAL_ERROR: return "an internal operation failed";
    case CUBLAS_STATUS_NOT_SUPPORTED: return "the requested functionality is not supported";
    case CUBLAS_STATUS_LICENSE_ERROR: return "an error in the license was detected";
  }
  return "unknown status";
}

}  // namespace ordito::cublas
