// Many lines of complex or of real numbers, as a plan wants them along one of its dimensions.
#pragma once

#include <array>

#include "libs/cufft/line.hpp"

namespace ordito::cufft {

/// Between what and what. Of n real numbers' transform there are n / 2 + 1 elements; the others are their conjugates.
enum class Form { Complex, RealToComplex, ComplexToReal };

/// Where lines begin: a loop over up to four dimensions, the last one the fastest. Strides in units of Real.
struct Loops {
  struct Loop {
    int64_t count = 1;
    ptrdiff_t from = 0, to = 0;
  };
  std::array<Loop, 4> loops;

  int64_t count() const;
  ptrdiff_t from(int64_t line) const;
  ptrdiff_t to(int64_t line) const;
};

template <class Real>
class Lines {
 public:
  Lines(int64_t length, Form form);

  /// All lines, on all threads; `from` and `to` may be the same if each line stays where it is.
  void transform(From<Real> from, To<Real> to, const Loops& loops, bool isInverse) const;

 private:
  /// Of an even number of real numbers the pairs are transformed.
  bool isPaired() const { return form_ != Form::Complex && length_ % 2 == 0; }
  int64_t half() const { return length_ / 2 + 1; }
  void transformAlone(From<Real> from, To<Real> to) const;
  void realAlone(From<Real> from, To<Real> to) const;
  void complexAlone(From<Real> from, To<Real> to) const;
  void load(Real* bundle, From<Real> from, const ptrdiff_t* offsets) const;
  void store(Real* bundle, To<Real> to, const ptrdiff_t* offsets, int lines) const;

  int64_t length_;
  Form form_;
  Line<Real> line_;
  std::vector<Real> turns_;  // exp(-2 pi i k / length)
};

}  // namespace ordito::cufft
