// cuSPARSE's products with a program's own operators as programs make them: C++ for the run-time compiler, linked as
// LTO-IR with the library's kernels.
#include <cusparse.h>
#include <nvrtc.h>

#include <vector>

#include "expect.hpp"

constexpr auto kPlain = CUSPARSE_OPERATION_NON_TRANSPOSE;
constexpr auto kGood = CUSPARSE_STATUS_SUCCESS;

std::vector<char> compiled(const char* text) {
  const char* options[] = {"--gpu-architecture=compute_80", "-dlto", "--relocatable-device-code=true"};
  nvrtcProgram program = nullptr;
  size_t bytes = 0;
  EXPECT(nvrtcCreateProgram(&program, text, "operator.cu", 0, nullptr, nullptr) == NVRTC_SUCCESS);
  EXPECT(nvrtcCompileProgram(program, 3, options) == NVRTC_SUCCESS);
  EXPECT(nvrtcGetLTOIRSize(program, &bytes) == NVRTC_SUCCESS);
  std::vector<char> code(bytes);
  EXPECT(nvrtcGetLTOIR(program, code.data()) == NVRTC_SUCCESS);
  nvrtcDestroyProgram(&program);
  return code;
}

template <class T>
T* managed(const std::vector<T>& values) {
  T* place = nullptr;
  EXPECT_OK(cudaMallocManaged(&place, values.size() * sizeof(T)));
  for (size_t i = 0; i < values.size(); ++i) place[i] = values[i];
  return place;
}

// 1 0 2 / 0 0 0 / 0 3 4
const std::vector<int> kOffsets{0, 2, 2, 4}, kColumns{0, 2, 1, 2};

/// Complex numbers, where a product is x conj(y) and a sum has the parts' maxima.
void matrices(cusparseHandle_t handle) {
  const auto add = compiled(
      "__device__ float2 add_op(float2 a, float2 b) { return {a.x > b.x ? a.x : b.x, a.y > b.y ? a.y : b.y}; }");
  const auto multiply = compiled(
      "__device__ float2 mul_op(float2 a, float2 b) { return {a.x * b.x + a.y * b.y, a.y * b.x - a.x * b.y}; }");
  const auto epilogue =
      compiled("__device__ float2 epilogue(float2 sum, float2 old) { return {sum.x + old.x, sum.y}; }");
  int *offsets = managed(kOffsets), *columns = managed(kColumns);
  float2* values = managed<float2>({{1, 1}, {2, 0}, {3, -1}, {4, 2}});
  float2* b = managed<float2>({{1, 0}, {0, 1}, {2, 2}, {1, -1}, {0, 0}, {3, 1}});  // 3 x 2 by rows
  float2* c = managed<float2>({{1, 9}, {1, 9}, {1, 9}, {1, 9}, {1, 9}, {1, 9}});
  cusparseSpMatDescr_t matrix = nullptr;
  cusparseDnMatDescr_t factor = nullptr, result = nullptr;
  EXPECT(cusparseCreateCsr(&matrix, 3, 3, 4, offsets, columns, values, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                           CUSPARSE_INDEX_BASE_ZERO, CUDA_C_32F) == kGood);
  EXPECT(cusparseCreateDnMat(&factor, 3, 2, 2, b, CUDA_C_32F, CUSPARSE_ORDER_ROW) == kGood);
  EXPECT(cusparseCreateDnMat(&result, 3, 2, 2, c, CUDA_C_32F, CUSPARSE_ORDER_ROW) == kGood);
  cusparseSpMMOpPlan_t plan = nullptr;
  size_t size = 0;
  EXPECT(cusparseSpMMOp_createPlan(handle, &plan, kPlain, kPlain, matrix, factor, result, CUDA_C_32F,
                                   CUSPARSE_SPMM_OP_ALG_DEFAULT, add.data(), add.size(), multiply.data(),
                                   multiply.size(), epilogue.data(), epilogue.size(), &size) == kGood);
  void* buffer = nullptr;
  EXPECT_OK(cudaMalloc(&buffer, size));
  EXPECT(cusparseSpMMOp(plan, buffer) == kGood);
  EXPECT(cusparseSpMMOp_destroyPlan(plan) == kGood);
  EXPECT_OK(cudaDeviceSynchronize());
  const float2 wanted[] = {{2, 1}, {7, -1}, {1, 0}, {1, 0}, {5, 0}, {15, 2}};
  for (int i = 0; i < 6; ++i) EXPECT(c[i].x == wanted[i].x && c[i].y == wanted[i].y);
  cusparseDestroySpMat(matrix), cusparseDestroyDnMat(factor), cusparseDestroyDnMat(result);
  cudaFree(offsets), cudaFree(columns), cudaFree(values), cudaFree(b), cudaFree(c), cudaFree(buffer);
}

struct Factors {
  double even, odd;
};

/// A function that knows numbers of the program's, which change between two calls.
void vectors(cusparseHandle_t handle) {
  const auto code = compiled(
      "struct Factors { double even, odd; };\n"
      "__constant__ Factors factors;\n"
      "__device__ double spmvop_epilogue(int row, double x) { return (row % 2 ? factors.odd : factors.even) * x; }");
  int *offsets = managed(kOffsets), *columns = managed(kColumns);
  double *values = managed<double>({1, 2, 3, 4}), *x = managed<double>({1, 10, 100});
  double *y = managed<double>({1, 2, 3}), *z = managed<double>({0, 0, 0});
  cusparseSpMatDescr_t matrix = nullptr;
  cusparseDnVecDescr_t vx = nullptr, vy = nullptr, vz = nullptr;
  EXPECT(cusparseCreateCsr(&matrix, 3, 3, 4, offsets, columns, values, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                           CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F) == kGood);
  EXPECT(cusparseCreateDnVec(&vx, 3, x, CUDA_R_64F) == kGood);
  EXPECT(cusparseCreateDnVec(&vy, 3, y, CUDA_R_64F) == kGood);
  EXPECT(cusparseCreateDnVec(&vz, 3, z, CUDA_R_64F) == kGood);
  cusparseSpMVOpDescr_t descriptor = nullptr;
  cusparseSpMVOpPlan_t plan = nullptr;
  EXPECT(cusparseSpMVOp_createDescr(handle, &descriptor, kPlain, matrix, vx, vy, vz, CUDA_R_64F,
                                    CUSPARSE_SPMVOP_ALG_DEFAULT, nullptr) == kGood);
  EXPECT(cusparseSpMVOp_createPlan(handle, descriptor, &plan, code.data(), code.size()) == kGood);
  Factors factors{2, 3};
  EXPECT(cusparseSpMVOp_setGlobalUserData(handle, plan, "nothing", &factors, sizeof factors) != kGood);
  const double alpha = 1, beta = 10;
  for (const double more : {0, 5}) {
    factors.odd += more;
    EXPECT(cusparseSpMVOp_setGlobalUserData(handle, plan, "factors", &factors, sizeof factors) == kGood);
    EXPECT(cusparseSpMVOp(handle, plan, &alpha, &beta, vx, vy, vz) == kGood);
    EXPECT_OK(cudaDeviceSynchronize());
    EXPECT(z[0] == 2 * 211 && z[1] == factors.odd * 20 && z[2] == 2 * 460);
  }
  EXPECT(cusparseSpMVOp_destroyPlan(plan) == kGood);
  EXPECT(cusparseSpMVOp_destroyDescr(descriptor) == kGood);
  cusparseDestroySpMat(matrix), cusparseDestroyDnVec(vx), cusparseDestroyDnVec(vy), cusparseDestroyDnVec(vz);
  cudaFree(offsets), cudaFree(columns), cudaFree(values), cudaFree(x), cudaFree(y), cudaFree(z);
}

int main() {
  cusparseHandle_t handle = nullptr;
  EXPECT(cusparseCreate(&handle) == kGood);
  matrices(handle);
  vectors(handle);
  EXPECT(cusparseDestroy(handle) == kGood);
  return finish();
}
