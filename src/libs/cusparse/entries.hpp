// The entries of a dense matrix that are not 0: counting them, and bringing them into a sparse format; and back.
#pragma once

#include "libs/cusparse/rows.hpp"

namespace ordito::cusparse {

/// Calls body(i, j) for each element in the order of the format: by columns (CSC) or by rows.
template <class Body>
void eachInOrder(const cusparseSpMatDescr& b, const Body& body) {
  const bool byRows = b.format != CUSPARSE_FORMAT_CSC;
  for (int64_t line = 0; line < (byRows ? b.rows : b.columns); ++line)
    for (int64_t at = 0; at < (byRows ? b.columns : b.rows); ++at) byRows ? body(line, at) : body(at, line);
}

template <class T>
bool isZero(const T& value) {
  if constexpr (cublas::kHasBits<T>)
    return cublas::widen(value) == 0;
  else
    return value == T(0);
}

/// Writes the offsets of lines, which the count of entries comes from.
template <class T>
int64_t countEntries(const cusparseDnMatDescr& a, const cusparseSpMatDescr& b) {
  const Layout from(a);
  int64_t count = 0, lines = 0;
  const bool byRows = b.format != CUSPARSE_FORMAT_CSC, hasOffsets = b.format != CUSPARSE_FORMAT_COO;
  eachInOrder(b, [&](int64_t i, int64_t j) {
    for (; hasOffsets && lines <= (byRows ? i : j); ++lines) storeIndex(b.offsets, b.offsetType, lines, count + b.base);
    if (!isZero(static_cast<const T*>(a.values)[from.at(i, j)])) ++count;
  });
  for (; hasOffsets && lines <= (byRows ? b.rows : b.columns); ++lines)
    storeIndex(b.offsets, b.offsetType, lines, count + b.base);
  return count;
}

template <class T>
void copyEntries(const cusparseDnMatDescr& a, const cusparseSpMatDescr& b) {
  const Layout from(a);
  int64_t k = 0;
  eachInOrder(b, [&](int64_t i, int64_t j) {
    const T value = static_cast<const T*>(a.values)[from.at(i, j)];
    if (isZero(value) || k >= b.count) return;
    if (b.format == CUSPARSE_FORMAT_COO) storeIndex(b.offsets, b.offsetType, k, i + b.base);
    storeIndex(b.indices, b.indexType, k, (b.format == CUSPARSE_FORMAT_CSC ? i : j) + b.base);
    static_cast<T*>(b.values)[k++] = value;
  });
}

/// All of a sparse matrix, with zeros, in the handle's stream.
cusparseStatus_t bringToDense(cusparseHandle_t handle, const cusparseSpMatDescr& a, const cusparseDnMatDescr& b);

}  // namespace ordito::cusparse
