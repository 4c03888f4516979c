// cuSPARSE with random matrices of all types and formats, sizes 0 to 40, both index bases, all operations, NaN where
// beta is 0, against dense sums in double; bad arguments; a captured call.
#include <array>
#include <numeric>

#include "libs/cusparse/test_sparse.hpp"

namespace ordito::cublas::test {
namespace {

template <class T, class I>
void timesVector(SparseTyped<T>& test) {
  const Sparse<T, I> a(random(0, 40), random(0, 40), test.format());
  const auto op = test.operation();
  const int m = op == kPlain ? a.rows : a.columns, n = op == kPlain ? a.columns : a.rows;
  const Array<T> x(n, 1, std::max(1, n));
  Array<T> y(m, 1, std::max(1, m));
  const Wide alpha = test.randomScalar(), beta = test.randomScalar();
  if (beta == 0.0) y.fill(NAN);
  const auto before = y.values();
  const T one = narrow<T>(alpha), other = narrow<T>(beta);
  cusparseDnVecDescr_t vx = nullptr, vy = nullptr;
  ASSERT_EQ(cusparseCreateDnVec(&vx, n, x.data(), kType<T>), kGood);
  ASSERT_EQ(cusparseCreateDnVec(&vy, m, y.data(), kType<T>), kGood);
  ASSERT_EQ(
      cusparseSpMV(test.sparse, op, &one, a.descriptor, vx, &other, vy, kType<T>, CUSPARSE_SPMV_ALG_DEFAULT, nullptr),
      kGood);
  // The descriptors may go before the task runs.
  cusparseDestroyDnVec(vx), cusparseDestroyDnVec(vy);
  test.template expectNear<T>(
      y, before, n,
      [&](int i, int) {
        Wide sum = 0;
        for (int j = 0; j < n; ++j) sum += a.get(op, i, j) * x.get(j, 0);
        return alpha * sum + (beta == 0.0 ? Wide(0) : beta * before[static_cast<size_t>(i)]);
      },
      always);
}

TYPED_TEST(SparseTyped, TimesVector) {
  for (int round = 0; round < kRounds; ++round) {
    timesVector<TypeParam, int32_t>(*this);
    timesVector<TypeParam, int64_t>(*this);
  }
}

TYPED_TEST(SparseTyped, TimesMatrix) {
  using T = TypeParam;
  for (int round = 0; round < kRounds; ++round) {
    const Sparse<T> a(random(1, 30), random(1, 30), this->format());
    const auto opA = this->operation(), opB = this->operation();
    const bool byRows = random(0, 1);
    const int m = opA == kPlain ? a.rows : a.columns, k = opA == kPlain ? a.columns : a.rows, n = random(1, 20);
    // Array(i, j) of b is op(B)(i, j) turned as often as operation and order say.
    const bool turned = (opB != kPlain) != byRows;
    const auto b = turned ? matrix<T>(n, k) : matrix<T>(k, n);
    auto c = matrix<T>(m, n);
    const Wide alpha = this->randomScalar(), beta = this->randomScalar();
    if (beta == 0.0) c.fill(NAN);
    const auto before = c.values();
    const T one = narrow<T>(alpha), other = narrow<T>(beta);
    const auto db = describe(b, byRows), dc = describe(c);
    size_t size = 0;
    ASSERT_EQ(cusparseSpMM_bufferSize(this->sparse, opA, opB, &one, a.descriptor, db, &other, dc, kType<T>,
                                      CUSPARSE_SPMM_ALG_DEFAULT, &size),
              kGood);
    ASSERT_EQ(cusparseSpMM(this->sparse, opA, opB, &one, a.descriptor, db, &other, dc, kType<T>,
                           CUSPARSE_SPMM_ALG_DEFAULT, nullptr),
              kGood);
    this->template expectNear<T>(
        c, before, k,
        [&](int i, int j) {
          Wide sum = 0;
          for (int l = 0; l < k; ++l) {
            const Wide v = turned ? b.get(j, l) : b.get(l, j);
            sum += a.get(opA, i, l) * (opB == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE ? std::conj(v) : v);
          }
          return alpha * sum +
                 (beta == 0.0
                      ? Wide(0)
                      : beta * before[static_cast<size_t>(i) + static_cast<size_t>(j) * static_cast<size_t>(m)]);
        },
        always);
    cusparseDestroyDnMat(db), cusparseDestroyDnMat(dc);
  }
}

TYPED_TEST(SparseTyped, TriangularSystems) {
  using T = TypeParam;
  for (int round = 0; round < kRounds; ++round) {
    const int n = random(1, 30), columns = random(1, 5);
    const Sparse<T> a(n, n, this->format(), true);
    int fill = random(0, 1), unit = 0;
    const auto op = this->operation();
    ASSERT_EQ(cusparseSpMatSetAttribute(a.descriptor, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof fill), kGood);
    ASSERT_EQ(cusparseSpMatSetAttribute(a.descriptor, CUSPARSE_SPMAT_DIAG_TYPE, &unit, sizeof unit), kGood);
    const auto b = matrix<T>(n, columns), x = matrix<T>(n, columns);
    const auto db = describe(b), dx = describe(x);
    const T one = narrow<T>(2.0);
    cusparseSpSMDescr_t plan = nullptr;
    ASSERT_EQ(cusparseSpSM_createDescr(&plan), kGood);
    ASSERT_EQ(cusparseSpSM_solve(this->sparse, op, kPlain, &one, a.descriptor, db, dx, kType<T>,
                                 CUSPARSE_SPSM_ALG_DEFAULT, plan),
              kGood);
    const auto rightSide = matrix<T>(n, 1), solution = matrix<T>(n, 1);
    cusparseDnVecDescr_t vb = nullptr, vx = nullptr;
    cusparseCreateDnVec(&vb, n, rightSide.data(), kType<T>), cusparseCreateDnVec(&vx, n, solution.data(), kType<T>);
    cusparseSpSVDescr_t vector = nullptr;
    ASSERT_EQ(cusparseSpSV_createDescr(&vector), kGood);
    ASSERT_EQ(
        cusparseSpSV_solve(this->sparse, op, &one, a.descriptor, vb, vx, kType<T>, CUSPARSE_SPSV_ALG_DEFAULT, vector),
        kGood);
    this->wait();
    for (int i = 0; i < n; ++i) {
      auto product = [&](const Array<T>& of, int j) {
        Wide sum = 0;
        for (int k = 0; k < n; ++k) {
          const bool isStored = op == kPlain ? (fill == 0 ? i >= k : i <= k) : (fill == 0 ? k >= i : k <= i);
          if (isStored) sum += a.get(op, i, k) * of.get(k, j);
        }
        return sum;
      };
      for (int j = 0; j < columns; ++j) ASSERT_LE(std::abs(product(x, j) - 2.0 * b.get(i, j)), 20 * tolerance<T>(n));
      ASSERT_LE(std::abs(product(solution, 0) - 2.0 * rightSide.get(i, 0)), 20 * tolerance<T>(n));
    }
    cusparseSpSM_destroyDescr(plan), cusparseSpSV_destroyDescr(vector);
    cusparseDestroyDnMat(db), cusparseDestroyDnMat(dx), cusparseDestroyDnVec(vb), cusparseDestroyDnVec(vx);
  }
}

TYPED_TEST(SparseTyped, ProductsOfSparseMatricesAndWhatTheyAreDense) {
  using T = TypeParam;
  for (int round = 0; round < kRounds / 2; ++round) {
    const int m = random(1, 30), k = random(1, 30), n = random(1, 30);
    const Sparse<T> a(m, k, CUSPARSE_FORMAT_CSR), b(k, n, CUSPARSE_FORMAT_CSR);
    std::vector<int> offsets(static_cast<size_t>(m) + 1);
    cusparseSpMatDescr_t c = nullptr;
    ASSERT_EQ(cusparseCreateCsr(&c, m, n, 0, offsets.data(), nullptr, nullptr, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                                CUSPARSE_INDEX_BASE_ONE, kType<T>),
              kGood);
    cusparseSpGEMMDescr_t plan = nullptr;
    ASSERT_EQ(cusparseSpGEMM_createDescr(&plan), kGood);
    const T one = narrow<T>(2.0), zero = narrow<T>(0.0);
    size_t size = 0;
    auto compute = [&](void* buffer) {
      return cusparseSpGEMM_compute(this->sparse, kPlain, kPlain, &one, a.descriptor, b.descriptor, &zero, c, kType<T>,
                                    CUSPARSE_SPGEMM_DEFAULT, plan, &size, buffer);
    };
    ASSERT_EQ(compute(nullptr), kGood);
    std::vector<char> buffer(size);
    ASSERT_EQ(compute(buffer.data()), kGood);
    int64_t rows = 0, columns = 0, count = 0;
    ASSERT_EQ(cusparseSpMatGetSize(c, &rows, &columns, &count), kGood);
    std::vector<int> indices(static_cast<size_t>(count));
    std::vector<T> values(static_cast<size_t>(count));
    ASSERT_EQ(cusparseCsrSetPointers(c, offsets.data(), indices.data(), values.data()), kGood);
    ASSERT_EQ(cusparseSpGEMM_copy(this->sparse, kPlain, kPlain, &one, a.descriptor, b.descriptor, &zero, c, kType<T>,
                                  CUSPARSE_SPGEMM_DEFAULT, plan),
              kGood);
    const auto dense = matrix<T>(m, n);
    const auto descriptor = describe(dense);
    ASSERT_EQ(cusparseSparseToDense(this->sparse, c, descriptor, CUSPARSE_SPARSETODENSE_ALG_DEFAULT, &this->room),
              kGood);
    this->template expectNear<T>(
        dense, {}, k,
        [&](int i, int j) {
          Wide sum = 0;
          for (int l = 0; l < k; ++l) sum += a.get(i, l) * b.get(l, j);
          return 2.0 * sum;
        },
        always);
    // And back, by columns.
    std::vector<int> starts(static_cast<size_t>(n) + 1), rowIndices;
    cusparseSpMatDescr_t back = nullptr;
    ASSERT_EQ(cusparseCreateCsc(&back, m, n, 0, starts.data(), nullptr, nullptr, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                                CUSPARSE_INDEX_BASE_ZERO, kType<T>),
              kGood);
    ASSERT_EQ(
        cusparseDenseToSparse_analysis(this->sparse, descriptor, back, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, &this->room),
        kGood);
    ASSERT_EQ(cusparseSpMatGetSize(back, &rows, &columns, &count), kGood);
    rowIndices.resize(static_cast<size_t>(count)), values.resize(static_cast<size_t>(count));
    ASSERT_EQ(cusparseCscSetPointers(back, starts.data(), rowIndices.data(), values.data()), kGood);
    ASSERT_EQ(
        cusparseDenseToSparse_convert(this->sparse, descriptor, back, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, &this->room),
        kGood);
    this->wait();
    for (int j = 0; j < n; ++j)
      for (int at = starts[static_cast<size_t>(j)]; at < starts[static_cast<size_t>(j) + 1]; ++at)
        ASSERT_EQ(widen(values[static_cast<size_t>(at)]), dense.get(rowIndices[static_cast<size_t>(at)], j));
    cusparseDestroySpMat(c), cusparseDestroySpMat(back), cusparseDestroyDnMat(descriptor),
        cusparseSpGEMM_destroyDescr(plan);
  }
}

struct SparseTests : SparseTyped<float> {};

// A result without entries is 0, whatever beta is.
TEST_F(SparseTests, ProductsOfSparseMatricesAreAddedToNothing) {
  const Sparse<float> a(5, 5, CUSPARSE_FORMAT_CSR), b(5, 5, CUSPARSE_FORMAT_CSR);
  std::vector<int> offsets(6);
  cusparseSpMatDescr_t c = nullptr;
  ASSERT_EQ(cusparseCreateCsr(&c, 5, 5, 0, offsets.data(), nullptr, nullptr, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                              CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F),
            kGood);
  cusparseSpGEMMDescr_t plan = nullptr;
  ASSERT_EQ(cusparseSpGEMM_createDescr(&plan), kGood);
  for (const auto mode : {CUSPARSE_POINTER_MODE_HOST, CUSPARSE_POINTER_MODE_DEVICE}) {
    ASSERT_EQ(cusparseSetPointerMode(sparse, mode), kGood);
    for (const float beta : {0.0F, 1.0F}) {
      const float alpha = 1.0F;
      size_t size = 256;
      std::vector<char> buffer(size);
      EXPECT_EQ(cusparseSpGEMM_compute(sparse, kPlain, kPlain, &alpha, a.descriptor, b.descriptor, &beta, c, CUDA_R_32F,
                                       CUSPARSE_SPGEMM_DEFAULT, plan, &size, buffer.data()),
                kGood);
    }
  }
  cusparseDestroySpMat(c), cusparseSpGEMM_destroyDescr(plan);
}

// A column times a row: every entry of the product is there.
TEST_F(SparseTests, ProductsThatDoNotFitIntoTheHostsMemoryAreRefused) {
  constexpr int kSize = 1'000'000;
  std::vector<int> one(kSize + 1), columnIndices(kSize), rowOffsets = {0, kSize}, rowIndices(kSize), offsets(kSize + 1);
  std::iota(one.begin(), one.end(), 0), std::iota(rowIndices.begin(), rowIndices.end(), 0);
  std::vector<float> values(kSize, 1.0F);
  const auto matrix = [&](int rows, int columns, int count, std::vector<int>& starts, int* indices) {
    cusparseSpMatDescr_t made = nullptr;
    EXPECT_EQ(cusparseCreateCsr(&made, rows, columns, count, starts.data(), indices, count ? values.data() : nullptr,
                                CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F),
              kGood);
    return made;
  };
  const cusparseSpMatDescr_t a = matrix(kSize, 1, kSize, one, columnIndices.data());
  const cusparseSpMatDescr_t b = matrix(1, kSize, kSize, rowOffsets, rowIndices.data());
  const cusparseSpMatDescr_t c = matrix(kSize, kSize, 0, offsets, nullptr);
  cusparseSpGEMMDescr_t plan = nullptr;
  ASSERT_EQ(cusparseSpGEMM_createDescr(&plan), kGood);
  const float alpha = 1, beta = 0;
  size_t size = 256;
  std::vector<char> buffer(size);
  EXPECT_EQ(cusparseSpGEMM_compute(sparse, kPlain, kPlain, &alpha, a, b, &beta, c, CUDA_R_32F, CUSPARSE_SPGEMM_DEFAULT,
                                   plan, &size, buffer.data()),
            CUSPARSE_STATUS_INSUFFICIENT_RESOURCES);
  EXPECT_EQ(cusparseSpGEMMreuse_nnz(sparse, kPlain, kPlain, a, b, c, CUSPARSE_SPGEMM_DEFAULT, plan, &size,
                                    buffer.data(), &size, buffer.data(), &size, buffer.data()),
            CUSPARSE_STATUS_INSUFFICIENT_RESOURCES);
  EXPECT_EQ(
      cusparseSpGEMM_copy(sparse, kPlain, kPlain, &alpha, a, b, &beta, c, CUDA_R_32F, CUSPARSE_SPGEMM_DEFAULT, plan),
      CUSPARSE_STATUS_INVALID_VALUE);
  for (const cusparseSpMatDescr_t each : {a, b, c}) cusparseDestroySpMat(each);
  cusparseSpGEMM_destroyDescr(plan);
}

TEST_F(SparseTests, ConversionsAndSorts) {
  for (int round = 0; round < kRounds; ++round) {
    const Sparse<float> a(random(1, 30), random(1, 30), CUSPARSE_FORMAT_CSR);
    const auto base = static_cast<cusparseIndexBase_t>(a.offsets[0]);
    const int count = static_cast<int>(a.values.size()), m = a.rows, n = a.columns;
    std::vector<int> rows(a.values.size()), offsets(a.offsets.size()), starts(static_cast<size_t>(n) + 1),
        indices(rows), permutation(rows);
    std::vector<float> values(a.values.size());
    ASSERT_EQ(cusparseXcsr2coo(sparse, a.offsets.data(), count, m, rows.data(), base), kGood);
    ASSERT_EQ(cusparseXcoo2csr(sparse, rows.data(), count, m, offsets.data(), base), kGood);
    ASSERT_EQ(cusparseCsr2cscEx2(sparse, m, n, count, a.values.data(), a.offsets.data(), a.indices.data(),
                                 values.data(), starts.data(), indices.data(), CUDA_R_32F, CUSPARSE_ACTION_NUMERIC,
                                 base, CUSPARSE_CSR2CSC_ALG1, nullptr),
              kGood);
    // Sorted by columns, entries come as they are in CSC.
    std::vector<int> columns(a.indices);
    ASSERT_EQ(cusparseCreateIdentityPermutation(sparse, count, permutation.data()), kGood);
    ASSERT_EQ(cusparseXcoosortByColumn(sparse, m, n, count, rows.data(), columns.data(), permutation.data(), nullptr),
              kGood);
    wait();
    EXPECT_EQ(offsets, a.offsets);
    EXPECT_EQ(rows, indices);
    for (size_t k = 0; k < values.size(); ++k) ASSERT_EQ(values[k], a.values[static_cast<size_t>(permutation[k])]);
  }
}

TEST_F(SparseTests, BadArgumentsAreRefused) {
  const Sparse<float> a(4, 3, CUSPARSE_FORMAT_CSR);
  const Array<float> x(3, 1, 3), y(4, 1, 4);
  cusparseDnVecDescr_t vx = nullptr, vy = nullptr;
  cusparseCreateDnVec(&vx, 3, x.data(), CUDA_R_32F), cusparseCreateDnVec(&vy, 4, y.data(), CUDA_R_32F);
  const float one = 1;
  auto call = [&](cusparseHandle_t handle, cusparseOperation_t op, const float* alpha) {
    return cusparseSpMV(handle, op, alpha, a.descriptor, vx, &one, vy, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, nullptr);
  };
  EXPECT_EQ(call(nullptr, kPlain, &one), CUSPARSE_STATUS_INVALID_VALUE);
  EXPECT_EQ(call(sparse, kPlain, nullptr), CUSPARSE_STATUS_INVALID_VALUE);
  EXPECT_EQ(call(sparse, CUSPARSE_OPERATION_TRANSPOSE, &one), CUSPARSE_STATUS_INVALID_VALUE);  // sizes do not fit
  EXPECT_EQ(call(sparse, kPlain, &one), kGood);
  EXPECT_EQ(cusparseDestroy(nullptr), CUSPARSE_STATUS_SUCCESS);
  EXPECT_STREQ(cusparseGetErrorName(CUSPARSE_STATUS_ZERO_PIVOT), "CUSPARSE_STATUS_ZERO_PIVOT");
  wait();
  cusparseDestroyDnVec(vx), cusparseDestroyDnVec(vy);
}

// The generic interface has no status of its own for a handle that is not there, and wants its buffers.
TEST_F(SparseTests, MissingHandlesAndBuffersAreInvalidValues) {
  Sparse<float> a(4, 3, CUSPARSE_FORMAT_CSR);
  const Array<float> values(4, 3, 4), other(3, 1, 3);
  const auto dense = describe(values);
  std::vector<int> index{1};
  std::vector<float> value{2};
  const float one = 1;
  float result = 0;
  cusparseSpVecDescr_t x = nullptr;
  cusparseDnVecDescr_t y = nullptr;
  ASSERT_EQ(cusparseCreateSpVec(&x, 3, 1, index.data(), value.data(), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                                CUDA_R_32F),
            kGood);
  ASSERT_EQ(cusparseCreateDnVec(&y, 3, other.data(), CUDA_R_32F), kGood);
  constexpr auto kToDense = CUSPARSE_SPARSETODENSE_ALG_DEFAULT;
  constexpr auto kToSparse = CUSPARSE_DENSETOSPARSE_ALG_DEFAULT;
  for (const cusparseStatus_t status :
       {cusparseScatter(nullptr, x, y), cusparseGather(nullptr, y, x), cusparseAxpby(nullptr, &one, x, &one, y),
        cusparseRot(nullptr, &one, &one, x, y), cusparseSpVV(nullptr, kPlain, x, y, &result, CUDA_R_32F, &room),
        cusparseSparseToDense(nullptr, a.descriptor, dense, kToDense, &room),
        cusparseSparseToDense(sparse, a.descriptor, dense, kToDense, nullptr),
        cusparseDenseToSparse_analysis(nullptr, dense, a.descriptor, kToSparse, &room),
        cusparseDenseToSparse_analysis(sparse, dense, a.descriptor, kToSparse, nullptr),
        cusparseDenseToSparse_convert(sparse, dense, a.descriptor, kToSparse, nullptr)})
    EXPECT_EQ(status, CUSPARSE_STATUS_INVALID_VALUE);
  cusparseDestroySpVec(x), cusparseDestroyDnVec(y), cusparseDestroyDnMat(dense);
}

TEST_F(SparseTests, CapturedCallsRunAtEveryLaunch) {
  CUstream stream = nullptr;
  CUgraph graph = nullptr;
  CUgraphExec executable = nullptr;
  ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  ASSERT_EQ(cusparseSetStream(sparse, stream), kGood);
  int offsets[] = {0, 1}, indices[] = {0};
  float values[] = {2}, x[] = {1}, y[] = {0};
  cusparseSpMatDescr_t a = nullptr;
  cusparseDnVecDescr_t vx = nullptr, vy = nullptr;
  cusparseCreateCsr(&a, 1, 1, 1, offsets, indices, values, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                    CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F);
  cusparseCreateDnVec(&vx, 1, x, CUDA_R_32F), cusparseCreateDnVec(&vy, 1, y, CUDA_R_32F);
  ASSERT_EQ(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
  {
    const float one = 1;  // gone before the first launch
    EXPECT_EQ(cusparseSpMV(sparse, kPlain, &one, a, vx, &one, vy, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, nullptr),
              kGood);
  }
  ASSERT_EQ(cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
  cusparseDestroySpMat(a), cusparseDestroyDnVec(vx), cusparseDestroyDnVec(vy);
  ASSERT_EQ(cuGraphInstantiate(&executable, graph, 0), CUDA_SUCCESS);
  for (int launch = 1; launch <= 3; ++launch) {
    x[0] = static_cast<float>(launch);
    ASSERT_EQ(cuGraphLaunch(executable, stream), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  }
  EXPECT_EQ(y[0], 12);
  cuGraphExecDestroy(executable), cuGraphDestroy(graph), cuStreamDestroy(stream);
}

}  // namespace
}  // namespace ordito::cublas::test
