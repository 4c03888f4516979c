// Elements of matrices in every order, widened and rounded.
#include "libs/cublaslt/matrices.hpp"

#include <type_traits>
#include <vector>

namespace ordito::cublaslt {
namespace {

using namespace cublas;

/// Rounds to the type of an element. Integers are to the nearest; those of eight bits stop at their ends.
template <class I, class E>
void round(I value, E& to) {
  if constexpr (std::is_same_v<I, E>)
    to = value;
  else if constexpr (kIsComplex<E>)
    to = converted<E>(value);
  else if constexpr (std::is_same_v<E, int8_t>)
    to = static_cast<int8_t>(std::lrint(std::clamp(converted<double>(value), -128.0, 127.0)));
  else if constexpr (std::is_same_v<E, int32_t>)
    narrow(std::nearbyint(converted<double>(value)), to);
  else if constexpr (std::is_same_v<E, double>)
    to = converted<double>(value);
  else
    narrow(converted<float>(value), to);
}

/// Calls with the place of each element of a column; neighbours in memory go without the arithmetic.
template <class Body>
void forColumn(const Matrix& matrix, int64_t column, const Body& body) {
  const int64_t first = matrix.place(0, column);
  if (matrix.order == CUBLASLT_ORDER_COL)
    for (int64_t row = 0; row < matrix.rows; ++row) body(row, first + row);
  else if (matrix.order == CUBLASLT_ORDER_ROW)
    for (int64_t row = 0; row < matrix.rows; ++row) body(row, first + row * matrix.leading);
  else
    for (int64_t row = 0; row < matrix.rows; ++row) body(row, matrix.place(row, column));
}

}  // namespace

/// The orders of tiles of 32 columns, as the manual's cublasLtOrder_t tells them: COL32 has rows of 32; COL4_4R2_8C has
/// tiles of 8 rows, in them the even rows before the odd ones, 8 columns at a time, 4 rows of 4 columns together;
/// COL32_2R_4R4 has tiles of 32 rows, in which rows stand in the order 0, 1, 8, 9, 16, 17, 24, 25, 2, 3, ...
int64_t Matrix::place(int64_t row, int64_t column) const {
  const int64_t tile = column / 32 * leading, inner = column % 32;
  switch (order) {
    case CUBLASLT_ORDER_COL: return row + column * leading;
    case CUBLASLT_ORDER_ROW: return row * leading + column;
    case CUBLASLT_ORDER_COL32: return tile + row * 32 + inner;
    case CUBLASLT_ORDER_COL4_4R2_8C:
      return tile + ((row / 8 * 8 + row % 2 * 4 + inner / 8) * 32) + (inner % 8 / 4 * 4 + row % 8 / 2) * 4 + column % 4;
    case CUBLASLT_ORDER_COL32_2R_4R4:
      return tile + row / 32 * 1024 + ((row % 8 / 2 * 4 + row % 32 / 8) * 2 + row % 2) * 32 + inner;
  }
  return 0;
}
cudaDataType elementOf(const Layout& layout) {
  const auto type = static_cast<cudaDataType>(layout.type);
  if (layout.planeOffset == 0) return type;
  switch (type) {
    case CUDA_C_16F: return CUDA_R_16F;
    case CUDA_C_16BF: return CUDA_R_16BF;
    case CUDA_C_32F: return CUDA_R_32F;
    case CUDA_C_64F: return CUDA_R_64F;
    default: return type;
  }
}

char* Matrix::at(int64_t row, int64_t column) const {
  return static_cast<char*>(data) + place(row, column) * static_cast<int64_t>(sizeOf(type));
}

Matrix matrixOf(const Layout& layout, const void* data, int64_t i) {
  Matrix matrix{const_cast<void*>(data),
                elementOf(layout),
                static_cast<cublasLtOrder_t>(layout.order),
                static_cast<int64_t>(layout.rows),
                static_cast<int64_t>(layout.columns),
                layout.leading,
                layout.planeOffset};
  if (!data) return matrix;
  if (layout.batchMode == CUBLASLT_BATCH_MODE_POINTER_ARRAY)
    matrix.data = static_cast<void* const*>(data)[i];
  else
    matrix.data = static_cast<char*>(matrix.data) + i * layout.stride * static_cast<int64_t>(sizeOf(matrix.type));
  return matrix;
}

bool hasRoom(const Layout& layout) {
  const auto rows = static_cast<int64_t>(layout.rows), columns = static_cast<int64_t>(layout.columns);
  const auto up = [](int64_t value, int64_t to) { return (value + to - 1) / to * to; };
  switch (layout.order) {
    case CUBLASLT_ORDER_COL: return layout.leading >= std::max<int64_t>(1, rows);
    case CUBLASLT_ORDER_ROW: return layout.leading >= std::max<int64_t>(1, columns);
    case CUBLASLT_ORDER_COL32: return layout.leading >= 32 * rows;
    case CUBLASLT_ORDER_COL4_4R2_8C: return layout.leading >= 32 * up(rows, 8);
    case CUBLASLT_ORDER_COL32_2R_4R4: return layout.leading >= 32 * up(rows, 32);
    default: return false;
  }
}

namespace {

/// One plane of a complex matrix, as a real one.
Matrix planeOf(Matrix matrix, bool isImaginary) {
  if (isImaginary) matrix.data = static_cast<char*>(matrix.data) + matrix.plane;
  matrix.plane = 0;
  return matrix;
}

}  // namespace

template <class I>
void loadColumn(const Matrix& matrix, int64_t column, I* to) {
  if constexpr (kIsComplex<I>) {
    if (matrix.plane != 0) {
      std::vector<Real<I>> real(static_cast<size_t>(matrix.rows)), imaginary(real.size());
      loadColumn(planeOf(matrix, false), column, real.data());
      loadColumn(planeOf(matrix, true), column, imaginary.data());
      for (size_t i = 0; i < real.size(); ++i) to[i] = I(real[i], imaginary[i]);
      return;
    }
  }
  if (matrix.type == CUDA_C_8I) {  // only read
    const auto* from = static_cast<const ComplexByte*>(matrix.data);
    return forColumn(matrix, column, [&](int64_t row, int64_t place) { to[row] = converted<I>(widen(from[place])); });
  }
  withElement(matrix.type, [&](auto element) {
    using E = decltype(element);
    const auto* from = static_cast<const E*>(matrix.data);
    forColumn(matrix, column, [&](int64_t row, int64_t place) { to[row] = converted<I>(from[place]); });
  });
}
template <class I>
I loadElement(const Matrix& matrix, int64_t row, int64_t column) {
  const char* place = matrix.at(row, column);
  if constexpr (kIsComplex<I>)
    if (matrix.plane != 0)
      return I(readAs<Real<I>>(matrix.type, place), readAs<Real<I>>(matrix.type, place + matrix.plane));
  return readAs<I>(matrix.type, place);
}
template <class I>
void storeColumn(const Matrix& matrix, int64_t column, const I* from) {
  if constexpr (kIsComplex<I>) {
    if (matrix.plane != 0) {
      std::vector<Real<I>> part(static_cast<size_t>(matrix.rows));
      for (const bool isImaginary : {false, true}) {
        std::transform(from, from + matrix.rows, part.begin(),
                       [&](const I& value) { return isImaginary ? value.imag() : value.real(); });
        storeColumn(planeOf(matrix, isImaginary), column, part.data());
      }
      return;
    }
  }
  withElement(matrix.type, [&](auto element) {
    using E = decltype(element);
    auto* to = static_cast<E*>(matrix.data);
    forColumn(matrix, column, [&](int64_t row, int64_t place) { round(from[row], to[place]); });
  });
}

#define INSTANTIATE(I)                                     \
  template void loadColumn(const Matrix&, int64_t, I*);    \
  template I loadElement(const Matrix&, int64_t, int64_t); \
  template void storeColumn(const Matrix&, int64_t, const I*);
INSTANTIATE(Float)
INSTANTIATE(Double)
INSTANTIATE(ComplexFloat)
INSTANTIATE(ComplexDouble)
#undef INSTANTIATE

}  // namespace ordito::cublaslt
