// Operations of graphs that compute nothing: another view of memory, one behind the other, random numbers.
#include <cmath>
#include <numbers>

#include "libs/cudnn/dropout.hpp"
#include "libs/cudnn/graph/kinds.hpp"

namespace ordito::libs::cudnn::graph {
namespace {

/// y is x's memory read with y's sizes and steps.
struct Reshape : OperationOf<Reshape> {
  Tensor x, y;

  template <class T>
  void compute(Arrays<T>& arrays) const {
    arrays.put(y, Arrays<T>::moved(x, arrays[x].data, y));
  }
};

struct Concat : OperationOf<Concat> {
  size_t axis = 0;
  Tensor y;

  template <class T>
  void compute(Arrays<T>& arrays) const {
    std::vector<T> result(static_cast<size_t>(y.count()));
    const std::vector<int64_t> steps = packedSteps(y.size);
    const int64_t whole = y.size[axis] * steps[axis];
    int64_t behind = 0;
    for (const Tensor& x : reads) {
      const std::vector<T>& from = arrays[x].data;
      const int64_t own = x.size[axis] * steps[axis], pieces = x.count() / own;
      for (int64_t i = 0; i < pieces; ++i)
        std::copy_n(from.begin() + i * own, own, result.begin() + i * whole + behind);
      behind += own;
    }
    arrays.put(y, std::move(result));
  }
};

/// Random numbers of Ordito's own: a function of seed, offset and place.
struct Random : OperationOf<Random> {
  cudnnRngDistribution_t distribution = CUDNN_RNG_DISTRIBUTION_BERNOULLI;
  double first = 0, second = 1;  // probability; least and greatest; mean and deviation
  int64_t seedSaid = 0;
  std::optional<Tensor> seed, offset;
  Tensor y;

  double number(const DropoutStates& states, uint64_t i) const {
    switch (distribution) {
      case CUDNN_RNG_DISTRIBUTION_BERNOULLI: return states.uniform(i) < first ? 1 : 0;
      case CUDNN_RNG_DISTRIBUTION_UNIFORM: return first + (second - first) * states.uniform(i);
      default: {
        const double radius = std::sqrt(-2 * std::log(1 - states.uniform(2 * i)));
        return first + second * radius * std::cos(2 * std::numbers::pi * states.uniform(2 * i + 1));
      }
    }
  }

  template <class T>
  void compute(Arrays<T>& arrays) const {
    const auto scalar = [&](const std::optional<Tensor>& tensor, int64_t otherwise) {
      return static_cast<uint64_t>(tensor ? static_cast<int64_t>(arrays[*tensor].data[0]) : otherwise);
    };
    const DropoutStates states{scalar(seed, seedSaid), scalar(offset, 0)};
    std::vector<T> result(static_cast<size_t>(y.count()));
    forAll(y.count(), [&](int64_t i) {
      result[static_cast<size_t>(i)] = static_cast<T>(number(states, static_cast<uint64_t>(i)));
    });
    arrays.put(y, std::move(result));
  }
};

}  // namespace

cudnnStatus_t makeReshape(const Descriptor& said, Made& made) {
  const auto operation = std::make_shared<Reshape>();
  const Maker maker(said, *operation);
  const auto x = maker.read(CUDNN_ATTR_OPERATION_RESHAPE_XDESC), y = maker.write(CUDNN_ATTR_OPERATION_RESHAPE_YDESC);
  CUDNN_CHECK(x && y && x->count() == y->count());
  operation->x = *x, operation->y = *y;
  made = operation;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t makeConcat(const Descriptor& said, Made& made) {
  const auto operation = std::make_shared<Concat>();
  const Maker maker(said, *operation);
  const auto y = maker.write(CUDNN_ATTR_OPERATION_CONCAT_OUTPUT_DESC);
  const auto axis = said.one<int64_t>(CUDNN_ATTR_OPERATION_CONCAT_AXIS, -1);
  CUDNN_CHECK(y && axis >= 0 && axis < static_cast<int64_t>(y->size.size()));
  operation->axis = static_cast<size_t>(axis), operation->y = *y;
  int64_t together = 0;
  for (const Said& one : said.descriptors(CUDNN_ATTR_OPERATION_CONCAT_INPUT_DESCS)) {
    const Tensor x = tensorOf(*one);
    CUDNN_CHECK(x.size.size() == y->size.size());
    for (size_t i = 0; i < x.size.size(); ++i) CUDNN_CHECK(i == operation->axis || x.size[i] == y->size[i]);
    together += x.size[operation->axis];
    operation->reads.push_back(x);
  }
  CUDNN_CHECK(together == y->size[operation->axis]);
  made = operation;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t makeRandom(const Descriptor& said, Made& made) {
  const auto operation = std::make_shared<Random>();
  const Maker maker(said, *operation);
  const auto y = maker.write(CUDNN_ATTR_OPERATION_RNG_YDESC);
  const Said how = said.descriptor(CUDNN_ATTR_OPERATION_RNG_DESC);
  CUDNN_CHECK(y && how);
  operation->y = *y;
  operation->seedSaid = said.one<int64_t>(CUDNN_ATTR_OPERATION_RNG_SEED, 0);
  if (!said.descriptors(CUDNN_ATTR_OPERATION_RNG_SEED).empty())
    operation->seed = maker.read(CUDNN_ATTR_OPERATION_RNG_SEED);
  operation->offset = maker.read(CUDNN_ATTR_OPERATION_RNG_OFFSET_DESC);
  operation->distribution = how->one(CUDNN_ATTR_RNG_DISTRIBUTION, CUDNN_RNG_DISTRIBUTION_BERNOULLI);
  switch (operation->distribution) {
    case CUDNN_RNG_DISTRIBUTION_BERNOULLI:
      operation->first = how->number(CUDNN_ATTR_RNG_BERNOULLI_DIST_PROBABILITY, 0.5);
      break;
    case CUDNN_RNG_DISTRIBUTION_UNIFORM:
      operation->first = how->number(CUDNN_ATTR_RNG_UNIFORM_DIST_MINIMUM, 0);
      operation->second = how->number(CUDNN_ATTR_RNG_UNIFORM_DIST_MAXIMUM, 1);
      break;
    default:
      operation->first = how->number(CUDNN_ATTR_RNG_NORMAL_DIST_MEAN, 0);
      operation->second = how->number(CUDNN_ATTR_RNG_NORMAL_DIST_STANDARD_DEVIATION, 1);
  }
  made = operation;
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace ordito::libs::cudnn::graph
