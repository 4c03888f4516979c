// Matrices without their small elements: what is above a threshold, or all but a percentage, of a dense matrix or of a
// CSR matrix; and CSR matrices compressed in two steps.
#include <cmath>
#include <functional>

#include "cuda_fp16.h"
#include "libs/cusparse/typed.hpp"

/// Nothing is kept between the calls of a percentage.
struct pruneInfo {};

namespace ordito::cusparse {
namespace {

double magnitude(float x) { return std::abs(static_cast<double>(x)); }
double magnitude(double x) { return std::abs(x); }
double magnitude(__half x) { return std::abs(static_cast<double>(static_cast<float>(x))); }
template <class T>
double magnitude(const std::complex<T>& x) {
  return static_cast<double>(std::abs(x));
}

/// The elements of a dense matrix by columns.
template <class T>
struct Columns {
  int rows, columns;
  const T* values;
  int leading;

  bool isRight() const {
    return rows >= 0 && columns >= 0 && leading >= std::max(1, rows) && (rows == 0 || columns == 0 || values);
  }
  template <class Visit>
  void row(int i, const Visit& visit) const {
    for (int j = 0; j < columns; ++j) visit(j, values[i + static_cast<int64_t>(j) * leading]);
  }
};

/// The entries of a CSR matrix.
template <class T>
struct Entries {
  int rows, columns;
  Pattern pattern;
  const T* values;

  bool isRight() const {
    return rows >= 0 && columns >= 0 && (rows == 0 || pattern.offsets) &&
           (pattern.count() == 0 || (pattern.indices && values));
  }
  template <class Visit>
  void row(int i, const Visit& visit) const {
    for (int k = pattern.begin(i); k < pattern.end(i); ++k) visit(pattern.column(k), values[k]);
  }
};
template <class T>
Entries<T> entriesOf(int rows, int columns, const cusparseMatDescr& a, const T* values, const int* offsets,
                     const int* indices) {
  return {rows, columns, {rows, a.base, offsets, indices}, values};
}

/// What an element has to be above, told when the task runs.
template <class Source>
using Threshold = std::function<double(const Source&)>;

template <class Source, class T>
Threshold<Source> thresholdAt(cusparseHandle_t handle, const T* threshold) {
  if (handle->pointerMode == CUSPARSE_POINTER_MODE_HOST)
    return [value = static_cast<double>(*threshold)](const Source&) { return value; };
  return [threshold](const Source&) { return static_cast<double>(*threshold); };
}

/// The manual's: the element at ceil(count * percentage / 100) - 1 of all in ascending order.
template <class Source>
Threshold<Source> thresholdOf(float percentage) {
  return [percentage](const Source& source) {
    std::vector<double> all;
    for (int i = 0; i < source.rows; ++i) source.row(i, [&](int, const auto& x) { all.push_back(magnitude(x)); });
    if (all.empty()) return 0.0;
    const double wanted = std::ceil(static_cast<double>(all.size()) * (static_cast<double>(percentage) / 100)) - 1;
    const auto at = std::clamp<int64_t>(static_cast<int64_t>(wanted), 0, static_cast<int64_t>(all.size()) - 1);
    std::nth_element(all.begin(), all.begin() + at, all.end());
    return all[static_cast<size_t>(at)];
  };
}

template <class Source>
cusparseStatus_t count(cusparseHandle_t handle, const Source& source, const Threshold<Source>& threshold,
                       const cusparseMatDescr* c, int* offsets, int* total) {
  ORDITO_CHECK(source.isRight() && c && offsets && total);
  return submitForNumber(handle, "cusparse pruneNnz", [=, base = static_cast<int>(c->base)] {
    const double least = threshold(source);
    offsets[0] = base;
    for (int i = 0; i < source.rows; ++i) {
      int kept = 0;
      source.row(i, [&](int, const auto& x) { kept += magnitude(x) > least; });
      offsets[i + 1] = offsets[i] + kept;
    }
    *total = offsets[source.rows] - base;
  });
}

template <class Source, class T>
cusparseStatus_t prune(cusparseHandle_t handle, const Source& source, const Threshold<Source>& threshold,
                       const cusparseMatDescr* c, T* values, const int* offsets, int* indices) {
  ORDITO_CHECK(source.isRight() && c && offsets);
  return submit(handle, "cusparse prune", [=, base = static_cast<int>(c->base)] {
    const double least = threshold(source);
    for (int i = 0; i < source.rows; ++i) {
      int at = offsets[i] - base;
      source.row(i, [&](int j, const auto& x) {
        if (!(magnitude(x) > least)) return;
        values[at] = x;
        indices[at++] = j + base;
      });
    }
  });
}

cusparseStatus_t tellBytes(size_t* bytes) {
  ORDITO_CHECK(bytes);
  *bytes = 256;
  return CUSPARSE_STATUS_SUCCESS;
}

bool isPercentage(float percentage) { return percentage >= 0 && percentage <= 100; }

}  // namespace

extern "C" {

cusparseStatus_t cusparseCreatePruneInfo(pruneInfo_t* info) {
  ORDITO_CHECK(info);
  *info = new pruneInfo;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseDestroyPruneInfo(pruneInfo_t info) {
  delete info;
  return CUSPARSE_STATUS_SUCCESS;
}

// What a call begins with, and the source that it means.
#define DENSE(T) int m, int n, const T *a, int lda
#define DENSE_SOURCE \
  const Columns source { m, n, a, lda }
#define CSR(T) \
  int m, int n, int, const cusparseMatDescr_t a, const T *from, const int *fromOffsets, const int *fromIndices
#define CSR_SOURCE   \
  ORDITO_GENERAL(a); \
  const auto source = entriesOf(m, n, *a, from, fromOffsets, fromIndices)

#define PRUNE(L, T, FROM, PARAMETERS, SOURCE)                                                                          \
  cusparseStatus_t cusparse##L##prune##FROM##_bufferSizeExt(cusparseHandle_t handle, PARAMETERS(T), const T*,          \
                                                            const cusparseMatDescr_t, const T*, const int*,            \
                                                            const int*, size_t* bytes) {                               \
    ORDITO_HANDLE(handle);                                                                                             \
    SOURCE;                                                                                                            \
    ORDITO_CHECK(source.rows >= 0 && source.columns >= 0);                                                             \
    return tellBytes(bytes);                                                                                           \
  }                                                                                                                    \
  cusparseStatus_t cusparse##L##prune##FROM##Nnz(cusparseHandle_t handle, PARAMETERS(T), const T* threshold,           \
                                                 const cusparseMatDescr_t c, int* offsets, int* total, void*) {        \
    ORDITO_HANDLE(handle);                                                                                             \
    SOURCE;                                                                                                            \
    ORDITO_CHECK(threshold);                                                                                           \
    return count(handle, source, thresholdAt<std::decay_t<decltype(source)>>(handle, threshold), c, offsets, total);   \
  }                                                                                                                    \
  cusparseStatus_t cusparse##L##prune##FROM(cusparseHandle_t handle, PARAMETERS(T), const T* threshold,                \
                                            const cusparseMatDescr_t c, T* values, const int* offsets, int* indices,   \
                                            void*) {                                                                   \
    ORDITO_HANDLE(handle);                                                                                             \
    SOURCE;                                                                                                            \
    ORDITO_CHECK(threshold);                                                                                           \
    return prune(handle, source, thresholdAt<std::decay_t<decltype(source)>>(handle, threshold), c, values, offsets,   \
                 indices);                                                                                             \
  }                                                                                                                    \
  cusparseStatus_t cusparse##L##prune##FROM##ByPercentage_bufferSizeExt(                                               \
      cusparseHandle_t handle, PARAMETERS(T), float percentage, const cusparseMatDescr_t, const T*, const int*,        \
      const int*, pruneInfo_t info, size_t* bytes) {                                                                   \
    ORDITO_HANDLE(handle);                                                                                             \
    SOURCE;                                                                                                            \
    ORDITO_CHECK(source.rows >= 0 && source.columns >= 0 && isPercentage(percentage) && info);                         \
    return tellBytes(bytes);                                                                                           \
  }                                                                                                                    \
  cusparseStatus_t cusparse##L##prune##FROM##NnzByPercentage(cusparseHandle_t handle, PARAMETERS(T), float percentage, \
                                                             const cusparseMatDescr_t c, int* offsets, int* total,     \
                                                             pruneInfo_t info, void*) {                                \
    ORDITO_HANDLE(handle);                                                                                             \
    SOURCE;                                                                                                            \
    ORDITO_CHECK(isPercentage(percentage) && info);                                                                    \
    return count(handle, source, thresholdOf<std::decay_t<decltype(source)>>(percentage), c, offsets, total);          \
  }                                                                                                                    \
  cusparseStatus_t cusparse##L##prune##FROM##ByPercentage(cusparseHandle_t handle, PARAMETERS(T), float percentage,    \
                                                          const cusparseMatDescr_t c, T* values, const int* offsets,   \
                                                          int* indices, pruneInfo_t info, void*) {                     \
    ORDITO_HANDLE(handle);                                                                                             \
    SOURCE;                                                                                                            \
    ORDITO_CHECK(isPercentage(percentage) && info);                                                                    \
    return prune(handle, source, thresholdOf<std::decay_t<decltype(source)>>(percentage), c, values, offsets,          \
                 indices);                                                                                             \
  }
#define PRUNE_BOTH(L, T)                      \
  PRUNE(L, T, Dense2csr, DENSE, DENSE_SOURCE) \
  PRUNE(L, T, Csr2csr, CSR, CSR_SOURCE)
PRUNE_BOTH(H, __half)
PRUNE_BOTH(S, float)
PRUNE_BOTH(D, double)

// The tolerance is a number, of which the real part counts.
#define COMPRESS(L, T)                                                                                                \
  cusparseStatus_t cusparse##L##nnz_compress(cusparseHandle_t handle, int m, const cusparseMatDescr_t a,              \
                                             const T* values, const int* offsets, int* inRows, int* total, T least) { \
    ORDITO_HANDLE(handle);                                                                                            \
    ORDITO_GENERAL(a);                                                                                                \
    ORDITO_CHECK(m >= 0 && total && (m == 0 || (offsets && inRows)));                                                 \
    const double tolerance = static_cast<double>(std::real(*in(&least)));                                             \
    ORDITO_CHECK(tolerance >= 0);                                                                                     \
    return submitForNumber(handle, "cusparse nnz_compress", [=, pattern = Pattern{m, a->base, offsets, nullptr}] {    \
      *total = 0;                                                                                                     \
      for (int i = 0; i < m; ++i) {                                                                                   \
        inRows[i] = 0;                                                                                                \
        for (int k = pattern.begin(i); k < pattern.end(i); ++k) inRows[i] += magnitude(in(values)[k]) > tolerance;    \
        *total += inRows[i];                                                                                          \
      }                                                                                                               \
    });                                                                                                               \
  }                                                                                                                   \
  cusparseStatus_t cusparse##L##csr2csr_compress(                                                                     \
      cusparseHandle_t handle, int m, int n, const cusparseMatDescr_t a, const T* values, const int* indices,         \
      const int* offsets, int, const int* inRows, T* toValues, int* toIndices, int* toOffsets, T least) {             \
    ORDITO_HANDLE(handle);                                                                                            \
    ORDITO_GENERAL(a);                                                                                                \
    ORDITO_CHECK(m >= 0 && n >= 0 && toOffsets && (m == 0 || (offsets && inRows)));                                   \
    const double tolerance = static_cast<double>(std::real(*in(&least)));                                             \
    ORDITO_CHECK(tolerance >= 0);                                                                                     \
    const auto source = entriesOf(m, n, *a, in(values), offsets, indices);                                            \
    return submit(handle, "cusparse csr2csr_compress", [=, base = static_cast<int>(a->base)] {                        \
      int at = 0;                                                                                                     \
      toOffsets[0] = base;                                                                                            \
      for (int i = 0; i < m; ++i) {                                                                                   \
        source.row(i, [&](int j, const auto& x) {                                                                     \
          if (!(magnitude(x) > tolerance)) return;                                                                    \
          in(toValues)[at] = x;                                                                                       \
          toIndices[at++] = j + base;                                                                                 \
        });                                                                                                           \
        toOffsets[i + 1] = at + base;                                                                                 \
      }                                                                                                               \
    });                                                                                                               \
  }
ORDITO_FOR_TYPES(COMPRESS)

}  // extern "C"
}  // namespace ordito::cusparse
