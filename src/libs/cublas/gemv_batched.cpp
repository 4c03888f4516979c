// cuBLAS: many products of a matrix and a vector at once, in the types of BLAS and with matrices of half precision or
// bfloat16, which are computed in float.
#include <algorithm>

#include "cuda_bf16.h"
#include "libs/cublas/handle.hpp"
#include "libs/cublas/vectors.hpp"
#include "ordito/cublas_overloads.h"

namespace ordito::cublas {
namespace {

struct Gemv {
  cublasOperation_t op;
  int64_t m, n, lda, incx, incy, count;

  bool isRight() const {
    return isOperation(op) && m >= 0 && n >= 0 && lda >= std::max<int64_t>(1, m) && incx != 0 && incy != 0 &&
           count >= 0 && areCountable(m, n, lda, incx, incy, count);
  }
  bool isEmpty() const { return m == 0 || n == 0 || count == 0; }
};

/// y = alpha op(A) x + beta y for elements E of A and x, F of y. What is multiplied by 0 is not read.
template <class E, class F>
void multiplyVector(const Gemv& g, Wide<E> alpha, const E* a, const E* x, Wide<E> beta, F* y) {
  const int64_t rows = g.op == CUBLAS_OP_N ? g.m : g.n, columns = g.op == CUBLAS_OP_N ? g.n : g.m;
  const Vector<const E> from(x, columns, g.incx);
  const Vector<F> to(y, rows, g.incy);
  using W = Wide<E>;
  for (int64_t i = 0; i < rows; ++i) {
    W total{};
    if (alpha != W(0))
      for (int64_t j = 0; j < columns; ++j) total += multiply(operated(g.op, a, g.lda, i, j), widen(from[j]));
    const W before = beta == W(0) ? W(0) : multiply(beta, widen(to[i]));
    to[i] = narrowed<F>(before + multiply(alpha, total));
  }
}

/// The operands of the i-th product: from arrays of pointers, which are read in the task, or by strides.
template <class E, class F>
struct Pointers {
  const E *const *a, *const *x;
  F* const* y;

  void run(const Gemv& g, int64_t i, Wide<E> alpha, Wide<E> beta) const {
    multiplyVector(g, alpha, at(a, i), at(x, i), beta, y[i]);
  }
};
template <class E, class F>
struct Strides {
  const E* a;
  int64_t stepA;
  const E* x;
  int64_t stepX;
  F* y;
  int64_t stepY;

  void run(const Gemv& g, int64_t i, Wide<E> alpha, Wide<E> beta) const {
    multiplyVector(g, alpha, a + i * stepA, x + i * stepX, beta, y + i * stepY);
  }
};

template <template <class, class> class Operands, class E, class F>
cublasStatus_t gemvMany(cublasHandle_t handle, const Gemv& g, const Wide<E>* alpha, const Wide<E>* beta,
                        const Operands<E, F>& operands) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(g.isRight());
  if (g.isEmpty()) return CUBLAS_STATUS_SUCCESS;
  if (const auto answer = answerAtOnce(handle, true, alpha, operands.a && operands.x, beta, operands.y)) return *answer;
  const Scalar<Wide<E>> one(handle, alpha), other(handle, beta);
  return submit(handle, "cublas gemvBatched", [=] {
    const Wide<E> first = one.get(), second = other.get();
    libs::parallelFor(static_cast<unsigned>(g.count), [&](unsigned i) { operands.run(g, i, first, second); });
  });
}

}  // namespace

extern "C" {

// A: the type of the matrix and x, Y: that of y, S: that of the scalars; E and F: those of the elements within.
#define DEFINE_TYPED(name, A, Y, S, E, F, suffix, Int)                                                                 \
  cublasStatus_t cublas##name##Batched##suffix(cublasHandle_t h, cublasOperation_t op, Int m, Int n, const S* alpha,   \
                                               const A* const a[], Int lda, const A* const x[], Int incx,              \
                                               const S* beta, Y* const y[], Int incy, Int count) {                     \
    return gemvMany<Pointers, E, F>(                                                                                   \
        h, {op, m, n, lda, incx, incy, count}, in(alpha), in(beta),                                                    \
        {reinterpret_cast<const E* const*>(a), reinterpret_cast<const E* const*>(x), reinterpret_cast<F* const*>(y)}); \
  }                                                                                                                    \
  cublasStatus_t cublas##name##StridedBatched##suffix(                                                                 \
      cublasHandle_t h, cublasOperation_t op, Int m, Int n, const S* alpha, const A* a, Int lda, long long strideA,    \
      const A* x, Int incx, long long strideX, const S* beta, Y* y, Int incy, long long strideY, Int count) {          \
    return gemvMany<Strides, E, F>(h, {op, m, n, lda, incx, incy, count}, in(alpha), in(beta),                         \
                                   {reinterpret_cast<const E*>(a), strideA, reinterpret_cast<const E*>(x), strideX,    \
                                    reinterpret_cast<F*>(y), strideY});                                                \
  }
#define DEFINE(L, T, suffix, Int) DEFINE_TYPED(L##gemv, T, T, T, Inner<T>, Inner<T>, suffix, Int)
ORDITO_FOR_ALL(DEFINE)
#undef DEFINE
#define DEFINE(suffix, Int)                                                                   \
  DEFINE_TYPED(HSHgemv, __half, __half, float, Half, Half, suffix, Int)                       \
  DEFINE_TYPED(HSSgemv, __half, float, float, Half, float, suffix, Int)                       \
  DEFINE_TYPED(TSTgemv, __nv_bfloat16, __nv_bfloat16, float, Bfloat16, Bfloat16, suffix, Int) \
  DEFINE_TYPED(TSSgemv, __nv_bfloat16, float, float, Bfloat16, float, suffix, Int)
DEFINE(, int)
DEFINE(_64, int64_t)
#undef DEFINE

}  // extern "C"
}  // namespace ordito::cublas
