// Matrices as cuBLASLt's layouts describe them: where an element lies, and columns of them in the type that is computed
// in.
#pragma once

#include "libs/cublas/elements.hpp"
#include "libs/cublaslt/descriptors.hpp"

namespace ordito::cublaslt {

/// Whether a factor stands for 128 elements, or for 128 rows of them.
inline bool areBlocks(int scaleMode) {
  return scaleMode == CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F ||
         scaleMode == CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F;
}

/// One matrix in memory.
struct Matrix {
  void* data = nullptr;
  cudaDataType type = CUDA_R_32F;
  cublasLtOrder_t order = CUBLASLT_ORDER_COL;
  int64_t rows = 0, columns = 0, leading = 0;
  /// From the real parts to the imaginary ones, in bytes, if they lie apart; then `type` is that of the parts.
  int64_t plane = 0;

  /// The element's index.
  int64_t place(int64_t row, int64_t column) const;
  char* at(int64_t row, int64_t column) const;
};

/// The i-th matrix of a batch that begins at `data`, or whose pointers are there.
Matrix matrixOf(const Layout& layout, const void* data, int64_t i);

/// The type of what lies side by side in memory: of a complex matrix in two planes, the parts' type.
cudaDataType elementOf(const Layout& layout);

/// Whether the leading dimension has room for the matrix.
bool hasRoom(const Layout& layout);

/// A column of elements as numbers of type I, and back with rounding to the matrix's type.
template <class I>
void loadColumn(const Matrix& matrix, int64_t column, I* to);
/// One element of a matrix in whatever order.
template <class I>
I loadElement(const Matrix& matrix, int64_t row, int64_t column);
template <class I>
void storeColumn(const Matrix& matrix, int64_t column, const I* from);

}  // namespace ordito::cublaslt
