// SpGEAM, the sum of two sparse matrices by the generic interface, against sums of their dense twins.
#include "libs/cusparse/test_sparse.hpp"

using namespace ordito::cublas::test;

namespace {

template <class T>
struct Sum {
  cusparseHandle_t handle;
  cusparseOperation_t opA, opB;
  T alpha, beta;
  cusparseSpMatDescr_t a, b, c = nullptr;
  cusparseSpGEAMDescr_t descriptor = nullptr;

  cusparseStatus_t size(size_t* bytes) {
    return cusparseSpGEAM_bufferSize(handle, opA, opB, &alpha, a, &beta, b, c, kType<T>, CUSPARSE_SPGEAM_ALG_DEFAULT,
                                     descriptor, bytes);
  }
  cusparseStatus_t count(void* buffer) {
    return cusparseSpGEAM_nnz(handle, opA, opB, &alpha, a, &beta, b, c, kType<T>, CUSPARSE_SPGEAM_ALG_DEFAULT,
                              descriptor, buffer);
  }
  cusparseStatus_t add(void* buffer) {
    return cusparseSpGEAM(handle, opA, opB, &alpha, a, &beta, b, c, kType<T>, CUSPARSE_SPGEAM_ALG_DEFAULT, descriptor,
                          buffer);
  }
};

TYPED_TEST(SparseTyped, GenericSums) {
  using T = TypeParam;
  for (int round = 0; round < kRounds; ++round) {
    const int m = random(0, 20), n = random(0, 20), base = random(0, 1);
    const auto opA = this->operation(), opB = this->operation();
    const Sparse<T> a(opA == kPlain ? m : n, opA == kPlain ? n : m, this->format());
    const Sparse<T, int64_t> b(opB == kPlain ? m : n, opB == kPlain ? n : m, this->format());
    Sum<T> sum{this->sparse, opA, opB, narrow<T>(random(0, 2)), narrow<T>(random(0, 2)), a.descriptor, b.descriptor};
    std::vector<int64_t> offsets(static_cast<size_t>(m) + 1);
    ASSERT_EQ(cusparseCreateCsr(&sum.c, m, n, 0, offsets.data(), nullptr, nullptr, CUSPARSE_INDEX_64I,
                                CUSPARSE_INDEX_64I, static_cast<cusparseIndexBase_t>(base), kType<T>),
              kGood);
    ASSERT_EQ(cusparseSpGEAM_createDescr(&sum.descriptor), kGood);
    size_t bytes = 0;
    ASSERT_EQ(sum.size(&bytes), kGood);
    ASSERT_EQ(sum.count(&this->room), kGood);
    int64_t rows = 0, columns = 0, count = -1;
    ASSERT_EQ(cusparseSpMatGetSize(sum.c, &rows, &columns, &count), kGood);
    std::vector<int64_t> indices(static_cast<size_t>(count) + 1);
    std::vector<T> values(static_cast<size_t>(count) + 1);
    ASSERT_EQ(cusparseCsrSetPointers(sum.c, offsets.data(), indices.data(), values.data()), kGood);
    ASSERT_EQ(sum.add(&this->room), kGood);
    this->wait();
    // A column is there where a matrix whose factor is not 0 has an entry.
    std::vector<Wide> wanted(static_cast<size_t>(m) * static_cast<size_t>(n));
    std::vector<bool> isStored(wanted.size());
    const auto placeOf = [n](int i, int j) {
      return static_cast<size_t>(i) * static_cast<size_t>(n) + static_cast<size_t>(j);
    };
    const auto addTerm = [&](const auto& matrix, cusparseOperation_t op, Wide factor) {
      if (factor == Wide(0)) return;
      matrix.eachStored([&](int i, int j, Wide value) {
        if (op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE) value = std::conj(value);
        const size_t at = op == kPlain ? placeOf(i, j) : placeOf(j, i);
        wanted[at] += factor * value, isStored[at] = true;
      });
    };
    addTerm(a, opA, widen(sum.alpha)), addTerm(b, opB, widen(sum.beta));
    int64_t k = 0;
    for (int i = 0; i < m; ++i) {
      ASSERT_EQ(offsets[static_cast<size_t>(i)], k + base);
      for (int j = 0; j < n; ++j) {
        const size_t at = placeOf(i, j);
        if (!isStored[at]) continue;
        ASSERT_LT(k, count);
        ASSERT_EQ(indices[static_cast<size_t>(k)], j + base);
        ASSERT_LE(std::abs(widen(values[static_cast<size_t>(k++)]) - wanted[at]), tolerance<T>(4));
      }
    }
    ASSERT_EQ(k, count);
    cusparseSpGEAM_destroyDescr(sum.descriptor), cusparseDestroySpMat(sum.c);
  }
}

TYPED_TEST(SparseTyped, GenericSumsRefuseBadArguments) {
  using T = TypeParam;
  const Sparse<T> a(4, 3, CUSPARSE_FORMAT_CSR), b(3, 4, CUSPARSE_FORMAT_CSR);
  Sparse<T> c(4, 3, CUSPARSE_FORMAT_CSR);
  Sum<T> sum{this->sparse, kPlain, kPlain, narrow<T>(1), narrow<T>(1), a.descriptor, b.descriptor, c.descriptor};
  ASSERT_EQ(cusparseSpGEAM_createDescr(&sum.descriptor), kGood);
  EXPECT_EQ(sum.count(&this->room), CUSPARSE_STATUS_INVALID_VALUE);  // sizes do not fit
  sum.opB = CUSPARSE_OPERATION_TRANSPOSE;
  EXPECT_EQ(sum.count(&this->room), kGood);
  sum.handle = nullptr;
  EXPECT_EQ(sum.add(&this->room), CUSPARSE_STATUS_INVALID_VALUE);
  EXPECT_EQ(cusparseSpGEAM_createDescr(nullptr), CUSPARSE_STATUS_INVALID_VALUE);
  cusparseSpGEAM_destroyDescr(sum.descriptor);
}

}  // namespace
