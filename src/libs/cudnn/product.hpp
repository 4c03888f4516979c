// Products of small matrices, by OpenBLAS.
#pragma once

#include "libs/cublas/openblas.hpp"

namespace ordito::libs::cudnn {

/// C = op(A) op(B) + beta C of matrices stored by rows, m by n. BLAS stores by columns, so it is asked for the
/// transposed of all.
template <class T>
void multiply(bool isTransposedA, bool isTransposedB, int m, int n, int k, const T* a, const T* b, T beta, T* c) {
  const T one = 1;
  const int lda = isTransposedA ? m : k, ldb = isTransposedB ? k : n;
  ordito::cublas::openBlas<T>().gemm(isTransposedB ? "T" : "N", isTransposedA ? "T" : "N", &n, &m, &k, &one, b, &ldb, a,
                                     &lda, &beta, c, &n);
}

}  // namespace ordito::libs::cudnn
