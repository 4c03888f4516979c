// Every product and update of cuBLAS with random arguments, sizes 0 to 70, steps and leading dimensions, against sums
// in double: results, what must not be read (NaN) and what must not be written.
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

namespace {

using Wide = std::complex<double>;

template <class T>
constexpr bool kComplex = std::is_same_v<T, cuComplex> || std::is_same_v<T, cuDoubleComplex>;

template <class T>
T narrow(Wide v) {
  if constexpr (std::is_same_v<T, cuComplex>)
    return make_cuComplex(static_cast<float>(v.real()), static_cast<float>(v.imag()));
  else if constexpr (std::is_same_v<T, cuDoubleComplex>)
    return make_cuDoubleComplex(v.real(), v.imag());
  else
    return static_cast<T>(v.real());
}
template <class T>
Wide widen(T v) {
  if constexpr (kComplex<T>)
    return {v.x, v.y};
  else
    return v;
}
template <class T>
double tolerance(double terms) {
  constexpr bool kFloat = std::is_same_v<T, float> || std::is_same_v<T, cuComplex>;
  return 4 * (terms + 4) * (kFloat ? 6e-8 : 1.2e-16) * 4;
}

/// The type of a rank update's real scalars.
template <class T>
struct RealOf {
  using type = T;
};
template <>
struct RealOf<cuComplex> {
  using type = float;
};
template <>
struct RealOf<cuDoubleComplex> {
  using type = double;
};

std::mt19937& generator() {
  static std::mt19937 engine(1);
  return engine;
}
int random(int low, int high) { return std::uniform_int_distribution<int>(low, high)(generator()); }
Wide randomWide(bool isComplex) {
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
  static constexpr double kUntouched = 12345;
  int rows_, columns_, leading_;
  char* memory_;
  size_t size_;
  T* data_;
};

template <class T>
Array<T> matrix(int rows, int columns) {
  return Array<T>(rows, columns, std::max(1, rows) + random(0, 5));
}

cublasOperation_t randomOperation() { return static_cast<cublasOperation_t>(random(0, 2)); }
cublasFillMode_t randomFill() { return static_cast<cublasFillMode_t>(random(0, 1)); }

template <class T>
Wide operated(const Array<T>& a, cublasOperation_t op, int i, int j) {
  const Wide v = op == CUBLAS_OP_N ? a.get(i, j) : a.get(j, i);
  return op == CUBLAS_OP_C ? std::conj(v) : v;
}

struct Tests : testing::Test {
  static void SetUpTestSuite() {
    CUdevice device = 0;
    CUcontext context = nullptr;
    ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
    ASSERT_EQ(cuDeviceGet(&device, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, device), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
  }
  void SetUp() override {
    if (cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS) GTEST_SKIP() << "no OpenBLAS (libopenblas0-pthread)";
  }
  void TearDown() override {
    if (handle) cublasDestroy(handle);
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

  cublasHandle_t handle = nullptr;
};

bool always(int, int) { return true; }

template <class T>
struct Typed : Tests {
  using Real = typename RealOf<T>::type;
  Wide randomScalar() {
    const Wide values[] = {0, 1, randomWide(kComplex<T>)};
    return values[random(0, 2)];
  }
};
using Types = testing::Types<float, double, cuComplex, cuDoubleComplex>;
TYPED_TEST_SUITE(Typed, Types);

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
// Arguments that are pointers to temporary scalars are evaluated by the caller.
BY_TYPE(gemm)
BY_TYPE(gemmStridedBatched)
BY_TYPE(gemmBatched)
BY_TYPE(gemv)
BY_TYPE(symm)
BY_TYPE(syrk)
BY_TYPE(syr2k)
BY_TYPE(syrkx)
BY_TYPE(trmm)
BY_TYPE(trsm)
BY_TYPE(trmv)
BY_TYPE(trsv)
BY_TYPE(geam)
BY_TYPE(dgmm)
BY_TYPE(axpy)
BY_TYPE(getrfBatched)
BY_TYPE(getriBatched)
BY_TYPE(getrsBatched)
BY_COMPLEX_TYPE(hemm)
BY_COMPLEX_TYPE(herk)
BY_COMPLEX_TYPE(her2k)
BY_COMPLEX_TYPE(herkx)

constexpr int kRounds = 60;

TYPED_TEST(Typed, Gemm) {
  using T = TypeParam;
  for (int round = 0; round < 3 * kRounds; ++round) {
    const bool isLarge = round % 40 == 39;  // cut into tiles
    auto size = [&] { return isLarge ? random(100, 150) : random(0, 70); };
    const int m = size(), n = size(), k = size();
    const auto opA = randomOperation(), opB = randomOperation();
    const auto a = opA == CUBLAS_OP_N ? matrix<T>(m, k) : matrix<T>(k, m);
    const auto b = opB == CUBLAS_OP_N ? matrix<T>(k, n) : matrix<T>(n, k);
    auto c = matrix<T>(m, n);
    const Wide alpha = this->randomScalar(), beta = this->randomScalar();
    if (beta == 0.0) c.fill(NAN);
    const auto before = c.values();
    const T one = narrow<T>(alpha), other = narrow<T>(beta);
    ASSERT_EQ(gemm<T>(this->handle, opA, opB, m, n, k, &one, a.data(), a.leading(), b.data(), b.leading(), &other,
                      c.data(), c.leading()),
              CUBLAS_STATUS_SUCCESS);
    this->template expectNear<T>(
        c, before, k,
        [&](int i, int j) {
          Wide sum = 0;
          for (int l = 0; l < k; ++l) sum += operated(a, opA, i, l) * operated(b, opB, l, j);
          return alpha * sum + (beta == 0.0 ? Wide(0) : beta * before[static_cast<size_t>(i + j * m)]);
        },
        always);
  }
}

TYPED_TEST(Typed, ManyProducts) {
  using T = TypeParam;
  for (int round = 0; round < kRounds / 4; ++round) {
    const int m = random(1, 20), n = random(1, 20), k = random(0, 20), count = random(1, 6);
    // Matrix i is the columns from i * columns on.
    const auto a = matrix<T>(m, k * count), b = matrix<T>(k, n * count);
    auto c = matrix<T>(m, n * count), d = matrix<T>(m, n * count);
    c.fill(NAN), d.fill(NAN);
    const T one = narrow<T>(1.0), zero = narrow<T>(0.0);
    auto steps = [](const Array<T>& of, int columns) { return static_cast<long long>(of.leading()) * columns; };
    ASSERT_EQ(
        gemmStridedBatched<T>(this->handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, a.data(), a.leading(), steps(a, k),
                              b.data(), b.leading(), steps(b, n), &zero, c.data(), c.leading(), steps(c, n), count),
        CUBLAS_STATUS_SUCCESS);
    CUdeviceptr memory = 0;
    ASSERT_EQ(cuMemAllocManaged(&memory, static_cast<size_t>(3 * count) * sizeof(T*), CU_MEM_ATTACH_GLOBAL),
              CUDA_SUCCESS);
    T** pointers = reinterpret_cast<T**>(memory);
    for (int i = 0; i < count; ++i) {
      pointers[i] = a.data() + i * steps(a, k);
      pointers[count + i] = b.data() + i * steps(b, n);
      pointers[2 * count + i] = d.data() + i * steps(d, n);
    }
    ASSERT_EQ(gemmBatched<T>(this->handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, pointers, a.leading(),
                             pointers + count, b.leading(), &zero, pointers + 2 * count, d.leading(), count),
              CUBLAS_STATUS_SUCCESS);
    auto reference = [&](int i, int j) {
      Wide sum = 0;
      for (int l = 0; l < k; ++l) sum += a.get(i, j / n * k + l) * b.get(l, j);
      return sum;
    };
    this->template expectNear<T>(c, {}, k, reference, always);
    this->template expectNear<T>(d, {}, k, reference, always);
    cuMemFree(memory);
  }
}

TYPED_TEST(Typed, Gemv) {
  using T = TypeParam;
  for (int round = 0; round < 3 * kRounds; ++round) {
    const bool isLarge = round % 40 == 39;
    const int m = isLarge ? random(400, 500) : random(0, 70), n = isLarge ? random(300, 400) : random(0, 70);
    const auto op = randomOperation();
    const int rows = op == CUBLAS_OP_N ? m : n, columns = op == CUBLAS_OP_N ? n : m;
    const auto a = matrix<T>(m, n);
    const int incx = random(1, 3) * (random(0, 1) ? 1 : -1), incy = random(1, 3) * (random(0, 1) ? 1 : -1);
    const Array<T> x(1, columns, std::abs(incx));
    Array<T> y(1, rows, std::abs(incy));
    const Wide alpha = this->randomScalar(), beta = this->randomScalar();
    if (beta == 0.0) y.fill(NAN);
    const auto before = y.values();
    const T one = narrow<T>(alpha), other = narrow<T>(beta);
    ASSERT_EQ(gemv<T>(this->handle, op, m, n, &one, a.data(), a.leading(), x.data(), incx, &other, y.data(), incy),
              CUBLAS_STATUS_SUCCESS);
    if (m == 0 || n == 0) continue;
    this->template expectNear<T>(
        y, before, columns,
        [&](int, int place) {
          const int i = incy > 0 ? place : rows - 1 - place;
          Wide sum = 0;
          for (int j = 0; j < columns; ++j) sum += operated(a, op, i, j) * x.get(0, incx > 0 ? j : columns - 1 - j);
          return alpha * sum + (beta == 0.0 ? Wide(0) : beta * before[static_cast<size_t>(place)]);
        },
        always);
  }
}

/// Element (i, j) of a matrix of which one triangle is stored.
template <class T>
Wide symmetric(const Array<T>& a, cublasFillMode_t fill, bool hermitian, int i, int j) {
  const bool isStored = fill == CUBLAS_FILL_MODE_LOWER ? i >= j : i <= j;
  const Wide v = isStored ? a.get(i, j) : a.get(j, i);
  if (!hermitian) return v;
  return i == j ? Wide(v.real()) : isStored ? v : std::conj(v);
}

TYPED_TEST(Typed, SymmetricTimesMatrix) {
  using T = TypeParam;
  for (int round = 0; round < 2 * kRounds; ++round) {
    const bool hermitian = kComplex<T> && round % 2;
    const int m = random(1, 70), n = random(1, 70);
    const bool left = random(0, 1);
    const auto fill = randomFill();
    const auto a = matrix<T>(left ? m : n, left ? m : n), b = matrix<T>(m, n);
    auto c = matrix<T>(m, n);
    const Wide alpha = this->randomScalar(), beta = this->randomScalar();
    if (beta == 0.0) c.fill(NAN);
    const auto before = c.values();
    const T one = narrow<T>(alpha), other = narrow<T>(beta);
    const auto side = left ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT;
    cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
    if constexpr (kComplex<T>) {
      status = (hermitian ? hemm<T, cublasHandle_t, cublasSideMode_t, cublasFillMode_t, int, int, const T*, T*, int, T*,
                                 int, const T*, T*, int>
                          : symm<T, cublasHandle_t, cublasSideMode_t, cublasFillMode_t, int, int, const T*, T*, int, T*,
                                 int, const T*, T*, int>)(this->handle, side, fill, m, n, &one, a.data(), a.leading(),
                                                          b.data(), b.leading(), &other, c.data(), c.leading());
    } else {
      status = symm<T>(this->handle, side, fill, m, n, &one, a.data(), a.leading(), b.data(), b.leading(), &other,
                       c.data(), c.leading());
    }
    ASSERT_EQ(status, CUBLAS_STATUS_SUCCESS);
    this->template expectNear<T>(
        c, before, left ? m : n,
        [&](int i, int j) {
          Wide sum = 0;
          for (int l = 0; l < (left ? m : n); ++l)
            sum += left ? symmetric(a, fill, hermitian, i, l) * b.get(l, j)
                        : b.get(i, l) * symmetric(a, fill, hermitian, l, j);
          return alpha * sum + (beta == 0.0 ? Wide(0) : beta * before[static_cast<size_t>(i + j * m)]);
        },
        always);
  }
}

TYPED_TEST(Typed, RankUpdates) {
  using T = TypeParam;
  using Real = typename RealOf<T>::type;
  for (int round = 0; round < 6 * kRounds; ++round) {
    const int kind = round % 3;  // one matrix, two, two whose product is symmetric
    const bool hermitian = kComplex<T> && random(0, 1), isLarge = round % 120 > 117;
    const int n = isLarge ? 150 : random(1, 70), k = isLarge ? 90 : random(0, 70);
    const auto turned = hermitian ? CUBLAS_OP_C : CUBLAS_OP_T, op = random(0, 1) ? CUBLAS_OP_N : turned;
    const auto fill = randomFill();
    const auto a = op == CUBLAS_OP_N ? matrix<T>(n, k) : matrix<T>(k, n);
    const auto b = op == CUBLAS_OP_N ? matrix<T>(n, k) : matrix<T>(k, n);
    auto c = matrix<T>(n, n);
    Wide alpha = this->randomScalar(), beta = this->randomScalar();
    if (hermitian) beta = beta.real();
    if (hermitian && kind == 0) alpha = alpha.real();
    if (hermitian)
      for (int i = 0; i < n; ++i) c.at(i, i) = narrow<T>(c.get(i, i).real());
    const bool isLower = fill == CUBLAS_FILL_MODE_LOWER;
    auto isStored = [&](int i, int j) { return isLower ? i >= j : i <= j; };
    if (beta == 0.0)
      for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i)
          if (isStored(i, j)) c.at(i, j) = narrow<T>({NAN, NAN});
    const auto before = c.values();
    const T one = narrow<T>(alpha), other = narrow<T>(beta);
    const Real realOne = static_cast<Real>(alpha.real()), realOther = static_cast<Real>(beta.real());
    const int lda = a.leading(), ldb = b.leading(), ldc = c.leading();
    cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
    if constexpr (kComplex<T>) {
      if (hermitian && kind == 0)
        status = herk<T>(this->handle, fill, op, n, k, &realOne, a.data(), lda, &realOther, c.data(), ldc);
      if (hermitian && kind == 1)
        status = her2k<T>(this->handle, fill, op, n, k, &one, a.data(), lda, b.data(), ldb, &realOther, c.data(), ldc);
      if (hermitian && kind == 2)
        status = herkx<T>(this->handle, fill, op, n, k, &one, a.data(), lda, b.data(), ldb, &realOther, c.data(), ldc);
    }
    if (!hermitian && kind == 0)
      status = syrk<T>(this->handle, fill, op, n, k, &one, a.data(), lda, &other, c.data(), ldc);
    if (!hermitian && kind == 1)
      status = syr2k<T>(this->handle, fill, op, n, k, &one, a.data(), lda, b.data(), ldb, &other, c.data(), ldc);
    if (!hermitian && kind == 2)
      status = syrkx<T>(this->handle, fill, op, n, k, &one, a.data(), lda, b.data(), ldb, &other, c.data(), ldc);
    ASSERT_EQ(status, CUBLAS_STATUS_SUCCESS);
    auto product = [&](const Array<T>& x, const Array<T>& y, int i, int j) {
      Wide sum = 0;
      for (int l = 0; l < k; ++l) {
        const Wide right = operated(y, op, j, l);
        sum += operated(x, op, i, l) * (hermitian ? std::conj(right) : right);
      }
      return sum;
    };
    this->template expectNear<T>(
        c, before, 2 * k,
        [&](int i, int j) {
          Wide sum = kind == 0 ? alpha * product(a, a, i, j) : alpha * product(a, b, i, j);
          if (kind == 1) sum += (hermitian ? std::conj(alpha) : alpha) * product(b, a, i, j);
          if (hermitian && i == j) sum = sum.real();
          return sum + (beta == 0.0 ? Wide(0) : beta * before[static_cast<size_t>(i + j * n)]);
        },
        isStored);
  }
}

TYPED_TEST(Typed, Triangular) {
  using T = TypeParam;
  for (int round = 0; round < 3 * kRounds; ++round) {
    const bool isLarge = round % 60 == 59;
    const int m = isLarge ? 120 : random(1, 50), n = isLarge ? 120 : random(1, 50);
    const bool left = random(0, 1), unit = random(0, 1);
    const int order = left ? m : n;
    const auto fill = randomFill();
    const auto op = randomOperation();
    const auto diag = unit ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;
    const auto side = left ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT;
    auto a = matrix<T>(order, order);
    // Well conditioned, and what is not the triangle's must not be read.
    for (int j = 0; j < order; ++j)
      for (int i = 0; i < order; ++i) {
        const bool isStored = fill == CUBLAS_FILL_MODE_LOWER ? i > j : i < j;
        a.at(i, j) = narrow<T>(isStored          ? a.get(i, j) / static_cast<double>(order)
                               : i == j && !unit ? 2.0 + a.get(i, j) / 2.0
                                                 : Wide(NAN, NAN));
      }
    auto entry = [&](int i, int j) {
      if (i == j) return unit ? Wide(1) : op == CUBLAS_OP_C ? std::conj(a.get(i, i)) : a.get(i, i);
      const bool isStored = (fill == CUBLAS_FILL_MODE_LOWER) == (op == CUBLAS_OP_N ? i > j : i < j);
      return isStored ? operated(a, op, i, j) : Wide(0);
    };
    const auto b = matrix<T>(m, n);
    auto c = matrix<T>(m, n);
    const Wide alpha = randomWide(kComplex<T>);
    const T one = narrow<T>(alpha);
    ASSERT_EQ(trmm<T>(this->handle, side, fill, op, diag, m, n, &one, a.data(), a.leading(), b.data(), b.leading(),
                      c.data(), c.leading()),
              CUBLAS_STATUS_SUCCESS);
    auto reference = [&](const Array<T>& of, int i, int j) {
      Wide sum = 0;
      for (int l = 0; l < order; ++l) sum += left ? entry(i, l) * of.get(l, j) : of.get(i, l) * entry(l, j);
      return sum;
    };
    this->template expectNear<T>(c, {}, order, [&](int i, int j) { return alpha * reference(b, i, j); }, always);
    // What solving gives, multiplied again, is what it was given.
    const auto given = c.values();
    ASSERT_EQ(trsm<T>(this->handle, side, fill, op, diag, m, n, &one, a.data(), a.leading(), c.data(), c.leading()),
              CUBLAS_STATUS_SUCCESS);
    this->wait();
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < m; ++i)
        ASSERT_LE(std::abs(reference(c, i, j) - alpha * given[static_cast<size_t>(i + j * m)]),
                  8 * tolerance<T>(order));
    const int step = random(1, 2) * (random(0, 1) ? 1 : -1);
    Array<T> x(1, order, std::abs(step));
    const auto start = x.values();
    ASSERT_EQ(trmv<T>(this->handle, fill, op, diag, order, a.data(), a.leading(), x.data(), step),
              CUBLAS_STATUS_SUCCESS);
    auto place = [&](int i) { return step > 0 ? i : order - 1 - i; };
    this->template expectNear<T>(
        x, start, order,
        [&](int, int at) {
          Wide sum = 0;
          for (int l = 0; l < order; ++l) sum += entry(place(at), l) * start[static_cast<size_t>(place(l))];
          return sum;
        },
        always);
    ASSERT_EQ(trsv<T>(this->handle, fill, op, diag, order, a.data(), a.leading(), x.data(), step),
              CUBLAS_STATUS_SUCCESS);
    this->template expectNear<T>(
        x, start, 8 * order, [&](int, int at) { return start[static_cast<size_t>(at)]; }, always);
  }
}

TYPED_TEST(Typed, SumsAndDiagonals) {
  using T = TypeParam;
  for (int round = 0; round < 2 * kRounds; ++round) {
    const int m = random(1, 70), n = random(1, 70);
    const auto opA = randomOperation(), opB = randomOperation();
    const auto a = opA == CUBLAS_OP_N ? matrix<T>(m, n) : matrix<T>(n, m);
    const auto b = opB == CUBLAS_OP_N ? matrix<T>(m, n) : matrix<T>(n, m);
    auto c = matrix<T>(m, n);
    const Wide alpha = this->randomScalar(), beta = this->randomScalar();
    const T one = narrow<T>(alpha), other = narrow<T>(beta);
    ASSERT_EQ(geam<T>(this->handle, opA, opB, m, n, &one, a.data(), a.leading(), &other, b.data(), b.leading(),
                      c.data(), c.leading()),
              CUBLAS_STATUS_SUCCESS);
    this->template expectNear<T>(
        c, {}, 2, [&](int i, int j) { return alpha * operated(a, opA, i, j) + beta * operated(b, opB, i, j); }, always);
    const bool left = random(0, 1);
    const auto d = matrix<T>(m, n);
    const Array<T> x(1, left ? m : n, 2);
    ASSERT_EQ(dgmm<T>(this->handle, left ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT, m, n, d.data(), d.leading(), x.data(),
                      2, c.data(), c.leading()),
              CUBLAS_STATUS_SUCCESS);
    this->template expectNear<T>(c, {}, 1, [&](int i, int j) { return d.get(i, j) * x.get(0, left ? i : j); }, always);
  }
}

TYPED_TEST(Typed, FactorsInvertAndSolve) {
  using T = TypeParam;
  for (int round = 0; round < kRounds / 3; ++round) {
    const int n = random(1, 40), columns = random(1, 5);
    const bool pivots = random(0, 1);
    auto a = matrix<T>(n, n), b = matrix<T>(n, columns), inverse = matrix<T>(n, n);
    for (int i = 0; i < n; ++i) a.at(i, i) = narrow<T>(a.get(i, i) + 2.0 * n);
    const auto values = a.values(), right = b.values();
    CUdeviceptr memory = 0;
    ASSERT_EQ(cuMemAllocManaged(&memory, 4096, CU_MEM_ATTACH_GLOBAL), CUDA_SUCCESS);
    T** pointers = reinterpret_cast<T**>(memory);
    pointers[0] = a.data(), pointers[1] = inverse.data(), pointers[2] = b.data();
    int *info = reinterpret_cast<int*>(memory + 64), *exchanged = pivots ? info + 4 : nullptr, hostInfo = -7;
    ASSERT_EQ(getrfBatched<T>(this->handle, n, pointers, a.leading(), exchanged, info, 1), CUBLAS_STATUS_SUCCESS);
    ASSERT_EQ(getriBatched<T>(this->handle, n, pointers, a.leading(), exchanged, pointers + 1, inverse.leading(),
                              info + 1, 1),
              CUBLAS_STATUS_SUCCESS);
    ASSERT_EQ(getrsBatched<T>(this->handle, CUBLAS_OP_N, n, columns, pointers, a.leading(), exchanged, pointers + 2,
                              b.leading(), &hostInfo, 1),
              CUBLAS_STATUS_SUCCESS);
    this->wait();
    EXPECT_EQ(info[0], 0);
    EXPECT_EQ(info[1], 0);
    EXPECT_EQ(hostInfo, 0);
    auto times = [&](const Array<T>& with, int i, int j) {
      Wide sum = 0;
      for (int l = 0; l < n; ++l) sum += values[static_cast<size_t>(i + l * n)] * with.get(l, j);
      return sum;
    };
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i) ASSERT_LE(std::abs(times(inverse, i, j) - (i == j ? 1.0 : 0.0)), 4 * tolerance<T>(n));
    for (int j = 0; j < columns; ++j)
      for (int i = 0; i < n; ++i)
        ASSERT_LE(std::abs(times(b, i, j) - right[static_cast<size_t>(i + j * n)]), 8 * tolerance<T>(n));
    cuMemFree(memory);
  }
}

TEST_F(Tests, VectorsOfFloats) {
  for (int round = 0; round < kRounds; ++round) {
    const int n = round % 20 == 19 ? 200000 : random(0, 70);
    const int incx = random(1, 3) * (random(0, 1) ? 1 : -1), incy = random(1, 3);
    const Array<float> x(1, n, std::abs(incx));
    Array<float> y(1, n, incy);
    auto at = [&](int i) { return x.get(0, incx > 0 ? i : n - 1 - i).real(); };
    const auto before = y.values();
    double dot = 0, sum = 0, squares = 0;
    int largest = 0;
    for (int i = 0; i < n; ++i) {
      dot += at(i) * before[static_cast<size_t>(i)].real();
      const double v = std::abs(before[static_cast<size_t>(i)].real());
      sum += v, squares += v * v;
      if (v > std::abs(before[static_cast<size_t>(largest)].real())) largest = i;
    }
    float result = -1;
    int index = -1;
    const double close = 1e-5 * (n + 1);
    EXPECT_EQ(cublasSdot(handle, n, x.data(), incx, y.data(), incy, &result), CUBLAS_STATUS_SUCCESS);
    EXPECT_NEAR(result, dot, close);
    EXPECT_EQ(cublasSasum(handle, n, y.data(), incy, &result), CUBLAS_STATUS_SUCCESS);
    EXPECT_NEAR(result, sum, close);
    EXPECT_EQ(cublasSnrm2(handle, n, y.data(), incy, &result), CUBLAS_STATUS_SUCCESS);
    EXPECT_NEAR(result, std::sqrt(squares), close);
    EXPECT_EQ(cublasIsamax(handle, n, y.data(), incy, &index), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(index, n > 0 ? largest + 1 : 0);
    const float alpha = 0.5f;
    EXPECT_EQ(cublasSaxpy(handle, n, &alpha, x.data(), incx, y.data(), incy), CUBLAS_STATUS_SUCCESS);
    expectNear<float>(y, before, 2, [&](int, int i) { return before[static_cast<size_t>(i)] + 0.5 * at(i); }, always);
  }
}

TEST_F(Tests, ComplexVectors) {
  const int n = 50;
  const Array<cuDoubleComplex> x(1, n, 2), y(1, n, 1);
  Wide plain = 0, conjugate = 0;
  for (int i = 0; i < n; ++i) plain += x.get(0, i) * y.get(0, i), conjugate += std::conj(x.get(0, i)) * y.get(0, i);
  cuDoubleComplex result{};
  EXPECT_EQ(cublasZdotu(handle, n, x.data(), 2, y.data(), 1, &result), CUBLAS_STATUS_SUCCESS);
  EXPECT_LE(std::abs(widen(result) - plain), 1e-13);
  EXPECT_EQ(cublasZdotc(handle, n, x.data(), 2, y.data(), 1, &result), CUBLAS_STATUS_SUCCESS);
  EXPECT_LE(std::abs(widen(result) - conjugate), 1e-13);
}

TEST_F(Tests, LengthsOutOfRangeOfTheirSquares) {
  const Array<double> x(1, 2, 1);
  double length = 0;
  x.at(0, 0) = 3e200, x.at(0, 1) = -4e200;
  EXPECT_EQ(cublasDnrm2(handle, 2, x.data(), 1, &length), CUBLAS_STATUS_SUCCESS);
  EXPECT_NEAR(length / 5e200, 1, 1e-14);
  x.at(0, 0) = 3e-200, x.at(0, 1) = 4e-200;
  EXPECT_EQ(cublasDnrm2(handle, 2, x.data(), 1, &length), CUBLAS_STATUS_SUCCESS);
  EXPECT_NEAR(length / 5e-200, 1, 1e-14);
}

TEST_F(Tests, RotationsMakeZeros) {
  for (int round = 0; round < kRounds; ++round) {
    const double a = randomWide(false).real(), b = round % 5 ? randomWide(false).real() : 0;
    double r = a, z = b, c = 0, s = 0;
    EXPECT_EQ(cublasDrotg(handle, &r, &z, &c, &s), CUBLAS_STATUS_SUCCESS);
    EXPECT_NEAR(c * a + s * b, r, 1e-14);
    EXPECT_NEAR(c * b - s * a, 0, 1e-14);
    // The modified one: diag(d) (x, y) becomes something without a second part.
    double d1 = std::abs(randomWide(false).real()) + 0.1, d2 = std::abs(randomWide(false).real()) + 0.1, x1 = a,
           p[5] = {9, 9, 9, 9, 9};
    const double y1 = b, first = d1 * a * a + d2 * b * b;
    EXPECT_EQ(cublasDrotmg(handle, &d1, &d2, &x1, &y1, p), CUBLAS_STATUS_SUCCESS);
    if (p[0] != -2) EXPECT_NEAR(d1 * x1 * x1, first, 1e-12);
    const Array<double> x(1, 1, 1), y(1, 1, 1);
    x.at(0, 0) = a, y.at(0, 0) = b;
    EXPECT_EQ(cublasDrotm(handle, 1, x.data(), 1, y.data(), 1, p), CUBLAS_STATUS_SUCCESS);
    wait();
    EXPECT_NEAR(y.at(0, 0), 0, 1e-12);
    if (p[0] != -2) EXPECT_NEAR(x.at(0, 0), x1, 1e-12);
  }
}

/// The bits of a number as half precision or bfloat16, cut off.
uint16_t bitsOf(float value, bool half) {
  if (!half) return static_cast<uint16_t>(std::bit_cast<uint32_t>(value) >> 16);
  return __half_raw(__half(value)).x;
}
float valueOf(uint16_t bits, bool half) {
  if (!half) return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
  return static_cast<float>(__half(__half_raw{bits}));
}

TEST_F(Tests, SmallTypes) {
  for (int round = 0; round < kRounds; ++round) {
    const bool half = round % 2, toFloat = round % 3 == 0;
    const int m = random(1, 70), n = random(1, 70), k = random(1, 70);
    const Array<float> a(m, k, m), b(k, n, k);
    Array<float> c(m, n, m);
    CUdeviceptr memory = 0;
    ASSERT_EQ(cuMemAllocManaged(&memory, 1 << 16, CU_MEM_ATTACH_GLOBAL), CUDA_SUCCESS);
    uint16_t *smallA = reinterpret_cast<uint16_t*>(memory), *smallB = smallA + 8192, *smallC = smallB + 8192;
    for (int i = 0; i < m * k; ++i) smallA[i] = bitsOf(a.data()[i], half), a.data()[i] = valueOf(smallA[i], half);
    for (int i = 0; i < k * n; ++i) smallB[i] = bitsOf(b.data()[i], half), b.data()[i] = valueOf(smallB[i], half);
    for (int i = 0; i < m * n; ++i) smallC[i] = half ? 0x7e00 : 0x7fc0;  // NaN
    c.fill(NAN);
    const float one = 1, zero = 0;
    const auto type = half ? CUDA_R_16F : CUDA_R_16BF;
    ASSERT_EQ(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, smallA, type, m, smallB, type, k, &zero,
                           toFloat ? static_cast<void*>(c.data()) : smallC, toFloat ? CUDA_R_32F : type, m,
                           CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
              CUBLAS_STATUS_SUCCESS);
    wait();
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < m; ++i) {
        double sum = 0;
        for (int l = 0; l < k; ++l) sum += static_cast<double>(a.at(i, l)) * static_cast<double>(b.at(l, j));
        const double got = toFloat ? c.at(i, j) : valueOf(smallC[i + j * m], half);
        ASSERT_NEAR(got, sum, toFloat ? 1e-4 : (half ? 6e-4 : 5e-3) * (std::abs(sum) + 1));
      }
    cuMemFree(memory);
  }
}

TEST_F(Tests, BytesAreExact) {
  const int m = 12, n = 20, k = 2000;
  CUdeviceptr memory = 0;
  ASSERT_EQ(cuMemAllocManaged(&memory, 1 << 17, CU_MEM_ATTACH_GLOBAL), CUDA_SUCCESS);
  auto *a = reinterpret_cast<int8_t*>(memory), *b = a + m * k;
  int32_t* c = reinterpret_cast<int32_t*>(b + k * n);
  for (int i = 0; i < m * k; ++i) a[i] = static_cast<int8_t>(random(100, 127));
  for (int i = 0; i < k * n; ++i) b[i] = static_cast<int8_t>(random(-128, -100));
  const int32_t one = 1, two = 2;
  for (int i = 0; i < m * n; ++i) c[i] = i;
  ASSERT_EQ(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, a, CUDA_R_8I, m, b, CUDA_R_8I, k, &two, c,
                         CUDA_R_32I, m, CUBLAS_COMPUTE_32I, CUBLAS_GEMM_DEFAULT),
            CUBLAS_STATUS_SUCCESS);
  wait();
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i) {
      int32_t sum = 2 * (i + j * m);
      for (int l = 0; l < k; ++l) sum += a[i + l * m] * b[l + j * k];
      ASSERT_EQ(c[i + j * m], sum);
    }
  EXPECT_EQ(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, 3, n, k, &one, a, CUDA_R_8I, 3, b, CUDA_R_8I, k, &two, c,
                         CUDA_R_32I, 3, CUBLAS_COMPUTE_32I, CUBLAS_GEMM_DEFAULT),
            CUBLAS_STATUS_NOT_SUPPORTED);
  cuMemFree(memory);
}

TEST_F(Tests, BadArgumentsAreRefused) {
  const Array<float> a(4, 4, 4);
  const float one = 1;
  auto gemm = [&](cublasHandle_t h, int m, int lda, const float* alpha, cublasOperation_t op = CUBLAS_OP_N) {
    return cublasSgemm(h, op, CUBLAS_OP_N, m, 4, 4, alpha, a.data(), lda, a.data(), 4, &one, a.data(), 4);
  };
  EXPECT_EQ(gemm(nullptr, 4, 4, &one), CUBLAS_STATUS_NOT_INITIALIZED);
  EXPECT_EQ(gemm(handle, -1, 4, &one), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(gemm(handle, 4, 3, &one), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(gemm(handle, 4, 4, nullptr), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(gemm(handle, 4, 4, &one, static_cast<cublasOperation_t>(7)), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(gemm(handle, 0, 4, &one), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cublasDestroy(nullptr), CUBLAS_STATUS_NOT_INITIALIZED);
  EXPECT_EQ(cublasSgemv(handle, CUBLAS_OP_N, 4, 4, &one, a.data(), 4, a.data(), 0, &one, a.data(), 1),
            CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_STREQ(cublasGetStatusName(CUBLAS_STATUS_INVALID_VALUE), "CUBLAS_STATUS_INVALID_VALUE");
}

TEST_F(Tests, ScalarsOfTheDeviceAreReadWhenItsTurnComes) {
  CUstream stream = nullptr;
  ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  ASSERT_EQ(cublasSetStream(handle, stream), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE), CUBLAS_STATUS_SUCCESS);
  const Array<float> x(1, 3, 1), y(1, 3, 1), scalars(1, 2, 1);
  x.at(0, 0) = x.at(0, 1) = x.at(0, 2) = 1;
  y.at(0, 0) = y.at(0, 1) = y.at(0, 2) = 10;
  // The sum is alpha of what follows.
  EXPECT_EQ(cublasSasum(handle, 3, x.data(), 1, scalars.data()), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cublasSaxpy(handle, 3, scalars.data(), x.data(), 1, y.data(), 1), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(y.at(0, 2), 13);
  cuStreamDestroy(stream);
}

TEST_F(Tests, CapturedCallsRunAtEveryLaunchWithoutTheirHandle) {
  CUstream stream = nullptr;
  CUgraph graph = nullptr;
  CUgraphExec executable = nullptr;
  ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  cublasHandle_t own = nullptr;
  ASSERT_EQ(cublasCreate(&own), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(cublasSetStream(own, stream), CUBLAS_STATUS_SUCCESS);
  const Array<float> x(1, 1, 1), y(1, 1, 1);
  x.at(0, 0) = 1, y.at(0, 0) = 0;
  ASSERT_EQ(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
  {
    const float alpha = 2;  // gone before the first launch
    EXPECT_EQ(cublasSaxpy(own, 1, &alpha, x.data(), 1, y.data(), 1), CUBLAS_STATUS_SUCCESS);
  }
  ASSERT_EQ(cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphInstantiate(&executable, graph, 0), CUDA_SUCCESS);
  cublasDestroy(own);
  for (int launch = 1; launch <= 3; ++launch) {
    x.at(0, 0) = static_cast<float>(launch);
    ASSERT_EQ(cuGraphLaunch(executable, stream), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  }
  EXPECT_EQ(y.at(0, 0), 12);
  cuGraphExecDestroy(executable);
  cuGraphDestroy(graph);
  // A result for the host cannot come during a capture.
  ASSERT_EQ(cublasSetStream(handle, stream), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
  float result = 0;
  EXPECT_NE(cublasSasum(handle, 1, x.data(), 1, &result), CUBLAS_STATUS_SUCCESS);
  EXPECT_NE(cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
  cuStreamDestroy(stream);
}

}  // namespace
