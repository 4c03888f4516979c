// cuSPARSE's products: sparse matrices times vectors, dense and sparse matrices, sampled dense products, and what there
// is for sparse vectors.
#include "libs/cusparse/row_sums.hpp"
#include "libs/cusparse/rows.hpp"

namespace ordito::cusparse {
namespace {

constexpr cusparseSpMVAlg_t kLastVectorAlgorithm = CUSPARSE_SPMV_BSR_ALG1;
constexpr cusparseSpMMAlg_t kLastMatrixAlgorithm = CUSPARSE_SPMM_BSR_ALG1;

bool isDouble(cudaDataType type) { return type == CUDA_R_64F || type == CUDA_C_64F; }

cusparseStatus_t tellBuffer(cusparseHandle_t handle, size_t* size) {
  ORDITO_CHECK(handle);
  return tellBufferSize(size);
}

/// to = alpha sum + beta to, which is not read if beta is 0.
template <class T>
void update(void* array, cudaDataType type, int64_t i, T alpha, T sum, T beta) {
  if (type == cublas::kTypeOf<T>) {
    T& to = static_cast<T*>(array)[i];
    to = (beta == T(0) ? T(0) : multiply(beta, to)) + multiply(alpha, sum);
    return;
  }
  const T before = beta == T(0) ? T(0) : multiply(beta, load<T>(array, type, i));
  store(array, type, i, before + multiply(alpha, sum));
}

/// The same for elements from `first` on.
template <class T>
void updateSome(const cusparseDnVecDescr& y, int64_t first, int64_t count, T alpha, const T* sums, T beta) {
  T* to = static_cast<T*>(y.values) + first;
  if (y.type != cublas::kTypeOf<T>)
    for (int64_t j = 0; j < count; ++j) update(y.values, y.type, first + j, alpha, sums[j], beta);
  else if (beta == T(0))
    for (int64_t j = 0; j < count; ++j) to[j] = multiply(alpha, sums[j]);
  else
    for (int64_t j = 0; j < count; ++j) to[j] = multiply(beta, to[j]) + multiply(alpha, sums[j]);
}

/// A CSR matrix in place, with offsets and columns of their types. The sums of some rows come first and go to y
/// together: behind a store into y, which may be any memory, every pointer would be read anew.
template <class T, class O, class I>
void multiplyInPlace(const cusparseSpMatDescr& a, const T* values, const T* x, T alpha, T beta,
                     const cusparseDnVecDescr& y) {
  const RowEntries<T, O, I> entries{static_cast<const O*>(a.offsets), static_cast<const I*>(a.indices) - a.base,
                                    values - a.base, x - a.base};
  inRows(a.rows, a.count, [=](int64_t begin, int64_t last) {
    for (int64_t i = begin; i < last; i += kRowsTogether) {
      const int64_t count = std::min(kRowsTogether, last - i);
      T sums[kRowsTogether];
      sumRows(entries, i, count, sums);
      updateSome(y, i, count, alpha, sums, beta);
    }
  });
}

template <class T>
void multiplyVector(const cusparseSpMatDescr& a, cusparseOperation_t op, const cusparseDnVecDescr& x, T alpha, T beta,
                    const cusparseDnVecDescr& y) {
  // Neither A nor x is read where alpha says so, or where there is nothing to read.
  if (alpha == T(0) || storedCount(a) == 0) {
    for (int64_t i = 0; i < y.size; ++i) update(y.values, y.type, i, T(0), T(0), beta);
    return;
  }
  const Values<T> from(x.values, x.type, x.size);
  if (a.format == CUSPARSE_FORMAT_CSR && !isTurned(op)) {
    const Values<T> values(a.values, a.type, a.count);
    const auto run = [&](auto offset, auto index) {
      multiplyInPlace<T, decltype(offset), decltype(index)>(a, values.data(), from.data(), alpha, beta, y);
    };
    const bool hasWide = a.offsetType == CUSPARSE_INDEX_64I;
    if (a.indexType == CUSPARSE_INDEX_64I) return hasWide ? run(int64_t{}, int64_t{}) : run(int32_t{}, int64_t{});
    return hasWide ? run(int64_t{}, int32_t{}) : run(int32_t{}, int32_t{});
  }
  const Rows<T> rows = rowsOf<T>(a, op);
  eachRow(rows.rows, static_cast<int64_t>(rows.values.size()), [&](int64_t i) {
    T sum{};
    for (int64_t k = rows.begin(i); k < rows.end(i); ++k) sum += multiply(rows.value(k), from[rows.index(k)]);
    update(y.values, y.type, i, alpha, sum, beta);
  });
}

template <class T>
void multiplyMatrix(const cusparseSpMatDescr& a, cusparseOperation_t opA, const cusparseDnMatDescr& b,
                    cusparseOperation_t opB, T alpha, T beta, const cusparseDnMatDescr& c) {
  const Rows<T> rows = rowsOf<T>(a, opA);
  const Dense<T> factor(b, opB);
  const Layout to(c);
  eachRow(rows.rows, static_cast<int64_t>(rows.values.size()) * c.columns, [&](int64_t i) {
    std::vector<T> sums(static_cast<size_t>(c.columns));
    for (int64_t k = rows.begin(i); k < rows.end(i); ++k)
      for (int64_t j = 0; j < c.columns; ++j)
        sums[static_cast<size_t>(j)] += multiply(rows.value(k), factor.at(rows.index(k), j));
    for (int64_t j = 0; j < c.columns; ++j)
      update(c.values, c.type, to.at(i, j), alpha, sums[static_cast<size_t>(j)], beta);
  });
}

/// C = alpha (op(A) op(B)) where C has entries + beta C.
template <class T>
void sample(const cusparseDnMatDescr& a, cusparseOperation_t opA, const cusparseDnMatDescr& b, cusparseOperation_t opB,
            T alpha, T beta, const cusparseSpMatDescr& c) {
  const Dense<T> left(a, opA), right(b, opB);
  const int64_t inner = isTurned(opA) ? a.rows : a.columns;
  eachEntry(c, [&](int64_t i, int64_t j, int64_t k) {
    T sum{};
    for (int64_t l = 0; l < inner; ++l) sum += multiply(left.at(i, l), right.at(l, j));
    update(c.values, c.type, k, alpha, sum, beta);
  });
}

template <class T>
T dot(const cusparseSpVecDescr& x, cusparseOperation_t op, const cusparseDnVecDescr& y) {
  const Indices at(x.indices, x.indexType, x.base);
  T sum{};
  for (int64_t k = 0; k < x.count; ++k) {
    const T value = load<T>(x.values, x.type, k);
    sum += multiply(op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE ? cublas::conjugateIf<true>(value) : value,
                    load<T>(y.values, y.type, at[k]));
  }
  return sum;
}

/// What cusparseSpMV and the call for its buffer refuse alike.
cusparseStatus_t refusalOfVector(cusparseHandle_t handle, cusparseOperation_t op, const void* alpha,
                                 cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t x, const void* beta,
                                 cusparseConstDnVecDescr_t y, cudaDataType compute, cusparseSpMVAlg_t algorithm) {
  ORDITO_CHECK(handle && a && x && y && alpha && beta && isOperation(op));
  ORDITO_CHECK(x->size == (isTurned(op) ? a->rows : a->columns) && y->size == (isTurned(op) ? a->columns : a->rows));
  ORDITO_CHECK(algorithm >= CUSPARSE_SPMV_ALG_DEFAULT && algorithm <= kLastVectorAlgorithm);
  const bool isForCoo = algorithm == CUSPARSE_SPMV_COO_ALG1 || algorithm == CUSPARSE_SPMV_COO_ALG2;
  ORDITO_CHECK(!isForCoo || a->format == CUSPARSE_FORMAT_COO);
  ORDITO_SUPPORTED(isCompute(compute) && isDouble(x->type) == isDouble(compute) &&
                   isDouble(y->type) == isDouble(compute) && (isDouble(compute) || !isDouble(a->type)));
  ORDITO_SUPPORTED(compute != CUDA_R_32I || a->type == CUDA_R_8I);
  return CUSPARSE_STATUS_SUCCESS;
}

/// What cusparseSpMM and the call for its buffer refuse alike.
cusparseStatus_t refusalOfMatrix(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB,
                                 const void* alpha, cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                                 const void* beta, cusparseConstDnMatDescr_t c, cudaDataType compute,
                                 cusparseSpMMAlg_t algorithm) {
  ORDITO_CHECK(handle && a && b && c && alpha && beta && isOperation(opA) && isOperation(opB));
  ORDITO_CHECK(fitsProduct(*a, opA, *b, opB, *c));
  ORDITO_CHECK(algorithm >= CUSPARSE_SPMM_ALG_DEFAULT && algorithm <= kLastMatrixAlgorithm);
  ORDITO_SUPPORTED(isCompute(compute));
  return CUSPARSE_STATUS_SUCCESS;
}

}  // namespace

extern "C" {

cusparseStatus_t cusparseSpMV_bufferSize(cusparseHandle_t handle, cusparseOperation_t op, const void* alpha,
                                         cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t x, const void* beta,
                                         cusparseDnVecDescr_t y, cudaDataType compute, cusparseSpMVAlg_t algorithm,
                                         size_t* size) {
  if (const auto refusal = refusalOfVector(handle, op, alpha, a, x, beta, y, compute, algorithm)) return refusal;
  return tellBuffer(handle, size);
}
/// Nothing is prepared.
cusparseStatus_t cusparseSpMV_preprocess(cusparseHandle_t handle, cusparseOperation_t, const void*,
                                         cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t x, const void*,
                                         cusparseDnVecDescr_t y, cudaDataType, cusparseSpMVAlg_t, void*) {
  ORDITO_CHECK(handle && a && x && y);
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSpMV(cusparseHandle_t handle, cusparseOperation_t op, const void* alpha,
                              cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t x, const void* beta,
                              cusparseDnVecDescr_t y, cudaDataType compute, cusparseSpMVAlg_t algorithm, void*) {
  if (const auto refusal = refusalOfVector(handle, op, alpha, a, x, beta, y, compute, algorithm)) return refusal;
  const Scalar one(handle, alpha, compute), other(handle, beta, compute);
  return submit(handle, "cusparseSpMV", [=, a = *a, x = *x, y = *y] {
    withCompute(compute, [&](auto zero) {
      using T = decltype(zero);
      multiplyVector<T>(a, op, x, one.as<T>(), other.as<T>(), y);
    });
  });
}

cusparseStatus_t cusparseSpMM_bufferSize(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB,
                                         const void* alpha, cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                                         const void* beta, cusparseDnMatDescr_t c, cudaDataType compute,
                                         cusparseSpMMAlg_t algorithm, size_t* size) {
  if (const auto refusal = refusalOfMatrix(handle, opA, opB, alpha, a, b, beta, c, compute, algorithm)) return refusal;
  return tellBuffer(handle, size);
}
cusparseStatus_t cusparseSpMM_preprocess(cusparseHandle_t handle, cusparseOperation_t, cusparseOperation_t, const void*,
                                         cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b, const void*,
                                         cusparseDnMatDescr_t c, cudaDataType, cusparseSpMMAlg_t, void*) {
  ORDITO_CHECK(handle && a && b && c);
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSpMM(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB,
                              const void* alpha, cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                              const void* beta, cusparseDnMatDescr_t c, cudaDataType compute,
                              cusparseSpMMAlg_t algorithm, void*) {
  if (const auto refusal = refusalOfMatrix(handle, opA, opB, alpha, a, b, beta, c, compute, algorithm)) return refusal;
  ORDITO_CHECK((a->batches == 1 || a->batches == c->batches) && (b->batches == 1 || b->batches == c->batches));
  const Scalar one(handle, alpha, compute), other(handle, beta, compute);
  return submit(handle, "cusparseSpMM", [=, a = *a, b = *b, c = *c] {
    withCompute(compute, [&](auto zero) {
      using T = decltype(zero);
      for (int i = 0; i < c.batches; ++i)
        multiplyMatrix<T>(ofBatch(a, i), opA, ofBatch(b, i), opB, one.as<T>(), other.as<T>(), ofBatch(c, i));
    });
  });
}

cusparseStatus_t cusparseSDDMM_bufferSize(cusparseHandle_t handle, cusparseOperation_t, cusparseOperation_t,
                                          const void*, cusparseConstDnMatDescr_t a, cusparseConstDnMatDescr_t b,
                                          const void*, cusparseSpMatDescr_t c, cudaDataType, cusparseSDDMMAlg_t,
                                          size_t* size) {
  ORDITO_CHECK(a && b && c);
  return tellBuffer(handle, size);
}
cusparseStatus_t cusparseSDDMM_preprocess(cusparseHandle_t handle, cusparseOperation_t, cusparseOperation_t,
                                          const void*, cusparseConstDnMatDescr_t a, cusparseConstDnMatDescr_t b,
                                          const void*, cusparseSpMatDescr_t c, cudaDataType, cusparseSDDMMAlg_t,
                                          void*) {
  ORDITO_CHECK(handle && a && b && c);
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSDDMM(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB,
                               const void* alpha, cusparseConstDnMatDescr_t a, cusparseConstDnMatDescr_t b,
                               const void* beta, cusparseSpMatDescr_t c, cudaDataType compute, cusparseSDDMMAlg_t,
                               void*) {
  ORDITO_CHECK(handle && a && b && c && alpha && beta && isOperation(opA) && isOperation(opB));
  ORDITO_CHECK(fitsProduct(*a, opA, *b, opB, *c));
  ORDITO_SUPPORTED(isCompute(compute));
  const Scalar one(handle, alpha, compute), other(handle, beta, compute);
  return submit(handle, "cusparseSDDMM", [=, a = *a, b = *b, c = *c] {
    withCompute(compute, [&](auto zero) {
      using T = decltype(zero);
      for (int i = 0; i < c.batches; ++i)
        sample<T>(ofBatch(a, i), opA, ofBatch(b, i), opB, one.as<T>(), other.as<T>(), ofBatch(c, i));
    });
  });
}

cusparseStatus_t cusparseSpVV_bufferSize(cusparseHandle_t handle, cusparseOperation_t, cusparseConstSpVecDescr_t x,
                                         cusparseConstDnVecDescr_t y, const void* result, cudaDataType, size_t* size) {
  ORDITO_CHECK(x && y && result);
  return tellBuffer(handle, size);
}
/// It needs no buffer, and wants one as a GPU's does.
cusparseStatus_t cusparseSpVV(cusparseHandle_t handle, cusparseOperation_t op, cusparseConstSpVecDescr_t x,
                              cusparseConstDnVecDescr_t y, void* result, cudaDataType compute, void* buffer) {
  ORDITO_CHECK(handle && x && y && result && buffer && x->size == y->size && isOperation(op));
  ORDITO_SUPPORTED(isCompute(compute));
  auto task = [=, x = *x, y = *y] {
    withCompute(compute, [&](auto zero) { store(result, compute, 0, dot<decltype(zero)>(x, op, y)); });
  };
  // The manual lets a capture have it, with a result of the host's, too.
  if (handle->pointerMode == CUSPARSE_POINTER_MODE_DEVICE || libs::isCaptured(handle->stream))
    return submit(handle, "cusparseSpVV", task);
  return submitAndAwait(handle, "cusparseSpVV", task);
}
/// x = c x + s y and y = c y - s x, where x has entries.
cusparseStatus_t cusparseRot(cusparseHandle_t handle, const void* c, const void* s, cusparseSpVecDescr_t x,
                             cusparseDnVecDescr_t y) {
  ORDITO_CHECK(handle && c && s && x && y && x->size == y->size && x->type == y->type);
  const cudaDataType compute = y->type == CUDA_R_16F || y->type == CUDA_R_16BF ? CUDA_R_32F : y->type;
  ORDITO_SUPPORTED(isCompute(compute));
  const Scalar cosine(handle, c, compute), sine(handle, s, compute);
  return submit(handle, "cusparseRot", [=, x = *x, y = *y] {
    withCompute(compute, [&](auto zero) {
      using T = decltype(zero);
      const T cc = cosine.as<T>(), ss = sine.as<T>();
      const Indices at(x.indices, x.indexType, x.base);
      for (int64_t k = 0; k < x.count; ++k) {
        const T one = load<T>(x.values, x.type, k), other = load<T>(y.values, y.type, at[k]);
        store(x.values, x.type, k, multiply(cc, one) + multiply(ss, other));
        store(y.values, y.type, at[k], multiply(cc, other) - multiply(ss, one));
      }
    });
  });
}

/// y = alpha x + beta y.
cusparseStatus_t cusparseAxpby(cusparseHandle_t handle, const void* alpha, cusparseConstSpVecDescr_t x,
                               const void* beta, cusparseDnVecDescr_t y) {
  ORDITO_CHECK(handle && alpha && beta && x && y && x->size == y->size);
  const cudaDataType compute = y->type == CUDA_R_16F || y->type == CUDA_R_16BF ? CUDA_R_32F : y->type;
  ORDITO_SUPPORTED(isCompute(compute));
  const Scalar one(handle, alpha, compute), other(handle, beta, compute);
  return submit(handle, "cusparseAxpby", [=, x = *x, y = *y] {
    withCompute(compute, [&](auto zero) {
      using T = decltype(zero);
      const T first = one.as<T>(), second = other.as<T>();
      if (second != T(1))
        for (int64_t i = 0; i < y.size; ++i) update(y.values, y.type, i, T(1), T(0), second);
      const Indices at(x.indices, x.indexType, x.base);
      for (int64_t k = 0; k < x.count; ++k) update(y.values, y.type, at[k], first, load<T>(x.values, x.type, k), T(1));
    });
  });
}
cusparseStatus_t cusparseGather(cusparseHandle_t handle, cusparseConstDnVecDescr_t y, cusparseSpVecDescr_t x) {
  ORDITO_CHECK(handle && x && y && x->size == y->size && x->type == y->type);
  return submit(handle, "cusparseGather", [x = *x, y = *y] {
    const Indices at(x.indices, x.indexType, x.base);
    withElement(x.type, [&](auto element) {
      using E = decltype(element);
      for (int64_t k = 0; k < x.count; ++k) static_cast<E*>(x.values)[k] = static_cast<const E*>(y.values)[at[k]];
    });
  });
}
cusparseStatus_t cusparseScatter(cusparseHandle_t handle, cusparseConstSpVecDescr_t x, cusparseDnVecDescr_t y) {
  ORDITO_CHECK(handle && x && y && x->size == y->size && x->type == y->type);
  return submit(handle, "cusparseScatter", [x = *x, y = *y] {
    const Indices at(x.indices, x.indexType, x.base);
    withElement(x.type, [&](auto element) {
      using E = decltype(element);
      for (int64_t k = 0; k < x.count; ++k) static_cast<E*>(y.values)[at[k]] = static_cast<const E*>(x.values)[k];
    });
  });
}

}  // extern "C"
}  // namespace ordito::cusparse
