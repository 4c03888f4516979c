// cuSOLVER's handles and settings.
#include "libs/cusolver/handle.hpp"

#include <cmath>
#include <cstdio>

#include "libs/version_part.hpp"

namespace ordito::cusolver {
namespace {

template <class Object, class Value>
cusolverStatus_t answer(Object* object, Value* place, Value value) {
  SOLVER_CALL(object, place);
  *place = value;
  return CUSOLVER_STATUS_SUCCESS;
}

template <class Object>
cusolverStatus_t create(Object** place) {
  SOLVER_CHECK(place);
  *place = new Object;
  return CUSOLVER_STATUS_SUCCESS;
}
template <class Object>
cusolverStatus_t destroy(Object* object) {
  SOLVER_CALL(object, true);
  delete object;
  return CUSOLVER_STATUS_SUCCESS;
}

/// Of settings; none is no mistake.
template <class Object>
cusolverStatus_t destroyAny(Object* object) {
  delete object;
  return CUSOLVER_STATUS_SUCCESS;
}

bool hasLapack() {
  static const bool has = cublas::openBlasRoutine("zheevd_") != nullptr;
  if (!has)
    std::fprintf(stderr, "ordito: cuSOLVER needs an OpenBLAS with LAPACK in it (libopenblas0-pthread has it)\n");
  return has;
}

/// The residual of the last call, when the stream has come there. Calls for many matrices have none.
cusolverStatus_t residual(cusolverDnHandle_t handle, const Jacobi* jacobi, double* place) {
  SOLVER_CALL(handle, jacobi && place);
  if (jacobi->isBatched) return CUSOLVER_STATUS_NOT_SUPPORTED;
  const cusolverStatus_t status = statusOf(libs::await(handle->stream));
  if (status != CUSOLVER_STATUS_SUCCESS) return status;
  if (std::isnan(*jacobi->residual)) return CUSOLVER_STATUS_NOT_SUPPORTED;  // that of a call without vectors
  *place = *jacobi->residual;
  return status;
}
cusolverStatus_t sweeps(cusolverDnHandle_t handle, const Jacobi* jacobi, int* place) {
  SOLVER_CALL(handle, jacobi && place);
  if (jacobi->isBatched) return CUSOLVER_STATUS_NOT_SUPPORTED;
  *place = 0;
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t setTolerance(Jacobi* jacobi, double tolerance) {
  SOLVER_CALL(jacobi, tolerance >= 0);
  jacobi->tolerance = tolerance;
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t setMaxSweeps(Jacobi* jacobi, int count) {
  SOLVER_CALL(jacobi, count > 0);
  jacobi->maxSweeps = count;
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t setSort(Jacobi* jacobi, int sorts) {
  SOLVER_CALL(jacobi, true);
  jacobi->sorts = sorts != 0;
  return CUSOLVER_STATUS_SUCCESS;
}

}  // namespace

extern "C" {

cusolverStatus_t cusolverGetProperty(libraryPropertyType type, int* value) {
  const bool told = libs::tellVersionPart(type, CUSOLVER_VER_MAJOR, CUSOLVER_VER_MINOR, CUSOLVER_VER_PATCH, value);
  return told ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_INVALID_VALUE;
}
cusolverStatus_t cusolverGetVersion(int* version) {
  SOLVER_CHECK(version);
  *version = CUSOLVER_VERSION;
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t* handle) {
  SOLVER_CHECK(handle);
  if (!libs::hasContext() || !cublas::loadOpenBlas() || !hasLapack()) return CUSOLVER_STATUS_NOT_INITIALIZED;
  return create(handle);
}
cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle) { return destroy(handle); }
cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t stream) {
  SOLVER_CALL(handle, true);
  handle->stream = stream;
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnGetStream(cusolverDnHandle_t handle, cudaStream_t* stream) {
  return answer(handle, stream, handle ? handle->stream : nullptr);
}
/// Results are always the same for the same input.
cusolverStatus_t cusolverDnSetDeterministicMode(cusolverDnHandle_t handle, cusolverDeterministicMode_t mode) {
  SOLVER_CALL(handle, mode == CUSOLVER_DETERMINISTIC_RESULTS || mode == CUSOLVER_ALLOW_NON_DETERMINISTIC_RESULTS);
  handle->deterministicMode = mode;
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnGetDeterministicMode(cusolverDnHandle_t handle, cusolverDeterministicMode_t* mode) {
  return answer(handle, mode, handle ? handle->deterministicMode : CUSOLVER_DETERMINISTIC_RESULTS);
}
/// Modes permit less precision; nothing here makes use of that.
cusolverStatus_t cusolverDnSetMathMode(cusolverDnHandle_t handle, cusolverMathMode_t mode) {
  SOLVER_CALL(handle, mode == CUSOLVER_DEFAULT_MATH || mode == CUSOLVER_FP32_EMULATED_BF16X9_MATH);
  handle->mathMode = mode;
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnGetMathMode(cusolverDnHandle_t handle, cusolverMathMode_t* mode) {
  return answer(handle, mode, handle ? handle->mathMode : CUSOLVER_DEFAULT_MATH);
}

cusolverStatus_t cusolverDnCreateParams(cusolverDnParams_t* params) { return create(params); }
cusolverStatus_t cusolverDnDestroyParams(cusolverDnParams_t params) { return destroyAny(params); }
/// There is one algorithm for each function.
cusolverStatus_t cusolverDnSetAdvOptions(cusolverDnParams_t params, cusolverDnFunction_t function,
                                         cusolverAlgMode_t algorithm) {
  SOLVER_CHECK(params && function >= CUSOLVERDN_GETRF && function <= CUSOLVERDN_SYEVBATCHED);
  SOLVER_CHECK(algorithm >= CUSOLVER_ALG_0 && algorithm <= CUSOLVER_ALG_2);
  params->algorithms[function] = algorithm;
  return CUSOLVER_STATUS_SUCCESS;
}

#define DEFINE(name, Name)                                                                                        \
  cusolverStatus_t cusolverDnCreate##Name##Info(name##Info_t* info) { return create(info); }                      \
  cusolverStatus_t cusolverDnDestroy##Name##Info(name##Info_t info) { return destroyAny(info); }                  \
  cusolverStatus_t cusolverDnX##name##SetTolerance(name##Info_t info, double v) { return setTolerance(info, v); } \
  cusolverStatus_t cusolverDnX##name##SetMaxSweeps(name##Info_t info, int v) { return setMaxSweeps(info, v); }    \
  cusolverStatus_t cusolverDnX##name##SetSortEig(name##Info_t info, int v) { return setSort(info, v); }           \
  cusolverStatus_t cusolverDnX##name##GetResidual(cusolverDnHandle_t h, name##Info_t info, double* place) {       \
    return residual(h, info, place);                                                                              \
  }                                                                                                               \
  cusolverStatus_t cusolverDnX##name##GetSweeps(cusolverDnHandle_t h, name##Info_t info, int* place) {            \
    return sweeps(h, info, place);                                                                                \
  }
DEFINE(syevj, Syevj)
DEFINE(gesvdj, Gesvdj)
#undef DEFINE

/// Nothing is logged.
cusolverStatus_t cusolverDnLoggerSetCallback(cusolverDnLoggerCallback_t) { return CUSOLVER_STATUS_SUCCESS; }
cusolverStatus_t cusolverDnLoggerSetLevel(int) { return CUSOLVER_STATUS_SUCCESS; }
cusolverStatus_t cusolverDnLoggerSetMask(int) { return CUSOLVER_STATUS_SUCCESS; }
cusolverStatus_t cusolverDnLoggerForceDisable() { return CUSOLVER_STATUS_SUCCESS; }

}  // extern "C"
}  // namespace ordito::cusolver
