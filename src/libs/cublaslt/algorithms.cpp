// cuBLASLt's search for an algorithm. There is one, which needs no workspace. The search calls it 0; a program may name
// it by any number that a GPU's library has, as those do whose algorithm was chosen beforehand. What a program sets of
// its configuration is kept and told.
#include "libs/cublaslt/matmul.hpp"

namespace ordito::cublaslt {
namespace {

#define CONFIG(name, member)                                                                                       \
  Field {                                                                                                          \
    CUBLASLT_ALGO_CONFIG_##name, offsetof(Algorithm, member), sizeof(Algorithm::member), sizeof(Algorithm::member) \
  }
constexpr Field kConfig[] = {CONFIG(ID, id),
                             CONFIG(TILE_ID, tile),
                             CONFIG(SPLITK_NUM, splits),
                             CONFIG(REDUCTION_SCHEME, reduction),
                             CONFIG(CTA_SWIZZLING, swizzling),
                             CONFIG(CUSTOM_OPTION, option),
                             CONFIG(STAGES_ID, stages),
                             CONFIG(INNER_SHAPE_ID, innerShape),
                             CONFIG(CLUSTER_SHAPE_ID, clusterShape)};

/// What the algorithm can do, in the widths of the manual's table.
struct Capabilities {
  int32_t splits = 0;
  uint32_t reductions = CUBLASLT_REDUCTION_SCHEME_NONE, swizzling = 0;
  int32_t batches = 1, outOfPlace = 1, triangles = 0;
  uint32_t tiles = CUBLASLT_MATMUL_TILE_UNDEFINED;
  int32_t options = 0, orders = 1;
  uint32_t pointerModes = 31, epilogues = 1023, stages = CUBLASLT_MATMUL_STAGES_UNDEFINED;
  int32_t negativeLeading = 0;
  uint64_t implementations = CUBLASLT_NUMERICAL_IMPL_FLAGS_FMA;
  uint32_t alignmentA = 1, alignmentB = 1, alignmentC = 1, alignmentD = 1;
  int32_t pointerArrays = 1, emulation = 0, groups = 1;
};
#define CAPABILITY(name, member)                                                            \
  Field {                                                                                   \
    CUBLASLT_ALGO_CAP_##name, offsetof(Capabilities, member), sizeof(Capabilities::member), \
        sizeof(Capabilities::member)                                                        \
  }
constexpr Field kCapabilities[] = {CAPABILITY(SPLITK_SUPPORT, splits),
                                   CAPABILITY(REDUCTION_SCHEME_MASK, reductions),
                                   CAPABILITY(CTA_SWIZZLING_SUPPORT, swizzling),
                                   CAPABILITY(STRIDED_BATCH_SUPPORT, batches),
                                   CAPABILITY(OUT_OF_PLACE_RESULT_SUPPORT, outOfPlace),
                                   CAPABILITY(UPLO_SUPPORT, triangles),
                                   CAPABILITY(TILE_IDS, tiles),
                                   CAPABILITY(CUSTOM_OPTION_MAX, options),
                                   CAPABILITY(CUSTOM_MEMORY_ORDER, orders),
                                   CAPABILITY(POINTER_MODE_MASK, pointerModes),
                                   CAPABILITY(EPILOGUE_MASK, epilogues),
                                   CAPABILITY(STAGES_IDS, stages),
                                   CAPABILITY(LD_NEGATIVE, negativeLeading),
                                   CAPABILITY(NUMERICAL_IMPL_FLAGS, implementations),
                                   CAPABILITY(MIN_ALIGNMENT_A_BYTES, alignmentA),
                                   CAPABILITY(MIN_ALIGNMENT_B_BYTES, alignmentB),
                                   CAPABILITY(MIN_ALIGNMENT_C_BYTES, alignmentC),
                                   CAPABILITY(MIN_ALIGNMENT_D_BYTES, alignmentD),
                                   CAPABILITY(POINTER_ARRAY_BATCH_SUPPORT, pointerArrays),
                                   CAPABILITY(FLOATING_POINT_EMULATION_SUPPORT, emulation),
                                   CAPABILITY(POINTER_ARRAY_GROUPED_SUPPORT, groups)};

cublasLtMatmulHeuristicResult_t resultFor(const cublasLtMatmulAlgo_t& algorithm) {
  cublasLtMatmulHeuristicResult_t result{};
  result.algo = algorithm;
  result.state = CUBLAS_STATUS_SUCCESS;
  result.wavesCount = 1;
  return result;
}

}  // namespace

extern "C" {

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int wanted,
                                              cublasLtMatmulHeuristicResult_t* results, int* found) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!preference || wanted < 1 || !results || !found) return CUBLAS_STATUS_INVALID_VALUE;
  *found = 0;
  Product product{};
  if (const cublasStatus_t status = productOf(desc, a, b, c, d, &product)) return status;
  *results = resultFor({});
  *found = 1;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulAlgoCheck(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t a,
                                       cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                       const cublasLtMatmulAlgo_t* algorithm, cublasLtMatmulHeuristicResult_t* result) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!algorithm || !result || !isAlgorithm(stateOf<Algorithm>(algorithm).id)) return CUBLAS_STATUS_INVALID_VALUE;
  Product product{};
  if (const cublasStatus_t status = productOf(desc, a, b, c, d, &product)) return status;
  *result = resultFor(*algorithm);
  return CUBLAS_STATUS_SUCCESS;
}
/// The search does not depend on a stream.
cublasStatus_t cublasLtMatmulAlgoGetHeuristicForStream(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc,
                                                       cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                                       cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                                       cublasLtMatmulPreference_t preference, int wanted,
                                                       cublasLtMatmulHeuristicResult_t* results, int* found,
                                                       cudaStream_t) {
  return cublasLtMatmulAlgoGetHeuristic(handle, desc, a, b, c, d, preference, wanted, results, found);
}
cublasStatus_t cublasLtMatmulAlgoCheckForStream(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc,
                                                cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                                cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                                const cublasLtMatmulAlgo_t* algorithm,
                                                cublasLtMatmulHeuristicResult_t* result, cudaStream_t) {
  return cublasLtMatmulAlgoCheck(handle, desc, a, b, c, d, algorithm, result);
}
cublasStatus_t cublasLtMatmulAlgoGetIds(cublasLtHandle_t handle, cublasComputeType_t compute, cudaDataType_t scale,
                                        cudaDataType_t a, cudaDataType_t b, cudaDataType_t c, cudaDataType_t d,
                                        int wanted, int* ids, int* found) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (wanted < 1 || !ids || !found) return CUBLAS_STATUS_INVALID_VALUE;
  *found = 0;
  if (!areTypesSupported(compute, scale, a, b, c, d)) return CUBLAS_STATUS_NOT_SUPPORTED;
  *ids = 0, *found = 1;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulAlgoInit(cublasLtHandle_t handle, cublasComputeType_t compute, cudaDataType_t scale,
                                      cudaDataType_t a, cudaDataType_t b, cudaDataType_t c, cudaDataType_t d, int id,
                                      cublasLtMatmulAlgo_t* algorithm) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!algorithm || !isAlgorithm(id)) return CUBLAS_STATUS_INVALID_VALUE;
  if (!areTypesSupported(compute, scale, a, b, c, d)) return CUBLAS_STATUS_NOT_SUPPORTED;
  *algorithm = {};
  Algorithm state{};
  state.id = id;
  std::memcpy(algorithm->data, &state, sizeof(state));
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulAlgoConfigSetAttribute(cublasLtMatmulAlgo_t* algorithm,
                                                    cublasLtMatmulAlgoConfigAttributes_t attribute, const void* from,
                                                    size_t size) {
  return setField(kConfig, algorithm, attribute, from, size);
}
cublasStatus_t cublasLtMatmulAlgoConfigGetAttribute(const cublasLtMatmulAlgo_t* algorithm,
                                                    cublasLtMatmulAlgoConfigAttributes_t attribute, void* to,
                                                    size_t size, size_t* written) {
  return getField(kConfig, algorithm, attribute, to, size, written);
}
cublasStatus_t cublasLtMatmulAlgoCapGetAttribute(const cublasLtMatmulAlgo_t* algorithm,
                                                 cublasLtMatmulAlgoCapAttributes_t attribute, void* to, size_t size,
                                                 size_t* written) {
  constexpr Capabilities kAll;
  return getField(kCapabilities, algorithm ? &kAll : nullptr, attribute, to, size, written);
}

}  // extern "C"
}  // namespace ordito::cublaslt
