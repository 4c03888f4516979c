// cublasLtMatrixTransform: C = alpha op(A) + beta op(B), which also changes types and orders.
#include <vector>

#include "libs/cublas/handle.hpp"
#include "libs/cublaslt/matmul.hpp"

namespace ordito::cublaslt {
namespace {

struct Transform {
  TransformDesc desc;
  Layout a, b, c;
  Operands operands;
};

/// One column of C; the factor 0 reads nothing.
template <class I>
void addColumn(const Matrix& matrix, int op, int64_t column, I factor, std::vector<I>& sums) {
  if (factor == I(0) || !matrix.data) return;
  Matrix turned = matrix;
  if (op != CUBLAS_OP_N) {
    // A row of the matrix, element by element, as a column.
    for (size_t i = 0; i < sums.size(); ++i) {
      I value = loadElement<I>(matrix, column, static_cast<int64_t>(i));
      if constexpr (cublas::kIsComplex<I>)
        if (op == CUBLAS_OP_C) value = std::conj(value);
      sums[i] += factor * value;
    }
    return;
  }
  std::vector<I> values(sums.size());
  loadColumn(turned, column, values.data());
  for (size_t i = 0; i < sums.size(); ++i) sums[i] += factor * values[i];
}

template <class I>
void transform(const Transform& t) {
  for (int64_t k = 0; k < t.c.count; ++k) {
    const I alpha = t.operands.alpha.at<I>(0, k), beta = t.operands.beta.at<I>(0, k);
    const Matrix a = matrixOf(t.a, t.operands.a, k), b = matrixOf(t.b, t.operands.b, k);
    const Matrix c = matrixOf(t.c, t.operands.d, k);
    libs::parallelFor(static_cast<unsigned>(c.columns), [&](unsigned column) {
      std::vector<I> sums(static_cast<size_t>(c.rows));
      addColumn(a, t.desc.opA, column, alpha, sums);
      addColumn(b, t.desc.opB, column, beta, sums);
      storeColumn(c, column, sums.data());
    });
  }
}

void run(const Transform& t) {
  switch (t.desc.scaleType) {
    case CUDA_C_32F: return transform<cublas::ComplexFloat>(t);
    case CUDA_C_64F: return transform<cublas::ComplexDouble>(t);
    case CUDA_R_16F:
    case CUDA_R_32F: return transform<float>(t);
    default: return transform<double>(t);
  }
}

/// A layout as the operand of a result that is so large.
cublasStatus_t check(const Layout& layout, int op, const Layout& c) {
  const bool isTurned = op != CUBLAS_OP_N;
  if (op < CUBLAS_OP_N || op > CUBLAS_OP_C || !hasRoom(layout) || layout.count != c.count ||
      layout.rows != (isTurned ? c.columns : c.rows) || layout.columns != (isTurned ? c.rows : c.columns))
    return CUBLAS_STATUS_INVALID_VALUE;
  return layout.batchMode == CUBLASLT_BATCH_MODE_GROUPED || cublas::sizeOf(elementOf(layout)) == 0
             ? CUBLAS_STATUS_NOT_SUPPORTED
             : CUBLAS_STATUS_SUCCESS;
}

bool isScaleType(int type) {
  return type == CUDA_R_16F || type == CUDA_R_32F || type == CUDA_R_64F || type == CUDA_R_32I || type == CUDA_C_32F ||
         type == CUDA_C_64F;
}

}  // namespace

extern "C" {

cublasStatus_t cublasLtMatrixTransform(cublasLtHandle_t handle, cublasLtMatrixTransformDesc_t desc, const void* alpha,
                                       const void* a, cublasLtMatrixLayout_t layoutA, const void* beta, const void* b,
                                       cublasLtMatrixLayout_t layoutB, void* c, cublasLtMatrixLayout_t layoutC,
                                       cudaStream_t stream) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  // Without B there is no beta; without A no alpha.
  if (!desc || !layoutC || !c || (a && (!layoutA || !alpha)) || (b && (!layoutB || !beta)) || (!a && !b))
    return CUBLAS_STATUS_INVALID_VALUE;
  Transform t{stateOf<TransformDesc>(desc), {}, {}, stateOf<Layout>(layoutC), {}};
  t.a = a ? stateOf<Layout>(layoutA) : t.c, t.b = b ? stateOf<Layout>(layoutB) : t.c;
  if (!isScaleType(t.desc.scaleType)) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (t.desc.pointerMode != CUBLASLT_POINTER_MODE_HOST && t.desc.pointerMode != CUBLASLT_POINTER_MODE_DEVICE)
    return CUBLAS_STATUS_INVALID_VALUE;
  const cublasStatus_t statuses[] = {check(t.c, CUBLAS_OP_N, t.c),
                                     a ? check(t.a, t.desc.opA, t.c) : CUBLAS_STATUS_SUCCESS,
                                     b ? check(t.b, t.desc.opB, t.c) : CUBLAS_STATUS_SUCCESS};
  for (const cublasStatus_t status : statuses)
    if (status != CUBLAS_STATUS_SUCCESS) return status;
  if (t.c.rows == 0 || t.c.columns == 0) return CUBLAS_STATUS_SUCCESS;
  const bool isHost = t.desc.pointerMode == CUBLASLT_POINTER_MODE_HOST;
  const auto type = static_cast<cudaDataType>(t.desc.scaleType);
  const auto scalar = [&](const void* place, bool isUsed) {
    const std::array<std::byte, 16> zero{};
    return isUsed ? Scalar(type, place, isHost, 0, 0) : Scalar(type, zero.data(), true, 0, 0);
  };
  t.operands = {scalar(alpha, a != nullptr), scalar(beta, b != nullptr), a, b, nullptr, c};
  return cublas::statusOf(libs::enqueue(stream, "cublasLt MatrixTransform", [=] { run(t); }, {}));
}

}  // extern "C"
}  // namespace ordito::cublaslt
