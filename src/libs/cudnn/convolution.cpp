// A convolution as a product of matrices (Chellapilla, Puri and Simard, "High performance convolutional neural networks
// for document processing", 2006): what a filter sees at each place becomes a column, so all filters of an image are
// one product with OpenBLAS. Images go side by side over the threads that run blocks.
#include "libs/cudnn/convolution.hpp"

#include <algorithm>
#include <vector>

#include "libs/cublas/openblas.hpp"

namespace ordito::libs::cudnn {

int outputSize(int input, int padding, int filter, int stride, int dilation) {
  return 1 + (input + 2 * padding - ((filter - 1) * dilation + 1)) / stride;
}

cudnnStatus_t Convolution::check() const {
  CUDNN_CHECK(x.rank > 0 && x.rank == w.rank && y.rank == x.rank && how.isSet && how.groups > 0);
  if (x.rank != 4) return refuse("a convolution of other than 4-dimensional tensors");
  CUDNN_TRY(checkType(x));
  CUDNN_CHECK(w.type == x.type && y.type == x.type);
  CUDNN_CHECK(x.size[1] == w.size[1] * how.groups && w.size[0] % how.groups == 0);
  CUDNN_CHECK(y.size[0] == x.size[0] && y.size[1] == w.size[0]);
  CUDNN_CHECK(y.size[2] == outputSize(x.size[2], how.padH, w.size[2], how.strideH, how.dilationH));
  CUDNN_CHECK(y.size[3] == outputSize(x.size[3], how.padW, w.size[3], how.strideW, how.dilationW));
  if (!ordito::cublas::loadOpenBlas()) return notInitialized();
  return CUDNN_STATUS_SUCCESS;
}

Work Convolution::work() const {
  const double products = static_cast<double>(y.count()) * taps();
  return {2 * products, static_cast<double>(sizeOf(x.type)) * static_cast<double>(x.count() + w.count() + y.count())};
}

namespace {

/// Filters in the order K, C, R, S. A convolution in the mathematical sense turns them around.
template <class T>
std::vector<T> packed(const Convolution& c, const T* w) {
  std::vector<T> result(static_cast<size_t>(c.w.count()));
  const int rows = c.w.size[2], columns = c.w.size[3];
  const bool isTurned = c.how.mode == CUDNN_CONVOLUTION;
  size_t next = 0;
  for (int k = 0; k < c.w.size[0]; ++k)
    for (int channel = 0; channel < c.w.size[1]; ++channel)
      for (int r = 0; r < rows; ++r)
        for (int s = 0; s < columns; ++s)
          result[next++] = w[isTurned ? c.w.at(k, channel, rows - 1 - r, columns - 1 - s) : c.w.at(k, channel, r, s)];
  return result;
}

/// For each tap of a filter, each place: visit(index in the columns, where in x), or -1 for the padding.
template <class Visit>
void forTaps(const Convolution& c, int image, int group, const Visit& visit) {
  size_t next = 0;
  for (int channel = 0; channel < c.channels(); ++channel)
    for (int r = 0; r < c.w.size[2]; ++r)
      for (int s = 0; s < c.w.size[3]; ++s)
        for (int p = 0; p < c.y.size[2]; ++p) {
          const int h = p * c.how.strideH - c.how.padH + r * c.how.dilationH;
          const bool isRow = h >= 0 && h < c.x.size[2];
          const int64_t row = isRow ? c.x.at(image, group * c.channels() + channel, h, 0) : -1;
          for (int q = 0; q < c.y.size[3]; ++q) {
            const int v = q * c.how.strideW - c.how.padW + s * c.how.dilationW;
            visit(next++, isRow && v >= 0 && v < c.x.size[3] ? row + int64_t{v} * c.x.step[3] : -1);
          }
        }
}

/// An image of y or dy of a group, place by place: visit(index in the matrix, where in y).
template <class Visit>
void forPlaces(const Convolution& c, int image, int group, const Visit& visit) {
  size_t next = 0;
  for (int k = 0; k < c.filters(); ++k)
    for (int p = 0; p < c.y.size[2]; ++p)
      for (int q = 0; q < c.y.size[3]; ++q) visit(next++, c.y.at(image, group * c.filters() + k, p, q));
}

template <class T>
std::vector<T> columnsOf(const Convolution& c, int image, int group, const T* x) {
  std::vector<T> columns(static_cast<size_t>(c.taps()) * static_cast<size_t>(c.places()));
  forTaps(c, image, group, [&](size_t i, int64_t from) { columns[i] = from < 0 ? T(0) : x[from]; });
  return columns;
}

template <class T>
std::vector<T> placesOf(const Convolution& c, int image, int group, const T* y) {
  std::vector<T> places(static_cast<size_t>(c.filters()) * static_cast<size_t>(c.places()));
  forPlaces(c, image, group, [&](size_t i, int64_t from) { places[i] = y[from]; });
  return places;
}

/// C = op(A) op(B) + beta C of matrices stored by rows, m by n. BLAS stores by columns, so it is asked for the
/// transposed of all.
template <class T>
void multiply(bool isTransposedA, bool isTransposedB, int m, int n, int k, const T* a, const T* b, T beta, T* c) {
  const T one = 1;
  const int lda = isTransposedA ? m : k, ldb = isTransposedB ? k : n;
  ordito::cublas::openBlas<T>().gemm(isTransposedB ? "T" : "N", isTransposedA ? "T" : "N", &n, &m, &k, &one, b, &ldb, a,
                                     &lda, &beta, c, &n);
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

template <class T>
void convolve(const Convolution& c, Blend blend, const T* x, const T* w, T* y) {
  const std::vector<T> filters = packed(c, w);
  forImages(c, [&](int image, int group) {
    const std::vector<T> columns = columnsOf(c, image, group, x);
    std::vector<T> result(static_cast<size_t>(c.filters()) * static_cast<size_t>(c.places()));
    multiply(false, false, c.filters(), c.places(), c.taps(), ofGroup(c, filters, group), columns.data(), T(0),
             result.data());
    forPlaces(c, image, group, [&](size_t i, int64_t to) { blend.into(y[to], static_cast<double>(result[i])); });
  });
}

template <class T>
void convolveBackwardData(const Convolution& c, Blend blend, const T* w, const T* dy, T* dx) {
  const std::vector<T> filters = packed(c, w);
  forImages(c, [&](int image, int group) {
    const std::vector<T> places = placesOf(c, image, group, dy);
    std::vector<T> columns(static_cast<size_t>(c.taps()) * static_cast<size_t>(c.places()));
    multiply(true, false, c.taps(), c.places(), c.filters(), ofGroup(c, filters, group), places.data(), T(0),
             columns.data());
    // A pixel is in many columns: sums in double, per channel.
    const int height = c.x.size[2], width = c.x.size[3];
    const int64_t first = c.x.at(image, group * c.channels(), 0, 0);
    std::vector<double> sums(static_cast<size_t>(c.channels()) * static_cast<size_t>(height) *
                             static_cast<size_t>(width));
    Shape dense = c.x;  // this image of this group by itself
    dense.size[0] = 1;
    dense.size[1] = c.channels();
    dense.pack(false);
    Convolution alone = c;
    alone.x = dense;
    alone.how.groups = 1;
    forTaps(alone, 0, 0, [&](size_t i, int64_t to) {
      if (to >= 0) sums[static_cast<size_t>(to)] += static_cast<double>(columns[i]);
    });
    for (int channel = 0; channel < c.channels(); ++channel)
      for (int h = 0; h < height; ++h)
        for (int v = 0; v < width; ++v)
          blend.into(dx[first + c.x.at(0, channel, h, v)], sums[static_cast<size_t>(dense.at(0, channel, h, v))]);
  });
}

template <class T>
void convolveBackwardFilter(const Convolution& c, Blend blend, const T* x, const T* dy, T* dw) {
  // Images are summed up in a fixed number of parts, so that the result does not depend on the number of threads.
  const int images = c.x.size[0], groups = c.how.groups, parts = std::min(images, 16);
  const size_t size = static_cast<size_t>(c.filters()) * static_cast<size_t>(c.taps());
  std::vector<std::vector<T>> sums(static_cast<size_t>(parts * groups));
  parallelFor(static_cast<unsigned>(parts * groups), [&](unsigned i) {
    const int part = static_cast<int>(i) / groups, group = static_cast<int>(i) % groups;
    auto& sum = sums[i];
    sum.assign(size, T(0));
    for (int image = part; image < images; image += parts) {
      const std::vector<T> columns = columnsOf(c, image, group, x), places = placesOf(c, image, group, dy);
      multiply(false, true, c.filters(), c.taps(), c.places(), places.data(), columns.data(), T(1), sum.data());
    }
  });
  const int rows = c.w.size[2], widths = c.w.size[3];
  const bool isTurned = c.how.mode == CUDNN_CONVOLUTION;
  for (int k = 0; k < c.w.size[0]; ++k)
    for (int channel = 0; channel < c.channels(); ++channel)
      for (int r = 0; r < rows; ++r)
        for (int s = 0; s < widths; ++s) {
          const int group = k / c.filters();
          const int at = ((k % c.filters() * c.channels() + channel) * rows + r) * widths + s;
          double total = 0;
          for (int part = 0; part < parts; ++part)
            total += static_cast<double>(sums[unsigned(part * groups + group)][unsigned(at)]);
          blend.into(dw[isTurned ? c.w.at(k, channel, rows - 1 - r, widths - 1 - s) : c.w.at(k, channel, r, s)], total);
        }
}

#define INSTANTIATE(T)                                                                   \
  template void convolve(const Convolution&, Blend, const T*, const T*, T*);             \
  template void convolveBackwardData(const Convolution&, Blend, const T*, const T*, T*); \
  template void convolveBackwardFilter(const Convolution&, Blend, const T*, const T*, T*);
INSTANTIATE(float)
INSTANTIATE(double)

}  // namespace ordito::libs::cudnn
