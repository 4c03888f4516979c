// Pooling in graphs, forwards and back. The index of a maximum is its number in the window, the last dimension fastest.
#include <algorithm>
#include <cmath>

#include "libs/cudnn/graph/kinds.hpp"

namespace ordito::libs::cudnn::graph {
namespace {

/// How a window moves. A size and its padding are fractions in the interface; only whole ones are there.
struct Window {
  cudnnResampleMode_t mode = CUDNN_RESAMPLE_MAXPOOL;
  std::vector<int64_t> size, step, before;
  bool isPaddedWithZeros = false;  // else a maximum does not see the padding
  bool propagatesNan = false;

  int64_t taps() const {
    int64_t all = 1;
    for (const int64_t n : size) all *= n;
    return all;
  }
  /// visit(place in the image of sizes `image`, or -1 for the padding; number in the window) at the place `out` of the
  /// result, whose sizes are `made`.
  template <class Visit>
  void each(const std::vector<int64_t>& image, const std::vector<int64_t>& made, int64_t out,
            const Visit& visit) const {
    std::vector<int64_t> corner(size.size());
    for (size_t d = size.size(); d-- > 0; out /= made[d]) corner[d] = out % made[d] * step[d] - before[d];
    for (int64_t tap = 0; tap < taps(); ++tap) {
      int64_t place = 0, rest = tap, scale = 1;
      bool isInside = true;
      for (size_t d = size.size(); d-- > 0; rest /= size[d]) {
        const int64_t at = corner[d] + rest % size[d];
        isInside &= at >= 0 && at < image[d];
        place += at * scale;
        scale *= image[d];
      }
      visit(isInside ? place : -1, tap);
    }
  }
};

struct Sizes {
  std::vector<int64_t> image, made;
  int64_t images = 1, imageCount = 1, madeCount = 1;

  Sizes(const Tensor& x, const Tensor& y)
      : image(x.size.begin() + 2, x.size.end()), made(y.size.begin() + 2, y.size.end()) {
    images = x.size[0] * x.size[1];
    for (const int64_t n : image) imageCount *= n;
    for (const int64_t n : made) madeCount *= n;
  }
};

/// Where the maximum of a window is: its place, its number, and what it is.
template <class T>
struct Maximum {
  int64_t place = -1, tap = 0;
  T value = 0;
};
template <class T>
Maximum<T> maximumOf(const Window& window, const Sizes& sizes, const T* image, int64_t out) {
  Maximum<T> best;
  bool isFirst = true;
  window.each(sizes.image, sizes.made, out, [&](int64_t place, int64_t tap) {
    if (place < 0 && !window.isPaddedWithZeros) return;
    const T value = place < 0 ? T(0) : image[place];
    if (std::isnan(value) && !window.propagatesNan) return;
    if (isFirst || value > best.value || (std::isnan(value) && !std::isnan(best.value))) best = {place, tap, value};
    isFirst = false;
  });
  if (isFirst) best.value = -std::numeric_limits<T>::infinity();
  return best;
}

/// By how much the sum over a window is divided.
int64_t divisor(const Window& window, const Sizes& sizes, int64_t out) {
  if (window.mode == CUDNN_RESAMPLE_AVGPOOL_INCLUDE_PADDING) return window.taps();
  int64_t inside = 0;
  window.each(sizes.image, sizes.made, out, [&](int64_t place, int64_t) { inside += place >= 0; });
  return std::max<int64_t>(1, inside);
}

struct Resample : OperationOf<Resample> {
  Window window;
  Tensor x, y;
  std::optional<Tensor> index;

  template <class T>
  void compute(Arrays<T>& arrays) const {
    const Sizes sizes(x, y);
    const T* from = arrays[x].data.data();
    std::vector<T> result(static_cast<size_t>(y.count())), indices(index ? result.size() : 0);
    parallelFor(static_cast<unsigned>(sizes.images), [&](unsigned image) {
      const T* own = from + image * sizes.imageCount;
      for (int64_t out = 0; out < sizes.madeCount; ++out) {
        const auto to = static_cast<size_t>(image * sizes.madeCount + out);
        if (window.mode == CUDNN_RESAMPLE_MAXPOOL) {
          const Maximum<T> best = maximumOf(window, sizes, own, out);
          result[to] = best.value;
          if (index) indices[to] = static_cast<T>(best.tap);
        } else {
          double sum = 0;
          window.each(sizes.image, sizes.made, out, [&](int64_t place, int64_t) {
            if (place >= 0) sum += static_cast<double>(own[place]);
          });
          result[to] = static_cast<T>(sum / static_cast<double>(divisor(window, sizes, out)));
        }
      }
    });
    arrays.put(y, std::move(result));
    if (index) arrays.put(*index, std::move(indices));
  }
};

struct ResampleBackward : OperationOf<ResampleBackward> {
  Window window;
  Tensor dx, dy;
  std::optional<Tensor> x, index;

  template <class T>
  void compute(Arrays<T>& arrays) const {
    const Sizes sizes(dx, dy);
    const T* gradients = arrays[dy].data.data();
    const T* indices = index ? arrays[*index].data.data() : nullptr;
    const T* images = x ? arrays[*x].data.data() : nullptr;
    std::vector<T> result(static_cast<size_t>(dx.count()));
    parallelFor(static_cast<unsigned>(sizes.images), [&](unsigned image) {
      T* own = result.data() + image * sizes.imageCount;
      for (int64_t out = 0; out < sizes.madeCount; ++out) {
        const int64_t at = image * sizes.madeCount + out;
        if (window.mode != CUDNN_RESAMPLE_MAXPOOL) {
          const T share = gradients[at] / static_cast<T>(divisor(window, sizes, out));
          window.each(sizes.image, sizes.made, out, [&](int64_t place, int64_t) {
            if (place >= 0) own[place] += share;
          });
          continue;
        }
        const int64_t wanted = indices ? static_cast<int64_t>(indices[at]) : -1;
        const int64_t found = indices ? -1 : maximumOf(window, sizes, images + image * sizes.imageCount, out).place;
        window.each(sizes.image, sizes.made, out, [&](int64_t place, int64_t tap) {
          if (place >= 0 && (indices ? tap == wanted : place == found)) own[place] += gradients[at];
        });
      }
    });
    arrays.put(dx, std::move(result));
  }
};

/// Fractions with the denominator 1, or whole numbers.
std::optional<std::vector<int64_t>> wholeNumbers(const Descriptor& said, cudnnBackendAttributeName_t name) {
  const auto fractions = said.all<cudnnFraction_t>(name);
  if (fractions.empty()) return said.all<int64_t>(name);
  std::vector<int64_t> result;
  for (const cudnnFraction_t& one : fractions) {
    if (one.denominator == 0 || one.numerator % one.denominator != 0) return std::nullopt;
    result.push_back(one.numerator / one.denominator);
  }
  return result;
}

cudnnStatus_t readWindow(const Said& said, const Tensor& x, const Tensor& y, Window& window) {
  CUDNN_CHECK(said && x.size.size() >= 3 && y.size.size() == x.size.size());
  CUDNN_CHECK(x.size[0] == y.size[0] && x.size[1] == y.size[1]);
  window.mode = said->one(CUDNN_ATTR_RESAMPLE_MODE, CUDNN_RESAMPLE_MAXPOOL);
  if (window.mode == CUDNN_RESAMPLE_NEAREST || window.mode == CUDNN_RESAMPLE_BILINEAR)
    return refuse("resampling to the nearest or bilinearly in a graph");
  const auto size = wholeNumbers(*said, CUDNN_ATTR_RESAMPLE_WINDOW_DIMS);
  const auto step = wholeNumbers(*said, CUDNN_ATTR_RESAMPLE_STRIDES);
  const auto before = wholeNumbers(*said, CUDNN_ATTR_RESAMPLE_PRE_PADDINGS);
  const auto behind = wholeNumbers(*said, CUDNN_ATTR_RESAMPLE_POST_PADDINGS);
  if (!size || !step || !before || !behind) return refuse("a window whose sizes are no whole numbers");
  const size_t rank = x.size.size() - 2;
  CUDNN_CHECK(size->size() == rank && step->size() == rank && before->size() == rank && behind->size() == rank);
  for (const auto* list : {&*size, &*step, &*before, &*behind}) CUDNN_CHECK(areSmall(*list));
  for (size_t d = 0; d < rank; ++d) {
    CUDNN_CHECK((*size)[d] > 0 && (*step)[d] > 0);
    CUDNN_CHECK(y.size[d + 2] == (x.size[d + 2] + (*before)[d] + (*behind)[d] - (*size)[d]) / (*step)[d] + 1);
  }
  window.size = *size, window.step = *step, window.before = *before;
  window.isPaddedWithZeros = said->one(CUDNN_ATTR_RESAMPLE_PADDING_MODE, CUDNN_ZERO_PAD) == CUDNN_ZERO_PAD;
  window.propagatesNan = said->one(CUDNN_ATTR_RESAMPLE_NAN_PROPAGATION, CUDNN_PROPAGATE_NAN) == CUDNN_PROPAGATE_NAN;
  if (said->one(CUDNN_ATTR_RESAMPLE_PADDING_MODE, CUDNN_ZERO_PAD) == CUDNN_EDGE_VAL_PAD)
    return refuse("padding by the value of the edge");
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace

cudnnStatus_t makeResample(const Descriptor& said, Made& made) {
  const auto operation = std::make_shared<Resample>();
  const Maker maker(said, *operation);
  CUDNN_CHECK(maker.read({{CUDNN_ATTR_OPERATION_RESAMPLE_FWD_XDESC, operation->x}}));
  CUDNN_CHECK(maker.write({{CUDNN_ATTR_OPERATION_RESAMPLE_FWD_YDESC, operation->y},
                           {CUDNN_ATTR_OPERATION_RESAMPLE_FWD_IDXDESC, operation->index}}));
  CUDNN_CHECK(!operation->index || operation->index->size == operation->y.size);
  CUDNN_TRY(readWindow(said.descriptor(CUDNN_ATTR_OPERATION_RESAMPLE_FWD_DESC), operation->x, operation->y,
                       operation->window));
  made = operation;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t makeResampleBackward(const Descriptor& said, Made& made) {
  const auto operation = std::make_shared<ResampleBackward>();
  const Maker maker(said, *operation);
  CUDNN_CHECK(maker.read({{CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DYDESC, operation->dy},
                          {CUDNN_ATTR_OPERATION_RESAMPLE_BWD_IDXDESC, operation->index},
                          {CUDNN_ATTR_OPERATION_RESAMPLE_BWD_XDESC, operation->x}}));
  CUDNN_CHECK(maker.write({{CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DXDESC, operation->dx}}));
  CUDNN_TRY(readWindow(said.descriptor(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DESC), operation->dx, operation->dy,
                       operation->window));
  const bool isMaximum = operation->window.mode == CUDNN_RESAMPLE_MAXPOOL;
  CUDNN_CHECK(!operation->index || operation->index->size == operation->dy.size);
  CUDNN_CHECK(!operation->x || operation->x->size == operation->dx.size);
  CUDNN_CHECK(!isMaximum || operation->index || operation->x);
  made = operation;
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace ordito::libs::cudnn::graph
