// Incomplete factorizations and triangular solutions of matrices of square blocks (BSR). A block is as full as if every
// element of it were an entry, so both are those of the matrix of its elements; rows are told as rows of blocks.
#include "libs/cusparse/blocks.hpp"
#include "libs/cusparse/factors.hpp"

struct bsrilu02Info : ordito::cusparse::BoostSetting {
  ordito::cusparse::FirstZero zero = ordito::cusparse::noZero();
};
struct bsric02Info {
  ordito::cusparse::FirstZero zero = ordito::cusparse::noZero();
};
struct bsrsv2Info {
  ordito::cusparse::FirstZero zero = ordito::cusparse::noZero();
};
struct bsrsm2Info {
  ordito::cusparse::FirstZero zero = ordito::cusparse::noZero();
};

namespace ordito::cusparse {
namespace {

/// What every call says of its matrix.
template <class T>
struct Matrix {
  Blocks<T> blocks;
  int count;
  const cusparseMatDescr* descriptor;

  Matrix(cusparseDirection_t direction, int rows, int count, const cusparseMatDescr* descriptor, T* values,
         const int* offsets, const int* indices, int size)
      : blocks{{rows, descriptor ? static_cast<int>(descriptor->base) : 0, offsets, indices},
               size,
               size,
               direction,
               values},
        count(count),
        descriptor(descriptor) {}

  cusparseStatus_t check(cusparseHandle_t handle, const void* info) const {
    ORDITO_HANDLE(handle);
    ORDITO_CHECK(info && blocks.isRight() && count >= 0 && (count == 0 || (blocks.values && blocks.pattern.indices)));
    ORDITO_GENERAL(descriptor);
    return CUSPARSE_STATUS_SUCCESS;
  }
  /// For the calls of the generic interface.
  cusparseSpMatDescr generic() const {
    const int size = blocks.down, rows = blocks.pattern.rows;
    cusparseSpMatDescr a =
        csrOf(rows, rows, count, blocks.values, blocks.pattern.offsets, blocks.pattern.indices, *descriptor);
    a.format = CUSPARSE_FORMAT_BSR;
    a.rows *= size, a.columns *= size;
    a.blockSize = a.blockColumns = size;
    a.order = blocks.direction == CUSPARSE_DIRECTION_ROW ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL;
    return a;
  }
};

#define CHECK_MATRIX(matrix, handle, info) \
  if (const cusparseStatus_t status = (matrix).check(handle, info)) return status

/// The elements of blocks as a CSR matrix with a base of 0, and back.
template <class T>
class Elements {
 public:
  explicit Elements(const Blocks<T>& blocks) : blocks_(blocks) {
    const auto count = static_cast<size_t>(blocks.pattern.count()) * static_cast<size_t>(blocks.cells());
    offsets_.resize(static_cast<size_t>(blocks.pattern.rows) * static_cast<size_t>(blocks.down) + 1);
    indices_.resize(count), values_.resize(count);
    const Blocks<const T> from{blocks.pattern, blocks.down, blocks.across, blocks.direction, blocks.values};
    expand(from, 0, values_.data(), offsets_.data(), indices_.data());
  }
  Pattern pattern() const { return {static_cast<int>(offsets_.size()) - 1, 0, offsets_.data(), indices_.data()}; }
  T* values() { return values_.data(); }
  void putBack() const {
    size_t at = 0;
    for (int row = 0; row < blocks_.pattern.rows * blocks_.down; ++row) {
      const int line = row / blocks_.down;
      for (int block = blocks_.pattern.begin(line); block < blocks_.pattern.end(line); ++block)
        for (int j = 0; j < blocks_.across; ++j) blocks_.at(block, row % blocks_.down, j) = values_[at++];
    }
  }

 private:
  Blocks<T> blocks_;
  std::vector<int> offsets_, indices_;
  std::vector<T> values_;
};

/// Factorizes the elements, and tells of a row's pivot as its block's.
template <class T, class Factor>
void factorize(const Blocks<T>& blocks, const FirstZero& zero, const Factor& factor) {
  Elements<T> elements(blocks);
  const FirstZero found = noZero();
  factor(elements.pattern(), elements.values(), found);
  elements.putBack();
  if (const int row = *found; row >= 0) report(zero, row / blocks.down + blocks.pattern.base);
}

/// The first row without a block on the diagonal, or, if values count, with a 0 on that block's diagonal.
template <class T>
void reportMissing(const Blocks<T>& a, bool countsValues, const FirstZero& zero) {
  for (int line = 0; line < a.pattern.rows; ++line) {
    bool isMissing = true;
    for (int block = a.pattern.begin(line); block < a.pattern.end(line); ++block) {
      if (a.pattern.column(block) != line) continue;
      isMissing = false;
      for (int i = 0; countsValues && i < a.down; ++i) isMissing |= a.at(block, i, i) == T(0);
    }
    if (isMissing) return report(zero, line + a.pattern.base);
  }
}

template <class T, class Info>
cusparseStatus_t tellSize(cusparseHandle_t handle, const Matrix<T>& a, const Info* info, int* size) {
  CHECK_MATRIX(a, handle, info);
  return tellBufferSize(size);
}

/// `isSolved`: the matrix's diagonal may be taken as ones.
template <class T, class Info>
cusparseStatus_t analyse(cusparseHandle_t handle, const Matrix<T>& a, Info* info, bool isSolved) {
  CHECK_MATRIX(a, handle, info);
  info->zero = noZero();
  if (isSolved && a.descriptor->diagonal == CUSPARSE_DIAG_TYPE_UNIT) return CUSPARSE_STATUS_SUCCESS;
  return submit(handle, "cusparse analysis",
                [zero = info->zero, blocks = a.blocks] { reportMissing(blocks, false, zero); });
}

template <class T>
cusparseStatus_t factorizeLu(cusparseHandle_t handle, const Matrix<T>& a, const bsrilu02Info* info) {
  CHECK_MATRIX(a, handle, info);
  return submit(handle, "cusparse bsrilu02",
                [zero = info->zero, blocks = a.blocks, boost = BoostOfCall<T>(handle, *info)] {
                  factorize(blocks, zero, [&](const Pattern& pattern, T* values, const FirstZero& found) {
                    factorLu(pattern, values, boost.inTask(), found);
                  });
                });
}

template <class T>
cusparseStatus_t factorizeCholesky(cusparseHandle_t handle, const Matrix<T>& a, const bsric02Info* info) {
  CHECK_MATRIX(a, handle, info);
  return submit(handle, "cusparse bsric02", [zero = info->zero, blocks = a.blocks] {
    factorize(blocks, zero, [](const Pattern& pattern, T* values, const FirstZero& found) {
      factorCholesky(pattern, values, found);
    });
  });
}

/// Looks for zeros of the diagonal before a solution divides by them.
template <class T, class Info>
cusparseStatus_t findZeros(cusparseHandle_t handle, const Matrix<T>& a, const Info* info) {
  if (a.descriptor->diagonal == CUSPARSE_DIAG_TYPE_UNIT) return CUSPARSE_STATUS_SUCCESS;
  return submit(handle, "cusparse analysis",
                [zero = info->zero, blocks = a.blocks] { reportMissing(blocks, true, zero); });
}

template <class T>
cusparseStatus_t solveVector(cusparseHandle_t handle, cusparseOperation_t op, const T* alpha, const Matrix<T>& a,
                             const bsrsv2Info* info, const T* f, T* x) {
  CHECK_MATRIX(a, handle, info);
  ORDITO_CHECK(isOperation(op) && alpha && (a.blocks.pattern.rows == 0 || (f && x)));
  if (const cusparseStatus_t status = findZeros(handle, a, info)) return status;
  return solveOnce(handle, op, alpha, a.generic(), f, x);
}

/// op(A) op(X) = alpha op(B): what is transposed lies by rows.
template <class T>
cusparseDnMatDescr sideOf(int64_t rows, int64_t columns, int64_t leading, const T* values, bool isTransposed) {
  cusparseDnMatDescr side = denseOf(rows, columns, leading, values);
  if (isTransposed) side.order = CUSPARSE_ORDER_ROW;
  return side;
}

template <class T>
struct Side {
  T* values;
  int leading;
};

template <class T>
cusparseStatus_t solveMatrix(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opX, int n,
                             const T* alpha, const Matrix<T>& a, const bsrsm2Info* info, Side<const T> b, Side<T> x) {
  CHECK_MATRIX(a, handle, info);
  const int rows = a.blocks.pattern.rows * a.blocks.down;
  const bool isTransposed = isTurned(opX);
  const int least = std::max(1, isTransposed ? n : rows);
  ORDITO_CHECK(isOperation(opA) && isOperation(opX) && n >= 0 && alpha && b.leading >= least && x.leading >= least &&
               (rows == 0 || n == 0 || (b.values && x.values)));
  ORDITO_SUPPORTED(opX != CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE);
  if (const cusparseStatus_t status = findZeros(handle, a, info)) return status;
  const cusparseSpMatDescr matrix = a.generic();
  const cusparseDnMatDescr right = sideOf(rows, n, b.leading, b.values, isTransposed);
  cusparseDnMatDescr solution = sideOf(rows, n, x.leading, x.values, isTransposed);
  cusparseSpSMDescr_t plan = nullptr;
  cusparseSpSM_createDescr(&plan);
  const cusparseStatus_t status = cusparseSpSM_solve(handle, opA, CUSPARSE_OPERATION_NON_TRANSPOSE, alpha, &matrix,
                                                     &right, &solution, matrix.type, CUSPARSE_SPSM_ALG_DEFAULT, plan);
  cusparseSpSM_destroyDescr(plan);
  return status;
}

}  // namespace

extern "C" {

ORDITO_PIVOT_INFO(Bsrilu02, bsrilu02)
ORDITO_PIVOT_INFO(Bsric02, bsric02)
ORDITO_PIVOT_INFO(Bsrsv2, bsrsv2)
ORDITO_PIVOT_INFO(Bsrsm2, bsrsm2)

#define MATRIX(T) \
  Matrix<Inner<T>>(direction, rows, count, descriptor, in(const_cast<T*>(values)), offsets, indices, size)
#define DEFINE_FACTORIZATION(L, T, name, factorized, Analysed)                                                         \
  cusparseStatus_t cusparse##L##name##_bufferSize(cusparseHandle_t handle, cusparseDirection_t direction, int rows,    \
                                                  int count, const cusparseMatDescr_t descriptor, T* values,           \
                                                  const int* offsets, const int* indices, int size, name##Info_t info, \
                                                  int* bytes) {                                                        \
    return tellSize(handle, MATRIX(T), info, bytes);                                                                   \
  }                                                                                                                    \
  cusparseStatus_t cusparse##L##name##_analysis(cusparseHandle_t handle, cusparseDirection_t direction, int rows,      \
                                                int count, const cusparseMatDescr_t descriptor, Analysed* values,      \
                                                const int* offsets, const int* indices, int size, name##Info_t info,   \
                                                cusparseSolvePolicy_t, void*) {                                        \
    return analyse(handle, MATRIX(T), info, false);                                                                    \
  }                                                                                                                    \
  cusparseStatus_t cusparse##L##name(cusparseHandle_t handle, cusparseDirection_t direction, int rows, int count,      \
                                     const cusparseMatDescr_t descriptor, T* values, const int* offsets,               \
                                     const int* indices, int size, name##Info_t info, cusparseSolvePolicy_t, void*) {  \
    return factorized(handle, MATRIX(T), info);                                                                        \
  }
#define DEFINE(L, T)                                                                                                   \
  DEFINE_FACTORIZATION(L, T, bsrilu02, factorizeLu, T)                                                                 \
  DEFINE_FACTORIZATION(L, T, bsric02, factorizeCholesky, const T)                                                      \
  cusparseStatus_t cusparse##L##bsrilu02_numericBoost(cusparseHandle_t handle, bsrilu02Info_t info, int isOn,          \
                                                      double* tolerance, T* value) {                                   \
    return setBoost(handle, info, isOn, tolerance, value);                                                             \
  }                                                                                                                    \
  cusparseStatus_t cusparse##L##bsrsv2_bufferSize(cusparseHandle_t handle, cusparseDirection_t direction,              \
                                                  cusparseOperation_t, int rows, int count,                            \
                                                  const cusparseMatDescr_t descriptor, T* values, const int* offsets,  \
                                                  const int* indices, int size, bsrsv2Info_t info, int* bytes) {       \
    return tellSize(handle, MATRIX(T), info, bytes);                                                                   \
  }                                                                                                                    \
  cusparseStatus_t cusparse##L##bsrsv2_analysis(                                                                       \
      cusparseHandle_t handle, cusparseDirection_t direction, cusparseOperation_t, int rows, int count,                \
      const cusparseMatDescr_t descriptor, const T* values, const int* offsets, const int* indices, int size,          \
      bsrsv2Info_t info, cusparseSolvePolicy_t, void*) {                                                               \
    return analyse(handle, MATRIX(T), info, true);                                                                     \
  }                                                                                                                    \
  cusparseStatus_t cusparse##L##bsrsv2_solve(                                                                          \
      cusparseHandle_t handle, cusparseDirection_t direction, cusparseOperation_t op, int rows, int count,             \
      const T* alpha, const cusparseMatDescr_t descriptor, const T* values, const int* offsets, const int* indices,    \
      int size, bsrsv2Info_t info, const T* f, T* x, cusparseSolvePolicy_t, void*) {                                   \
    return solveVector(handle, op, in(alpha), MATRIX(T), info, in(f), in(x));                                          \
  }                                                                                                                    \
  cusparseStatus_t cusparse##L##bsrsm2_bufferSize(cusparseHandle_t handle, cusparseDirection_t direction,              \
                                                  cusparseOperation_t, cusparseOperation_t, int rows, int, int count,  \
                                                  const cusparseMatDescr_t descriptor, T* values, const int* offsets,  \
                                                  const int* indices, int size, bsrsm2Info_t info, int* bytes) {       \
    return tellSize(handle, MATRIX(T), info, bytes);                                                                   \
  }                                                                                                                    \
  cusparseStatus_t cusparse##L##bsrsm2_analysis(                                                                       \
      cusparseHandle_t handle, cusparseDirection_t direction, cusparseOperation_t, cusparseOperation_t, int rows, int, \
      int count, const cusparseMatDescr_t descriptor, const T* values, const int* offsets, const int* indices,         \
      int size, bsrsm2Info_t info, cusparseSolvePolicy_t, void*) {                                                     \
    return analyse(handle, MATRIX(T), info, true);                                                                     \
  }                                                                                                                    \
  cusparseStatus_t cusparse##L##bsrsm2_solve(                                                                          \
      cusparseHandle_t handle, cusparseDirection_t direction, cusparseOperation_t opA, cusparseOperation_t opX,        \
      int rows, int n, int count, const T* alpha, const cusparseMatDescr_t descriptor, const T* values,                \
      const int* offsets, const int* indices, int size, bsrsm2Info_t info, const T* b, int ldb, T* x, int ldx,         \
      cusparseSolvePolicy_t, void*) {                                                                                  \
    return solveMatrix(handle, opA, opX, n, in(alpha), MATRIX(T), info, {in(b), ldb}, {in(x), ldx});                   \
  }
ORDITO_FOR_TYPES(DEFINE)
#undef DEFINE
#undef DEFINE_FACTORIZATION
#undef MATRIX

}  // extern "C"
}  // namespace ordito::cusparse
