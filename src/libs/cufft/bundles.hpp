// Many lines through bundles, on all threads.
#pragma once

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <new>

#include "libs/cufft/complex.hpp"
#include "libs/cufft/line.hpp"
#include "libs/stream_task.hpp"

namespace ordito::cufft {

/// Numbers on the cache lines that vectors want. A thread keeps what it gives back for its next call: fresh pages of
/// memory would cost more than a transform.
template <class Real>
class Buffer {
 public:
  explicit Buffer(int64_t count) : size_((static_cast<size_t>(count) * sizeof(Real) + 63) / 64 * 64) {
    for (auto& one : kept()) {
      if (!one.data || one.size < size_) continue;
      std::swap(data_, one.data);
      size_ = one.size;
      return;
    }
    data_.reset(static_cast<Real*>(std::aligned_alloc(64, size_)));
    if (!data_) throw std::bad_alloc();
  }
  ~Buffer() {
    auto& one = kept()[next()++ % kept().size()];
    std::swap(one.data, data_);
    one.size = size_;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  Real* data() { return data_.get(); }

 private:
  struct Free {
    void operator()(Real* data) const { std::free(data); }
  };
  using Data = std::unique_ptr<Real, Free>;
  struct Kept {
    Data data;
    size_t size = 0;
  };
  static std::array<Kept, 4>& kept() {
    thread_local std::array<Kept, 4> all;
    return all;
  }
  static size_t& next() {
    thread_local size_t place = 0;
    return place;
  }

  Data data_;
  size_t size_;
};

/// A thread's two bundles of `length` elements.
template <class Real>
class Workspace {
 public:
  explicit Workspace(int64_t length)
      : buffer_(4 * length * lanes<Real>()), first(buffer_.data()), second(first + 2 * length * lanes<Real>()) {}

 private:
  Buffer<Real> buffer_;

 public:
  Real *const first, *const second;
};

/// Element i of a line.
template <class Real>
Complex<Real> get(const Real* numbers, Step step, int64_t i, bool isSwapped = false) {
  const Real* at = numbers + i * step.stride;
  const Complex<Real> value{*at, step.imaginary ? at[step.imaginary] : 0};
  return isSwapped ? swapped(value) : value;
}
template <class Real>
void put(Real* numbers, Step step, int64_t i, Complex<Real> value, bool isSwapped = false) {
  if (isSwapped) value = swapped(value);
  Real* at = numbers + i * step.stride;
  *at = value.re;
  if (step.imaginary) at[step.imaginary] = value.im;
}

/// Offsets of a bundle's lines; lanes without a line read the last one again.
template <class Real>
struct Offsets {
  template <class Where>
  Offsets(int64_t first, int lines, const Where& where) {
    for (int lane = 0, width = lanes<Real>(); lane < width; ++lane) of[lane] = where(first + std::min(lane, lines - 1));
  }
  ptrdiff_t of[kMostLanes<Real>];
};

/// Calls body(first, last) for parts of [0, count), on several threads if `work` (elements in all) is worth it.
template <class Body>
void inParts(int64_t count, int64_t work, const Body& body) {
  constexpr int64_t kWorthAThread = 16384;
  const int64_t parts =
      std::clamp<int64_t>(work / kWorthAThread, 1, std::min<int64_t>(count, 4 * libs::parallelThreads()));
  if (parts == 1) return body(int64_t{0}, count);
  libs::parallelFor(static_cast<unsigned>(parts),
                    [&](unsigned i) { body(count * i / parts, count * (i + 1) / parts); });
}

/// Calls body(workspace, first line, lines) for bundles of `count` lines.
template <class Real, class Body>
void inBundles(int64_t count, int64_t bufferLength, const Body& body) {
  const int width = lanes<Real>();
  inParts((count + width - 1) / width, count * bufferLength, [&](int64_t first, int64_t last) {
    const Workspace<Real> workspace(bufferLength);
    for (int64_t i = first; i < last; ++i)
      body(workspace, i * width, static_cast<int>(std::min<int64_t>(width, count - i * width)));
  });
}

}  // namespace ordito::cufft
