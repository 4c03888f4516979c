// Rows whose columns come in order and go back into the order that they had (csru2csr), and colours of a graph's nodes
// (csrcolor).
#include <cmath>
#include <memory>
#include <numeric>
#include <vector>

#include "libs/cusparse/typed.hpp"

/// Where each entry was before it came in order. Tasks share it.
struct csru2csrInfo {
  std::shared_ptr<std::vector<int>> before;
};
struct cusparseColorInfo {};

namespace ordito::cusparse {
namespace {

template <class T>
void sortRows(const Pattern& a, T* values, int* indices, std::vector<int>& before) {
  before.resize(static_cast<size_t>(a.count()));
  std::iota(before.begin(), before.end(), 0);
  for (int row = 0; row < a.rows; ++row)
    std::sort(before.begin() + a.begin(row), before.begin() + a.end(row),
              [&](int k, int l) { return std::pair(a.indices[k], k) < std::pair(a.indices[l], l); });
  const std::vector<T> oldValues(values, values + before.size());
  const std::vector<int> oldIndices(indices, indices + before.size());
  for (size_t k = 0; k < before.size(); ++k) {
    values[k] = oldValues[static_cast<size_t>(before[k])];
    indices[k] = oldIndices[static_cast<size_t>(before[k])];
  }
}

template <class T>
void unsortRows(T* values, int* indices, const std::vector<int>& before) {
  const std::vector<T> sortedValues(values, values + before.size());
  const std::vector<int> sortedIndices(indices, indices + before.size());
  for (size_t k = 0; k < before.size(); ++k) {
    values[before[k]] = sortedValues[k];
    indices[before[k]] = sortedIndices[k];
  }
}

/// What both ways check; 0 entries have no arrays.
cusparseStatus_t check(cusparseHandle_t handle, int m, int n, int count, const void* values, const int* offsets,
                       const int* indices, const csru2csrInfo* info) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(m >= 0 && n >= 0 && count >= 0 && info && (m == 0 || offsets) && (count == 0 || (values && indices)));
  return CUSPARSE_STATUS_SUCCESS;
}

#define CHECK_ROWS \
  if (const cusparseStatus_t status = check(handle, m, n, count, values, offsets, indices, info)) return status

template <class T>
cusparseStatus_t sorted(cusparseHandle_t handle, int m, int n, int count, const cusparseMatDescr* descriptor, T* values,
                        const int* offsets, int* indices, csru2csrInfo* info, const void* buffer) {
  CHECK_ROWS;
  ORDITO_CHECK(buffer);  // it is not needed, but wanted as a GPU's library does (hipSPARSE's tests)
  ORDITO_GENERAL(descriptor);
  info->before = std::make_shared<std::vector<int>>();
  return submit(handle, "cusparse csru2csr",
                [=, before = info->before, a = Pattern{m, descriptor->base, offsets, indices}] {
                  sortRows(a, values, indices, *before);
                });
}

template <class T>
cusparseStatus_t unsorted(cusparseHandle_t handle, int m, int n, int count, const cusparseMatDescr* descriptor,
                          T* values, const int* offsets, int* indices, const csru2csrInfo* info, const void* buffer) {
  CHECK_ROWS;
  ORDITO_GENERAL(descriptor);
  ORDITO_CHECK(buffer && info->before);
  return submit(handle, "cusparse csr2csru", [=, before = info->before] { unsortRows(values, indices, *before); });
}

/// Who is whose neighbour, whichever of the two has the entry.
std::vector<std::vector<int>> neighbours(const Pattern& a) {
  std::vector<std::vector<int>> all(static_cast<size_t>(a.rows));
  for (int row = 0; row < a.rows; ++row)
    for (int k = a.begin(row); k < a.end(row); ++k)
      if (const int column = a.column(k); column != row) {
        all[static_cast<size_t>(row)].push_back(column);
        all[static_cast<size_t>(column)].push_back(row);
      }
  return all;
}

/// Each node gets the first colour that no neighbour has; when enough nodes have one, the rest get one each. Answers
/// how many colours there are.
int colorNodes(const Pattern& a, double fraction, int* colors) {
  const auto graph = neighbours(a);
  const int together = static_cast<int>(std::ceil(std::clamp(fraction, 0.0, 1.0) * a.rows));
  int count = 0;
  std::vector<int> takenBy(static_cast<size_t>(a.rows) + 1, -1);
  std::fill_n(colors, a.rows, -1);
  for (int node = 0; node < a.rows; ++node) {
    int color = count;
    if (node < together) {
      for (const int other : graph[static_cast<size_t>(node)])
        if (colors[other] >= 0) takenBy[static_cast<size_t>(colors[other])] = node;
      color = 0;
      while (takenBy[static_cast<size_t>(color)] == node) ++color;
    }
    colors[node] = color;
    count = std::max(count, color + 1);
  }
  return count;
}

/// The nodes, color by color.
void orderByColor(int nodes, const int* colors, int* order) {
  std::iota(order, order + nodes, 0);
  std::sort(order, order + nodes, [&](int i, int j) { return std::pair(colors[i], i) < std::pair(colors[j], j); });
}

template <class R>
cusparseStatus_t colored(cusparseHandle_t handle, int m, int count, const cusparseMatDescr* descriptor,
                         const void* values, const int* offsets, const int* indices, const R* fraction, int* colorCount,
                         int* colors, int* order, const cusparseColorInfo* info) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(m >= 0 && count >= 0 && info && fraction && colorCount && (m == 0 || (offsets && colors)) &&
               (count == 0 || (values && indices)));
  ORDITO_GENERAL(descriptor);
  const Scalar part(handle, fraction, kTypeOf<R>);
  return submitForNumber(handle, "cusparse csrcolor", [=, a = Pattern{m, descriptor->base, offsets, indices}] {
    *colorCount = colorNodes(a, static_cast<double>(part.as<R>()), colors);
    if (order) orderByColor(m, colors, order);
  });
}

}  // namespace

extern "C" {

cusparseStatus_t cusparseCreateCsru2csrInfo(csru2csrInfo_t* info) { return makeDescriptor(info); }
cusparseStatus_t cusparseDestroyCsru2csrInfo(csru2csrInfo_t info) { return destroyDescriptor(info); }
cusparseStatus_t cusparseCreateColorInfo(cusparseColorInfo_t* info) { return makeDescriptor(info); }
cusparseStatus_t cusparseDestroyColorInfo(cusparseColorInfo_t info) { return destroyDescriptor(info); }

#define DEFINE(L, T)                                                                                                   \
  cusparseStatus_t cusparse##L##csru2csr_bufferSizeExt(cusparseHandle_t handle, int m, int n, int count, T* values,    \
                                                       const int* offsets, int* indices, csru2csrInfo_t info,          \
                                                       size_t* size) {                                                 \
    CHECK_ROWS;                                                                                                        \
    return tellBufferSize(size);                                                                                       \
  }                                                                                                                    \
  cusparseStatus_t cusparse##L##csru2csr(cusparseHandle_t handle, int m, int n, int count,                             \
                                         const cusparseMatDescr_t descriptor, T* values, const int* offsets,           \
                                         int* indices, csru2csrInfo_t info, void* buffer) {                            \
    return sorted(handle, m, n, count, descriptor, values, offsets, indices, info, buffer);                            \
  }                                                                                                                    \
  cusparseStatus_t cusparse##L##csr2csru(cusparseHandle_t handle, int m, int n, int count,                             \
                                         const cusparseMatDescr_t descriptor, T* values, const int* offsets,           \
                                         int* indices, csru2csrInfo_t info, void* buffer) {                            \
    return unsorted(handle, m, n, count, descriptor, values, offsets, indices, info, buffer);                          \
  }                                                                                                                    \
  cusparseStatus_t cusparse##L##csrcolor(cusparseHandle_t handle, int m, int count,                                    \
                                         const cusparseMatDescr_t descriptor, const T* values, const int* offsets,     \
                                         const int* indices, const cublas::Real<Inner<T>>* fraction, int* colorCount,  \
                                         int* colors, int* order, const cusparseColorInfo_t info) {                    \
    return colored(handle, m, count, descriptor, values, offsets, indices, fraction, colorCount, colors, order, info); \
  }
ORDITO_FOR_TYPES(DEFINE)
#undef DEFINE

}  // extern "C"
}  // namespace ordito::cusparse
