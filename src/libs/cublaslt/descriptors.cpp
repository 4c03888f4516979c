// cuBLASLt's structures: making and ending them, and their attributes.
#include "libs/cublaslt/descriptors.hpp"

#include <algorithm>

namespace ordito::cublaslt {
namespace {

constexpr uint32_t kNoType = ~0u;

/// Two attributes of different sizes have had the number 13; a size of 0 is any.
const Field* find(std::span<const Field> fields, int attribute, size_t size) {
  const auto field = std::ranges::find_if(
      fields, [&](const Field& f) { return f.attribute == attribute && (size == 0 || f.size == size); });
  return field == fields.end() ? nullptr : &*field;
}

// LAYOUT(TYPE, type): the attribute CUBLASLT_MATRIX_LAYOUT_TYPE is the member `type`.
#define PLACE(State, attribute, member) \
  Field { attribute, offsetof(State, member), sizeof(decltype(State::member)), sizeof(decltype(State::member)) }
#define SMALL(State, attribute, member) \
  Field { attribute, offsetof(State, member), sizeof(int32_t), sizeof(decltype(State::member)) }
#define LAYOUT(name, member) PLACE(Layout, CUBLASLT_MATRIX_LAYOUT_##name, member)
#define GROUPS(name, member) PLACE(Layout, CUBLASLT_GROUPED_MATRIX_LAYOUT_##name, member)
#define MATMUL(name, member) PLACE(MatmulDesc, CUBLASLT_MATMUL_DESC_##name, member)
#define PREFERENCE(name, member) PLACE(Preference, CUBLASLT_MATMUL_PREF_##name, member)
#define EMULATION(name, member) PLACE(Emulation, CUBLASLT_EMULATION_DESC_##name, member)
#define TRANSFORM(name, member) PLACE(TransformDesc, CUBLASLT_MATRIX_TRANSFORM_DESC_##name, member)

constexpr Field kLayout[] = {LAYOUT(TYPE, type),
                             LAYOUT(ORDER, order),
                             LAYOUT(ROWS, rows),
                             LAYOUT(COLS, columns),
                             LAYOUT(LD, leading),
                             LAYOUT(BATCH_COUNT, count),
                             LAYOUT(STRIDED_BATCH_OFFSET, stride),
                             LAYOUT(PLANE_OFFSET, planeOffset),
                             LAYOUT(BATCH_MODE, batchMode),
                             GROUPS(ROWS_ARRAY, rows),
                             GROUPS(COLS_ARRAY, columns),
                             GROUPS(LD_ARRAY, leading),
                             SMALL(Layout, CUBLASLT_GROUPED_MATRIX_LAYOUT_ROWS_COLS_ARRAY_INTEGER_WIDTH, sizeWidth),
                             SMALL(Layout, CUBLASLT_GROUPED_MATRIX_LAYOUT_LD_ARRAY_INTEGER_WIDTH, leadingWidth)};
constexpr Field kMatmul[] = {MATMUL(COMPUTE_TYPE, compute),
                             MATMUL(SCALE_TYPE, scaleType),
                             SMALL(MatmulDesc, CUBLASLT_MATMUL_DESC_POINTER_MODE, pointerMode),
                             SMALL(MatmulDesc, CUBLASLT_MATMUL_DESC_TRANSA, opA),
                             SMALL(MatmulDesc, CUBLASLT_MATMUL_DESC_TRANSB, opB),
                             SMALL(MatmulDesc, CUBLASLT_MATMUL_DESC_TRANSC, opC),
                             SMALL(MatmulDesc, CUBLASLT_MATMUL_DESC_FILL_MODE, fill),
                             MATMUL(EPILOGUE, epilogue),
                             MATMUL(BIAS_POINTER, bias),
                             MATMUL(BIAS_BATCH_STRIDE, biasStride),
                             MATMUL(EPILOGUE_AUX_POINTER, aux),
                             MATMUL(EPILOGUE_AUX_LD, auxLeading),
                             MATMUL(EPILOGUE_AUX_BATCH_STRIDE, auxStride),
                             MATMUL(ALPHA_VECTOR_BATCH_STRIDE, alphaVectorStride),
                             MATMUL(ALPHA_BATCH_STRIDE, alphaStride),
                             MATMUL(BETA_BATCH_STRIDE, betaStride),
                             MATMUL(EMULATION_DESCRIPTOR, emulation),
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
                             SMALL(MatmulDesc, CUBLASLT_MATMUL_DESC_A_SCALE_MODE, scaleModeA),
                             SMALL(MatmulDesc, CUBLASLT_MATMUL_DESC_B_SCALE_MODE, scaleModeB),
                             SMALL(MatmulDesc, CUBLASLT_MATMUL_DESC_C_SCALE_MODE, scaleModeC),
                             SMALL(MatmulDesc, CUBLASLT_MATMUL_DESC_D_SCALE_MODE, scaleModeD),
                             SMALL(MatmulDesc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_MODE, scaleModeAux),
                             MATMUL(D_OUT_SCALE_POINTER, outScaleD),
                             SMALL(MatmulDesc, CUBLASLT_MATMUL_DESC_D_OUT_SCALE_MODE, outScaleModeD)};
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
                                 PREFERENCE(SM_COUNT_TARGET, multiprocessors),
                                 PREFERENCE(GROUPED_AVERAGE_REDUCTION_DIM, averageInner),
                                 PREFERENCE(GROUPED_DESC_D_AVERAGE_ROWS, averageRows),
                                 PREFERENCE(GROUPED_DESC_D_AVERAGE_COLS, averageColumns)};
constexpr Field kEmulation[] = {EMULATION(STRATEGY, strategy),
                                EMULATION(SPECIAL_VALUES_SUPPORT, specialValues),
                                EMULATION(FIXEDPOINT_MANTISSA_CONTROL, mantissaControl),
                                EMULATION(FIXEDPOINT_MAX_MANTISSA_BIT_COUNT, mostBits),
                                EMULATION(FIXEDPOINT_MANTISSA_BIT_OFFSET, bitOffset),
                                EMULATION(FIXEDPOINT_MANTISSA_BIT_COUNT_POINTER, bitCount)};
constexpr Field kTransform[] = {TRANSFORM(SCALE_TYPE, scaleType), TRANSFORM(POINTER_MODE, pointerMode),
                                TRANSFORM(TRANSA, opA), TRANSFORM(TRANSB, opB)};

/// `size`: what the caller's header thinks the structure has.
template <class State, class Opaque>
cublasStatus_t init(Opaque* opaque, size_t size, const State& state) {
  if (!opaque || size < kLeastSize<State>) return CUBLAS_STATUS_INVALID_VALUE;
  std::memset(opaque->data, 0, size);
  std::memcpy(opaque->data, &state, std::min(size, sizeof(State)));
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
  return {type, CUBLASLT_ORDER_COL, rows, columns, leading, 1, CUBLASLT_BATCH_MODE_STRIDED, 0, 0, 0, 0};
}
Layout groupsOf(cudaDataType type, int groups, const void* rows, const void* columns, const void* leading) {
  return {type,
          CUBLASLT_ORDER_COL,
          reinterpret_cast<uintptr_t>(rows),
          reinterpret_cast<uintptr_t>(columns),
          reinterpret_cast<intptr_t>(leading),
          groups,
          CUBLASLT_BATCH_MODE_GROUPED,
          0,
          0,
          CUBLASLT_INTEGER_WIDTH_32,
          CUBLASLT_INTEGER_WIDTH_32};
}
Emulation firstEmulation() {
  return {CUBLAS_EMULATION_STRATEGY_DEFAULT,
          CUDA_EMULATION_SPECIAL_VALUES_SUPPORT_DEFAULT,
          CUDA_EMULATION_MANTISSA_CONTROL_DYNAMIC,
          0,
          0,
          nullptr};
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
  const Field* field = find(fields, attribute, size);
  if (!state || !from || !field || size == 0) return CUBLAS_STATUS_INVALID_VALUE;
  if (field->kept < size) {  // the low byte of an enumeration
    int32_t value = 0;
    std::memcpy(&value, from, sizeof(value));
    if (value != static_cast<int8_t>(value)) return CUBLAS_STATUS_INVALID_VALUE;
  }
  std::memcpy(static_cast<char*>(state) + field->offset, from, field->kept);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t getField(std::span<const Field> fields, const void* state, int attribute, void* to, size_t size,
                        size_t* written) {
  const Field* field = find(fields, attribute, size);
  if (!state || !field || (size == 0 ? !written : !to)) return CUBLAS_STATUS_INVALID_VALUE;
  const char* place = static_cast<const char*>(state) + field->offset;
  if (field->kept < size) {
    const int32_t value = static_cast<int8_t>(*place);
    std::memcpy(to, &value, size);
  } else if (size != 0) {
    std::memcpy(to, place, size);
  }
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
cublasStatus_t cublasLtGroupedMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType type, int groups,
                                                 const void* rows, const void* columns, const void* leading) {
  return create(layout, groupsOf(type, groups, rows, columns, leading));
}
cublasStatus_t cublasLtGroupedMatrixLayoutInit_internal(cublasLtMatrixLayout_t layout, size_t size, cudaDataType type,
                                                        int groups, const void* rows, const void* columns,
                                                        const void* leading) {
  return init(layout, size, groupsOf(type, groups, rows, columns, leading));
}
cublasStatus_t cublasLtEmulationDescCreate(cublasLtEmulationDesc_t* desc) { return create(desc, firstEmulation()); }
cublasStatus_t cublasLtEmulationDescInit_internal(cublasLtEmulationDesc_t desc, size_t size) {
  return init(desc, size, firstEmulation());
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

// What is the same for all five: ending one, and its attributes.
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
DEFINE(EmulationDesc, cublasLtEmulationDescAttributes_t, kEmulation)
DEFINE(MatrixTransformDesc, cublasLtMatrixTransformDescAttributes_t, kTransform)
#undef DEFINE

}  // extern "C"
}  // namespace ordito::cublaslt
