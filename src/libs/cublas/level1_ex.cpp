// cuBLAS level 1 with the types of vectors and scalars as arguments: the combinations of the manual's tables, of which
// any other is not supported. See level1.hpp.
#include "libs/cublas/level1.hpp"

namespace ordito::cublas {
namespace {

template <class E>
inline constexpr bool kIsVectorElement =
    std::is_floating_point_v<E> || kIsComplex<E> || std::is_same_v<E, Half> || std::is_same_v<E, Bfloat16>;

/// Calls with an element of the type, if vectors are made of it.
template <class Body>
cublasStatus_t byType(cublasHandle_t handle, cudaDataType type, const Body& body) {
  ORDITO_HANDLE(handle);
  cublasStatus_t status = CUBLAS_STATUS_NOT_SUPPORTED;
  withElement(type, [&](auto element) {
    if constexpr (kIsVectorElement<decltype(element)>) status = body(element);
  });
  return status;
}

/// The types beside the vectors' own: of a second vector, a result, a scalar, and what sums are made in.
struct Types {
  cudaDataType x, y, execution;

  /// Whether two vectors are of type E, computed as cuBLAS computes them.
  template <class E>
  bool fit() const {
    return x == y && execution == kTypeOf<Wide<E>>;
  }
};

template <class E>
inline constexpr cudaDataType kRealTypeOf = kTypeOf<Real<Wide<E>>>;

cublasStatus_t axpyEx(cublasHandle_t handle, int64_t n, const void* alpha, cudaDataType alphaType, const void* x,
                      int64_t incx, void* y, int64_t incy, const Types& types) {
  return byType(handle, types.x, [&](auto element) {
    using E = decltype(element);
    if (!types.fit<E>() || alphaType != types.execution) return CUBLAS_STATUS_NOT_SUPPORTED;
    return axpy(handle, n, static_cast<const Wide<E>*>(alpha), static_cast<const E*>(x), incx, static_cast<E*>(y),
                incy);
  });
}

cublasStatus_t scalEx(cublasHandle_t handle, int64_t n, const void* alpha, cudaDataType alphaType, void* x,
                      cudaDataType type, int64_t incx, cudaDataType execution) {
  return byType(handle, type, [&](auto element) {
    using E = decltype(element);
    if (execution != kTypeOf<Wide<E>> || alphaType != execution) return CUBLAS_STATUS_NOT_SUPPORTED;
    return scal(handle, n, static_cast<const Wide<E>*>(alpha), static_cast<E*>(x), incx);
  });
}

template <bool Conjugate>
cublasStatus_t dotEx(cublasHandle_t handle, int64_t n, const void* x, int64_t incx, const void* y, int64_t incy,
                     void* result, cudaDataType resultType, const Types& types) {
  return byType(handle, types.x, [&](auto element) {
    using E = decltype(element);
    if (!types.fit<E>() || resultType != types.x) return CUBLAS_STATUS_NOT_SUPPORTED;
    return dot<Conjugate>(handle, n, static_cast<const E*>(x), incx, static_cast<const E*>(y), incy,
                          static_cast<E*>(result));
  });
}

/// A length of a vector: `length` is nrm2 or asum.
template <class Length>
cublasStatus_t lengthEx(cublasHandle_t handle, const void* x, void* result, const Types& types, const Length& length) {
  return byType(handle, types.x, [&](auto element) {
    using E = decltype(element);
    // Of halves a half, computed in float; of others the real number, by the name of either.
    const bool isNamed = types.execution == kTypeOf<Wide<E>> || types.execution == kRealTypeOf<E>;
    if (types.y != (kHasBits<E> ? types.x : kRealTypeOf<E>) || !isNamed) return CUBLAS_STATUS_NOT_SUPPORTED;
    return length(static_cast<const E*>(x), static_cast<RealElement<E>*>(result));
  });
}

template <class Index>
cublasStatus_t extremeEx(bool largest, cublasHandle_t handle, int64_t n, const void* x, cudaDataType type, int64_t incx,
                         Index* result) {
  return byType(handle, type, [&](auto element) {
    const auto* vector = static_cast<const decltype(element)*>(x);
    return largest ? extreme<true>(handle, n, vector, incx, result) : extreme<false>(handle, n, vector, incx, result);
  });
}

/// Numbers are moved as they are, so only their size matters.
cublasStatus_t copyEx(cublasHandle_t handle, int64_t n, const void* x, int64_t incx, void* y, int64_t incy,
                      const Types& types) {
  return byType(handle, types.x, [&](auto element) {
    using E = decltype(element);
    if (types.x != types.y) return CUBLAS_STATUS_NOT_SUPPORTED;
    return copy(handle, n, static_cast<const E*>(x), incx, static_cast<E*>(y), incy);
  });
}

cublasStatus_t swapEx(cublasHandle_t handle, int64_t n, void* x, int64_t incx, void* y, int64_t incy,
                      const Types& types) {
  return byType(handle, types.x, [&](auto element) {
    using E = decltype(element);
    if (types.x != types.y) return CUBLAS_STATUS_NOT_SUPPORTED;
    return swap(handle, n, static_cast<E*>(x), incx, static_cast<E*>(y), incy);
  });
}

/// The cosine and the sine have one type: the vectors', or the real one of complex vectors. A cosine that is named as
/// complex is read by its real part.
cublasStatus_t rotEx(cublasHandle_t handle, int64_t n, void* x, int64_t incx, void* y, int64_t incy, const void* c,
                     const void* s, cudaDataType turnType, const Types& types) {
  return byType(handle, types.x, [&](auto element) {
    using E = decltype(element);
    auto *a = static_cast<E*>(x), *b = static_cast<E*>(y);
    if (!types.fit<E>()) return CUBLAS_STATUS_NOT_SUPPORTED;
    if (turnType == types.x)
      return rot(handle, n, a, incx, b, incy, static_cast<const RealElement<E>*>(c), static_cast<const E*>(s));
    if (!kIsComplex<E> || turnType != kRealTypeOf<E>) return CUBLAS_STATUS_NOT_SUPPORTED;
    return rot(handle, n, a, incx, b, incy, static_cast<const RealElement<E>*>(c),
               static_cast<const RealElement<E>*>(s));
  });
}

cublasStatus_t rotgEx(cublasHandle_t handle, void* a, void* b, cudaDataType type, void* c, void* s,
                      cudaDataType turnType, cudaDataType execution) {
  return byType(handle, type, [&](auto element) {
    using E = decltype(element);
    if (turnType != type || execution != kTypeOf<Wide<E>>) return CUBLAS_STATUS_NOT_SUPPORTED;
    return rotg(handle, static_cast<E*>(a), static_cast<E*>(b), static_cast<RealElement<E>*>(c), static_cast<E*>(s));
  });
}

cublasStatus_t rotmEx(cublasHandle_t handle, int64_t n, void* x, int64_t incx, void* y, int64_t incy, const void* p,
                      cudaDataType parameterType, const Types& types) {
  return byType(handle, types.x, [&](auto element) {
    using E = decltype(element);
    if constexpr (!kIsComplex<E>)
      if (types.fit<E>() && parameterType == types.x)
        return rotm(handle, n, static_cast<E*>(x), incx, static_cast<E*>(y), incy, static_cast<const E*>(p));
    return CUBLAS_STATUS_NOT_SUPPORTED;
  });
}

}  // namespace

extern "C" {

#define VECTORS(Int) Int n, const void *x, cudaDataType tx, Int incx, const void *y, cudaDataType ty, Int incy
#define CHANGED_VECTORS(Int) Int n, void *x, cudaDataType tx, Int incx, void *y, cudaDataType ty, Int incy
#define DEFINE(suffix, Int)                                                                                         \
  cublasStatus_t cublasNrm2Ex##suffix(cublasHandle_t h, Int n, const void* x, cudaDataType tx, Int incx, void* r,   \
                                      cudaDataType tr, cudaDataType execution) {                                    \
    return lengthEx(h, x, r, {tx, tr, execution},                                                                   \
                    [=](auto* vector, auto* result) { return nrm2(h, n, vector, incx, result); });                  \
  }                                                                                                                 \
  cublasStatus_t cublasAsumEx##suffix(cublasHandle_t h, Int n, const void* x, cudaDataType tx, Int incx, void* r,   \
                                      cudaDataType tr, cudaDataType execution) {                                    \
    return lengthEx(h, x, r, {tx, tr, execution},                                                                   \
                    [=](auto* vector, auto* result) { return asum(h, n, vector, incx, result); });                  \
  }                                                                                                                 \
  cublasStatus_t cublasDotEx##suffix(cublasHandle_t h, VECTORS(Int), void* r, cudaDataType tr,                      \
                                     cudaDataType execution) {                                                      \
    return dotEx<false>(h, n, x, incx, y, incy, r, tr, {tx, ty, execution});                                        \
  }                                                                                                                 \
  cublasStatus_t cublasDotcEx##suffix(cublasHandle_t h, VECTORS(Int), void* r, cudaDataType tr,                     \
                                      cudaDataType execution) {                                                     \
    return dotEx<true>(h, n, x, incx, y, incy, r, tr, {tx, ty, execution});                                         \
  }                                                                                                                 \
  cublasStatus_t cublasScalEx##suffix(cublasHandle_t h, Int n, const void* a, cudaDataType ta, void* x,             \
                                      cudaDataType tx, Int incx, cudaDataType execution) {                          \
    return scalEx(h, n, a, ta, x, tx, incx, execution);                                                             \
  }                                                                                                                 \
  cublasStatus_t cublasAxpyEx##suffix(cublasHandle_t h, Int n, const void* a, cudaDataType ta, const void* x,       \
                                      cudaDataType tx, Int incx, void* y, cudaDataType ty, Int incy,                \
                                      cudaDataType execution) {                                                     \
    return axpyEx(h, n, a, ta, x, incx, y, incy, {tx, ty, execution});                                              \
  }                                                                                                                 \
  cublasStatus_t cublasCopyEx##suffix(cublasHandle_t h, Int n, const void* x, cudaDataType tx, Int incx, void* y,   \
                                      cudaDataType ty, Int incy) {                                                  \
    return copyEx(h, n, x, incx, y, incy, {tx, ty, tx});                                                            \
  }                                                                                                                 \
  cublasStatus_t cublasSwapEx##suffix(cublasHandle_t h, CHANGED_VECTORS(Int)) {                                     \
    return swapEx(h, n, x, incx, y, incy, {tx, ty, tx});                                                            \
  }                                                                                                                 \
  cublasStatus_t cublasIamaxEx##suffix(cublasHandle_t h, Int n, const void* x, cudaDataType tx, Int incx, Int* r) { \
    return extremeEx(true, h, n, x, tx, incx, r);                                                                   \
  }                                                                                                                 \
  cublasStatus_t cublasIaminEx##suffix(cublasHandle_t h, Int n, const void* x, cudaDataType tx, Int incx, Int* r) { \
    return extremeEx(false, h, n, x, tx, incx, r);                                                                  \
  }                                                                                                                 \
  cublasStatus_t cublasRotEx##suffix(cublasHandle_t h, CHANGED_VECTORS(Int), const void* c, const void* s,          \
                                     cudaDataType tcs, cudaDataType execution) {                                    \
    return rotEx(h, n, x, incx, y, incy, c, s, tcs, {tx, ty, execution});                                           \
  }                                                                                                                 \
  cublasStatus_t cublasRotmEx##suffix(cublasHandle_t h, CHANGED_VECTORS(Int), const void* p, cudaDataType tp,       \
                                      cudaDataType execution) {                                                     \
    return rotmEx(h, n, x, incx, y, incy, p, tp, {tx, ty, execution});                                              \
  }
DEFINE(, int)
DEFINE(_64, int64_t)
#undef DEFINE

cublasStatus_t cublasRotgEx(cublasHandle_t h, void* a, void* b, cudaDataType type, void* c, void* s, cudaDataType tcs,
                            cudaDataType execution) {
  return rotgEx(h, a, b, type, c, s, tcs, execution);
}
cublasStatus_t cublasRotmgEx(cublasHandle_t h, void* d1, cudaDataType t1, void* d2, cudaDataType t2, void* x1,
                             cudaDataType tx, const void* y1, cudaDataType ty, void* p, cudaDataType tp,
                             cudaDataType execution) {
  return byType(h, t1, [&](auto element) {
    using E = decltype(element);
    const bool areSame = t2 == t1 && tx == t1 && ty == t1 && tp == t1 && execution == kTypeOf<Wide<E>>;
    if constexpr (!kIsComplex<E>)
      if (areSame)
        return rotmg(h, static_cast<E*>(d1), static_cast<E*>(d2), static_cast<E*>(x1), static_cast<const E*>(y1),
                     static_cast<E*>(p));
    return CUBLAS_STATUS_NOT_SUPPORTED;
  });
}

}  // extern "C"
}  // namespace ordito::cublas
