// What the tests of cuBLASLt share: matrices of any type and order whose elements are read and written by the
// conversions of CUDA's headers, which are not the library's.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstdlib>
#include <random>
#include <vector>

#include "cublasLt.h"
#include "cuda.h"
#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "cuda_fp8.h"

namespace ordito::cublaslt::test {

using Wide = std::complex<double>;

inline std::mt19937& generator() {
  static std::mt19937 engine(1);
  return engine;
}
inline int random(int low, int high) { return std::uniform_int_distribution<int>(low, high)(generator()); }
inline double randomNumber() { return std::uniform_real_distribution<double>(-1, 1)(generator()); }

inline bool isComplex(cudaDataType type) { return type == CUDA_C_32F || type == CUDA_C_64F; }
inline bool isInteger(cudaDataType type) { return type == CUDA_R_8I || type == CUDA_R_32I; }

/// Calls with a null pointer to the type that CUDA's headers have for it.
template <class Body>
auto withType(cudaDataType type, const Body& body) {
  switch (type) {
    case CUDA_R_16F: return body(static_cast<__half*>(nullptr));
    case CUDA_R_16BF: return body(static_cast<__nv_bfloat16*>(nullptr));
    case CUDA_R_8F_E4M3: return body(static_cast<__nv_fp8_e4m3*>(nullptr));
    case CUDA_R_8F_E5M2: return body(static_cast<__nv_fp8_e5m2*>(nullptr));
    case CUDA_R_8I: return body(static_cast<int8_t*>(nullptr));
    case CUDA_R_32I: return body(static_cast<int32_t*>(nullptr));
    case CUDA_R_64F: return body(static_cast<double*>(nullptr));
    case CUDA_C_32F: return body(static_cast<std::complex<float>*>(nullptr));
    case CUDA_C_64F: return body(static_cast<std::complex<double>*>(nullptr));
    default: return body(static_cast<float*>(nullptr));
  }
}
inline size_t sizeOf(cudaDataType type) {
  return withType(type, [](auto* none) { return sizeof(*none); });
}
inline Wide read(cudaDataType type, const void* place) {
  return withType(type, [&](auto* none) -> Wide {
    using T = std::remove_pointer_t<decltype(none)>;
    const T& value = *static_cast<const T*>(place);
    if constexpr (std::is_arithmetic_v<T>)
      return static_cast<double>(value);
    else if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>)
      return Wide(value);
    else
      return static_cast<double>(static_cast<float>(value));
  });
}
inline void write(cudaDataType type, void* place, Wide value) {
  withType(type, [&](auto* none) {
    using T = std::remove_pointer_t<decltype(none)>;
    T& to = *static_cast<T*>(place);
    if constexpr (std::is_arithmetic_v<T>)
      to = static_cast<T>(value.real());
    else if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>)
      to = T(value);
    else
      to = T(static_cast<float>(value.real()));
  });
}
/// Half of what two neighbours near 1 differ by.
inline double unit(cudaDataType type) {
  switch (type) {
    case CUDA_R_16F: return 4.9e-4;
    case CUDA_R_16BF: return 3.9e-3;
    case CUDA_R_8F_E4M3: return 0.0626;
    case CUDA_R_8F_E5M2: return 0.126;
    case CUDA_R_64F:
    case CUDA_C_64F: return 1.2e-16;
    default: return 6e-8;
  }
}

/// A batch of matrices of one layout, aligned to 16 bytes, with random elements.
class Batch {
 public:
  Batch(cudaDataType type, cublasLtOrder_t order, int rows, int columns, int count)
      : type_(type), order_(order), rows_(rows), columns_(columns), count_(count) {
    const int tall = order == CUBLASLT_ORDER_COL4_4R2_8C ? 8 : order == CUBLASLT_ORDER_COL32_2R_4R4 ? 32 : 1;
    const int length = order == CUBLASLT_ORDER_COL   ? rows
                       : order == CUBLASLT_ORDER_ROW ? columns
                                                     : 32 * ((rows + tall - 1) / tall * tall);
    leading_ = (length + random(0, 20) + 15) / 16 * 16;
    if (leading_ == 0) leading_ = 16;
    const int lines = order == CUBLASLT_ORDER_COL ? columns : order == CUBLASLT_ORDER_ROW ? rows : (columns + 31) / 32;
    stride_ = static_cast<int64_t>(leading_) * lines + 16;
    memory_.resize(static_cast<size_t>(stride_ * count) * sizeOf(type) + 32);
    for (int k = 0; k < count; ++k)
      for (int j = 0; j < columns; ++j)
        for (int i = 0; i < rows; ++i)
          set(i, j, k,
              isInteger(type) ? Wide(random(-9, 9)) : Wide(randomNumber(), isComplex(type) ? randomNumber() : 0));
    EXPECT_EQ(cublasLtMatrixLayoutCreate(&layout_, type, static_cast<uint64_t>(rows), static_cast<uint64_t>(columns),
                                         leading_),
              CUBLAS_STATUS_SUCCESS);
    attribute(CUBLASLT_MATRIX_LAYOUT_ORDER, static_cast<int32_t>(order));
    attribute(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, count);
    attribute(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, stride_);
  }
  ~Batch() { cublasLtMatrixLayoutDestroy(layout_); }
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  template <class Value>
  void attribute(cublasLtMatrixLayoutAttribute_t which, Value value) {
    EXPECT_EQ(cublasLtMatrixLayoutSetAttribute(layout_, which, &value, sizeof(value)), CUBLAS_STATUS_SUCCESS);
  }
  Wide get(int i, int j, int k = 0) const { return read(type_, place(i, j, k)); }
  void set(int i, int j, int k, Wide value) { write(type_, place(i, j, k), value); }
  void fill(double value) {
    for (int k = 0; k < count_; ++k)
      for (int j = 0; j < columns_; ++j)
        for (int i = 0; i < rows_; ++i) set(i, j, k, value);
  }
  char* data() const { return reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(memory_.data()) + 15) / 16 * 16); }
  cublasLtMatrixLayout_t layout() const { return layout_; }
  cudaDataType type() const { return type_; }

 private:
  /// By the pictures of the manual: tiles of 32 columns, and what stands in them.
  int64_t index(int i, int j) const {
    if (order_ == CUBLASLT_ORDER_COL) return i + int64_t{j} * leading_;
    if (order_ == CUBLASLT_ORDER_ROW) return j + int64_t{i} * leading_;
    const int64_t tile = int64_t{j / 32} * leading_;
    const int column = j % 32;
    if (order_ == CUBLASLT_ORDER_COL32) return tile + i * 32 + column;
    if (order_ == CUBLASLT_ORDER_COL4_4R2_8C) {
      const int block = i / 8 * 256 + i % 2 * 128 + column / 8 * 32, half = column % 8 >= 4 ? 16 : 0;
      return tile + block + half + i % 8 / 2 * 4 + column % 4;
    }
    static constexpr int kRowOf[] = {0, 1, 8,  9,  16, 17, 24, 25, 2, 3, 10, 11, 18, 19, 26, 27,
                                     4, 5, 12, 13, 20, 21, 28, 29, 6, 7, 14, 15, 22, 23, 30, 31};
    int position = 0;
    while (kRowOf[position] != i % 32) ++position;
    return tile + i / 32 * 1024 + position * 32 + column;
  }
  char* place(int i, int j, int k) const {
    return data() + static_cast<size_t>(index(i, j) + k * stride_) * sizeOf(type_);
  }

  cudaDataType type_;
  cublasLtOrder_t order_;
  int rows_, columns_, count_, leading_ = 0;
  int64_t stride_ = 0;
  std::vector<char> memory_;
  cublasLtMatrixLayout_t layout_ = nullptr;
};

/// A description whose attributes are set by their values.
class Desc {
 public:
  Desc(cublasComputeType_t compute, cudaDataType scale) {
    EXPECT_EQ(cublasLtMatmulDescCreate(&desc_, compute, scale), CUBLAS_STATUS_SUCCESS);
  }
  ~Desc() { cublasLtMatmulDescDestroy(desc_); }
  Desc(const Desc&) = delete;
  Desc& operator=(const Desc&) = delete;
  template <class Value>
  void set(cublasLtMatmulDescAttributes_t which, Value value) {
    EXPECT_EQ(cublasLtMatmulDescSetAttribute(desc_, which, &value, sizeof(value)), CUBLAS_STATUS_SUCCESS);
  }
  cublasLtMatmulDesc_t get() const { return desc_; }

 private:
  cublasLtMatmulDesc_t desc_ = nullptr;
};

struct Tests : testing::Test {
  static void SetUpTestSuite() {
    CUdevice device = 0;
    CUcontext context = nullptr;
    setenv("ORDITO_GPU", "h200,rtx3090", 1);  // one with eight-bit floats, and one without
    ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
    ASSERT_EQ(cuDeviceGet(&device, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, device), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
  }
  void SetUp() override {
    if (cublasLtCreate(&handle) != CUBLAS_STATUS_SUCCESS) GTEST_SKIP() << "no OpenBLAS (libopenblas0-pthread)";
  }
  void TearDown() override {
    if (handle) cublasLtDestroy(handle);
  }
  cublasStatus_t multiply(const Desc& desc, const void* alpha, const Batch& a, const Batch& b, const void* beta,
                          const Batch& c, const Batch& d, CUstream stream = nullptr) {
    return cublasLtMatmul(handle, desc.get(), alpha, a.data(), a.layout(), b.data(), b.layout(), beta, c.data(),
                          c.layout(), d.data(), d.layout(), nullptr, nullptr, 0, stream);
  }
  void wait() { ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS); }
  cublasLtHandle_t handle = nullptr;
};

}  // namespace ordito::cublaslt::test
