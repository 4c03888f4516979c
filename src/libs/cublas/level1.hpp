// cuBLAS level 1: vectors of every type. Loops of our own; long sums are made of partial sums, always the same ones, so
// results do not depend on how many threads there are. Elements of a small type are computed in float.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

#include "libs/cublas/elements.hpp"
#include "libs/cublas/handle.hpp"
#include "libs/cublas/vectors.hpp"

namespace ordito::cublas {

template <class E>
cublasStatus_t axpy(cublasHandle_t handle, int64_t n, const Wide<E>* alpha, const E* x, int64_t incx, E* y,
                    int64_t incy) {
  ORDITO_HANDLE(handle);
  if (n <= 0 || isHosts(handle, alpha, Wide<E>(0))) return CUBLAS_STATUS_SUCCESS;
  // Whether the vectors are read is not known before a factor on the device is.
  ORDITO_CHECK(alpha && ((x && y) || handle->pointerMode == CUBLAS_POINTER_MODE_DEVICE));
  const Scalar<Wide<E>> scale(handle, alpha);
  return submit(handle, "cublas axpy", [=] {
    if (scale.get() == Wide<E>(0)) return;  // whatever x has
    const auto add = [a = scale.get()](const E& from, E& to) {
      to = narrowed<E>(widen(to) + multiply(a, widen(from)));
    };
    const Vector<const E> from(x, n, incx);
    const Vector<E> to(y, n, incy);
    inChunks(n, [&](int64_t first, int64_t last) {
      if (incx == 1 && incy == 1)
        for (int64_t i = first; i < last; ++i) add(x[i], y[i]);
      else
        for (int64_t i = first; i < last; ++i) add(from[i], to[i]);
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

template <class E, class A>
cublasStatus_t scal(cublasHandle_t handle, int64_t n, const A* alpha, E* x, int64_t incx) {
  ORDITO_HANDLE(handle);
  if (n <= 0 || incx <= 0) return CUBLAS_STATUS_SUCCESS;
  ORDITO_CHECK(alpha && x);
  const Scalar<A> scale(handle, alpha);
  return submit(handle, "cublas scal", [=] {
    const A a = scale.get();
    inChunks(n, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) x[i * incx] = narrowed<E>(multiply(a, widen(x[i * incx])));
    });
  });
}

template <bool Conjugate, class E>
cublasStatus_t dot(cublasHandle_t handle, int64_t n, const E* x, int64_t incx, const E* y, int64_t incy, E* result) {
  ORDITO_HANDLE(handle);
  if (!result) return CUBLAS_STATUS_MAPPING_ERROR;  // as on a GPU
  ORDITO_CHECK(n <= 0 || (x && y));
  return submitAndAwait(handle, "cublas dot", [=] {
    const auto product = [n](const auto left, const auto right) {
      return sum<Wide<E>>(n,
                          [=](int64_t i) { return multiply(conjugateIf<Conjugate>(widen(left[i])), widen(right[i])); });
    };
    const bool areNeighbours = incx == 1 && incy == 1;
    *result =
        narrowed<E>(areNeighbours ? product(x, y) : product(Vector<const E>(x, n, incx), Vector<const E>(y, n, incy)));
  });
}

/// The real number of an element's kind: of a half a half.
template <class E>
using RealElement = std::conditional_t<kHasBits<E>, E, Real<Wide<E>>>;

template <class E>
cublasStatus_t asum(cublasHandle_t handle, int64_t n, const E* x, int64_t incx, RealElement<E>* result) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(result);
  ORDITO_CHECK(n <= 0 || incx <= 0 || x);
  return submitAndAwait(handle, "cublas asum", [=] {
    using Sum = Real<Wide<E>>;
    const auto total = [=](auto step) { return sum<Sum>(n, [=](int64_t i) { return size1(widen(x[i * step])); }); };
    *result = narrowed<RealElement<E>>(incx > 0 ? withStep(incx, total) : Sum(0));
  });
}

template <class E>
cublasStatus_t nrm2(cublasHandle_t handle, int64_t n, const E* x, int64_t incx, RealElement<E>* result) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(result);
  ORDITO_CHECK(n <= 0 || incx <= 0 || x);
  return submitAndAwait(handle, "cublas nrm2",
                        [=] { *result = narrowed<RealElement<E>>(norm(incx > 0 ? n : 0, x, incx)); });
}

/// The first of the largest, or smallest, counted from 1. NaNs are passed over; if all are, it is the first.
template <bool Largest, class E, class Index>
cublasStatus_t extreme(cublasHandle_t handle, int64_t n, const E* x, int64_t incx, Index* result) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(result);
  ORDITO_CHECK(n <= 0 || incx <= 0 || x);
  return submitAndAwait(handle, "cublas amax or amin", [=] {
    if (n <= 0 || incx <= 0) return void(*result = 0);
    const auto at = [=](int64_t i) { return size1(widen(x[i * incx])); };
    int64_t best = 0;
    while (best < n && std::isnan(at(best))) ++best;
    for (int64_t i = best + 1; i < n; ++i)
      if (Largest ? at(i) > at(best) : at(i) < at(best)) best = i;
    *result = static_cast<Index>(best < n ? best + 1 : 1);
  });
}

/// Plane rotations: C is the cosine's type, S the sine's.
template <class E, class C, class S>
cublasStatus_t rot(cublasHandle_t handle, int64_t n, E* x, int64_t incx, E* y, int64_t incy, const C* c, const S* s) {
  ORDITO_HANDLE(handle);
  if (n <= 0) return CUBLAS_STATUS_SUCCESS;
  ORDITO_CHECK(c && s && x && y);
  const Scalar<C> cosine(handle, c);
  const Scalar<S> sine(handle, s);
  return submit(handle, "cublas rot", [=] {
    const auto cc = widen(cosine.get());
    const auto ss = widen(sine.get());
    const Vector<E> a(x, n, incx), b(y, n, incy);
    for (int64_t i = 0; i < n; ++i) {
      const Wide<E> one = widen(a[i]), other = widen(b[i]);
      a[i] = narrowed<E>(multiply(cc, one) + multiply(ss, other));
      b[i] = narrowed<E>(multiply(cc, other) - multiply(conjugateIf<true>(ss), one));
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

template <class E>
cublasStatus_t rotg(cublasHandle_t handle, E* a, E* b, RealElement<E>* c, E* s) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(a && b && c && s);
  return submitAndAwait(handle, "cublas rotg", [=] {
    Wide<E> r = widen(*a), z = widen(*b), sine{};
    Real<Wide<E>> cosine{};
    makeRotation(&r, &z, &cosine, &sine);
    *a = narrowed<E>(r), *b = narrowed<E>(z), *c = narrowed<RealElement<E>>(cosine), *s = narrowed<E>(sine);
  });
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

template <class E>
cublasStatus_t rotm(cublasHandle_t handle, int64_t n, E* x, int64_t incx, E* y, int64_t incy, const E* parameters) {
  ORDITO_HANDLE(handle);
  constexpr auto kIdentity = static_cast<Wide<E>>(-2);  // of the parameters' flag
  if (n <= 0) return CUBLAS_STATUS_SUCCESS;
  ORDITO_CHECK(parameters);
  if (handle->pointerMode == CUBLAS_POINTER_MODE_HOST && widen(*parameters) == kIdentity) return CUBLAS_STATUS_SUCCESS;
  ORDITO_CHECK(x && y);
  const Scalar<Five<E>> scalars(handle, parameters);
  return submit(handle, "cublas rotm", [=] {
    Five<Wide<E>> wide;
    const Five<E> five = scalars.get();
    std::transform(five.values, five.values + 5, wide.values, [](E value) { return widen(value); });
    const Modified<Wide<E>> h(wide.values);
    const Vector<E> a(x, n, incx), b(y, n, incy);
    for (int64_t i = 0; i < n; ++i) {
      const Wide<E> one = widen(a[i]), other = widen(b[i]);
      a[i] = narrowed<E>(h.h11 * one + h.h12 * other);
      b[i] = narrowed<E>(h.h21 * one + h.h22 * other);
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

template <class E>
cublasStatus_t rotmg(cublasHandle_t handle, E* d1, E* d2, E* x1, const E* y1, E* parameters) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(d1 && d2 && x1 && y1 && parameters);
  return submitAndAwait(handle, "cublas rotmg", [=] {
    Wide<E> first = widen(*d1), second = widen(*d2), x = widen(*x1);
    Five<Wide<E>> p;  // what the flag makes unneeded stays as it is
    std::transform(parameters, parameters + 5, p.values, [](E value) { return widen(value); });
    makeModified(&first, &second, &x, widen(*y1), p.values);
    *d1 = narrowed<E>(first), *d2 = narrowed<E>(second), *x1 = narrowed<E>(x);
    std::transform(p.values, p.values + 5, parameters, [](Wide<E> value) { return narrowed<E>(value); });
  });
}

}  // namespace ordito::cublas
