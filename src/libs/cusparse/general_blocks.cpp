// Matrices of blocks that need not be square (general BSR): to and from CSR, to other blocks, and turned by blocks.
#include "libs/cusparse/blocks.hpp"

namespace ordito::cusparse {
namespace {

/// Blocks as CSR, with indices from 0.
template <class T>
struct Expanded {
  std::vector<int> offsets, indices;
  std::vector<T> values;

  Expanded(const Blocks<const T>& a, bool hasValues) {
    const auto count = static_cast<size_t>(a.pattern.count()) * static_cast<size_t>(a.cells());
    offsets.resize(static_cast<size_t>(a.pattern.rows) * static_cast<size_t>(a.down) + 1);
    indices.resize(count);
    if (hasValues) values.resize(count);
    expand(a, 0, hasValues ? values.data() : nullptr, offsets.data(), indices.data());
  }
  Pattern pattern() const { return {static_cast<int>(offsets.size()) - 1, 0, offsets.data(), indices.data()}; }
};

/// Blocks change places as elements do when a matrix is turned; what is in them stays.
template <class T>
void turnBlocks(const Blocks<const T>& a, int columns, T* values, int* rows, int* offsets, int base, bool hasValues) {
  std::vector<int> next(static_cast<size_t>(columns) + 1, 0);
  for (int k = 0; k < a.pattern.count(); ++k) ++next[static_cast<size_t>(a.pattern.column(k)) + 1];
  for (size_t c = 0; c < next.size(); ++c) {
    if (c > 0) next[c] += next[c - 1];
    offsets[c] = next[c] + base;
  }
  for (int line = 0; line < a.pattern.rows; ++line)
    for (int block = a.pattern.begin(line); block < a.pattern.end(line); ++block) {
      const int to = next[static_cast<size_t>(a.pattern.column(block))]++;
      rows[to] = line + base;
      if (hasValues) std::copy_n(a.values + block * a.cells(), a.cells(), values + to * a.cells());
    }
}

bool isDirection(cusparseDirection_t direction) {
  return direction == CUSPARSE_DIRECTION_ROW || direction == CUSPARSE_DIRECTION_COLUMN;
}

cusparseStatus_t tellBytes(size_t* bytes) {
  ORDITO_CHECK(bytes);
  *bytes = 256;
  return CUSPARSE_STATUS_SUCCESS;
}

}  // namespace

extern "C" {

cusparseStatus_t cusparseXcsr2gebsrNnz(cusparseHandle_t handle, cusparseDirection_t direction, int m, int n,
                                       const cusparseMatDescr_t a, const int* offsets, const int* indices,
                                       const cusparseMatDescr_t c, int* toOffsets, int down, int across, int* total,
                                       void*) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(m >= 0 && n >= 0 && down > 0 && across > 0 && toOffsets && total && (m == 0 || offsets));
  ORDITO_CHECK(isDirection(direction));
  ORDITO_GENERAL(a);
  ORDITO_GENERAL(c);
  return submitForNumber(handle, "cusparse csr2gebsrNnz",
                         [=, pattern = Pattern{m, a->base, offsets, indices}, base = static_cast<int>(c->base)] {
                           *total = countBlocks(pattern, down, across, base, toOffsets);
                         });
}

cusparseStatus_t cusparseXgebsr2gebsrNnz(cusparseHandle_t handle, cusparseDirection_t direction, int rows, int columns,
                                         int, const cusparseMatDescr_t a, const int* offsets, const int* indices,
                                         int fromDown, int fromAcross, const cusparseMatDescr_t c, int* toOffsets,
                                         int down, int across, int* total, void*) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(rows >= 0 && columns >= 0 && down > 0 && across > 0 && toOffsets && total);
  ORDITO_GENERAL(a);
  ORDITO_GENERAL(c);
  const Blocks<const float> from{{rows, a->base, offsets, indices}, fromDown, fromAcross, direction, nullptr};
  ORDITO_CHECK(from.isRight());
  return submitForNumber(handle, "cusparse gebsr2gebsrNnz", [=, base = static_cast<int>(c->base)] {
    const Expanded<float> all(from, false);
    *total = countBlocks(all.pattern(), down, across, base, toOffsets);
  });
}

#define BUFFER_SIZES(L, T)                                                                                             \
  cusparseStatus_t cusparse##L##gebsr2gebsc_bufferSize(cusparseHandle_t handle, int, int, int, const T*, const int*,   \
                                                       const int*, int, int, int* bytes) {                             \
    ORDITO_HANDLE(handle);                                                                                             \
    return tellBufferSize(bytes);                                                                                      \
  }                                                                                                                    \
  cusparseStatus_t cusparse##L##gebsr2gebsc_bufferSizeExt(cusparseHandle_t handle, int, int, int, const T*,            \
                                                          const int*, const int*, int, int, size_t* bytes) {           \
    ORDITO_HANDLE(handle);                                                                                             \
    return tellBytes(bytes);                                                                                           \
  }                                                                                                                    \
  cusparseStatus_t cusparse##L##csr2gebsr_bufferSize(cusparseHandle_t handle, cusparseDirection_t, int, int,           \
                                                     const cusparseMatDescr_t, const T*, const int*, const int*, int,  \
                                                     int, int* bytes) {                                                \
    ORDITO_HANDLE(handle);                                                                                             \
    return tellBufferSize(bytes);                                                                                      \
  }                                                                                                                    \
  cusparseStatus_t cusparse##L##csr2gebsr_bufferSizeExt(cusparseHandle_t handle, cusparseDirection_t, int, int,        \
                                                        const cusparseMatDescr_t, const T*, const int*, const int*,    \
                                                        int, int, size_t* bytes) {                                     \
    ORDITO_HANDLE(handle);                                                                                             \
    return tellBytes(bytes);                                                                                           \
  }                                                                                                                    \
  cusparseStatus_t cusparse##L##gebsr2gebsr_bufferSize(cusparseHandle_t handle, cusparseDirection_t, int, int, int,    \
                                                       const cusparseMatDescr_t, const T*, const int*, const int*,     \
                                                       int, int, int, int, int* bytes) {                               \
    ORDITO_HANDLE(handle);                                                                                             \
    return tellBufferSize(bytes);                                                                                      \
  }                                                                                                                    \
  cusparseStatus_t cusparse##L##gebsr2gebsr_bufferSizeExt(cusparseHandle_t handle, cusparseDirection_t, int, int, int, \
                                                          const cusparseMatDescr_t, const T*, const int*, const int*,  \
                                                          int, int, int, int, size_t* bytes) {                         \
    ORDITO_HANDLE(handle);                                                                                             \
    return tellBytes(bytes);                                                                                           \
  }
ORDITO_FOR_TYPES(BUFFER_SIZES)

#define CONVERSIONS(L, T)                                                                                              \
  cusparseStatus_t cusparse##L##gebsr2csr(cusparseHandle_t handle, cusparseDirection_t direction, int rows, int,       \
                                          const cusparseMatDescr_t a, const T* values, const int* offsets,             \
                                          const int* indices, int down, int across, const cusparseMatDescr_t c,        \
                                          T* toValues, int* toOffsets, int* toIndices) {                               \
    ORDITO_HANDLE(handle);                                                                                             \
    ORDITO_GENERAL(a);                                                                                                 \
    ORDITO_GENERAL(c);                                                                                                 \
    const Blocks<const Inner<T>> from{{rows, a->base, offsets, indices}, down, across, direction, in(values)};         \
    ORDITO_CHECK(from.isRight() && toOffsets);                                                                         \
    return submit(handle, "cusparse gebsr2csr",                                                                        \
                  [=, base = static_cast<int>(c->base)] { expand(from, base, in(toValues), toOffsets, toIndices); });  \
  }                                                                                                                    \
  cusparseStatus_t cusparse##L##csr2gebsr(cusparseHandle_t handle, cusparseDirection_t direction, int m, int n,        \
                                          const cusparseMatDescr_t a, const T* values, const int* offsets,             \
                                          const int* indices, const cusparseMatDescr_t c, T* toValues, int* toOffsets, \
                                          int* toIndices, int down, int across, void*) {                               \
    ORDITO_HANDLE(handle);                                                                                             \
    ORDITO_CHECK(m >= 0 && n >= 0 && down > 0 && across > 0 && toOffsets && (m == 0 || offsets));                      \
    ORDITO_GENERAL(a);                                                                                                 \
    ORDITO_GENERAL(c);                                                                                                 \
    const int base = c->base;                                                                                          \
    const Blocks<Inner<T>> to{                                                                                         \
        {(m + down - 1) / down, base, toOffsets, toIndices}, down, across, direction, in(toValues)};                   \
    ORDITO_CHECK(to.isRight());                                                                                        \
    return submit(handle, "cusparse csr2gebsr", [=, from = Pattern{m, a->base, offsets, indices}] {                    \
      gather(from, in(values), to, base, toIndices);                                                                   \
    });                                                                                                                \
  }                                                                                                                    \
  cusparseStatus_t cusparse##L##gebsr2gebsr(                                                                           \
      cusparseHandle_t handle, cusparseDirection_t direction, int rows, int columns, int, const cusparseMatDescr_t a,  \
      const T* values, const int* offsets, const int* indices, int fromDown, int fromAcross,                           \
      const cusparseMatDescr_t c, T* toValues, int* toOffsets, int* toIndices, int down, int across, void*) {          \
    ORDITO_HANDLE(handle);                                                                                             \
    ORDITO_CHECK(rows >= 0 && columns >= 0 && down > 0 && across > 0 && toOffsets);                                    \
    ORDITO_GENERAL(a);                                                                                                 \
    ORDITO_GENERAL(c);                                                                                                 \
    const int base = c->base, lines = (rows * fromDown + down - 1) / down;                                             \
    const Blocks<const Inner<T>> from{{rows, a->base, offsets, indices}, fromDown, fromAcross, direction, in(values)}; \
    ORDITO_CHECK(from.isRight());                                                                                      \
    const Blocks<Inner<T>> to{{lines, base, toOffsets, toIndices}, down, across, direction, in(toValues)};             \
    return submit(handle, "cusparse gebsr2gebsr", [=] {                                                                \
      const Expanded<Inner<T>> all(from, true);                                                                        \
      gather(all.pattern(), all.values.data(), to, base, toIndices);                                                   \
    });                                                                                                                \
  }                                                                                                                    \
  cusparseStatus_t cusparse##L##gebsr2gebsc(cusparseHandle_t handle, int rows, int columns, int, const T* values,      \
                                            const int* offsets, const int* indices, int down, int across, T* toValues, \
                                            int* toRows, int* toOffsets, cusparseAction_t action,                      \
                                            cusparseIndexBase_t base, void*) {                                         \
    ORDITO_HANDLE(handle);                                                                                             \
    const Blocks<const Inner<T>> from{                                                                                 \
        {rows, base, offsets, indices}, down, across, CUSPARSE_DIRECTION_ROW, in(values)};                             \
    ORDITO_CHECK(from.isRight() && columns >= 0 && toOffsets);                                                         \
    ORDITO_CHECK(action == CUSPARSE_ACTION_SYMBOLIC || action == CUSPARSE_ACTION_NUMERIC);                             \
    return submit(handle, "cusparse gebsr2gebsc", [=] {                                                                \
      turnBlocks(from, columns, in(toValues), toRows, toOffsets, base, action == CUSPARSE_ACTION_NUMERIC);             \
    });                                                                                                                \
  }
ORDITO_FOR_TYPES(CONVERSIONS)

}  // extern "C"
}  // namespace ordito::cusparse
