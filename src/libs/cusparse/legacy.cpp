// Calls of CUDA 11 and before that later versions left out: products and sums of CSR matrices with patterns counted
// first, triangular systems with many right sides, a dense matrix times a sparse one, and vectors with few entries.
#include <atomic>
#include <memory>
#include <optional>

#include "libs/cusparse/sparse_product.hpp"
#include "libs/cusparse/typed.hpp"

struct csrgemm2Info {};
/// What the analysis leaves: the first row without a diagonal, with its base; -1 if there is none.
struct csrsm2Info {
  std::shared_ptr<std::atomic<int>> zero = std::make_shared<std::atomic<int>>(-1);
};

namespace ordito::cusparse {
namespace {

/// A CSR matrix as the calls name it.
template <class T>
struct Operand {
  const cusparseMatDescr* descriptor;
  int count;
  const T* values;
  const int *offsets, *indices;

  cusparseStatus_t problem() const {
    ORDITO_GENERAL(descriptor);
    ORDITO_CHECK(count >= 0 && offsets && (count == 0 || indices));
    return CUSPARSE_STATUS_SUCCESS;
  }
  cusparseSpMatDescr matrix(int rows, int columns) const {
    return csrOf(rows, columns, count, values, offsets, indices, *descriptor);
  }
};

/// alpha op(A) op(B) + beta D, of which A B or D may be absent.
template <class T>
struct Sum {
  cusparseSpMatDescr a{}, b{}, d{};
  cusparseOperation_t opA = CUSPARSE_OPERATION_NON_TRANSPOSE, opB = CUSPARSE_OPERATION_NON_TRANSPOSE;
  bool hasProduct = false, hasOther = false;

  /// In the place of what is absent is a matrix without entries.
  Product compute(T alpha, T beta) const {
    cusparseSpMatDescr left = a, right = b;
    const std::vector<int> none(static_cast<size_t>(std::max(d.rows, d.columns)) + 1);
    if (!hasProduct) {
      left = d, left.columns = 0, left.count = 0, left.base = CUSPARSE_INDEX_BASE_ZERO;
      left.offsets = const_cast<int*>(none.data());
      right = left, right.rows = 0, right.columns = d.columns;
    }
    Product product;
    SparseProduct<T>(left, opA, right, opB, hasOther ? &d : nullptr, alpha, beta).compute(product);
    return product;
  }
};

template <class T>
cusparseStatus_t sumOf(cusparseOperation_t opA, cusparseOperation_t opB, int m, int n, int k, const Operand<T>* a,
                       const Operand<T>* b, const Operand<T>* d, Sum<T>* sum) {
  ORDITO_CHECK(m >= 0 && n >= 0 && k >= 0 && isOperation(opA) && isOperation(opB));
  for (const Operand<T>* each : {a, b, d})
    if (each)
      if (const cusparseStatus_t bad = each->problem()) return bad;
  sum->hasProduct = a && b, sum->hasOther = d != nullptr;
  sum->opA = opA, sum->opB = opB;
  if (sum->hasProduct) {
    sum->a = isTurned(opA) ? a->matrix(k, m) : a->matrix(m, k);
    sum->b = isTurned(opB) ? b->matrix(n, k) : b->matrix(k, n);
  }
  if (d) sum->d = d->matrix(m, n);
  ORDITO_CHECK(sum->hasProduct || d);
  return CUSPARSE_STATUS_SUCCESS;
}

/// Offsets of the result, and how many entries there are.
cusparseStatus_t countSum(cusparseHandle_t handle, const char* name, const Sum<float>& sum,
                          const cusparseMatDescr* result, int* offsets, int* total) {
  ORDITO_GENERAL(result);
  ORDITO_CHECK(offsets && total);
  return submitForNumber(handle, name, [=, base = static_cast<int>(result->base)] {
    std::vector<float> a, b, d;
    Sum<float> pattern = sum;
    pattern.a = patternOf(sum.a, a), pattern.b = patternOf(sum.b, b), pattern.d = patternOf(sum.d, d);
    const Product product = pattern.compute(1, 1);
    std::ranges::transform(product.offsets, offsets, [&](int64_t at) { return static_cast<int>(at) + base; });
    *total = static_cast<int>(product.columns.size());
  });
}

/// `alpha` and `beta` null for 1.
template <class T>
cusparseStatus_t computeSum(cusparseHandle_t handle, const char* name, const T* alpha, const T* beta, const Sum<T>& sum,
                            const cusparseMatDescr* result, T* values, int* indices) {
  ORDITO_GENERAL(result);
  std::optional<Scalar> first, second;
  if (alpha) first.emplace(handle, alpha, kTypeOf<T>);
  if (beta) second.emplace(handle, beta, kTypeOf<T>);
  return submit(handle, name, [=, base = static_cast<int>(result->base)] {
    const Product product =
        sum.compute(first ? first->template as<T>() : T(1), second ? second->template as<T>() : T(1));
    for (size_t k = 0; k < product.columns.size(); ++k) {
      indices[k] = static_cast<int>(product.columns[k]) + base;
      values[k] = converted<T>(product.values[k]);
    }
  });
}

/// C = alpha A B + beta C with a dense A and a B by columns.
template <class T>
cusparseStatus_t denseTimesSparse(cusparseHandle_t handle, int m, int n, int k, const T* alpha, const T* a, int lda,
                                  const T* values, const int* offsets, const int* rows, const T* beta, T* c, int ldc) {
  ORDITO_CHECK(m >= 0 && n >= 0 && k >= 0 && alpha && beta && lda >= std::max(1, m) && ldc >= std::max(1, m));
  ORDITO_CHECK(n == 0 || (offsets && (m == 0 || c)));
  const Scalar one(handle, alpha, kTypeOf<T>), other(handle, beta, kTypeOf<T>);
  return submit(handle, "cusparse gemmi", [=] {
    const T first = one.template as<T>(), second = other.template as<T>();
    eachRow(n, n > 0 ? static_cast<int64_t>(offsets[n] - offsets[0]) * m : 0, [&](int64_t j) {
      T* const column = c + j * ldc;
      for (int i = 0; i < m; ++i) column[i] = second == T(0) ? T(0) : multiply(second, column[i]);
      for (int at = offsets[j]; at < offsets[j + 1]; ++at) {
        const T factor = multiply(first, values[at]);
        for (int i = 0; i < m; ++i) column[i] += multiply(factor, a[i + static_cast<int64_t>(rows[at]) * lda]);
      }
    });
  });
}

template <class T>
cusparseStatus_t solveMany(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB, int m,
                           int columns, const T* alpha, const Operand<T>& a, T* b, int ldb) {
  ORDITO_GENERAL(a.descriptor);
  ORDITO_CHECK(m >= 0 && columns >= 0 && alpha && isOperation(opA) && isOperation(opB));
  ORDITO_SUPPORTED(opB != CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE);
  ORDITO_CHECK(ldb >= std::max(1, isTurned(opB) ? columns : m));
  if (m == 0 || columns == 0) return CUSPARSE_STATUS_SUCCESS;
  ORDITO_CHECK(b && a.offsets);
  cusparseSpMatDescr matrix = a.matrix(m, m);
  cusparseDnMatDescr right = isTurned(opB) ? denseOf(columns, m, ldb, b) : denseOf(m, columns, ldb, b);
  // The solution takes the right sides' place: of a turned one as its rows.
  cusparseDnMatDescr solution = denseOf(m, columns, ldb, b);
  if (isTurned(opB)) solution.order = CUSPARSE_ORDER_ROW;
  cusparseSpSMDescr_t plan = nullptr;
  cusparseSpSM_createDescr(&plan);
  const cusparseStatus_t status = cusparseSpSM_solve(handle, opA, opB, alpha, &matrix, &right, &solution, matrix.type,
                                                     CUSPARSE_SPSM_ALG_DEFAULT, plan);
  cusparseSpSM_destroyDescr(plan);
  return status;
}

cusparseStatus_t findMissingDiagonal(cusparseHandle_t handle, int m, const Pattern& a, const csrsm2Info* info) {
  return submit(handle, "cusparse csrsm2_analysis", [=, zero = info->zero] {
    *zero = -1;
    for (int row = 0; row < m && *zero < 0; ++row) {
      bool isThere = false;
      for (int k = a.begin(row); k < a.end(row); ++k) isThere |= a.column(k) == row;
      if (!isThere) *zero = row + a.base;
    }
  });
}

/// body(k, place in the dense vector) in a task.
template <class Body>
cusparseStatus_t eachOfFew(cusparseHandle_t handle, const char* name, int count, const int* indices,
                           cusparseIndexBase_t base, const Body& body) {
  ORDITO_CHECK(count >= 0 && isBase(base) && (count == 0 || indices));
  return submit(handle, name, [=] {
    for (int k = 0; k < count; ++k) body(k, indices[k] - base);
  });
}

template <bool Conjugate, class T>
cusparseStatus_t dotOfFew(cusparseHandle_t handle, int count, const T* x, const int* indices, const T* y, T* result,
                          cusparseIndexBase_t base) {
  ORDITO_CHECK(count >= 0 && isBase(base) && result && (count == 0 || (x && indices && y)));
  return submitForNumber(handle, "cusparse doti", [=] {
    T sum{};
    for (int k = 0; k < count; ++k) sum += multiply(cublas::conjugateIf<Conjugate>(x[k]), y[indices[k] - base]);
    *result = sum;
  });
}

template <class T>
cusparseStatus_t rotate(cusparseHandle_t handle, int count, T* x, const int* indices, T* y, const T* c, const T* s,
                        cusparseIndexBase_t base) {
  ORDITO_CHECK(c && s);
  const Scalar cosine(handle, c, kTypeOf<T>), sine(handle, s, kTypeOf<T>);
  return eachOfFew(handle, "cusparse roti", count, indices, base, [=](int k, int at) {
    const T one = x[k], other = y[at], cc = cosine.template as<T>(), ss = sine.template as<T>();
    x[k] = cc * one + ss * other, y[at] = cc * other - ss * one;
  });
}

}  // namespace

extern "C" {

ORDITO_INFO(Csrgemm2, csrgemm2)
ORDITO_INFO(Csrsm2, csrsm2)

#define PATTERN(x) const cusparseMatDescr_t d##x, int nnz##x, const int *offsets##x, const int *indices##x
#define NOBODY const cusparseMatDescr_t, int, const int*, const int*
#define ENTRIES(x, T) \
  const cusparseMatDescr_t d##x, int nnz##x, const T *values##x, const int *offsets##x, const int *indices##x

cusparseStatus_t cusparseXcsrgemmNnz(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB, int m,
                                     int n, int k, PATTERN(A), PATTERN(B), const cusparseMatDescr_t dC, int* offsetsC,
                                     int* total) {
  ORDITO_HANDLE(handle);
  const Operand<float> a{dA, nnzA, nullptr, offsetsA, indicesA}, b{dB, nnzB, nullptr, offsetsB, indicesB};
  Sum<float> sum;
  if (const cusparseStatus_t bad = sumOf<float>(opA, opB, m, n, k, &a, &b, nullptr, &sum)) return bad;
  return countSum(handle, "cusparse csrgemmNnz", sum, dC, offsetsC, total);
}
/// The product is there without `alpha`, the other matrix without `beta`, if the later call has these.
cusparseStatus_t cusparseXcsrgemm2Nnz(cusparseHandle_t handle, int m, int n, int k, PATTERN(A), PATTERN(B), PATTERN(D),
                                      const cusparseMatDescr_t dC, int* offsetsC, int* total, const csrgemm2Info_t info,
                                      void*) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(info);
  const Operand<float> a{dA, nnzA, nullptr, offsetsA, indicesA}, b{dB, nnzB, nullptr, offsetsB, indicesB};
  const Operand<float> d{dD, nnzD, nullptr, offsetsD, indicesD};
  const auto op = CUSPARSE_OPERATION_NON_TRANSPOSE;
  Sum<float> sum;
  const bool hasProduct = offsetsA && offsetsB;
  if (const cusparseStatus_t bad = sumOf<float>(op, op, m, n, k, hasProduct ? &a : nullptr, hasProduct ? &b : nullptr,
                                                offsetsD ? &d : nullptr, &sum))
    return bad;
  return countSum(handle, "cusparse csrgemm2Nnz", sum, dC, offsetsC, total);
}
cusparseStatus_t cusparseXcsrgeamNnz(cusparseHandle_t handle, int m, int n, PATTERN(A), PATTERN(B),
                                     const cusparseMatDescr_t dC, int* offsetsC, int* total) {
  return cusparseXcsrgeam2Nnz(handle, m, n, dA, nnzA, offsetsA, indicesA, dB, nnzB, offsetsB, indicesB, dC, offsetsC,
                              total, nullptr);
}
cusparseStatus_t cusparseXcsrsm2_zeroPivot(cusparseHandle_t handle, csrsm2Info_t info, int* position) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(info && position);
  const cusparseStatus_t status =
      submitForNumber(handle, "cusparse csrsm2_zeroPivot",
                      [position, zero = static_cast<csrsm2Info*>(info)->zero] { *position = *zero; });
  if (status != CUSPARSE_STATUS_SUCCESS || handle->pointerMode == CUSPARSE_POINTER_MODE_DEVICE) return status;
  return *position < 0 ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_ZERO_PIVOT;
}

#define DEFINE(L, T)                                                                                                   \
  cusparseStatus_t cusparse##L##csrgemm(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB,     \
                                        int m, int n, int k, ENTRIES(A, T), ENTRIES(B, T),                             \
                                        const cusparseMatDescr_t dC, T* valuesC, const int*, int* indicesC) {          \
    ORDITO_HANDLE(handle);                                                                                             \
    using I = Inner<T>;                                                                                                \
    const Operand<I> a{dA, nnzA, in(valuesA), offsetsA, indicesA}, b{dB, nnzB, in(valuesB), offsetsB, indicesB};       \
    Sum<I> sum;                                                                                                        \
    if (const cusparseStatus_t bad = sumOf<I>(opA, opB, m, n, k, &a, &b, nullptr, &sum)) return bad;                   \
    return computeSum<I>(handle, "cusparse csrgemm", nullptr, nullptr, sum, dC, in(valuesC), indicesC);                \
  }                                                                                                                    \
  cusparseStatus_t cusparse##L##csrgemm2_bufferSizeExt(cusparseHandle_t handle, int m, int n, int k, const T*, NOBODY, \
                                                       NOBODY, const T*, NOBODY, csrgemm2Info_t info, size_t* size) {  \
    ORDITO_HANDLE(handle);                                                                                             \
    ORDITO_CHECK(m >= 0 && n >= 0 && k >= 0 && info);                                                                  \
    return tellBufferSize(size);                                                                                       \
  }                                                                                                                    \
  cusparseStatus_t cusparse##L##csrgemm2(cusparseHandle_t handle, int m, int n, int k, const T* alpha, ENTRIES(A, T),  \
                                         ENTRIES(B, T), const T* beta, ENTRIES(D, T), const cusparseMatDescr_t dC,     \
                                         T* valuesC, const int*, int* indicesC, const csrgemm2Info_t info, void*) {    \
    ORDITO_HANDLE(handle);                                                                                             \
    ORDITO_CHECK(info);                                                                                                \
    using I = Inner<T>;                                                                                                \
    const Operand<I> a{dA, nnzA, in(valuesA), offsetsA, indicesA}, b{dB, nnzB, in(valuesB), offsetsB, indicesB};       \
    const Operand<I> d{dD, nnzD, in(valuesD), offsetsD, indicesD};                                                     \
    const auto op = CUSPARSE_OPERATION_NON_TRANSPOSE;                                                                  \
    Sum<I> sum;                                                                                                        \
    if (const cusparseStatus_t bad =                                                                                   \
            sumOf<I>(op, op, m, n, k, alpha ? &a : nullptr, alpha ? &b : nullptr, beta ? &d : nullptr, &sum))          \
      return bad;                                                                                                      \
    return computeSum<I>(handle, "cusparse csrgemm2", in(alpha), in(beta), sum, dC, in(valuesC), indicesC);            \
  }                                                                                                                    \
  cusparseStatus_t cusparse##L##csrgeam(cusparseHandle_t handle, int m, int n, const T* alpha, ENTRIES(A, T),          \
                                        const T* beta, ENTRIES(B, T), const cusparseMatDescr_t dC, T* valuesC,         \
                                        int* offsetsC, int* indicesC) {                                                \
    return cusparse##L##csrgeam2(handle, m, n, alpha, dA, nnzA, valuesA, offsetsA, indicesA, beta, dB, nnzB, valuesB,  \
                                 offsetsB, indicesB, dC, valuesC, offsetsC, indicesC, nullptr);                        \
  }                                                                                                                    \
  cusparseStatus_t cusparse##L##gemmi(cusparseHandle_t handle, int m, int n, int k, int, const T* alpha, const T* a,   \
                                      int lda, const T* values, const int* offsets, const int* rows, const T* beta,    \
                                      T* c, int ldc) {                                                                 \
    ORDITO_HANDLE(handle);                                                                                             \
    return denseTimesSparse(handle, m, n, k, in(alpha), in(a), lda, in(values), offsets, rows, in(beta), in(c), ldc);  \
  }                                                                                                                    \
  cusparseStatus_t cusparse##L##csrsm2_bufferSizeExt(                                                                  \
      cusparseHandle_t handle, int, cusparseOperation_t, cusparseOperation_t, int m, int columns, int, const T*,       \
      const cusparseMatDescr_t d, const T*, const int*, const int*, const T*, int, csrsm2Info_t info,                  \
      cusparseSolvePolicy_t, size_t* size) {                                                                           \
    ORDITO_HANDLE(handle);                                                                                             \
    ORDITO_GENERAL(d);                                                                                                 \
    ORDITO_CHECK(m >= 0 && columns >= 0 && info);                                                                      \
    return tellBufferSize(size);                                                                                       \
  }                                                                                                                    \
  cusparseStatus_t cusparse##L##csrsm2_analysis(                                                                       \
      cusparseHandle_t handle, int, cusparseOperation_t, cusparseOperation_t, int m, int columns, int, const T*,       \
      const cusparseMatDescr_t d, const T*, const int* offsets, const int* indices, const T*, int, csrsm2Info_t info,  \
      cusparseSolvePolicy_t, void*) {                                                                                  \
    ORDITO_HANDLE(handle);                                                                                             \
    ORDITO_GENERAL(d);                                                                                                 \
    ORDITO_CHECK(m >= 0 && columns >= 0 && info && (m == 0 || offsets));                                               \
    return findMissingDiagonal(handle, d->diagonal == CUSPARSE_DIAG_TYPE_UNIT ? 0 : m,                                 \
                               Pattern{m, d->base, offsets, indices}, static_cast<csrsm2Info*>(info));                 \
  }                                                                                                                    \
  cusparseStatus_t cusparse##L##csrsm2_solve(                                                                          \
      cusparseHandle_t handle, int, cusparseOperation_t opA, cusparseOperation_t opB, int m, int columns, int nnz,     \
      const T* alpha, const cusparseMatDescr_t d, const T* values, const int* offsets, const int* indices, T* b,       \
      int ldb, csrsm2Info_t info, cusparseSolvePolicy_t, void*) {                                                      \
    ORDITO_HANDLE(handle);                                                                                             \
    ORDITO_CHECK(info);                                                                                                \
    return solveMany<Inner<T>>(handle, opA, opB, m, columns, in(alpha), {d, nnz, in(values), offsets, indices}, in(b), \
                               ldb);                                                                                   \
  }                                                                                                                    \
  cusparseStatus_t cusparse##L##axpyi(cusparseHandle_t handle, int count, const T* alpha, const T* x,                  \
                                      const int* indices, T* y, cusparseIndexBase_t base) {                            \
    ORDITO_HANDLE(handle);                                                                                             \
    ORDITO_CHECK(alpha);                                                                                               \
    using I = Inner<T>;                                                                                                \
    const Scalar factor(handle, alpha, kTypeOf<I>);                                                                    \
    return eachOfFew(handle, "cusparse axpyi", count, indices, base,                                                   \
                     [=](int k, int at) { in(y)[at] += multiply(factor.template as<I>(), in(x)[k]); });                \
  }                                                                                                                    \
  cusparseStatus_t cusparse##L##gthr(cusparseHandle_t handle, int count, const T* y, T* x, const int* indices,         \
                                     cusparseIndexBase_t base) {                                                       \
    ORDITO_HANDLE(handle);                                                                                             \
    return eachOfFew(handle, "cusparse gthr", count, indices, base, [=](int k, int at) { x[k] = y[at]; });             \
  }                                                                                                                    \
  cusparseStatus_t cusparse##L##gthrz(cusparseHandle_t handle, int count, T* y, T* x, const int* indices,              \
                                      cusparseIndexBase_t base) {                                                      \
    ORDITO_HANDLE(handle);                                                                                             \
    return eachOfFew(handle, "cusparse gthrz", count, indices, base,                                                   \
                     [=](int k, int at) { x[k] = std::exchange(y[at], T{}); });                                        \
  }                                                                                                                    \
  cusparseStatus_t cusparse##L##sctr(cusparseHandle_t handle, int count, const T* x, const int* indices, T* y,         \
                                     cusparseIndexBase_t base) {                                                       \
    ORDITO_HANDLE(handle);                                                                                             \
    return eachOfFew(handle, "cusparse sctr", count, indices, base, [=](int k, int at) { y[at] = x[k]; });             \
  }                                                                                                                    \
  cusparseStatus_t cusparse##L##doti(cusparseHandle_t handle, int count, const T* x, const int* indices, const T* y,   \
                                     T* result, cusparseIndexBase_t base) {                                            \
    ORDITO_HANDLE(handle);                                                                                             \
    return dotOfFew<false>(handle, count, in(x), indices, in(y), in(result), base);                                    \
  }
ORDITO_FOR_TYPES(DEFINE)
#undef DEFINE

#define DEFINE(L, T)                                                                                                  \
  cusparseStatus_t cusparse##L##dotci(cusparseHandle_t handle, int count, const T* x, const int* indices, const T* y, \
                                      T* result, cusparseIndexBase_t base) {                                          \
    ORDITO_HANDLE(handle);                                                                                            \
    return dotOfFew<true>(handle, count, in(x), indices, in(y), in(result), base);                                    \
  }
DEFINE(C, cuComplex)
DEFINE(Z, cuDoubleComplex)
#undef DEFINE

cusparseStatus_t cusparseSroti(cusparseHandle_t handle, int count, float* x, const int* indices, float* y,
                               const float* c, const float* s, cusparseIndexBase_t base) {
  ORDITO_HANDLE(handle);
  return rotate(handle, count, x, indices, y, c, s, base);
}
cusparseStatus_t cusparseDroti(cusparseHandle_t handle, int count, double* x, const int* indices, double* y,
                               const double* c, const double* s, cusparseIndexBase_t base) {
  ORDITO_HANDLE(handle);
  return rotate(handle, count, x, indices, y, c, s, base);
}

}  // extern "C"
}  // namespace ordito::cusparse
