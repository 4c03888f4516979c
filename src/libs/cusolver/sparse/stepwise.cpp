// Factorizations of sparse matrices step by step (cusolverSp_LOWLEVEL_PREVIEW.h), and QR of many matrices of one
// pattern. Analysis chooses an order, the factors are kept in the `info` until it is destroyed, or until a task that
// has them is done.
#include <any>
#include <memory>

#include "libs/cusolver/sparse/cholesky.hpp"
#include "libs/cusolver/sparse/handle.hpp"
#include "libs/cusolver/sparse/lu.hpp"
#include "libs/cusolver/sparse/qr.hpp"

namespace ordito::cusolver {

/// What steps leave for the next ones. Tasks hold it, too.
struct Steps {
  bool isAnalysed = false;
  int rows = 0, columns = 0;
  Order order;
  std::any matrix, factors;  // of the calls' type
};
struct StepsHolder {
  std::shared_ptr<Steps> steps = std::make_shared<Steps>();
};

}  // namespace ordito::cusolver

struct csrqrInfo : ordito::cusolver::StepsHolder {};
struct csrqrInfoHost : ordito::cusolver::StepsHolder {};
struct csrluInfoHost : ordito::cusolver::StepsHolder {};
struct csrcholInfo : ordito::cusolver::StepsHolder {};
struct csrcholInfoHost : ordito::cusolver::StepsHolder {};

namespace ordito::cusolver {
namespace {

template <class Info>
Status create(Info** info) {
  SOLVER_CHECK(info);
  *info = new Info;
  return CUSOLVER_STATUS_SUCCESS;
}
template <class Info>
Status destroy(Info* info) {
  SOLVER_CHECK(info);
  delete info;
  return CUSOLVER_STATUS_SUCCESS;
}

/// `orderOf` is what suits the factorization; it is wanted of square matrices only.
Status analyse(Handle handle, Side side, const Csr<float>& a, StepsHolder* info, Order (*orderOf)(const Graph&)) {
  SPARSE_CALL(handle, a.problem(false));
  SOLVER_CHECK(info);
  return performAndAwait(handle, side, "cusolverSp analysis", [=, steps = info->steps, reader = CsrReader<float>(a)] {
    const Rows<float> pattern = reader.read();
    *steps = {true, pattern.rows, pattern.columns, {}, {}, {}};
    steps->order = pattern.rows == pattern.columns ? orderOf(Graph(pattern)) : identityOrder(pattern.columns);
  });
}

/// Factors and their matrix are of our own memory.
Status tellSizes(Handle handle, Status problem, const StepsHolder* info, size_t* internal, size_t* workspace) {
  SPARSE_CALL(handle, problem);
  SOLVER_CHECK(info && info->steps->isAnalysed && internal && workspace);
  *internal = *workspace = 1;
  return CUSOLVER_STATUS_SUCCESS;
}

/// Whether a step with these sizes may follow the analysis.
bool follows(const StepsHolder* info, int rows, int columns) {
  return info && info->steps->isAnalysed && info->steps->rows == rows && info->steps->columns == columns;
}

template <class Factors, class T>
Status zeroPivot(Handle handle, Side side, const StepsHolder* info, double tolerance, int* position) {
  SOLVER_CALL(handle, info && position);
  if (side == Side::Device)
    if (const Status status = statusOf(libs::await(handle->stream))) return status;
  const auto* factors = std::any_cast<Factors>(&info->steps->factors);
  SOLVER_CHECK(factors);
  *position = factors->firstPivotUpTo(tolerance);
  return CUSOLVER_STATUS_SUCCESS;
}

template <class Factors, class T>
Status solve(Handle handle, Side side, const char* name, int rows, int columns, const T* b, T* x,
             const StepsHolder* info) {
  SOLVER_CALL(handle, follows(info, rows, columns) && (rows == 0 || b) && (columns == 0 || x));
  return perform(handle, side, name, [=, steps = info->steps] {
    const auto* factors = std::any_cast<Factors>(&steps->factors);
    if (factors) std::ranges::copy(factors->solve(std::vector<T>(b, b + rows)), x);
  });
}

template <class T>
Status factorLu(Handle handle, const Csr<T>& a, StepsHolder* info, double threshold) {
  SPARSE_CALL(handle, a.problem());
  SOLVER_CHECK(follows(info, a.rows, a.columns) && threshold >= 0 && threshold <= 1);
  info->steps->factors = SparseLu<T>(CsrReader<T>(a).read(), info->steps->order, threshold);
  return CUSOLVER_STATUS_SUCCESS;
}

template <class T>
Status factorCholesky(Handle handle, Side side, const Csr<T>& a, StepsHolder* info) {
  SPARSE_CALL(handle, a.problem());
  SOLVER_CHECK(follows(info, a.rows, a.columns));
  return perform(handle, side, "cusolverSp csrcholFactor", [=, steps = info->steps, reader = CsrReader<T>(a)] {
    steps->factors = SparseCholesky<T>(reader.read(), steps->order);
  });
}

template <class T>
Status tellDiagonal(Handle handle, Side side, const StepsHolder* info, Real<T>* diagonal) {
  SOLVER_CALL(handle, info && diagonal);
  return perform(handle, side, "cusolverSp csrcholDiag", [=, steps = info->steps] {
    const auto* factors = std::any_cast<SparseCholesky<T>>(&steps->factors);
    const Order place = inverseOf(steps->order);
    if (factors)
      for (size_t i = 0; i < place.size(); ++i) diagonal[i] = factors->diagonal()[i];
  });
}

/// The values of A - shift.
template <class T>
Status setupQr(Handle handle, Side side, const Csr<T>& a, T shift, StepsHolder* info) {
  SPARSE_CALL(handle, a.problem());
  SOLVER_CHECK(follows(info, a.rows, a.columns));
  return perform(handle, side, "cusolverSp csrqrSetup", [=, steps = info->steps, reader = CsrReader<T>(a)] {
    Rows<T> matrix = reader.read();
    for (int i = 0; i < matrix.rows; ++i)
      for (int k = matrix.begin[at(i)]; k < matrix.begin[at(i + 1)]; ++k)
        if (matrix.column[at(k)] == i) matrix.value[at(k)] -= shift;
    steps->matrix = std::move(matrix);
  });
}

/// With a right-hand side and a place for the solution it is solved at once.
template <class T>
Status factorQr(Handle handle, Side side, int rows, int columns, const T* b, T* x, StepsHolder* info) {
  SOLVER_CALL(handle, follows(info, rows, columns));
  return perform(handle, side, "cusolverSp csrqrFactor", [=, steps = info->steps] {
    const auto* matrix = std::any_cast<Rows<T>>(&steps->matrix);
    if (!matrix) return;
    SparseQr<T> factors(*matrix, steps->order, -1);
    if (b && x) std::ranges::copy(factors.solve(std::vector<T>(b, b + rows)), x);
    steps->factors = std::move(factors);
  });
}

template <class T>
Status solveBatch(Handle handle, const Csr<T>& a, const T* b, T* x, int count, const StepsHolder* info) {
  SPARSE_CALL(handle, a.problem());
  SOLVER_CHECK(follows(info, a.rows, a.columns) && a.rows >= a.columns && count >= 0 && (count == 0 || (b && x)));
  return perform(handle, Side::Device, "cusolverSp csrqrsvBatched",
                 [=, steps = info->steps, reader = CsrReader<T>(a), rows = a.rows, columns = a.columns] {
                   libs::parallelFor(static_cast<unsigned>(count), [&](unsigned i) {
                     const SparseQr<T> factors(reader.read(static_cast<int>(i)), steps->order, -1);
                     const T* right = b + static_cast<int64_t>(i) * rows;
                     std::ranges::copy(factors.solve(std::vector<T>(right, right + rows)),
                                       x + static_cast<int64_t>(i) * columns);
                   });
                 });
}

template <class T>
void write(const Rows<T>& from, cusparseMatDescr_t description, T* value, int* begin, int* column) {
  std::ranges::copy(from.value, value);
  std::ranges::transform(from.begin, begin, [&](int place) { return place + description->base; });
  std::ranges::transform(from.column, column, [&](int j) { return j + description->base; });
}

}  // namespace

extern "C" {

#define DEFINE(Name, name)                                                         \
  cusolverStatus_t cusolverSpCreate##Name(name##_t* info) { return create(info); } \
  cusolverStatus_t cusolverSpDestroy##Name(name##_t info) { return destroy(info); }
DEFINE(CsrqrInfo, csrqrInfo)
DEFINE(CsrqrInfoHost, csrqrInfoHost)
DEFINE(CsrluInfoHost, csrluInfoHost)
DEFINE(CsrcholInfo, csrcholInfo)
DEFINE(CsrcholInfoHost, csrcholInfoHost)
#undef DEFINE

#define MATRIX(T) cusparseMatDescr_t d, const T *value, const int *begin, const int *column
#define PATTERN cusparseMatDescr_t d, const int *begin, const int *column

cusolverStatus_t cusolverSpXcsrluAnalysisHost(cusolverSpHandle_t h, int n, int nnz, PATTERN, csrluInfoHost_t info) {
  return analyse(h, Side::Host, {n, n, nnz, d, nullptr, begin, column}, info, minimumDegree);
}
#define DEFINE(suffix, side)                                                                              \
  cusolverStatus_t cusolverSpXcsrqrAnalysis##suffix(cusolverSpHandle_t h, int m, int n, int nnz, PATTERN, \
                                                    csrqrInfo##suffix##_t info) {                         \
    return analyse(h, side, {m, n, nnz, d, nullptr, begin, column}, info, reverseCuthillMcKee);           \
  }                                                                                                       \
  cusolverStatus_t cusolverSpXcsrcholAnalysis##suffix(cusolverSpHandle_t h, int n, int nnz, PATTERN,      \
                                                      csrcholInfo##suffix##_t info) {                     \
    return analyse(h, side, {n, n, nnz, d, nullptr, begin, column}, info, minimumDegree);                 \
  }
DEFINE(Host, Side::Host)
DEFINE(, Side::Device)
#undef DEFINE
cusolverStatus_t cusolverSpXcsrqrAnalysisBatched(cusolverSpHandle_t h, int m, int n, int nnz, PATTERN,
                                                 csrqrInfo_t info) {
  return cusolverSpXcsrqrAnalysis(h, m, n, nnz, d, begin, column, info);
}

#define CSR(T, m, n) \
  Csr<Inner<T>> { m, n, nnz, d, in(value), begin, column }
#define DEFINE_SIDE(L, T, suffix, side)                                                                               \
  cusolverStatus_t cusolverSp##L##csrqrBufferInfo##suffix(cusolverSpHandle_t h, int m, int n, int nnz, MATRIX(T),     \
                                                          csrqrInfo##suffix##_t info, size_t* internal,               \
                                                          size_t* workspace) {                                        \
    return tellSizes(h, CSR(T, m, n).problem(), info, internal, workspace);                                           \
  }                                                                                                                   \
  cusolverStatus_t cusolverSp##L##csrqrSetup##suffix(cusolverSpHandle_t h, int m, int n, int nnz, MATRIX(T), T shift, \
                                                     csrqrInfo##suffix##_t info) {                                    \
    return setupQr(h, side, CSR(T, m, n), *in(&shift), info);                                                         \
  }                                                                                                                   \
  cusolverStatus_t cusolverSp##L##csrqrFactor##suffix(cusolverSpHandle_t h, int m, int n, int, const T* b, T* x,      \
                                                      csrqrInfo##suffix##_t info, void*) {                            \
    return factorQr<Inner<T>>(h, side, m, n, in(b), in(x), info);                                                     \
  }                                                                                                                   \
  cusolverStatus_t cusolverSp##L##csrqrZeroPivot##suffix(cusolverSpHandle_t h, csrqrInfo##suffix##_t info,            \
                                                         Real<Inner<T>> tolerance, int* position) {                   \
    return zeroPivot<SparseQr<Inner<T>>, Inner<T>>(h, side, info, tolerance, position);                               \
  }                                                                                                                   \
  cusolverStatus_t cusolverSp##L##csrqrSolve##suffix(cusolverSpHandle_t h, int m, int n, const T* b, T* x,            \
                                                     csrqrInfo##suffix##_t info, void*) {                             \
    return solve<SparseQr<Inner<T>>>(h, side, "cusolverSp csrqrSolve", m, n, in(b), in(x), info);                     \
  }                                                                                                                   \
  cusolverStatus_t cusolverSp##L##csrcholBufferInfo##suffix(cusolverSpHandle_t h, int n, int nnz, MATRIX(T),          \
                                                            csrcholInfo##suffix##_t info, size_t* internal,           \
                                                            size_t* workspace) {                                      \
    return tellSizes(h, CSR(T, n, n).problem(), info, internal, workspace);                                           \
  }                                                                                                                   \
  cusolverStatus_t cusolverSp##L##csrcholFactor##suffix(cusolverSpHandle_t h, int n, int nnz, MATRIX(T),              \
                                                        csrcholInfo##suffix##_t info, void*) {                        \
    return factorCholesky(h, side, CSR(T, n, n), info);                                                               \
  }                                                                                                                   \
  cusolverStatus_t cusolverSp##L##csrcholZeroPivot##suffix(cusolverSpHandle_t h, csrcholInfo##suffix##_t info,        \
                                                           Real<Inner<T>> tolerance, int* position) {                 \
    return zeroPivot<SparseCholesky<Inner<T>>, Inner<T>>(h, side, info, tolerance, position);                         \
  }                                                                                                                   \
  cusolverStatus_t cusolverSp##L##csrcholSolve##suffix(cusolverSpHandle_t h, int n, const T* b, T* x,                 \
                                                       csrcholInfo##suffix##_t info, void*) {                         \
    return solve<SparseCholesky<Inner<T>>>(h, side, "cusolverSp csrcholSolve", n, n, in(b), in(x), info);             \
  }
#define DEFINE(L, T, unused)                                                                                          \
  DEFINE_SIDE(L, T, Host, Side::Host)                                                                                 \
  DEFINE_SIDE(L, T, , Side::Device)                                                                                   \
  cusolverStatus_t cusolverSp##L##csrcholDiag(cusolverSpHandle_t h, csrcholInfo_t info, Real<Inner<T>>* diagonal) {   \
    return tellDiagonal<Inner<T>>(h, Side::Device, info, diagonal);                                                   \
  }                                                                                                                   \
  cusolverStatus_t cusolverSp##L##csrluBufferInfoHost(cusolverSpHandle_t h, int n, int nnz, MATRIX(T),                \
                                                      csrluInfoHost_t info, size_t* internal, size_t* workspace) {    \
    return tellSizes(h, CSR(T, n, n).problem(), info, internal, workspace);                                           \
  }                                                                                                                   \
  cusolverStatus_t cusolverSp##L##csrluFactorHost(cusolverSpHandle_t h, int n, int nnz, MATRIX(T),                    \
                                                  csrluInfoHost_t info, Real<Inner<T>> threshold, void*) {            \
    return factorLu(h, CSR(T, n, n), info, threshold);                                                                \
  }                                                                                                                   \
  cusolverStatus_t cusolverSp##L##csrluZeroPivotHost(cusolverSpHandle_t h, csrluInfoHost_t info,                      \
                                                     Real<Inner<T>> tolerance, int* position) {                       \
    return zeroPivot<SparseLu<Inner<T>>, Inner<T>>(h, Side::Host, info, tolerance, position);                         \
  }                                                                                                                   \
  cusolverStatus_t cusolverSp##L##csrluSolveHost(cusolverSpHandle_t h, int n, const T* b, T* x, csrluInfoHost_t info, \
                                                 void*) {                                                             \
    return solve<SparseLu<Inner<T>>>(h, Side::Host, "cusolverSp csrluSolve", n, n, in(b), in(x), info);               \
  }                                                                                                                   \
  cusolverStatus_t cusolverSp##L##csrluExtractHost(                                                                   \
      cusolverSpHandle_t h, int* p, int* q, cusparseMatDescr_t dL, T* valueL, int* beginL, int* columnL,              \
      cusparseMatDescr_t dU, T* valueU, int* beginU, int* columnU, csrluInfoHost_t info, void*) {                     \
    SOLVER_CALL(h, info&& p&& q&& dL&& valueL&& beginL&& columnL&& dU&& valueU&& beginU&& columnU);                   \
    const auto* factors = std::any_cast<SparseLu<Inner<T>>>(&info->steps->factors);                                   \
    SOLVER_CHECK(factors);                                                                                            \
    std::ranges::copy(factors->rowOrder(), p);                                                                        \
    std::ranges::copy(factors->columnOrder(), q);                                                                     \
    write(factors->lower(), dL, in(valueL), beginL, columnL);                                                         \
    write(factors->upper(), dU, in(valueU), beginU, columnU);                                                         \
    return CUSOLVER_STATUS_SUCCESS;                                                                                   \
  }                                                                                                                   \
  cusolverStatus_t cusolverSp##L##csrqrBufferInfoBatched(cusolverSpHandle_t h, int m, int n, int nnz, MATRIX(T),      \
                                                         int count, csrqrInfo_t info, size_t* internal,               \
                                                         size_t* workspace) {                                         \
    return tellSizes(h, count < 0 ? CUSOLVER_STATUS_INVALID_VALUE : CSR(T, m, n).problem(), info, internal,           \
                     workspace);                                                                                      \
  }                                                                                                                   \
  cusolverStatus_t cusolverSp##L##csrqrsvBatched(cusolverSpHandle_t h, int m, int n, int nnz, MATRIX(T), const T* b,  \
                                                 T* x, int count, csrqrInfo_t info, void*) {                          \
    return solveBatch(h, CSR(T, m, n), in(b), in(x), count, info);                                                    \
  }
SPARSE_FOR_ALL(DEFINE, 0)
#undef DEFINE

/// With L's diagonal of ones.
cusolverStatus_t cusolverSpXcsrluNnzHost(cusolverSpHandle_t h, int* countL, int* countU, csrluInfoHost_t info) {
  SOLVER_CALL(h, info && countL && countU);
  const std::any& factors = info->steps->factors;
  const auto tell = [&]<class T>(T) {
    const auto* lu = std::any_cast<SparseLu<T>>(&factors);
    if (lu) *countL = lu->lower().count(), *countU = lu->upper().count();
    return lu != nullptr;
  };
  const bool isThere = tell(0.0F) || tell(0.0) || tell(std::complex<float>()) || tell(std::complex<double>());
  return isThere ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_INVALID_VALUE;
}

}  // extern "C"
}  // namespace ordito::cusolver
