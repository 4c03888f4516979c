// The transform of one line of n complex numbers, planned once and used for many.
//
// A length up to kBundled is done bundle by bundle (kernels.hpp): Stockham's passes for lengths of factors up to 13, up
// to kConvolved Bluestein's convolution for others. A longer one, or one that comes alone, is taken as a matrix n1 x
// n2: transforms of its columns, a factor for each element, transforms of its rows. Both of these are many short lines
// side by side, which fill bundles, so a lone long transform is as well vectorised as a batch. A long prime is a
// convolution of long lines.
#pragma once

#include <memory>
#include <vector>

#include "libs/cufft/kernels.hpp"

namespace ordito::cufft {

/// Where a line begins, its steps, and whether real and imaginary parts change places on the way.
template <class Real>
struct From {
  const Real* data;
  Step step;
  bool isSwapped = false;
};
template <class Real>
struct To {
  Real* data;
  Step step;
  bool isSwapped = false;
  bool isStreamed = false;  // past the caches: there is too much of it for them
};

/// Complex numbers one behind the other.
constexpr Step kPacked{2, 1};

/// The longest lengths that are done in bundles: by passes, whose two buffers fill a core's second cache (1 MB where
/// registers have 64 bytes, half of it where they have 32), and by a convolution, which is up to three times as long.
/// One longer than kConvolved / kLongTimes leaves that cache: many lines are done so, where each thread has a bundle to
/// do.
constexpr int64_t kBundled = 4096, kConvolved = 16384, kLongTimes = 16;

template <class Real>
class Line {
 public:
  /// With `alwaysHasPasses` a bundle can be transformed however long lines are, if their factors are small.
  explicit Line(int64_t length, bool alwaysHasPasses = false);
  ~Line();
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  int64_t length() const { return length_; }
  bool isBundled() const { return length_ <= (passes_.empty() ? kConvolved : kBundled); }
  /// Whether so many lines are sooner done in bundles than one by one.
  bool isBundled(int64_t count) const;
  /// Whether n1 x n2 makes sense.
  bool isMatrix() const { return columns_ != nullptr; }

  /// Elements that each of `transform`'s two buffers must have.
  int64_t bufferLength() const { return convolution_ ? convolution_->bufferLength() : length_; }
  /// A bundle in place of `a`, with `b` to work in; answers where the result is: one of both. Only if isBundled.
  Real* transform(Real* a, Real* b) const;

  /// One line by itself, on all threads. `from` and `to` may be the same. With both swapped it is the inverse.
  void transformAlone(From<Real> from, To<Real> to) const;

 private:
  Line(const std::vector<int>& radices, size_t early);
  void planPasses(const std::vector<int>& radices);
  void planConvolution();
  void planMatrix();
  void splitPasses(size_t early);
  struct Factors;
  struct Local;
  Real* passTogether(size_t first, size_t last, Move<Real> move, int64_t part, Local& local) const;
  void passEarly(const Real* from, Real* to, const Factors& before) const;
  void passLate(const Real* from, Real* to, const Factors& after) const;
  void passLateAndBack(const Line& back, const Real* from, Real* to, const Factors& between) const;
  Real* transformBetween(Real* a, Real* b, const Factors& before, const Factors& after) const;
  Real* convolve(Real* a, Real* b) const;
  void convolveAlone(From<Real> from, To<Real> to) const;
  void transformColumns(From<Real> from, Real* matrix) const;
  void transformRows(const Real* matrix, To<Real> to) const;

  struct Pass {
    int radix;
    int64_t rest, stride;
    std::vector<Real> factors;
  };

  int64_t length_;
  std::vector<Pass> passes_;
  // Of a length that a core's cache does not hold the first `early_` passes are done for a few elements at a time, and
  // then the late ones; `split_` elements go through the early ones together. 0: the passes go over all elements.
  size_t early_ = 0;
  int64_t split_ = 0;
  // Bluestein: x[j] c[j], convolved with 1 / c, times c; c[j] = exp(-pi i j^2 / n). If the convolution's passes are
  // split, the way back has them in another order: its early ones are for the elements of the first's late ones.
  std::unique_ptr<Line> convolution_, back_;
  std::vector<Real> chirp_, spectrum_;
  // The matrix, if there is one: n2 columns of n1 elements.
  std::unique_ptr<Line> columns_, rows_;
  std::vector<Real> turns_;
};

/// exp(-2 pi i k / n), rounded once.
template <class Real>
void turn(Real* to, int64_t k, int64_t n);

}  // namespace ordito::cufft
