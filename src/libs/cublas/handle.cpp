// cuBLAS's handles and their settings, the texts of status codes, and copies of vectors and matrices between the sides.
#include "libs/cublas/handle.hpp"

#include <cstdio>

#include "libs/cublas/status_text.hpp"
#include "libs/version_part.hpp"

namespace ordito::cublas {
namespace {

cublasLogCallback logCallback = nullptr;

template <class Value>
cublasStatus_t answer(cublasHandle_t handle, Value* place, Value value) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(place);
  *place = value;
  return CUBLAS_STATUS_SUCCESS;
}

/// Rows of a matrix of bytes: what vectors with steps and matrices are to a copy.
struct Rows {
  int64_t count, bytes;
  const void* from;
  int64_t fromPitch;
  void* to;
  int64_t toPitch;
};

/// What a copy cannot be made of has the status of a copy that failed, as on a GPU.
/// Which side is which the driver knows by the addresses. Behind what the stream has to do, or at once if there is no
/// stream to be in.
cublasStatus_t copyRows(const Rows& rows, bool isAsynchronous, cudaStream_t stream) {
  if (!libs::hasContext()) return CUBLAS_STATUS_NOT_INITIALIZED;
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  copy.srcDevice = reinterpret_cast<CUdeviceptr>(rows.from);
  copy.dstDevice = reinterpret_cast<CUdeviceptr>(rows.to);
  copy.srcPitch = static_cast<size_t>(rows.fromPitch);
  copy.dstPitch = static_cast<size_t>(rows.toPitch);
  copy.WidthInBytes = static_cast<size_t>(rows.bytes);
  copy.Height = static_cast<size_t>(rows.count);
  const CUresult result = isAsynchronous ? cuMemcpy2DAsync(&copy, stream) : cuMemcpy2DUnaligned(&copy);
  return result == CUDA_SUCCESS ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_MAPPING_ERROR;
}

cublasStatus_t copyVector(int64_t n, int64_t size, const void* x, int64_t incx, void* y, int64_t incy,
                          bool isAsynchronous = false, cudaStream_t stream = nullptr) {
  ORDITO_CHECK(size > 0 && incx > 0 && incy > 0);
  if (n == 0) return CUBLAS_STATUS_SUCCESS;
  if (n < 0 || !x || !y) return CUBLAS_STATUS_MAPPING_ERROR;
  if (incx == 1 && incy == 1) return copyRows({1, n * size, x, n * size, y, n * size}, isAsynchronous, stream);
  return copyRows({n, size, x, incx * size, y, incy * size}, isAsynchronous, stream);
}

cublasStatus_t copyMatrix(int64_t rows, int64_t columns, int64_t size, const void* a, int64_t lda, void* b, int64_t ldb,
                          bool isAsynchronous = false, cudaStream_t stream = nullptr) {
  ORDITO_CHECK(rows >= 0 && columns >= 0 && size > 0 && lda > 0 && ldb > 0);
  if (rows == 0 || columns == 0) return CUBLAS_STATUS_SUCCESS;
  if (lda < rows || ldb < rows || !a || !b) return CUBLAS_STATUS_MAPPING_ERROR;
  return copyRows({columns, rows * size, a, lda * size, b, ldb * size}, isAsynchronous, stream);
}

}  // namespace

extern "C" {

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  ORDITO_CHECK(handle);
  if (!libs::hasContext() || !loadOpenBlas()) return CUBLAS_STATUS_NOT_INITIALIZED;
  *handle = new cublasContext;
  return CUBLAS_STATUS_SUCCESS;
}

/// Tasks have what they need of a handle, so it may go before they run.
cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  ORDITO_HANDLE(handle);
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetVersion_v2(cublasHandle_t, int* version) {
  ORDITO_CHECK(version);
  *version = CUBLAS_VERSION;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetProperty(libraryPropertyType type, int* value) {
  ORDITO_CHECK(libs::tellVersionPart(type, CUBLAS_VER_MAJOR, CUBLAS_VER_MINOR, CUBLAS_VER_PATCH, value));
  return CUBLAS_STATUS_SUCCESS;
}
size_t cublasGetCudartVersion(void) { return CUDA_VERSION; }

cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
  ORDITO_HANDLE(handle);
  handle->stream = stream;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetStream_v2(cublasHandle_t handle, cudaStream_t* stream) {
  return answer(handle, stream, handle ? handle->stream : nullptr);
}
cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t mode) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(mode == CUBLAS_POINTER_MODE_HOST || mode == CUBLAS_POINTER_MODE_DEVICE);
  handle->pointerMode = mode;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t* mode) {
  return answer(handle, mode, handle ? handle->pointerMode : CUBLAS_POINTER_MODE_HOST);
}
cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t mode) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(mode == CUBLAS_ATOMICS_NOT_ALLOWED || mode == CUBLAS_ATOMICS_ALLOWED);
  handle->atomicsMode = mode;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t* mode) {
  return answer(handle, mode, handle ? handle->atomicsMode : CUBLAS_ATOMICS_NOT_ALLOWED);
}
/// Modes permit less precision; nothing here makes use of that.
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
  ORDITO_HANDLE(handle);
  const int kind = mode & ~CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION;
  ORDITO_CHECK(kind >= CUBLAS_DEFAULT_MATH && kind <= CUBLAS_FP64_EMULATED_FIXEDPOINT_MATH);
  handle->mathMode = mode;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode) {
  return answer(handle, mode, handle ? handle->mathMode : CUBLAS_DEFAULT_MATH);
}
/// Nothing here needs a workspace of the program's.
cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void*, size_t) {
  ORDITO_HANDLE(handle);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetSmCountTarget(cublasHandle_t handle, int count) {
  ORDITO_HANDLE(handle);
  CUdevice device = 0;
  int most = 0;
  if (cuCtxGetDevice(&device) == CUDA_SUCCESS)
    cuDeviceGetAttribute(&most, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device);
  ORDITO_CHECK(count >= 0 && count <= most);
  handle->smCountTarget = count;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetSmCountTarget(cublasHandle_t handle, int* count) {
  return answer(handle, count, handle ? handle->smCountTarget : 0);
}
// Emulation permits less precision, too, so its settings are only kept.
#define DEFINE(name, Type, member, isValid)                                                 \
  cublasStatus_t cublasSet##name(cublasHandle_t handle, Type value) {                       \
    ORDITO_HANDLE(handle);                                                                  \
    ORDITO_CHECK(isValid);                                                                  \
    handle->emulation.member = value;                                                       \
    return CUBLAS_STATUS_SUCCESS;                                                           \
  }                                                                                         \
  cublasStatus_t cublasGet##name(cublasHandle_t handle, Type* value) {                      \
    return answer(handle, value, handle ? handle->emulation.member : static_cast<Type>(0)); \
  }
DEFINE(EmulationStrategy, cublasEmulationStrategy_t, strategy,
       value >= CUBLAS_EMULATION_STRATEGY_DEFAULT && value <= CUBLAS_EMULATION_STRATEGY_EAGER)
DEFINE(EmulationSpecialValuesSupport, cudaEmulationSpecialValuesSupport, specialValues, true)
DEFINE(FixedPointEmulationMantissaControl, cudaEmulationMantissaControl, mantissaControl,
       value == CUDA_EMULATION_MANTISSA_CONTROL_DYNAMIC || value == CUDA_EMULATION_MANTISSA_CONTROL_FIXED)
DEFINE(FixedPointEmulationMaxMantissaBitCount, int, maxMantissaBits, value >= 0)
DEFINE(FixedPointEmulationMantissaBitOffset, int, mantissaBitOffset, true)
DEFINE(FixedPointEmulationMantissaBitCountPointer, int*, mantissaBitCount, true)
#undef DEFINE

/// Nothing is logged.
cublasStatus_t cublasLoggerConfigure(int, int, int, const char*) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasSetLoggerCallback(cublasLogCallback callback) {
  logCallback = callback;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetLoggerCallback(cublasLogCallback* callback) {
  ORDITO_CHECK(callback);
  *callback = logCallback;
  return CUBLAS_STATUS_SUCCESS;
}

const char* cublasGetStatusName(cublasStatus_t status) { return statusName(status); }
const char* cublasGetStatusString(cublasStatus_t status) { return statusText(status); }

#define DEFINE(suffix, Int)                                                                                     \
  cublasStatus_t cublasSetVector##suffix(Int n, Int size, const void* x, Int incx, void* y, Int incy) {         \
    return copyVector(n, size, x, incx, y, incy);                                                               \
  }                                                                                                             \
  cublasStatus_t cublasGetVector##suffix(Int n, Int size, const void* x, Int incx, void* y, Int incy) {         \
    return copyVector(n, size, x, incx, y, incy);                                                               \
  }                                                                                                             \
  cublasStatus_t cublasSetMatrix##suffix(Int m, Int n, Int size, const void* A, Int lda, void* B, Int ldb) {    \
    return copyMatrix(m, n, size, A, lda, B, ldb);                                                              \
  }                                                                                                             \
  cublasStatus_t cublasGetMatrix##suffix(Int m, Int n, Int size, const void* A, Int lda, void* B, Int ldb) {    \
    return copyMatrix(m, n, size, A, lda, B, ldb);                                                              \
  }                                                                                                             \
  cublasStatus_t cublasSetVectorAsync##suffix(Int n, Int size, const void* x, Int incx, void* y, Int incy,      \
                                              cudaStream_t stream) {                                            \
    return copyVector(n, size, x, incx, y, incy, true, stream);                                                 \
  }                                                                                                             \
  cublasStatus_t cublasGetVectorAsync##suffix(Int n, Int size, const void* x, Int incx, void* y, Int incy,      \
                                              cudaStream_t stream) {                                            \
    return copyVector(n, size, x, incx, y, incy, true, stream);                                                 \
  }                                                                                                             \
  cublasStatus_t cublasSetMatrixAsync##suffix(Int m, Int n, Int size, const void* A, Int lda, void* B, Int ldb, \
                                              cudaStream_t stream) {                                            \
    return copyMatrix(m, n, size, A, lda, B, ldb, true, stream);                                                \
  }                                                                                                             \
  cublasStatus_t cublasGetMatrixAsync##suffix(Int m, Int n, Int size, const void* A, Int lda, void* B, Int ldb, \
                                              cudaStream_t stream) {                                            \
    return copyMatrix(m, n, size, A, lda, B, ldb, true, stream);                                                \
  }
DEFINE(, int)
DEFINE(_64, int64_t)
#undef DEFINE

}  // extern "C"
}  // namespace ordito::cublas
