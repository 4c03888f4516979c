// Transforms of few elements, held in registers: what a pass of Stockham's algorithm is made of.
#pragma once

#include "libs/cufft/complex.hpp"

namespace ordito::cufft {

/// cos and sin of 2 pi k / n while compiling: Taylor's series at an angle of at most pi / 4, and symmetry.
struct Turn {
  double cosine, sine;
  constexpr Turn(int k, int n) : cosine(0), sine(0) {
    k %= n;
    // By eighths: angle = octant * pi / 4 + rest.
    const int octant = 8 * k / n;
    const bool isOdd = octant % 2;
    const long double rest =
        6.283185307179586476925286766559L * (isOdd ? (octant + 1) * n - 8 * k : 8 * k - octant * n) / (8.0L * n);
    long double c = 0, s = 0, term = 1;
    for (int i = 0; i < 24; ++i) {
      (i % 2 ? s : c) += i % 4 < 2 ? term : -term;
      term *= rest / (i + 1);
    }
    // An odd octant's angle is counted down from its end.
    const int quarter = (octant + 1) / 2;
    const auto sign = isOdd ? -s : s;
    cosine = static_cast<double>(quarter % 4 == 0 ? c : quarter % 4 == 1 ? -sign : quarter % 4 == 2 ? -c : sign);
    sine = static_cast<double>(quarter % 4 == 0 ? sign : quarter % 4 == 1 ? c : quarter % 4 == 2 ? -sign : -c);
  }
};

/// The cosines and sines of all multiples of a turn's R-th part.
template <int R>
struct Turns {
  double cosine[R] = {}, sine[R] = {};
  constexpr Turns() {
    for (int k = 0; k < R; ++k) {
      const Turn turn(k, R);
      cosine[k] = turn.cosine, sine[k] = turn.sine;
    }
  }
};

template <class T>
ORDITO_INLINE void butterfly(Complex<T>& a, Complex<T>& b) {
  const Complex<T> difference = a - b;
  a = a + b;
  b = difference;
}

/// R elements in place, in order, for odd R: elements j and R - j have conjugate factors, so their sums meet the
/// cosines and their differences the sines.
template <int R, class Real, class T>
struct Small {
  static ORDITO_INLINE void transform(Complex<T>* a) {
    static constexpr Turns<R> kTurns;
    constexpr int kHalf = R / 2;
    Complex<T> sum[kHalf + 1], difference[kHalf + 1];
    const Complex<T> first = a[0];
#pragma clang loop unroll(full)
    for (int j = 1; j <= kHalf; ++j) {
      sum[j] = a[j] + a[R - j];
      difference[j] = a[j] - a[R - j];
      a[0] = a[0] + sum[j];
    }
#pragma clang loop unroll(full)
    for (int k = 1; k <= kHalf; ++k) {
      Complex<T> even = first;
      Complex<T> odd = scaled(difference[1], static_cast<Real>(kTurns.sine[k]));
#pragma clang loop unroll(full)
      for (int j = 1; j <= kHalf; ++j) {
        even = even + scaled(sum[j], static_cast<Real>(kTurns.cosine[j * k % R]));
        if (j > 1) odd = odd + scaled(difference[j], static_cast<Real>(kTurns.sine[j * k % R]));
      }
      odd = turned(odd);
      a[k] = even + odd;
      a[R - k] = even - odd;
    }
  }
};
template <class Real, class T>
struct Small<2, Real, T> {
  static ORDITO_INLINE void transform(Complex<T>* a) { butterfly(a[0], a[1]); }
};
template <class Real, class T>
struct Small<4, Real, T> {
  static ORDITO_INLINE void transform(Complex<T>* a) {
    butterfly(a[0], a[2]);
    butterfly(a[1], a[3]);
    a[3] = turned(a[3]);
    butterfly(a[0], a[1]);
    butterfly(a[2], a[3]);
    const Complex<T> second = a[1];
    a[1] = a[2];
    a[2] = second;
  }
};
template <class Real, class T>
struct Small<8, Real, T> {
  static ORDITO_INLINE void transform(Complex<T>* a) {
    constexpr Real kRoot = static_cast<Real>(0.70710678118654752440);
    Complex<T> even[4] = {a[0], a[2], a[4], a[6]}, odd[4] = {a[1], a[3], a[5], a[7]};
    Small<4, Real, T>::transform(even);
    Small<4, Real, T>::transform(odd);
    odd[1] = scaled(Complex<T>{odd[1].re + odd[1].im, odd[1].im - odd[1].re}, kRoot);
    odd[2] = turned(odd[2]);
    odd[3] = scaled(Complex<T>{odd[3].im - odd[3].re, -odd[3].re - odd[3].im}, kRoot);
#pragma clang loop unroll(full)
    for (int k = 0; k < 4; ++k) {
      a[k] = even[k] + odd[k];
      a[k + 4] = even[k] - odd[k];
    }
  }
};

}  // namespace ordito::cufft
