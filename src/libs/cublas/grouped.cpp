// cuBLAS: groups of products, each group with sizes, scalars and a count of its own. The arrays that describe the
// groups are the host's and are copied at the call; the arrays of matrices are the device's and are read in the task.
#include <vector>

#include "libs/cublas/gemm_ex.hpp"

namespace ordito::cublas {
namespace {

/// What a call has for each group, as arrays.
template <class Int>
struct Groups {
  const cublasOperation_t *opA, *opB;
  const Int *m, *n, *k, *lda, *ldb, *ldc;
  Int count;
  const Int* sizes;

  bool areThere() const { return opA && opB && m && n && k && lda && ldb && ldc && sizes; }
};

struct Group {
  TypedProduct product;
  AnyScalar alpha, beta;
  int64_t first, count;  // of its matrices in the arrays
};

template <class Int>
cublasStatus_t multiplyGroups(cublasHandle_t handle, const Groups<Int>& groups, const TypedProduct& types,
                              const void* alphas, const void* const* a, const void* const* b, const void* betas,
                              void* const* c) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(groups.count >= 0);
  if (groups.count == 0) return CUBLAS_STATUS_SUCCESS;
  ORDITO_CHECK(groups.areThere() && alphas && betas && a && b && c);
  if (!types.isSupported() || handle->pointerMode == CUBLAS_POINTER_MODE_DEVICE) return CUBLAS_STATUS_NOT_SUPPORTED;
  const cudaDataType scaleType = types.scaleType();
  const auto scalar = [&](const void* array, Int i) {
    return AnyScalar(handle, static_cast<const char*>(array) + static_cast<size_t>(i) * sizeOf(scaleType), scaleType);
  };
  std::vector<Group> all;
  libs::Work work;
  int64_t first = 0;
  for (Int i = 0; i < groups.count; ++i) {
    TypedProduct one = types;
    one.p = {groups.opA[i], groups.opB[i], groups.m[i],   groups.n[i],
             groups.k[i],   groups.lda[i], groups.ldb[i], groups.ldc[i]};
    ORDITO_CHECK(one.p.isRight() && groups.sizes[i] >= 0);
    all.push_back({one, scalar(alphas, i), scalar(betas, i), first, groups.sizes[i]});
    first += groups.sizes[i];
    const libs::Work more = one.work(groups.sizes[i]);
    work.operations += more.operations, work.bytes += more.bytes;
  }
  return submit(
      handle, "cublas gemmGroupedBatched",
      [=, groups = std::move(all)] {
        for (const Group& group : groups)
          if (!group.product.p.isEmpty())
            multiplyMany(group.product.p, group.count, [&](int64_t i, bool) {
              const int64_t at = group.first + i;
              multiplyTyped(group.product, group.alpha, a[at], b[at], group.beta, c[at]);
            });
      },
      work);
}

template <class T>
const void* const* anyArray(const T* const* pointers) {
  return reinterpret_cast<const void* const*>(pointers);
}

}  // namespace

extern "C" {

#define GROUP_PARAMETERS(Int, T)                                                                            \
  cublasHandle_t h, const cublasOperation_t *opA, const cublasOperation_t *opB, const Int *m, const Int *n, \
      const Int *k, const T *alpha
#define DEFINE_TYPED(L, T, suffix, Int, type, compute)                                                                \
  cublasStatus_t cublas##L##gemmGroupedBatched##suffix(GROUP_PARAMETERS(Int, T), const T* const A[], const Int* lda,  \
                                                       const T* const B[], const Int* ldb, const T* beta,             \
                                                       T* const C[], const Int* ldc, Int groups, const Int* sizes) {  \
    return multiplyGroups<Int>(h, {opA, opB, m, n, k, lda, ldb, ldc, groups, sizes}, {{}, type, type, type, compute}, \
                               alpha, anyArray(A), anyArray(B), beta, reinterpret_cast<void* const*>(C));             \
  }
#define DEFINE(suffix, Int)                                                                                            \
  DEFINE_TYPED(S, float, suffix, Int, CUDA_R_32F, CUBLAS_COMPUTE_32F)                                                  \
  DEFINE_TYPED(D, double, suffix, Int, CUDA_R_64F, CUBLAS_COMPUTE_64F)                                                 \
  cublasStatus_t cublasGemmGroupedBatchedEx##suffix(                                                                   \
      GROUP_PARAMETERS(Int, void), const void* const A[], cudaDataType_t tA, const Int* lda, const void* const B[],    \
      cudaDataType_t tB, const Int* ldb, const void* beta, void* const C[], cudaDataType_t tC, const Int* ldc,         \
      Int groups, const Int* sizes, cublasComputeType_t compute) {                                                     \
    return multiplyGroups<Int>(h, {opA, opB, m, n, k, lda, ldb, ldc, groups, sizes}, {{}, tA, tB, tC, compute}, alpha, \
                               A, B, beta, C);                                                                         \
  }
DEFINE(, int)
DEFINE(_64, int64_t)
#undef DEFINE

}  // extern "C"
}  // namespace ordito::cublas
