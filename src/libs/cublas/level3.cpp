// cuBLAS level 3 beyond the general product: symmetric, Hermitian and triangular matrices. Each call is cut into parts
// that do not depend on each other, columns or rows of the result, and each part is OpenBLAS's affair.
#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "libs/cublas/gemm_ex.hpp"
#include "libs/scratch.hpp"

namespace ordito::cublas {
namespace {

constexpr double kWorthwhile = 1e6;  // operations for which more threads than one are asked

/// Cuts [0, n) into a part for each thread.
template <class Body>
void inParts(int64_t n, double operations, const Body& body) {
  const unsigned parts =
      operations < kWorthwhile ? 1u : static_cast<unsigned>(std::clamp<int64_t>(n, 1, libs::parallelThreads()));
  libs::parallelFor(parts, [&](unsigned part) {
    const int64_t first = n * part / parts;
    body(first, n * (part + 1) / parts - first);
  });
}

/// B and C of m rows and n columns, A square on one side of B.
struct Sided {
  cublasSideMode_t side;
  cublasFillMode_t fill;
  int64_t m, n, lda, ldb, ldc;

  bool isLeft() const { return side == CUBLAS_SIDE_LEFT; }
  int64_t order() const { return isLeft() ? m : n; }
  bool isRight() const {
    return isSide(side) && isFill(fill) && m >= 0 && n >= 0 && lda >= std::max<int64_t>(1, order()) &&
           ldb >= std::max<int64_t>(1, m) && ldc >= std::max<int64_t>(1, m) && areCountable(m, n, lda, ldb, ldc);
  }
  double operations() const {
    return 2.0 * static_cast<double>(order()) * static_cast<double>(m) * static_cast<double>(n);
  }
  /// Parts of B and C that A meets alike: columns if it is on the left, else rows.
  template <class Body>
  void eachPart(const Body& body) const {
    inParts(isLeft() ? n : m, operations(), [&](int64_t first, int64_t count) {
      Sided part = *this;
      (isLeft() ? part.n : part.m) = count;
      body(part, isLeft() ? first * ldb : first, isLeft() ? first * ldc : first);
    });
  }
};

template <bool Hermitian, class T>
cublasStatus_t symm(cublasHandle_t handle, const Sided& s, const T* alpha, const T* a, const T* b, const T* beta,
                    T* c) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(s.isRight());
  if (s.m == 0 || s.n == 0) return CUBLAS_STATUS_SUCCESS;
  if (const auto answer = answerAtOnce(handle, true, alpha, a && b, beta, c)) return *answer;
  const Scalar<T> one(handle, alpha), other(handle, beta);
  return submit(handle, "cublas symm or hemm", [=] {
    const T first = one.get(), second = other.get();
    s.eachPart([&](const Sided& part, int64_t atB, int64_t atC) {
      const int m = asInt(part.m), n = asInt(part.n), lda = asInt(s.lda), ldb = asInt(s.ldb), ldc = asInt(s.ldc);
      if (second == T(0)) scaleMatrix(part.m, part.n, second, c + atC, s.ldc);
      (Hermitian ? openBlas<T>().hemm : openBlas<T>().symm)(letter(s.side), letter(s.fill), &m, &n, &first, a, &lda,
                                                            b + atB, &ldb, &second, c + atC, &ldc);
    });
  });
}

/// B = alpha op(A) B, or op(A)^-1, in place.
template <class T>
void triangularHere(bool solve, const Sided& s, cublasOperation_t op, cublasDiagType_t diag, T alpha, const T* a,
                    T* b) {
  const int m = asInt(s.m), n = asInt(s.n), lda = asInt(s.lda), ldb = asInt(s.ldb);
  if (alpha == T(0)) return scaleMatrix(s.m, s.n, alpha, b, s.ldb);
  (solve ? openBlas<T>().trsm : openBlas<T>().trmm)(letter(s.side), letter(s.fill), letter(op), letter(diag), &m, &n,
                                                    &alpha, a, &lda, b, &ldb);
}

template <class T>
cublasStatus_t trsm(cublasHandle_t handle, const Sided& s, cublasOperation_t op, cublasDiagType_t diag, const T* alpha,
                    const T* a, T* b) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(s.isRight() && isOperation(op) && isDiagonal(diag));
  if (s.m == 0 || s.n == 0) return CUBLAS_STATUS_SUCCESS;
  ORDITO_CHECK(alpha && a && b);
  const Scalar<T> scale(handle, alpha);
  return submit(handle, "cublas trsm", [=] {
    s.eachPart(
        [&](const Sided& part, int64_t at, int64_t) { triangularHere(true, part, op, diag, scale.get(), a, b + at); });
  });
}

template <class T>
cublasStatus_t trsmBatched(cublasHandle_t handle, const Sided& s, cublasOperation_t op, cublasDiagType_t diag,
                           const T* alpha, const T* const* a, T* const* b, int64_t count) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(s.isRight() && isOperation(op) && isDiagonal(diag) && count >= 0 && areCountable(count));
  if (s.m == 0 || s.n == 0 || count == 0) return CUBLAS_STATUS_SUCCESS;
  ORDITO_CHECK(alpha && a && b);
  const Scalar<T> scale(handle, alpha);
  return submit(handle, "cublas trsmBatched", [=] {
    libs::parallelFor(static_cast<unsigned>(count),
                      [&](unsigned i) { triangularHere(true, s, op, diag, scale.get(), a[i], b[i]); });
  });
}

/// C = alpha op(A) B; C may be B.
template <class T>
cublasStatus_t trmm(cublasHandle_t handle, const Sided& s, cublasOperation_t op, cublasDiagType_t diag, const T* alpha,
                    const T* a, const T* b, T* c) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(s.isRight() && isOperation(op) && isDiagonal(diag));
  if (s.m == 0 || s.n == 0) return CUBLAS_STATUS_SUCCESS;
  ORDITO_CHECK(alpha && a && b && c && (b != c || s.ldb == s.ldc));
  const Scalar<T> scale(handle, alpha);
  return submit(handle, "cublas trmm", [=] {
    s.eachPart([&](Sided part, int64_t atB, int64_t atC) {
      if (b != c)
        for (int64_t j = 0; j < part.n; ++j) std::copy_n(b + atB + j * s.ldb, part.m, c + atC + j * s.ldc);
      part.ldb = s.ldc;
      triangularHere(false, part, op, diag, scale.get(), a, c + atC);
    });
  });
}

/// C of order n, of which one triangle is there, and A of n by k, or k by n if op turns it.
struct Rank {
  cublasFillMode_t fill;
  cublasOperation_t op;
  int64_t n, k, lda, ldb, ldc;

  bool isRight() const {
    const int64_t rows = std::max<int64_t>(1, op == CUBLAS_OP_N ? n : k);
    return isFill(fill) && isOperation(op) && n >= 0 && k >= 0 && lda >= rows && ldb >= rows &&
           ldc >= std::max<int64_t>(1, n) && areCountable(n, k, lda, ldb, ldc);
  }
  /// Complex matrices are turned as the kind of product wants it.
  template <class T>
  bool fits(bool hermitian) const {
    return !kIsComplex<T> || op == CUBLAS_OP_N || op == (hermitian ? CUBLAS_OP_C : CUBLAS_OP_T);
  }
  int64_t step(int64_t leading) const { return op == CUBLAS_OP_N ? 1 : leading; }
  /// The rows of C beside the columns [first, last) that are wholly in the triangle.
  int64_t beginBeside(int64_t last) const { return fill == CUBLAS_FILL_MODE_LOWER ? last : 0; }
  int64_t besideCount(int64_t first, int64_t last) const { return fill == CUBLAS_FILL_MODE_LOWER ? n - last : first; }
  double operations() const { return static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(k); }
  /// The product of rows of op(A) and, turned, of op(B).
  Product beside(int64_t rows, int64_t columns, int64_t ldA, int64_t ldB, bool hermitian) const {
    const cublasOperation_t turned = hermitian ? CUBLAS_OP_C : CUBLAS_OP_T;
    return {op == CUBLAS_OP_N ? CUBLAS_OP_N : turned,
            op == CUBLAS_OP_N ? turned : CUBLAS_OP_N,
            rows,
            columns,
            k,
            ldA,
            ldB,
            ldc};
  }
};

/// Zeros of the triangle's part in the columns [first, first + count), which is then not read.
template <class T>
void clearTriangle(const Rank& r, int64_t first, int64_t count, T* c) {
  for (int64_t j = first; j < first + count; ++j) {
    const int64_t from = r.fill == CUBLAS_FILL_MODE_LOWER ? j : 0, to = r.fill == CUBLAS_FILL_MODE_LOWER ? r.n : j + 1;
    std::fill(c + from + j * r.ldc, c + to + j * r.ldc, T(0));
  }
}

/// The letter by which the routine for real numbers turns.
inline const char* turn(const Rank& r, bool hermitian) { return r.op == CUBLAS_OP_N ? "N" : hermitian ? "C" : "T"; }

/// What the arguments of a rank update are answered with when they are wrong, or leave nothing to do.
template <bool Hermitian, class T, class A, class B>
std::optional<cublasStatus_t> answerOfRank(cublasHandle_t handle, const Rank& r, const A* alpha, const T* a, const T* b,
                                           const B* beta, const T* c) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(r.isRight() && r.fits<T>(Hermitian));
  if (r.n == 0) return CUBLAS_STATUS_SUCCESS;
  return answerAtOnce(handle, r.k != 0, alpha, a && b, beta, c);
}

/// C = alpha op(A) op(A)^T + beta C, or ^H: S is the type of alpha and beta.
template <bool Hermitian, class T, class S>
void updateRankK(const Rank& r, S first, const T* a, S second, T* c) {
  const bool turns = Hermitian && kIsComplex<T>;
  inParts(r.n, r.operations(), [&](int64_t at, int64_t count) {
    if (second == S(0)) clearTriangle(r, at, count, c);
    const int n = asInt(count), k = asInt(r.k), lda = asInt(r.lda), ldc = asInt(r.ldc);
    const T* rows = a + at * r.step(r.lda);
    if constexpr (Hermitian)
      openBlas<T>().herk(letter(r.fill), turn(r, turns), &n, &k, &first, rows, &lda, &second, element(c, at, at, r.ldc),
                         &ldc);
    else
      openBlas<T>().syrk(letter(r.fill), turn(r, turns), &n, &k, &first, rows, &lda, &second, element(c, at, at, r.ldc),
                         &ldc);
    const int64_t begin = r.beginBeside(at + count), beside = r.besideCount(at, at + count);
    if (beside > 0)
      multiplyHere(r.beside(beside, count, r.lda, r.lda, turns), T(first), a + begin * r.step(r.lda), rows, T(second),
                   element(c, begin, at, r.ldc));
  });
}

template <bool Hermitian, class T, class S>
cublasStatus_t rankK(cublasHandle_t handle, const Rank& r, const S* alpha, const T* a, const S* beta, T* c) {
  if (const auto answer = answerOfRank<Hermitian>(handle, r, alpha, a, a, beta, c)) return *answer;
  const Scalar<S> one(handle, alpha), other(handle, beta);
  return submit(handle, "cublas syrk or herk", [=] { updateRankK<Hermitian>(r, one.get(), a, other.get(), c); });
}

/// The same with complex numbers of float, or of int8, which are widened: Csyrk3mEx and its relatives. Three products
/// of real numbers instead of four are a way to be faster, not another result.
template <bool Hermitian, class S>
cublasStatus_t rankKEx(cublasHandle_t handle, const Rank& r, const S* alpha, const void* a, cudaDataType typeA,
                       const S* beta, void* c, cudaDataType typeC) {
  ORDITO_HANDLE(handle);
  if ((typeA != CUDA_C_32F && typeA != CUDA_C_8I) || typeC != CUDA_C_32F) return CUBLAS_STATUS_NOT_SUPPORTED;
  auto* result = static_cast<ComplexFloat*>(c);
  const auto* from = static_cast<const ComplexFloat*>(a);
  if (typeA == CUDA_C_32F) return rankK<Hermitian>(handle, r, alpha, from, beta, result);
  if (const auto answer = answerOfRank<Hermitian>(handle, r, alpha, from, from, beta, result)) return *answer;
  const Scalar<S> one(handle, alpha), other(handle, beta);
  return submit(handle, "cublas syrkEx or herkEx", [=] {
    if (one.get() == S(0)) return updateRankK<Hermitian>(r, S(0), from, other.get(), result);  // A need not be there
    const int64_t rows = r.op == CUBLAS_OP_N ? r.n : r.k, columns = r.op == CUBLAS_OP_N ? r.k : r.n;
    const auto wide = libs::scratch<ComplexFloat>(static_cast<size_t>(rows * columns));
    widenMatrix(static_cast<const ComplexByte*>(a), rows, columns, r.lda, wide.get());
    Rank packed = r;
    packed.lda = std::max<int64_t>(1, rows);
    updateRankK<Hermitian>(packed, one.get(), wide.get(), other.get(), result);
  });
}

/// C = alpha op(A) op(B)^T + alpha op(B) op(A)^T + beta C; with ^H the second alpha is conjugate.
template <bool Hermitian, class T, class S>
cublasStatus_t rank2K(cublasHandle_t handle, const Rank& r, const T* alpha, const T* a, const T* b, const S* beta,
                      T* c) {
  if (const auto answer = answerOfRank<Hermitian>(handle, r, alpha, a, b, beta, c)) return *answer;
  const Scalar<T> one(handle, alpha);
  const Scalar<S> other(handle, beta);
  return submit(handle, "cublas syr2k or her2k", [=] {
    const T first = one.get();
    const S second = other.get();
    const bool turns = Hermitian && kIsComplex<T>;
    inParts(r.n, 2 * r.operations(), [&](int64_t at, int64_t count) {
      if (second == S(0)) clearTriangle(r, at, count, c);
      const int n = asInt(count), k = asInt(r.k), lda = asInt(r.lda), ldb = asInt(r.ldb), ldc = asInt(r.ldc);
      const T *rowsA = a + at * r.step(r.lda), *rowsB = b + at * r.step(r.ldb);
      if constexpr (Hermitian)
        openBlas<T>().her2k(letter(r.fill), turn(r, turns), &n, &k, &first, rowsA, &lda, rowsB, &ldb, &second,
                            element(c, at, at, r.ldc), &ldc);
      else
        openBlas<T>().syr2k(letter(r.fill), turn(r, turns), &n, &k, &first, rowsA, &lda, rowsB, &ldb, &second,
                            element(c, at, at, r.ldc), &ldc);
      const int64_t begin = r.beginBeside(at + count), beside = r.besideCount(at, at + count);
      if (beside == 0) return;
      T* place = element(c, begin, at, r.ldc);
      T conjugate = first;
      if constexpr (Hermitian && kIsComplex<T>) conjugate = std::conj(first);
      multiplyHere(r.beside(beside, count, r.lda, r.ldb, turns), first, a + begin * r.step(r.lda), rowsB, T(second),
                   place);
      multiplyHere(r.beside(beside, count, r.ldb, r.lda, turns), conjugate, b + begin * r.step(r.ldb), rowsA, T(1),
                   place);
    });
  });
}

/// C = alpha op(A) op(B)^T + beta C, or ^H, which the caller knows to be symmetric: only the triangle is written.
template <bool Hermitian, class T, class S>
cublasStatus_t rankKx(cublasHandle_t handle, const Rank& r, const T* alpha, const T* a, const T* b, const S* beta,
                      T* c) {
  if (const auto answer = answerOfRank<Hermitian>(handle, r, alpha, a, b, beta, c)) return *answer;
  const Scalar<T> one(handle, alpha);
  const Scalar<S> other(handle, beta);
  return submit(handle, "cublas syrkx or herkx", [=] {
    std::vector<T> product(static_cast<size_t>(r.n * r.n));
    Product p = r.beside(r.n, r.n, r.lda, r.ldb, Hermitian && kIsComplex<T>);
    p.ldc = r.n;
    multiplyInTiles(p, one.get(), a, b, T(0), product.data());
    const S second = other.get();
    for (int64_t j = 0; j < r.n; ++j) {
      const int64_t from = r.fill == CUBLAS_FILL_MODE_LOWER ? j : 0;
      const int64_t to = r.fill == CUBLAS_FILL_MODE_LOWER ? r.n : j + 1;
      for (int64_t i = from; i < to; ++i) {
        T& place = *element(c, i, j, r.ldc);
        place = (second == S(0) ? T(0) : second * place) + *element(product.data(), i, j, r.n);
        if constexpr (Hermitian && kIsComplex<T>)
          if (i == j) place = place.real();
      }
    }
  });
}

}  // namespace

extern "C" {

#define SIDE_PARAMETERS(Int)                                                                                          \
  cublasHandle_t h, cublasSideMode_t side, cublasFillMode_t fill, cublasOperation_t op, cublasDiagType_t diag, Int m, \
      Int n
#define RANK_PARAMETERS(Int) cublasHandle_t h, cublasFillMode_t fill, cublasOperation_t op, Int n, Int k

#define DEFINE_SYMM(L, T, suffix, Int, name, hermitian)                                                                \
  cublasStatus_t cublas##L##name##suffix(cublasHandle_t h, cublasSideMode_t side, cublasFillMode_t fill, Int m, Int n, \
                                         const T* alpha, const T* A, Int lda, const T* B, Int ldb, const T* beta,      \
                                         T* C, Int ldc) {                                                              \
    return symm<hermitian>(h, {side, fill, m, n, lda, ldb, ldc}, in(alpha), in(A), in(B), in(beta), in(C));            \
  }
#define DEFINE_RANK(L, T, S, suffix, Int, name, function, hermitian)                                               \
  cublasStatus_t cublas##L##name##suffix(RANK_PARAMETERS(Int), const S* alpha, const T* A, Int lda, const S* beta, \
                                         T* C, Int ldc) {                                                          \
    return function<hermitian>(h, {fill, op, n, k, lda, lda, ldc}, in(alpha), in(A), in(beta), in(C));             \
  }
#define DEFINE_RANK2(L, T, S, suffix, Int, name, function, hermitian)                                           \
  cublasStatus_t cublas##L##name##suffix(RANK_PARAMETERS(Int), const T* alpha, const T* A, Int lda, const T* B, \
                                         Int ldb, const S* beta, T* C, Int ldc) {                               \
    return function<hermitian>(h, {fill, op, n, k, lda, ldb, ldc}, in(alpha), in(A), in(B), in(beta), in(C));   \
  }

#define DEFINE(L, T, suffix, Int)                                                                                    \
  DEFINE_SYMM(L, T, suffix, Int, symm, false)                                                                        \
  DEFINE_RANK(L, T, T, suffix, Int, syrk, rankK, false)                                                              \
  DEFINE_RANK2(L, T, T, suffix, Int, syr2k, rank2K, false)                                                           \
  cublasStatus_t cublas##L##trsm##suffix(SIDE_PARAMETERS(Int), const T* alpha, const T* A, Int lda, T* B, Int ldb) { \
    return trsm(h, {side, fill, m, n, lda, ldb, ldb}, op, diag, in(alpha), in(A), in(B));                            \
  }                                                                                                                  \
  cublasStatus_t cublas##L##trmm##suffix(SIDE_PARAMETERS(Int), const T* alpha, const T* A, Int lda, const T* B,      \
                                         Int ldb, T* C, Int ldc) {                                                   \
    return trmm(h, {side, fill, m, n, lda, ldb, ldc}, op, diag, in(alpha), in(A), in(B), in(C));                     \
  }
ORDITO_FOR_ALL_V2(DEFINE)
#undef DEFINE

#define DEFINE(L, T, suffix, Int)                                   \
  DEFINE_SYMM(L, T, suffix, Int, hemm, true)                        \
  DEFINE_RANK(L, T, Real<Inner<T>>, suffix, Int, herk, rankK, true) \
  DEFINE_RANK2(L, T, Real<Inner<T>>, suffix, Int, her2k, rank2K, true)
ORDITO_FOR_COMPLEX_V2(DEFINE)
#undef DEFINE

#define DEFINE(L, T, suffix, Int)                                                                                   \
  DEFINE_RANK2(L, T, T, suffix, Int, syrkx, rankKx, false)                                                          \
  cublasStatus_t cublas##L##trsmBatched##suffix(SIDE_PARAMETERS(Int), const T* alpha, const T* const A[], Int lda,  \
                                                T* const B[], Int ldb, Int count) {                                 \
    return trsmBatched<Inner<T>>(h, {side, fill, m, n, lda, ldb, ldb}, op, diag, in(alpha), inArray(A), inArray(B), \
                                 count);                                                                            \
  }
ORDITO_FOR_ALL(DEFINE)
#undef DEFINE
#define DEFINE(L, T, suffix, Int) DEFINE_RANK2(L, T, Real<Inner<T>>, suffix, Int, herkx, rankKx, true)
ORDITO_FOR_COMPLEX(DEFINE)
#undef DEFINE

#define DEFINE_EX(name, S, suffix, Int, hermitian)                                                                   \
  cublasStatus_t cublas##name##suffix(RANK_PARAMETERS(Int), const S* alpha, const void* A, cudaDataType tA, Int lda, \
                                      const S* beta, void* C, cudaDataType tC, Int ldc) {                            \
    return rankKEx<hermitian>(h, {fill, op, n, k, lda, lda, ldc}, in(alpha), A, tA, in(beta), C, tC);                \
  }
#define DEFINE(suffix, Int)                           \
  DEFINE_EX(CsyrkEx, cuComplex, suffix, Int, false)   \
  DEFINE_EX(Csyrk3mEx, cuComplex, suffix, Int, false) \
  DEFINE_EX(CherkEx, float, suffix, Int, true)        \
  DEFINE_EX(Cherk3mEx, float, suffix, Int, true)
DEFINE(, int)
DEFINE(_64, int64_t)
#undef DEFINE

}  // extern "C"
}  // namespace ordito::cublas
