// Convolutions in graphs: those of the interface without graphs, on packed copies. One dimension is two of which the
// first has the size 1.
#include "libs/cublas/openblas.hpp"
#include "libs/cudnn/convolution.hpp"
#include "libs/cudnn/graph/kinds.hpp"

namespace ordito::libs::cudnn::graph {
namespace {

using Name = cudnnBackendAttributeName_t;

enum class Direction { Forward, BackwardData, BackwardFilter };

/// Images and filters as the packed tensors that they are copied to.
Shape shapeOf(const Tensor& tensor, cudnnDataType_t type) {
  Shape shape;
  shape.type = type;
  std::vector<int64_t> sizes = tensor.size;
  if (sizes.size() == 3) sizes.insert(sizes.begin() + 2, 1);
  shape.rank = static_cast<int>(sizes.size());
  for (size_t i = 0; i < sizes.size(); ++i) shape.size[i] = static_cast<int>(sizes[i]);
  shape.pack(false);
  return shape;
}

struct GraphConvolution : OperationOf<GraphConvolution> {
  Direction direction = Direction::Forward;
  Tensor x, w, y;
  cudnnConvolutionStruct how;
  double alpha = 1, beta = 0;

  const Tensor& result() const {
    return direction == Direction::Forward ? y : direction == Direction::BackwardData ? x : w;
  }
  double operations() const override {
    return 2 * static_cast<double>(y.count()) * static_cast<double>(w.count()) / static_cast<double>(w.size[0]);
  }

  template <class T>
  void compute(Arrays<T>& arrays) const {
    constexpr cudnnDataType_t kType = std::is_same_v<T, double> ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
    const Convolution c(shapeOf(x, kType), shapeOf(w, kType), shapeOf(y, kType), how);
    const Blend blend{alpha, beta};
    std::vector<T> made = beta == 0 ? std::vector<T>(static_cast<size_t>(result().count())) : arrays[result()].data;
    const auto in = [&](const Tensor& tensor) { return arrays[tensor].data.data(); };
    if (direction == Direction::Forward)
      convolve(c, blend, in(x), in(w), made.data());
    else if (direction == Direction::BackwardData)
      convolveBackwardData(c, blend, in(w), in(y), made.data());
    else
      convolveBackwardFilter(c, blend, in(x), in(y), made.data());
    arrays.put(result(), std::move(made));
  }

  /// Is y what x and w make, with what was said to come behind the last place?
  bool fits(const std::vector<int64_t>& behind) const {
    const size_t rank = x.size.size();
    if (rank < 3 || rank > 5 || w.size.size() != rank || y.size.size() != rank || behind.size() != rank - 2)
      return false;
    if (y.size[0] != x.size[0] || y.size[1] != w.size[0] || x.size[1] % w.size[1] != 0) return false;
    if (w.size[0] % how.groups != 0) return false;
    for (size_t i = 0; i + 2 < rank; ++i) {
      const size_t d = i + 5 - rank;  // of depth, height and width
      const int64_t window = (w.size[i + 2] - 1) * how.dilation[d] + 1;
      if (y.size[i + 2] != (x.size[i + 2] + how.pad[d] + behind[i] - window) / how.stride[d] + 1) return false;
    }
    return true;
  }
};

struct Names {
  Direction direction;
  Name x, w, y, how, alpha, beta;
};

cudnnStatus_t readHow(const Descriptor& said, GraphConvolution& operation) {
  const auto rank = said.one<int64_t>(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, 0);
  const auto before = said.all<int64_t>(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS);
  const auto strides = said.all<int64_t>(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES);
  const auto dilations = said.all<int64_t>(CUDNN_ATTR_CONVOLUTION_DILATIONS);
  CUDNN_CHECK(rank >= 1 && rank <= 3);
  const auto count = static_cast<size_t>(rank);
  CUDNN_CHECK(before.size() == count && strides.size() == count && dilations.size() == count);
  for (const Tensor* tensor : {&operation.x, &operation.w, &operation.y}) CUDNN_CHECK(areSmall(tensor->size));
  const auto behind = said.all<int64_t>(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS);
  for (const auto* list : {&before, &strides, &dilations, &behind}) CUDNN_CHECK(areSmall(*list));
  cudnnConvolutionStruct& how = operation.how;
  how.rank = rank == 1 ? 2 : static_cast<int>(rank);
  for (size_t i = 0; i < count; ++i) {
    CUDNN_CHECK(strides[i] > 0 && dilations[i] > 0);
    const size_t d = i + 3 - count;
    how.pad[d] = static_cast<int>(before[i]);
    how.stride[d] = static_cast<int>(strides[i]), how.dilation[d] = static_cast<int>(dilations[i]);
  }
  how.mode = said.one(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_CROSS_CORRELATION);
  how.groups = static_cast<int>(std::max<int64_t>(1, operation.x.size[1] / std::max<int64_t>(1, operation.w.size[1])));
  CUDNN_CHECK(operation.fits(behind));
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t make(const Descriptor& said, const Names& names, Made& made) {
  const auto operation = std::make_shared<GraphConvolution>();
  const Maker maker(said, *operation);
  operation->direction = names.direction;
  operation->alpha = said.number(names.alpha, 1), operation->beta = said.number(names.beta, 0);
  const bool readsResult = operation->beta != 0;
  const auto tensor = [&](Direction writer, Name name) {
    const bool isResult = names.direction == writer;
    if (isResult && readsResult) maker.read(name);
    return isResult ? maker.write(name) : maker.read(name);
  };
  const auto x = tensor(Direction::BackwardData, names.x), w = tensor(Direction::BackwardFilter, names.w);
  const auto y = tensor(Direction::Forward, names.y);
  const Said how = said.descriptor(names.how);
  CUDNN_CHECK(x && w && y && how && x->size.size() >= 3 && w->size.size() == x->size.size());
  operation->x = *x, operation->w = *w, operation->y = *y;
  CUDNN_TRY(readHow(*how, *operation));
  if (!ordito::cublas::loadOpenBlas()) return notInitialized();
  made = operation;
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace

cudnnStatus_t makeConvolution(const Descriptor& said, Made& made) {
  return make(
      said,
      {Direction::Forward, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
       CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
       CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA},
      made);
}

cudnnStatus_t makeConvolutionBackwardData(const Descriptor& said, Made& made) {
  return make(said,
              {Direction::BackwardData, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
               CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
               CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
               CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA},
              made);
}

cudnnStatus_t makeConvolutionBackwardFilter(const Descriptor& said, Made& made) {
  return make(said,
              {Direction::BackwardFilter, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
               CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
               CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
               CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA},
              made);
}

}  // namespace ordito::libs::cudnn::graph
