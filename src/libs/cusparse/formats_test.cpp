// cuSPARSE's formats of blocks and slices, elements of half precision, batches, products of sparse matrices that are
// added to others or computed again, and matrices whose values change between solutions; against dense sums in double.
#include "libs/cusparse/test_sparse.hpp"

namespace ordito::cublas::test {
namespace {

template <class T>
constexpr cudaDataType kElement = std::is_same_v<T, __half>          ? CUDA_R_16F
                                  : std::is_same_v<T, __nv_bfloat16> ? CUDA_R_16BF
                                                                     : kType<T>;
/// The type that sums of T are made in.
template <class T>
using Sum = std::conditional_t<kSmall<T>, float, T>;

/// A random matrix of blocks, most of them 0, in one of the three formats.
template <class T>
struct Blocked {
  Blocked(cusparseFormat_t format, int blockRows, int blockColumns, int height, int width)
      : rows(blockRows * height), columns(blockColumns * width), dense(static_cast<size_t>(rows * columns)) {
    const int base = random(0, 1);
    const auto indexBase = static_cast<cusparseIndexBase_t>(base);
    std::vector<int> pattern;
    for (int k = 0; k < blockRows * blockColumns; ++k) pattern.push_back(random(0, 2) == 0);
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j)
        if (pattern[i / height * blockColumns + j / width]) at(i, j) = widen(narrow<T>(randomWide(kComplex<T>)));
    auto hasBlock = [&](int i, int j) {
      for (int r = 0; r < height; ++r)
        for (int c = 0; c < width; ++c)
          if (at(i * height + r, j * width + c) != 0.0) return true;
      return false;
    };
    if (format == CUSPARSE_FORMAT_BSR) {
      const bool byRows = random(0, 1);
      offsets.push_back(base);
      for (int i = 0; i < blockRows; ++i) {
        for (int j = 0; j < blockColumns; ++j) {
          if (!hasBlock(i, j)) continue;
          indices.push_back(j + base);
          for (int k = 0; k < height * width; ++k) {
            const int r = byRows ? k / width : k % height, c = byRows ? k % width : k / height;
            values.push_back(narrow<T>(at(i * height + r, j * width + c)));
          }
        }
        offsets.push_back(static_cast<int>(indices.size()) + base);
      }
      EXPECT_EQ(
          cusparseCreateBsr(&descriptor, blockRows, blockColumns, static_cast<int64_t>(indices.size()), height, width,
                            offsets.data(), indices.data(), values.data(), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                            indexBase, kElement<T>, byRows ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL),
          kGood);
    } else if (format == CUSPARSE_FORMAT_SLICED_ELLPACK) {
      makeSlices(base);
    } else {
      makeBlockedEll(blockRows, blockColumns, height, base);
    }
  }
  ~Blocked() { cusparseDestroySpMat(descriptor); }
  Blocked(const Blocked&) = delete;
  Blocked& operator=(const Blocked&) = delete;

  Wide& at(int i, int j) { return dense[i * columns + j]; }
  Wide get(int i, int j) const { return dense[i * columns + j]; }

  void makeSlices(int base) {
    const int size = random(1, 5);
    int count = 0;
    offsets.push_back(base);
    for (int first = 0; first < rows; first += size) {
      std::vector<std::vector<int>> of(static_cast<size_t>(size));
      size_t longest = 0;
      for (int i = first; i < std::min(rows, first + size); ++i) {
        auto& row = of[static_cast<size_t>(i - first)];
        for (int j = 0; j < columns; ++j)
          if (get(i, j) != 0.0) row.push_back(j), ++count;
        longest = std::max(longest, row.size());
      }
      for (size_t k = 0; k < longest; ++k)
        for (int i = first; i < first + size; ++i) {
          const auto& row = of[static_cast<size_t>(i - first)];
          indices.push_back(k < row.size() ? row[k] + base : -1);
          values.push_back(k < row.size() ? narrow<T>(get(i, row[k])) : narrow<T>(Wide(NAN, NAN)));
        }
      offsets.push_back(static_cast<int>(indices.size()) + base);
    }
    EXPECT_EQ(cusparseCreateSlicedEll(&descriptor, rows, columns, count, static_cast<int64_t>(values.size()), size,
                                      offsets.data(), indices.data(), values.data(), CUSPARSE_INDEX_32I,
                                      CUSPARSE_INDEX_32I, static_cast<cusparseIndexBase_t>(base), kElement<T>),
              kGood);
  }

  /// All rows of blocks have room for as many blocks as the longest.
  void makeBlockedEll(int blockRows, int blockColumns, int size, int base) {
    std::vector<std::vector<int>> of(static_cast<size_t>(blockRows));
    size_t longest = 0;
    for (int i = 0; i < blockRows; ++i) {
      auto& row = of[static_cast<size_t>(i)];
      for (int j = 0; j < blockColumns; ++j) {
        bool isZero = true;
        for (int k = 0; k < size * size; ++k) isZero &= get(i * size + k / size, j * size + k % size) == 0.0;
        if (!isZero) row.push_back(j);
      }
      longest = std::max(longest, row.size());
    }
    for (const auto& row : of)
      for (size_t k = 0; k < longest; ++k) indices.push_back(k < row.size() ? row[k] + base : -1);
    for (int i = 0; i < rows; ++i)
      for (size_t k = 0; k < longest; ++k)
        for (int j = 0; j < size; ++j) {
          const auto& row = of[static_cast<size_t>(i / size)];
          values.push_back(k < row.size() ? narrow<T>(get(i, row[k] * size + j)) : narrow<T>(Wide(NAN, NAN)));
        }
    EXPECT_EQ(cusparseCreateBlockedEll(&descriptor, rows, columns, size, static_cast<int64_t>(longest) * size,
                                       indices.data(), values.data(), CUSPARSE_INDEX_32I,
                                       static_cast<cusparseIndexBase_t>(base), kElement<T>),
              kGood);
  }

  int rows, columns;
  std::vector<Wide> dense;
  std::vector<int> offsets, indices;
  std::vector<T> values;
  cusparseSpMatDescr_t descriptor = nullptr;
};

template <class T>
struct Formats : ArrayTests {
  void SetUp() override { ASSERT_EQ(cusparseCreate(&sparse), kGood); }
  void TearDown() override { cusparseDestroy(sparse); }
  static cusparseDnMatDescr_t dense(const Array<T>& a) {
    cusparseDnMatDescr_t descriptor = nullptr;
    EXPECT_EQ(
        cusparseCreateDnMat(&descriptor, a.rows(), a.columns(), a.leading(), a.data(), kElement<T>, CUSPARSE_ORDER_COL),
        kGood);
    return descriptor;
  }
  static constexpr cusparseFormat_t kFormats[] = {CUSPARSE_FORMAT_BSR, CUSPARSE_FORMAT_SLICED_ELLPACK,
                                                  CUSPARSE_FORMAT_BLOCKED_ELL};
  cusparseHandle_t sparse = nullptr;
};
using AllTypes = testing::Types<float, double, cuComplex, cuDoubleComplex, __half, __nv_bfloat16>;
TYPED_TEST_SUITE(Formats, AllTypes);

TYPED_TEST(Formats, TimesVectorsAndMatrices) {
  using T = TypeParam;
  for (int round = 0; round < 2 * kRounds; ++round) {
    const cusparseFormat_t format = TestFixture::kFormats[round % 3];
    const int height = random(1, 4), width = format == CUSPARSE_FORMAT_BLOCKED_ELL ? height : random(1, 4);
    Blocked<T> a(format, random(1, 6), random(1, 6), height, width);
    const int columns = random(1, 5);
    const auto b = matrix<T>(a.columns, columns);
    auto c = matrix<T>(a.rows, columns);
    const auto before = c.values();
    const auto one = narrow<Sum<T>>(0.5), other = narrow<Sum<T>>(2.0);
    auto reference = [&](int i, int j) {
      Wide sum = 2.0 * before[i + j * a.rows];
      for (int k = 0; k < a.columns; ++k) sum += 0.5 * a.get(i, k) * b.get(k, j);
      return sum;
    };
    if (round % 2) {
      const auto db = this->dense(b), dc = this->dense(c);
      ASSERT_EQ(cusparseSpMM(this->sparse, kPlain, kPlain, &one, a.descriptor, db, &other, dc, kElement<Sum<T>>,
                             CUSPARSE_SPMM_ALG_DEFAULT, nullptr),
                kGood);
      cusparseDestroyDnMat(db), cusparseDestroyDnMat(dc);
    } else {
      for (int j = 0; j < columns; ++j) {
        cusparseDnVecDescr_t x = nullptr, y = nullptr;
        ASSERT_EQ(cusparseCreateDnVec(&x, a.columns, &b.at(0, j), kElement<T>), kGood);
        ASSERT_EQ(cusparseCreateDnVec(&y, a.rows, &c.at(0, j), kElement<T>), kGood);
        ASSERT_EQ(cusparseSpMV(this->sparse, kPlain, &one, a.descriptor, x, &other, y, kElement<Sum<T>>,
                               CUSPARSE_SPMV_ALG_DEFAULT, nullptr),
                  kGood);
        cusparseDestroyDnVec(x), cusparseDestroyDnVec(y);
      }
    }
    this->template expectNear<T>(c, {}, kSmall<T> ? 4 : a.columns, reference, always);
  }
}

TYPED_TEST(Formats, SampledProductsInBlocks) {
  using T = TypeParam;
  for (int round = 0; round < kRounds / 2; ++round) {
    Blocked<T> c(CUSPARSE_FORMAT_BSR, random(1, 4), random(1, 4), random(1, 3), random(1, 3));
    const int inner = random(1, 10);
    const auto a = matrix<T>(c.rows, inner), b = matrix<T>(inner, c.columns);
    const auto one = narrow<Sum<T>>(1.0), zero = narrow<Sum<T>>(0.0);
    std::fill(c.values.begin(), c.values.end(), narrow<T>(Wide(NAN, NAN)));
    const auto da = this->dense(a), db = this->dense(b);
    ASSERT_EQ(cusparseSDDMM(this->sparse, kPlain, kPlain, &one, da, db, &zero, c.descriptor, kElement<Sum<T>>,
                            CUSPARSE_SDDMM_ALG_DEFAULT, nullptr),
              kGood);
    this->wait();
    // Back into a dense matrix, by a product with the unit matrix.
    Array<T> unit(c.columns, c.columns, c.columns), whole(c.rows, c.columns, c.rows);
    unit.fill(0);
    for (int i = 0; i < c.columns; ++i) unit.at(i, i) = narrow<T>(1.0);
    const auto du = this->dense(unit), dw = this->dense(whole);
    ASSERT_EQ(cusparseSpMM(this->sparse, kPlain, kPlain, &one, c.descriptor, du, &zero, dw, kElement<Sum<T>>,
                           CUSPARSE_SPMM_ALG_DEFAULT, nullptr),
              kGood);
    this->wait();
    for (int i = 0; i < c.rows; ++i)
      for (int j = 0; j < c.columns; ++j) {
        if (c.get(i, j) == 0.0) continue;
        Wide sum = 0;
        for (int k = 0; k < inner; ++k) sum += a.get(i, k) * b.get(k, j);
        ASSERT_LE(std::abs(whole.get(i, j) - sum), tolerance<T>(kSmall<T> ? 4 : inner));
      }
    for (const auto d : {da, db, du, dw}) cusparseDestroyDnMat(d);
  }
}

TYPED_TEST(Formats, BatchesOfOnePattern) {
  using T = TypeParam;
  const int n = 12, count = 3, columns = 2;
  Blocked<T> a(CUSPARSE_FORMAT_BSR, 4, 4, 3, 3);
  const size_t entries = a.values.size();
  std::vector<T> values = a.values;
  for (int i = 1; i < count; ++i)
    for (size_t k = 0; k < entries; ++k) values.push_back(narrow<T>((i + 1.0) * widen(a.values[k])));
  ASSERT_EQ(cusparseSpMatSetValues(a.descriptor, values.data()), kGood);
  ASSERT_EQ(cusparseBsrSetStridedBatch(a.descriptor, count, 0, 0, static_cast<int64_t>(entries)), kGood);
  const Array<T> b(n, columns * count, n), c(n, columns * count, n);
  cusparseDnMatDescr_t db = nullptr, dc = nullptr;
  cusparseCreateDnMat(&db, n, columns, n, b.data(), kElement<T>, CUSPARSE_ORDER_COL);
  cusparseCreateDnMat(&dc, n, columns, n, c.data(), kElement<T>, CUSPARSE_ORDER_COL);
  ASSERT_EQ(cusparseDnMatSetStridedBatch(db, count, n * columns), kGood);
  ASSERT_EQ(cusparseDnMatSetStridedBatch(dc, count, n * columns), kGood);
  const auto one = narrow<Sum<T>>(1.0), zero = narrow<Sum<T>>(0.0);
  ASSERT_EQ(cusparseSpMM(this->sparse, kPlain, kPlain, &one, a.descriptor, db, &zero, dc, kElement<Sum<T>>,
                         CUSPARSE_SPMM_ALG_DEFAULT, nullptr),
            kGood);
  this->template expectNear<T>(
      c, {}, 3 * n,
      [&](int i, int j) {
        Wide sum = 0;
        const int which = j / columns;
        for (int k = 0; k < n; ++k) sum += (which + 1.0) * a.get(i, k) * b.get(k, j);
        return sum;
      },
      always);
  cusparseDestroyDnMat(db), cusparseDestroyDnMat(dc);
}

TYPED_TEST(Formats, BlocksGetTheValuesOfADenseMatrix) {
  using T = TypeParam;
  for (int round = 0; round < kRounds / 3; ++round) {
    const int size = random(1, 4);
    Blocked<T> a(CUSPARSE_FORMAT_BLOCKED_ELL, random(1, 5), random(1, 5), size, size);
    const auto wanted = a.values;
    Array<T> whole(a.rows, a.columns, a.rows + 2);
    for (int j = 0; j < a.columns; ++j)
      for (int i = 0; i < a.rows; ++i) whole.at(i, j) = narrow<T>(a.get(i, j));
    for (T& v : a.values)
      if (!std::isnan(widen(v).real())) v = narrow<T>(7.0);
    const auto dense = this->dense(whole);
    const auto algorithm = CUSPARSE_DENSETOSPARSE_ALG_DEFAULT;
    char room = 0;  // no call needs a buffer, but some want one
    ASSERT_EQ(cusparseDenseToSparse_analysis(this->sparse, dense, a.descriptor, algorithm, &room), kGood);
    ASSERT_EQ(cusparseDenseToSparse_convert(this->sparse, dense, a.descriptor, algorithm, &room), kGood);
    this->wait();
    for (size_t k = 0; k < wanted.size(); ++k)
      if (!std::isnan(widen(wanted[k]).real())) ASSERT_EQ(widen(a.values[k]), widen(wanted[k]));
    whole.fill(3);
    ASSERT_EQ(cusparseSparseToDense(this->sparse, a.descriptor, dense, CUSPARSE_SPARSETODENSE_ALG_DEFAULT, &room),
              kGood);
    this->template expectNear<T>(whole, {}, 0, [&](int i, int j) { return a.get(i, j); }, always);
    cusparseDestroyDnMat(dense);
  }
}

TYPED_TEST(Formats, VectorsWithFewEntriesAreTurnedAndMultiplied) {
  using T = TypeParam;
  const int n = 20;
  std::vector<int> indices{2, 3, 7, 19};
  const int count = static_cast<int>(indices.size());
  Array<T> x(1, count, 1), y(1, n, 1);
  const auto few = x.values(), all = y.values();
  cusparseSpVecDescr_t vx = nullptr;
  cusparseDnVecDescr_t vy = nullptr;
  ASSERT_EQ(cusparseCreateSpVec(&vx, n, count, indices.data(), x.data(), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                                kElement<T>),
            kGood);
  ASSERT_EQ(cusparseCreateDnVec(&vy, n, y.data(), kElement<T>), kGood);
  const auto c = narrow<Sum<T>>(0.6), s = narrow<Sum<T>>(0.8);
  ASSERT_EQ(cusparseRot(this->sparse, &c, &s, vx, vy), kGood);
  auto at = [&](int k) { return static_cast<size_t>(indices[static_cast<size_t>(k)]); };
  this->template expectNear<T>(
      x, {}, 2, [&](int, int k) { return 0.6 * few[static_cast<size_t>(k)] + 0.8 * all[at(k)]; }, always);
  const auto first = x.values(), second = y.values();
  // Captured, with a result of the host's.
  CUstream stream = nullptr;
  CUgraph graph = nullptr;
  CUgraphExec executable = nullptr;
  auto result = narrow<Sum<T>>(0.0);
  ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  ASSERT_EQ(cusparseSetStream(this->sparse, stream), kGood);
  ASSERT_EQ(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
  ASSERT_EQ(cusparseSpVV(this->sparse, kPlain, vx, vy, &result, kElement<Sum<T>>, &result), kGood);
  ASSERT_EQ(cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphInstantiate(&executable, graph, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphLaunch(executable, stream), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  Wide sum = 0;
  for (int k = 0; k < count; ++k) sum += first[static_cast<size_t>(k)] * second[at(k)];
  EXPECT_LE(std::abs(widen(result) - sum), tolerance<T>(count));
  cuGraphExecDestroy(executable), cuGraphDestroy(graph), cuStreamDestroy(stream);
  cusparseDestroySpVec(vx), cusparseDestroyDnVec(vy);
}

/// What both forms of SpGEMM leave.
template <class T>
struct Result {
  Result(int m, int n) : rows(m), columns(n), offsets(static_cast<size_t>(m) + 1) {
    EXPECT_EQ(cusparseCreateCsr(&descriptor, m, n, 0, offsets.data(), nullptr, nullptr, CUSPARSE_INDEX_32I,
                                CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, kType<T>),
              kGood);
  }
  ~Result() { cusparseDestroySpMat(descriptor); }
  Result(const Result&) = delete;
  Result& operator=(const Result&) = delete;
  void allocate() {
    int64_t m = 0, n = 0, count = 0;
    ASSERT_EQ(cusparseSpMatGetSize(descriptor, &m, &n, &count), kGood);
    indices.resize(static_cast<size_t>(count)), values.assign(static_cast<size_t>(count), narrow<T>(Wide(NAN, NAN)));
    ASSERT_EQ(cusparseCsrSetPointers(descriptor, offsets.data(), indices.data(), values.data()), kGood);
  }
  std::vector<Wide> dense() const {
    std::vector<Wide> cells(static_cast<size_t>(rows * columns));
    for (int i = 0; i < rows; ++i)
      for (int k = offsets[static_cast<size_t>(i)]; k < offsets[static_cast<size_t>(i) + 1]; ++k)
        cells[i * columns + indices[static_cast<size_t>(k)]] += widen(values[static_cast<size_t>(k)]);
    return cells;
  }

  int rows, columns;
  std::vector<int> offsets, indices;
  std::vector<T> values;
  cusparseSpMatDescr_t descriptor = nullptr;
};

TYPED_TEST(SparseTyped, ProductsOfSparseMatricesComputedAgain) {
  using T = TypeParam;
  for (int round = 0; round < kRounds / 3; ++round) {
    const int m = random(1, 20), k = random(1, 20), n = random(1, 20);
    Sparse<T> a(m, k, CUSPARSE_FORMAT_CSR), b(k, n, CUSPARSE_FORMAT_CSR);
    Result<T> c(m, n);
    cusparseSpGEMMDescr_t plan = nullptr;
    ASSERT_EQ(cusparseSpGEMM_createDescr(&plan), kGood);
    char buffer[1024];
    size_t first = 0, second = 0, third = 0, fourth = 0, fifth = 0;
    for (void* memory : {static_cast<void*>(nullptr), static_cast<void*>(buffer)}) {
      ASSERT_EQ(cusparseSpGEMMreuse_workEstimation(this->sparse, kPlain, kPlain, a.descriptor, b.descriptor,
                                                   c.descriptor, CUSPARSE_SPGEMM_DEFAULT, plan, &first, memory),
                kGood);
    }
    for (void* memory : {static_cast<void*>(nullptr), static_cast<void*>(buffer)}) {
      ASSERT_EQ(
          cusparseSpGEMMreuse_nnz(this->sparse, kPlain, kPlain, a.descriptor, b.descriptor, c.descriptor,
                                  CUSPARSE_SPGEMM_DEFAULT, plan, &second, memory, &third, memory, &fourth, memory),
          kGood);
    }
    c.allocate();
    for (void* memory : {static_cast<void*>(nullptr), static_cast<void*>(buffer)})
      ASSERT_EQ(cusparseSpGEMMreuse_copy(this->sparse, kPlain, kPlain, a.descriptor, b.descriptor, c.descriptor,
                                         CUSPARSE_SPGEMM_DEFAULT, plan, &fifth, memory),
                kGood);
    auto compute = [&](double alpha, double beta) {
      const T one = narrow<T>(alpha), other = narrow<T>(beta);
      ASSERT_EQ(cusparseSpGEMMreuse_compute(this->sparse, kPlain, kPlain, &one, a.descriptor, b.descriptor, &other,
                                            c.descriptor, kType<T>, CUSPARSE_SPGEMM_DEFAULT, plan),
                kGood);
      this->wait();
    };
    auto expect = [&](double scale) {
      const auto got = c.dense();
      for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j) {
          Wide sum = 0;
          for (int l = 0; l < k; ++l) sum += a.get(i, l) * b.get(l, j);
          ASSERT_LE(std::abs(got[static_cast<size_t>(i * n + j)] - scale * sum), 4 * tolerance<T>(k));
        }
    };
    compute(1, 0);
    expect(1);
    compute(2, 0.5);  // 2 A B + A B / 2
    expect(2.5);
    for (T& v : a.values) v = narrow<T>(-widen(v));
    compute(1, 0);
    expect(-1);
    cusparseSpGEMM_destroyDescr(plan);
  }
}

TYPED_TEST(SparseTyped, ProductsOfSparseMatricesThatAreAddedToOne) {
  using T = TypeParam;
  for (int round = 0; round < kRounds / 3; ++round) {
    const int m = random(1, 20), k = random(1, 20), n = random(1, 20);
    const Sparse<T> a(m, k, CUSPARSE_FORMAT_CSR), b(k, n, CUSPARSE_FORMAT_CSR), before(m, n, CUSPARSE_FORMAT_CSR);
    cusparseSpGEMMDescr_t plan = nullptr;
    ASSERT_EQ(cusparseSpGEMM_createDescr(&plan), kGood);
    const T one = narrow<T>(1.0), other = narrow<T>(3.0);
    char buffer[1024];
    size_t size = 0;
    ASSERT_EQ(cusparseSpGEMM_compute(this->sparse, kPlain, kPlain, &one, a.descriptor, b.descriptor, &other,
                                     before.descriptor, kType<T>, CUSPARSE_SPGEMM_DEFAULT, plan, &size, buffer),
              kGood);
    int64_t rows = 0, columns = 0, count = 0;
    cusparseSpMatGetSize(before.descriptor, &rows, &columns, &count);
    Result<T> c(m, n);
    c.indices.resize(static_cast<size_t>(count)), c.values.resize(static_cast<size_t>(count));
    cusparseCsrSetPointers(c.descriptor, c.offsets.data(), c.indices.data(), c.values.data());
    ASSERT_EQ(cusparseSpGEMM_copy(this->sparse, kPlain, kPlain, &one, a.descriptor, b.descriptor, &other, c.descriptor,
                                  kType<T>, CUSPARSE_SPGEMM_DEFAULT, plan),
              kGood);
    this->wait();
    const auto got = c.dense();
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        Wide sum = 3.0 * before.get(i, j);
        for (int l = 0; l < k; ++l) sum += a.get(i, l) * b.get(l, j);
        ASSERT_LE(std::abs(got[static_cast<size_t>(i * n + j)] - sum), 4 * tolerance<T>(k));
      }
    cusparseSpGEMM_destroyDescr(plan);
  }
}

TYPED_TEST(SparseTyped, SolutionsWithNewValues) {
  using T = TypeParam;
  const int n = 15;
  const Sparse<T> a(n, n, CUSPARSE_FORMAT_CSR, true);
  int fill = CUSPARSE_FILL_MODE_LOWER;
  cusparseSpMatSetAttribute(a.descriptor, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof fill);
  Array<T> b(n, 1, n), x(n, 1, n);
  cusparseDnVecDescr_t vb = nullptr, vx = nullptr;
  cusparseCreateDnVec(&vb, n, b.data(), kType<T>), cusparseCreateDnVec(&vx, n, x.data(), kType<T>);
  cusparseSpSVDescr_t plan = nullptr;
  const T one = narrow<T>(1.0);
  ASSERT_EQ(cusparseSpSV_createDescr(&plan), kGood);
  std::vector<T> diagonal(static_cast<size_t>(n), narrow<T>(5.0));
  EXPECT_EQ(cusparseSpSV_updateMatrix(this->sparse, plan, diagonal.data(), CUSPARSE_SPSV_UPDATE_DIAGONAL),
            CUSPARSE_STATUS_INVALID_VALUE);
  ASSERT_EQ(cusparseSpSV_analysis(this->sparse, kPlain, &one, a.descriptor, vb, vx, kType<T>, CUSPARSE_SPSV_ALG_DEFAULT,
                                  plan, nullptr),
            kGood);
  std::vector<T> doubled = a.values;
  for (T& v : doubled) v = narrow<T>(2.0 * widen(v));
  auto expect = [&](double scale, bool isNewDiagonal) {
    ASSERT_EQ(
        cusparseSpSV_solve(this->sparse, kPlain, &one, a.descriptor, vb, vx, kType<T>, CUSPARSE_SPSV_ALG_DEFAULT, plan),
        kGood);
    this->wait();
    for (int i = 0; i < n; ++i) {
      Wide sum = -b.get(i, 0);
      for (int j = 0; j <= i; ++j) sum += (i == j && isNewDiagonal ? Wide(5) : scale * a.get(i, j)) * x.get(j, 0);
      ASSERT_LE(std::abs(sum), 50 * tolerance<T>(n));
    }
  };
  expect(1, false);
  ASSERT_EQ(cusparseSpSV_updateMatrix(this->sparse, plan, doubled.data(), CUSPARSE_SPSV_UPDATE_GENERAL), kGood);
  expect(2, false);
  ASSERT_EQ(cusparseSpSV_updateMatrix(this->sparse, plan, diagonal.data(), CUSPARSE_SPSV_UPDATE_DIAGONAL), kGood);
  expect(2, true);
  cusparseSpSV_destroyDescr(plan);
  cusparseDestroyDnVec(vb), cusparseDestroyDnVec(vx);
}

}  // namespace
}  // namespace ordito::cublas::test
