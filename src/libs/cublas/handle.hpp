// The state behind a cublasHandle_t, and how a call becomes a task in the handle's stream.
#pragma once

#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include "cublas_api.h"
#include "libs/cublas/inner.hpp"
#include "libs/stream_task.hpp"

struct cublasContext {
  cudaStream_t stream = nullptr;
  cublasPointerMode_t pointerMode = CUBLAS_POINTER_MODE_HOST;
  cublasAtomicsMode_t atomicsMode = CUBLAS_ATOMICS_NOT_ALLOWED;
  cublasMath_t mathMode = CUBLAS_DEFAULT_MATH;
  int smCountTarget = 0;
  /// How less exact products may be emulated by the GPU's small types, with the manual's first values.
  struct {
    cublasEmulationStrategy_t strategy = CUBLAS_EMULATION_STRATEGY_DEFAULT;
    cudaEmulationSpecialValuesSupport specialValues = CUDA_EMULATION_SPECIAL_VALUES_SUPPORT_DEFAULT;
    cudaEmulationMantissaControl mantissaControl = CUDA_EMULATION_MANTISSA_CONTROL_DYNAMIC;
    int maxMantissaBits = 0, mantissaBitOffset = 0;
    int* mantissaBitCount = nullptr;
  } emulation;
};

namespace ordito::cublas {

/// What cannot be launched is said to have failed: a stream that is gone, a task that met a fault.
inline cublasStatus_t statusOf(CUresult result) {
  return result == CUDA_SUCCESS ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

/// A scalar argument: copied at the call if it is the host's, read in the task if it is the device's.
template <class T>
class Scalar {
 public:
  Scalar(cublasHandle_t handle, const void* place) : place_(static_cast<const T*>(place)) {
    if (handle->pointerMode == CUBLAS_POINTER_MODE_DEVICE || !place) return;
    value_ = *place_;
    place_ = nullptr;
  }
  explicit Scalar(T value) : value_(value) {}
  T get() const { return place_ ? *place_ : value_; }

 private:
  const T* place_ = nullptr;
  T value_{};
};

/// The profiler and faults call the task `name`.
template <class Task>
cublasStatus_t submit(cublasHandle_t handle, const char* name, Task task, libs::Work work = {}) {
  return statusOf(libs::enqueue(handle->stream, name, std::function<void()>(std::move(task)), work));
}

/// A call whose results go through pointers: those of the host are there when it returns. In a capture nobody can wait,
/// so the wait ends it with an error.
template <class Task>
cublasStatus_t submitAndAwait(cublasHandle_t handle, const char* name, Task task) {
  const cublasStatus_t status = submit(handle, name, std::move(task));
  if (status != CUBLAS_STATUS_SUCCESS || handle->pointerMode == CUBLAS_POINTER_MODE_DEVICE) return status;
  return statusOf(libs::await(handle->stream));
}

/// The first line of every call.
#define ORDITO_HANDLE(handle) \
  if (!(handle)) return CUBLAS_STATUS_NOT_INITIALIZED
#define ORDITO_CHECK(condition) \
  if (!(condition)) return CUBLAS_STATUS_INVALID_VALUE

/// Is the scalar the host's, and of this value?
template <class T>
bool isHosts(cublasHandle_t handle, const T* place, T value) {
  return handle->pointerMode == CUBLAS_POINTER_MODE_HOST && place && *place == value;
}

/// What R = alpha P + beta R is answered with at once, where P is a sum with or without terms: that something is
/// missing, or that nothing is left to do. Scalars of the host say what is not read, and that may be missing, as it may
/// on a GPU (tests/gpu/libraries/cublas.cu, "nothing").
template <class A, class B>
std::optional<cublasStatus_t> answerAtOnce(cublasHandle_t handle, bool hasTerms, const A* alpha, bool areFactorsThere,
                                           const B* beta, bool isResultThere) {
  ORDITO_CHECK((alpha || !hasTerms) && beta);
  const bool isRead = hasTerms && !isHosts(handle, alpha, A(0));
  if (!isRead && isHosts(handle, beta, B(1))) return CUBLAS_STATUS_SUCCESS;
  ORDITO_CHECK(isResultThere && (areFactorsThere || !isRead));
  return std::nullopt;
}

inline bool isOperation(cublasOperation_t op) { return op >= CUBLAS_OP_N && op <= CUBLAS_OP_C; }
inline bool isFill(cublasFillMode_t fill) { return fill == CUBLAS_FILL_MODE_LOWER || fill == CUBLAS_FILL_MODE_UPPER; }
inline bool isDiagonal(cublasDiagType_t diag) { return diag == CUBLAS_DIAG_NON_UNIT || diag == CUBLAS_DIAG_UNIT; }
inline bool isSide(cublasSideMode_t side) { return side == CUBLAS_SIDE_LEFT || side == CUBLAS_SIDE_RIGHT; }

/// The letters of Fortran. Of a real matrix the conjugate is itself.
inline const char* letter(cublasOperation_t op) { return op == CUBLAS_OP_N ? "N" : op == CUBLAS_OP_T ? "T" : "C"; }
inline const char* letter(cublasFillMode_t fill) { return fill == CUBLAS_FILL_MODE_LOWER ? "L" : "U"; }
inline const char* letter(cublasDiagType_t diag) { return diag == CUBLAS_DIAG_UNIT ? "U" : "N"; }
inline const char* letter(cublasSideMode_t side) { return side == CUBLAS_SIDE_LEFT ? "L" : "R"; }

/// Sizes that OpenBLAS can count.
template <class... Sizes>
bool areCountable(Sizes... sizes) {
  return ((static_cast<int64_t>(sizes) <= 0x7fffffff) && ...);
}

/// Of an array of pointers that may be missing, since nothing is read.
template <class T>
T* at(T* const* pointers, int64_t i) {
  return pointers ? pointers[i] : nullptr;
}

/// Element (row, column) of a matrix, by columns.
template <class T>
T* element(T* matrix, int64_t row, int64_t column, int64_t leading) {
  return matrix + row + column * leading;
}

inline int asInt(int64_t value) { return static_cast<int>(value); }

// One row for each type, with the suffix and the type of sizes of each form of the interface.
#define ORDITO_FORMS(X, L, T, name, name64) X(L, T, name, int) X(L, T, name64, int64_t)
#define ORDITO_FOR_REAL(X) ORDITO_FORMS(X, S, float, , _64) ORDITO_FORMS(X, D, double, , _64)
#define ORDITO_FOR_COMPLEX(X) ORDITO_FORMS(X, C, cuComplex, , _64) ORDITO_FORMS(X, Z, cuDoubleComplex, , _64)
#define ORDITO_FOR_REAL_V2(X) ORDITO_FORMS(X, S, float, _v2, _v2_64) ORDITO_FORMS(X, D, double, _v2, _v2_64)
#define ORDITO_FOR_COMPLEX_V2(X) \
  ORDITO_FORMS(X, C, cuComplex, _v2, _v2_64) ORDITO_FORMS(X, Z, cuDoubleComplex, _v2, _v2_64)
#define ORDITO_FOR_ALL(X) ORDITO_FOR_REAL(X) ORDITO_FOR_COMPLEX(X)
#define ORDITO_FOR_ALL_V2(X) ORDITO_FOR_REAL_V2(X) ORDITO_FOR_COMPLEX_V2(X)
/// Without 64-bit sizes.
#define ORDITO_FOR_ALL_INT(X) X(S, float) X(D, double) X(C, cuComplex) X(Z, cuDoubleComplex)

}  // namespace ordito::cublas
