// Matrices whose columns are dealt out to several GPUs, put back into their equations. GPU 0 stands for all of them.
#include <gtest/gtest.h>

#include <complex>
#include <random>
#include <vector>

#include "cuda.h"
#include "cusolverMg.h"

namespace ordito::cusolver::test {
namespace {

constexpr auto kGood = CUSOLVER_STATUS_SUCCESS;
using Complex = std::complex<double>;

std::mt19937& engine() {
  static std::mt19937 one(1);
  return one;
}
int random(int low, int high) { return std::uniform_int_distribution<int>(low, high)(engine()); }
void fill(double& value) { value = std::uniform_real_distribution<double>(-1, 1)(engine()); }
void fill(Complex& value) {
  double real = 0, imaginary = 0;
  fill(real), fill(imaginary);
  value = {real, imaginary};
}
double conjugate(double value) { return value; }
Complex conjugate(Complex value) { return std::conj(value); }

/// By columns.
template <class T>
struct Matrix {
  Matrix(int rows, int columns)
      : rows(rows), columns(columns), data(static_cast<size_t>(rows) * static_cast<size_t>(columns)) {}
  static Matrix random(int rows, int columns) {
    Matrix made(rows, columns);
    for (T& value : made.data) fill(value);
    return made;
  }
  size_t at(int i, int j) const { return static_cast<size_t>(j) * static_cast<size_t>(rows) + static_cast<size_t>(i); }
  T& operator()(int i, int j) { return data[at(i, j)]; }
  T operator()(int i, int j) const { return data[at(i, j)]; }
  Matrix adjoint() const {
    Matrix made(columns, rows);
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j) made(j, i) = conjugate((*this)(i, j));
    return made;
  }
  Matrix operator*(const Matrix& other) const {
    Matrix made(rows, other.columns);
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < other.columns; ++j)
        for (int k = 0; k < columns; ++k) made(i, j) += (*this)(i, k) * other(k, j);
    return made;
  }
  void expectNear(const Matrix& wanted) const {
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j) ASSERT_LE(std::abs((*this)(i, j) - wanted(i, j)), 1e-8) << i << ' ' << j;
  }

  int rows, columns;
  std::vector<T> data;
};

template <class T>
class Several : public testing::Test {
 protected:
  static constexpr cudaDataType kType = std::is_same_v<T, double> ? CUDA_R_64F : CUDA_C_64F;

  Several() {
    CUcontext context = nullptr;
    EXPECT_EQ(cuInit(0), CUDA_SUCCESS);
    EXPECT_EQ(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
    EXPECT_EQ(cusolverMgCreate(&handle_), kGood);
    deal(3, 2);
  }
  ~Several() override {
    cusolverMgDestroyGrid(grid_);
    EXPECT_EQ(cusolverMgDestroy(handle_), kGood);
  }
  void deal(int gpus, int columns) {
    std::vector<int> devices(static_cast<size_t>(gpus), 0);
    EXPECT_EQ(cusolverMgDeviceSelect(handle_, gpus, devices.data()), kGood);
    EXPECT_EQ(cusolverMgCreateDeviceGrid(&grid_, 1, gpus, devices.data(), CUDALIBMG_GRID_MAPPING_COL_MAJOR), kGood);
    gpus_ = gpus, block_ = columns;
  }

  /// A matrix whose parts lie in device memory, with the pivots of its columns.
  struct Dealt {
    Dealt(Several& test, const Matrix<T>& whole) : rows(whole.rows), columns(whole.columns), test(test) {
      const int most = (columns + test.block_ - 1) / test.block_ * test.block_ + test.block_;
      for (int gpu = 0; gpu < test.gpus_; ++gpu) {
        CUdeviceptr memory = 0, numbers = 0;
        EXPECT_EQ(cuMemAlloc(&memory, static_cast<size_t>(rows * most + 1) * sizeof(T)), CUDA_SUCCESS);
        EXPECT_EQ(cuMemAlloc(&numbers, static_cast<size_t>(most) * sizeof(int)), CUDA_SUCCESS);
        parts.push_back(reinterpret_cast<void*>(memory));
        pivots.push_back(reinterpret_cast<int*>(numbers));
      }
      EXPECT_EQ(cusolverMgCreateMatrixDesc(&matrix, rows, columns, std::max(1, rows), test.block_, kType, test.grid_),
                kGood);
      for (int j = 0; j < columns; ++j)
        for (int i = 0; i < rows; ++i) at(i, j) = whole(i, j);
    }
    ~Dealt() {
      for (void* part : parts) cuMemFree(reinterpret_cast<CUdeviceptr>(part));
      for (int* part : pivots) cuMemFree(reinterpret_cast<CUdeviceptr>(part));
      cusolverMgDestroyMatrixDesc(matrix);
    }
    Dealt(const Dealt&) = delete;
    Dealt& operator=(const Dealt&) = delete;
    T& at(int i, int j) {
      const int number = j / test.block_;
      T* part = static_cast<T*>(parts[static_cast<size_t>(number % test.gpus_)]);
      return part[i + (number / test.gpus_ * test.block_ + j % test.block_) * rows];
    }
    Matrix<T> gathered() {
      Matrix<T> whole(rows, columns);
      for (int j = 0; j < columns; ++j)
        for (int i = 0; i < rows; ++i) whole(i, j) = at(i, j);
      return whole;
    }

    int rows, columns;
    Several& test;
    std::vector<void*> parts;
    std::vector<int*> pivots;
    cudaLibMgMatrixDesc_t matrix = nullptr;
  };

  /// Some matrix that is positive definite.
  static Matrix<T> definite(int n) {
    const auto root = Matrix<T>::random(n, n);
    Matrix<T> a = root * root.adjoint();
    for (int i = 0; i < n; ++i) a(i, i) += 1;
    return a;
  }

  cusolverMgHandle_t handle_ = nullptr;
  cudaLibMgGrid_t grid_ = nullptr;
  int gpus_ = 0, block_ = 0;
  int64_t size_ = 0;
  int info_ = 7;
};
using Types = testing::Types<double, Complex>;
TYPED_TEST_SUITE(Several, Types, );

TYPED_TEST(Several, LinearSystems) {
  using T = TypeParam;
  for (int round = 0; round < 20; ++round) {
    cusolverMgDestroyGrid(this->grid_);
    this->deal(random(1, 4), random(1, 5));
    const int n = random(1, 20), columns = random(1, 7);
    const auto whole = Matrix<T>::random(n, n), right = Matrix<T>::random(n, columns);
    typename Several<T>::Dealt a(*this, whole), b(*this, right);
    ASSERT_EQ(cusolverMgGetrf_bufferSize(this->handle_, n, n, a.parts.data(), 1, 1, a.matrix, a.pivots.data(),
                                         this->kType, &this->size_),
              kGood);
    ASSERT_EQ(cusolverMgGetrf(this->handle_, n, n, a.parts.data(), 1, 1, a.matrix, a.pivots.data(), this->kType,
                              nullptr, this->size_, &this->info_),
              kGood);
    ASSERT_EQ(this->info_, 0);
    ASSERT_EQ(cusolverMgGetrs(this->handle_, CUBLAS_OP_N, n, columns, a.parts.data(), 1, 1, a.matrix, a.pivots.data(),
                              b.parts.data(), 1, 1, b.matrix, this->kType, nullptr, this->size_, &this->info_),
              kGood);
    (whole * b.gathered()).expectNear(right);
  }
}

TYPED_TEST(Several, DefiniteSystemsAndInverses) {
  using T = TypeParam;
  for (const auto uplo : {CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER}) {
    const int n = 13, columns = 3;
    const auto whole = this->definite(n), right = Matrix<T>::random(n, columns);
    typename Several<T>::Dealt a(*this, whole), b(*this, right);
    ASSERT_EQ(
        cusolverMgPotrf(this->handle_, uplo, n, a.parts.data(), 1, 1, a.matrix, this->kType, nullptr, 1, &this->info_),
        kGood);
    ASSERT_EQ(this->info_, 0);
    ASSERT_EQ(cusolverMgPotrs(this->handle_, uplo, n, columns, a.parts.data(), 1, 1, a.matrix, b.parts.data(), 1, 1,
                              b.matrix, this->kType, nullptr, 1, &this->info_),
              kGood);
    (whole * b.gathered()).expectNear(right);
    ASSERT_EQ(
        cusolverMgPotri(this->handle_, uplo, n, a.parts.data(), 1, 1, a.matrix, this->kType, nullptr, 1, &this->info_),
        kGood);
    Matrix<T> inverse = a.gathered();
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        if (uplo == CUBLAS_FILL_MODE_LOWER ? i < j : i > j) inverse(i, j) = conjugate(inverse(j, i));
    Matrix<T> one(n, n);
    for (int i = 0; i < n; ++i) one(i, i) = 1;
    (whole * inverse).expectNear(one);
  }
}

/// A part of a larger matrix.
TYPED_TEST(Several, Eigenvalues) {
  using T = TypeParam;
  const int n = 11, first = 4;
  const auto part = this->definite(n);
  auto larger = Matrix<T>::random(17, 16);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) larger(i + first - 1, j + first - 1) = part(i, j);
  typename Several<T>::Dealt a(*this, larger);
  std::vector<double> w(static_cast<size_t>(n));
  ASSERT_EQ(cusolverMgSyevd(this->handle_, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, n, a.parts.data(), first,
                            first, a.matrix, w.data(), CUDA_R_64F, this->kType, nullptr, 1, &this->info_),
            kGood);
  ASSERT_EQ(this->info_, 0);
  const Matrix<T> after = a.gathered();
  Matrix<T> vectors(n, n), scaled(n, n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      vectors(i, j) = after(i + first - 1, j + first - 1);
      scaled(i, j) = vectors(i, j) * w[static_cast<size_t>(j)];
    }
  (part * vectors).expectNear(scaled);
  EXPECT_EQ(after(0, 0), larger(0, 0));
  EXPECT_EQ(after(16, 15), larger(16, 15));
}

TYPED_TEST(Several, BadArgumentsAreRefused) {
  using T = TypeParam;
  const auto invalid = CUSOLVER_STATUS_INVALID_VALUE;
  typename Several<T>::Dealt a(*this, this->definite(4));
  const auto factor = [&](cusolverMgHandle_t h, int n, int ja, cudaDataType type, int* info) {
    return cusolverMgPotrf(h, CUBLAS_FILL_MODE_LOWER, n, a.parts.data(), 1, ja, a.matrix, type, nullptr, 1, info);
  };
  EXPECT_EQ(factor(nullptr, 4, 1, this->kType, &this->info_), CUSOLVER_STATUS_NOT_INITIALIZED);
  EXPECT_EQ(factor(this->handle_, 4, 2, this->kType, &this->info_), invalid);
  EXPECT_EQ(factor(this->handle_, -1, 1, this->kType, &this->info_), invalid);
  EXPECT_EQ(factor(this->handle_, 4, 1, CUDA_R_32F, &this->info_), invalid);
  EXPECT_EQ(factor(this->handle_, 4, 1, this->kType, nullptr), invalid);
  int device = 99;
  EXPECT_EQ(cusolverMgDeviceSelect(this->handle_, 1, &device), invalid);
  cudaLibMgMatrixDesc_t matrix = nullptr;
  EXPECT_EQ(cusolverMgCreateMatrixDesc(&matrix, 8, 8, 4, 4, this->kType, this->grid_), CUSOLVER_STATUS_NOT_SUPPORTED);
}

}  // namespace
}  // namespace ordito::cusolver::test
