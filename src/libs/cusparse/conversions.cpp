// cuSPARSE's conversions between formats, sparse and dense, and the sorts that bring entries into order.
#include <numeric>

#include "libs/cusparse/entries.hpp"

namespace ordito::cusparse {
namespace {

bool fit(cusparseConstDnMatDescr_t dense, cusparseConstSpMatDescr_t sparse) {
  return dense->rows == sparse->rows && dense->columns == sparse->columns && dense->type == sparse->type;
}

/// Brings `keys`, the values that belong to them and a permutation into the order of less(k, l).
template <class Less>
void sortTogether(int count, const Less& less, std::initializer_list<int*> arrays) {
  std::vector<int> order(static_cast<size_t>(count)), before(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  // Equal ones stay as they were.
  std::sort(order.begin(), order.end(), [&](int k, int l) { return less(k, l) || (!less(l, k) && k < l); });
  for (int* array : arrays) {
    if (!array) continue;
    std::copy_n(array, count, before.begin());
    for (size_t i = 0; i < order.size(); ++i) array[i] = before[static_cast<size_t>(order[i])];
  }
}

cusparseStatus_t sortCoo(cusparseHandle_t handle, int count, int* first, int* second, int* permutation) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(count >= 0 && (count == 0 || (first && second)));
  return submit(handle, "cusparseXcoosort", [=] {
    sortTogether(count, [=](int k, int l) { return std::pair(first[k], second[k]) < std::pair(first[l], second[l]); },
                 {second, permutation, first});
  });
}

cusparseStatus_t sortLines(cusparseHandle_t handle, int lines, int count, const cusparseMatDescr_t descriptor,
                           const int* offsets, int* indices, int* permutation) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(lines >= 0 && count >= 0 && descriptor && offsets && (count == 0 || indices));
  return submit(handle, "cusparseXcsrsort", [=, base = static_cast<int>(descriptor->base)] {
    for (int i = 0; i < lines; ++i) {
      const int begin = offsets[i] - base;
      int* own = indices + begin;
      sortTogether(offsets[i + 1] - base - begin, [=](int k, int l) { return own[k] < own[l]; },
                   {permutation ? permutation + begin : nullptr, own});
    }
  });
}

/// Blocks and slices stand where the program has put them, and only get values.
bool hasOwnPattern(const cusparseSpMatDescr& a) {
  return a.format == CUSPARSE_FORMAT_BLOCKED_ELL || a.format == CUSPARSE_FORMAT_BSR ||
         a.format == CUSPARSE_FORMAT_SLICED_ELLPACK;
}

}  // namespace

cusparseStatus_t bringToDense(cusparseHandle_t handle, const cusparseSpMatDescr& a, const cusparseDnMatDescr& b) {
  return submit(handle, "cusparseSparseToDense", [=] {
    withElement(a.type, [&](auto zero) {
      using E = decltype(zero);
      const Layout to(b);
      E* values = static_cast<E*>(b.values);
      for (int64_t j = 0; j < b.columns; ++j)
        for (int64_t i = 0; i < b.rows; ++i) values[to.at(i, j)] = E{};
      eachEntry(a, [&](int64_t i, int64_t j, int64_t k) { values[to.at(i, j)] = static_cast<const E*>(a.values)[k]; });
    });
  });
}

extern "C" {

cusparseStatus_t cusparseSparseToDense_bufferSize(cusparseHandle_t handle, cusparseConstSpMatDescr_t a,
                                                  cusparseDnMatDescr_t b, cusparseSparseToDenseAlg_t, size_t* size) {
  ORDITO_CHECK(handle && a && b);
  return tellBufferSize(size);
}
cusparseStatus_t cusparseSparseToDense(cusparseHandle_t handle, cusparseConstSpMatDescr_t a, cusparseDnMatDescr_t b,
                                       cusparseSparseToDenseAlg_t, void* buffer) {
  ORDITO_CHECK(handle && a && b && buffer && fit(b, a));
  return bringToDense(handle, *a, *b);
}

cusparseStatus_t cusparseDenseToSparse_bufferSize(cusparseHandle_t handle, cusparseConstDnMatDescr_t a,
                                                  cusparseSpMatDescr_t b, cusparseDenseToSparseAlg_t, size_t* size) {
  ORDITO_CHECK(handle && a && b);
  return tellBufferSize(size);
}
/// The program allocates by the number of entries that this finds, so it waits.
cusparseStatus_t cusparseDenseToSparse_analysis(cusparseHandle_t handle, cusparseConstDnMatDescr_t a,
                                                cusparseSpMatDescr_t b, cusparseDenseToSparseAlg_t, void* buffer) {
  ORDITO_CHECK(handle && a && b && buffer && fit(a, b));
  if (hasOwnPattern(*b)) return CUSPARSE_STATUS_SUCCESS;
  int64_t count = 0;
  const cusparseStatus_t status = submitAndAwait(handle, "cusparseDenseToSparse_analysis", [&count, a = *a, b = *b] {
    withElement(a.type, [&](auto zero) { count = countEntries<decltype(zero)>(a, b); });
  });
  if (status == CUSPARSE_STATUS_SUCCESS) b->count = count;
  return status;
}
cusparseStatus_t cusparseDenseToSparse_convert(cusparseHandle_t handle, cusparseConstDnMatDescr_t a,
                                               cusparseSpMatDescr_t b, cusparseDenseToSparseAlg_t, void* buffer) {
  ORDITO_CHECK(handle && a && b && buffer && fit(a, b));
  ORDITO_SUPPORTED(!hasOwnPattern(*b) || a->type == b->type);
  return submit(handle, "cusparseDenseToSparse_convert", [a = *a, b = *b] {
    withElement(a.type, [&](auto zero) {
      using E = decltype(zero);
      const Layout from(a);
      if (hasOwnPattern(b))
        eachEntry(b, [&](int64_t i, int64_t j, int64_t k) {
          static_cast<E*>(b.values)[k] = static_cast<const E*>(a.values)[from.at(i, j)];
        });
      else
        copyEntries<E>(a, b);
    });
  });
}

cusparseStatus_t cusparseCsr2cscEx2_bufferSize(cusparseHandle_t handle, int rows, int columns, int count, const void*,
                                               const int*, const int*, void*, int*, int*, cudaDataType,
                                               cusparseAction_t action, cusparseIndexBase_t, cusparseCsr2CscAlg_t,
                                               size_t* size) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(rows >= 0 && columns >= 0 && count >= 0 && isAction(action));
  return tellBufferSize(size);
}
cusparseStatus_t cusparseCsr2cscEx2(cusparseHandle_t handle, int rows, int columns, int count, const void* values,
                                    const int* offsets, const int* indices, void* toValues, int* toOffsets,
                                    int* toIndices, cudaDataType type, cusparseAction_t action,
                                    cusparseIndexBase_t base, cusparseCsr2CscAlg_t, void*) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(rows >= 0 && columns >= 0 && count >= 0 && isBase(base) && offsets && toOffsets && sizeOf(type));
  ORDITO_CHECK(isAction(action));
  ORDITO_CHECK(count == 0 || (indices && toIndices));
  ORDITO_CHECK(count == 0 || action == CUSPARSE_ACTION_SYMBOLIC || (values && toValues));
  return submit(handle, "cusparseCsr2cscEx2", [=] {
    std::fill_n(toOffsets, columns + 1, 0);
    for (int k = 0; k < count; ++k) ++toOffsets[indices[k] - base + 1];
    toOffsets[0] = base;
    for (int j = 0; j < columns; ++j) toOffsets[j + 1] += toOffsets[j];
    std::vector<int> next(toOffsets, toOffsets + columns);
    withElement(type, [&](auto element) {
      using E = decltype(element);
      for (int i = 0; i < rows; ++i)
        for (int k = offsets[i] - base; k < offsets[i + 1] - base; ++k) {
          const int at = next[static_cast<size_t>(indices[k] - base)]++ - base;
          toIndices[at] = i + base;
          if (action == CUSPARSE_ACTION_NUMERIC) static_cast<E*>(toValues)[at] = static_cast<const E*>(values)[k];
        }
    });
  });
}

cusparseStatus_t cusparseXcoo2csr(cusparseHandle_t handle, const int* rowIndices, int count, int rows, int* offsets,
                                  cusparseIndexBase_t base) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(count >= 0 && rows >= 0 && offsets && isBase(base) && (count == 0 || rowIndices));
  return submit(handle, "cusparseXcoo2csr", [=] {
    for (int i = 0, k = 0; i <= rows; ++i) {
      while (k < count && rowIndices[k] - base < i) ++k;
      offsets[i] = k + base;
    }
  });
}
cusparseStatus_t cusparseXcsr2coo(cusparseHandle_t handle, const int* offsets, int count, int rows, int* rowIndices,
                                  cusparseIndexBase_t base) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(count >= 0 && rows >= 0 && offsets && isBase(base) && (count == 0 || rowIndices));
  return submit(handle, "cusparseXcsr2coo", [=] {
    for (int i = 0; i < rows; ++i)
      for (int k = offsets[i] - base; k < offsets[i + 1] - base; ++k) rowIndices[k] = i + base;
  });
}

cusparseStatus_t cusparseCreateIdentityPermutation(cusparseHandle_t handle, int count, int* permutation) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(count >= 0 && (count == 0 || permutation));
  return submit(handle, "cusparseCreateIdentityPermutation", [=] { std::iota(permutation, permutation + count, 0); });
}
cusparseStatus_t cusparseXcoosort_bufferSizeExt(cusparseHandle_t handle, int rows, int columns, int count, const int*,
                                                const int*, size_t* size) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(rows >= 0 && columns >= 0 && count >= 0);
  return tellBufferSize(size);
}
cusparseStatus_t cusparseXcoosortByRow(cusparseHandle_t handle, int, int, int count, int* rows, int* columns,
                                       int* permutation, void*) {
  return sortCoo(handle, count, rows, columns, permutation);
}
cusparseStatus_t cusparseXcoosortByColumn(cusparseHandle_t handle, int, int, int count, int* rows, int* columns,
                                          int* permutation, void*) {
  return sortCoo(handle, count, columns, rows, permutation);
}
cusparseStatus_t cusparseXcsrsort_bufferSizeExt(cusparseHandle_t handle, int, int, int, const int*, const int*,
                                                size_t* size) {
  ORDITO_HANDLE(handle);
  return tellBufferSize(size);
}
cusparseStatus_t cusparseXcsrsort(cusparseHandle_t handle, int rows, int, int count, const cusparseMatDescr_t a,
                                  const int* offsets, int* columns, int* permutation, void*) {
  return sortLines(handle, rows, count, a, offsets, columns, permutation);
}
cusparseStatus_t cusparseXcscsort_bufferSizeExt(cusparseHandle_t handle, int, int, int, const int*, const int*,
                                                size_t* size) {
  ORDITO_HANDLE(handle);
  return tellBufferSize(size);
}
cusparseStatus_t cusparseXcscsort(cusparseHandle_t handle, int, int columns, int count, const cusparseMatDescr_t a,
                                  const int* offsets, int* rows, int* permutation, void*) {
  return sortLines(handle, columns, count, a, offsets, rows, permutation);
}

}  // extern "C"
}  // namespace ordito::cusparse
