// cuSPARSE's handles and their settings, the texts of status codes, and the matrix descriptors of the older interface.
#include "libs/cusparse/descriptors.hpp"
#include "libs/version_part.hpp"

namespace ordito::cusparse {
namespace {

template <class Place, class Value>
cusparseStatus_t answer(cusparseHandle_t handle, Place* place, Value value) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(place);
  *place = value;
  return CUSPARSE_STATUS_SUCCESS;
}

template <class Enum>
cusparseStatus_t change(cusparseMatDescr_t descriptor, Enum cusparseMatDescr::* member, Enum value, int last) {
  ORDITO_CHECK(descriptor && static_cast<int>(value) >= 0 && static_cast<int>(value) <= last);
  descriptor->*member = value;
  return CUSPARSE_STATUS_SUCCESS;
}

}  // namespace

extern "C" {

cusparseStatus_t cusparseCreate(cusparseHandle_t* handle) {
  ORDITO_CHECK(handle);
  if (!libs::hasContext()) return CUSPARSE_STATUS_NOT_INITIALIZED;
  *handle = new cusparseContext;
  return CUSPARSE_STATUS_SUCCESS;
}
/// Tasks have what they need of a handle, so it may go before they run.
cusparseStatus_t cusparseDestroy(cusparseHandle_t handle) {
  delete handle;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseGetVersion(cusparseHandle_t handle, int* version) {
  ORDITO_CHECK(handle);
  return answer(handle, version, CUSPARSE_VERSION);
}
cusparseStatus_t cusparseGetProperty(libraryPropertyType type, int* value) {
  ORDITO_CHECK(libs::tellVersionPart(type, CUSPARSE_VER_MAJOR, CUSPARSE_VER_MINOR, CUSPARSE_VER_PATCH, value));
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSetStream(cusparseHandle_t handle, cudaStream_t stream) {
  ORDITO_CHECK(handle);
  handle->stream = stream;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseGetStream(cusparseHandle_t handle, cudaStream_t* stream) {
  return answer(handle, stream, handle ? handle->stream : nullptr);
}
cusparseStatus_t cusparseSetPointerMode(cusparseHandle_t handle, cusparsePointerMode_t mode) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(mode == CUSPARSE_POINTER_MODE_HOST || mode == CUSPARSE_POINTER_MODE_DEVICE);
  handle->pointerMode = mode;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseGetPointerMode(cusparseHandle_t handle, cusparsePointerMode_t* mode) {
  return answer(handle, mode, handle ? handle->pointerMode : CUSPARSE_POINTER_MODE_HOST);
}

/// Nothing is logged.
cusparseStatus_t cusparseLoggerSetCallback(cusparseLoggerCallback_t) { return CUSPARSE_STATUS_SUCCESS; }
cusparseStatus_t cusparseLoggerSetFile(FILE*) { return CUSPARSE_STATUS_SUCCESS; }
cusparseStatus_t cusparseLoggerOpenFile(const char*) { return CUSPARSE_STATUS_SUCCESS; }
cusparseStatus_t cusparseLoggerSetLevel(int) { return CUSPARSE_STATUS_SUCCESS; }
cusparseStatus_t cusparseLoggerSetMask(int) { return CUSPARSE_STATUS_SUCCESS; }
cusparseStatus_t cusparseLoggerForceDisable() { return CUSPARSE_STATUS_SUCCESS; }

const char* cusparseGetErrorName(cusparseStatus_t status) {
  switch (status) {
#define VALUE(name) \
  case name: return #name;
#include "refused/cusparseStatus_t.def"
  }
  return "unrecognized error code";
}
const char* cusparseGetErrorString(cusparseStatus_t status) {
  switch (status) {
    case CUSPARSE_STATUS_SUCCESS: return "success";
    case CUSPARSE_STATUS_NOT_INITIALIZED: return "initialization error";
    case CUSPARSE_STATUS_ALLOC_FAILED: return "out of memory";
    case CUSPARSE_STATUS_INVALID_VALUE: return "invalid value";
    case CUSPARSE_STATUS_ARCH_MISMATCH: return "architecture mismatch";
    case CUSPARSE_STATUS_MAPPING_ERROR: return "texture memory access failed";
    case CUSPARSE_STATUS_EXECUTION_FAILED: return "kernel launch failure";
    case CUSPARSE_STATUS_INTERNAL_ERROR: return "internal error";
    case CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED: return "matrix type not supported";
    case CUSPARSE_STATUS_ZERO_PIVOT: return "zero pivot";
    case CUSPARSE_STATUS_NOT_SUPPORTED: return "operation not supported";
    case CUSPARSE_STATUS_INSUFFICIENT_RESOURCES: return "insufficient resources";
  }
  return "unrecognized error code";
}

cusparseStatus_t cusparseCreateMatDescr(cusparseMatDescr_t* descriptor) { return makeDescriptor(descriptor); }
cusparseStatus_t cusparseDestroyMatDescr(cusparseMatDescr_t descriptor) { return destroyDescriptor(descriptor); }
cusparseStatus_t cusparseSetMatType(cusparseMatDescr_t descriptor, cusparseMatrixType_t type) {
  return change(descriptor, &cusparseMatDescr::type, type, CUSPARSE_MATRIX_TYPE_TRIANGULAR);
}
cusparseStatus_t cusparseSetMatFillMode(cusparseMatDescr_t descriptor, cusparseFillMode_t fill) {
  return change(descriptor, &cusparseMatDescr::fill, fill, CUSPARSE_FILL_MODE_UPPER);
}
cusparseStatus_t cusparseSetMatDiagType(cusparseMatDescr_t descriptor, cusparseDiagType_t diagonal) {
  return change(descriptor, &cusparseMatDescr::diagonal, diagonal, CUSPARSE_DIAG_TYPE_UNIT);
}
cusparseStatus_t cusparseSetMatIndexBase(cusparseMatDescr_t descriptor, cusparseIndexBase_t base) {
  return change(descriptor, &cusparseMatDescr::base, base, CUSPARSE_INDEX_BASE_ONE);
}
cusparseMatrixType_t cusparseGetMatType(const cusparseMatDescr_t descriptor) { return descriptor->type; }
cusparseFillMode_t cusparseGetMatFillMode(const cusparseMatDescr_t descriptor) { return descriptor->fill; }
cusparseDiagType_t cusparseGetMatDiagType(const cusparseMatDescr_t descriptor) { return descriptor->diagonal; }
cusparseIndexBase_t cusparseGetMatIndexBase(const cusparseMatDescr_t descriptor) { return descriptor->base; }

}  // extern "C"
}  // namespace ordito::cusparse
