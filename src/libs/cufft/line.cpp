// See line.hpp.
#include "libs/cufft/line.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "libs/cufft/bundles.hpp"
#include "libs/cufft/complex.hpp"

namespace ordito::cufft {
namespace {

bool hasOnlySmallFactors(int64_t n) {
  for (const int factor : {2, 3, 5, 7, 11, 13})
    while (n % factor == 0) n /= factor;
  return n == 1;
}

/// What the passes of a length cost for an element: each reads and writes it, and those of 7 and more also compute a
/// while. There is no length of factors above 7.
int64_t costOf(int64_t n) {
  int64_t cost = 0;
  for (const int radix : {8, 4, 2, 3, 5, 7})
    for (; n % radix == 0; n /= radix) cost += radix == 7 ? 3 : 2;
  return n == 1 ? cost : std::numeric_limits<int32_t>::max();
}

/// The length from `n` on that is done soonest: few large factors are worth some more elements.
int64_t easyLength(int64_t n) {
  int64_t best = n;
  for (int64_t length = n; length <= n + n / 4 || costOf(best) == std::numeric_limits<int32_t>::max(); ++length)
    if (length * costOf(length) < best * costOf(best)) best = length;
  return best;
}

/// The radices of the passes of a length, in their order.
std::vector<int> radicesOf(int64_t length) {
  std::vector<int> radices;
  for (const int radix : kRadices)
    for (; length % radix == 0 && length > 1; length /= radix) {
      // 16 is better 4 x 4 than 8 x 2.
      if (radix == 8 && length % 16 == 0 && length % 64 != 0 && length % 32 != 0) break;
      radices.push_back(radix);
    }
  return radices;
}

/// After which pass the elements that go together, before it and behind it, are fewest.
size_t bestSplit(const std::vector<int>& radices, int64_t length) {
  const auto largest = [&](int64_t split) { return std::max(split, length / split); };
  int64_t product = 1, least = length + 1;
  size_t best = 1;
  for (size_t i = 0; i + 1 < radices.size(); ++i) {
    product *= radices[i];
    if (largest(product) < least) least = largest(product), best = i + 1;
  }
  return best;
}

/// The largest divisor of n up to its root and `limit`.
int64_t middleDivisor(int64_t n, int64_t limit) {
  int64_t best = 1;
  for (int64_t d = 2; d <= limit && d * d <= n; ++d)
    if (n % d == 0) best = d;
  return best;
}

}  // namespace

template <class Real>
void turn(Real* to, int64_t k, int64_t n) {
  const double angle = -2 * std::numbers::pi * static_cast<double>(k % n) / static_cast<double>(n);
  to[0] = static_cast<Real>(std::cos(angle));
  to[1] = static_cast<Real>(std::sin(angle));
}

template <class Real>
Line<Real>::Line(int64_t length, bool alwaysHasPasses) : length_(length) {
  const int64_t divisor = middleDivisor(length, kBundled);
  if ((length <= kBundled || alwaysHasPasses) && hasOnlySmallFactors(length))
    planPasses(radicesOf(length));
  else if (isBundled() || divisor == 1)
    planConvolution();
  if (length > kBundled && passes_.size() > 1) splitPasses(bestSplit(radicesOf(length), length));
  if (divisor >= 4 || (divisor > 1 && !isBundled())) planMatrix();
}

/// Of a length that is done in passes, in the order of the radices; `early` of them first.
template <class Real>
Line<Real>::Line(const std::vector<int>& radices, size_t early) : length_(1) {
  for (const int radix : radices) length_ *= radix;
  planPasses(radices);
  splitPasses(early);
}

template <class Real>
Line<Real>::~Line() = default;

template <class Real>
void Line<Real>::planPasses(const std::vector<int>& radices) {
  int64_t rest = length_, stride = 1;
  for (const int radix : radices) {
    rest /= radix;
    Pass pass{radix, rest, stride, std::vector<Real>(static_cast<size_t>(2 * (radix - 1) * rest))};
    for (int64_t p = 0; p < rest; ++p)
      for (int k = 1; k < radix; ++k)
        turn(&pass.factors[static_cast<size_t>(2 * ((radix - 1) * p + k - 1))], p * k, radix * rest);
    passes_.push_back(std::move(pass));
    stride *= radix;
  }
}

/// The early passes do not mix elements that are `length / split_` apart with others, the late ones none that are not
/// `split_` apart. So an early pass gets its factors in another order: those of the elements that go together.
template <class Real>
void Line<Real>::splitPasses(size_t early) {
  early_ = early, split_ = 1;
  for (size_t i = 0; i < early_; ++i) split_ *= passes_[i].radix;
  const int64_t others = length_ / split_;
  for (size_t i = 0; i < early_; ++i) {
    Pass& pass = passes_[i];
    const int64_t each = 2 * (pass.radix - 1), own = pass.rest / others;
    std::vector<Real> ordered(pass.factors.size());
    for (int64_t p = 0; p < pass.rest; ++p)
      std::copy_n(&pass.factors[static_cast<size_t>(each * p)], each,
                  &ordered[static_cast<size_t>(each * (p % others * own + p / others))]);
    pass.factors = std::move(ordered);
  }
}

/// What elements are multiplied by before a transform's passes or after them: the first `count`; the others are 0.
template <class Real>
struct Line<Real>::Factors {
  const Real* data = nullptr;  // none: there is nothing to do
  int64_t count = 0;
  bool readsSwapped = false, writesSwapped = false;

  /// Elements first + i * step below `end`, which may move.
  void apply(Move<Real> move, int64_t first, int64_t step, int64_t end) const {
    const int64_t below = std::max<int64_t>(0, (std::min(count, end) - first + step - 1) / step);
    move.factorStep = step;
    kernels<Real>().multiply(move, below, data + 2 * first, readsSwapped, writesSwapped);
    const int64_t element = 2 * lanes<Real>();
    for (int64_t i = below; first + i * step < end; ++i)
      std::fill_n(move.out + element * i * move.outStep, element, Real(0));
  }
};

/// Where elements that go together are between passes: in a core's cache.
template <class Real>
struct Line<Real>::Local {
  explicit Local(const Line& line)
      : size(2 * lanes<Real>() * std::max(line.split_, line.length_ / line.split_)), buffer(2 * size) {}
  /// The buffer that does not have the result of the last call.
  Real* next() { return buffer.data() + size * (side ^= 1); }

  int64_t size;
  Buffer<Real> buffer;
  int64_t side = 0;
};

/// The early passes of part `part` or the late ones. The last one writes to move.out, or to the local buffer if there
/// is no such place; answers where.
template <class Real>
Real* Line<Real>::passTogether(size_t first, size_t last, Move<Real> move, int64_t part, Local& local) const {
  const Move<Real> all = move;
  const int64_t division = first > 0 ? 1 : length_ / split_, before = first > 0 ? split_ : 1;
  move.beginsWithOnes = part == 0;
  for (size_t i = first; i < last; ++i) {
    const Pass& pass = passes_[i];
    const int64_t rest = pass.rest / division;
    const bool isEnd = i + 1 == last && all.out;
    move.out = isEnd ? all.out : local.next();
    move.outStep = isEnd ? all.outStep : 1;
    kernels<Real>().pass(pass.radix, move, rest, pass.stride / before,
                         pass.factors.data() + 2 * (pass.radix - 1) * rest * part);
    move.in = move.out, move.inStep = 1;
  }
  return move.out;
}

/// The early passes, part by part.
template <class Real>
void Line<Real>::passEarly(const Real* from, Real* to, const Factors& before) const {
  const int64_t element = 2 * lanes<Real>();
  const int64_t others = length_ / split_;
  Local local(*this);
  for (int64_t p = 0; p < others; ++p) {
    Move<Real> move{from + element * p, to + element * split_ * p, others};
    if (before.data) {
      Real* scaled = local.next();
      before.apply({move.in, scaled, others}, p, others, length_);
      move.in = scaled, move.inStep = 1;
    }
    passTogether(0, early_, move, p, local);
  }
}

/// The late passes, for some elements at a time.
template <class Real>
void Line<Real>::passLate(const Real* from, Real* to, const Factors& after) const {
  const int64_t element = 2 * lanes<Real>();
  Local local(*this);
  for (int64_t q = 0; q < split_; ++q) {
    Real* out = to + element * q;
    Move<Real> move{from + element * q, after.data ? nullptr : out, split_, split_};
    const Real* result = passTogether(early_, passes_.size(), move, 0, local);
    if (after.data) after.apply({result, out, 1, split_}, q, split_, after.count);
  }
}

/// The late passes, factors, and the early passes of the way back, which are for the same elements.
template <class Real>
void Line<Real>::passLateAndBack(const Line& back, const Real* from, Real* to, const Factors& between) const {
  const int64_t element = 2 * lanes<Real>();
  Local local(*this);
  for (int64_t q = 0; q < split_; ++q) {
    Real* result = passTogether(early_, passes_.size(), {from + element * q, nullptr, split_}, 0, local);
    between.apply({result, result}, q, split_, length_);
    back.passTogether(0, back.early_, {result, to + element * back.split_ * q}, q, local);
  }
}

template <class Real>
Real* Line<Real>::transformBetween(Real* a, Real* b, const Factors& before, const Factors& after) const {
  if (split_ > 0) {
    passEarly(a, b, before);
    passLate(b, a, after);
    return a;
  }
  if (before.data) before.apply({a, a}, 0, 1, length_);
  for (const Pass& pass : passes_) {
    kernels<Real>().pass(pass.radix, {a, b}, pass.rest, pass.stride, pass.factors.data());
    std::swap(a, b);
  }
  if (after.data) after.apply({a, a}, 0, 1, after.count);
  return a;
}

template <class Real>
void Line<Real>::planConvolution() {
  convolution_ = std::make_unique<Line>(easyLength(2 * length_ - 1), isBundled());
  const int64_t size = convolution_->length();
  if (convolution_->split_ > 0) {
    std::vector<int> radices;
    for (const Pass& pass : convolution_->passes_) radices.push_back(pass.radix);
    std::rotate(radices.begin(), radices.begin() + static_cast<ptrdiff_t>(convolution_->early_), radices.end());
    back_.reset(new Line(radices, radices.size() - convolution_->early_));
  }
  chirp_.resize(static_cast<size_t>(2 * length_));
  std::vector<Real> filter(static_cast<size_t>(2 * size));
  for (int64_t j = 0; j < length_; ++j) {
    // exp(-pi i j^2 / n); j^2 stays exact.
    Real* c = &chirp_[static_cast<size_t>(2 * j)];
    turn(c, static_cast<int64_t>(static_cast<__int128>(j) * j % (2 * length_)), 2 * length_);
    for (const int64_t at : {j, (size - j) % size}) {
      filter[static_cast<size_t>(2 * at)] = c[0] / static_cast<Real>(size);
      filter[static_cast<size_t>(2 * at + 1)] = -c[1] / static_cast<Real>(size);
    }
  }
  spectrum_.resize(filter.size());
  convolution_->transformAlone({filter.data(), kPacked}, {spectrum_.data(), kPacked});
}

template <class Real>
void Line<Real>::planMatrix() {
  const int64_t n1 = middleDivisor(length_, kBundled), n2 = length_ / n1;
  columns_ = std::make_unique<Line>(n1);
  rows_ = std::make_unique<Line>(n2);
  // A bundle's factors are read as a whole, also beyond the last line.
  turns_.resize(static_cast<size_t>(2 * (length_ + lanes<Real>())));
  inParts(n1, length_, [&](int64_t first, int64_t last) {
    for (int64_t k = first; k < last; ++k)
      for (int64_t j = 0; j < n2; ++j) turn(&turns_[static_cast<size_t>(2 * (k * n2 + j))], k * j, length_);
  });
}

template <class Real>
bool Line<Real>::isBundled(int64_t count) const {
  if (!isBundled()) return false;
  const bool isLong = passes_.empty() && length_ > kConvolved / kLongTimes;
  return count >= (isLong ? lanes<Real>() * libs::parallelThreads() : isMatrix() ? std::max(2, lanes<Real>() / 4) : 1);
}

template <class Real>
Real* Line<Real>::transform(Real* a, Real* b) const {
  return convolution_ ? convolve(a, b) : transformBetween(a, b, {}, {});
}

/// The inverse transform in the middle is a transform of swapped numbers.
template <class Real>
Real* Line<Real>::convolve(Real* a, Real* b) const {
  const Factors before{chirp_.data(), length_}, after{chirp_.data(), length_, true, false};
  const Factors between{spectrum_.data(), convolution_->length(), false, true};
  if (back_) {
    convolution_->passEarly(a, b, before);
    convolution_->passLateAndBack(*back_, b, a, between);
    back_->passLate(a, b, after);
    return b;
  }
  Real* spectrum = convolution_->transformBetween(a, b, before, between);
  return convolution_->transformBetween(spectrum, spectrum == a ? b : a, {}, after);
}

template <class Real>
void Line<Real>::transformAlone(From<Real> from, To<Real> to) const {
  if (isMatrix()) {
    Buffer<Real> matrix(2 * length_);
    transformColumns(from, matrix.data());
    transformRows(matrix.data(), to);
  } else if (!passes_.empty() || length_ == 1) {
    const Workspace<Real> workspace(length_);
    const Offsets<Real> offsets(0, 1, [](int64_t) { return ptrdiff_t{0}; });
    kernels<Real>().load(workspace.first, from.data, offsets.of, from.step, length_, from.isSwapped);
    const Real* result = transform(workspace.first, workspace.second);
    kernels<Real>().store(result, to.data, offsets.of, to.step, length_, 1, to.isSwapped, false);
  } else {
    convolveAlone(from, to);
  }
}

template <class Real>
void Line<Real>::convolveAlone(From<Real> from, To<Real> to) const {
  const int64_t size = convolution_->length();
  Buffer<Real> buffer(2 * size);
  Real* x = buffer.data();
  auto chirp = [&](int64_t j) { return get(chirp_.data(), kPacked, j); };
  inParts(size, size, [&](int64_t first, int64_t last) {
    for (int64_t j = first; j < last; ++j) {
      const Complex<Real> value = j < length_
                                      ? times(get(from.data, from.step, j, from.isSwapped), chirp(j).re, chirp(j).im)
                                      : Complex<Real>{0, 0};
      put(x, kPacked, j, value);
    }
  });
  convolution_->transformAlone({x, kPacked}, {x, kPacked});
  inParts(size, size, [&](int64_t first, int64_t last) {
    for (int64_t j = first; j < last; ++j) {
      const Complex<Real> factor = get(spectrum_.data(), kPacked, j);
      put(x, kPacked, j, times(get(x, kPacked, j), factor.re, factor.im));
    }
  });
  convolution_->transformAlone({x, kPacked, true}, {x, kPacked, true});
  inParts(length_, length_, [&](int64_t first, int64_t last) {
    for (int64_t k = first; k < last; ++k)
      put(to.data, to.step, k, times(get(x, kPacked, k), chirp(k).re, chirp(k).im), to.isSwapped);
  });
}

/// Column j2 has the elements j1 * n2 + j2; element k1 of its transform goes back to its place, times
/// exp(-2 pi i j2 k1 / n).
template <class Real>
void Line<Real>::transformColumns(From<Real> from, Real* matrix) const {
  const auto& loops = kernels<Real>();
  const int64_t n1 = columns_->length(), n2 = rows_->length();
  const Step down{from.step.stride * n2, from.step.imaginary};
  inBundles<Real>(n2, columns_->bufferLength(), [&](const Workspace<Real>& workspace, int64_t first, int lines) {
    const Offsets<Real> in(first, lines, [&](int64_t j) { return j * from.step.stride; });
    const Offsets<Real> out(first, lines, [](int64_t j) { return 2 * j; });
    loops.load(workspace.first, from.data, in.of, down, n1, from.isSwapped);
    Real* result = columns_->transform(workspace.first, workspace.second);
    loops.multiplyRows(result, n1, turns_.data() + 2 * first, n2);
    loops.store(result, matrix, out.of, {2 * n2, 1}, n1, lines, false, false);
  });
}

/// Row k1 gives the elements k1 + n1 * k2 of the result.
template <class Real>
void Line<Real>::transformRows(const Real* matrix, To<Real> to) const {
  const auto& loops = kernels<Real>();
  const int64_t n1 = columns_->length(), n2 = rows_->length();
  const Step across{to.step.stride * n1, to.step.imaginary};
  if (!rows_->isBundled(n1)) {
    for (int64_t k = 0; k < n1; ++k)
      rows_->transformAlone({matrix + 2 * k * n2, kPacked}, {to.data + k * to.step.stride, across, to.isSwapped});
    return;
  }
  inBundles<Real>(n1, rows_->bufferLength(), [&](const Workspace<Real>& workspace, int64_t first, int lines) {
    const Offsets<Real> in(first, lines, [&](int64_t k) { return 2 * n2 * k; });
    const Offsets<Real> out(first, lines, [&](int64_t k) { return k * to.step.stride; });
    loops.load(workspace.first, matrix, in.of, kPacked, n2, false);
    const Real* result = rows_->transform(workspace.first, workspace.second);
    loops.store(result, to.data, out.of, across, n2, lines, to.isSwapped, false);
  });
}

#define INSTANTIATE(Real)    \
  template class Line<Real>; \
  template void turn(Real*, int64_t, int64_t);
INSTANTIATE(float)
INSTANTIATE(double)

}  // namespace ordito::cufft
