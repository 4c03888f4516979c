// cuBLAS level 1: vectors. Loops of our own; long sums are made of partial sums, always the same ones, so results do
// not depend on how many threads there are.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "libs/cublas/handle.hpp"
#include "libs/cublas/vectors.hpp"

namespace ordito::cublas {
namespace {

template <class T>
cublasStatus_t axpy(cublasHandle_t handle, int64_t n, const T* alpha, const T* x, int64_t incx, T* y, int64_t incy) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(alpha);
  if (n <= 0) return CUBLAS_STATUS_SUCCESS;
  ORDITO_CHECK(x && y);
  const Scalar<T> scale(handle, alpha);
  return submit(handle, "cublas axpy", [=] {
    const T a = scale.get();
    const Vector<const T> from(x, n, incx);
    const Vector<T> to(y, n, incy);
    inChunks(n, [&](int64_t first, int64_t last) {
      if (incx == 1 && incy == 1)
        for (int64_t i = first; i < last; ++i) y[i] += multiply(a, x[i]);
      else
        for (int64_t i = first; i < last; ++i) to[i] += multiply(a, from[i]);
    });
  });
}

template <class T>
cublasStatus_t copy(cublasHandle_t handle, int64_t n, const T* x, int64_t incx, T* y, int64_t incy) {
  ORDITO_HANDLE(handle);
  if (n <= 0) return CUBLAS_STATUS_SUCCESS;
  ORDITO_CHECK(x && y);
  return submit(handle, "cublas copy", [=] {
    const Vector<const T> from(x, n, incx);
    const Vector<T> to(y, n, incy);
    inChunks(n, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) to[i] = from[i];
    });
  });
}

template <class T>
cublasStatus_t swap(cublasHandle_t handle, int64_t n, T* x, int64_t incx, T* y, int64_t incy) {
  ORDITO_HANDLE(handle);
  if (n <= 0) return CUBLAS_STATUS_SUCCESS;
  ORDITO_CHECK(x && y);
  return submit(handle, "cublas swap", [=] {
    const Vector<T> a(x, n, incx), b(y, n, incy);
    inChunks(n, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) std::swap(a[i], b[i]);
    });
  });
}

template <class T, class A>
cublasStatus_t scal(cublasHandle_t handle, int64_t n, const A* alpha, T* x, int64_t incx) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(alpha);
  if (n <= 0 || incx <= 0) return CUBLAS_STATUS_SUCCESS;
  ORDITO_CHECK(x);
  const Scalar<A> scale(handle, alpha);
  return submit(handle, "cublas scal", [=] {
    const A a = scale.get();
    inChunks(n, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) x[i * incx] = multiply(a, x[i * incx]);
    });
  });
}

template <bool Conjugate, class T>
cublasStatus_t dot(cublasHandle_t handle, int64_t n, const T* x, int64_t incx, const T* y, int64_t incy, T* result) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(result);
  ORDITO_CHECK(n <= 0 || (x && y));
  return submitAndAwait(handle, "cublas dot", [=] {
    const auto product = [n](const auto left, const auto right) {
      return sum<T>(n, [=](int64_t i) { return multiply(conjugateIf<Conjugate>(left[i]), right[i]); });
    };
    const bool areNeighbours = incx == 1 && incy == 1;
    *result = areNeighbours ? product(x, y) : product(Vector<const T>(x, n, incx), Vector<const T>(y, n, incy));
  });
}

template <class T>
cublasStatus_t asum(cublasHandle_t handle, int64_t n, const T* x, int64_t incx, Real<T>* result) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(result);
  ORDITO_CHECK(n <= 0 || incx <= 0 || x);
  return submitAndAwait(handle, "cublas asum", [=] {
    const auto total = [=](auto step) { return sum<Real<T>>(n, [=](int64_t i) { return size1(x[i * step]); }); };
    *result = incx > 0 ? withStep(incx, total) : Real<T>(0);
  });
}

template <class T>
cublasStatus_t nrm2(cublasHandle_t handle, int64_t n, const T* x, int64_t incx, Real<T>* result) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(result);
  ORDITO_CHECK(n <= 0 || incx <= 0 || x);
  return submitAndAwait(handle, "cublas nrm2", [=] { *result = norm(incx > 0 ? n : 0, x, incx); });
}

/// The first of the largest, or smallest, counted from 1.
template <bool Largest, class T, class Index>
cublasStatus_t extreme(cublasHandle_t handle, int64_t n, const T* x, int64_t incx, Index* result) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(result);
  ORDITO_CHECK(n <= 0 || incx <= 0 || x);
  return submitAndAwait(handle, "cublas amax or amin", [=] {
    int64_t best = 0;
    if (n <= 0 || incx <= 0) return void(*result = 0);
    for (int64_t i = 1; i < n; ++i) {
      const Real<T> here = size1(x[i * incx]), there = size1(x[best * incx]);
      if (Largest ? here > there : here < there) best = i;
    }
    *result = static_cast<Index>(best + 1);
  });
}

/// Plane rotations: C is the cosine's type, S the sine's.
template <class T, class C, class S>
cublasStatus_t rot(cublasHandle_t handle, int64_t n, T* x, int64_t incx, T* y, int64_t incy, const C* c, const S* s) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(c && s);
  if (n <= 0) return CUBLAS_STATUS_SUCCESS;
  ORDITO_CHECK(x && y);
  const Scalar<C> cosine(handle, c);
  const Scalar<S> sine(handle, s);
  return submit(handle, "cublas rot", [=] {
    const C cc = cosine.get();
    const S ss = sine.get();
    const Vector<T> a(x, n, incx), b(y, n, incy);
    for (int64_t i = 0; i < n; ++i) {
      const T first = multiply(cc, a[i]) + multiply(ss, b[i]);
      b[i] = multiply(cc, b[i]) - multiply(conjugateIf<true>(ss), a[i]);
      a[i] = first;
    }
  });
}

/// The rotation that makes b zero, in netlib's form: a becomes r, b what c and s can be made of again.
template <class T>
void makeRotation(T* a, T* b, T* c, T* s) {
  const T roe = std::abs(*a) > std::abs(*b) ? *a : *b, scale = std::abs(*a) + std::abs(*b);
  if (scale == 0) return void((*c = 1, *s = 0, *a = 0, *b = 0));
  const T r = std::copysign(scale * std::sqrt((*a / scale) * (*a / scale) + (*b / scale) * (*b / scale)), roe);
  *c = *a / r, *s = *b / r;
  const T z = std::abs(*a) > std::abs(*b) ? *s : *c != 0 ? 1 / *c : T(1);
  *a = r, *b = z;
}
template <class R>
void makeRotation(std::complex<R>* a, std::complex<R>* b, R* c, std::complex<R>* s) {
  const R size = std::abs(*a);
  if (size == 0) return void((*c = 0, *s = 1, *a = *b));
  const R scale = size + std::abs(*b);
  const R length = scale * std::sqrt(std::norm(*a / scale) + std::norm(*b / scale));
  const std::complex<R> direction = *a / size;
  *c = size / length, *s = direction * std::conj(*b) / length, *a = direction * length;
}

template <class T, class C>
cublasStatus_t rotg(cublasHandle_t handle, T* a, T* b, C* c, T* s) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(a && b && c && s);
  return submitAndAwait(handle, "cublas rotg", [=] { makeRotation(a, b, c, s); });
}

/// The matrix of a modified rotation, by its flag: -2 the unit, -1 full, 0 and 1 with ones where the flag says.
template <class T>
struct Modified {
  explicit Modified(const T* p) {
    if (p[0] == T(-1)) h11 = p[1], h21 = p[2], h12 = p[3], h22 = p[4];
    if (p[0] == T(0)) h21 = p[2], h12 = p[3];
    if (p[0] == T(1)) h11 = p[1], h22 = p[4], h12 = 1, h21 = -1;
  }
  T h11 = 1, h12 = 0, h21 = 0, h22 = 1;
};

template <class T>
struct Five {
  T values[5];
};

template <class T>
cublasStatus_t rotm(cublasHandle_t handle, int64_t n, T* x, int64_t incx, T* y, int64_t incy, const T* parameters) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(parameters);
  if (n <= 0) return CUBLAS_STATUS_SUCCESS;
  ORDITO_CHECK(x && y);
  const Scalar<Five<T>> scalars(handle, parameters);
  return submit(handle, "cublas rotm", [=] {
    const Modified<T> h(scalars.get().values);
    const Vector<T> a(x, n, incx), b(y, n, incy);
    for (int64_t i = 0; i < n; ++i) {
      const T first = h.h11 * a[i] + h.h12 * b[i];
      b[i] = h.h21 * a[i] + h.h22 * b[i];
      a[i] = first;
    }
  });
}

/// Scales a row of the modified rotation until its factor is in range.
template <class T>
void rescale(T& d, T* row1, T* row2, T* x) {
  constexpr T kGamma = 4096;
  while (d != 0 && (std::abs(d) <= 1 / (kGamma * kGamma) || std::abs(d) >= kGamma * kGamma)) {
    const bool small = std::abs(d) <= 1 / (kGamma * kGamma);
    d *= small ? kGamma * kGamma : 1 / (kGamma * kGamma);
    const T by = small ? 1 / kGamma : kGamma;
    *row1 *= by, *row2 *= by;
    if (x) *x *= by;
  }
}

/// Lawson, Hanson, Kincaid and Krogh: Basic Linear Algebra Subprograms for Fortran Usage, 1979.
template <class T>
void makeModified(T* d1, T* d2, T* x1, T y1, T* p) {
  Five<T> result{{-1, 0, 0, 0, 0}};
  T h11 = 0, h12 = 0, h21 = 0, h22 = 0;
  const T p2 = *d2 * y1, p1 = *d1 * *x1, q2 = p2 * y1, q1 = p1 * *x1;
  const bool first = std::abs(q1) > std::abs(q2);
  if (*d1 >= 0 && p2 == 0) return void(p[0] = -2);
  if (*d1 < 0 || (first ? false : q2 < 0)) {
    *d1 = *d2 = *x1 = 0;
    return void(std::copy_n(result.values, 5, p));
  }
  if (first) {
    h11 = h22 = 1, h21 = -y1 / *x1, h12 = p2 / p1;
    const T u = 1 - h12 * h21;
    *d1 /= u, *d2 /= u, *x1 *= u;
    result.values[0] = 0;
  } else {
    h12 = 1, h21 = -1, h11 = p1 / p2, h22 = *x1 / y1;
    const T u = 1 + h11 * h22, old = *d1;
    *d1 = *d2 / u, *d2 = old / u, *x1 = y1 * u;
    result.values[0] = 1;
  }
  const T before1 = *d1, before2 = *d2;
  rescale(*d1, &h11, &h12, x1);
  rescale(*d2, &h21, &h22, static_cast<T*>(nullptr));
  if (before1 != *d1 || before2 != *d2) result.values[0] = -1;
  const T flag = result.values[0];
  p[0] = flag;
  if (flag != T(0)) p[1] = h11, p[4] = h22;
  if (flag != T(1)) p[2] = h21, p[3] = h12;
}

template <class T>
cublasStatus_t rotmg(cublasHandle_t handle, T* d1, T* d2, T* x1, const T* y1, T* parameters) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(d1 && d2 && x1 && y1 && parameters);
  return submitAndAwait(handle, "cublas rotmg", [=] { makeModified(d1, d2, x1, *y1, parameters); });
}

}  // namespace

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
