// Calls that went with CUDA 11 and that programs without a look at the version still have: triangular solutions and
// incomplete LU factors with one object for what the analysis finds, and matrices in a format that the library keeps to
// itself (HYB).
#include <memory>

#include "libs/cusparse/factors.hpp"

/// What an analysis tells the solution. There is nothing to find, but that one was made.
struct cusparseSolveAnalysisInfo {
  int rows = -1;
};

/// A matrix that lies where the library likes it: by rows, as it came. A task that multiplies by it holds on to the
/// matrix that there was when the call was made.
struct cusparseHybMat {
  struct Content {
    std::vector<int> offsets{0}, indices;
    std::vector<ordito::cublas::ComplexDouble> complex;
    std::vector<double> real;

    template <class T>
    auto& values() {
      if constexpr (ordito::cublas::kIsComplex<T>)
        return complex;
      else
        return real;
    }
  };
  std::shared_ptr<Content> content;
  int rows = 0, columns = 0;
  cudaDataType type = CUDA_R_32F;
};

namespace ordito::cusparse {
namespace {

/// Values and indices may be missing where the offsets, which only the task can read, say that there are none.
cusparseStatus_t check(cusparseHandle_t handle, int m, const cusparseMatDescr* descriptor, const int* offsets) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(m >= 0 && descriptor && (m == 0 || offsets));
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t analyse(cusparseHandle_t handle, cusparseOperation_t op, int m, int count,
                         const cusparseMatDescr* descriptor, const void* values, const int* offsets, const int* indices,
                         cusparseSolveAnalysisInfo* info) {
  if (const cusparseStatus_t bad = check(handle, m, descriptor, offsets)) return bad;
  ORDITO_CHECK(info && count >= 0 && isOperation(op) && (count == 0 || (values && indices)));
  info->rows = m;
  return CUSPARSE_STATUS_SUCCESS;
}

/// The triangle that the descriptor names, of a matrix that may have another one as well.
template <class T>
cusparseStatus_t solveTriangle(cusparseHandle_t handle, cusparseOperation_t op, int m, const T* alpha,
                               const cusparseMatDescr* descriptor, const T* values, const int* offsets,
                               const int* indices, const cusparseSolveAnalysisInfo* info, const T* f, T* x) {
  if (const cusparseStatus_t bad = check(handle, m, descriptor, offsets)) return bad;
  ORDITO_CHECK(info && info->rows == m && alpha && (m == 0 || (f && x)));
  cusparseSpMatDescr a = csrOf(m, m, 0, values, offsets, indices, *descriptor);
  return solveOnce(handle, op, alpha, a, f, x);
}

template <class T>
cusparseStatus_t factor(cusparseHandle_t handle, cusparseOperation_t op, int m, const cusparseMatDescr* descriptor,
                        T* values, const int* offsets, const int* indices, const cusparseSolveAnalysisInfo* info) {
  if (const cusparseStatus_t bad = check(handle, m, descriptor, offsets)) return bad;
  ORDITO_GENERAL(descriptor);
  ORDITO_CHECK(info && info->rows == m && isOperation(op));
  ORDITO_SUPPORTED(op == CUSPARSE_OPERATION_NON_TRANSPOSE);
  return submit(handle, "cusparse csrilu0",
                [=, a = Pattern{m, descriptor->base, offsets, indices}] { factorLu(a, values, Boost<T>{}, noZero()); });
}

/// The copy is made in the stream, so the object is whole when a later call in the stream reads it.
template <class T>
cusparseStatus_t toHybrid(cusparseHandle_t handle, int m, int n, const cusparseMatDescr* descriptor, const T* values,
                          const int* offsets, const int* indices, cusparseHybMat* hybrid,
                          cusparseHybPartition_t partition) {
  if (const cusparseStatus_t bad = check(handle, m, descriptor, offsets)) return bad;
  ORDITO_GENERAL(descriptor);
  ORDITO_CHECK(n >= 0 && hybrid && partition >= CUSPARSE_HYB_PARTITION_AUTO && partition <= CUSPARSE_HYB_PARTITION_MAX);
  const auto content = std::make_shared<cusparseHybMat::Content>();
  *hybrid = {content, m, n, kTypeOf<T>};
  return submit(handle, "cusparse csr2hyb", [=, a = Pattern{m, descriptor->base, offsets, indices}] {
    for (int i = 0; i < m; ++i) {
      for (int k = a.begin(i); k < a.end(i); ++k) {
        content->indices.push_back(a.column(k));
        content->template values<T>().push_back(values[k]);
      }
      content->offsets.push_back(static_cast<int>(content->indices.size()));
    }
  });
}

template <class T>
cusparseStatus_t fromHybrid(cusparseHandle_t handle, const cusparseMatDescr* descriptor, const cusparseHybMat* hybrid,
                            T* values, int* offsets, int* indices) {
  ORDITO_HANDLE(handle);
  ORDITO_GENERAL(descriptor);
  ORDITO_CHECK(hybrid && hybrid->content && hybrid->type == kTypeOf<T> && offsets);
  return submit(handle, "cusparse hyb2csr", [=, content = hybrid->content, base = static_cast<int>(descriptor->base)] {
    for (size_t i = 0; i < content->offsets.size(); ++i) offsets[i] = content->offsets[i] + base;
    for (size_t k = 0; k < content->indices.size(); ++k) {
      indices[k] = content->indices[k] + base;
      values[k] = static_cast<T>(content->template values<T>()[k]);
    }
  });
}

template <class T>
cusparseStatus_t timesHybrid(cusparseHandle_t handle, cusparseOperation_t op, const T* alpha,
                             const cusparseMatDescr* descriptor, const cusparseHybMat* hybrid, const T* x,
                             const T* beta, T* y) {
  ORDITO_HANDLE(handle);
  ORDITO_GENERAL(descriptor);
  ORDITO_CHECK(hybrid && hybrid->content && hybrid->type == kTypeOf<T> && alpha && beta && isOperation(op));
  ORDITO_CHECK((x || hybrid->columns == 0) && (y || hybrid->rows == 0));
  ORDITO_SUPPORTED(op == CUSPARSE_OPERATION_NON_TRANSPOSE);  // as the manual says
  const Scalar one(handle, alpha, kTypeOf<T>), other(handle, beta, kTypeOf<T>);
  return submit(handle, "cusparse hybmv", [=, content = hybrid->content, rows = hybrid->rows] {
    const T first = one.as<T>(), second = other.as<T>();
    eachRow(rows, static_cast<int64_t>(content->indices.size()), [&](int64_t i) {
      T sum{};
      const auto row = static_cast<size_t>(i);
      for (auto k = static_cast<size_t>(content->offsets[row]); k < static_cast<size_t>(content->offsets[row + 1]); ++k)
        sum += multiply(static_cast<T>(content->template values<T>()[k]), x[content->indices[k]]);
      y[i] = multiply(first, sum) + (second == T(0) ? T(0) : multiply(second, y[i]));
    });
  });
}

}  // namespace

extern "C" {

cusparseStatus_t cusparseCreateSolveAnalysisInfo(cusparseSolveAnalysisInfo_t* info) { return makeDescriptor(info); }
cusparseStatus_t cusparseDestroySolveAnalysisInfo(cusparseSolveAnalysisInfo_t info) { return destroyDescriptor(info); }
cusparseStatus_t cusparseCreateHybMat(cusparseHybMat_t* hybrid) { return makeDescriptor(hybrid); }
cusparseStatus_t cusparseDestroyHybMat(cusparseHybMat_t hybrid) { return destroyDescriptor(hybrid); }

#define DEFINE(L, T)                                                                                                  \
  cusparseStatus_t cusparse##L##csrsv_analysis(                                                                       \
      cusparseHandle_t handle, cusparseOperation_t op, int m, int count, const cusparseMatDescr_t descriptor,         \
      const T* values, const int* offsets, const int* indices, cusparseSolveAnalysisInfo_t info) {                    \
    return analyse(handle, op, m, count, descriptor, values, offsets, indices, info);                                 \
  }                                                                                                                   \
  cusparseStatus_t cusparse##L##csrsv_solve(cusparseHandle_t handle, cusparseOperation_t op, int m, const T* alpha,   \
                                            const cusparseMatDescr_t descriptor, const T* values, const int* offsets, \
                                            const int* indices, cusparseSolveAnalysisInfo_t info, const T* f, T* x) { \
    return solveTriangle(handle, op, m, alpha, descriptor, values, offsets, indices, info, f, x);                     \
  }                                                                                                                   \
  cusparseStatus_t cusparse##L##csrilu0(cusparseHandle_t handle, cusparseOperation_t op, int m,                       \
                                        const cusparseMatDescr_t descriptor, T* values, const int* offsets,           \
                                        const int* indices, cusparseSolveAnalysisInfo_t info) {                       \
    return factor(handle, op, m, descriptor, in(values), offsets, indices, info);                                     \
  }                                                                                                                   \
  cusparseStatus_t cusparse##L##csr2hyb(cusparseHandle_t handle, int m, int n, const cusparseMatDescr_t descriptor,   \
                                        const T* values, const int* offsets, const int* indices,                      \
                                        cusparseHybMat_t hybrid, int, cusparseHybPartition_t partition) {             \
    return toHybrid(handle, m, n, descriptor, in(values), offsets, indices, hybrid, partition);                       \
  }                                                                                                                   \
  cusparseStatus_t cusparse##L##hyb2csr(cusparseHandle_t handle, const cusparseMatDescr_t descriptor,                 \
                                        const cusparseHybMat_t hybrid, T* values, int* offsets, int* indices) {       \
    return fromHybrid(handle, descriptor, hybrid, in(values), offsets, indices);                                      \
  }                                                                                                                   \
  cusparseStatus_t cusparse##L##hybmv(cusparseHandle_t handle, cusparseOperation_t op, const T* alpha,                \
                                      const cusparseMatDescr_t descriptor, const cusparseHybMat_t hybrid, const T* x, \
                                      const T* beta, T* y) {                                                          \
    return timesHybrid(handle, op, in(alpha), descriptor, hybrid, in(x), in(beta), in(y));                            \
  }
ORDITO_FOR_TYPES(DEFINE)
#undef DEFINE

}  // extern "C"
}  // namespace ordito::cusparse
