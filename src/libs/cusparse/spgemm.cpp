// The product of two sparse matrices. Its calls come in the order workEstimation, compute, copy: the number of entries
// has to be known on the host before the program can allocate the result, so compute waits, and keeps the product in
// the call's descriptor until it is copied.
#include <memory>

#include "libs/cusparse/rows.hpp"

struct cusparseSpGEMMDescr {
  struct Product {
    std::vector<int64_t> offsets, columns;
    std::vector<ordito::cusparse::ComplexDouble> values;
    int64_t multiplications = 0;
  };
  std::shared_ptr<Product> product = std::make_shared<Product>();
};

namespace ordito::cusparse {
namespace {

using Product = cusparseSpGEMMDescr::Product;

/// Row by row, in an array with a place for each column; columns of a row in order.
template <class T>
void multiplySparse(const cusparseSpMatDescr& a, const cusparseSpMatDescr& b, T alpha, Product& product) {
  const auto left = rowsOf<T>(a, CUSPARSE_OPERATION_NON_TRANSPOSE),
             right = rowsOf<T>(b, CUSPARSE_OPERATION_NON_TRANSPOSE);
  product = {{0}, {}, {}, 0};
  std::vector<T> sums(static_cast<size_t>(right.columns));
  std::vector<int64_t> last(static_cast<size_t>(right.columns), -1), columns;
  for (int64_t i = 0; i < left.rows; ++i) {
    columns.clear();
    for (int64_t k = left.begin(i); k < left.end(i); ++k)
      for (int64_t l = right.begin(left.index(k)); l < right.end(left.index(k)); ++l, ++product.multiplications) {
        const size_t j = static_cast<size_t>(right.index(l));
        if (last[j] != i) last[j] = i, sums[j] = T(0), columns.push_back(right.index(l));
        sums[j] += multiply(left.value(k), right.value(l));
      }
    std::sort(columns.begin(), columns.end());
    for (const int64_t j : columns) {
      product.columns.push_back(j);
      product.values.push_back(converted<ComplexDouble>(multiply(alpha, sums[static_cast<size_t>(j)])));
    }
    product.offsets.push_back(static_cast<int64_t>(product.columns.size()));
  }
}

bool fit(cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b, cusparseConstSpMatDescr_t c) {
  return a->columns == b->rows && a->rows == c->rows && b->columns == c->columns;
}
bool areCsr(cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b, cusparseConstSpMatDescr_t c) {
  auto is = [](cusparseConstSpMatDescr_t m) { return m->format == CUSPARSE_FORMAT_CSR; };
  return is(a) && is(b) && is(c);
}

cusparseStatus_t check(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB, const void* alpha,
                       cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b, const void* beta,
                       cusparseConstSpMatDescr_t c, cudaDataType compute, cusparseSpGEMMDescr_t descriptor) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(alpha && beta && a && b && c && descriptor && fit(a, b, c));
  ORDITO_SUPPORTED(opA == CUSPARSE_OPERATION_NON_TRANSPOSE && opB == CUSPARSE_OPERATION_NON_TRANSPOSE);
  ORDITO_SUPPORTED(areCsr(a, b, c) && isCompute(compute));
  // The result is allocated for the product's entries only, so there is nothing that could be added to them. A beta in
  // device memory is looked at by the task that multiplies.
  ORDITO_SUPPORTED(handle->pointerMode == CUSPARSE_POINTER_MODE_DEVICE || Scalar(handle, beta, compute).isZero());
  return CUSPARSE_STATUS_SUCCESS;
}

}  // namespace

extern "C" {

cusparseStatus_t cusparseSpGEMM_createDescr(cusparseSpGEMMDescr_t* descriptor) { return makeDescriptor(descriptor); }
cusparseStatus_t cusparseSpGEMM_destroyDescr(cusparseSpGEMMDescr_t descriptor) { return destroyDescriptor(descriptor); }
cusparseStatus_t cusparseSpGEMM_workEstimation(cusparseHandle_t handle, cusparseOperation_t opA,
                                               cusparseOperation_t opB, const void* alpha, cusparseConstSpMatDescr_t a,
                                               cusparseConstSpMatDescr_t b, const void* beta, cusparseSpMatDescr_t c,
                                               cudaDataType compute, cusparseSpGEMMAlg_t,
                                               cusparseSpGEMMDescr_t descriptor, size_t* size, void*) {
  if (const cusparseStatus_t bad = tellBufferSize(size)) return bad;
  return check(handle, opA, opB, alpha, a, b, beta, c, compute, descriptor);
}
/// Without a buffer this is a question for its size.
cusparseStatus_t cusparseSpGEMM_compute(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB,
                                        const void* alpha, cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b,
                                        const void* beta, cusparseSpMatDescr_t c, cudaDataType compute,
                                        cusparseSpGEMMAlg_t, cusparseSpGEMMDescr_t descriptor, size_t* size,
                                        void* buffer) {
  if (const cusparseStatus_t bad = tellBufferSize(size)) return bad;
  const cusparseStatus_t status = check(handle, opA, opB, alpha, a, b, beta, c, compute, descriptor);
  if (status != CUSPARSE_STATUS_SUCCESS || !buffer) return status;
  const Scalar scalar(handle, alpha, compute), other(handle, beta, compute);
  const auto adds = std::make_shared<bool>(false);
  const cusparseStatus_t done =
      submitAndAwait(handle, "cusparseSpGEMM_compute", [=, a = *a, b = *b, product = descriptor->product] {
        *product = {};
        *adds = !other.isZero();
        if (*adds) return;
        withCompute(compute, [&](auto zero) {
          using T = decltype(zero);
          multiplySparse<T>(a, b, scalar.as<T>(), *product);
        });
      });
  ORDITO_SUPPORTED(done != CUSPARSE_STATUS_SUCCESS || !*adds);
  if (done == CUSPARSE_STATUS_SUCCESS) c->count = static_cast<int64_t>(descriptor->product->columns.size());
  return done;
}
cusparseStatus_t cusparseSpGEMM_copy(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB,
                                     const void* alpha, cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b,
                                     const void* beta, cusparseSpMatDescr_t c, cudaDataType compute,
                                     cusparseSpGEMMAlg_t, cusparseSpGEMMDescr_t descriptor) {
  const cusparseStatus_t status = check(handle, opA, opB, alpha, a, b, beta, c, compute, descriptor);
  if (status != CUSPARSE_STATUS_SUCCESS) return status;
  ORDITO_CHECK(descriptor->product->offsets.size() == static_cast<size_t>(c->rows) + 1);
  return submit(handle, "cusparseSpGEMM_copy", [c = *c, product = descriptor->product] {
    for (size_t i = 0; i < product->offsets.size(); ++i)
      storeIndex(c.offsets, c.offsetType, static_cast<int64_t>(i), product->offsets[i] + c.base);
    for (size_t k = 0; k < product->columns.size(); ++k) {
      storeIndex(c.indices, c.indexType, static_cast<int64_t>(k), product->columns[k] + c.base);
      store(c.values, c.type, static_cast<int64_t>(k), product->values[k]);
    }
  });
}
cusparseStatus_t cusparseSpGEMM_getNumProducts(cusparseSpGEMMDescr_t descriptor, int64_t* count) {
  ORDITO_CHECK(descriptor && count);
  *count = descriptor->product->multiplications;
  return CUSPARSE_STATUS_SUCCESS;
}

}  // extern "C"
}  // namespace ordito::cusparse
