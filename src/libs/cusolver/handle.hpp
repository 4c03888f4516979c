// What is behind cuSOLVER's handles, and how a call becomes a task in the handle's stream. The work is LAPACK's; areas
// for it are the task's own, so that programs get the smallest size there is when they ask for one, and theirs is not
// touched.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <utility>

#include "cusolverDn.h"
#include "libs/cublas/handle.hpp"

struct cusolverDnContext {
  cudaStream_t stream = nullptr;
  cusolverDeterministicMode_t deterministicMode = CUSOLVER_DETERMINISTIC_RESULTS;
  cusolverMathMode_t mathMode = CUSOLVER_DEFAULT_MATH;
};
struct cusolverDnParams {
  cusolverAlgMode_t algorithms[3] = {};
};

namespace ordito::cusolver {

using cublas::areCountable;
using cublas::in;
using cublas::inArray;
using cublas::Inner;
using cublas::isDiagonal;
using cublas::isFill;
using cublas::isOperation;
using cublas::isSide;
using cublas::letter;

/// The settings of the Jacobi methods, and what the last call with them left. Answers are found another way, so that no
/// sweep is ever done; the residual is that of what was computed.
struct Jacobi {
  double tolerance = 0;
  int maxSweeps = 100;
  bool sorts = true;
  bool isBatched = false;
  std::shared_ptr<double> residual = std::make_shared<double>(0);
};

/// What cannot be launched is said to have failed: a stream that is gone, a task that met a fault.
inline cusolverStatus_t statusOf(CUresult result) {
  return result == CUDA_SUCCESS ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_EXECUTION_FAILED;
}

template <class Task>
cusolverStatus_t submit(cusolverDnHandle_t handle, const std::string& name, Task task, libs::Work work = {}) {
  return statusOf(libs::enqueue(handle->stream, name.c_str(), std::function<void()>(std::move(task)), work));
}
/// The task's answer goes to `info`, which is the device's and may be null.
template <class Task>
cusolverStatus_t submitWithInfo(cusolverDnHandle_t handle, const std::string& name, int* info, const Task& task,
                                double operations = 0) {
  return submit(handle, name,
                [=] {
                  const int answer = task();
                  if (info) *info = answer;
                },
                {operations, 0});
}

/// What refuses an argument, the first of which has the number 1 and the handle none: its number is the info's, too.
inline cusolverStatus_t refuse(cusolverDnHandle_t handle, const std::string& name, int* info, int argument) {
  const cusolverStatus_t told = submitWithInfo(handle, name, info, [=] { return -argument; });
  return told == CUSOLVER_STATUS_SUCCESS ? CUSOLVER_STATUS_INVALID_VALUE : told;
}
/// The number of the first argument of these that is wrong; 0: none.
inline int firstWrong(std::initializer_list<std::pair<int, bool>> arguments) {
  for (const auto& [number, isRight] : arguments)
    if (!isRight) return number;
  return 0;
}

inline bool isEigenMode(cusolverEigMode_t mode) {
  return mode == CUSOLVER_EIG_MODE_NOVECTOR || mode == CUSOLVER_EIG_MODE_VECTOR;
}
inline bool isLeading(int64_t leading, int64_t rows) { return leading >= std::max<int64_t>(1, rows); }
inline const char* letter(cusolverEigMode_t mode) { return mode == CUSOLVER_EIG_MODE_VECTOR ? "V" : "N"; }

/// The size of a work area: one element, see above.
inline cusolverStatus_t tellSize(cusolverDnHandle_t handle, bool isValid, int* size) {
  if (!handle) return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (!isValid || !size) return CUSOLVER_STATUS_INVALID_VALUE;
  *size = 1;
  return CUSOLVER_STATUS_SUCCESS;
}

/// Operations of a routine on a matrix, which are four times as many if its numbers are complex.
template <class T>
double operations(double real) {
  return real * (cublas::kIsComplex<T> ? 4 : 1);
}
inline double cube(int64_t n) { return static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n); }

/// The function's name in the typed interface, for the profiler and for faults. It may differ for complex numbers.
template <class T>
std::string nameOf(const char* real, const char* complex = nullptr) {
  constexpr char kLetters[] = {'S', 'D', 'C', 'Z'};
  const char letter = kLetters[2 * cublas::kIsComplex<T> + (sizeof(cublas::Real<T>) == 8)];
  return std::string("cusolverDn") + letter + (cublas::kIsComplex<T> && complex ? complex : real);
}

/// X(letters, type): the precisions of the result, and of what a call with refinement may compute in.
// clang-format off
#define ORDITO_FOR_PRECISIONS(X)                                                                                 \
  X(ZZ, cuDoubleComplex) X(ZC, cuDoubleComplex) X(ZK, cuDoubleComplex) X(ZE, cuDoubleComplex)                    \
  X(ZY, cuDoubleComplex) X(CC, cuComplex) X(CE, cuComplex) X(CK, cuComplex) X(CY, cuComplex)                     \
  X(DD, double) X(DS, double) X(DH, double) X(DB, double) X(DX, double)                                          \
  X(SS, float) X(SH, float) X(SB, float) X(SX, float)
// clang-format on

#define SOLVER_CHECK(condition) \
  if (!(condition)) return CUSOLVER_STATUS_INVALID_VALUE
/// The first line of every call.
#define SOLVER_CALL(handle, condition)                   \
  if (!(handle)) return CUSOLVER_STATUS_NOT_INITIALIZED; \
  SOLVER_CHECK(condition)

}  // namespace ordito::cusolver

struct syevjInfo : ordito::cusolver::Jacobi {};
struct gesvdjInfo : ordito::cusolver::Jacobi {};
