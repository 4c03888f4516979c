// Vectors with steps, and loops over them: in chunks on all threads if they are long.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "libs/cublas/elements.hpp"
#include "libs/stream_task.hpp"

namespace ordito::cublas {

/// With a negative step the first element is the last in memory.
template <class T>
class Vector {
 public:
  Vector(T* data, int64_t n, int64_t step) : first_(step < 0 ? data - (n - 1) * step : data), step_(step) {}
  T& operator[](int64_t i) const { return first_[i * step_]; }

 private:
  T* first_;
  int64_t step_;
};

/// Without the detours that the language wants for infinities.
template <class A, class B>
auto multiply(A a, B b) {
  if constexpr (kIsComplex<A> && kIsComplex<B>)
    return B(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real());
  else if constexpr (kIsComplex<B>)
    return B(a * b.real(), a * b.imag());
  else
    return a * b;
}

template <bool Conjugate, class T>
T conjugateIf(T value) {
  if constexpr (Conjugate && kIsComplex<T>)
    return std::conj(value);
  else
    return value;
}

/// The size that amax and asum mean: of a complex number the sum of its parts'.
template <class T>
Real<T> size1(T value) {
  if constexpr (kIsComplex<T>)
    return std::abs(value.real()) + std::abs(value.imag());
  else
    return std::abs(value);
}

/// Element (i, j) of op(A); `op` is CUBLAS_OP_N, _T or _C.
template <class E, class Op>
Wide<E> operated(Op op, const E* a, int64_t lda, int64_t i, int64_t j) {
  const Wide<E> value = widen(op == Op{} ? a[i + j * lda] : a[j + i * lda]);
  return op == static_cast<Op>(2) ? conjugateIf<true>(value) : value;
}

/// body(step), in which a step of 1 is a constant: the compiler makes vectors of loops over neighbours.
template <class Body>
auto withStep(int64_t step, const Body& body) {
  return step == 1 ? body(std::integral_constant<int64_t, 1>{}) : body(step);
}

// Loops over memory are compiled three times: only the widest vectors keep up with quick memory. What a body calls has
// to be inlined into it, so that it is compiled with it.
#define ORDITO_AVX512 [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,fma")]]
#define ORDITO_AVX2 [[gnu::target("avx2,fma")]]
inline const bool kHasAvx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
inline const bool kHasAvx512 = kHasAvx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                               __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
template <class Body>
ORDITO_AVX512 void callWithAvx512(const Body& body) {
  [[clang::always_inline]] body();
}
template <class Body>
ORDITO_AVX2 void callWithAvx2(const Body& body) {
  [[clang::always_inline]] body();
}
#undef ORDITO_AVX512
#undef ORDITO_AVX2

/// body(), compiled for the processor's vectors.
template <class Body>
void withVectors(const Body& body) {
  kHasAvx512 ? callWithAvx512(body) : kHasAvx2 ? callWithAvx2(body) : body();
}

inline constexpr int64_t kChunk = 1 << 15;

template <class Body>
void inChunks(int64_t n, const Body& body) {
  const auto range = [&](int64_t first, int64_t last) {
    withVectors([&] { [[clang::always_inline]] body(first, last); });
  };
  if (n <= 2 * kChunk) return range(int64_t{0}, n);
  libs::parallelFor(static_cast<unsigned>((n + kChunk - 1) / kChunk), [&](unsigned chunk) {
    const int64_t first = static_cast<int64_t>(chunk) * kChunk;
    range(first, std::min(n, first + kChunk));
  });
}

/// The sum of term(i), in an order that lets the compiler make vectors, which is always the same on one processor.
template <class R, class Term>
[[gnu::always_inline]] inline R sumOfChunk(int64_t first, int64_t last, const Term& term) {
#pragma clang fp reassociate(on)
  if constexpr (kIsComplex<R>) {
    Real<R> real = 0, imaginary = 0;
    for (int64_t i = first; i < last; ++i) {
      const R one = term(i);
      real += one.real(), imaginary += one.imag();
    }
    return R(real, imaginary);
  } else {
    R total = 0;
    for (int64_t i = first; i < last; ++i) total += term(i);
    return total;
  }
}

/// The same in chunks, whose sums are added in order.
template <class R, class Term>
R sum(int64_t n, const Term& term) {
  if (n <= 0) return R{};
  std::vector<R> sums(static_cast<size_t>((n + kChunk - 1) / kChunk));
  inChunks(n, [&](int64_t from, int64_t to) {
    for (int64_t first = from; first < to; first += kChunk)
      sums[static_cast<size_t>(first / kChunk)] = sumOfChunk<R>(first, std::min(to, first + kChunk), term);
  });
  R total{};
  for (const R& one : sums) total += one;
  return total;
}

/// The Euclidean length; squares that are too large or too small for the type are scaled.
template <class E>
Real<Wide<E>> norm(int64_t n, const E* x, int64_t incx) {
  using T = Wide<E>;
  auto scaled = [&](double by) {
    const double squares = withStep(incx, [=](auto step) {
      return sum<double>(n, [=](int64_t i) {
        const T value = widen(x[i * step]);
        const double a = std::real(value) * by, b = std::imag(value) * by;
        return a * a + b * b;
      });
    });
    return std::sqrt(squares) / by;
  };
  const double length = scaled(1);
  constexpr bool kIsWider = sizeof(Real<T>) < sizeof(double);
  if (kIsWider || std::isnan(length) || (length < 1e150 && length > 1e-140)) return static_cast<Real<T>>(length);
  double largest = 0;
  for (int64_t i = 0; i < n; ++i) largest = std::max(largest, static_cast<double>(size1(widen(x[i * incx]))));
  if (largest == 0 || std::isinf(largest)) return static_cast<Real<T>>(largest);
  return static_cast<Real<T>>(scaled(1 / largest));
}

}  // namespace ordito::cublas
