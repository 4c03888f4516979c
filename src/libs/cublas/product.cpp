// One product of matrices by OpenBLAS, cut into tiles for all threads: what cuBLAS and cuBLASLt compute with.
#include <algorithm>
#include <cmath>

#include "libs/cublas/gemm.hpp"

namespace ordito::cublas {

/// OpenBLAS does not read C where beta is 0.
template <class T>
void multiplyHere(const Product& p, T alpha, const T* a, const T* b, T beta, T* c) {
  if (p.k == 0 || alpha == T(0)) return scaleMatrix(p.m, p.n, beta, c, p.ldc);
  const int m = asInt(p.m), n = asInt(p.n), k = asInt(p.k), lda = asInt(p.lda), ldb = asInt(p.ldb), ldc = asInt(p.ldc);
  openBlas<T>().gemm(letter(p.opA), letter(p.opB), &m, &n, &k, &alpha, a, &lda, b, &ldb, &beta, c, &ldc);
}

/// OpenBLAS packs what it multiplies, so a thread does best with one tile that is nearly square.
template <class T>
void multiplyInTiles(const Product& p, T alpha, const T* a, const T* b, T beta, T* c) {
  constexpr double kWorthwhile = 1e6;
  const auto threads = static_cast<int64_t>(libs::parallelThreads());
  if (threads == 1 || p.operations() < kWorthwhile) return multiplyHere(p, alpha, a, b, beta, c);
  const double aspect = static_cast<double>(p.m) / static_cast<double>(p.n);
  int64_t rows = std::clamp<int64_t>(std::llround(std::sqrt(static_cast<double>(threads) * aspect)), 1, threads);
  while (threads % rows != 0) --rows;
  const int64_t columns = std::min(threads / rows, p.n);
  rows = std::min(rows, p.m);
  libs::parallelFor(static_cast<unsigned>(rows * columns), [&](unsigned tile) {
    const int64_t row = tile % rows, column = tile / rows;
    const int64_t i = p.m * row / rows, j = p.n * column / columns;
    Product part = p;
    part.m = p.m * (row + 1) / rows - i, part.n = p.n * (column + 1) / columns - j;
    const T* from = p.opA == CUBLAS_OP_N ? a + i : a + i * p.lda;
    const T* by = p.opB == CUBLAS_OP_N ? b + j * p.ldb : b + j;
    multiplyHere(part, alpha, from, by, beta, c + i + j * p.ldc);
  });
}

#define INSTANTIATE(T)                                                      \
  template void multiplyHere(const Product&, T, const T*, const T*, T, T*); \
  template void multiplyInTiles(const Product&, T, const T*, const T*, T, T*);
INSTANTIATE(Float)
INSTANTIATE(Double)
INSTANTIATE(ComplexFloat)
INSTANTIATE(ComplexDouble)
#undef INSTANTIATE

}  // namespace ordito::cublas
