// cuBLASLt: statuses of bad arguments (cases.hpp).
#include <cublasLt.h>

#include "cases.hpp"

namespace {

cublasLtMatrixLayout_t layout(cudaDataType type, int rows, int columns, int ld) {
  cublasLtMatrixLayout_t made = nullptr;
  cublasLtMatrixLayoutCreate(&made, type, rows, columns, ld);
  return made;
}

cublasLtMatmulDesc_t product(cublasComputeType_t compute, cudaDataType scale) {
  cublasLtMatmulDesc_t made = nullptr;
  cublasLtMatmulDescCreate(&made, compute, scale);
  return made;
}

void descriptors(Cases& cases) {
  cublasLtMatrixLayout_t made = nullptr;
  cublasLtMatmulDesc_t desc = nullptr;
  cublasLtMatmulPreference_t preference = nullptr;
  size_t written = 0;
  int value = 0;
  CASE("create: null", cublasLtCreate(nullptr));
  CASE("destroy: null", cublasLtDestroy(nullptr));
  CASE("layout: no place", cublasLtMatrixLayoutCreate(nullptr, CUDA_R_32F, 2, 2, 2));
  CASE("layout: rows 0", cublasLtMatrixLayoutCreate(&made, CUDA_R_32F, 0, 2, 2));
  CASE("layout: ld 1 of 2", cublasLtMatrixLayoutCreate(&made, CUDA_R_32F, 2, 2, 1));
  CASE("layout: ld -2", cublasLtMatrixLayoutCreate(&made, CUDA_R_32F, 2, 2, -2));
  CASE("layout: type 999", cublasLtMatrixLayoutCreate(&made, cudaDataType(999), 2, 2, 2));
  CASE("layout: destroy none", cublasLtMatrixLayoutDestroy(nullptr));
  made = layout(CUDA_R_32F, 2, 2, 2);
  const auto set = [&](int attribute, const void* from, size_t size) {
    return cublasLtMatrixLayoutSetAttribute(made, cublasLtMatrixLayoutAttribute_t(attribute), from, size);
  };
  CASE("layout: attribute 99", set(99, &value, sizeof value));
  CASE("layout: batch count -1", set(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &(value = -1), sizeof value));
  CASE("layout: batch count of 1 byte", set(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &value, 1));
  CASE("layout: batch count of 8 bytes", set(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &(written = 1), 8));
  CASE("layout: no value", set(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, nullptr, sizeof value));
  CASE("layout: order 99", set(CUBLASLT_MATRIX_LAYOUT_ORDER, &(value = 99), sizeof value));
  CASE("layout: read 1 byte", cublasLtMatrixLayoutGetAttribute(made, CUBLASLT_MATRIX_LAYOUT_TYPE, &value, 1, &written));
  CASE("layout: read the size alone",
       cublasLtMatrixLayoutGetAttribute(made, CUBLASLT_MATRIX_LAYOUT_TYPE, nullptr, 0, &written), shown(written));
  CASE("product: no place", cublasLtMatmulDescCreate(nullptr, CUBLAS_COMPUTE_32F, CUDA_R_32F));
  CASE("product: compute type 999", cublasLtMatmulDescCreate(&desc, cublasComputeType_t(999), CUDA_R_32F));
  desc = product(CUBLAS_COMPUTE_32F, CUDA_R_32F);
  CASE("product: attribute 99",
       cublasLtMatmulDescSetAttribute(desc, cublasLtMatmulDescAttributes_t(99), &value, sizeof value));
  CASE("product: operation 9",
       cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_TRANSA, &(value = 9), sizeof value));
  CASE("product: epilogue 9999",
       cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &(value = 9999), sizeof value));
  CASE("preference: no place", cublasLtMatmulPreferenceCreate(nullptr));
  CASE("preference: attribute 99", cublasLtMatmulPreferenceCreate(&preference),
       std::to_string(cublasLtMatmulPreferenceSetAttribute(preference, cublasLtMatmulPreferenceAttributes_t(99), &value,
                                                           sizeof value)));
}

struct Problem {
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  cudaDataType scale = CUDA_R_32F, a = CUDA_R_32F, b = CUDA_R_32F, c = CUDA_R_32F;
  int n = 16, ld = 16, inner = 16;
};

/// What the heuristic says of a problem, and how the product itself ends.
Answer ask(cublasLtHandle_t h, const Problem& p) {
  static char* const memory = zeros<char>(1 << 16);
  alignas(16) const float alpha[4] = {1, 0, 0, 0}, beta[4] = {0, 0, 0, 0};
  const auto desc = product(p.compute, p.scale);
  const auto a = layout(p.a, p.n, p.n, p.ld), b = layout(p.b, p.inner, p.n, p.inner), c = layout(p.c, p.n, p.n, p.n);
  cublasLtMatmulPreference_t preference = nullptr;
  cublasLtMatmulPreferenceCreate(&preference);
  cublasLtMatmulHeuristicResult_t found;
  int count = 0;
  const auto status = cublasLtMatmulAlgoGetHeuristic(h, desc, a, b, c, c, preference, 1, &found, &count);
  const auto run = cublasLtMatmul(h, desc, alpha, memory, a, memory, b, beta, memory, c, memory + 32768, c, nullptr,
                                  nullptr, 0, nullptr);
  return Answer{status, std::to_string(count), std::to_string(run)};
}

void types(Cases& cases, cublasLtHandle_t h) {
  const auto question = [&](const char* name, void (*change)(Problem&)) {
    Problem p;
    change(p);
    cases(name, [&] { return ask(h, p); });
  };
  question("float", [](Problem&) {});
  question("float, inner sizes differ", [](Problem& p) { p.inner = 8; });
  question("float, lda 8 of 16", [](Problem& p) { p.ld = 8; });
  question("half to float", [](Problem& p) { p.a = p.b = CUDA_R_16F; });
  question("half by bfloat16", [](Problem& p) { p.a = CUDA_R_16F, p.b = CUDA_R_16BF; });
  question("half, scale in half", [](Problem& p) { p.a = p.b = p.c = p.scale = CUDA_R_16F; });
  question("half in half", [](Problem& p) {
    p.a = p.b = p.c = p.scale = CUDA_R_16F;
    p.compute = CUBLAS_COMPUTE_16F;
  });
  question("int8 to int", [](Problem& p) {
    p.a = p.b = CUDA_R_8I, p.c = p.scale = CUDA_R_32I;
    p.compute = CUBLAS_COMPUTE_32I;
  });
  question("int8 to int, size 3", [](Problem& p) {
    p.a = p.b = CUDA_R_8I, p.c = p.scale = CUDA_R_32I;
    p.compute = CUBLAS_COMPUTE_32I;
    p.n = p.ld = p.inner = 3;
  });
  question("int8 to float", [](Problem& p) { p.a = p.b = CUDA_R_8I; });
  question("double in float", [](Problem& p) { p.a = p.b = p.c = CUDA_R_64F; });
  question("double", [](Problem& p) {
    p.a = p.b = p.c = p.scale = CUDA_R_64F;
    p.compute = CUBLAS_COMPUTE_64F;
  });
  question("fp8, not turned", [](Problem& p) { p.a = p.b = CUDA_R_8F_E4M3, p.c = CUDA_R_16BF; });
  question("fp8, size 8", [](Problem& p) {
    p.a = p.b = CUDA_R_8F_E4M3, p.c = CUDA_R_16BF;
    p.n = p.ld = p.inner = 8;
  });
  question("TF32", [](Problem& p) { p.compute = CUBLAS_COMPUTE_32F_FAST_TF32; });
  question("bfloat16 to half", [](Problem& p) { p.a = p.b = CUDA_R_16BF, p.c = CUDA_R_16F; });
}

void calls(Cases& cases, cublasLtHandle_t h) {
  const float one = 1, zero = 0;
  float *a = zeros<float>(4), *d = on<float>({NAN, NAN, NAN, NAN});
  const auto l = layout(CUDA_R_32F, 2, 2, 2);
  const auto desc = product(CUBLAS_COMPUTE_32F, CUDA_R_32F);
  const auto run = [&](cublasLtHandle_t handle, cublasLtMatmulDesc_t m, const float* alpha, const float* beta,
                       cublasLtMatrixLayout_t al, void* workspace, size_t size) {
    return cublasLtMatmul(handle, m, alpha, a, al, a, l, beta, d, l, d, l, nullptr, workspace, size, nullptr);
  };
  CASE("matmul: no handle", run(nullptr, desc, &one, &zero, l, nullptr, 0));
  CASE("matmul: no description", run(h, nullptr, &one, &zero, l, nullptr, 0));
  CASE("matmul: no alpha", run(h, desc, nullptr, &zero, l, nullptr, 0));
  CASE("matmul: no beta", run(h, desc, &one, nullptr, l, nullptr, 0));
  CASE("matmul: no layout", run(h, desc, &one, &zero, nullptr, nullptr, 0));
  CASE("matmul: no workspace of 1024 bytes", run(h, desc, &one, &zero, l, nullptr, 1024));
  CASE("matmul: beta 0, C NaN", run(h, desc, &one, &zero, l, nullptr, 0), shown(d, 4));
  CASE("matmul: C is not D, in place of no C",
       cublasLtMatmul(h, desc, &one, a, l, a, l, &zero, nullptr, l, d, l, nullptr, nullptr, 0, nullptr));
  cublasLtMatmulPreference_t preference = nullptr;
  cublasLtMatmulPreferenceCreate(&preference);
  cublasLtMatmulHeuristicResult_t found;
  int count = 7;
  CASE("heuristic: 0 asked", cublasLtMatmulAlgoGetHeuristic(h, desc, l, l, l, l, preference, 0, &found, &count));
  CASE("heuristic: -1 asked", cublasLtMatmulAlgoGetHeuristic(h, desc, l, l, l, l, preference, -1, &found, &count));
  CASE("heuristic: no results", cublasLtMatmulAlgoGetHeuristic(h, desc, l, l, l, l, preference, 1, nullptr, &count));
  CASE("heuristic: no count", cublasLtMatmulAlgoGetHeuristic(h, desc, l, l, l, l, preference, 1, &found, nullptr));
  CASE("heuristic: no preference", cublasLtMatmulAlgoGetHeuristic(h, desc, l, l, l, l, nullptr, 1, &found, &count));
}

}  // namespace

int main(int count, char** arguments) {
  Cases cases(count, arguments);
  cublasLtHandle_t handle;
  if (cublasLtCreate(&handle) != CUBLAS_STATUS_SUCCESS) return 2;
  descriptors(cases);
  types(cases, handle);
  calls(cases, handle);
}
