// cuSOLVER's sparse part in one call: systems by LU, QR and Cholesky, least squares, eigenvalues; orders, and matrices
// in them.
#include <functional>

#include "libs/cusolver/lapack.hpp"
#include "libs/cusolver/sparse/cholesky.hpp"
#include "libs/cusolver/sparse/handle.hpp"
#include "libs/cusolver/sparse/lu.hpp"
#include "libs/cusolver/sparse/qr.hpp"

namespace ordito::cusolver {
namespace {

/// A x = b, with the first pivot that is not larger than the tolerance for `singularity`.
template <class T>
struct System {
  Handle handle;
  Side side;
  const char* name;
  Csr<T> a;
  const T* b;
  double tolerance;
  int reorder;
  T* x;
  int* singularity;

  Status problem() const {
    if (!handle) return CUSOLVER_STATUS_NOT_INITIALIZED;
    if (const Status status = a.problem()) return status;
    const bool isRight = (a.rows == 0 || (b && x)) && singularity && reorder >= 0 && reorder <= 3;
    return isRight ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_INVALID_VALUE;
  }
  /// `factor(matrix, order)` makes what solves.
  template <class Factor>
  Status solve(const Factor& factor) const {
    if (const Status status = problem()) return status;
    return performAndAwait(handle, side, name, [=, reader = CsrReader<T>(a), call = *this] {
      const Rows<T> matrix = reader.read();
      const auto factors = factor(matrix, orderFor(call.reorder, matrix));
      *call.singularity = factors.firstPivotUpTo(call.tolerance);
      const std::vector<T> solution = factors.solve(std::vector<T>(call.b, call.b + reader.rows()));
      std::ranges::copy(solution, call.x);
    });
  }
};

template <class T>
Status solveByLu(const System<T>& system) {
  return system.solve([](const Rows<T>& a, Order order) { return SparseLu<T>(a, std::move(order), 1); });
}
/// The order is one of rows and columns.
template <class T>
Status solveByQr(const System<T>& system) {
  return system.solve([](const Rows<T>& a, Order order) { return SparseQr<T>(a, std::move(order), -1); });
}
template <class T>
Status solveByCholesky(const System<T>& system) {
  return system.solve([](const Rows<T>& a, Order order) { return SparseCholesky<T>(a, std::move(order)); });
}

/// The least |A x - b|, with the independent columns first in `order`.
template <class T>
Status leastSquares(Handle handle, const Csr<T>& a, const T* b, double tolerance, int* rank, T* x, int* order,
                    Real<T>* residual) {
  SPARSE_CALL(handle, a.problem());
  SOLVER_CHECK(a.rows >= a.columns && (a.rows == 0 || b) && (a.columns == 0 || (x && order)) && rank && residual);
  const SparseQr<T> qr(CsrReader<T>(a).read(), identityOrder(a.columns), std::max(0.0, tolerance));
  std::ranges::copy(qr.solve(std::vector<T>(b, b + a.rows), residual), x);
  int* next = order;
  for (const bool wanted : {true, false})
    for (int j = 0; j < a.columns; ++j)
      if (qr.isIndependent(j) == wanted) *next++ = j;
  *rank = static_cast<int>(std::count_if(order, next, [&](int j) { return qr.isIndependent(j); }));
  return CUSOLVER_STATUS_SUCCESS;
}

template <class T>
Rows<T> shifted(const Rows<T>& a, T shift) {
  RowsBuilder<T> builder(a.rows, a.columns);
  a.eachEntry([&](int i, int j, T value) { builder.add(i, j, value); });
  for (int i = 0; i < a.rows; ++i) builder.add(i, i, -shift);
  return builder.build();
}
template <class T>
std::vector<T> product(const Rows<T>& a, const std::vector<T>& x) {
  std::vector<T> y(at(a.rows));
  a.eachEntry([&](int i, int j, T value) { y[at(i)] += value * x[at(j)]; });
  return y;
}
template <class T>
Real<T> length(const std::vector<T>& x) {
  Real<T> squares = 0;
  for (const T& value : x) squares += std::norm(value);
  return std::sqrt(squares);
}
template <class T>
void scale(std::vector<T>& x, T by) {
  for (T& value : x) value *= by;
}

/// The eigenvalue next to `guess` and its vector, by the inverse power method.
template <class T>
void nearestEigenvalue(const Rows<T>& a, T guess, std::vector<T> x, int iterations, Real<T> tolerance, T* eigenvalue,
                       T* vector) {
  const auto factorsFor = [&](T shift) {
    const Rows<T> matrix = shifted(a, shift);
    return SparseLu<T>(matrix, reverseCuthillMcKee(Graph(matrix)), 1);
  };
  SparseLu<T> factors = factorsFor(guess);
  const Real<T> small = std::numeric_limits<Real<T>>::epsilon() * std::max(std::abs(guess), Real<T>(1));
  if (factors.firstPivotUpTo(0) >= 0) factors = factorsFor(guess + T(16 * small));  // the guess is one
  T found = guess;
  scale(x, T(1 / length(x)));
  for (int i = 0; i < iterations; ++i) {
    x = factors.solve(std::move(x));
    scale(x, T(1 / length(x)));
    std::vector<T> rest = product(a, x);
    found = T(0);
    for (size_t k = 0; k < x.size(); ++k) found += conjugate(x[k]) * rest[k];
    for (size_t k = 0; k < x.size(); ++k) rest[k] -= found * x[k];
    if (length(rest) <= tolerance * std::max(std::abs(found), Real<T>(1))) break;
  }
  *eigenvalue = found;
  std::ranges::copy(x, vector);
}

template <class T>
Status eigenvalue(Handle handle, Side side, const Csr<T>& a, T guess, const T* x0, int iterations, Real<T> tolerance,
                  T* eigenvalue, T* vector) {
  SPARSE_CALL(handle, a.problem());
  SOLVER_CHECK(a.rows > 0 && x0 && iterations > 0 && eigenvalue && vector);
  return perform(handle, side, "cusolverSp csreigvsi", [=, reader = CsrReader<T>(a)] {
    nearestEigenvalue(reader.read(), guess, std::vector<T>(x0, x0 + reader.rows()), iterations, tolerance, eigenvalue,
                      vector);
  });
}

/// All of them, by LAPACK, of the matrix with its zeros.
template <class T>
std::vector<std::complex<double>> eigenvaluesOf(const Rows<T>& a) {
  const int n = a.rows, one = 1;
  std::vector<T> dense = room<T>(static_cast<int64_t>(n) * n), unused(1);
  a.eachEntry([&](int i, int j, T value) { dense[at(i + static_cast<int64_t>(j) * n)] += value; });
  int answer = 0;
  std::vector<std::complex<double>> all;
  if constexpr (kIsComplex<T>) {
    std::vector<T> w = room<T>(n);
    std::vector<Real<T>> more = room<Real<T>>(2 * n);
    withWork<T>([&](T* work, int size) {
      lapack<T, "geev">("N", "N", n, dense.data(), std::max(1, n), w.data(), unused.data(), one, unused.data(), one,
                        work, size, more.data(), &answer);
    });
    for (int i = 0; i < n; ++i) all.emplace_back(w[at(i)].real(), w[at(i)].imag());
  } else {
    std::vector<T> real = room<T>(n), imaginary = room<T>(n);
    withWork<T>([&](T* work, int size) {
      lapack<T, "geev">("N", "N", n, dense.data(), std::max(1, n), real.data(), imaginary.data(), unused.data(), one,
                        unused.data(), one, work, size, &answer);
    });
    for (int i = 0; i < n; ++i) all.emplace_back(real[at(i)], imaginary[at(i)]);
  }
  return all;
}

/// How many are in a box of the complex plane.
template <class T>
Status countEigenvalues(Handle handle, const Csr<T>& a, std::complex<double> low, std::complex<double> high,
                        int* count) {
  SPARSE_CALL(handle, a.problem());
  SOLVER_CHECK(count);
  if (!cublas::loadOpenBlas()) return CUSOLVER_STATUS_NOT_INITIALIZED;
  const auto all = eigenvaluesOf(CsrReader<T>(a).read());
  *count = static_cast<int>(std::ranges::count_if(all, [&](std::complex<double> value) {
    return value.real() >= low.real() && value.real() <= high.real() && value.imag() >= low.imag() &&
           value.imag() <= high.imag();
  }));
  return CUSOLVER_STATUS_SUCCESS;
}

Status orderPattern(Handle handle, const Csr<float>& a, int* order, Order (*orderOf)(const Graph&)) {
  SPARSE_CALL(handle, a.problem(false));
  SOLVER_CHECK(a.rows == 0 || order);
  std::ranges::copy(orderOf(Graph(CsrReader<float>(a).read())), order);
  return CUSOLVER_STATUS_SUCCESS;
}

/// Rows in an order that has no zero on the diagonal, as far as there is one.
template <class T>
Status orderForDiagonal(Handle handle, const Csr<T>& a, int* order, int* count) {
  SPARSE_CALL(handle, a.problem());
  SOLVER_CHECK((a.rows == 0 || order) && count);
  std::vector<int> rowOf = rowOfEachColumn(CsrReader<T>(a).read());
  std::vector<char> isUsed(at(a.rows));
  for (const int row : rowOf)
    if (row >= 0) isUsed[at(row)] = 1;
  *count = static_cast<int>(rowOf.size() - static_cast<size_t>(std::ranges::count(rowOf, -1)));
  int next = 0;
  for (int& row : rowOf) {
    if (row >= 0) continue;
    while (isUsed[at(next)]) ++next;
    row = next++;
  }
  std::ranges::copy(rowOf, order);
  return CUSOLVER_STATUS_SUCCESS;
}

bool isOrder(const int* order, int n) {
  std::vector<char> isThere(at(n));
  return order &&
         std::all_of(order, order + n, [&](int i) { return i >= 0 && i < n && !std::exchange(isThere[at(i)], 1); });
}

}  // namespace

extern "C" {

cusolverStatus_t cusolverSpCreate(cusolverSpHandle_t* handle) {
  SOLVER_CHECK(handle);
  if (!libs::hasContext()) return CUSOLVER_STATUS_NOT_INITIALIZED;
  *handle = new cusolverSpContext;
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverSpDestroy(cusolverSpHandle_t handle) {
  SOLVER_CALL(handle, true);
  delete handle;
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverSpSetStream(cusolverSpHandle_t handle, cudaStream_t stream) {
  SOLVER_CALL(handle, true);
  handle->stream = stream;
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverSpGetStream(cusolverSpHandle_t handle, cudaStream_t* stream) {
  SOLVER_CALL(handle, stream);
  *stream = handle->stream;
  return CUSOLVER_STATUS_SUCCESS;
}

#define MATRIX(T) cusparseMatDescr_t d, const T *value, const int *begin, const int *column
#define PATTERN cusparseMatDescr_t d, const int *begin, const int *column

#define DEFINE_SYSTEM(L, T, name, suffix, side, solve)                                                          \
  cusolverStatus_t cusolverSp##L##name##suffix(cusolverSpHandle_t h, int n, int nnz, MATRIX(T), const T* b,     \
                                               Real<Inner<T>> tolerance, int reorder, T* x, int* singularity) { \
    return solve(System<Inner<T>>{h,                                                                            \
                                  side,                                                                         \
                                  "cusolverSp" #L#name,                                                         \
                                  {n, n, nnz, d, in(value), begin, column},                                     \
                                  in(b),                                                                        \
                                  tolerance,                                                                    \
                                  reorder,                                                                      \
                                  in(x),                                                                        \
                                  singularity});                                                                \
  }
#define DEFINE(L, T, unused)                                                                                         \
  DEFINE_SYSTEM(L, T, csrlsvlu, Host, Side::Host, solveByLu)                                                         \
  DEFINE_SYSTEM(L, T, csrlsvqr, Host, Side::Host, solveByQr)                                                         \
  DEFINE_SYSTEM(L, T, csrlsvqr, , Side::Device, solveByQr)                                                           \
  DEFINE_SYSTEM(L, T, csrlsvchol, Host, Side::Host, solveByCholesky)                                                 \
  DEFINE_SYSTEM(L, T, csrlsvchol, , Side::Device, solveByCholesky)                                                   \
  cusolverStatus_t cusolverSp##L##csrlsqvqrHost(cusolverSpHandle_t h, int m, int n, int nnz, MATRIX(T), const T* b,  \
                                                Real<Inner<T>> tolerance, int* rank, T* x, int* order,               \
                                                Real<Inner<T>>* residual) {                                          \
    return leastSquares<Inner<T>>(h, {m, n, nnz, d, in(value), begin, column}, in(b), tolerance, rank, in(x), order, \
                                  residual);                                                                         \
  }                                                                                                                  \
  cusolverStatus_t cusolverSp##L##csrzfdHost(cusolverSpHandle_t h, int n, int nnz, MATRIX(T), int* order,            \
                                             int* count) {                                                           \
    return orderForDiagonal<Inner<T>>(h, {n, n, nnz, d, in(value), begin, column}, order, count);                    \
  }                                                                                                                  \
  DEFINE_EIGENVALUE(L, T, Host, Side::Host)                                                                          \
  DEFINE_EIGENVALUE(L, T, , Side::Device)
#define DEFINE_EIGENVALUE(L, T, suffix, side)                                                                        \
  cusolverStatus_t cusolverSp##L##csreigvsi##suffix(cusolverSpHandle_t h, int n, int nnz, MATRIX(T), T guess,        \
                                                    const T* x0, int iterations, Real<Inner<T>> tolerance, T* found, \
                                                    T* x) {                                                          \
    return eigenvalue<Inner<T>>(h, side, {n, n, nnz, d, in(value), begin, column}, *in(&guess), in(x0), iterations,  \
                                tolerance, in(found), in(x));                                                        \
  }
SPARSE_FOR_ALL(DEFINE, 0)
#undef DEFINE

#define DEFINE(L, T, C)                                                                                              \
  cusolverStatus_t cusolverSp##L##csreigsHost(cusolverSpHandle_t h, int n, int nnz, MATRIX(T), C low, C high,        \
                                              int* count) {                                                          \
    return countEigenvalues<Inner<T>>(h, {n, n, nnz, d, in(value), begin, column}, {low.x, low.y}, {high.x, high.y}, \
                                      count);                                                                        \
  }
DEFINE(S, float, cuComplex)
DEFINE(D, double, cuDoubleComplex)
DEFINE(C, cuComplex, cuComplex)
DEFINE(Z, cuDoubleComplex, cuDoubleComplex)
#undef DEFINE

cusolverStatus_t cusolverSpXcsrsymrcmHost(cusolverSpHandle_t h, int n, int nnz, PATTERN, int* order) {
  return orderPattern(h, {n, n, nnz, d, nullptr, begin, column}, order, reverseCuthillMcKee);
}
cusolverStatus_t cusolverSpXcsrsymamdHost(cusolverSpHandle_t h, int n, int nnz, PATTERN, int* order) {
  return orderPattern(h, {n, n, nnz, d, nullptr, begin, column}, order, minimumDegree);
}
/// Minimum degree by quotient graphs is what this does, too.
cusolverStatus_t cusolverSpXcsrsymmdqHost(cusolverSpHandle_t h, int n, int nnz, PATTERN, int* order) {
  return orderPattern(h, {n, n, nnz, d, nullptr, begin, column}, order, minimumDegree);
}
/// METIS's options have no meaning here.
cusolverStatus_t cusolverSpXcsrmetisndHost(cusolverSpHandle_t h, int n, int nnz, PATTERN, const int64_t*, int* order) {
  return orderPattern(h, {n, n, nnz, d, nullptr, begin, column}, order, nestedDissection);
}

/// Rows may end before the next begins.
cusolverStatus_t cusolverSpXcsrissymHost(cusolverSpHandle_t h, int n, int nnz, cusparseMatDescr_t d, const int* begin,
                                         const int* end, const int* column, int* answer) {
  SPARSE_CALL(h, (Csr<float>{n, n, nnz, d, nullptr, begin, column}.problem(false)));
  SOLVER_CHECK(end && answer);
  std::vector<std::pair<int, int>> there, mirrored;
  for (int i = 0; i < n; ++i)
    for (int k = begin[i] - d->base; k < end[i] - d->base; ++k) {
      there.emplace_back(i, column[k] - d->base);
      mirrored.emplace_back(column[k] - d->base, i);
    }
  std::ranges::sort(there);
  std::ranges::sort(mirrored);
  *answer = there == mirrored;
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverSpXcsrperm_bufferSizeHost(cusolverSpHandle_t h, int m, int n, int nnz, PATTERN, const int* p,
                                                   const int* q, size_t* size) {
  SPARSE_CALL(h, (Csr<float>{m, n, nnz, d, nullptr, begin, column}.problem(false)));
  SOLVER_CHECK(isOrder(p, m) && isOrder(q, n) && size);
  *size = 1;
  return CUSOLVER_STATUS_SUCCESS;
}
/// A(p, q) in the place of A, and `map` in the order of its values.
cusolverStatus_t cusolverSpXcsrpermHost(cusolverSpHandle_t h, int m, int n, int nnz, cusparseMatDescr_t d, int* begin,
                                        int* column, const int* p, const int* q, int* map, void*) {
  const Csr<float> a{m, n, nnz, d, nullptr, begin, column};
  SPARSE_CALL(h, a.problem(false));
  SOLVER_CHECK(isOrder(p, m) && isOrder(q, n) && (nnz == 0 || map));
  const Rows<float> pattern = CsrReader<float>(a).read();
  Rows<int> numbered{m, n, pattern.begin, pattern.column, std::vector<int>(map, map + pattern.count())};
  const Rows<int> result = permuted(numbered, Order(p, p + m), Order(q, q + n));
  std::ranges::transform(result.begin, begin, [&](int place) { return place + d->base; });
  std::ranges::transform(result.column, column, [&](int j) { return j + d->base; });
  std::ranges::copy(result.value, map);
  return CUSOLVER_STATUS_SUCCESS;
}

}  // extern "C"
}  // namespace ordito::cusolver
