// Solutions of sparse triangular systems: op(A) X = alpha op(B), row by row. Entries outside the triangle that the
// matrix's attributes name are not read; nothing has to be analysed before.
#include <memory>
#include <optional>
#include <vector>

#include "libs/cusparse/rows.hpp"

/// The matrix of the analysis; values that it got since are kept here, for the program's array stays as it is.
struct AnalysedMatrix {
  std::optional<cusparseSpMatDescr> matrix;
  std::shared_ptr<std::vector<char>> values;

  /// The matrix to solve with, in the task.
  cusparseSpMatDescr current(cusparseSpMatDescr a) const {
    if (values) a.values = values->data();
    return a;
  }
};
struct cusparseSpSVDescr : AnalysedMatrix {};
struct cusparseSpSMDescr : AnalysedMatrix {};

namespace ordito::cusparse {
namespace {

/// One right side; solution(i) and rightSide(i) are its parts. A diagonal without an entry is a division by 0, as it is
/// on a GPU.
template <class T, class Solution, class RightSide>
void solve(const Rows<T>& a, bool isLower, bool isUnit, const RightSide& rightSide, const Solution& solution) {
  std::vector<T> x(static_cast<size_t>(a.rows));
  for (int64_t step = 0; step < a.rows; ++step) {
    const int64_t i = isLower ? step : a.rows - 1 - step;
    T sum = rightSide(i), diagonal{};
    for (int64_t k = a.begin(i); k < a.end(i); ++k) {
      const int64_t j = a.index(k);
      if (j == i) diagonal += a.value(k);
      if (isLower ? j < i : j > i) sum -= multiply(a.value(k), x[static_cast<size_t>(j)]);
    }
    x[static_cast<size_t>(i)] = isUnit ? sum : sum / diagonal;
  }
  for (int64_t i = 0; i < a.rows; ++i) solution(i, x[static_cast<size_t>(i)]);
}

cusparseStatus_t renew(cusparseHandle_t handle, AnalysedMatrix* descriptor, const void* from, bool isAll,
                       const char* name) {
  ORDITO_CHECK(handle && descriptor && from && descriptor->matrix);
  const bool isFirst = !descriptor->values;
  const size_t bytes = sizeOf(descriptor->matrix->type);
  if (isFirst)
    descriptor->values =
        std::make_shared<std::vector<char>>(static_cast<size_t>(storedCount(*descriptor->matrix)) * bytes);
  return submit(handle, name, [=, a = *descriptor->matrix, values = descriptor->values] {
    const auto* source = static_cast<const char*>(from);
    if (isAll) return void(std::memcpy(values->data(), source, values->size()));
    if (isFirst) std::memcpy(values->data(), a.values, values->size());
    eachEntry(a, [&](int64_t i, int64_t j, int64_t k) {
      if (i == j)
        std::memcpy(&(*values)[static_cast<size_t>(k) * bytes], source + static_cast<size_t>(i) * bytes, bytes);
    });
  });
}

bool isLowerOf(const cusparseSpMatDescr& a, cusparseOperation_t op) {
  return (a.fill == CUSPARSE_FILL_MODE_LOWER) != isTurned(op);
}

}  // namespace

extern "C" {

cusparseStatus_t cusparseSpSV_createDescr(cusparseSpSVDescr_t* descriptor) { return makeDescriptor(descriptor); }
cusparseStatus_t cusparseSpSV_destroyDescr(cusparseSpSVDescr_t descriptor) { return destroyDescriptor(descriptor); }
cusparseStatus_t cusparseSpSV_bufferSize(cusparseHandle_t handle, cusparseOperation_t, const void*,
                                         cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t x,
                                         cusparseDnVecDescr_t y, cudaDataType, cusparseSpSVAlg_t,
                                         cusparseSpSVDescr_t descriptor, size_t* size) {
  ORDITO_CHECK(handle && a && x && y && descriptor && a->rows == a->columns);
  return tellBufferSize(size);
}
cusparseStatus_t cusparseSpSV_analysis(cusparseHandle_t handle, cusparseOperation_t, const void*,
                                       cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t x, cusparseDnVecDescr_t y,
                                       cudaDataType, cusparseSpSVAlg_t, cusparseSpSVDescr_t descriptor, void*) {
  ORDITO_CHECK(handle && a && x && y && descriptor);
  descriptor->matrix = *a;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSpSV_solve(cusparseHandle_t handle, cusparseOperation_t op, const void* alpha,
                                    cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t x, cusparseDnVecDescr_t y,
                                    cudaDataType compute, cusparseSpSVAlg_t, cusparseSpSVDescr_t descriptor) {
  ORDITO_CHECK(handle && a && x && y && descriptor && alpha && isOperation(op));
  ORDITO_CHECK(a->rows == a->columns && x->size == a->rows && y->size == a->rows);
  ORDITO_SUPPORTED(isCompute(compute) && a->format != CUSPARSE_FORMAT_BLOCKED_ELL);
  const Scalar scalar(handle, alpha, compute);
  return submit(handle, "cusparseSpSV_solve", [=, given = *a, x = *x, y = *y, analysed = AnalysedMatrix(*descriptor)] {
    const cusparseSpMatDescr a = analysed.current(given);
    withCompute(compute, [&](auto zero) {
      using T = decltype(zero);
      const T factor = scalar.as<T>();
      solve(
          rowsOf<T>(a, op), isLowerOf(a, op), a.diagonal == CUSPARSE_DIAG_TYPE_UNIT,
          [&](int64_t i) { return multiply(factor, load<T>(x.values, x.type, i)); },
          [&](int64_t i, T value) { store(y.values, y.type, i, value); });
    });
  });
}

/// The matrix that the descriptor was analysed with gets new values, all or its diagonal's, in its own memory.
cusparseStatus_t cusparseSpSV_updateMatrix(cusparseHandle_t handle, cusparseSpSVDescr_t descriptor, void* values,
                                           cusparseSpSVUpdate_t part) {
  return renew(handle, descriptor, values, part == CUSPARSE_SPSV_UPDATE_GENERAL, "cusparseSpSV_updateMatrix");
}

cusparseStatus_t cusparseSpSM_createDescr(cusparseSpSMDescr_t* descriptor) { return makeDescriptor(descriptor); }
cusparseStatus_t cusparseSpSM_destroyDescr(cusparseSpSMDescr_t descriptor) { return destroyDescriptor(descriptor); }
cusparseStatus_t cusparseSpSM_bufferSize(cusparseHandle_t handle, cusparseOperation_t, cusparseOperation_t, const void*,
                                         cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                                         cusparseDnMatDescr_t c, cudaDataType, cusparseSpSMAlg_t,
                                         cusparseSpSMDescr_t descriptor, size_t* size) {
  ORDITO_CHECK(handle && a && b && c && descriptor);
  return tellBufferSize(size);
}
cusparseStatus_t cusparseSpSM_analysis(cusparseHandle_t handle, cusparseOperation_t, cusparseOperation_t, const void*,
                                       cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b, cusparseDnMatDescr_t c,
                                       cudaDataType, cusparseSpSMAlg_t, cusparseSpSMDescr_t descriptor, void*) {
  ORDITO_CHECK(handle && a && b && c && descriptor);
  descriptor->matrix = *a;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSpSM_updateMatrix(cusparseHandle_t handle, cusparseSpSMDescr_t descriptor, void* values,
                                           cusparseSpSMUpdate_t part) {
  return renew(handle, descriptor, values, part == CUSPARSE_SPSM_UPDATE_GENERAL, "cusparseSpSM_updateMatrix");
}
cusparseStatus_t cusparseSpSM_solve(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB,
                                    const void* alpha, cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                                    cusparseDnMatDescr_t c, cudaDataType compute, cusparseSpSMAlg_t,
                                    cusparseSpSMDescr_t descriptor) {
  ORDITO_CHECK(handle && a && b && c && descriptor && alpha && isOperation(opA) && isOperation(opB) &&
               a->rows == a->columns);
  const Layout right(*b, opB);
  ORDITO_CHECK(right.rows == a->rows && c->rows == a->rows && right.columns == c->columns);
  ORDITO_SUPPORTED(isCompute(compute) && a->format != CUSPARSE_FORMAT_BLOCKED_ELL);
  const Scalar scalar(handle, alpha, compute);
  return submit(handle, "cusparseSpSM_solve", [=, given = *a, b = *b, c = *c, analysed = AnalysedMatrix(*descriptor)] {
    const cusparseSpMatDescr a = analysed.current(given);
    withCompute(compute, [&](auto zero) {
      using T = decltype(zero);
      const T factor = scalar.as<T>();
      const Rows<T> rows = rowsOf<T>(a, opA);
      const Dense<T> from(b, opB);
      const Layout to(c);
      eachRow(c.columns, static_cast<int64_t>(rows.values.size()) * c.columns, [&](int64_t j) {
        solve(
            rows, isLowerOf(a, opA), a.diagonal == CUSPARSE_DIAG_TYPE_UNIT,
            [&](int64_t i) { return multiply(factor, from.at(i, j)); },
            [&](int64_t i, T value) { store(c.values, c.type, to.at(i, j), value); });
      });
    });
  });
}

}  // extern "C"
}  // namespace ordito::cusparse
