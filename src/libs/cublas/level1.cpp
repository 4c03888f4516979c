// cuBLAS level 1 by the names of the types of BLAS. See level1.hpp.
#include "libs/cublas/level1.hpp"

namespace ordito::cublas {

extern "C" {

#define DEFINE(L, T, suffix, Int)                                                                                     \
  cublasStatus_t cublas##L##axpy##suffix(cublasHandle_t h, Int n, const T* a, const T* x, Int incx, T* y, Int incy) { \
    return axpy(h, n, in(a), in(x), incx, in(y), incy);                                                               \
  }                                                                                                                   \
  cublasStatus_t cublas##L##copy##suffix(cublasHandle_t h, Int n, const T* x, Int incx, T* y, Int incy) {             \
    return copy(h, n, in(x), incx, in(y), incy);                                                                      \
  }                                                                                                                   \
  cublasStatus_t cublas##L##swap##suffix(cublasHandle_t h, Int n, T* x, Int incx, T* y, Int incy) {                   \
    return swap(h, n, in(x), incx, in(y), incy);                                                                      \
  }                                                                                                                   \
  cublasStatus_t cublas##L##scal##suffix(cublasHandle_t h, Int n, const T* a, T* x, Int incx) {                       \
    return scal(h, n, in(a), in(x), incx);                                                                            \
  }
ORDITO_FOR_ALL_V2(DEFINE)
#undef DEFINE

#define DEFINE(L, T, suffix, Int)                                                                                    \
  cublasStatus_t cublas##L##dot##suffix(cublasHandle_t h, Int n, const T* x, Int incx, const T* y, Int incy, T* r) { \
    return dot<false>(h, n, x, incx, y, incy, r);                                                                    \
  }                                                                                                                  \
  cublasStatus_t cublas##L##rot##suffix(cublasHandle_t h, Int n, T* x, Int incx, T* y, Int incy, const T* c,         \
                                        const T* s) {                                                                \
    return rot(h, n, x, incx, y, incy, c, s);                                                                        \
  }                                                                                                                  \
  cublasStatus_t cublas##L##rotm##suffix(cublasHandle_t h, Int n, T* x, Int incx, T* y, Int incy, const T* p) {      \
    return rotm(h, n, x, incx, y, incy, p);                                                                          \
  }
ORDITO_FOR_REAL_V2(DEFINE)
#undef DEFINE

#define DEFINE(L, T, suffix, Int)                                                                                     \
  cublasStatus_t cublas##L##dotu##suffix(cublasHandle_t h, Int n, const T* x, Int incx, const T* y, Int incy, T* r) { \
    return dot<false>(h, n, in(x), incx, in(y), incy, in(r));                                                         \
  }                                                                                                                   \
  cublasStatus_t cublas##L##dotc##suffix(cublasHandle_t h, Int n, const T* x, Int incx, const T* y, Int incy, T* r) { \
    return dot<true>(h, n, in(x), incx, in(y), incy, in(r));                                                          \
  }                                                                                                                   \
  cublasStatus_t cublas##L##rot##suffix(cublasHandle_t h, Int n, T* x, Int incx, T* y, Int incy,                      \
                                        const Real<Inner<T>>* c, const T* s) {                                        \
    return rot(h, n, in(x), incx, in(y), incy, c, in(s));                                                             \
  }
ORDITO_FOR_COMPLEX_V2(DEFINE)
#undef DEFINE

// What is named after two types.
#define DEFINE(L, T, suffix, Int)                                                                            \
  cublasStatus_t cublas##L##scal##suffix(cublasHandle_t h, Int n, const Real<Inner<T>>* a, T* x, Int incx) { \
    return scal(h, n, a, in(x), incx);                                                                       \
  }                                                                                                          \
  cublasStatus_t cublas##L##rot##suffix(cublasHandle_t h, Int n, T* x, Int incx, T* y, Int incy,             \
                                        const Real<Inner<T>>* c, const Real<Inner<T>>* s) {                  \
    return rot(h, n, in(x), incx, in(y), incy, c, s);                                                        \
  }
ORDITO_FORMS(DEFINE, Cs, cuComplex, _v2, _v2_64)
ORDITO_FORMS(DEFINE, Zd, cuDoubleComplex, _v2, _v2_64)
#undef DEFINE

#define DEFINE(L, T, suffix, Int)                                                                            \
  cublasStatus_t cublas##L##nrm2##suffix(cublasHandle_t h, Int n, const T* x, Int incx, Real<Inner<T>>* r) { \
    return nrm2(h, n, in(x), incx, r);                                                                       \
  }                                                                                                          \
  cublasStatus_t cublas##L##asum##suffix(cublasHandle_t h, Int n, const T* x, Int incx, Real<Inner<T>>* r) { \
    return asum(h, n, in(x), incx, r);                                                                       \
  }
ORDITO_FOR_REAL_V2(DEFINE)
ORDITO_FORMS(DEFINE, Sc, cuComplex, _v2, _v2_64)
ORDITO_FORMS(DEFINE, Dz, cuDoubleComplex, _v2, _v2_64)
#undef DEFINE

#define DEFINE(L, T, suffix, Int)                                                                  \
  cublasStatus_t cublasI##L##amax##suffix(cublasHandle_t h, Int n, const T* x, Int incx, Int* r) { \
    return extreme<true>(h, n, in(x), incx, r);                                                    \
  }                                                                                                \
  cublasStatus_t cublasI##L##amin##suffix(cublasHandle_t h, Int n, const T* x, Int incx, Int* r) { \
    return extreme<false>(h, n, in(x), incx, r);                                                   \
  }
ORDITO_FORMS(DEFINE, s, float, _v2, _v2_64)
ORDITO_FORMS(DEFINE, d, double, _v2, _v2_64)
ORDITO_FORMS(DEFINE, c, cuComplex, _v2, _v2_64)
ORDITO_FORMS(DEFINE, z, cuDoubleComplex, _v2, _v2_64)
#undef DEFINE

#define DEFINE(L, T)                                                                         \
  cublasStatus_t cublas##L##rotg_v2(cublasHandle_t h, T* a, T* b, Real<Inner<T>>* c, T* s) { \
    return rotg(h, in(a), in(b), c, in(s));                                                  \
  }
ORDITO_FOR_ALL_INT(DEFINE)
#undef DEFINE

cublasStatus_t cublasSrotmg_v2(cublasHandle_t h, float* d1, float* d2, float* x1, const float* y1, float* p) {
  return rotmg(h, d1, d2, x1, y1, p);
}
cublasStatus_t cublasDrotmg_v2(cublasHandle_t h, double* d1, double* d2, double* x1, const double* y1, double* p) {
  return rotmg(h, d1, d2, x1, y1, p);
}

}  // extern "C"
}  // namespace ordito::cublas
