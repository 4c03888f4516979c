// The expert interface of the solvers that compute in a low precision and refine (cusolverDnIRS...). Here they compute
// in the precision of the result, so that nothing is left to refine: no iteration is ever counted, and what is set of
// them is checked, kept and told.
#include "libs/cusolver/handle.hpp"

struct cusolverDnIRSParams {
  cusolverIRSRefinement_t solver = CUSOLVER_IRS_REFINE_NOT_SET;
  int main = 0, lowest = 0;  // precisions, not yet set
  double tolerance = 0, innerTolerance = 0;
  cusolver_int_t iterations = 50, innerIterations = 50;
  bool fallsBack = true;
};
struct cusolverDnIRSInfos {
  cusolver_int_t maxIterations = 0;
};

namespace ordito::cusolver {
namespace {

using Status = cusolverStatus_t;
using Handle = cusolverDnHandle_t;
using Params = cusolverDnIRSParams_t;
using Infos = cusolverDnIRSInfos_t;

#define PARAMS_CALL(params, condition)                              \
  if (!(params)) return CUSOLVER_STATUS_IRS_PARAMS_NOT_INITIALIZED; \
  SOLVER_CHECK(condition)
#define INFOS_CALL(infos, condition)                              \
  if (!(infos)) return CUSOLVER_STATUS_IRS_INFOS_NOT_INITIALIZED; \
  SOLVER_CHECK(condition)

bool isMain(int precision) {
  return precision == CUSOLVER_R_64F || precision == CUSOLVER_R_32F || precision == CUSOLVER_C_64F ||
         precision == CUSOLVER_C_32F;
}
/// Of the same kind, and not above the main one.
bool isLowestOf(int main, int lowest) {
  const bool isComplex = main == CUSOLVER_C_64F || main == CUSOLVER_C_32F;
  const int offset = isComplex ? CUSOLVER_C_64F - CUSOLVER_R_64F : 0;
  const int real = lowest - offset;
  const bool isSingle = main - offset == CUSOLVER_R_32F;
  return (real == CUSOLVER_R_64F && !isSingle) || real == CUSOLVER_R_32F || real == CUSOLVER_R_16F ||
         real == CUSOLVER_R_16BF || real == CUSOLVER_R_TF32;
}

Status problemOf(Params params) {
  if (!params) return CUSOLVER_STATUS_IRS_PARAMS_NOT_INITIALIZED;
  if (!isMain(params->main) || !isLowestOf(params->main, params->lowest))
    return CUSOLVER_STATUS_IRS_PARAMS_INVALID_PREC;
  return params->solver == CUSOLVER_IRS_REFINE_NOT_SET ? CUSOLVER_STATUS_IRS_PARAMS_INVALID_REFINE
                                                       : CUSOLVER_STATUS_SUCCESS;
}

size_t sizeOf(int precision) { return precision == CUSOLVER_R_32F ? 4 : precision == CUSOLVER_C_64F ? 16 : 8; }

/// `call(type)` with a pointer to the main precision's type.
template <class Call>
Status byPrecision(int precision, const Call& call) {
  switch (precision) {
    case CUSOLVER_R_64F: return call(static_cast<double*>(nullptr));
    case CUSOLVER_R_32F: return call(static_cast<float*>(nullptr));
    case CUSOLVER_C_64F: return call(static_cast<cuDoubleComplex*>(nullptr));
    default: return call(static_cast<cuComplex*>(nullptr));
  }
}

template <class T, class... A>
Status gesv(A... a) {
  if constexpr (std::is_same_v<T, float>)
    return cusolverDnSSgesv(a...);
  else if constexpr (std::is_same_v<T, double>)
    return cusolverDnDDgesv(a...);
  else if constexpr (std::is_same_v<T, cuComplex>)
    return cusolverDnCCgesv(a...);
  else
    return cusolverDnZZgesv(a...);
}
template <class T, class... A>
Status gels(A... a) {
  if constexpr (std::is_same_v<T, float>)
    return cusolverDnSSgels(a...);
  else if constexpr (std::is_same_v<T, double>)
    return cusolverDnDDgels(a...);
  else if constexpr (std::is_same_v<T, cuComplex>)
    return cusolverDnCCgels(a...);
  else
    return cusolverDnZZgels(a...);
}

}  // namespace

extern "C" {

Status cusolverDnIRSParamsCreate(Params* params) {
  SOLVER_CHECK(params);
  *params = new cusolverDnIRSParams;
  return CUSOLVER_STATUS_SUCCESS;
}
Status cusolverDnIRSParamsDestroy(Params params) {
  PARAMS_CALL(params, true);
  delete params;
  return CUSOLVER_STATUS_SUCCESS;
}
Status cusolverDnIRSParamsSetRefinementSolver(Params params, cusolverIRSRefinement_t solver) {
  PARAMS_CALL(params, solver >= CUSOLVER_IRS_REFINE_NOT_SET && solver <= CUSOLVER_IRS_REFINE_GMRES_NOPCOND);
  params->solver = solver;
  return CUSOLVER_STATUS_SUCCESS;
}
Status cusolverDnIRSParamsSetSolverMainPrecision(Params params, cusolverPrecType_t precision) {
  PARAMS_CALL(params, true);
  if (!isMain(precision)) return CUSOLVER_STATUS_IRS_PARAMS_INVALID_PREC;
  params->main = precision;
  return CUSOLVER_STATUS_SUCCESS;
}
Status cusolverDnIRSParamsSetSolverLowestPrecision(Params params, cusolverPrecType_t precision) {
  PARAMS_CALL(params, true);
  params->lowest = precision;
  return CUSOLVER_STATUS_SUCCESS;
}
Status cusolverDnIRSParamsSetSolverPrecisions(Params params, cusolverPrecType_t main, cusolverPrecType_t lowest) {
  const Status status = cusolverDnIRSParamsSetSolverMainPrecision(params, main);
  return status != CUSOLVER_STATUS_SUCCESS ? status : cusolverDnIRSParamsSetSolverLowestPrecision(params, lowest);
}
Status cusolverDnIRSParamsSetTol(Params params, double tolerance) {
  PARAMS_CALL(params, true);
  params->tolerance = tolerance;
  return CUSOLVER_STATUS_SUCCESS;
}
Status cusolverDnIRSParamsSetTolInner(Params params, double tolerance) {
  PARAMS_CALL(params, true);
  params->innerTolerance = tolerance;
  return CUSOLVER_STATUS_SUCCESS;
}
Status cusolverDnIRSParamsSetMaxIters(Params params, cusolver_int_t iterations) {
  PARAMS_CALL(params, iterations >= 0);
  params->iterations = iterations;
  return CUSOLVER_STATUS_SUCCESS;
}
Status cusolverDnIRSParamsSetMaxItersInner(Params params, cusolver_int_t iterations) {
  PARAMS_CALL(params, iterations >= 0);
  params->innerIterations = iterations;
  return CUSOLVER_STATUS_SUCCESS;
}
Status cusolverDnIRSParamsGetMaxIters(Params params, cusolver_int_t* iterations) {
  PARAMS_CALL(params, iterations);
  *iterations = params->iterations;
  return CUSOLVER_STATUS_SUCCESS;
}
Status cusolverDnIRSParamsEnableFallback(Params params) {
  PARAMS_CALL(params, true);
  params->fallsBack = true;
  return CUSOLVER_STATUS_SUCCESS;
}
Status cusolverDnIRSParamsDisableFallback(Params params) {
  PARAMS_CALL(params, true);
  params->fallsBack = false;
  return CUSOLVER_STATUS_SUCCESS;
}

Status cusolverDnIRSInfosCreate(Infos* infos) {
  SOLVER_CHECK(infos);
  *infos = new cusolverDnIRSInfos;
  return CUSOLVER_STATUS_SUCCESS;
}
Status cusolverDnIRSInfosDestroy(Infos infos) {
  INFOS_CALL(infos, true);
  delete infos;
  return CUSOLVER_STATUS_SUCCESS;
}
Status cusolverDnIRSInfosGetNiters(Infos infos, cusolver_int_t* iterations) {
  INFOS_CALL(infos, iterations);
  *iterations = 0;
  return CUSOLVER_STATUS_SUCCESS;
}
Status cusolverDnIRSInfosGetOuterNiters(Infos infos, cusolver_int_t* iterations) {
  return cusolverDnIRSInfosGetNiters(infos, iterations);
}
Status cusolverDnIRSInfosGetMaxIters(Infos infos, cusolver_int_t* iterations) {
  INFOS_CALL(infos, iterations);
  *iterations = infos->maxIterations;
  return CUSOLVER_STATUS_SUCCESS;
}

Status cusolverDnIRSXgesv_bufferSize(Handle h, Params params, cusolver_int_t n, cusolver_int_t columns, size_t* bytes) {
  SOLVER_CALL(h, n >= 0 && columns >= 0 && bytes);
  if (const Status problem = problemOf(params)) return problem;
  *bytes = sizeOf(params->main);
  return CUSOLVER_STATUS_SUCCESS;
}
Status cusolverDnIRSXgesv(Handle h, Params params, Infos infos, cusolver_int_t n, cusolver_int_t columns, void* a,
                          cusolver_int_t lda, void* b, cusolver_int_t ldb, void* x, cusolver_int_t ldx, void* work,
                          size_t bytes, cusolver_int_t* iterations, cusolver_int_t* info) {
  SOLVER_CALL(h, true);
  if (const Status problem = problemOf(params)) return problem;
  INFOS_CALL(infos, true);
  infos->maxIterations = params->iterations;
  return byPrecision(params->main, [&]<class T>(T*) {
    return gesv<T>(h, n, columns, static_cast<T*>(a), lda, static_cast<int*>(nullptr), static_cast<T*>(b), ldb,
                   static_cast<T*>(x), ldx, work, bytes, iterations, info);
  });
}
Status cusolverDnIRSXgels_bufferSize(Handle h, Params params, cusolver_int_t m, cusolver_int_t n,
                                     cusolver_int_t columns, size_t* bytes) {
  SOLVER_CALL(h, m >= 0 && n >= 0 && columns >= 0 && bytes);
  if (const Status problem = problemOf(params)) return problem;
  *bytes = sizeOf(params->main);
  return CUSOLVER_STATUS_SUCCESS;
}
Status cusolverDnIRSXgels(Handle h, Params params, Infos infos, cusolver_int_t m, cusolver_int_t n,
                          cusolver_int_t columns, void* a, cusolver_int_t lda, void* b, cusolver_int_t ldb, void* x,
                          cusolver_int_t ldx, void* work, size_t bytes, cusolver_int_t* iterations,
                          cusolver_int_t* info) {
  SOLVER_CALL(h, true);
  if (const Status problem = problemOf(params)) return problem;
  INFOS_CALL(infos, true);
  infos->maxIterations = params->iterations;
  return byPrecision(params->main, [&]<class T>(T*) {
    return gels<T>(h, m, n, columns, static_cast<T*>(a), lda, static_cast<T*>(b), ldb, static_cast<T*>(x), ldx, work,
                   bytes, iterations, info);
  });
}

}  // extern "C"
}  // namespace ordito::cusolver
