// Matrices as the algorithms of cuSPARSE see them: sparse ones by rows whatever their format and operation, values in
// the type of the sums, indices from 0.
//
// What is in that form already is used in place; the rest is brought into it with counting sorts, linear in the number
// of entries, which keep the order of the entries of a row, so that sums do not depend on the number of threads.
#pragma once

#include <algorithm>
#include <vector>

#include "libs/cublas/vectors.hpp"
#include "libs/cusparse/descriptors.hpp"

namespace ordito::cusparse {

using cublas::multiply;

inline bool isTurned(cusparseOperation_t op) { return op != CUSPARSE_OPERATION_NON_TRANSPOSE; }

/// May C be op(A) op(B)?
template <class A, class B, class C>
bool fitsProduct(const A& a, cusparseOperation_t opA, const B& b, cusparseOperation_t opB, const C& c) {
  return (isTurned(opA) ? a.columns : a.rows) == c.rows &&
         (isTurned(opA) ? a.rows : a.columns) == (isTurned(opB) ? b.columns : b.rows) &&
         (isTurned(opB) ? b.rows : b.columns) == c.columns;
}

/// Indices of 32 or 64 bits, less their base.
class Indices {
 public:
  Indices(const void* data, cusparseIndexType_t type, int64_t base)
      : data_(data), isWide_(type == CUSPARSE_INDEX_64I), base_(base) {}
  int64_t operator[](int64_t i) const {
    return (isWide_ ? static_cast<const int64_t*>(data_)[i] : static_cast<const int32_t*>(data_)[i]) - base_;
  }

 private:
  const void* data_;
  bool isWide_;
  int64_t base_;
};

/// Writes an index with its base.
inline void storeIndex(void* data, cusparseIndexType_t type, int64_t i, int64_t value) {
  if (type == CUSPARSE_INDEX_64I)
    static_cast<int64_t*>(data)[i] = value;
  else
    static_cast<int32_t*>(data)[i] = static_cast<int32_t>(value);
}

/// An array of any type as one of T: itself, or a copy.
template <class T>
class Values {
 public:
  Values(const void* array, cudaDataType type, int64_t count) {
    withElement(type, [&](auto element) {
      using E = decltype(element);
      const E* from = static_cast<const E*>(array);
      if constexpr (std::is_same_v<E, T>) {
        data_ = from;
      } else {
        own_.resize(static_cast<size_t>(count));
        std::transform(from, from + count, own_.begin(), [](E value) { return converted<T>(value); });
        data_ = own_.data();
      }
    });
  }
  Values(const Values&) = delete;
  Values& operator=(const Values&) = delete;
  const T& operator[](int64_t i) const { return data_[i]; }
  const T* data() const { return data_; }

 private:
  std::vector<T> own_;
  const T* data_ = nullptr;
};

/// The rows of op(A).
template <class T>
struct Rows {
  int64_t rows = 0, columns = 0;
  std::vector<int64_t> offsets{0}, indices;
  std::vector<T> values;

  int64_t begin(int64_t row) const { return offsets[static_cast<size_t>(row)]; }
  int64_t end(int64_t row) const { return offsets[static_cast<size_t>(row) + 1]; }
  int64_t index(int64_t k) const { return indices[static_cast<size_t>(k)]; }
  T value(int64_t k) const { return values[static_cast<size_t>(k)]; }
};

/// Blocks of a blocked ELLPACK matrix have their values by columns of the block row, that is, the whole array has the
/// shape rows x count, by rows.
template <class Body>
void eachOfBlockedEll(const cusparseSpMatDescr& a, const Indices& indices, const Body& body) {
  const int64_t size = a.blockSize, width = a.count / size;
  for (int64_t row = 0; row < a.rows; ++row)
    for (int64_t block = 0; block < width; ++block) {
      const int64_t column = indices[row / size * width + block];
      if (column < 0) continue;  // padding
      for (int64_t i = 0; i < size; ++i) body(row, column * size + i, row * a.count + block * size + i);
    }
}
template <class Body>
void eachOfBlocks(const cusparseSpMatDescr& a, const Indices& offsets, const Indices& indices, const Body& body) {
  const int64_t height = a.blockSize, width = a.blockColumns;
  const bool byRows = a.order == CUSPARSE_ORDER_ROW;
  for (int64_t row = 0; row < a.rows; ++row)
    for (int64_t block = offsets[row / height]; block < offsets[row / height + 1]; ++block)
      for (int64_t j = 0; j < width; ++j) {
        const int64_t i = row % height;
        body(row, indices[block] * width + j, block * height * width + (byRows ? i * width + j : j * height + i));
      }
}
/// A slice has its values by columns; rows that are shorter than the slice's longest end in columns of -1.
template <class Body>
void eachOfSlices(const cusparseSpMatDescr& a, const Indices& offsets, const Indices& indices, const Body& body) {
  for (int64_t row = 0; row < a.rows; ++row) {
    const int64_t slice = row / a.blockSize;
    for (int64_t k = offsets[slice] + row % a.blockSize; k < offsets[slice + 1]; k += a.blockSize)
      if (indices[k] >= 0) body(row, indices[k], k);
  }
}

/// Calls body(row, column, place) for each entry in the order of the matrix's arrays.
template <class Body>
void eachEntry(const cusparseSpMatDescr& a, const Body& body) {
  const Indices offsets(a.offsets, a.offsetType, a.base), indices(a.indices, a.indexType, a.base);
  if (a.format == CUSPARSE_FORMAT_BLOCKED_ELL) return eachOfBlockedEll(a, indices, body);
  if (a.format == CUSPARSE_FORMAT_BSR) return eachOfBlocks(a, offsets, indices, body);
  if (a.format == CUSPARSE_FORMAT_SLICED_ELLPACK) return eachOfSlices(a, offsets, indices, body);
  if (a.format == CUSPARSE_FORMAT_COO) {
    for (int64_t k = 0; k < a.count; ++k) body(offsets[k], indices[k], k);
    return;
  }
  const bool byRows = a.format == CUSPARSE_FORMAT_CSR;
  for (int64_t line = 0; line < (byRows ? a.rows : a.columns); ++line)
    for (int64_t k = offsets[line]; k < offsets[line + 1]; ++k)
      byRows ? body(line, indices[k], k) : body(indices[k], line, k);
}

/// How many values the matrix's array has.
inline int64_t storedCount(const cusparseSpMatDescr& a) {
  switch (a.format) {
    case CUSPARSE_FORMAT_BLOCKED_ELL: return a.rows * a.count;
    case CUSPARSE_FORMAT_BSR: return a.count * a.blockSize * a.blockColumns;
    case CUSPARSE_FORMAT_SLICED_ELLPACK: return a.stored;
    default: return a.count;
  }
}

template <class T>
Rows<T> rowsOf(const cusparseSpMatDescr& a, cusparseOperation_t op) {
  const bool turned = isTurned(op);
  Rows<T> result;
  result.rows = turned ? a.columns : a.rows;
  result.columns = turned ? a.rows : a.columns;
  result.offsets.assign(static_cast<size_t>(result.rows) + 1, 0);
  eachEntry(a, [&](int64_t i, int64_t j, int64_t) { ++result.offsets[static_cast<size_t>(turned ? j : i) + 1]; });
  for (size_t i = 1; i < result.offsets.size(); ++i) result.offsets[i] += result.offsets[i - 1];
  const size_t count = static_cast<size_t>(result.offsets.back());
  result.indices.resize(count), result.values.resize(count);
  const Values<T> values(a.values, a.type, storedCount(a));
  std::vector<int64_t> next = result.offsets;
  eachEntry(a, [&](int64_t i, int64_t j, int64_t k) {
    const size_t at = static_cast<size_t>(next[static_cast<size_t>(turned ? j : i)]++);
    result.indices[at] = turned ? i : j;
    result.values[at] = op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE ? cublas::conjugateIf<true>(values[k]) : values[k];
  });
  return result;
}

/// Where a dense matrix has its elements; op(A) if it is turned.
struct Layout {
  int64_t rows, columns, down, right;

  Layout(const cusparseDnMatDescr& a, cusparseOperation_t op = CUSPARSE_OPERATION_NON_TRANSPOSE)
      : rows(a.rows), columns(a.columns), down(1), right(a.leading) {
    if (a.order == CUSPARSE_ORDER_ROW) std::swap(down, right);
    if (!isTurned(op)) return;
    std::swap(rows, columns), std::swap(down, right);
  }
  int64_t at(int64_t i, int64_t j) const { return i * down + j * right; }
  /// How many elements there are from the first to the last.
  int64_t extent() const { return rows > 0 && columns > 0 ? at(rows - 1, columns - 1) + 1 : 0; }
};

/// op(A) for reading.
template <class T>
class Dense {
 public:
  Dense(const cusparseDnMatDescr& a, cusparseOperation_t op = CUSPARSE_OPERATION_NON_TRANSPOSE)
      : layout_(a, op),
        isConjugate_(op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE),
        values_(a.values, a.type, layout_.extent()) {}
  T at(int64_t i, int64_t j) const {
    const T value = values_[layout_.at(i, j)];
    return isConjugate_ ? cublas::conjugateIf<true>(value) : value;
  }

 private:
  Layout layout_;
  bool isConjugate_;
  Values<T> values_;
};

/// One of the matrices that a descriptor means.
inline cusparseSpMatDescr ofBatch(cusparseSpMatDescr a, int batch) {
  if (a.batches <= 1) return a;
  const int64_t offsetSize = a.offsetType == CUSPARSE_INDEX_64I ? 8 : 4;
  const int64_t indexSize = a.indexType == CUSPARSE_INDEX_64I ? 8 : 4;
  auto moved = [batch](void* from, int64_t bytes) { return static_cast<char*>(from) + batch * bytes; };
  a.offsets = moved(a.offsets, a.offsetStep * offsetSize);
  a.indices = moved(a.indices, a.entryStep * indexSize);
  const int64_t valueStep = a.hasEntrySteps() ? a.entryStep : a.valueStep;
  a.values = moved(a.values, valueStep * static_cast<int64_t>(sizeOf(a.type)));
  return a;
}
inline cusparseDnMatDescr ofBatch(cusparseDnMatDescr a, int batch) {
  if (a.batches > 1) a.values = static_cast<char*>(a.values) + batch * a.step * static_cast<int64_t>(sizeOf(a.type));
  return a;
}

/// body(begin, end) for all rows, in parts on all threads if there is much to do.
template <class Body>
void inRows(int64_t rows, int64_t work, const Body& body) {
  const int64_t parts = work < cublas::kChunk ? 1 : std::min<int64_t>(rows, 8 * libs::parallelThreads());
  if (parts < 2) return body(int64_t{0}, rows);
  libs::parallelFor(static_cast<unsigned>(parts),
                    [&](unsigned part) { body(rows * part / parts, rows * (part + 1) / parts); });
}
/// body(i) for each row.
template <class Body>
void eachRow(int64_t rows, int64_t work, const Body& body) {
  inRows(rows, work, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) body(i);
  });
}

}  // namespace ordito::cusparse
