// cuBLASLt's handles, its version, the texts of its statuses and its log, which is empty.
#include "cublasLt.h"
#include "cuda.h"
#include "libs/cublas/openblas.hpp"
#include "libs/cublas/status_text.hpp"
#include "libs/handle_table.hpp"
#include "libs/version_part.hpp"

namespace ordito::cublaslt {
namespace {

struct Handle {};

/// A handle holds nothing: calls also take one of cuBLAS, as the manual permits.
auto& handles() {
  static auto* table = new libs::HandleTable<cublasLtHandle_t, Handle>;
  return *table;
}

size_t cacheCapacity = 8192;

}  // namespace

extern "C" {

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  if (!handle) return CUBLAS_STATUS_INVALID_VALUE;
  *handle = nullptr;
  if (cuInit(0) != CUDA_SUCCESS || !cublas::loadOpenBlas()) return CUBLAS_STATUS_NOT_INITIALIZED;
  *handle = handles().add(std::make_shared<Handle>());
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  return handles().remove(handle) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}
const char* cublasLtGetStatusName(cublasStatus_t status) { return cublas::statusName(status); }
const char* cublasLtGetStatusString(cublasStatus_t status) { return cublas::statusText(status); }
size_t cublasLtGetVersion(void) { return CUBLAS_VERSION; }
size_t cublasLtGetCudartVersion(void) { return CUDA_VERSION; }
cublasStatus_t cublasLtGetProperty(libraryPropertyType type, int* value) {
  return libs::tellVersionPart(type, CUBLAS_VER_MAJOR, CUBLAS_VER_MINOR, CUBLAS_VER_PATCH, value)
             ? CUBLAS_STATUS_SUCCESS
             : CUBLAS_STATUS_INVALID_VALUE;
}

/// There is one algorithm, so nothing is cached.
cublasStatus_t cublasLtHeuristicsCacheGetCapacity(size_t* capacity) {
  if (!capacity) return CUBLAS_STATUS_INVALID_VALUE;
  *capacity = cacheCapacity;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtHeuristicsCacheSetCapacity(size_t capacity) {
  cacheCapacity = capacity;
  return CUBLAS_STATUS_SUCCESS;
}
unsigned cublasLtDisableCpuInstructionsSetMask(unsigned) { return 0; }

/// Nothing is logged.
cublasStatus_t cublasLtLoggerSetCallback(cublasLtLoggerCallback_t) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasLtLoggerSetFile(FILE*) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasLtLoggerOpenFile(const char* file) {
  return file ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}
cublasStatus_t cublasLtLoggerSetLevel(int level) {
  return level >= 0 && level <= 5 ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}
cublasStatus_t cublasLtLoggerSetMask(int) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasLtLoggerForceDisable(void) { return CUBLAS_STATUS_SUCCESS; }

}  // extern "C"
}  // namespace ordito::cublaslt
