// The descriptors of cuSPARSE's generic interface: made, asked, changed. The forms for constant data differ in types
// only, so each pair is made by one macro.
#include "libs/cusparse/descriptors.hpp"

namespace ordito::cusparse {
namespace {

template <class Descriptor, class Value>
cusparseStatus_t make(Descriptor** place, Value value) {
  *place = new std::remove_const_t<Descriptor>(value);
  return CUSPARSE_STATUS_SUCCESS;
}

/// For those who ask for everything: null pointers are answers that nobody wants.
template <class Place, class Value>
void tell(Place* place, Value value) {
  if (place) *place = static_cast<Place>(value);
}

template <class Pointer>
void* plain(Pointer* data) {
  return const_cast<void*>(static_cast<const void*>(data));
}

struct Compressed {
  int64_t rows, columns, count;
  void *offsets, *indices, *values;
  cusparseIndexType_t offsetType, indexType;
  cusparseIndexBase_t base;
  cudaDataType type;
};

template <class Descriptor>
cusparseStatus_t makeSparse(Descriptor** place, cusparseFormat_t format, const Compressed& c) {
  ORDITO_CHECK(place && c.rows >= 0 && c.columns >= 0 && c.count >= 0);
  ORDITO_CHECK(c.count == 0 || c.columns == 0 || (c.count - 1) / c.columns < c.rows);
  ORDITO_CHECK(isIndex(c.offsetType) && isIndex(c.indexType) && isBase(c.base) && sizeOf(c.type) > 0);
  return make(place, cusparseSpMatDescr{format, c.rows, c.columns, c.count, c.offsets, c.indices, c.values,
                                        c.offsetType, c.indexType, c.base, c.type});
}

/// Rows and columns are those of blocks.
template <class Descriptor>
cusparseStatus_t makeBlocks(Descriptor** place, const Compressed& c, int64_t height, int64_t width,
                            cusparseOrder_t order) {
  ORDITO_CHECK(height > 0 && width > 0 && (order == CUSPARSE_ORDER_ROW || order == CUSPARSE_ORDER_COL));
  if (const cusparseStatus_t bad = makeSparse(place, CUSPARSE_FORMAT_BSR, c)) return bad;
  auto* const made = const_cast<cusparseSpMatDescr_t>(*place);
  made->rows *= height, made->columns *= width;
  made->blockSize = height, made->blockColumns = width, made->order = order;
  return CUSPARSE_STATUS_SUCCESS;
}

template <class Descriptor>
cusparseStatus_t makeSlices(Descriptor** place, const Compressed& c, int64_t stored, int64_t size) {
  ORDITO_CHECK(size > 0 && stored >= c.count);
  if (const cusparseStatus_t bad = makeSparse(place, CUSPARSE_FORMAT_SLICED_ELLPACK, c)) return bad;
  auto* const made = const_cast<cusparseSpMatDescr_t>(*place);
  made->blockSize = size, made->stored = stored;
  return CUSPARSE_STATUS_SUCCESS;
}

template <class Pointer>
cusparseStatus_t tellSparse(cusparseConstSpMatDescr_t a, cusparseFormat_t format, int64_t* rows, int64_t* columns,
                            int64_t* count, Pointer* offsets, Pointer* indices, Pointer* values,
                            cusparseIndexType_t* offsetType, cusparseIndexType_t* indexType, cusparseIndexBase_t* base,
                            cudaDataType* type) {
  ORDITO_CHECK(a && a->format == format);
  tell(rows, a->rows), tell(columns, a->columns), tell(count, a->count), tell(offsets, a->offsets);
  tell(indices, a->indices), tell(values, a->values), tell(offsetType, a->offsetType);
  tell(indexType, a->indexType), tell(base, a->base), tell(type, a->type);
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t point(cusparseSpMatDescr_t a, cusparseFormat_t format, void* offsets, void* indices, void* values) {
  ORDITO_CHECK(a && a->format == format);
  a->offsets = offsets, a->indices = indices, a->values = values;
  return CUSPARSE_STATUS_SUCCESS;
}

template <class Descriptor, class Pointer>
cusparseStatus_t tellValues(const Descriptor* a, Pointer* values) {
  ORDITO_CHECK(a && values);
  *values = a->values;
  return CUSPARSE_STATUS_SUCCESS;
}

template <class Descriptor>
cusparseStatus_t changeValues(Descriptor* a, void* values) {
  ORDITO_CHECK(a);
  a->values = values;
  return CUSPARSE_STATUS_SUCCESS;
}

}  // namespace

extern "C" {

#define DEFINE(Const, constant)                                                                                        \
  cusparseStatus_t cusparseCreate##Const##SpVec(                                                                       \
      cusparse##Const##SpVecDescr_t* v, int64_t size, int64_t count, constant void* indices, constant void* values,    \
      cusparseIndexType_t indexType, cusparseIndexBase_t base, cudaDataType type) {                                    \
    ORDITO_CHECK(v&& size >= 0 && count >= 0 && count <= size && isIndex(indexType) && isBase(base) && sizeOf(type));  \
    return make(v, cusparseSpVecDescr{size, count, plain(indices), plain(values), indexType, base, type});             \
  }                                                                                                                    \
  cusparseStatus_t cusparseCreate##Const##DnVec(cusparse##Const##DnVecDescr_t* v, int64_t size, constant void* values, \
                                                cudaDataType type) {                                                   \
    ORDITO_CHECK(v&& size >= 0 && sizeOf(type));                                                                       \
    return make(v, cusparseDnVecDescr{size, plain(values), type});                                                     \
  }                                                                                                                    \
  cusparseStatus_t cusparseCreate##Const##DnMat(cusparse##Const##DnMatDescr_t* a, int64_t rows, int64_t columns,       \
                                                int64_t leading, constant void* values, cudaDataType type,             \
                                                cusparseOrder_t order) {                                               \
    ORDITO_CHECK(a&& rows >= 0 && columns >= 0 && sizeOf(type));                                                       \
    ORDITO_CHECK(order == CUSPARSE_ORDER_COL || order == CUSPARSE_ORDER_ROW);                                          \
    ORDITO_CHECK(leading >= (order == CUSPARSE_ORDER_COL ? rows : columns));                                           \
    return make(a, cusparseDnMatDescr{rows, columns, leading, plain(values), type, order});                            \
  }                                                                                                                    \
  cusparseStatus_t cusparseCreate##Const##Csr(                                                                         \
      cusparse##Const##SpMatDescr_t* a, int64_t rows, int64_t columns, int64_t count, constant void* offsets,          \
      constant void* indices, constant void* values, cusparseIndexType_t offsetType, cusparseIndexType_t indexType,    \
      cusparseIndexBase_t base, cudaDataType type) {                                                                   \
    return makeSparse(                                                                                                 \
        a, CUSPARSE_FORMAT_CSR,                                                                                        \
        {rows, columns, count, plain(offsets), plain(indices), plain(values), offsetType, indexType, base, type});     \
  }                                                                                                                    \
  cusparseStatus_t cusparseCreate##Const##Csc(                                                                         \
      cusparse##Const##SpMatDescr_t* a, int64_t rows, int64_t columns, int64_t count, constant void* offsets,          \
      constant void* indices, constant void* values, cusparseIndexType_t offsetType, cusparseIndexType_t indexType,    \
      cusparseIndexBase_t base, cudaDataType type) {                                                                   \
    return makeSparse(                                                                                                 \
        a, CUSPARSE_FORMAT_CSC,                                                                                        \
        {rows, columns, count, plain(offsets), plain(indices), plain(values), offsetType, indexType, base, type});     \
  }                                                                                                                    \
  cusparseStatus_t cusparseCreate##Const##Coo(cusparse##Const##SpMatDescr_t* a, int64_t rows, int64_t columns,         \
                                              int64_t count, constant void* rowIndices, constant void* columnIndices,  \
                                              constant void* values, cusparseIndexType_t indexType,                    \
                                              cusparseIndexBase_t base, cudaDataType type) {                           \
    return makeSparse(a, CUSPARSE_FORMAT_COO,                                                                          \
                      {rows, columns, count, plain(rowIndices), plain(columnIndices), plain(values), indexType,        \
                       indexType, base, type});                                                                        \
  }                                                                                                                    \
  cusparseStatus_t cusparseCreate##Const##BlockedEll(cusparse##Const##SpMatDescr_t* a, int64_t rows, int64_t columns,  \
                                                     int64_t size, int64_t width, constant void* indices,              \
                                                     constant void* values, cusparseIndexType_t indexType,             \
                                                     cusparseIndexBase_t base, cudaDataType type) {                    \
    ORDITO_CHECK(a&& size > 0 && width >= 0 && width <= columns && rows % size == 0 && width % size == 0);             \
    const cusparseStatus_t status =                                                                                    \
        makeSparse(a, CUSPARSE_FORMAT_BLOCKED_ELL,                                                                     \
                   {rows, columns, width, nullptr, plain(indices), plain(values), indexType, indexType, base, type});  \
    if (status == CUSPARSE_STATUS_SUCCESS) const_cast<cusparseSpMatDescr_t>(*a)->blockSize = size;                     \
    return status;                                                                                                     \
  }                                                                                                                    \
  cusparseStatus_t cusparseCreate##Const##Bsr(                                                                         \
      cusparse##Const##SpMatDescr_t* a, int64_t rows, int64_t columns, int64_t count, int64_t height, int64_t width,   \
      constant void* offsets, constant void* indices, constant void* values, cusparseIndexType_t offsetType,           \
      cusparseIndexType_t indexType, cusparseIndexBase_t base, cudaDataType type, cusparseOrder_t order) {             \
    return makeBlocks(                                                                                                 \
        a, {rows, columns, count, plain(offsets), plain(indices), plain(values), offsetType, indexType, base, type},   \
        height, width, order);                                                                                         \
  }                                                                                                                    \
  cusparseStatus_t cusparseCreate##Const##SlicedEll(                                                                   \
      cusparse##Const##SpMatDescr_t* a, int64_t rows, int64_t columns, int64_t count, int64_t stored, int64_t size,    \
      constant void* offsets, constant void* indices, constant void* values, cusparseIndexType_t offsetType,           \
      cusparseIndexType_t indexType, cusparseIndexBase_t base, cudaDataType type) {                                    \
    return makeSlices(                                                                                                 \
        a, {rows, columns, count, plain(offsets), plain(indices), plain(values), offsetType, indexType, base, type},   \
        stored, size);                                                                                                 \
  }
DEFINE(, )
DEFINE(Const, const)
#undef DEFINE

#define DEFINE(Const, constant)                                                                                        \
  cusparseStatus_t cusparse##Const##SpVecGet(                                                                          \
      cusparse##Const##SpVecDescr_t v, int64_t* size, int64_t* count, constant void** indices, constant void** values, \
      cusparseIndexType_t* indexType, cusparseIndexBase_t* base, cudaDataType* type) {                                 \
    ORDITO_CHECK(v);                                                                                                   \
    tell(size, v->size), tell(count, v->count), tell(indices, v->indices), tell(values, v->values);                    \
    tell(indexType, v->indexType), tell(base, v->base), tell(type, v->type);                                           \
    return CUSPARSE_STATUS_SUCCESS;                                                                                    \
  }                                                                                                                    \
  cusparseStatus_t cusparse##Const##DnVecGet(cusparse##Const##DnVecDescr_t v, int64_t* size, constant void** values,   \
                                             cudaDataType* type) {                                                     \
    ORDITO_CHECK(v);                                                                                                   \
    tell(size, v->size), tell(values, v->values), tell(type, v->type);                                                 \
    return CUSPARSE_STATUS_SUCCESS;                                                                                    \
  }                                                                                                                    \
  cusparseStatus_t cusparse##Const##DnMatGet(cusparse##Const##DnMatDescr_t a, int64_t* rows, int64_t* columns,         \
                                             int64_t* leading, constant void** values, cudaDataType* type,             \
                                             cusparseOrder_t* order) {                                                 \
    ORDITO_CHECK(a);                                                                                                   \
    tell(rows, a->rows), tell(columns, a->columns), tell(leading, a->leading), tell(values, a->values);                \
    tell(type, a->type), tell(order, a->order);                                                                        \
    return CUSPARSE_STATUS_SUCCESS;                                                                                    \
  }                                                                                                                    \
  cusparseStatus_t cusparse##Const##CsrGet(                                                                            \
      cusparse##Const##SpMatDescr_t a, int64_t* rows, int64_t* columns, int64_t* count, constant void** offsets,       \
      constant void** indices, constant void** values, cusparseIndexType_t* offsetType,                                \
      cusparseIndexType_t* indexType, cusparseIndexBase_t* base, cudaDataType* type) {                                 \
    return tellSparse(a, CUSPARSE_FORMAT_CSR, rows, columns, count, offsets, indices, values, offsetType, indexType,   \
                      base, type);                                                                                     \
  }                                                                                                                    \
  cusparseStatus_t cusparse##Const##CscGet(                                                                            \
      cusparse##Const##SpMatDescr_t a, int64_t* rows, int64_t* columns, int64_t* count, constant void** offsets,       \
      constant void** indices, constant void** values, cusparseIndexType_t* offsetType,                                \
      cusparseIndexType_t* indexType, cusparseIndexBase_t* base, cudaDataType* type) {                                 \
    return tellSparse(a, CUSPARSE_FORMAT_CSC, rows, columns, count, offsets, indices, values, offsetType, indexType,   \
                      base, type);                                                                                     \
  }                                                                                                                    \
  cusparseStatus_t cusparse##Const##CooGet(cusparse##Const##SpMatDescr_t a, int64_t* rows, int64_t* columns,           \
                                           int64_t* count, constant void** rowIndices, constant void** columnIndices,  \
                                           constant void** values, cusparseIndexType_t* indexType,                     \
                                           cusparseIndexBase_t* base, cudaDataType* type) {                            \
    return tellSparse(a, CUSPARSE_FORMAT_COO, rows, columns, count, rowIndices, columnIndices, values, nullptr,        \
                      static_cast<cusparseIndexType_t*>(indexType), base, type);                                       \
  }                                                                                                                    \
  cusparseStatus_t cusparse##Const##BlockedEllGet(cusparse##Const##SpMatDescr_t a, int64_t* rows, int64_t* columns,    \
                                                  int64_t* size, int64_t* width, constant void** indices,              \
                                                  constant void** values, cusparseIndexType_t* indexType,              \
                                                  cusparseIndexBase_t* base, cudaDataType* type) {                     \
    ORDITO_CHECK(a);                                                                                                   \
    tell(size, a->blockSize);                                                                                          \
    constant void** none = nullptr;                                                                                    \
    return tellSparse(a, CUSPARSE_FORMAT_BLOCKED_ELL, rows, columns, width, none, indices, values, nullptr, indexType, \
                      base, type);                                                                                     \
  }                                                                                                                    \
  cusparseStatus_t cusparse##Const##SpVecGetValues(cusparse##Const##SpVecDescr_t v, constant void** values) {          \
    return tellValues(v, values);                                                                                      \
  }                                                                                                                    \
  cusparseStatus_t cusparse##Const##DnVecGetValues(cusparse##Const##DnVecDescr_t v, constant void** values) {          \
    return tellValues(v, values);                                                                                      \
  }                                                                                                                    \
  cusparseStatus_t cusparse##Const##SpMatGetValues(cusparse##Const##SpMatDescr_t a, constant void** values) {          \
    return tellValues(a, values);                                                                                      \
  }                                                                                                                    \
  cusparseStatus_t cusparse##Const##DnMatGetValues(cusparse##Const##DnMatDescr_t a, constant void** values) {          \
    return tellValues(a, values);                                                                                      \
  }
DEFINE(, )
DEFINE(Const, const)
#undef DEFINE

cusparseStatus_t cusparseDestroySpVec(cusparseConstSpVecDescr_t v) { return destroyDescriptor(v); }
cusparseStatus_t cusparseDestroyDnVec(cusparseConstDnVecDescr_t v) { return destroyDescriptor(v); }
cusparseStatus_t cusparseDestroySpMat(cusparseConstSpMatDescr_t a) { return destroyDescriptor(a); }
cusparseStatus_t cusparseDestroyDnMat(cusparseConstDnMatDescr_t a) { return destroyDescriptor(a); }
cusparseStatus_t cusparseSpVecSetValues(cusparseSpVecDescr_t v, void* values) { return changeValues(v, values); }
cusparseStatus_t cusparseDnVecSetValues(cusparseDnVecDescr_t v, void* values) { return changeValues(v, values); }
cusparseStatus_t cusparseSpMatSetValues(cusparseSpMatDescr_t a, void* values) { return changeValues(a, values); }
cusparseStatus_t cusparseDnMatSetValues(cusparseDnMatDescr_t a, void* values) { return changeValues(a, values); }

cusparseStatus_t cusparseSpVecGetIndexBase(cusparseConstSpVecDescr_t v, cusparseIndexBase_t* base) {
  ORDITO_CHECK(v && base);
  *base = v->base;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSpMatGetFormat(cusparseConstSpMatDescr_t a, cusparseFormat_t* format) {
  ORDITO_CHECK(a && format);
  *format = a->format;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSpMatGetIndexBase(cusparseConstSpMatDescr_t a, cusparseIndexBase_t* base) {
  ORDITO_CHECK(a && base);
  *base = a->base;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSpMatGetSize(cusparseConstSpMatDescr_t a, int64_t* rows, int64_t* columns, int64_t* count) {
  ORDITO_CHECK(a && rows && columns && count);
  *rows = a->rows, *columns = a->columns, *count = a->count;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSpMatGetStridedBatch(cusparseConstSpMatDescr_t a, int* batches) {
  ORDITO_CHECK(a && batches);
  *batches = a->batches;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseCooSetStridedBatch(cusparseSpMatDescr_t a, int batches, int64_t step) {
  ORDITO_CHECK(a && a->format == CUSPARSE_FORMAT_COO && batches > 0 && step >= 0 && (step == 0 || step >= a->count));
  a->batches = batches, a->offsetStep = step, a->entryStep = step;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseCsrSetStridedBatch(cusparseSpMatDescr_t a, int batches, int64_t offsets, int64_t entries) {
  ORDITO_CHECK(a && a->format == CUSPARSE_FORMAT_CSR && batches > 0 && offsets >= 0 && entries >= 0);
  a->batches = batches, a->offsetStep = offsets, a->entryStep = entries;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseBsrSetStridedBatch(cusparseSpMatDescr_t a, int batches, int64_t offsets, int64_t indices,
                                            int64_t values) {
  ORDITO_CHECK(a && a->format == CUSPARSE_FORMAT_BSR && batches > 0 && offsets >= 0 && indices >= 0 && values >= 0);
  a->batches = batches, a->offsetStep = offsets, a->entryStep = indices, a->valueStep = values;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseDnMatSetStridedBatch(cusparseDnMatDescr_t a, int batches, int64_t step) {
  ORDITO_CHECK(a && batches > 0 && step >= 0);
  a->batches = batches, a->step = step;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseDnMatGetStridedBatch(cusparseConstDnMatDescr_t a, int* batches, int64_t* step) {
  ORDITO_CHECK(a);
  tell(batches, a->batches), tell(step, a->step);
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseCsrSetPointers(cusparseSpMatDescr_t a, void* offsets, void* indices, void* values) {
  return point(a, CUSPARSE_FORMAT_CSR, offsets, indices, values);
}
cusparseStatus_t cusparseCscSetPointers(cusparseSpMatDescr_t a, void* offsets, void* indices, void* values) {
  return point(a, CUSPARSE_FORMAT_CSC, offsets, indices, values);
}
cusparseStatus_t cusparseCooSetPointers(cusparseSpMatDescr_t a, void* rows, void* columns, void* values) {
  return point(a, CUSPARSE_FORMAT_COO, rows, columns, values);
}
cusparseStatus_t cusparseSpMatSetAttribute(cusparseSpMatDescr_t a, cusparseSpMatAttribute_t attribute, void* data,
                                           size_t size) {
  ORDITO_CHECK(a && data && size == sizeof(int));
  const int value = *static_cast<const int*>(data);
  ORDITO_CHECK(value == 0 || value == 1);
  if (attribute == CUSPARSE_SPMAT_FILL_MODE)
    a->fill = static_cast<cusparseFillMode_t>(value);
  else if (attribute == CUSPARSE_SPMAT_DIAG_TYPE)
    a->diagonal = static_cast<cusparseDiagType_t>(value);
  else
    return CUSPARSE_STATUS_INVALID_VALUE;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSpMatGetAttribute(cusparseConstSpMatDescr_t a, cusparseSpMatAttribute_t attribute, void* data,
                                           size_t size) {
  ORDITO_CHECK(a && data && size == sizeof(int));
  ORDITO_CHECK(attribute == CUSPARSE_SPMAT_FILL_MODE || attribute == CUSPARSE_SPMAT_DIAG_TYPE);
  *static_cast<int*>(data) =
      attribute == CUSPARSE_SPMAT_FILL_MODE ? static_cast<int>(a->fill) : static_cast<int>(a->diagonal);
  return CUSPARSE_STATUS_SUCCESS;
}

}  // extern "C"
}  // namespace ordito::cusparse
