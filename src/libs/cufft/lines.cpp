// See lines.hpp.
#include "libs/cufft/lines.hpp"

#include "libs/cufft/bundles.hpp"
#include "libs/cufft/complex.hpp"

namespace ordito::cufft {
namespace {

template <class Place>
ptrdiff_t offset(const std::array<Loops::Loop, 4>& loops, int64_t line, const Place& stride) {
  ptrdiff_t sum = 0;
  for (size_t i = loops.size(); i-- > 0;) {
    sum += line % loops[i].count * stride(loops[i]);
    line /= loops[i].count;
  }
  return sum;
}

/// The longest line that one thread does, if there are many.
constexpr int64_t kOfOneThread = 32768;

size_t index(int64_t i) { return static_cast<size_t>(i); }

/// Real numbers `step.stride` apart, read as pairs.
Step paired(Step step) { return {2 * step.stride, step.stride}; }
Step realOnly(Step step) { return {step.stride, 0}; }

/// The rest of a real sequence's transform in a bundle, swapped for the inverse: x[n - k] is the conjugate of x[k].
template <class Real>
void complete(Real* bundle, int64_t length) {
  const int width = lanes<Real>();
  for (int lane = 0; lane < width; ++lane) bundle[lane] = 0;
  for (int64_t k = 1; k <= length / 2; ++k)
    for (int lane = 0; lane < width; ++lane) {
      bundle[2 * width * (length - k) + lane] = -bundle[2 * width * k + lane];
      bundle[2 * width * (length - k) + width + lane] = bundle[2 * width * k + width + lane];
    }
}

}  // namespace

int64_t Loops::count() const {
  int64_t product = 1;
  for (const Loop& loop : loops) product *= loop.count;
  return product;
}
ptrdiff_t Loops::from(int64_t line) const {
  return offset(loops, line, [](const Loop& loop) { return loop.from; });
}
ptrdiff_t Loops::to(int64_t line) const {
  return offset(loops, line, [](const Loop& loop) { return loop.to; });
}

template <class Real>
Lines<Real>::Lines(int64_t length, Form form)
    : length_(length), form_(form), line_(form != Form::Complex && length % 2 == 0 ? length / 2 : length) {
  if (!isPaired()) return;
  turns_.resize(static_cast<size_t>(2 * half()));
  for (int64_t k = 0; k < half(); ++k) turn(&turns_[static_cast<size_t>(2 * k)], k, length);
}

template <class Real>
void Lines<Real>::transform(From<Real> from, To<Real> to, const Loops& loops, bool isInverse) const {
  from.isSwapped = to.isSwapped = isInverse;
  const int64_t count = loops.count();
  if (!line_.isBundled(count)) {
    const auto some = [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i)
        transformAlone({from.data + loops.from(i), from.step, isInverse}, {to.data + loops.to(i), to.step, isInverse});
    };
    // Lines that a core's cache holds go to the threads one each; of longer ones all threads do parts.
    return length_ <= kOfOneThread ? inParts(count, count * length_, some) : some(0, count);
  }
  inBundles<Real>(count, std::max(line_.bufferLength(), half()),
                  [&](const Workspace<Real>& workspace, int64_t first, int lines) {
                    const Offsets<Real> in(first, lines, [&](int64_t line) { return loops.from(line); });
                    const Offsets<Real> out(first, lines, [&](int64_t line) { return loops.to(line); });
                    load(workspace.first, from, in.of);
                    store(line_.transform(workspace.first, workspace.second), to, out.of, lines);
                  });
}

template <class Real>
void Lines<Real>::load(Real* bundle, From<Real> from, const ptrdiff_t* offsets) const {
  const auto& loops = kernels<Real>();
  if (form_ == Form::Complex) return loops.load(bundle, from.data, offsets, from.step, length_, from.isSwapped);
  if (form_ == Form::RealToComplex)
    return isPaired() ? loops.load(bundle, from.data, offsets, paired(from.step), length_ / 2, false)
                      : loops.load(bundle, from.data, offsets, realOnly(from.step), length_, false);
  loops.load(bundle, from.data, offsets, from.step, half(), !isPaired());
  if (isPaired())
    loops.tangle(bundle, length_ / 2, turns_.data());
  else
    complete(bundle, length_);
}

template <class Real>
void Lines<Real>::store(Real* bundle, To<Real> to, const ptrdiff_t* offsets, int lines) const {
  const auto& loops = kernels<Real>();
  if (form_ == Form::Complex)
    return loops.store(bundle, to.data, offsets, to.step, length_, lines, to.isSwapped, to.isStreamed);
  if (form_ == Form::ComplexToReal)
    return isPaired() ? loops.store(bundle, to.data, offsets, paired(to.step), length_ / 2, lines, true, to.isStreamed)
                      : loops.store(bundle, to.data, offsets, realOnly(to.step), length_, lines, true, false);
  if (isPaired()) loops.untangle(bundle, length_ / 2, turns_.data());
  loops.store(bundle, to.data, offsets, to.step, half(), lines, false, to.isStreamed);
}

template <class Real>
void Lines<Real>::transformAlone(From<Real> from, To<Real> to) const {
  if (form_ == Form::Complex) return line_.transformAlone(from, to);
  return form_ == Form::RealToComplex ? realAlone(from, to) : complexAlone(from, to);
}

/// The same as `load` and `store` do, for one line that fills no bundle.
template <class Real>
void Lines<Real>::realAlone(From<Real> from, To<Real> to) const {
  Buffer<Real> buffer(2 * (line_.length() + 1));
  Real* z = buffer.data();
  line_.transformAlone({from.data, isPaired() ? paired(from.step) : realOnly(from.step)}, {z, kPacked});
  if (isPaired()) {
    const Complex<Real> first = get(z, kPacked, 0);
    put(z, kPacked, 0, Complex<Real>{first.re + first.im, 0});
    put(z, kPacked, half() - 1, Complex<Real>{first.re - first.im, 0});
  }
  inParts((half() + 1) / 2, half(), [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      const int64_t other = half() - 1 - k;
      Complex<Real> low = get(z, kPacked, k), high = get(z, kPacked, other);
      if (isPaired() && k > 0) untangled(low, high, turns_[index(2 * k)], turns_[index(2 * k + 1)]);
      put(to.data, to.step, other, high);
      put(to.data, to.step, k, low);
    }
  });
}

template <class Real>
void Lines<Real>::complexAlone(From<Real> from, To<Real> to) const {
  Buffer<Real> buffer(2 * (length_ + 1));
  Real* z = buffer.data();
  // The first element is real, and so is the last one of an even number; what else they hold does not count.
  const Real first = get(from.data, from.step, 0).re, last = get(from.data, from.step, half() - 1).re;
  if (isPaired()) {
    inParts((half() + 1) / 2, half(), [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; ++k) {
        Complex<Real> low = get(from.data, from.step, k), high = get(from.data, from.step, half() - 1 - k);
        tangled(low, high, turns_[index(2 * k)], turns_[index(2 * k + 1)]);
        put(z, kPacked, half() - 1 - k, high);
        put(z, kPacked, k, low);
      }
    });
    put(z, kPacked, 0, Complex<Real>{first + last, first - last});
  } else {
    put(z, kPacked, 0, Complex<Real>{first, 0});
    for (int64_t k = 1; k < half(); ++k) {
      const Complex<Real> value = get(from.data, from.step, k);
      put(z, kPacked, k, value);
      put(z, kPacked, length_ - k, conjugate(value));
    }
  }
  line_.transformAlone({z, kPacked, true}, {to.data, isPaired() ? paired(to.step) : realOnly(to.step), true});
}

template class Lines<float>;
template class Lines<double>;

}  // namespace ordito::cufft
