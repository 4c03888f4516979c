// Incomplete factorizations of CSR matrices, and the triangular solutions of the older interface.
#include "libs/cusparse/factors.hpp"

/// What the analysis leaves for the solution: where a pivot is 0.
struct csrilu02Info : ordito::cusparse::BoostSetting {
  ordito::cusparse::FirstZero zero = ordito::cusparse::noZero();
};
struct csric02Info {
  ordito::cusparse::FirstZero zero = ordito::cusparse::noZero();
};
struct csrsv2Info {
  ordito::cusparse::FirstZero zero = ordito::cusparse::noZero();
};

namespace ordito::cusparse {
namespace {

/// The rows without an entry on the diagonal, or, if there are values, with a 0 there.
template <class T>
void reportZeros(const Pattern& a, const T* values, const FirstZero& zero) {
  for (int i = 0; i < a.rows; ++i) {
    bool hasPivot = false;
    for (int k = a.begin(i); k < a.end(i); ++k) hasPivot |= a.column(k) == i && (!values || values[k] != T(0));
    if (!hasPivot) return report(zero, i + a.base);
  }
}

/// What every call checks.
cusparseStatus_t check(cusparseHandle_t handle, int m, int count, const cusparseMatDescr* descriptor,
                       const void* values, const int* offsets, const int* indices, const void* info) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(m >= 0 && count >= 0 && info && (m == 0 || offsets) && (count == 0 || (values && indices)));
  ORDITO_GENERAL(descriptor);
  return CUSPARSE_STATUS_SUCCESS;
}

#define CHECK_ALL(values) \
  if (const cusparseStatus_t status = check(handle, m, count, descriptor, values, offsets, indices, info)) return status

template <class Info>
cusparseStatus_t analyse(cusparseHandle_t handle, int m, int count, const cusparseMatDescr* descriptor,
                         const void* values, const int* offsets, const int* indices, Info* info) {
  CHECK_ALL(values);
  info->zero = noZero();
  return submit(handle, "cusparse analysis", [zero = info->zero, a = Pattern{m, descriptor->base, offsets, indices}] {
    reportZeros<float>(a, nullptr, zero);
  });
}

template <class T>
cusparseStatus_t luOf(cusparseHandle_t handle, int m, int count, const cusparseMatDescr* descriptor, T* values,
                      const int* offsets, const int* indices, const csrilu02Info* info) {
  CHECK_ALL(values);
  return submit(handle, "cusparse csrilu02",
                [=, zero = info->zero, boost = BoostOfCall<T>(handle, *info),
                 a = Pattern{m, descriptor->base, offsets, indices}] { factorLu(a, values, boost.inTask(), zero); });
}

template <class T>
cusparseStatus_t choleskyOf(cusparseHandle_t handle, int m, int count, const cusparseMatDescr* descriptor, T* values,
                            const int* offsets, const int* indices, const csric02Info* info) {
  CHECK_ALL(values);
  return submit(handle, "cusparse csric02", [=, zero = info->zero, a = Pattern{m, descriptor->base, offsets, indices}] {
    factorCholesky(a, values, zero);
  });
}

/// By the generic interface's solution.
template <class T>
cusparseStatus_t solveOf(cusparseHandle_t handle, cusparseOperation_t op, int m, int count, const T* alpha,
                         const cusparseMatDescr* descriptor, const T* values, const int* offsets, const int* indices,
                         const csrsv2Info* info, const T* f, T* x) {
  CHECK_ALL(values);
  ORDITO_CHECK(isOperation(op) && alpha && (m == 0 || (f && x)));
  cusparseSpMatDescr a = csrOf(m, m, count, values, offsets, indices, *descriptor);
  if (descriptor->diagonal == CUSPARSE_DIAG_TYPE_NON_UNIT) {
    const cusparseStatus_t status =
        submit(handle, "cusparse csrsv2",
               [zero = info->zero, values = in(values), p = Pattern{m, descriptor->base, offsets, indices}] {
                 reportZeros(p, values, zero);
               });
    if (status != CUSPARSE_STATUS_SUCCESS) return status;
  }
  return solveOnce(handle, op, alpha, a, f, x);
}

}  // namespace

extern "C" {

ORDITO_PIVOT_INFO(Csrilu02, csrilu02)
ORDITO_PIVOT_INFO(Csric02, csric02)
ORDITO_PIVOT_INFO(Csrsv2, csrsv2)

#define DEFINE_FACTORIZATION(L, T, name, factorize)                                                                   \
  cusparseStatus_t cusparse##L##name##_bufferSize(cusparseHandle_t handle, int m, int count,                          \
                                                  const cusparseMatDescr_t descriptor, T* values, const int* offsets, \
                                                  const int* indices, name##Info_t info, int* size) {                 \
    CHECK_ALL(values);                                                                                                \
    ORDITO_CHECK(m > 0);                                                                                              \
    return tellBufferSize(size);                                                                                      \
  }                                                                                                                   \
  cusparseStatus_t cusparse##L##name##_analysis(                                                                      \
      cusparseHandle_t handle, int m, int count, const cusparseMatDescr_t descriptor, const T* values,                \
      const int* offsets, const int* indices, name##Info_t info, cusparseSolvePolicy_t, void*) {                      \
    return analyse(handle, m, count, descriptor, values, offsets, indices, info);                                     \
  }                                                                                                                   \
  cusparseStatus_t cusparse##L##name(cusparseHandle_t handle, int m, int count, const cusparseMatDescr_t descriptor,  \
                                     T* values, const int* offsets, const int* indices, name##Info_t info,            \
                                     cusparseSolvePolicy_t, void*) {                                                  \
    return factorize(handle, m, count, descriptor, in(values), offsets, indices, info);                               \
  }
#define DEFINE(L, T)                                                                                                  \
  DEFINE_FACTORIZATION(L, T, csrilu02, luOf)                                                                          \
  DEFINE_FACTORIZATION(L, T, csric02, choleskyOf)                                                                     \
  cusparseStatus_t cusparse##L##csrilu02_numericBoost(cusparseHandle_t handle, csrilu02Info_t info, int isOn,         \
                                                      double* tolerance, T* value) {                                  \
    return setBoost(handle, info, isOn, tolerance, value);                                                            \
  }                                                                                                                   \
  cusparseStatus_t cusparse##L##csrsv2_bufferSize(cusparseHandle_t handle, cusparseOperation_t, int m, int count,     \
                                                  const cusparseMatDescr_t descriptor, T* values, const int* offsets, \
                                                  const int* indices, csrsv2Info_t info, int* size) {                 \
    CHECK_ALL(values);                                                                                                \
    return tellBufferSize(size);                                                                                      \
  }                                                                                                                   \
  cusparseStatus_t cusparse##L##csrsv2_analysis(                                                                      \
      cusparseHandle_t handle, cusparseOperation_t, int m, int count, const cusparseMatDescr_t descriptor,            \
      const T* values, const int* offsets, const int* indices, csrsv2Info_t info, cusparseSolvePolicy_t, void*) {     \
    if (descriptor && descriptor->diagonal == CUSPARSE_DIAG_TYPE_UNIT) {                                              \
      CHECK_ALL(values);                                                                                              \
      static_cast<csrsv2Info*>(info)->zero = noZero();                                                                \
      return CUSPARSE_STATUS_SUCCESS;                                                                                 \
    }                                                                                                                 \
    return analyse(handle, m, count, descriptor, values, offsets, indices, static_cast<csrsv2Info*>(info));           \
  }                                                                                                                   \
  cusparseStatus_t cusparse##L##csrsv2_solve(cusparseHandle_t handle, cusparseOperation_t op, int m, int count,       \
                                             const T* alpha, const cusparseMatDescr_t descriptor, const T* values,    \
                                             const int* offsets, const int* indices, csrsv2Info_t info, const T* f,   \
                                             T* x, cusparseSolvePolicy_t, void*) {                                    \
    return solveOf(handle, op, m, count, alpha, descriptor, values, offsets, indices, static_cast<csrsv2Info*>(info), \
                   f, x);                                                                                             \
  }
ORDITO_FOR_TYPES(DEFINE)
#undef DEFINE
#undef DEFINE_FACTORIZATION

}  // extern "C"
}  // namespace ordito::cusparse
