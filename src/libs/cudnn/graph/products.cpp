// Products of matrices and reductions in graphs.
#include <algorithm>
#include <cmath>

#include "libs/cublas/gemm.hpp"
#include "libs/cublas/openblas.hpp"
#include "libs/cudnn/graph/kinds.hpp"

namespace ordito::libs::cudnn::graph {
namespace {

/// C = A B for each of many matrices by rows, the last two dimensions. Those of an operand with fewer stand for several
/// neighbours each. With overrides a matrix has fewer rows, columns or terms than there is room for; the rest is 0 or
/// what was said.
struct Matmul : OperationOf<Matmul> {
  Tensor a, b, c;
  std::optional<Tensor> rows, columns, terms;
  double padding = 0;

  double operations() const override { return 2 * static_cast<double>(c.count()) * static_cast<double>(a.size.back()); }

  /// Which matrix of an operand the index-th product takes.
  int64_t matrixOf(const Tensor& operand, int64_t index) const {
    const size_t batches = c.size.size() - 2;
    int64_t result = 0, step = 1;
    for (size_t i = batches; i-- > 0; index /= c.size[i]) {
      const int64_t at = index % c.size[i];
      result += at / (c.size[i] / operand.size[i]) * step;
      step *= operand.size[i];
    }
    return result;
  }

  template <class T>
  int64_t overridden(Arrays<T>& arrays, const std::optional<Tensor>& by, int64_t product, int64_t size) const {
    if (!by) return size;
    const auto& values = arrays[*by].data;  // one for each of the first dimension
    const int64_t perValue =
        c.count() / (c.size.back() * c.size[c.size.size() - 2]) / static_cast<int64_t>(values.size());
    return std::clamp<int64_t>(static_cast<int64_t>(values[static_cast<size_t>(product / perValue)]), 0, size);
  }

  template <class T>
  void compute(Arrays<T>& arrays) const {
    const size_t rank = c.size.size();
    const int64_t m = c.size[rank - 2], n = c.size[rank - 1], k = a.size[rank - 1];
    std::vector<T> result(static_cast<size_t>(c.count()), static_cast<T>(padding));
    const T *left = arrays[a].data.data(), *right = arrays[b].data.data();
    const cublas::Product whole{CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, n, k, n};  // BLAS has columns: C' = B' A'
    cublas::multiplyMany(whole, c.count() / (m * n), [&](int64_t i, bool isAlone) {
      cublas::Product p = whole;
      p.m = overridden(arrays, columns, i, n), p.n = overridden(arrays, rows, i, m);
      p.k = overridden(arrays, terms, i, k);
      if (p.isEmpty()) return;
      const T *one = left + matrixOf(a, i) * m * k, *other = right + matrixOf(b, i) * k * n;
      (isAlone ? cublas::multiplyInTiles<T> : cublas::multiplyHere<T>)(p, T(1), other, one, T(0),
                                                                       result.data() + i * m * n);
    });
    arrays.put(c, std::move(result));
  }

  bool fits() const {
    const size_t rank = c.size.size();
    if (rank < 2 || a.size.size() != rank || b.size.size() != rank) return false;
    for (size_t i = 0; i + 2 < rank; ++i)
      if (c.size[i] % a.size[i] != 0 || c.size[i] % b.size[i] != 0) return false;
    return a.size[rank - 2] == c.size[rank - 2] && b.size[rank - 1] == c.size[rank - 1] &&
           a.size[rank - 1] == b.size[rank - 2];
  }
};

struct Reduction : OperationOf<Reduction> {
  Tensor x, y;
  cudnnReduceTensorOp_t how = CUDNN_REDUCE_TENSOR_ADD;

  double first() const {
    switch (how) {
      case CUDNN_REDUCE_TENSOR_MUL:
      case CUDNN_REDUCE_TENSOR_MUL_NO_ZEROS: return 1;
      case CUDNN_REDUCE_TENSOR_MIN: return std::numeric_limits<double>::infinity();
      case CUDNN_REDUCE_TENSOR_MAX: return -std::numeric_limits<double>::infinity();
      default: return 0;
    }
  }
  double with(double all, double one) const {
    switch (how) {
      case CUDNN_REDUCE_TENSOR_MUL: return all * one;
      case CUDNN_REDUCE_TENSOR_MUL_NO_ZEROS: return one == 0 ? all : all * one;
      case CUDNN_REDUCE_TENSOR_MIN: return one < all || std::isnan(one) ? one : all;
      case CUDNN_REDUCE_TENSOR_MAX: return one > all || std::isnan(one) ? one : all;
      case CUDNN_REDUCE_TENSOR_AMAX: return std::abs(one) > all || std::isnan(one) ? std::abs(one) : all;
      case CUDNN_REDUCE_TENSOR_NORM1: return all + std::abs(one);
      case CUDNN_REDUCE_TENSOR_NORM2: return all + one * one;
      default: return all + one;
    }
  }
  double last(double all, int64_t count) const {
    if (how == CUDNN_REDUCE_TENSOR_AVG) return all / static_cast<double>(count);
    return how == CUDNN_REDUCE_TENSOR_NORM2 ? std::sqrt(all) : all;
  }

  template <class T>
  void compute(Arrays<T>& arrays) const {
    std::vector<T> result(static_cast<size_t>(y.count()));
    const T* from = arrays[x].data.data();
    Inner inner(x, y);
    forAll(y.count(), [&](int64_t i) {
      double all = first();
      const int64_t base = inner.base(i);
      for (const int64_t offset : inner.offsets) all = with(all, static_cast<double>(from[base + offset]));
      result[static_cast<size_t>(i)] = static_cast<T>(last(all, static_cast<int64_t>(inner.offsets.size())));
    });
    arrays.put(y, std::move(result));
  }
};

}  // namespace

cudnnStatus_t makeMatmul(const Descriptor& said, Made& made) {
  const auto operation = std::make_shared<Matmul>();
  const Maker maker(said, *operation);
  CUDNN_CHECK(maker.read({{CUDNN_ATTR_OPERATION_MATMUL_ADESC, operation->a},
                          {CUDNN_ATTR_OPERATION_MATMUL_BDESC, operation->b},
                          {CUDNN_ATTR_OPERATION_MATMUL_GEMM_M_OVERRIDE_DESC, operation->rows},
                          {CUDNN_ATTR_OPERATION_MATMUL_GEMM_N_OVERRIDE_DESC, operation->columns},
                          {CUDNN_ATTR_OPERATION_MATMUL_GEMM_K_OVERRIDE_DESC, operation->terms}}));
  CUDNN_CHECK(maker.write({{CUDNN_ATTR_OPERATION_MATMUL_CDESC, operation->c}}));
  const Said how = said.descriptor(CUDNN_ATTR_OPERATION_MATMUL_DESC);
  CUDNN_CHECK(how);
  operation->padding = how->number(CUDNN_ATTR_MATMUL_PADDING_VALUE, 0);
  CUDNN_CHECK(operation->fits());
  for (const auto* by : {&operation->rows, &operation->columns, &operation->terms})
    CUDNN_CHECK(!*by || operation->c.size[0] % (*by)->count() == 0);
  if (!ordito::cublas::loadOpenBlas()) return notInitialized();
  made = operation;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t makeReduction(const Descriptor& said, Made& made) {
  const auto operation = std::make_shared<Reduction>();
  const Maker maker(said, *operation);
  CUDNN_CHECK(maker.read({{CUDNN_ATTR_OPERATION_REDUCTION_XDESC, operation->x}}));
  CUDNN_CHECK(maker.write({{CUDNN_ATTR_OPERATION_REDUCTION_YDESC, operation->y}}));
  const Said how = said.descriptor(CUDNN_ATTR_OPERATION_REDUCTION_DESC);
  CUDNN_CHECK(how && how->has(CUDNN_ATTR_REDUCTION_OPERATOR) && spreads(operation->y, operation->x));
  operation->how = how->one(CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_REDUCE_TENSOR_ADD);
  CUDNN_CHECK(operation->how >= CUDNN_REDUCE_TENSOR_ADD && operation->how <= CUDNN_REDUCE_TENSOR_MUL_NO_ZEROS);
  made = operation;
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace ordito::libs::cudnn::graph
