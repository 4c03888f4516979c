// Factorisations as MAGMA does them: host and device share the work. The host factors a panel of a few columns, which
// has little to do and many decisions; the device brings the rest up to date with products of matrices, which is nearly
// all of the work. Columns of the matrix travel between them.
#pragma once

#include "context.hpp"

namespace lab {

constexpr std::size_t kPanel = 16;  // columns of a panel

/// A square matrix of doubles by columns on the device, of which parts come to the host and go back.
class HybridMatrix {
 public:
  HybridMatrix(std::size_t rows, const std::vector<double>& elements) : rows_(rows), device_(rows * rows) {
    device_.upload(elements.data(), elements.size());
    LIBRARY_CHECK(cublasCreate(&handle_));
  }
  ~HybridMatrix() { cublasDestroy(handle_); }
  HybridMatrix(const HybridMatrix&) = delete;
  HybridMatrix& operator=(const HybridMatrix&) = delete;

  cublasHandle_t handle() const { return handle_; }
  double* at(std::size_t r, std::size_t c) const { return device_.get() + columnMajor(r, c, rows_); }
  int leading() const { return static_cast<int>(std::max<std::size_t>(rows_, 1)); }

  /// The part of `height` by `width` that begins at (r, c), by columns.
  std::vector<double> take(std::size_t r, std::size_t c, std::size_t height, std::size_t width) const {
    std::vector<double> part(height * width);
    LIBRARY_CHECK(cublasGetMatrix(static_cast<int>(height), static_cast<int>(width), sizeof(double), at(r, c),
                                  leading(), part.data(), static_cast<int>(height)));
    return part;
  }
  void put(const std::vector<double>& part, std::size_t r, std::size_t c, std::size_t height, std::size_t width) {
    LIBRARY_CHECK(cublasSetMatrix(static_cast<int>(height), static_cast<int>(width), sizeof(double), part.data(),
                                  static_cast<int>(height), at(r, c), leading()));
  }

 private:
  std::size_t rows_;
  DeviceArray<double> device_;
  cublasHandle_t handle_ = nullptr;
};

/// A matrix that is its own mirror image and whose diagonal outweighs the rest, so that each way can factor it.
inline std::vector<double> factorable(const Context& c) {
  const std::vector<float> some = c.numbers(c.rows * c.rows, 15);
  std::vector<double> all(some.size());
  for (std::size_t r = 0; r < c.rows; ++r) {
    for (std::size_t col = 0; col < c.rows; ++col) {
      all[columnMajor(r, col, c.rows)] = some[columnMajor(std::max(r, col), std::min(r, col), c.rows)];
    }
    all[columnMajor(r, r, c.rows)] += 8.0 * static_cast<double>(c.rows);
  }
  return all;
}

/// The panel's own L L^T: of its square at the top; what is below it is divided by the same.
inline void factorCholeskyPanel(std::vector<double>& panel, std::size_t height, std::size_t width) {
  for (std::size_t k = 0; k < width; ++k) {
    for (std::size_t j = 0; j < k; ++j) {
      for (std::size_t r = k; r < height; ++r) panel[k * height + r] -= panel[j * height + r] * panel[j * height + k];
    }
    const double root = std::sqrt(panel[k * height + k]);
    for (std::size_t r = k; r < height; ++r) panel[k * height + r] /= root;
  }
}

/// A = L L^T, the rest of which each panel changes by its product with itself (a symmetric update).
inline void choleskyHybrid(HybridMatrix& matrix, std::size_t rows) {
  const double minusOne = -1, one = 1;
  for (std::size_t first = 0; first < rows; first += kPanel) {
    const std::size_t width = std::min(kPanel, rows - first), height = rows - first, rest = height - width;
    std::vector<double> panel = matrix.take(first, first, height, width);
    factorCholeskyPanel(panel, height, width);
    matrix.put(panel, first, first, height, width);
    if (rest == 0) return;
    LIBRARY_CHECK(cublasDsyrk(matrix.handle(), CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, static_cast<int>(rest),
                              static_cast<int>(width), &minusOne, matrix.at(first + width, first), matrix.leading(),
                              &one, matrix.at(first + width, first + width), matrix.leading()));
  }
}

/// The panel's own L U, without exchanging rows: the diagonal outweighs the rest.
inline void factorLuPanel(std::vector<double>& panel, std::size_t height, std::size_t width) {
  for (std::size_t k = 0; k < width; ++k) {
    for (std::size_t r = k + 1; r < height; ++r) panel[k * height + r] /= panel[k * height + k];
    for (std::size_t j = k + 1; j < width; ++j) {
      for (std::size_t r = k + 1; r < height; ++r)
        panel[j * height + r] -= panel[k * height + r] * panel[j * height + k];
    }
  }
}

/// A = L U: for each panel a triangular system for the rows beside it, and a product for what is below these.
inline void luHybrid(HybridMatrix& matrix, std::size_t rows) {
  const double minusOne = -1, one = 1;
  const int leading = matrix.leading();
  for (std::size_t first = 0; first < rows; first += kPanel) {
    const std::size_t width = std::min(kPanel, rows - first), height = rows - first, rest = height - width;
    std::vector<double> panel = matrix.take(first, first, height, width);
    factorLuPanel(panel, height, width);
    matrix.put(panel, first, first, height, width);
    if (rest == 0) return;
    const std::size_t next = first + width;
    const int n = static_cast<int>(rest), k = static_cast<int>(width);
    LIBRARY_CHECK(cublasDtrsm(matrix.handle(), CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_UNIT,
                              k, n, &one, matrix.at(first, first), leading, matrix.at(first, next), leading));
    LIBRARY_CHECK(cublasDgemm(matrix.handle(), CUBLAS_OP_N, CUBLAS_OP_N, n, n, k, &minusOne, matrix.at(next, first),
                              leading, matrix.at(first, next), leading, &one, matrix.at(next, next), leading));
  }
}

/// The panel's columns made orthonormal among themselves (twice, since rounding spoils the first time); R is what they
/// were in terms of these.
inline void factorQrPanel(std::vector<double>& panel, std::vector<double>& r, std::size_t rows, std::size_t first,
                          std::size_t width) {
  auto dot = [&](std::size_t a, std::size_t b) {
    double sum = 0;
    for (std::size_t i = 0; i < rows; ++i) sum += panel[a * rows + i] * panel[b * rows + i];
    return sum;
  };
  for (std::size_t k = 0; k < width; ++k) {
    for (int pass = 0; pass < 2; ++pass) {
      for (std::size_t j = 0; j < k; ++j) {
        const double part = dot(j, k);
        r[columnMajor(first + j, first + k, rows)] += part;
        for (std::size_t i = 0; i < rows; ++i) panel[k * rows + i] -= part * panel[j * rows + i];
      }
    }
    const double length = std::sqrt(dot(k, k));
    r[columnMajor(first + k, first + k, rows)] = length;
    for (std::size_t i = 0; i < rows; ++i) panel[k * rows + i] /= length;
  }
}

/// A = Q R: each panel is taken out of the columns to its right, by two products.
inline std::vector<double> qrHybrid(HybridMatrix& matrix, std::size_t rows) {
  std::vector<double> r(rows * rows, 0);
  const double minusOne = -1, one = 1, zero = 0;
  const DeviceArray<double> device(kPanel * rows);
  for (std::size_t first = 0; first < rows; first += kPanel) {
    const std::size_t width = std::min(kPanel, rows - first), next = first + width, rest = rows - next;
    std::vector<double> panel = matrix.take(0, first, rows, width);
    factorQrPanel(panel, r, rows, first, width);
    matrix.put(panel, 0, first, rows, width);
    if (rest == 0) break;
    const int n = static_cast<int>(rest), k = static_cast<int>(width), m = static_cast<int>(rows);
    LIBRARY_CHECK(cublasDgemm(matrix.handle(), CUBLAS_OP_T, CUBLAS_OP_N, k, n, m, &one, matrix.at(0, first), m,
                              matrix.at(0, next), m, &zero, device.get(), k));
    LIBRARY_CHECK(cublasDgemm(matrix.handle(), CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &minusOne, matrix.at(0, first), m,
                              device.get(), k, &one, matrix.at(0, next), m));
    std::vector<double> parts(width * rest);
    device.download(parts.data(), parts.size());
    for (std::size_t col = 0; col < rest; ++col) {
      for (std::size_t j = 0; j < width; ++j) r[columnMajor(first + j, next + col, rows)] = parts[col * width + j];
    }
  }
  return r;
}

inline std::vector<double> productByColumns(const std::vector<double>& a, const std::vector<double>& b,
                                            std::size_t rows) {
  std::vector<double> result(rows * rows, 0);
  for (std::size_t col = 0; col < rows; ++col) {
    for (std::size_t k = 0; k < rows; ++k) {
      for (std::size_t r = 0; r < rows; ++r) result[col * rows + r] += a[k * rows + r] * b[col * rows + k];
    }
  }
  return result;
}

inline std::vector<double> mirrored(const std::vector<double>& a, std::size_t rows) {
  std::vector<double> result(a.size());
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < rows; ++j) result[i * rows + j] = a[j * rows + i];
  }
  return result;
}

inline std::vector<double> identity(std::size_t rows) {
  std::vector<double> one(rows * rows, 0);
  for (std::size_t i = 0; i < rows; ++i) one[columnMajor(i, i, rows)] = 1;
  return one;
}

/// The lower triangle; `unit`: with ones on the diagonal.
inline std::vector<double> lowerOf(std::vector<double> a, std::size_t rows, bool unit) {
  for (std::size_t col = 0; col < rows; ++col) {
    for (std::size_t r = 0; r < col; ++r) a[columnMajor(r, col, rows)] = 0;
    if (unit) a[columnMajor(col, col, rows)] = 1;
  }
  return a;
}

inline std::vector<double> upperOf(std::vector<double> a, std::size_t rows) {
  for (std::size_t col = 0; col < rows; ++col) {
    for (std::size_t r = col + 1; r < rows; ++r) a[columnMajor(r, col, rows)] = 0;
  }
  return a;
}

/// Factors a fresh matrix in each round, and asks whether the factors' product is the matrix again.
template <class Factor, class Product>
void runHybrid(Context& c, Measurement& row, Factor factor, Product product) {
  const std::vector<double> a = factorable(c);
  const double tolerance = 1e-10 * (static_cast<double>(c.rows) + 1);
  bool isRight = true;
  timeCpuRounds(
      c.options.rounds, row, [] {},
      [&] {
        HybridMatrix matrix(c.rows, a);
        factor(matrix);
        if (c.rows == 0) return;
        const std::vector<double> found = matrix.take(0, 0, c.rows, c.rows);
        isRight = isRight && areClose(product(found), a, tolerance);
      });
  judge(row, isRight);
}

inline void runCholesky(Context& c, Measurement& row) {
  runHybrid(
      c, row, [&](HybridMatrix& matrix) { choleskyHybrid(matrix, c.rows); },
      [&](const std::vector<double>& found) {
        const std::vector<double> lower = lowerOf(found, c.rows, false);
        return productByColumns(lower, mirrored(lower, c.rows), c.rows);
      });
}

inline void runLu(Context& c, Measurement& row) {
  runHybrid(
      c, row, [&](HybridMatrix& matrix) { luHybrid(matrix, c.rows); },
      [&](const std::vector<double>& found) {
        return productByColumns(lowerOf(found, c.rows, true), upperOf(found, c.rows), c.rows);
      });
}

inline void runQr(Context& c, Measurement& row) {
  std::vector<double> r;
  bool isOrthonormal = true;
  runHybrid(
      c, row, [&](HybridMatrix& matrix) { r = qrHybrid(matrix, c.rows); },
      [&](const std::vector<double>& q) {
        const std::vector<double> angles = productByColumns(mirrored(q, c.rows), q, c.rows);
        isOrthonormal = isOrthonormal && areClose(angles, identity(c.rows), 1e-10);
        return productByColumns(q, r, c.rows);
      });
  if (!isOrthonormal) judge(row, false);
}

/// A V = U S: pairs of columns are turned until all are at right angles to each other (Jacobi's method), with the
/// library's scalar products and rotations. What the columns then are long are the singular values.
inline void svdJacobi(HybridMatrix& a, HybridMatrix& v, std::size_t rows) {
  const int n = static_cast<int>(rows);
  for (bool isTurning = true; isTurning;) {
    isTurning = false;
    for (std::size_t p = 0; p < rows; ++p) {
      for (std::size_t q = p + 1; q < rows; ++q) {
        double pp = 0, qq = 0, pq = 0;
        LIBRARY_CHECK(cublasDdot(a.handle(), n, a.at(0, p), 1, a.at(0, p), 1, &pp));
        LIBRARY_CHECK(cublasDdot(a.handle(), n, a.at(0, q), 1, a.at(0, q), 1, &qq));
        LIBRARY_CHECK(cublasDdot(a.handle(), n, a.at(0, p), 1, a.at(0, q), 1, &pq));
        if (std::abs(pq) <= 1e-14 * std::sqrt(pp * qq)) continue;
        isTurning = true;
        const double ratio = (qq - pp) / (2 * pq);
        const double tangent = (ratio < 0 ? -1 : 1) / (std::abs(ratio) + std::sqrt(1 + ratio * ratio));
        const double cosine = 1 / std::sqrt(1 + tangent * tangent), sine = -cosine * tangent;
        LIBRARY_CHECK(cublasDrot(a.handle(), n, a.at(0, p), 1, a.at(0, q), 1, &cosine, &sine));
        LIBRARY_CHECK(cublasDrot(v.handle(), n, v.at(0, p), 1, v.at(0, q), 1, &cosine, &sine));
      }
    }
  }
}

/// The factors' product is the matrix again, and V's columns and U's are orthonormal.
inline void runSvd(Context& c, Measurement& row) {
  const std::size_t rows = std::min<std::size_t>(c.rows, 16);
  const std::vector<float> some = c.numbers(rows * rows, 17);
  const std::vector<double> a(some.begin(), some.end());
  bool isRight = true;
  timeCpuRounds(
      c.options.rounds, row, [] {},
      [&] {
        HybridMatrix turned(rows, a), basis(rows, identity(rows));
        svdJacobi(turned, basis, rows);
        if (rows == 0) return;
        const std::vector<double> us = turned.take(0, 0, rows, rows), v = basis.take(0, 0, rows, rows);
        std::vector<double> angles = productByColumns(mirrored(us, rows), us, rows);
        for (std::size_t i = 0; i < rows; ++i) angles[columnMajor(i, i, rows)] = 0;
        isRight = isRight && areClose(angles, std::vector<double>(angles.size(), 0), 1e-10);
        isRight = isRight && areClose(productByColumns(mirrored(v, rows), v, rows), identity(rows), 1e-10);
        isRight = isRight && areClose(productByColumns(us, mirrored(v, rows), rows), a, 1e-10);
      });
  judge(row, isRight);
}

}  // namespace lab
