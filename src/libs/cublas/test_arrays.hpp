// What the tests of cuBLAS share: arrays with random numbers, and the comparison with a reference in double.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cmath>
#include <complex>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include "cublas_v2.h"
#include "cuda.h"
#include "cuda_bf16.h"
#include "cuda_fp16.h"

namespace ordito::cublas::test {

using Wide = std::complex<double>;

template <class T>
constexpr bool kComplex = std::is_same_v<T, cuComplex> || std::is_same_v<T, cuDoubleComplex>;

template <class T>
constexpr bool kSmall = std::is_same_v<T, __half> || std::is_same_v<T, __nv_bfloat16>;

template <class T>
T narrow(Wide v) {
  if constexpr (std::is_same_v<T, cuComplex>)
    return make_cuComplex(static_cast<float>(v.real()), static_cast<float>(v.imag()));
  else if constexpr (std::is_same_v<T, cuDoubleComplex>)
    return make_cuDoubleComplex(v.real(), v.imag());
  else if constexpr (kSmall<T>)
    return T(static_cast<float>(v.real()));
  else
    return static_cast<T>(v.real());
}
template <class T>
Wide widen(T v) {
  if constexpr (kComplex<T>)
    return {v.x, v.y};
  else if constexpr (kSmall<T>)
    return static_cast<double>(static_cast<float>(v));
  else
    return v;
}
/// What a result may differ by that is a sum of so many terms below 1; halves are rounded when they are stored.
template <class T>
double tolerance(double terms) {
  if constexpr (kSmall<T>) return (terms + 4) * (std::is_same_v<T, __half> ? 5e-4 : 4e-3);
  constexpr bool kFloat = std::is_same_v<T, float> || std::is_same_v<T, cuComplex>;
  return 4 * (terms + 4) * (kFloat ? 6e-8 : 1.2e-16) * 4;
}

/// The type of a rank update's real scalars.
template <class T>
struct RealOf {
  using Type = T;
};
template <>
struct RealOf<cuComplex> {
  using Type = float;
};
template <>
struct RealOf<cuDoubleComplex> {
  using Type = double;
};

inline std::mt19937& generator() {
  static std::mt19937 engine(1);
  return engine;
}
inline int random(int low, int high) { return std::uniform_int_distribution<int>(low, high)(generator()); }
inline Wide randomWide(bool isComplex) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  // A float's fraction, so that reference and library see the same numbers.
  auto number = [&] { return static_cast<double>(static_cast<float>(uniform(generator()))); };
  return {number(), isComplex ? number() : 0};
}

/// A matrix by columns, with rows between columns that nobody may touch, or a vector with steps. What is behind its
/// last element may not even be read, and nothing is aligned to more than an element: any memory of the process will
/// do.
template <class T>
class Array {
 public:
  Array(int rows, int columns, int leading) : rows_(rows), columns_(columns), leading_(leading) {
    const size_t count =
        columns > 0 ? static_cast<size_t>(leading) * static_cast<size_t>(columns - 1) + static_cast<size_t>(rows) : 0;
    const size_t page = 4096, pages = count * sizeof(T) / page + 1;
    size_ = (pages + 1) * page;
    memory_ = static_cast<char*>(mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    EXPECT_EQ(mprotect(memory_ + pages * page, page, PROT_NONE), 0);
    data_ = reinterpret_cast<T*>(memory_ + pages * page) - count;
    for (size_t i = 0; i < count; ++i) data_[i] = narrow<T>({kUntouched, kUntouched});
    for (int j = 0; j < columns; ++j)
      for (int i = 0; i < rows; ++i) at(i, j) = narrow<T>(randomWide(kComplex<T>));
  }
  ~Array() { munmap(memory_, size_); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  T* data() const { return data_; }
  T& at(int i, int j) const { return data()[i + static_cast<ptrdiff_t>(j) * leading_]; }
  Wide get(int i, int j) const { return widen(at(i, j)); }
  int rows() const { return rows_; }
  int columns() const { return columns_; }
  int leading() const { return leading_; }
  void fill(double value) {
    for (int j = 0; j < columns_; ++j)
      for (int i = 0; i < rows_; ++i) at(i, j) = narrow<T>({value, value});
  }
  std::vector<Wide> values() const {
    std::vector<Wide> all;
    for (int j = 0; j < columns_; ++j)
      for (int i = 0; i < rows_; ++i) all.push_back(get(i, j));
    return all;
  }
  bool isIntactBetween() const {
    for (int j = 0; j + 1 < columns_; ++j)
      for (int i = rows_; i < leading_; ++i)
        if (get(i, j).real() != kUntouched) return false;
    return true;
  }

 private:
  static constexpr double kUntouched = 12288;  // a number of every type
  int rows_, columns_, leading_;
  char* memory_;
  size_t size_;
  T* data_;
};

template <class T>
Array<T> matrix(int rows, int columns) {
  return Array<T>(rows, columns, std::max(1, rows) + random(0, 5));
}

inline cublasOperation_t randomOperation() { return static_cast<cublasOperation_t>(random(0, 2)); }
inline cublasFillMode_t randomFill() { return static_cast<cublasFillMode_t>(random(0, 1)); }

template <class T>
Wide operated(const Array<T>& a, cublasOperation_t op, int i, int j) {
  const Wide v = op == CUBLAS_OP_N ? a.get(i, j) : a.get(j, i);
  return op == CUBLAS_OP_C ? std::conj(v) : v;
}

/// Tests of a library on arrays.
struct ArrayTests : testing::Test {
  static void SetUpTestSuite() {
    CUdevice device = 0;
    CUcontext context = nullptr;
    ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
    ASSERT_EQ(cuDeviceGet(&device, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, device), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
  }
  void wait() { ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS); }

  /// Every element near its reference; `isPart` says which ones the call writes, the others stay as `before` has them.
  template <class T>
  void expectNear(const Array<T>& c, const std::vector<Wide>& before, double terms,
                  const std::function<Wide(int, int)>& reference, const std::function<bool(int, int)>& isPart) {
    wait();
    EXPECT_TRUE(c.isIntactBetween());
    size_t at = 0;
    for (int j = 0; j < c.columns(); ++j)
      for (int i = 0; i < c.rows(); ++i, ++at) {
        if (isPart(i, j))
          ASSERT_LE(std::abs(c.get(i, j) - reference(i, j)), tolerance<T>(terms)) << i << "," << j;
        else
          ASSERT_EQ(c.get(i, j), before[at]) << i << "," << j << " was written";
      }
  }
};

/// Tests of cuBLAS.
struct Tests : ArrayTests {
  void SetUp() override {
    if (cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS) GTEST_SKIP() << "no OpenBLAS (libopenblas0-pthread)";
  }
  void TearDown() override {
    if (handle) cublasDestroy(handle);
  }

  cublasHandle_t handle = nullptr;
};

inline bool always(int, int) { return true; }

template <class T, class Base = Tests>
struct Typed : Base {
  using Real = typename RealOf<T>::Type;
  Wide randomScalar() {
    const Wide values[] = {0, 1, randomWide(kComplex<T>)};
    return values[random(0, 2)];
  }
};
using Types = testing::Types<float, double, cuComplex, cuDoubleComplex>;
TYPED_TEST_SUITE(Typed, Types);

constexpr int kRounds = 60;

// The functions by type.
#define BY_TYPE(name)                                \
  template <class T, class... A>                     \
  cublasStatus_t name(A... a) {                      \
    if constexpr (std::is_same_v<T, float>)          \
      return cublasS##name(a...);                    \
    else if constexpr (std::is_same_v<T, double>)    \
      return cublasD##name(a...);                    \
    else if constexpr (std::is_same_v<T, cuComplex>) \
      return cublasC##name(a...);                    \
    else                                             \
      return cublasZ##name(a...);                    \
  }
#define BY_COMPLEX_TYPE(name)                   \
  template <class T, class... A>                \
  cublasStatus_t name(A... a) {                 \
    if constexpr (std::is_same_v<T, cuComplex>) \
      return cublasC##name(a...);               \
    else                                        \
      return cublasZ##name(a...);               \
  }

}  // namespace ordito::cublas::test
