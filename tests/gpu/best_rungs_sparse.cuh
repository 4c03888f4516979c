// Sparse matrix times vector along the path through rows and elements against cuSPARSE, whose best algorithm counts:
// rows of the lab's lengths, and a matrix in which a few rows have most of the elements.
#pragma once

#include <cusparse.h>

#include <random>

#include "../../lab/sparse/merge_path.cuh"
#include "best_rungs.hpp"

namespace rungs {

struct HostRows {
  std::vector<unsigned> first{0};
  std::vector<unsigned> column;
  std::vector<float> value;
};

/// Small whole numbers, whose sums are exact in any order.
template <class Length>
HostRows makeRows(unsigned rows, Length length) {
  HostRows made;
  std::mt19937 random(20);
  for (unsigned row = 0; row < rows; ++row) {
    const unsigned count = std::min<unsigned>(rows, length(row, random()));
    for (unsigned long long k = 0; k < count; ++k) {
      made.column.push_back(static_cast<unsigned>((k * rows + random() % rows) / count));
      made.value.push_back(static_cast<float>(random() % 9) - 4);
    }
    made.first.push_back(static_cast<unsigned>(made.column.size()));
  }
  return made;
}

/// The product by cuSPARSE with one algorithm; its workspace and its preparation are not timed.
class CuSparse {
 public:
  CuSparse(const Csr& matrix, float* x, float* y, cusparseSpMVAlg_t algorithm) : algorithm_(algorithm) {
    check(cusparseCreate(&handle_));
    check(cusparseCreateCsr(&matrix_, matrix.rows, matrix.rows, matrix.elements, const_cast<unsigned*>(matrix.first),
                            const_cast<unsigned*>(matrix.column), const_cast<float*>(matrix.value), CUSPARSE_INDEX_32I,
                            CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
    check(cusparseCreateDnVec(&x_, matrix.rows, x, CUDA_R_32F));
    check(cusparseCreateDnVec(&y_, matrix.rows, y, CUDA_R_32F));
    std::size_t bytes = 0;
    check(cusparseSpMV_bufferSize(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_, x_, &zero_, y_, CUDA_R_32F,
                                  algorithm_, &bytes));
    LAB_CHECK(cudaMalloc(&buffer_, std::max<std::size_t>(bytes, 1)));
    check(cusparseSpMV_preprocess(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_, x_, &zero_, y_, CUDA_R_32F,
                                  algorithm_, buffer_));
  }
  ~CuSparse() {
    cusparseDestroyDnVec(x_);
    cusparseDestroyDnVec(y_);
    cusparseDestroySpMat(matrix_);
    cusparseDestroy(handle_);
    cudaFree(buffer_);
  }
  CuSparse(const CuSparse&) = delete;
  CuSparse& operator=(const CuSparse&) = delete;

  void operator()() {
    check(cusparseSpMV(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_, x_, &zero_, y_, CUDA_R_32F,
                       algorithm_, buffer_));
  }

 private:
  static void check(cusparseStatus_t status) {
    if (status != CUSPARSE_STATUS_SUCCESS) lab::usageError(cusparseGetErrorString(status));
  }

  cusparseSpMVAlg_t algorithm_;
  cusparseHandle_t handle_ = nullptr;
  cusparseSpMatDescr_t matrix_ = nullptr;
  cusparseDnVecDescr_t x_ = nullptr;
  cusparseDnVecDescr_t y_ = nullptr;
  void* buffer_ = nullptr;
  const float one_ = 1;
  const float zero_ = 0;
};

struct SparseData {
  const std::string& what;
  const Csr& matrix;
  lab::DeviceArray<float>& x;
  lab::DeviceArray<float>& y;
  const std::vector<float>& expected;
  double referenceMs;
};

template <unsigned Each>
void compareSparseShape(const SparseData& data) {
  const unsigned tiles = pathTiles(data.matrix.rows, data.matrix.elements, Each);
  lab::DeviceArray<unsigned> cuts(tiles + 1);
  lab::DeviceArray<PathRest> rests(tiles);
  data.y.fillBytes(0xff);
  const double ms =
      timeOf([&] { launchByPath<Each>(data.matrix, data.x.get(), data.y.get(), cuts.get(), rests.get()); });
  expect(contents(data.y, data.expected.size()) == data.expected, data.what);
  lines.push_back({data.what, std::to_string(Each) + " steps each", ms, data.referenceMs, 0.9});
}

inline void compareRows(const std::string& what, unsigned rows, const HostRows& host) {
  lab::DeviceArray<unsigned> first(host.first.size()), column(host.column.size());
  lab::DeviceArray<float> value(host.value.size()), x(rows), y(rows);
  first.upload(host.first.data(), host.first.size());
  column.upload(host.column.data(), host.column.size());
  value.upload(host.value.data(), host.value.size());
  std::vector<float> vector(rows);
  for (unsigned i = 0; i < rows; ++i) vector[i] = static_cast<float>(i * 2654435761U >> 29) - 4;
  x.upload(vector.data(), rows);
  const Csr matrix = {first.get(), column.get(), value.get(), rows, static_cast<unsigned>(host.column.size())};
  double referenceMs = 1e30;
  for (const cusparseSpMVAlg_t algorithm : {CUSPARSE_SPMV_CSR_ALG1, CUSPARSE_SPMV_CSR_ALG2}) {
    CuSparse library(matrix, x.get(), y.get(), algorithm);
    referenceMs = std::min(referenceMs, timeOf([&] { library(); }));
  }
  const std::vector<float> expected = contents(y, rows);
  const SparseData data{what, matrix, x, y, expected, referenceMs};
  compareSparseShape<5>(data);
  compareSparseShape<7>(data);
  compareSparseShape<9>(data);
  compareSparseShape<11>(data);
  compareSparseShape<15>(data);
}

inline void compareSparse(unsigned rows) {
  compareRows("sparse, short rows", rows,
              makeRows(rows, [](unsigned row, unsigned drawn) { return row % 97 == 96 ? 200 : drawn % 16; }));
  compareRows("sparse, few long rows", rows, makeRows(rows, [](unsigned row, unsigned drawn) {
                return row % (1u << 18) == 77 ? 1u << 20 : drawn % 4;
              }));
}

}  // namespace rungs
