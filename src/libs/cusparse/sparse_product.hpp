// The product of two sparse matrices, alpha A B + beta C, by rows.
#pragma once

#include "driver/extensions.hpp"
#include "libs/cusparse/rows.hpp"

namespace ordito::cusparse {

struct Product {
  std::vector<int64_t> offsets, columns;
  std::vector<ComplexDouble> values;
  int64_t multiplications = 0;
  bool isTooLarge = false;  // for the host's memory
};

/// Row by row, in an array with a place for each column; columns of a row in order. A matrix C that has entries already
/// is added to.
template <class T>
class SparseProduct {
 public:
  SparseProduct(const cusparseSpMatDescr& a, const cusparseSpMatDescr& b, const cusparseSpMatDescr* c, T alpha, T beta)
      : SparseProduct(a, CUSPARSE_OPERATION_NON_TRANSPOSE, b, CUSPARSE_OPERATION_NON_TRANSPOSE, c, alpha, beta) {}
  SparseProduct(const cusparseSpMatDescr& a, cusparseOperation_t opA, const cusparseSpMatDescr& b,
                cusparseOperation_t opB, const cusparseSpMatDescr* c, T alpha, T beta)
      : left_(rowsOf<T>(a, opA)),
        right_(rowsOf<T>(b, opB)),
        alpha_(alpha),
        beta_(beta),
        sums_(static_cast<size_t>(right_.columns)),
        last_(static_cast<size_t>(right_.columns), -1) {
    if (c) before_ = rowsOf<T>(*c, CUSPARSE_OPERATION_NON_TRANSPOSE);
  }

  /// Whether the host has memory for the result. Where it has none for as many entries as there are multiplications,
  /// the entries are counted.
  bool fits() {
    if (hasRoom(mostEntries())) return true;
    int64_t entries = 0, multiplications = 0, next = int64_t{1} << 20;
    for (int64_t i = 0; i < left_.rows; ++i) {
      gather(i, multiplications);
      entries += static_cast<int64_t>(columns_.size());
      if (entries < next) continue;
      if (!hasRoom(entries)) return false;
      next = 2 * entries;
    }
    std::ranges::fill(last_, -1);
    return hasRoom(entries);
  }

  void compute(Product& product) {
    product = {{0}, {}, {}, 0};
    for (int64_t i = 0; i < left_.rows; ++i) {
      const std::vector<int64_t>& columns = row(i, product.multiplications);
      for (const int64_t j : columns) {
        product.columns.push_back(j);
        product.values.push_back(converted<ComplexDouble>(sums_[static_cast<size_t>(j)]));
      }
      product.offsets.push_back(static_cast<int64_t>(product.columns.size()));
    }
  }

 private:
  void add(int64_t i, int64_t j, T value) {
    const auto at = static_cast<size_t>(j);
    if (last_[at] != i) last_[at] = i, sums_[at] = T(0), columns_.push_back(j);
    sums_[at] += value;
  }
  static bool hasRoom(int64_t entries) {
    constexpr uint64_t kGrowth = 2, kEntry = sizeof(int64_t) + sizeof(ComplexDouble);  // of a vector, of a Product
    return orditoHostHasRoom(static_cast<uint64_t>(entries) * kGrowth * kEntry) != 0;
  }
  int64_t mostEntries() const {
    int64_t most = before_.rows > 0 ? before_.end(before_.rows - 1) - before_.begin(0) : 0;
    for (int64_t i = 0; i < left_.rows; ++i)
      for (int64_t k = left_.begin(i); k < left_.end(i); ++k) {
        const int64_t line = left_.index(k);
        most += right_.end(line) - right_.begin(line);
      }
    return most;
  }
  const std::vector<int64_t>& row(int64_t i, int64_t& multiplications) {
    gather(i, multiplications);
    std::sort(columns_.begin(), columns_.end());
    return columns_;
  }
  /// The columns of a row in no order, and their sums.
  void gather(int64_t i, int64_t& multiplications) {
    columns_.clear();
    for (int64_t k = left_.begin(i); k < left_.end(i); ++k) {
      const int64_t line = left_.index(k);
      const T factor = multiply(alpha_, left_.value(k));
      for (int64_t l = right_.begin(line); l < right_.end(line); ++l, ++multiplications)
        add(i, right_.index(l), multiply(factor, right_.value(l)));
    }
    if (before_.rows > 0)
      for (int64_t k = before_.begin(i); k < before_.end(i); ++k)
        add(i, before_.index(k), beta_ == T(0) ? T(0) : multiply(beta_, before_.value(k)));
  }

  Rows<T> left_, right_, before_;
  T alpha_, beta_;
  std::vector<T> sums_;
  std::vector<int64_t> last_, columns_;  // last_: the row that a column's sum is of
};

/// The matrix with ones for values, which need not be there: for patterns. `ones` has to outlive it.
inline cusparseSpMatDescr patternOf(cusparseSpMatDescr a, std::vector<float>& ones) {
  ones.assign(static_cast<size_t>(a.count), 1.0F);
  a.values = ones.data(), a.type = CUDA_R_32F;
  return a;
}

}  // namespace ordito::cusparse
