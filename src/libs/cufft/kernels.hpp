// The inner loops of the transforms, as the processor's widest vectors do them.
//
// A transform of length n works on a *bundle* of W of them side by side (W floats or doubles fill a register): element
// i of all is a vector of real parts and one of imaginary parts. So every length is vectorised alike, and nothing is
// shuffled but when lines of the caller's memory are read and written. With wider bundles the elements of a pass would
// leave the registers, and the lines of a bundle the core's second cache. kernels.cpp is compiled once for each
// instruction set; `kernels` answers with those that this processor has.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ordito::cufft {

/// How many transforms a bundle holds at most.
template <class Real>
constexpr int kMostLanes = 64 / sizeof(Real);

/// How the elements of a line lie in memory, in units of Real: element i at `stride * i`, its imaginary part
/// `imaginary` behind it; 0 if there is none. Real numbers read as pairs are complex ones, too.
struct Step {
  ptrdiff_t stride = 0, imaginary = 1;
};

/// What is read and written: element i is at i * step. The factors of a pass begin with ones, unless it does a part of
/// a longer one.
template <class Real>
struct Move {
  const Real* in;
  Real* out;
  int64_t inStep = 1, outStep = 1, factorStep = 1;
  bool beginsWithOnes = true;
};

template <class Real>
struct Kernels {
  /// How many transforms a bundle holds: W.
  int lanes;
  /// Reads `count` elements of W lines that begin at from + offsets[lane]. With `isSwapped` real and imaginary parts
  /// change places: a transform of the swapped numbers is the swapped inverse transform.
  void (*load)(Real* bundle, const Real* from, const ptrdiff_t* offsets, Step step, int64_t count, bool isSwapped);
  /// Writes the first `lines` lanes; with `isStreamed` past the caches, which need not fetch then what is overwritten.
  void (*store)(const Real* bundle, Real* to, const ptrdiff_t* offsets, Step step, int64_t count, int lines,
                bool isSwapped, bool isStreamed);
  /// One pass of Stockham's algorithm: `stride` interleaved transforms of radix * rest elements become radix * stride
  /// of `rest` elements. For each p < rest there are radix - 1 factors, exp(-2 pi i p k / (radix * rest)).
  void (*pass)(int radix, const Move<Real>& move, int64_t rest, int64_t stride, const Real* factors);
  /// Multiplies element i by the factor i * factorStep, reading or writing swapped numbers.
  void (*multiply)(const Move<Real>& move, int64_t count, const Real* factors, bool readsSwapped, bool writesSwapped);
  /// Multiplies element i of lane l by the complex number l of the row at factors + 2 * i * pitch.
  void (*multiplyRows)(Real* bundle, int64_t count, const Real* factors, ptrdiff_t pitch);
  /// From the transform of n = 2 * half real numbers read as pairs to their own (half + 1 elements), and back, swapped
  /// and ready for the inverse; factors: exp(-2 pi i k / n).
  void (*untangle)(Real* bundle, int64_t half, const Real* factors);
  void (*tangle)(Real* bundle, int64_t half, const Real* factors);
};

/// For this processor.
template <class Real>
const Kernels<Real>& kernels();
template <class Real>
int lanes() {
  return kernels<Real>().lanes;
}

/// Lengths that `pass` can do at once.
constexpr int kRadices[] = {8, 4, 2, 3, 5, 7, 11, 13};

}  // namespace ordito::cufft
