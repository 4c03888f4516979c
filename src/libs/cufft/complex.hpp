// Complex numbers whose parts are numbers or vectors of numbers, and the arithmetic of transforms with them.
// Everything is inlined: this is part of files that are compiled for different instruction sets.
#pragma once

#define ORDITO_INLINE __attribute__((always_inline)) inline

namespace ordito::cufft {

template <class T>
struct Complex {
  T re, im;
};

template <class T>
ORDITO_INLINE Complex<T> operator+(Complex<T> a, Complex<T> b) {
  return {a.re + b.re, a.im + b.im};
}
template <class T>
ORDITO_INLINE Complex<T> operator-(Complex<T> a, Complex<T> b) {
  return {a.re - b.re, a.im - b.im};
}
/// By a factor whose parts are numbers or vectors.
template <class T, class F>
ORDITO_INLINE Complex<T> times(Complex<T> a, F re, F im) {
  return {a.re * re - a.im * im, a.re * im + a.im * re};
}
template <class T>
ORDITO_INLINE Complex<T> conjugate(Complex<T> a) {
  return {a.re, -a.im};
}
template <class T>
ORDITO_INLINE Complex<T> swapped(Complex<T> a) {
  return {a.im, a.re};
}
/// a * -i
template <class T>
ORDITO_INLINE Complex<T> turned(Complex<T> a) {
  return {a.im, -a.re};
}
template <class T, class F>
ORDITO_INLINE Complex<T> scaled(Complex<T> a, F factor) {
  return {a.re * factor, a.im * factor};
}

/// Elements k and half - k of n = 2 * half real numbers' transform, from those of the pairs' transform z:
/// X[k] = (z[k] + z*[half-k]) / 2 - i/2 w^k (z[k] - z*[half-k]), with w = exp(-2 pi i / n).
template <class T, class F>
ORDITO_INLINE void untangled(Complex<T>& low, Complex<T>& high, F re, F im) {
  const Complex<T> sum = low + conjugate(high);
  const Complex<T> difference = turned(times(low - conjugate(high), re, im));
  low = scaled(sum + difference, F(0.5));
  high = conjugate(scaled(sum - difference, F(0.5)));
}
/// The other way, twice as large: an unnormalised inverse of half the length then gives what one of the whole would.
template <class T, class F>
ORDITO_INLINE void tangled(Complex<T>& low, Complex<T>& high, F re, F im) {
  const Complex<T> sum = low + conjugate(high);
  // times conj(w^k) * i, which is the conjugate of w^k * -i
  const Complex<T> difference = times(low - conjugate(high), im, re);
  low = sum + difference;
  high = conjugate(sum - difference);
}

}  // namespace ordito::cufft
