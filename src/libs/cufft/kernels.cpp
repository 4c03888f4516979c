// See kernels.hpp. Compiled once for each instruction set, into a namespace of its own (ORDITO_FFT_ISA); nothing of the
// standard library is used here, since an inline function of it, compiled for AVX-512, could become everybody's.
#include "libs/cufft/kernels.hpp"

#include "libs/cufft/butterflies.hpp"

namespace ordito::cufft::ORDITO_FFT_ISA {
namespace {

#if defined(__AVX512F__)
constexpr int kRegister = 64;
#elif defined(__AVX__)
constexpr int kRegister = 32;
#else
constexpr int kRegister = 16;
#endif
template <class Real>
constexpr int kLanes = kRegister / sizeof(Real);

template <int... I>
struct Indices {};
template <class, int... I>
struct MadeIndices {
  using Type = Indices<I...>;
};
template <int N>
using Below = typename __make_integer_seq<MadeIndices, int, N>::Type;

template <class Real>
struct Bundle {
  static constexpr int kWidth = kLanes<Real>;
  typedef Real Vector __attribute__((vector_size(kRegister)));
  typedef Real Unaligned __attribute__((vector_size(kRegister), aligned(alignof(Real))));
  using Number = Complex<Vector>;

  static ORDITO_INLINE Number get(const Real* bundle, int64_t i) {
    const auto* at = reinterpret_cast<const Vector*>(bundle) + 2 * i;
    return {at[0], at[1]};
  }
  static ORDITO_INLINE void put(Real* bundle, int64_t i, Number value) {
    auto* at = reinterpret_cast<Vector*>(bundle) + 2 * i;
    at[0] = value.re, at[1] = value.im;
  }
  static ORDITO_INLINE Vector read(const Real* from) { return *reinterpret_cast<const Unaligned*>(from); }
  static ORDITO_INLINE void write(Real* to, Vector value) { *reinterpret_cast<Unaligned*>(to) = value; }

  /// Past the caches, if it is a whole part of a line of theirs.
  static ORDITO_INLINE void stream(Real* to, Vector value) {
    if (reinterpret_cast<unsigned long>(to) % kRegister != 0) return write(to, value);
    __builtin_nontemporal_store(value, reinterpret_cast<Vector*>(to));
  }

  // Two vectors, element by element in turn, and back.
  static ORDITO_INLINE Vector mergedLow(Vector a, Vector b) { return merged<0>(a, b, Below<kWidth>()); }
  static ORDITO_INLINE Vector mergedHigh(Vector a, Vector b) { return merged<kWidth / 2>(a, b, Below<kWidth>()); }
  static ORDITO_INLINE Vector even(Vector a, Vector b) { return everySecond<0>(a, b, Below<kWidth>()); }
  static ORDITO_INLINE Vector odd(Vector a, Vector b) { return everySecond<1>(a, b, Below<kWidth>()); }

  /// kWidth rows become kWidth columns. AVX2 moves numbers quickly within halves of a register only: so squares of half
  /// the width are transposed, all of them that lie side by side at once, and change places in the end.
  static ORDITO_INLINE void transpose(Vector* rows) {
#pragma clang loop unroll(full)
    for (int i = 0; i < kWidth; i += kSquare) transposeSquares(rows + i);
    if constexpr (kSquare < kWidth) {
#pragma clang loop unroll(full)
      for (int i = 0; i < kSquare; ++i) {
        const Vector first = rows[i], second = rows[i + kSquare];
        rows[i] = halves<0>(first, second, Below<kWidth>());
        rows[i + kSquare] = halves<kSquare>(first, second, Below<kWidth>());
      }
    }
  }

 private:
  static constexpr int kSquare = kRegister == 32 ? kWidth / 2 : kWidth;

  /// Each merging of row i with row i + kSquare/2 moves one bit of the row's number to the column's.
  static ORDITO_INLINE void transposeSquares(Vector* rows) {
    Vector other[kSquare];
#pragma clang loop unroll(full)
    for (int bit = 1; bit < kSquare; bit *= 2) {
#pragma clang loop unroll(full)
      for (int i = 0; i < kSquare / 2; ++i) {
        other[2 * i] = mergedInSquares<0>(rows[i], rows[i + kSquare / 2], Below<kWidth>());
        other[2 * i + 1] = mergedInSquares<kSquare / 2>(rows[i], rows[i + kSquare / 2], Below<kWidth>());
      }
#pragma clang loop unroll(full)
      for (int i = 0; i < kSquare; ++i) rows[i] = other[i];
    }
  }
  template <int First, int... I>
  static ORDITO_INLINE Vector mergedInSquares(Vector a, Vector b, Indices<I...>) {
    return __builtin_shufflevector(a, b, (I / kSquare * kSquare + First + I % kSquare / 2 + I % 2 * kWidth)...);
  }
  template <int First, int... I>
  static ORDITO_INLINE Vector halves(Vector a, Vector b, Indices<I...>) {
    return __builtin_shufflevector(a, b, (First + I % kSquare + I / kSquare * kWidth)...);
  }
  template <int First, int... I>
  static ORDITO_INLINE Vector merged(Vector a, Vector b, Indices<I...>) {
    return __builtin_shufflevector(a, b, (First + I / 2 + I % 2 * kWidth)...);
  }
  template <int First, int... I>
  static ORDITO_INLINE Vector everySecond(Vector a, Vector b, Indices<I...>) {
    return __builtin_shufflevector(a, b, (First + 2 * I)...);
  }
};

/// Lines that lie side by side: their elements i are one run of complex numbers.
template <class Real>
bool areAdjacent(const ptrdiff_t* offsets, Step step) {
  if (step.imaginary != 1) return false;
  for (int lane = 1; lane < kLanes<Real>; ++lane)
    if (offsets[lane] != offsets[0] + 2 * lane) return false;
  return true;
}

template <class Real>
void loadAny(Real* bundle, const Real* from, const ptrdiff_t* offsets, Step step, int64_t first, int64_t count,
             bool isSwapped) {
  constexpr int kWidth = kLanes<Real>;
  Real* re = bundle + (isSwapped ? kWidth : 0);
  Real* im = bundle + (isSwapped ? 0 : kWidth);
  for (int64_t i = first; i < count; ++i)
    for (int lane = 0; lane < kWidth; ++lane) {
      const Real* at = from + offsets[lane] + i * step.stride;
      re[2 * kWidth * i + lane] = *at;
      im[2 * kWidth * i + lane] = step.imaginary ? at[step.imaginary] : 0;
    }
}

template <class Real>
void storeAny(const Real* bundle, Real* to, const ptrdiff_t* offsets, Step step, int64_t first, int64_t count,
              int lines, bool isSwapped) {
  constexpr int kWidth = kLanes<Real>;
  const Real* re = bundle + (isSwapped ? kWidth : 0);
  const Real* im = bundle + (isSwapped ? 0 : kWidth);
  for (int64_t i = first; i < count; ++i)
    for (int lane = 0; lane < lines; ++lane) {
      Real* at = to + offsets[lane] + i * step.stride;
      *at = re[2 * kWidth * i + lane];
      if (step.imaginary) at[step.imaginary] = im[2 * kWidth * i + lane];
    }
}

template <class Real>
void load(Real* bundle, const Real* from, const ptrdiff_t* offsets, Step step, int64_t count, bool isSwapped) {
  using B = Bundle<Real>;
  constexpr int kWidth = B::kWidth;
  if (areAdjacent<Real>(offsets, step)) {
    for (int64_t i = 0; i < count; ++i) {
      const Real* at = from + offsets[0] + i * step.stride;
      const auto a = B::read(at), b = B::read(at + kWidth);
      const typename B::Number number{B::even(a, b), B::odd(a, b)};
      B::put(bundle, i, isSwapped ? swapped(number) : number);
    }
    return;
  }
  int64_t done = 0;
  if (step.stride == 2 && step.imaginary == 1)
    for (; done + kWidth / 2 <= count; done += kWidth / 2) {
      typename B::Vector rows[kWidth];
      for (int lane = 0; lane < kWidth; ++lane) rows[lane] = B::read(from + offsets[lane] + 2 * done);
      B::transpose(rows);
      for (int i = 0; i < kWidth / 2; ++i)
        B::put(bundle, done + i, {rows[2 * i + (isSwapped ? 1 : 0)], rows[2 * i + (isSwapped ? 0 : 1)]});
    }
  loadAny(bundle, from, offsets, step, done, count, isSwapped);
}

template <class Real>
void store(const Real* bundle, Real* to, const ptrdiff_t* offsets, Step step, int64_t count, int lines, bool isSwapped,
           bool isStreamed) {
  using B = Bundle<Real>;
  constexpr int kWidth = B::kWidth;
  if (lines == kWidth && areAdjacent<Real>(offsets, step)) {
    for (int64_t i = 0; i < count; ++i) {
      Real* at = to + offsets[0] + i * step.stride;
      const auto number = isSwapped ? swapped(B::get(bundle, i)) : B::get(bundle, i);
      B::write(at, B::mergedLow(number.re, number.im));
      B::write(at + kWidth, B::mergedHigh(number.re, number.im));
    }
    return;
  }
  int64_t done = 0;
  if (step.stride == 2 && step.imaginary == 1)
    for (; done + kWidth / 2 <= count; done += kWidth / 2) {
      typename B::Vector rows[kWidth];
      for (int i = 0; i < kWidth / 2; ++i) {
        const auto number = B::get(bundle, done + i);
        rows[2 * i] = isSwapped ? number.im : number.re;
        rows[2 * i + 1] = isSwapped ? number.re : number.im;
      }
      B::transpose(rows);
      for (int lane = 0; lane < lines; ++lane) {
        Real* at = to + offsets[lane] + 2 * done;
        isStreamed ? B::stream(at, rows[lane]) : B::write(at, rows[lane]);
      }
    }
  if (isStreamed) __builtin_ia32_sfence();  // others see it when they see that this is done
  storeAny(bundle, to, offsets, step, done, count, lines, isSwapped);
}

template <int R, class Real>
void passOf(const Move<Real>& move, int64_t rest, int64_t stride, const Real* factors) {
  using B = Bundle<Real>;
  for (int64_t p = 0; p < rest; ++p) {
    const Real* w = factors + 2 * (R - 1) * p;
    for (int64_t q = 0; q < stride; ++q) {
      typename B::Number a[R];
#pragma clang loop unroll(full)
      for (int j = 0; j < R; ++j) a[j] = B::get(move.in, move.inStep * (q + stride * (p + rest * j)));
      Small<R, Real, typename B::Vector>::transform(a);
      if (p > 0 || !move.beginsWithOnes) {
#pragma clang loop unroll(full)
        for (int k = 1; k < R; ++k) a[k] = times(a[k], w[2 * k - 2], w[2 * k - 1]);
      }
#pragma clang loop unroll(full)
      for (int k = 0; k < R; ++k) B::put(move.out, move.outStep * (q + stride * (R * p + k)), a[k]);
    }
  }
}

template <class Real>
void pass(int radix, const Move<Real>& move, int64_t rest, int64_t stride, const Real* factors) {
  switch (radix) {
    case 2: return passOf<2>(move, rest, stride, factors);
    case 3: return passOf<3>(move, rest, stride, factors);
    case 4: return passOf<4>(move, rest, stride, factors);
    case 5: return passOf<5>(move, rest, stride, factors);
    case 7: return passOf<7>(move, rest, stride, factors);
    case 8: return passOf<8>(move, rest, stride, factors);
    case 11: return passOf<11>(move, rest, stride, factors);
    case 13: return passOf<13>(move, rest, stride, factors);
    default: __builtin_trap();
  }
}

template <class Real>
void multiply(const Move<Real>& move, int64_t count, const Real* factors, bool readsSwapped, bool writesSwapped) {
  using B = Bundle<Real>;
  for (int64_t i = 0; i < count; ++i) {
    const Real* factor = factors + 2 * i * move.factorStep;
    auto value = B::get(move.in, i * move.inStep);
    if (readsSwapped) value = swapped(value);
    value = times(value, factor[0], factor[1]);
    B::put(move.out, i * move.outStep, writesSwapped ? swapped(value) : value);
  }
}

template <class Real>
void multiplyRows(Real* bundle, int64_t count, const Real* factors, ptrdiff_t pitch) {
  using B = Bundle<Real>;
  for (int64_t i = 0; i < count; ++i) {
    const auto a = B::read(factors + 2 * i * pitch), b = B::read(factors + 2 * i * pitch + B::kWidth);
    B::put(bundle, i, times(B::get(bundle, i), B::even(a, b), B::odd(a, b)));
  }
}

template <class Real>
void untangle(Real* bundle, int64_t half, const Real* factors) {
  using B = Bundle<Real>;
  const auto first = B::get(bundle, 0);
  const typename B::Vector zero{};
  B::put(bundle, 0, {first.re + first.im, zero});
  B::put(bundle, half, {first.re - first.im, zero});
  for (int64_t k = 1; k <= half - k; ++k) {
    auto low = B::get(bundle, k), high = B::get(bundle, half - k);
    untangled(low, high, factors[2 * k], factors[2 * k + 1]);
    B::put(bundle, half - k, high);
    B::put(bundle, k, low);
  }
}

template <class Real>
void tangle(Real* bundle, int64_t half, const Real* factors) {
  using B = Bundle<Real>;
  // The first and the last element of a real sequence's transform are real; what else they hold does not count.
  const auto first = B::get(bundle, 0).re, last = B::get(bundle, half).re;
  B::put(bundle, 0, {first - last, first + last});
  for (int64_t k = 1; k <= half - k; ++k) {
    auto low = B::get(bundle, k), high = B::get(bundle, half - k);
    tangled(low, high, factors[2 * k], factors[2 * k + 1]);
    B::put(bundle, half - k, swapped(high));
    B::put(bundle, k, swapped(low));
  }
}

template <class Real>
constexpr Kernels<Real> kAll{kLanes<Real>,   load<Real>,         store<Real>,    pass<Real>,
                             multiply<Real>, multiplyRows<Real>, untangle<Real>, tangle<Real>};

}  // namespace

extern const Kernels<float>& floats;
extern const Kernels<double>& doubles;
const Kernels<float>& floats = kAll<float>;
const Kernels<double>& doubles = kAll<double>;

}  // namespace ordito::cufft::ORDITO_FFT_ISA
