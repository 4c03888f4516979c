// Calls that leave small elements out of a matrix, and general blocks, by random matrices against plain loops.
#include "cuda_fp16.h"
#include "libs/cusparse/test_sparse.hpp"

namespace ordito::cublas::test {
namespace {

/// A CSR matrix that a count has said the size of.
template <class T>
struct Result {
  std::vector<int> offsets, indices;
  std::vector<T> values;
  int base, total = -1;

  Result(int rows, int from) : offsets(static_cast<size_t>(rows) + 1), base(from) {}
  void allocate(size_t each = 1) {
    indices.resize(static_cast<size_t>(total));
    values.resize(static_cast<size_t>(total) * each);
  }
  /// visit(row, column, number of the entry)
  template <class Visit>
  void each(const Visit& visit) const {
    for (size_t i = 0; i + 1 < offsets.size(); ++i)
      for (int k = offsets[i] - base; k < offsets[i + 1] - base; ++k)
        visit(static_cast<int>(i), indices[static_cast<size_t>(k)] - base, static_cast<size_t>(k));
  }
};

double sizeOf(__half x) { return std::abs(static_cast<double>(static_cast<float>(x))); }
double sizeOf(float x) { return std::abs(static_cast<double>(x)); }
double sizeOf(double x) { return std::abs(x); }

template <class T>
class SparsePruned : public ArrayTests {
 protected:
  cusparseHandle_t sparse_ = nullptr;
  pruneInfo_t info_ = nullptr;
  void SetUp() override {
    ArrayTests::SetUp();
    ASSERT_EQ(cusparseCreate(&sparse_), kGood);
    ASSERT_EQ(cusparseCreatePruneInfo(&info_), kGood);
  }
  void TearDown() override {
    cusparseDestroyPruneInfo(info_);
    cusparseDestroy(sparse_);
    ArrayTests::TearDown();
  }
};
using Pruned = testing::Types<__half, float, double>;
TYPED_TEST_SUITE(SparsePruned, Pruned);

// PRUNED(T, pruneCsr2csr) is cusparseHpruneCsr2csr, cusparseSpruneCsr2csr, cusparseDpruneCsr2csr.
#define PRUNED(T, name)                           \
  [] {                                            \
    if constexpr (std::is_same_v<T, float>)       \
      return cusparseS##name;                     \
    else if constexpr (std::is_same_v<T, double>) \
      return cusparseD##name;                     \
    else                                          \
      return cusparseH##name;                     \
  }()

TYPED_TEST(SparsePruned, WhatIsAboveTheThresholdStays) {
  using T = TypeParam;
  for (int round = 0; round < 20; ++round) {
    const int m = random(1, 12), n = random(1, 12), lda = m + random(0, 3), base = random(0, 1);
    std::vector<T> a(static_cast<size_t>(lda) * static_cast<size_t>(n));
    for (T& x : a) x = static_cast<T>(static_cast<float>(random(-8, 8)) / 4);
    const Descr descr(base);
    const T threshold = static_cast<T>(static_cast<float>(random(0, 6)) / 4);
    const float percentage = static_cast<float>(random(0, 100));
    std::vector<double> all;
    const auto at = [&](int i, int j) { return a[static_cast<unsigned>(i + j * lda)]; };
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < m; ++i) all.push_back(sizeOf(at(i, j)));
    std::sort(all.begin(), all.end());
    const int wanted = static_cast<int>(std::ceil(static_cast<double>(m * n) * static_cast<double>(percentage) / 100));
    const double least = all[static_cast<size_t>(std::max(wanted - 1, 0))];
    const auto check = [&](const Result<T>& result, double limit) {
      std::vector<T> cells(static_cast<size_t>(m) * static_cast<size_t>(n), T(0.0F));
      result.each([&](int i, int j, size_t k) { cells[static_cast<unsigned>(i + j * m)] = result.values[k]; });
      int kept = 0;
      for (int j = 0; j < n; ++j)
        for (int i = 0; i < m; ++i) {
          const bool stays = sizeOf(at(i, j)) > limit;
          kept += stays;
          ASSERT_EQ(sizeOf(cells[static_cast<unsigned>(i + j * m)]), stays ? sizeOf(at(i, j)) : 0);
        }
      ASSERT_EQ(result.total, kept);
    };
    Result<T> by(m, base), part(m, base), again(m, base), whole(m, base);
    size_t bytes = 0;
    ASSERT_EQ(PRUNED(T, pruneDense2csr_bufferSizeExt)(this->sparse_, m, n, a.data(), lda, &threshold, descr, nullptr,
                                                      nullptr, nullptr, &bytes),
              kGood);
    ASSERT_EQ(PRUNED(T, pruneDense2csrNnz)(this->sparse_, m, n, a.data(), lda, &threshold, descr, by.offsets.data(),
                                           &by.total, nullptr),
              kGood);
    by.allocate();
    ASSERT_EQ(PRUNED(T, pruneDense2csr)(this->sparse_, m, n, a.data(), lda, &threshold, descr, by.values.data(),
                                        by.offsets.data(), by.indices.data(), nullptr),
              kGood);
    ASSERT_EQ(PRUNED(T, pruneDense2csrNnzByPercentage)(this->sparse_, m, n, a.data(), lda, percentage, descr,
                                                       part.offsets.data(), &part.total, this->info_, nullptr),
              kGood);
    part.allocate();
    ASSERT_EQ(
        PRUNED(T, pruneDense2csrByPercentage)(this->sparse_, m, n, a.data(), lda, percentage, descr, part.values.data(),
                                              part.offsets.data(), part.indices.data(), this->info_, nullptr),
        kGood);
    // The whole matrix as CSR, pruned.
    const T below = static_cast<T>(-1.0F);
    ASSERT_EQ(PRUNED(T, pruneDense2csrNnz)(this->sparse_, m, n, a.data(), lda, &below, descr, whole.offsets.data(),
                                           &whole.total, nullptr),
              kGood);
    ASSERT_EQ(whole.total, m * n);
    whole.allocate();
    ASSERT_EQ(PRUNED(T, pruneDense2csr)(this->sparse_, m, n, a.data(), lda, &below, descr, whole.values.data(),
                                        whole.offsets.data(), whole.indices.data(), nullptr),
              kGood);
    ASSERT_EQ(PRUNED(T, pruneCsr2csrNnzByPercentage)(this->sparse_, m, n, m * n, descr, whole.values.data(),
                                                     whole.offsets.data(), whole.indices.data(), percentage, descr,
                                                     again.offsets.data(), &again.total, this->info_, nullptr),
              kGood);
    again.allocate();
    ASSERT_EQ(PRUNED(T, pruneCsr2csrByPercentage)(this->sparse_, m, n, m * n, descr, whole.values.data(),
                                                  whole.offsets.data(), whole.indices.data(), percentage, descr,
                                                  again.values.data(), again.offsets.data(), again.indices.data(),
                                                  this->info_, nullptr),
              kGood);
    this->wait();
    check(by, sizeOf(threshold));
    check(part, least);
    check(again, least);
  }
}

TYPED_TEST(SparsePruned, BadArguments) {
  using T = TypeParam;
  const Descr descr(0);
  T a[4]{};
  int offsets[3], total = 0;
  EXPECT_EQ(PRUNED(T, pruneDense2csrNnz)(nullptr, 2, 2, a, 2, a, descr, offsets, &total, nullptr),
            CUSPARSE_STATUS_NOT_INITIALIZED);
  EXPECT_EQ(PRUNED(T, pruneDense2csrNnz)(this->sparse_, 2, 2, a, 1, a, descr, offsets, &total, nullptr),
            CUSPARSE_STATUS_INVALID_VALUE);
  EXPECT_EQ(PRUNED(T, pruneDense2csrNnz)(this->sparse_, 2, 2, a, 2, nullptr, descr, offsets, &total, nullptr),
            CUSPARSE_STATUS_INVALID_VALUE);
  EXPECT_EQ(PRUNED(T, pruneDense2csrNnzByPercentage)(this->sparse_, 2, 2, a, 2, 101, descr, offsets, &total,
                                                     this->info_, nullptr),
            CUSPARSE_STATUS_INVALID_VALUE);
}

TYPED_TEST(SparseTyped, Compressed) {
  using T = TypeParam;
  for (int round = 0; round < kRounds; ++round) {
    const int m = random(1, 20), n = random(1, 20);
    const Csr<T> a(m, n);
    const double least = static_cast<double>(random(0, 8)) / 10;
    std::vector<int> inRows(static_cast<size_t>(m));
    Result<T> c(m, a.base());
    ASSERT_EQ(PICK(T, nnz_compress)(this->sparse, m, a.descr, a.values.data(), a.offsets.data(), inRows.data(),
                                    &c.total, narrow<T>(least)),
              kGood);
    c.allocate();
    ASSERT_EQ(PICK(T, csr2csr_compress)(this->sparse, m, n, a.descr, a.values.data(), a.indices.data(),
                                        a.offsets.data(), a.count(), inRows.data(), c.values.data(), c.indices.data(),
                                        c.offsets.data(), narrow<T>(least)),
              kGood);
    this->wait();
    int kept = 0;
    const double limit = widen(narrow<T>(least)).real();
    std::vector<Wide> cells(static_cast<size_t>(m) * static_cast<size_t>(n));
    c.each([&](int i, int j, size_t k) { cells[a.place(i, j)] = widen(c.values[k]); });
    a.each([&](int i, int j, size_t k) {
      const bool stays = std::abs(widen(a.values[k])) > limit;
      kept += stays;
      ASSERT_EQ(cells[a.place(i, j)], stays ? widen(a.values[k]) : 0.0);
    });
    EXPECT_EQ(c.total, kept);
  }
}

TYPED_TEST(SparseTyped, GeneralBlocks) {
  using T = TypeParam;
  for (int round = 0; round < kRounds; ++round) {
    const int down = random(1, 4), across = random(1, 4), rows = random(1, 6), columns = random(1, 6);
    const int otherDown = random(1, 4), otherAcross = random(1, 4), m = rows * down, n = columns * across;
    const int base = random(0, 1), lines = (m + otherDown - 1) / otherDown;
    const auto direction = static_cast<cusparseDirection_t>(random(0, 1));
    const Csr<T> a(m, n);
    const Descr descr(base);
    Result<T> blocks(rows, base), others(lines, base), turned(columns, base);
    ASSERT_EQ(cusparseXcsr2gebsrNnz(this->sparse, direction, m, n, a.descr, a.offsets.data(), a.indices.data(), descr,
                                    blocks.offsets.data(), down, across, &blocks.total, nullptr),
              kGood);
    blocks.allocate(static_cast<unsigned>(down * across));
    ASSERT_EQ(PICK(T, csr2gebsr)(this->sparse, direction, m, n, a.descr, a.values.data(), a.offsets.data(),
                                 a.indices.data(), descr, blocks.values.data(), blocks.offsets.data(),
                                 blocks.indices.data(), down, across, nullptr),
              kGood);
    ASSERT_EQ(cusparseXgebsr2gebsrNnz(this->sparse, direction, rows, columns, blocks.total, descr,
                                      blocks.offsets.data(), blocks.indices.data(), down, across, descr,
                                      others.offsets.data(), otherDown, otherAcross, &others.total, nullptr),
              kGood);
    others.allocate(static_cast<unsigned>(otherDown * otherAcross));
    ASSERT_EQ(
        PICK(T, gebsr2gebsr)(this->sparse, direction, rows, columns, blocks.total, descr, blocks.values.data(),
                             blocks.offsets.data(), blocks.indices.data(), down, across, descr, others.values.data(),
                             others.offsets.data(), others.indices.data(), otherDown, otherAcross, nullptr),
        kGood);
    turned.total = blocks.total;
    turned.allocate(static_cast<unsigned>(down * across));
    ASSERT_EQ(PICK(T, gebsr2gebsc)(this->sparse, rows, columns, blocks.total, blocks.values.data(),
                                   blocks.offsets.data(), blocks.indices.data(), down, across, turned.values.data(),
                                   turned.indices.data(), turned.offsets.data(), CUSPARSE_ACTION_NUMERIC,
                                   static_cast<cusparseIndexBase_t>(base), nullptr),
              kGood);
    this->wait();
    const auto cells = a.denseValues();
    // Each block's element is the matrix's; what is not in a block is not in the matrix.
    const auto expectBlocks = [&](const Result<T>& b, int d, int w, bool isTurned) {
      size_t seen = 0;
      b.each([&](int line, int column, size_t block) {
        for (int i = 0; i < d; ++i)
          for (int j = 0; j < w; ++j) {
            const int row = (isTurned ? column : line) * d + i, place = (isTurned ? line : column) * w + j;
            const size_t inside = static_cast<unsigned>(direction == CUSPARSE_DIRECTION_ROW ? i * w + j : j * d + i);
            const Wide value = widen(b.values[block * static_cast<unsigned>(d * w) + inside]);
            ASSERT_EQ(value, row < m && place < n ? cells[a.place(row, place)] : 0.0);
            seen += value != 0.0;
          }
      });
      size_t there = 0;
      for (const Wide& value : cells) there += value != 0.0;
      EXPECT_EQ(seen, there);
    };
    expectBlocks(blocks, down, across, false);
    expectBlocks(others, otherDown, otherAcross, false);
    expectBlocks(turned, down, across, true);
    std::vector<int> offsets(static_cast<size_t>(m) + 1), indices(blocks.values.size());
    std::vector<T> values(blocks.values.size());
    ASSERT_EQ(
        PICK(T, gebsr2csr)(this->sparse, direction, rows, columns, descr, blocks.values.data(), blocks.offsets.data(),
                           blocks.indices.data(), down, across, a.descr, values.data(), offsets.data(), indices.data()),
        kGood);
    this->wait();
    for (int i = 0; i < m; ++i)
      for (int k = offsets[static_cast<size_t>(i)] - a.base(); k < offsets[static_cast<size_t>(i) + 1] - a.base();
           ++k) {
        const auto entry = static_cast<size_t>(k);
        ASSERT_EQ(widen(values[entry]), cells[a.place(i, indices[entry] - a.base())]);
      }
  }
}

}  // namespace
}  // namespace ordito::cublas::test
