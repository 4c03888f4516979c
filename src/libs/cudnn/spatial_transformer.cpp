// cuDNN: spatial transformers (Jaderberg, Simonyan, Zisserman and Kavukcuoglu, 2015). An affine map of each image makes
// a grid of places, and a sampler reads the image there, between its elements. Places go from -1, the middle of the
// first element, to 1, that of the last one; there is nothing outside.
#include <cmath>
#include <vector>

#include "libs/cudnn/call.hpp"

struct cudnnSpatialTransformerStruct : ordito::libs::cudnn::Shape {};  // of the result: N, C, H, W

using namespace ordito::libs;
using namespace ordito::libs::cudnn;

namespace {

/// Place i of n, from -1 to 1, in the precision of the places, as a GPU rounds it.
template <class E>
double between(int i, int n) {
  using C = Compute<E>;
  return n > 1 ? static_cast<double>(static_cast<C>(i) * (C(2) / static_cast<C>(n - 1)) - 1) : -1;
}

/// body(image, row, column, number of the place in the grid).
template <class Body>
void forPlaces(const Shape& result, const Body& body) {
  const int height = result.size[2], width = result.size[3];
  forAll(int64_t{result.size[0]} * height * width, [&](int64_t i) {
    body(static_cast<int>(i / (height * width)), static_cast<int>(i / width % height), static_cast<int>(i % width), i);
  });
}

/// The four elements around a place of the grid: visit(row, column, weight, its derivatives by x and by y).
template <class Visit>
void forCorners(const Shape& image, double x, double y, const Visit& visit) {
  const double column = (x + 1) / 2 * (image.size[3] - 1), row = (y + 1) / 2 * (image.size[2] - 1);
  const double left = std::floor(column), top = std::floor(row);
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) {
      const double r = top + i, c = left + j;
      if (!(r >= 0 && r < image.size[2] && c >= 0 && c < image.size[3])) continue;
      const double down = 1 - std::abs(row - r), across = 1 - std::abs(column - c);
      const double alongX = (j == 0 ? -1 : 1) * down * (image.size[3] - 1) / 2;
      const double alongY = (i == 0 ? -1 : 1) * across * (image.size[2] - 1) / 2;
      visit(static_cast<int>(r), static_cast<int>(c), down * across, alongX, alongY);
    }
}

int64_t place(const Shape& shape, int n, int c, int h, int w) {
  return int64_t{n} * shape.step[0] + int64_t{c} * shape.step[1] + int64_t{h} * shape.step[2] +
         int64_t{w} * shape.step[3];
}

/// Are x and y an image and what the sampler makes of it?
cudnnStatus_t check(const cudnnSpatialTransformerStruct& made, const Shape& x, const Shape& y) {
  CUDNN_CHECK(made.rank == 4 && x.rank == 4 && y.rank == 4 && x.type == y.type && x.type == made.type);
  CUDNN_CHECK(x.size[0] == y.size[0] && x.size[1] == y.size[1] && y.size == made.size);
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace

CUDNN_DESCRIPTOR(SpatialTransformer)

cudnnStatus_t cudnnSetSpatialTransformerNdDescriptor(cudnnSpatialTransformerDescriptor_t d, cudnnSamplerType_t sampler,
                                                     cudnnDataType_t type, const int rank, const int* sizes) {
  CUDNN_CHECK(d && sizes && sampler == CUDNN_SAMPLER_BILINEAR);
  if (rank != 4) return notSupported();
  Shape shape;
  shape.type = type, shape.rank = rank;
  for (int i = 0; i < rank; ++i) {
    CUDNN_CHECK(sizes[i] > 0);
    shape.size[static_cast<size_t>(i)] = sizes[i];
  }
  shape.pack(false);
  static_cast<Shape&>(*d) = shape;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSpatialTfGridGeneratorForward(cudnnHandle_t handle, const cudnnSpatialTransformerDescriptor_t d,
                                                 const void* theta, void* grid) {
  CUDNN_CHECK(handle && d && theta && grid && d->rank == 4);
  return submitTyped(handle, "cudnnSpatialTfGridGeneratorForward", *d, [=, y = Shape(*d)](auto zero) {
    using E = decltype(zero);
    forPlaces(y, [&](int image, int row, int column, int64_t i) {
      const double at[] = {between<E>(column, y.size[3]), between<E>(row, y.size[2]), 1};
      for (int k = 0; k < 2; ++k) {
        double sum = 0;
        for (int j = 0; j < 3; ++j) sum += get<E>(theta, image * 6 + k * 3 + j) * at[j];
        static_cast<E*>(grid)[2 * i + k] = static_cast<E>(sum);
      }
    });
  });
}

cudnnStatus_t cudnnSpatialTfGridGeneratorBackward(cudnnHandle_t handle, const cudnnSpatialTransformerDescriptor_t d,
                                                  const void* dgrid, void* dtheta) {
  CUDNN_CHECK(handle && d && dgrid && dtheta && d->rank == 4);
  return submitTyped(handle, "cudnnSpatialTfGridGeneratorBackward", *d, [=, y = Shape(*d)](auto zero) {
    using E = decltype(zero);
    const int height = y.size[2], width = y.size[3];
    parallelFor(static_cast<unsigned>(y.size[0]), [&](unsigned image) {
      double sums[6] = {};
      for (int row = 0; row < height; ++row)
        for (int column = 0; column < width; ++column) {
          const double at[] = {between<E>(column, width), between<E>(row, height), 1};
          const int64_t i = (int64_t{image} * height + row) * width + column;
          for (int k = 0; k < 6; ++k) sums[k] += get<E>(dgrid, 2 * i + k / 3) * at[k % 3];
        }
      for (int k = 0; k < 6; ++k)
        static_cast<E*>(dtheta)[image * 6 + static_cast<unsigned>(k)] = static_cast<E>(sums[k]);
    });
  });
}

cudnnStatus_t cudnnSpatialTfSamplerForward(cudnnHandle_t handle, cudnnSpatialTransformerDescriptor_t d,
                                           const void* alpha, const cudnnTensorDescriptor_t x, const void* from,
                                           const void* grid, const void* beta, cudnnTensorDescriptor_t y, void* to) {
  CUDNN_CHECK(handle && d && alpha && x && from && grid && beta && y && to);
  CUDNN_TRY(check(*d, *x, *y));
  return submitTyped(handle, "cudnnSpatialTfSamplerForward", *x,
                     [=, x = Shape(*x), y = Shape(*y), blend = blend(*x, alpha, beta)](auto zero) {
                       using E = decltype(zero);
                       forPlaces(y, [&](int image, int row, int column, int64_t i) {
                         for (int channel = 0; channel < x.size[1]; ++channel) {
                           double sum = 0;
                           forCorners(x, get<E>(grid, 2 * i), get<E>(grid, 2 * i + 1),
                                      [&](int r, int c, double weight, double, double) {
                                        sum += weight * get<E>(from, place(x, image, channel, r, c));
                                      });
                           blend.into(static_cast<E*>(to)[place(y, image, channel, row, column)], sum);
                         }
                       });
                     });
}

cudnnStatus_t cudnnSpatialTfSamplerBackward(cudnnHandle_t handle, cudnnSpatialTransformerDescriptor_t d,
                                            const void* alpha, const cudnnTensorDescriptor_t x, const void* from,
                                            const void* beta, const cudnnTensorDescriptor_t dx, void* to,
                                            const void* alphaGrid, const cudnnTensorDescriptor_t dy, const void* dys,
                                            const void* grid, const void* betaGrid, void* dgrid) {
  CUDNN_CHECK(handle && d && alpha && x && from && beta && dx && to && alphaGrid && dy && dys && grid && betaGrid);
  CUDNN_CHECK(dgrid && dx->sameSizes(*x) && dx->type == x->type);
  CUDNN_TRY(check(*d, *x, *dy));
  return submitTyped(handle, "cudnnSpatialTfSamplerBackward", *x,
                     [=, x = Shape(*x), dx = Shape(*dx), dy = Shape(*dy), data = blend(*x, alpha, beta),
                      places = blend(*x, alphaGrid, betaGrid)](auto zero) {
                       using E = decltype(zero);
                       const auto gradient = [&](int image, int channel, int row, int column) {
                         return get<E>(dys, place(dy, image, channel, row, column));
                       };
                       forPlaces(dy, [&](int image, int row, int column, int64_t i) {
                         double alongX = 0, alongY = 0;
                         for (int channel = 0; channel < x.size[1]; ++channel)
                           forCorners(x, get<E>(grid, 2 * i), get<E>(grid, 2 * i + 1),
                                      [&](int r, int c, double, double byX, double byY) {
                                        const double term = gradient(image, channel, row, column) *
                                                            get<E>(from, place(x, image, channel, r, c));
                                        alongX += byX * term, alongY += byY * term;
                                      });
                         places.into(static_cast<E*>(dgrid)[2 * i], alongX);
                         places.into(static_cast<E*>(dgrid)[2 * i + 1], alongY);
                       });
                       // An element is near many places: sums of an image and a channel by one thread.
                       parallelFor(static_cast<unsigned>(x.size[0] * x.size[1]), [&](unsigned part) {
                         const int image = static_cast<int>(part) / x.size[1],
                                   channel = static_cast<int>(part) % x.size[1];
                         std::vector<double> sums(static_cast<size_t>(x.size[2]) * static_cast<size_t>(x.size[3]));
                         const auto sumOf = [&, width = static_cast<size_t>(x.size[3])](int r, int c) -> double& {
                           return sums[static_cast<size_t>(r) * width + static_cast<size_t>(c)];
                         };
                         for (int row = 0; row < dy.size[2]; ++row)
                           for (int column = 0; column < dy.size[3]; ++column) {
                             const int64_t i = (int64_t{image} * dy.size[2] + row) * dy.size[3] + column;
                             forCorners(x, get<E>(grid, 2 * i), get<E>(grid, 2 * i + 1),
                                        [&](int r, int c, double weight, double, double) {
                                          sumOf(r, c) += weight * gradient(image, channel, row, column);
                                        });
                           }
                         for (int r = 0; r < x.size[2]; ++r)
                           for (int c = 0; c < x.size[3]; ++c)
                             data.into(static_cast<E*>(to)[place(dx, image, channel, r, c)], sumOf(r, c));
                       });
                     });
}
