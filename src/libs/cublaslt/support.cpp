// What cublasLtMatmul can be asked for.
//
// cuBLAS API, "cublasLtMatmul()": the tables of types, and what eight-bit types need of sizes and operations.
#include <algorithm>

#include "cuda.h"
#include "libs/cublaslt/groups.hpp"

namespace ordito::cublaslt {
namespace {

bool isFloat8(uint32_t type) { return type == CUDA_R_8F_E4M3 || type == CUDA_R_8F_E5M2; }
bool isHalf(uint32_t type) { return type == CUDA_R_16F || type == CUDA_R_16BF; }
bool isHalfComplex(uint32_t type) { return type == CUDA_C_16F || type == CUDA_C_16BF; }
bool isComplex(uint32_t type) { return type == CUDA_C_32F || type == CUDA_C_64F || isHalfComplex(type); }

/// Of eight-bit floats; one factor at most has the smaller fraction.
bool areFloat8TypesSupported(uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  const bool hasWide = a == CUDA_R_8F_E5M2 || b == CUDA_R_8F_E5M2;
  if (!isFloat8(a) || !isFloat8(b) || (a == CUDA_R_8F_E5M2 && b == CUDA_R_8F_E5M2)) return false;
  if (d == CUDA_R_8F_E4M3 || (d == CUDA_R_8F_E5M2 && hasWide)) return isHalf(c);
  return c == d && (isHalf(c) || c == CUDA_R_32F);
}

bool areFloatTypesSupported(uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  if (isFloat8(a) || isFloat8(b)) return areFloat8TypesSupported(a, b, c, d);
  if (a != b || c != d) return false;
  if (isHalf(a)) return c == a || c == CUDA_R_32F;
  return (a == CUDA_R_32F || a == CUDA_R_8I) && c == CUDA_R_32F;
}

bool areComplexTypesSupported(uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  if (a != b || c != d) return false;
  return isHalfComplex(a) ? c == a || c == CUDA_C_32F : (a == CUDA_C_32F || a == CUDA_C_8I) && c == CUDA_C_32F;
}
/// Real and imaginary parts lie apart in all matrices or in none; those of half precision have no other form.
bool arePlanesSupported(const Product& p) {
  for (const Layout* layout : {&p.a, &p.b, &p.c, &p.d}) {
    const bool isPlanar = layout->planeOffset != 0;
    if (isPlanar != (p.d.planeOffset != 0) || (isPlanar ? !isComplex(layout->type) : isHalfComplex(layout->type)))
      return false;
  }
  return true;
}

/// Whether the matrix is stored as op's operand of that size.
bool hasShape(const Layout& layout, int op, int64_t rows, int64_t columns) {
  if (op != CUBLAS_OP_N) std::swap(rows, columns);
  return static_cast<int64_t>(layout.rows) == rows && static_cast<int64_t>(layout.columns) == columns;
}

bool areOperationsRight(const MatmulDesc& desc) {
  const auto isOperation = [](int op) { return op >= CUBLAS_OP_N && op <= CUBLAS_OP_C; };
  return isOperation(desc.opA) && isOperation(desc.opB);
}

bool isEpilogueSupported(const Product& p) {
  if (p.desc.epilogue == CUBLASLT_EPILOGUE_DEFAULT) return true;
  if (isComplex(p.d.type) || p.d.type == CUDA_R_32I) return false;
  switch (p.desc.epilogue) {
    case CUBLASLT_EPILOGUE_RELU:
    case CUBLASLT_EPILOGUE_RELU_AUX:
    case CUBLASLT_EPILOGUE_BIAS:
    case CUBLASLT_EPILOGUE_RELU_BIAS:
    case CUBLASLT_EPILOGUE_RELU_AUX_BIAS:
    case CUBLASLT_EPILOGUE_DRELU:
    case CUBLASLT_EPILOGUE_DRELU_BGRAD:
    case CUBLASLT_EPILOGUE_GELU:
    case CUBLASLT_EPILOGUE_GELU_AUX:
    case CUBLASLT_EPILOGUE_GELU_BIAS:
    case CUBLASLT_EPILOGUE_GELU_AUX_BIAS:
    case CUBLASLT_EPILOGUE_DGELU:
    case CUBLASLT_EPILOGUE_DGELU_BGRAD:
    case CUBLASLT_EPILOGUE_BGRADA:
    case CUBLASLT_EPILOGUE_BGRADB: return true;
    default: return false;
  }
}

/// One factor for a matrix, or (of A and B) one for each row of the product and one for each column, one for each 128
/// elements or block of them (not for blocks in both), or one for each matrix of a group.
bool areScalesSupported(const Product& p) {
  const MatmulDesc& desc = p.desc;
  const auto isOne = [](int mode) { return mode == CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F; };
  if (!isOne(desc.scaleModeC) || !isOne(desc.scaleModeD) || !isOne(desc.scaleModeAux) || desc.outScaleD) return false;
  const int a = desc.scaleModeA, b = desc.scaleModeB;
  if (areBlocks(a) || areBlocks(b)) {
    const bool isSquare =
        a == CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F && b == CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F;
    return areBlocks(a) && areBlocks(b) && !isSquare && isFloat8(p.a.type);
  }
  const auto isOnly = [&](int mode) { return a == mode && b == mode; };
  return isOnly(CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F) ||
         (isOnly(CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F) && !p.isGrouped()) ||
         (isOnly(CUBLASLT_MATMUL_MATRIX_SCALE_PER_BATCH_SCALAR_32F) && p.isGrouped());
}

/// 10 times the major number and the minor one; 0 if there is no device.
int computeCapability() {
  CUdevice device = 0;
  int major = 0, minor = 0;
  if (cuCtxGetDevice(&device) != CUDA_SUCCESS && cuDeviceGet(&device, 0) != CUDA_SUCCESS) return 0;
  cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
  cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
  return 10 * major + minor;
}

/// Eight-bit floats: columns, sizes of 16 bytes, and before compute capability 10 only A transposed and B not.
cublasStatus_t float8Support(const Product& p) {
  const int capability = computeCapability();
  if (capability < 89) return CUBLAS_STATUS_ARCH_MISMATCH;
  if (capability < 90 && (p.isGrouped() || areBlocks(p.desc.scaleModeA))) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (capability < 100 && (p.desc.opA == CUBLAS_OP_N || p.desc.opB != CUBLAS_OP_N)) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (p.isGrouped()) return CUBLAS_STATUS_SUCCESS;
  for (const Layout* layout : {&p.a, &p.b, &p.c, &p.d}) {
    const auto size = static_cast<int64_t>(cublas::sizeOf(static_cast<cudaDataType>(layout->type)));
    if (layout->order != CUBLASLT_ORDER_COL || layout->leading * size % 16 != 0) return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  return p.k() % 16 == 0 ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}

/// As on a GPU numbers to compute in and to scale in that never go together are a bad value, not a missing product.
bool isScaleOf(int compute, int scale) {
  const bool isFloat = scale == CUDA_R_32F || scale == CUDA_C_32F;
  switch (compute) {
    case CUBLAS_COMPUTE_32F:
    case CUBLAS_COMPUTE_32F_PEDANTIC:
    case CUBLAS_COMPUTE_32F_FAST_16F:
    case CUBLAS_COMPUTE_32F_FAST_16BF:
    case CUBLAS_COMPUTE_32F_FAST_TF32:
    case CUBLAS_COMPUTE_32F_EMULATED_16BFX9: return isFloat;
    default: return true;
  }
}

/// Two factors have one type, but for eight-bit floats.
bool areFactorsAlike(uint32_t a, uint32_t b) { return a == b || (isFloat8(a) && isFloat8(b)); }

}  // namespace

bool areSizesRight(const Product& p) {
  const int64_t largest = 0x7fffffff;
  for (const Layout* layout : {&p.a, &p.b, &p.c, &p.d}) {
    const bool isSmall = layout->rows <= largest && layout->columns <= largest && layout->leading <= largest;
    if (layout->count < 1 || layout->count != p.d.count || !isSmall || !hasRoom(*layout)) return false;
  }
  return hasShape(p.a, p.desc.opA, p.m(), p.k()) && hasShape(p.b, p.desc.opB, p.k(), p.n()) &&
         hasShape(p.c, CUBLAS_OP_N, p.m(), p.n());
}

bool areTypesSupported(int compute, int scale, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  const auto areAll = [&](uint32_t type) { return a == type && b == type && c == type && d == type; };
  switch (compute) {
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC: return scale == CUDA_R_16F && areAll(CUDA_R_16F);
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
    case CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT:
      return (scale == CUDA_R_64F || scale == CUDA_C_64F) && areAll(static_cast<uint32_t>(scale));
    case CUBLAS_COMPUTE_32I:
    case CUBLAS_COMPUTE_32I_PEDANTIC: {
      const uint32_t result = scale == CUDA_R_32I ? CUDA_R_32I : CUDA_R_8I;
      return (scale == CUDA_R_32I || scale == CUDA_R_32F) && a == CUDA_R_8I && b == a && c == result && d == result;
    }
    case CUBLAS_COMPUTE_32F:
    case CUBLAS_COMPUTE_32F_PEDANTIC:
    case CUBLAS_COMPUTE_32F_FAST_16F:
    case CUBLAS_COMPUTE_32F_FAST_16BF:
    case CUBLAS_COMPUTE_32F_FAST_TF32:
    case CUBLAS_COMPUTE_32F_EMULATED_16BFX9:
      if (scale == CUDA_C_32F) return areComplexTypesSupported(a, b, c, d);
      return scale == CUDA_R_32F && areFloatTypesSupported(a, b, c, d);
    default: return false;
  }
}

cublasStatus_t supportOf(const Product& p) {
  const MatmulDesc& desc = p.desc;
  if (!areOperationsRight(desc) || (!p.isGrouped() && !areSizesRight(p)) ||
      desc.pointerMode < CUBLASLT_POINTER_MODE_HOST ||
      desc.pointerMode > CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_HOST)
    return CUBLAS_STATUS_INVALID_VALUE;
  if (!isScaleOf(desc.compute, desc.scaleType) || !areFactorsAlike(p.a.type, p.b.type))
    return CUBLAS_STATUS_INVALID_VALUE;
  if (!areTypesSupported(desc.compute, desc.scaleType, p.a.type, p.b.type, p.c.type, p.d.type) ||
      desc.opC != CUBLAS_OP_N || desc.fill != CUBLAS_FILL_MODE_FULL || !isEpilogueSupported(p) ||
      !areScalesSupported(p) || !arePlanesSupported(p))
    return CUBLAS_STATUS_NOT_SUPPORTED;
  if (p.isGrouped()) {
    if (const cublasStatus_t status = groupsSupport(p)) return status;
  } else if (desc.alphaStride != 0 || desc.betaStride != 0) {
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  // Words of four.
  const bool areWords = p.a.leading % 4 == 0 && p.b.leading % 4 == 0;
  if (p.a.type == CUDA_R_8I && !p.isGrouped() && !areWords) return CUBLAS_STATUS_NOT_SUPPORTED;
  return isFloat8(p.a.type) ? float8Support(p) : CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t productOf(cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                         cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d, Product* product) {
  if (!desc || !a || !b || !c || !d) return CUBLAS_STATUS_INVALID_VALUE;
  *product = {stateOf<MatmulDesc>(desc), stateOf<Layout>(a), stateOf<Layout>(b), stateOf<Layout>(c),
              stateOf<Layout>(d)};
  return supportOf(*product);
}

}  // namespace ordito::cublaslt
