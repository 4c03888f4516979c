// The product of two sparse matrices, C' = alpha A B + beta C. Its calls come in the order workEstimation, compute,
// copy: the number of entries has to be known on the host before the program can allocate the result, so compute waits,
// and keeps the product in the call's descriptor until it is copied. The other form (SpGEMMreuse) finds the pattern
// once, and then values as often as one likes.
#include <memory>

#include "libs/cusparse/sparse_product.hpp"

struct cusparseSpGEMMDescr {
  std::shared_ptr<ordito::cusparse::Product> product = std::make_shared<ordito::cusparse::Product>();
};

namespace ordito::cusparse {
namespace {

bool hasEntries(const cusparseSpMatDescr& c) { return c.count > 0 && c.offsets && c.indices && c.values; }

template <class T>
void computeIfItFits(SparseProduct<T> multiplication, Product& product) {
  product = {};
  product.isTooLarge = !multiplication.fits();
  if (!product.isTooLarge) multiplication.compute(product);
}

void multiplySparse(cudaDataType compute, const cusparseSpMatDescr& a, const cusparseSpMatDescr& b,
                    const cusparseSpMatDescr* c, const Scalar& alpha, const Scalar& beta, Product& product) {
  withCompute(compute, [&](auto zero) {
    using T = decltype(zero);
    computeIfItFits(SparseProduct<T>(a, b, c, alpha.as<T>(), beta.as<T>()), product);
  });
}

/// What a call answers that waited for the product and tells the program how many entries there are.
cusparseStatus_t told(cusparseStatus_t done, const Product& product, cusparseSpMatDescr& c) {
  if (done != CUSPARSE_STATUS_SUCCESS) return done;
  if (product.isTooLarge) return CUSPARSE_STATUS_INSUFFICIENT_RESOURCES;
  c.count = static_cast<int64_t>(product.columns.size());
  return CUSPARSE_STATUS_SUCCESS;
}

bool fit(cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b, cusparseConstSpMatDescr_t c) {
  return a->columns == b->rows && a->rows == c->rows && b->columns == c->columns;
}
bool areCsr(cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b, cusparseConstSpMatDescr_t c) {
  auto is = [](cusparseConstSpMatDescr_t m) { return m->format == CUSPARSE_FORMAT_CSR; };
  return is(a) && is(b) && is(c);
}

cusparseStatus_t check(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB,
                       cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b, cusparseConstSpMatDescr_t c,
                       const cusparseSpGEMMDescr* descriptor) {
  ORDITO_CHECK(handle && a && b && c && descriptor && fit(a, b, c));
  ORDITO_SUPPORTED(opA == CUSPARSE_OPERATION_NON_TRANSPOSE && opB == CUSPARSE_OPERATION_NON_TRANSPOSE);
  ORDITO_SUPPORTED(areCsr(a, b, c));
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t check(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB, const void* alpha,
                       cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b, const void* beta,
                       cusparseConstSpMatDescr_t c, cudaDataType compute, cusparseSpGEMMDescr_t descriptor) {
  if (const cusparseStatus_t bad = check(handle, opA, opB, a, b, c, descriptor)) return bad;
  ORDITO_CHECK(alpha && beta);
  ORDITO_SUPPORTED(isCompute(compute));
  return CUSPARSE_STATUS_SUCCESS;
}

/// What the product has, where the program's arrays are for it.
void copyPattern(const Product& product, const cusparseSpMatDescr& c) {
  for (size_t i = 0; i < product.offsets.size(); ++i)
    storeIndex(c.offsets, c.offsetType, static_cast<int64_t>(i), product.offsets[i] + c.base);
  for (size_t k = 0; k < product.columns.size(); ++k)
    storeIndex(c.indices, c.indexType, static_cast<int64_t>(k), product.columns[k] + c.base);
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
/// Without its third buffer this is a question for that one's size; both may be small.
cusparseStatus_t cusparseSpGEMM_estimateMemory(cusparseHandle_t handle, cusparseOperation_t opA,
                                               cusparseOperation_t opB, const void* alpha, cusparseConstSpMatDescr_t a,
                                               cusparseConstSpMatDescr_t b, const void* beta, cusparseSpMatDescr_t c,
                                               cudaDataType compute, cusparseSpGEMMAlg_t,
                                               cusparseSpGEMMDescr_t descriptor, float fraction, size_t* thirdSize,
                                               void* third, size_t* secondSize) {
  if (const cusparseStatus_t bad = tellBufferSize(thirdSize)) return bad;
  if (const cusparseStatus_t bad = check(handle, opA, opB, alpha, a, b, beta, c, compute, descriptor)) return bad;
  ORDITO_CHECK(fraction > 0 && fraction <= 1);
  return third ? tellBufferSize(secondSize) : CUSPARSE_STATUS_SUCCESS;
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
  const Scalar one(handle, alpha, compute), other(handle, beta, compute);
  const cusparseStatus_t done =
      submitAndAwait(handle, "cusparseSpGEMM_compute", [=, a = *a, b = *b, c = *c, product = descriptor->product] {
        multiplySparse(compute, a, b, hasEntries(c) && !other.isZero() ? &c : nullptr, one, other, *product);
      });
  return told(done, *descriptor->product, *c);
}
cusparseStatus_t cusparseSpGEMM_copy(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB,
                                     const void* alpha, cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b,
                                     const void* beta, cusparseSpMatDescr_t c, cudaDataType compute,
                                     cusparseSpGEMMAlg_t, cusparseSpGEMMDescr_t descriptor) {
  const cusparseStatus_t status = check(handle, opA, opB, alpha, a, b, beta, c, compute, descriptor);
  if (status != CUSPARSE_STATUS_SUCCESS) return status;
  ORDITO_CHECK(descriptor->product->offsets.size() == static_cast<size_t>(c->rows) + 1);
  return submit(handle, "cusparseSpGEMM_copy", [c = *c, product = descriptor->product] {
    copyPattern(*product, c);
    for (size_t k = 0; k < product->columns.size(); ++k)
      store(c.values, c.type, static_cast<int64_t>(k), product->values[k]);
  });
}
cusparseStatus_t cusparseSpGEMM_getNumProducts(cusparseSpGEMMDescr_t descriptor, int64_t* count) {
  ORDITO_CHECK(descriptor && count);
  *count = descriptor->product->multiplications;
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSpGEMMreuse_workEstimation(cusparseHandle_t handle, cusparseOperation_t opA,
                                                    cusparseOperation_t opB, cusparseConstSpMatDescr_t a,
                                                    cusparseConstSpMatDescr_t b, cusparseSpMatDescr_t c,
                                                    cusparseSpGEMMAlg_t, cusparseSpGEMMDescr_t descriptor, size_t* size,
                                                    void*) {
  if (const cusparseStatus_t bad = tellBufferSize(size)) return bad;
  return check(handle, opA, opB, a, b, c, descriptor);
}
/// Without its buffers this is a question for their sizes.
cusparseStatus_t cusparseSpGEMMreuse_nnz(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB,
                                         cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b,
                                         cusparseSpMatDescr_t c, cusparseSpGEMMAlg_t, cusparseSpGEMMDescr_t descriptor,
                                         size_t* second, void* buffer, size_t* third, void*, size_t* fourth, void*) {
  for (size_t* size : {second, third, fourth})
    if (const cusparseStatus_t bad = tellBufferSize(size)) return bad;
  const cusparseStatus_t status = check(handle, opA, opB, a, b, c, descriptor);
  if (status != CUSPARSE_STATUS_SUCCESS || !buffer) return status;
  // Only the pattern is asked for: values need not be there yet.
  const cusparseStatus_t done =
      submitAndAwait(handle, "cusparseSpGEMMreuse_nnz", [a = *a, b = *b, product = descriptor->product] {
        std::vector<float> left, right;
        computeIfItFits(SparseProduct<float>(patternOf(a, left), patternOf(b, right), nullptr, 1, 0), *product);
      });
  return told(done, *descriptor->product, *c);
}
/// Without a buffer this is a question for its size.
cusparseStatus_t cusparseSpGEMMreuse_copy(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB,
                                          cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b,
                                          cusparseSpMatDescr_t c, cusparseSpGEMMAlg_t, cusparseSpGEMMDescr_t descriptor,
                                          size_t* size, void* buffer) {
  if (const cusparseStatus_t bad = tellBufferSize(size)) return bad;
  const cusparseStatus_t status = check(handle, opA, opB, a, b, c, descriptor);
  if (status != CUSPARSE_STATUS_SUCCESS || !buffer) return status;
  ORDITO_CHECK(descriptor->product->offsets.size() == static_cast<size_t>(c->rows) + 1);
  return submit(handle, "cusparseSpGEMMreuse_copy",
                [c = *c, product = descriptor->product] { copyPattern(*product, c); });
}
/// Values in the pattern that was copied.
cusparseStatus_t cusparseSpGEMMreuse_compute(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB,
                                             const void* alpha, cusparseConstSpMatDescr_t a,
                                             cusparseConstSpMatDescr_t b, const void* beta, cusparseSpMatDescr_t c,
                                             cudaDataType compute, cusparseSpGEMMAlg_t,
                                             cusparseSpGEMMDescr_t descriptor) {
  const cusparseStatus_t status = check(handle, opA, opB, alpha, a, b, beta, c, compute, descriptor);
  if (status != CUSPARSE_STATUS_SUCCESS) return status;
  ORDITO_CHECK(descriptor->product->offsets.size() == static_cast<size_t>(c->rows) + 1);
  const Scalar one(handle, alpha, compute), other(handle, beta, compute);
  return submit(handle, "cusparseSpGEMMreuse_compute", [=, a = *a, b = *b, c = *c] {
    Product product;
    multiplySparse(compute, a, b, other.isZero() ? nullptr : &c, one, other, product);
    for (size_t k = 0; k < product.columns.size(); ++k)
      store(c.values, c.type, static_cast<int64_t>(k), product.values[k]);
  });
}

}  // extern "C"
}  // namespace ordito::cusparse
