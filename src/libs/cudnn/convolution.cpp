// A convolution as a product of matrices (Chellapilla, Puri and Simard, "High performance convolutional neural networks
// for document processing", 2006): what a filter sees at each place becomes a column, so all filters of an image are
// one product with OpenBLAS. Images go side by side over the threads that run blocks.
#include "libs/cudnn/convolution.hpp"

#include <algorithm>
#include <vector>

#include "libs/cudnn/product.hpp"

namespace ordito::libs::cudnn {

int outputSize(const cudnnConvolutionStruct& how, size_t i, int input, int filter) {
  return 1 + (input + 2 * how.pad[i] - ((filter - 1) * how.dilation[i] + 1)) / how.stride[i];
}

Convolution::Convolution(const Shape& input, const Shape& filters, const Shape& output,
                         const cudnnConvolutionStruct& said)
    : x(input.asVolumes()), w(filters.asVolumes()), y(output.asVolumes()), how(said) {
  // Ranks that do not go together stay such, for check().
  if (input.rank != how.rank + 2) x.rank = 0;
  if (filters.rank != input.rank || output.rank != input.rank) y.rank = 0;
}

cudnnStatus_t Convolution::check() const {
  CUDNN_CHECK(x.rank == 5 && w.rank == 5 && y.rank == 5 && how.rank > 0 && how.groups > 0);
  CUDNN_TRY(checkType(x));
  CUDNN_CHECK(w.type == x.type && y.type == x.type);
  CUDNN_CHECK(x.size[1] == w.size[1] * how.groups && w.size[0] % how.groups == 0);
  CUDNN_CHECK(y.size[0] == x.size[0] && y.size[1] == w.size[0]);
  for (size_t i = 0; i < 3; ++i) CUDNN_CHECK(y.size[i + 2] == outputSize(how, i, x.size[i + 2], w.size[i + 2]));
  if (!ordito::cublas::loadOpenBlas()) return notInitialized();
  return CUDNN_STATUS_SUCCESS;
}

Work Convolution::work() const {
  const double products = static_cast<double>(y.count()) * taps();
  return {2 * products, static_cast<double>(sizeOf(x.type)) * static_cast<double>(x.count() + w.count() + y.count())};
}

namespace {

/// visit(place) for each place of a box, the last dimension fastest.
template <class Visit>
void forTriples(const Triple& size, const Visit& visit) {
  for (int d = 0; d < size[0]; ++d)
    for (int h = 0; h < size[1]; ++h)
      for (int w = 0; w < size[2]; ++w) visit(Triple{d, h, w});
}

/// Where a tap of a filter is in w. A convolution in the mathematical sense turns filters around.
int64_t placeOfTap(const Convolution& c, int k, int channel, const Triple& tap) {
  if (c.how.mode != CUDNN_CONVOLUTION) return c.w.at(k, channel, tap[0], tap[1], tap[2]);
  const Triple size = c.w.places();
  return c.w.at(k, channel, size[0] - 1 - tap[0], size[1] - 1 - tap[1], size[2] - 1 - tap[2]);
}

/// Filters in the order K, C, then their taps.
template <class T>
std::vector<Compute<T>> packed(const Convolution& c, const T* w) {
  std::vector<Compute<T>> result;
  result.reserve(static_cast<size_t>(c.w.count()));
  for (int k = 0; k < c.w.size[0]; ++k)
    for (int channel = 0; channel < c.w.size[1]; ++channel)
      forTriples(c.w.places(), [&](const Triple& tap) { result.push_back(wide(w[placeOfTap(c, k, channel, tap)])); });
  return result;
}

/// For each tap of a filter, each place: visit(index in the columns, where in x), or -1 for the padding.
template <class Visit>
void forTaps(const Convolution& c, int image, int group, const Visit& visit) {
  const Triple in = c.x.places(), out = c.y.places();
  const auto moved = [&](size_t i, int place, int tap) {
    const int at = place * c.how.stride[i] - c.how.pad[i] + tap * c.how.dilation[i];
    return at < in[i] ? at : -1;  // below 0 it is padding as well
  };
  size_t next = 0;
  for (int channel = 0; channel < c.channels(); ++channel)
    forTriples(c.w.places(), [&](const Triple& tap) {
      forTriples({out[0], out[1], 1}, [&](const Triple& place) {
        const int depth = moved(0, place[0], tap[0]), height = moved(1, place[1], tap[1]);
        const bool isRow = depth >= 0 && height >= 0;
        const int64_t row = isRow ? c.x.at(image, group * c.channels() + channel, depth, height, 0) : -1;
        for (int q = 0; q < out[2]; ++q) {
          const int width = moved(2, q, tap[2]);
          visit(next++, isRow && width >= 0 ? row + int64_t{width} * c.x.step[4] : -1);
        }
      });
    });
}

/// An image of y or dy of a group, place by place: visit(index in the matrix, where in y).
template <class Visit>
void forPlaces(const Convolution& c, int image, int group, const Visit& visit) {
  size_t next = 0;
  for (int k = 0; k < c.filters(); ++k)
    forTriples(c.y.places(),
               [&](const Triple& at) { visit(next++, c.y.at(image, group * c.filters() + k, at[0], at[1], at[2])); });
}

template <class T>
std::vector<Compute<T>> columnsOf(const Convolution& c, int image, int group, const T* x) {
  std::vector<Compute<T>> columns(static_cast<size_t>(c.taps()) * static_cast<size_t>(c.places()));
  forTaps(c, image, group, [&](size_t i, int64_t from) { columns[i] = from < 0 ? Compute<T>(0) : wide(x[from]); });
  return columns;
}

template <class T>
std::vector<Compute<T>> placesOf(const Convolution& c, int image, int group, const T* y) {
  std::vector<Compute<T>> places(static_cast<size_t>(c.filters()) * static_cast<size_t>(c.places()));
  forPlaces(c, image, group, [&](size_t i, int64_t from) { places[i] = wide(y[from]); });
  return places;
}

template <class T>
const T* ofGroup(const Convolution& c, const std::vector<T>& filters, int group) {
  return filters.data() + static_cast<size_t>(group) * static_cast<size_t>(c.filters()) * static_cast<size_t>(c.taps());
}

/// body(image, group), side by side.
template <class Body>
void forImages(const Convolution& c, const Body& body) {
  parallelFor(static_cast<unsigned>(c.x.size[0] * c.how.groups),
              [&](unsigned i) { body(static_cast<int>(i) / c.how.groups, static_cast<int>(i) % c.how.groups); });
}

}  // namespace

template <class T, class Result>
void convolve(const Convolution& c, Blend blend, const T* x, const T* w, Result* y) {
  using C = Compute<T>;
  const std::vector<C> filters = packed(c, w);
  forImages(c, [&](int image, int group) {
    const std::vector<C> columns = columnsOf(c, image, group, x);
    std::vector<C> result(static_cast<size_t>(c.filters()) * static_cast<size_t>(c.places()));
    multiply(false, false, c.filters(), c.places(), c.taps(), ofGroup(c, filters, group), columns.data(), C(0),
             result.data());
    forPlaces(c, image, group, [&](size_t i, int64_t to) { blend.into(y[to], static_cast<double>(result[i])); });
  });
}

template <class T>
void convolveBackwardData(const Convolution& c, Blend blend, const T* w, const T* dy, T* dx) {
  using C = Compute<T>;
  const std::vector<C> filters = packed(c, w);
  forImages(c, [&](int image, int group) {
    const std::vector<C> places = placesOf(c, image, group, dy);
    std::vector<C> columns(static_cast<size_t>(c.taps()) * static_cast<size_t>(c.places()));
    multiply(true, false, c.taps(), c.places(), c.filters(), ofGroup(c, filters, group), places.data(), C(0),
             columns.data());
    // An element is in many columns: sums in double, of this image of this group by itself.
    Convolution alone = c;
    alone.x.size[0] = 1;
    alone.x.size[1] = c.channels();
    alone.x.pack(false);
    alone.how.groups = 1;
    std::vector<double> sums(static_cast<size_t>(alone.x.count()));
    forTaps(alone, 0, 0, [&](size_t i, int64_t to) {
      if (to >= 0) sums[static_cast<size_t>(to)] += static_cast<double>(columns[i]);
    });
    auto sum = sums.begin();
    for (int channel = 0; channel < c.channels(); ++channel)
      forTriples(c.x.places(), [&](const Triple& at) {
        blend.into(dx[c.x.at(image, group * c.channels() + channel, at[0], at[1], at[2])], *sum++);
      });
  });
}

template <class T>
void convolveBackwardFilter(const Convolution& c, Blend blend, const T* x, const T* dy, T* dw) {
  using C = Compute<T>;
  // Images are summed up in a fixed number of parts, so that the result does not depend on the number of threads.
  const int images = c.x.size[0], groups = c.how.groups, parts = std::min(images, 16);
  const size_t size = static_cast<size_t>(c.filters()) * static_cast<size_t>(c.taps());
  std::vector<std::vector<C>> sums(static_cast<size_t>(parts * groups));
  parallelFor(static_cast<unsigned>(parts * groups), [&](unsigned i) {
    const int part = static_cast<int>(i) / groups, group = static_cast<int>(i) % groups;
    auto& sum = sums[i];
    sum.assign(size, C(0));
    for (int image = part; image < images; image += parts) {
      const std::vector<C> columns = columnsOf(c, image, group, x), places = placesOf(c, image, group, dy);
      multiply(false, true, c.filters(), c.taps(), c.places(), places.data(), columns.data(), C(1), sum.data());
    }
  });
  for (int k = 0; k < c.w.size[0]; ++k) {
    const int group = k / c.filters();
    auto at = static_cast<size_t>(k % c.filters()) * static_cast<size_t>(c.taps());
    for (int channel = 0; channel < c.channels(); ++channel)
      forTriples(c.w.places(), [&](const Triple& tap) {
        double total = 0;
        for (int part = 0; part < parts; ++part)
          total += static_cast<double>(sums[static_cast<unsigned>(part * groups + group)][at]);
        blend.into(dw[placeOfTap(c, k, channel, tap)], total);
        ++at;
      });
  }
}

#define INSTANTIATE(T)                                                                   \
  template void convolve(const Convolution&, Blend, const T*, const T*, T*);             \
  template void convolveBackwardData(const Convolution&, Blend, const T*, const T*, T*); \
  template void convolveBackwardFilter(const Convolution&, Blend, const T*, const T*, T*);
INSTANTIATE(float)
INSTANTIATE(double)
INSTANTIATE(__half)
INSTANTIATE(__nv_bfloat16)
template void convolve(const Convolution&, Blend, const __half*, const __half*, float*);
template void convolve(const Convolution&, Blend, const __nv_bfloat16*, const __nv_bfloat16*, float*);

}  // namespace ordito::libs::cudnn
