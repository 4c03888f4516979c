// Sparse algebra: cuSPARSE beside plain loops. A matrix begins as a list of places and values (COO); the library turns
// the places of rows into the beginnings of rows (CSR) and multiplies with a vector and with several columns at once.
#pragma once

#include "context.hpp"

namespace lab {

/// A list of places, sorted by rows, whose values are small whole numbers.
struct Places {
  std::vector<int> row, column;
  std::vector<float> value;
};

inline Places somePlaces(std::size_t rows) {
  std::mt19937 random(11);
  Places all;
  for (std::size_t r = 0; r < rows; ++r) {
    const std::size_t length = std::min<std::size_t>(rows, random() % 16);
    for (std::size_t k = 0; k < length; ++k) {
      all.row.push_back(static_cast<int>(r));
      all.column.push_back(static_cast<int>((k * rows + random() % rows) / length));  // ascending
      all.value.push_back(static_cast<float>(random() % 9) - 4);
    }
  }
  return all;
}

/// A X by the list; X and the result have `columns` columns and lie by columns.
inline std::vector<float> sparseProduct(const Places& a, const std::vector<float>& x, std::size_t rows,
                                        std::size_t columns) {
  std::vector<float> y(rows * columns, 0);
  for (std::size_t col = 0; col < columns; ++col) {
    for (std::size_t k = 0; k < a.value.size(); ++k) {
      y[col * rows + static_cast<std::size_t>(a.row[k])] +=
          a.value[k] * x[col * rows + static_cast<std::size_t>(a.column[k])];
    }
  }
  return y;
}

inline void sparseLoop(Context& c, Measurement& row) {
  const Places a = somePlaces(c.n);
  const std::vector<float> x = c.numbers(c.n, 12);
  std::vector<float> y;
  row.flops = 2.0 * static_cast<double>(a.value.size());
  runOnHost(c, row, [&] { y = sparseProduct(a, x, c.n, 1); });
}

/// A matrix on the device: places, and the beginnings of its rows as the library finds them.
class SparseMatrix {
 public:
  SparseMatrix(cusparseHandle_t handle, const Places& a, std::size_t rows)
      : row_(a.value.size()), column_(a.value.size()), first_(rows + 1), value_(a.value.size()) {
    const std::size_t count = a.value.size();
    row_.upload(a.row.data(), count);
    column_.upload(a.column.data(), count);
    value_.upload(a.value.data(), count);
    LIBRARY_CHECK(cusparseXcoo2csr(handle, row_.get(), static_cast<int>(count), static_cast<int>(rows), first_.get(),
                                   CUSPARSE_INDEX_BASE_ZERO));
    const auto n = static_cast<int64_t>(rows);
    LIBRARY_CHECK(cusparseCreateCsr(&matrix_, n, n, static_cast<int64_t>(count), first_.get(), column_.get(),
                                    value_.get(), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                                    CUDA_R_32F));
  }
  ~SparseMatrix() { cusparseDestroySpMat(matrix_); }
  SparseMatrix(const SparseMatrix&) = delete;
  SparseMatrix& operator=(const SparseMatrix&) = delete;
  cusparseSpMatDescr_t get() const { return matrix_; }

  bool hasBeginnings(const Places& a, std::size_t rows) const {
    std::vector<int> expected(rows + 1, 0), found(rows + 1, -1);
    for (const int r : a.row) ++expected[static_cast<std::size_t>(r) + 1];
    for (std::size_t r = 0; r < rows; ++r) expected[r + 1] += expected[r];
    first_.download(found.data(), found.size());
    return found == expected;
  }

 private:
  DeviceArray<int> row_, column_, first_;
  DeviceArray<float> value_;
  cusparseSpMatDescr_t matrix_ = nullptr;
};

inline void runSparseVector(Context& c, Measurement& row) {
  if (c.n == 0) return judge(row, true);  // a matrix of no rows has no beginning
  const Places a = somePlaces(c.n);
  const std::vector<float> x = c.numbers(c.n, 12);
  std::vector<float> found(c.n, -1);
  DeviceArray<float> deviceX(c.n), deviceY(c.n);
  deviceX.upload(x.data(), c.n);
  cusparseHandle_t handle;
  LIBRARY_CHECK(cusparseCreate(&handle));
  const SparseMatrix matrix(handle, a, c.n);
  cusparseDnVecDescr_t in, out;
  LIBRARY_CHECK(cusparseCreateDnVec(&in, static_cast<int64_t>(c.n), deviceX.get(), CUDA_R_32F));
  LIBRARY_CHECK(cusparseCreateDnVec(&out, static_cast<int64_t>(c.n), deviceY.get(), CUDA_R_32F));
  const float one = 1, zero = 0;
  std::size_t bytes = 0;
  LIBRARY_CHECK(cusparseSpMV_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix.get(), in, &zero, out,
                                        CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, &bytes));
  const DeviceArray<char> buffer(bytes);
  row.flops = 2.0 * static_cast<double>(a.value.size());
  timeRounds(
      c.options.rounds, row, [] {},
      [&] {
        LIBRARY_CHECK(cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix.get(), in, &zero, out,
                                   CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, buffer.get()));
      },
      [&] { deviceY.download(found.data(), c.n); });
  const bool isRight = matrix.hasBeginnings(a, c.n) && found == sparseProduct(a, x, c.n, 1);
  LIBRARY_CHECK(cusparseDestroyDnVec(in));
  LIBRARY_CHECK(cusparseDestroyDnVec(out));
  LIBRARY_CHECK(cusparseDestroy(handle));
  judge(row, isRight);
}

inline void runSparseColumns(Context& c, Measurement& row) {
  if (c.n == 0) return judge(row, true);
  const Places a = somePlaces(c.n);
  const std::size_t all = c.n * kManyColumns;
  const std::vector<float> x = c.numbers(all, 13);
  std::vector<float> found(all, -1);
  DeviceArray<float> deviceX(all), deviceY(all);
  deviceX.upload(x.data(), all);
  cusparseHandle_t handle;
  LIBRARY_CHECK(cusparseCreate(&handle));
  const SparseMatrix matrix(handle, a, c.n);
  cusparseDnMatDescr_t in, out;
  const auto n = static_cast<int64_t>(c.n), columns = static_cast<int64_t>(kManyColumns);
  LIBRARY_CHECK(cusparseCreateDnMat(&in, n, columns, n, deviceX.get(), CUDA_R_32F, CUSPARSE_ORDER_COL));
  LIBRARY_CHECK(cusparseCreateDnMat(&out, n, columns, n, deviceY.get(), CUDA_R_32F, CUSPARSE_ORDER_COL));
  const float one = 1, zero = 0;
  std::size_t bytes = 0;
  const cusparseOperation_t as = CUSPARSE_OPERATION_NON_TRANSPOSE;
  LIBRARY_CHECK(cusparseSpMM_bufferSize(handle, as, as, &one, matrix.get(), in, &zero, out, CUDA_R_32F,
                                        CUSPARSE_SPMM_ALG_DEFAULT, &bytes));
  const DeviceArray<char> buffer(bytes);
  row.flops = 2.0 * static_cast<double>(a.value.size() * kManyColumns);
  timeRounds(
      c.options.rounds, row, [] {},
      [&] {
        LIBRARY_CHECK(cusparseSpMM(handle, as, as, &one, matrix.get(), in, &zero, out, CUDA_R_32F,
                                   CUSPARSE_SPMM_ALG_DEFAULT, buffer.get()));
      },
      [&] { deviceY.download(found.data(), all); });
  const bool isRight = found == sparseProduct(a, x, c.n, kManyColumns);
  LIBRARY_CHECK(cusparseDestroyDnMat(in));
  LIBRARY_CHECK(cusparseDestroyDnMat(out));
  LIBRARY_CHECK(cusparseDestroy(handle));
  judge(row, isRight);
}

}  // namespace lab
