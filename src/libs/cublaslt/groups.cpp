// The products of a group, one by one.
//
// cuBLAS API, cublasLtGroupedMatrixLayoutCreate and CUBLASLT_BATCH_MODE_GROUPED. Alpha and beta of the host are for all
// groups; those of the device are, with a stride of 1, arrays of pointers, as are the bias and the factors of A and B.
#include "libs/cublaslt/groups.hpp"

namespace ordito::cublaslt {
namespace {

int64_t entry(uint64_t array, int8_t width, int64_t i) {
  if (width == CUBLASLT_INTEGER_WIDTH_64) return reinterpret_cast<const int64_t*>(array)[i];
  return reinterpret_cast<const int32_t*>(array)[i];
}

Layout layoutOf(const Layout& groups, int64_t i) {
  Layout one = groups;
  one.rows = static_cast<uint64_t>(entry(groups.rows, groups.sizeWidth, i));
  one.columns = static_cast<uint64_t>(entry(groups.columns, groups.sizeWidth, i));
  one.leading = entry(static_cast<uint64_t>(groups.leading), groups.leadingWidth, i);
  one.count = 1, one.batchMode = CUBLASLT_BATCH_MODE_STRIDED, one.stride = 0;
  return one;
}

template <class T>
T* pointerOf(T* array, int64_t i) {
  return array ? reinterpret_cast<T* const*>(array)[i] : nullptr;
}

bool hasGroups(const Layout& layout) {
  return layout.batchMode == CUBLASLT_BATCH_MODE_GROUPED && layout.rows != 0 && layout.columns != 0 &&
         layout.leading != 0;
}

/// Whether the factor has one for each matrix of the group.
bool isOwn(int mode) { return mode != CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F; }

}  // namespace

cublasStatus_t groupsSupport(const Product& p) {
  for (const Layout* layout : {&p.a, &p.b, &p.c, &p.d}) {
    if (!hasGroups(*layout) || layout->count < 1 || layout->count != p.d.count) return CUBLAS_STATUS_INVALID_VALUE;
    if (layout->planeOffset != 0 || layout->order != CUBLASLT_ORDER_COL) return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  const MatmulDesc& desc = p.desc;
  const auto isStride = [](int64_t stride) { return stride == 0 || stride == 1; };
  if (!isStride(desc.alphaStride) || !isStride(desc.betaStride)) return CUBLAS_STATUS_INVALID_VALUE;
  const bool isOfDevice = desc.pointerMode == CUBLASLT_POINTER_MODE_DEVICE;
  if ((!isOfDevice && (desc.pointerMode != CUBLASLT_POINTER_MODE_HOST || desc.alphaStride || desc.betaStride)) ||
      desc.scaleC || desc.scaleD || desc.largestD)
    return CUBLAS_STATUS_NOT_SUPPORTED;
  switch (desc.epilogue) {
    case CUBLASLT_EPILOGUE_DEFAULT:
    case CUBLASLT_EPILOGUE_RELU:
    case CUBLASLT_EPILOGUE_GELU: return CUBLAS_STATUS_SUCCESS;
    case CUBLASLT_EPILOGUE_BIAS:
    case CUBLASLT_EPILOGUE_RELU_BIAS:
    case CUBLASLT_EPILOGUE_GELU_BIAS: return desc.biasStride == 1 ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
    default: return CUBLAS_STATUS_NOT_SUPPORTED;
  }
}

bool takeGroup(const Product& all, const Operands& operands, int64_t group, Product* one, Operands* own) {
  *one = {all.desc, layoutOf(all.a, group), layoutOf(all.b, group), layoutOf(all.c, group), layoutOf(all.d, group)};
  MatmulDesc& desc = one->desc;
  desc.bias = pointerOf(desc.bias, group);
  if (isOwn(desc.scaleModeA)) desc.scaleA = pointerOf(desc.scaleA, group);
  if (isOwn(desc.scaleModeB)) desc.scaleB = pointerOf(desc.scaleB, group);
  *own = {operands.alpha.ofGroup(group), operands.beta.ofGroup(group), pointerOf(operands.a, group),
          pointerOf(operands.b, group),  pointerOf(operands.c, group), pointerOf(operands.d, group)};
  return areSizesRight(*one);
}

}  // namespace ordito::cublaslt
