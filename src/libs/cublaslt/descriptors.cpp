// cuBLASLt's structures: making and ending them, and their attributes.
#include "libs/cublaslt/descriptors.hpp"

#include <algorithm>

namespace ordito::cublaslt {
namespace {

constexpr uint32_t kNoType = ~0u;

const Field* find(std::span<const Field> fields, int attribute) {
  const auto* field = std::ranges::find(fields, attribute, &Field::attribute).base();
  return field == fields.data() + fields.size() ? nullptr : field;
}

// LAYOUT(TYPE, type): the attribute CUBLASLT_MATRIX_LAYOUT_TYPE is the member `type`.
#define PLACE(State, attribute, member) \
  Field { attribute, offsetof(State, member), sizeof(State::member) }
#define LAYOUT(name, member) PLACE(Layout, CUBLASLT_MATRIX_LAYOUT_##name, member)
#define MATMUL(name, member) PLACE(MatmulDesc, CUBLASLT_MATMUL_DESC_##name, member)
#define PREFERENCE(name, member) PLACE(Preference, CUBLASLT_MATMUL_PREF_##name, member)
#define TRANSFORM(name, member) PLACE(TransformDesc, CUBLASLT_MATRIX_TRANSFORM_DESC_##name, member)

constexpr Field kLayout[] = {LAYOUT(TYPE, type),
                             LAYOUT(ORDER, order),
                             LAYOUT(ROWS, rows),
                             LAYOUT(COLS, columns),
                             LAYOUT(LD, leading),
                             LAYOUT(BATCH_COUNT, count),
                             LAYOUT(STRIDED_BATCH_OFFSET, stride),
                             LAYOUT(PLANE_OFFSET, planeOffset),
                             LAYOUT(BATCH_MODE, batchMode)};
constexpr Field kMatmul[] = {MATMUL(COMPUTE_TYPE, compute),
                             MATMUL(SCALE_TYPE, scaleType),
                             MATMUL(POINTER_MODE, pointerMode),
                             MATMUL(TRANSA, opA),
                             MATMUL(TRANSB, opB),
                             MATMUL(TRANSC, opC),
                             MATMUL(FILL_MODE, fill),
                             MATMUL(EPILOGUE, epilogue),
                             MATMUL(BIAS_POINTER, bias),
                             MATMUL(BIAS_BATCH_STRIDE, biasStride),
                             MATMUL(EPILOGUE_AUX_POINTER, aux),
                             MATMUL(EPILOGUE_AUX_LD, auxLeading),
                             MATMUL(EPILOGUE_AUX_BATCH_STRIDE, auxStride),
                             MATMUL(ALPHA_VECTOR_BATCH_STRIDE, alphaStride),
                             MATMUL(SM_COUNT_TARGET, multiprocessors),
                             MATMUL(A_SCALE_POINTER, scaleA),
                             MATMUL(B_SCALE_POINTER, scaleB),
                             MATMUL(C_SCALE_POINTER, scaleC),
                             MATMUL(D_SCALE_POINTER, scaleD),
                             MATMUL(AMAX_D_POINTER, largestD),
                             MATMUL(EPILOGUE_AUX_DATA_TYPE, auxType),
                             MATMUL(EPILOGUE_AUX_SCALE_POINTER, scaleAux),
                             MATMUL(EPILOGUE_AUX_AMAX_POINTER, largestAux),
                             MATMUL(FAST_ACCUM, fastAccumulation),
                             MATMUL(BIAS_DATA_TYPE, biasType),
                             MATMUL(A_SCALE_MODE, scaleModeA),
                             MATMUL(B_SCALE_MODE, scaleModeB),
                             MATMUL(C_SCALE_MODE, scaleModeC),
                             MATMUL(D_SCALE_MODE, scaleModeD),
                             MATMUL(EPILOGUE_AUX_SCALE_MODE, scaleModeAux),
                             MATMUL(D_OUT_SCALE_POINTER, outScaleD),
                             MATMUL(D_OUT_SCALE_MODE, outScaleModeD)};
constexpr Field kPreference[] = {PREFERENCE(SEARCH_MODE, search),
                                 PREFERENCE(MAX_WORKSPACE_BYTES, workspace),
                                 PREFERENCE(MATH_MODE_MASK, mathModes),
                                 PREFERENCE(REDUCTION_SCHEME_MASK, reductions),
                                 PREFERENCE(GAUSSIAN_MODE_MASK, gaussianModes),
                                 PREFERENCE(MIN_ALIGNMENT_A_BYTES, alignmentA),
                                 PREFERENCE(MIN_ALIGNMENT_B_BYTES, alignmentB),
                                 PREFERENCE(MIN_ALIGNMENT_C_BYTES, alignmentC),
                                 PREFERENCE(MIN_ALIGNMENT_D_BYTES, alignmentD),
                                 PREFERENCE(MAX_WAVES_COUNT, waves),
                                 PREFERENCE(POINTER_MODE_MASK, pointerModes),
                                 PREFERENCE(EPILOGUE_MASK, epilogues),
                                 PREFERENCE(IMPL_MASK, implementations),
                                 PREFERENCE(SM_COUNT_TARGET, multiprocessors)};
constexpr Field kTransform[] = {TRANSFORM(SCALE_TYPE, scaleType), TRANSFORM(POINTER_MODE, pointerMode),
                                TRANSFORM(TRANSA, opA), TRANSFORM(TRANSB, opB)};

/// `size`: what the caller's header thinks the structure has.
template <class State, class Opaque>
cublasStatus_t init(Opaque* opaque, size_t size, const State& state) {
  if (!opaque || size < sizeof(State)) return CUBLAS_STATUS_INVALID_VALUE;
  std::memset(opaque->data, 0, size);
  std::memcpy(opaque->data, &state, sizeof(State));
  return CUBLAS_STATUS_SUCCESS;
}
template <class State, class Opaque>
cublasStatus_t create(Opaque** opaque, const State& state) {
  if (!opaque) return CUBLAS_STATUS_INVALID_VALUE;
  *opaque = new Opaque;
  return init(*opaque, sizeof(Opaque), state);
}
template <class Opaque>
cublasStatus_t destroy(Opaque* opaque) {
  delete opaque;
  return CUBLAS_STATUS_SUCCESS;
}

Layout layoutOf(cudaDataType type, uint64_t rows, uint64_t columns, int64_t leading) {
  return {type, CUBLASLT_ORDER_COL, rows, columns, leading, 1, CUBLASLT_BATCH_MODE_STRIDED, 0, 0};
}
MatmulDesc descOf(cublasComputeType_t compute, cudaDataType_t scaleType) {
  MatmulDesc desc{};
  desc.compute = compute, desc.scaleType = scaleType;
  desc.fill = CUBLAS_FILL_MODE_FULL, desc.epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  desc.auxType = desc.biasType = static_cast<int32_t>(kNoType);
  return desc;
}
Preference anyPreference() {
  Preference any{};
  any.implementations = ~0ull, any.reductions = CUBLASLT_REDUCTION_SCHEME_MASK;
  any.mathModes = any.gaussianModes = any.pointerModes = any.epilogues = ~0u;
  any.alignmentA = any.alignmentB = any.alignmentC = any.alignmentD = 256;
  return any;
}

}  // namespace

cublasStatus_t setField(std::span<const Field> fields, void* state, int attribute, const void* from, size_t size) {
  const Field* field = find(fields, attribute);
  if (!state || !from || !field || field->size != size) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(static_cast<char*>(state) + field->offset, from, size);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t getField(std::span<const Field> fields, const void* state, int attribute, void* to, size_t size,
                        size_t* written) {
  const Field* field = find(fields, attribute);
  if (!state || !field || (size == 0 ? !written : !to || field->size != size)) return CUBLAS_STATUS_INVALID_VALUE;
  if (size != 0) std::memcpy(to, static_cast<const char*>(state) + field->offset, size);
  if (written) *written = field->size;
  return CUBLAS_STATUS_SUCCESS;
}

extern "C" {

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType type, uint64_t rows,
                                          uint64_t columns, int64_t leading) {
  return create(layout, layoutOf(type, rows, columns, leading));
}
cublasStatus_t cublasLtMatrixLayoutInit_internal(cublasLtMatrixLayout_t layout, size_t size, cudaDataType type,
                                                 uint64_t rows, uint64_t columns, int64_t leading) {
  return init(layout, size, layoutOf(type, rows, columns, leading));
}
cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* desc, cublasComputeType_t compute, cudaDataType_t scale) {
  return create(desc, descOf(compute, scale));
}
cublasStatus_t cublasLtMatmulDescInit_internal(cublasLtMatmulDesc_t desc, size_t size, cublasComputeType_t compute,
                                               cudaDataType_t scale) {
  return init(desc, size, descOf(compute, scale));
}
cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  return create(preference, anyPreference());
}
cublasStatus_t cublasLtMatmulPreferenceInit_internal(cublasLtMatmulPreference_t preference, size_t size) {
  return init(preference, size, anyPreference());
}
cublasStatus_t cublasLtMatrixTransformDescCreate(cublasLtMatrixTransformDesc_t* desc, cudaDataType scale) {
  return create(desc, TransformDesc{scale, CUBLASLT_POINTER_MODE_HOST, CUBLAS_OP_N, CUBLAS_OP_N});
}
cublasStatus_t cublasLtMatrixTransformDescInit_internal(cublasLtMatrixTransformDesc_t desc, size_t size,
                                                        cudaDataType scale) {
  return init(desc, size, TransformDesc{scale, CUBLASLT_POINTER_MODE_HOST, CUBLAS_OP_N, CUBLAS_OP_N});
}

// What is the same for all four: ending one, and its attributes.
#define DEFINE(name, Attribute, fields)                                                                              \
  cublasStatus_t cublasLt##name##Destroy(cublasLt##name##_t opaque) { return destroy(opaque); }                      \
  cublasStatus_t cublasLt##name##SetAttribute(cublasLt##name##_t opaque, Attribute attribute, const void* from,      \
                                              size_t size) {                                                         \
    return setField(fields, opaque, attribute, from, size);                                                          \
  }                                                                                                                  \
  cublasStatus_t cublasLt##name##GetAttribute(cublasLt##name##_t opaque, Attribute attribute, void* to, size_t size, \
                                              size_t* written) {                                                     \
    return getField(fields, opaque, attribute, to, size, written);                                                   \
  }
DEFINE(MatrixLayout, cublasLtMatrixLayoutAttribute_t, kLayout)
DEFINE(MatmulDesc, cublasLtMatmulDescAttributes_t, kMatmul)
DEFINE(MatmulPreference, cublasLtMatmulPreferenceAttributes_t, kPreference)
DEFINE(MatrixTransformDesc, cublasLtMatrixTransformDescAttributes_t, kTransform)
#undef DEFINE

}  // extern "C"
}  // namespace ordito::cublaslt
