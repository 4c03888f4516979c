// cuSOLVER's refactorization (cusolverRf.h): LU of matrices that have one pattern, whose factors' patterns and orders
// of rows and columns are known from a first factorization. There is no search for pivots. Calls have no stream of
// their own: they wait for the device and are done when they return.
#include <cstdlib>
#include <memory>
#include <optional>

#include "cusolverRf.h"
#include "libs/cusolver/handle.hpp"
#include "libs/cusolver/sparse/rows.hpp"

namespace ordito::cusolver {
namespace {

using Status = cusolverStatus_t;

/// Factors in one matrix: L below the diagonal, U on it and above. Each row's columns are in order.
struct Factors {
  std::vector<double> value;

  /// By rows. A pivot not larger than `zero` becomes `boost`, with its sign, if that is not 0. The row of the first
  /// pivot that stays 0 is the answer; -1 if there is none.
  int compute(const Rows<double>& pattern, double zero, double boost, bool* isBoosted);
};

struct Setup {
  Rows<double> pattern;  // of the factors
  Order rows, columns;
  Rows<double> matrix;  // the first one's, in its own order
};

}  // namespace
}  // namespace ordito::cusolver

struct cusolverRfCommon {
  cusolverRfMatrixFormat_t format = CUSOLVERRF_MATRIX_FORMAT_CSR;
  cusolverRfUnitDiagonal_t diagonal = CUSOLVERRF_UNIT_DIAGONAL_STORED_L;
  cusolverRfResetValuesFastMode_t fastMode = CUSOLVERRF_RESET_VALUES_FAST_MODE_OFF;
  cusolverRfFactorization_t factorization = CUSOLVERRF_FACTORIZATION_ALG0;
  cusolverRfTriangularSolve_t triangularSolve = CUSOLVERRF_TRIANGULAR_SOLVE_ALG1;
  double zero = 0, boost = 0;
  bool isBoosted = false;
  std::optional<ordito::cusolver::Setup> setup;
  std::vector<ordito::cusolver::Factors> factors;  // of each matrix of the batch
  std::vector<int> zeroPivots;

  bool hasUnitUpper() const {
    return diagonal == CUSOLVERRF_UNIT_DIAGONAL_STORED_U || diagonal == CUSOLVERRF_UNIT_DIAGONAL_ASSUMED_U;
  }
};

namespace ordito::cusolver {
namespace {

int Factors::compute(const Rows<double>& pattern, double zero, double boost, bool* isBoosted) {
  std::vector<int> place(at(pattern.columns), -1), diagonal(at(pattern.rows), -1);
  int first = -1;
  for (int i = 0; i < pattern.rows; ++i) {
    const int begin = pattern.begin[at(i)], end = pattern.begin[at(i + 1)];
    for (int k = begin; k < end; ++k) place[at(pattern.column[at(k)])] = k;
    for (int k = begin; k < end && pattern.column[at(k)] < i; ++k) {
      const int row = pattern.column[at(k)];
      const double factor = value[at(k)] /= value[at(diagonal[at(row)])];
      for (int u = diagonal[at(row)] + 1; u < pattern.begin[at(row + 1)]; ++u)
        if (const int to = place[at(pattern.column[at(u)])]; to >= 0) value[at(to)] -= factor * value[at(u)];
    }
    diagonal[at(i)] = place[at(i)];
    double& pivot = value[at(place[at(i)])];
    if (std::abs(pivot) <= zero && boost != 0) pivot = std::copysign(boost, pivot), *isBoosted = true;
    if (pivot == 0 && first < 0) first = i;
    for (int k = begin; k < end; ++k) place[at(pattern.column[at(k)])] = -1;
  }
  return first;
}

/// Arrays of a matrix in the handle's format, of the host's or the device's memory.
struct Arrays {
  int count;
  const int *begin, *index;
  const double* value;

  bool areThere(bool hasValues = true) const { return begin && (count == 0 || (index && (value || !hasValues))); }
  Rows<double> read(int n, cusolverRfMatrixFormat_t format) const {
    Rows<double> result{n, n, std::vector<int>(begin, begin + n + 1), std::vector<int>(index, index + count),
                        value ? std::vector<double>(value, value + count) : std::vector<double>(at(count))};
    return format == CUSOLVERRF_MATRIX_FORMAT_CSC ? transposed(result) : result;
  }
};

Status waitForDevice() { return statusOf(libs::await(nullptr)); }

/// A pattern that has those of L, U, the diagonal, and A's entries.
Rows<double> patternOf(const Rows<double>& lower, const Rows<double>& upper, const Rows<double>& a) {
  const int n = lower.rows;
  std::vector<std::vector<int>> columns(at(n));
  const auto add = [&](int i, int j, double) { columns[at(i)].push_back(j); };
  lower.eachEntry(add), upper.eachEntry(add), a.eachEntry(add);
  Rows<double> pattern{n, n, {0}, {}, {}};
  for (int i = 0; i < n; ++i) {
    auto& row = columns[at(i)];
    row.push_back(i);
    std::ranges::sort(row);
    row.erase(std::unique(row.begin(), row.end()), row.end());
    pattern.column.insert(pattern.column.end(), row.begin(), row.end());
    pattern.begin.push_back(pattern.count());
  }
  pattern.value.resize(pattern.column.size());
  return pattern;
}

/// The values of A(P, Q) in the factors' pattern.
std::vector<double> scattered(const Rows<double>& a, const Order& rows, const Order& columns,
                              const Rows<double>& pattern) {
  const Order rowPlace = inverseOf(rows), columnPlace = inverseOf(columns);
  std::vector<double> value(pattern.column.size());
  a.eachEntry([&](int i, int j, double entry) {
    const int row = rowPlace[at(i)];
    const auto begin = pattern.column.begin() + pattern.begin[at(row)];
    const auto end = pattern.column.begin() + pattern.begin[at(row + 1)];
    value[at(std::lower_bound(begin, end, columnPlace[at(j)]) - pattern.column.begin())] += entry;
  });
  return value;
}

Status setUp(cusolverRfHandle_t handle, int count, int n, const Arrays& a, const double* const* values, const Arrays& l,
             const Arrays& u, const int* p, const int* q) {
  SOLVER_CALL(handle, count > 0 && n > 0 && a.areThere(false) && (a.value || values) && l.areThere(false) &&
                          u.areThere(false) && p && q);
  const Order rows(p, p + n), columns(q, q + n);
  handle->factors.assign(at(count), {}), handle->zeroPivots.assign(at(count), -1);
  for (int i = 0; i < count; ++i) {
    Arrays one = a;
    if (values) one.value = values[i];
    const Rows<double> matrix = one.read(n, handle->format);
    if (i == 0)
      handle->setup =
          Setup{patternOf(l.read(n, handle->format), u.read(n, handle->format), permuted(matrix, rows, columns)), rows,
                columns, matrix};
    handle->factors[at(i)].value = scattered(matrix, rows, columns, handle->setup->pattern);
  }
  return CUSOLVER_STATUS_SUCCESS;
}

/// The orders must be those of the set-up.
Status resetValues(cusolverRfHandle_t handle, int count, int n, const Arrays& a, const double* const* values,
                   const int* p, const int* q) {
  SOLVER_CALL(handle, true);
  if (!handle->setup) return CUSOLVER_STATUS_NOT_INITIALIZED;
  const Setup& setup = *handle->setup;
  SOLVER_CHECK(n == setup.pattern.rows && count == static_cast<int>(handle->factors.size()) && p && q &&
               a.areThere(false) && (a.value || values) && a.count == setup.matrix.count());
  if (const Status status = waitForDevice()) return status;
  for (int i = 0; i < count; ++i) {
    Arrays one = a;
    if (values) one.value = values[i];
    handle->factors[at(i)].value = scattered(one.read(n, handle->format), setup.rows, setup.columns, setup.pattern);
  }
  return CUSOLVER_STATUS_SUCCESS;
}

Status analyse(cusolverRfHandle_t handle) {
  SOLVER_CALL(handle, true);
  return handle->setup ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_NOT_INITIALIZED;
}

Status refactor(cusolverRfHandle_t handle) {
  if (const Status status = analyse(handle)) return status;
  handle->isBoosted = false;
  std::vector<char> isBoosted(handle->factors.size());
  libs::parallelFor(static_cast<unsigned>(handle->factors.size()), [&](unsigned i) {
    bool boosted = false;
    handle->zeroPivots[i] = handle->factors[i].compute(handle->setup->pattern, handle->zero, handle->boost, &boosted);
    isBoosted[i] = boosted;
  });
  handle->isBoosted = std::ranges::count(isBoosted, 1) > 0;
  const bool isSingular = std::ranges::any_of(handle->zeroPivots, [](int row) { return row >= 0; });
  return isSingular ? CUSOLVER_STATUS_ZERO_PIVOT : CUSOLVER_STATUS_SUCCESS;
}

void solveOne(const Setup& setup, const Factors& factors, const int* p, const int* q, double* x) {
  const Rows<double>& m = setup.pattern;
  std::vector<double> y(at(m.rows));
  for (int i = 0; i < m.rows; ++i) {
    y[at(i)] = x[p[i]];
    for (int k = m.begin[at(i)]; m.column[at(k)] < i; ++k) y[at(i)] -= factors.value[at(k)] * y[at(m.column[at(k)])];
  }
  for (int i = m.rows - 1; i >= 0; --i) {
    int k = m.begin[at(i + 1)] - 1;
    for (; m.column[at(k)] > i; --k) y[at(i)] -= factors.value[at(k)] * y[at(m.column[at(k)])];
    y[at(i)] /= factors.value[at(k)];
  }
  for (int j = 0; j < m.rows; ++j) x[q[j]] = y[at(j)];
}

/// `x`: right-hand sides, then solutions, of each matrix.
Status solve(cusolverRfHandle_t handle, const int* p, const int* q, int count, double* const* x, int leading) {
  if (const Status status = analyse(handle)) return status;
  const int n = handle->setup->pattern.rows;
  SOLVER_CHECK(p && q && x && count > 0 && leading >= n);
  if (const Status status = waitForDevice()) return status;
  for (size_t i = 0; i < handle->factors.size(); ++i) {
    SOLVER_CHECK(x[i]);
    for (int j = 0; j < count; ++j)
      solveOne(*handle->setup, handle->factors[i], p, q, x[i] + static_cast<int64_t>(j) * leading);
  }
  return CUSOLVER_STATUS_SUCCESS;
}

/// Arrays that the program frees.
template <class T>
T* given(const std::vector<T>& from) {
  auto* memory = static_cast<T*>(std::malloc(std::max<size_t>(1, from.size() * sizeof(T))));
  if (memory) std::ranges::copy(from, memory);
  return memory;
}
bool give(const Rows<double>& from, int* count, int** begin, int** column, double** value) {
  *count = from.count(), *begin = given(from.begin), *column = given(from.column), *value = given(from.value);
  return *begin && *column && *value;
}

/// The first matrix's factors, with the unit diagonal where the format has it.
std::pair<Rows<double>, Rows<double>> splitFactors(const cusolverRfCommon& rf) {
  const Rows<double>& m = rf.setup->pattern;
  const std::vector<double>& value = rf.factors.front().value;
  std::vector<double> pivots(at(m.rows));
  for (int i = 0; i < m.rows; ++i)
    for (int k = m.begin[at(i)]; k < m.begin[at(i + 1)]; ++k)
      if (m.column[at(k)] == i) pivots[at(i)] = value[at(k)];
  const bool unitUpper = rf.hasUnitUpper();
  RowsBuilder<double> lower(m.rows, m.rows), upper(m.rows, m.rows);
  for (int i = 0; i < m.rows; ++i)
    for (int k = m.begin[at(i)]; k < m.begin[at(i + 1)]; ++k) {
      const int j = m.column[at(k)];
      if (j < i) lower.add(i, j, unitUpper ? value[at(k)] * pivots[at(j)] : value[at(k)]);
      if (j == i) {
        if (unitUpper || rf.diagonal == CUSOLVERRF_UNIT_DIAGONAL_STORED_L)
          lower.add(i, i, unitUpper ? pivots[at(i)] : 1);
        if (!unitUpper || rf.diagonal == CUSOLVERRF_UNIT_DIAGONAL_STORED_U)
          upper.add(i, i, unitUpper ? 1 : pivots[at(i)]);
      }
      if (j > i) upper.add(i, j, unitUpper ? value[at(k)] / pivots[at(i)] : value[at(k)]);
    }
  return {lower.build(), upper.build()};
}

/// L and U in one matrix without the unit diagonal.
Rows<double> bundled(const cusolverRfCommon& rf) {
  Rows<double> m = rf.setup->pattern;
  m.value = rf.factors.front().value;
  if (rf.hasUnitUpper()) {
    auto [lower, upper] = splitFactors(rf);
    RowsBuilder<double> builder(m.rows, m.rows);
    lower.eachEntry([&](int i, int j, double value) { builder.add(i, j, value); });
    upper.eachEntry([&](int i, int j, double value) {
      if (i != j) builder.add(i, j, value);
    });
    m = sorted(builder.build());
  }
  return m;
}

}  // namespace

extern "C" {

Status cusolverRfCreate(cusolverRfHandle_t* handle) {
  SOLVER_CHECK(handle);
  if (!libs::hasContext()) return CUSOLVER_STATUS_NOT_INITIALIZED;
  *handle = new cusolverRfCommon;
  return CUSOLVER_STATUS_SUCCESS;
}
Status cusolverRfDestroy(cusolverRfHandle_t handle) {
  SOLVER_CALL(handle, true);
  delete handle;
  return CUSOLVER_STATUS_SUCCESS;
}

// A pair of settings: setting it, and getting it.
#define DEFINE(Name, A, a, B, b, isValid)                                      \
  Status cusolverRfSet##Name(cusolverRfHandle_t handle, A first, B second) {   \
    SOLVER_CALL(handle, isValid);                                              \
    handle->a = first, handle->b = second;                                     \
    return CUSOLVER_STATUS_SUCCESS;                                            \
  }                                                                            \
  Status cusolverRfGet##Name(cusolverRfHandle_t handle, A* first, B* second) { \
    SOLVER_CALL(handle, first&& second);                                       \
    *first = handle->a, *second = handle->b;                                   \
    return CUSOLVER_STATUS_SUCCESS;                                            \
  }
DEFINE(MatrixFormat, cusolverRfMatrixFormat_t, format, cusolverRfUnitDiagonal_t, diagonal,
       first >= CUSOLVERRF_MATRIX_FORMAT_CSR && first <= CUSOLVERRF_MATRIX_FORMAT_CSC &&
           second >= CUSOLVERRF_UNIT_DIAGONAL_STORED_L && second <= CUSOLVERRF_UNIT_DIAGONAL_ASSUMED_U)
DEFINE(NumericProperties, double, zero, double, boost, first >= 0)
DEFINE(Algs, cusolverRfFactorization_t, factorization, cusolverRfTriangularSolve_t, triangularSolve,
       first >= CUSOLVERRF_FACTORIZATION_ALG0 && first <= CUSOLVERRF_FACTORIZATION_ALG2 &&
           second >= CUSOLVERRF_TRIANGULAR_SOLVE_ALG1 && second <= CUSOLVERRF_TRIANGULAR_SOLVE_ALG3)
#undef DEFINE
Status cusolverRfSetResetValuesFastMode(cusolverRfHandle_t handle, cusolverRfResetValuesFastMode_t mode) {
  SOLVER_CALL(handle, mode == CUSOLVERRF_RESET_VALUES_FAST_MODE_OFF || mode == CUSOLVERRF_RESET_VALUES_FAST_MODE_ON);
  handle->fastMode = mode;
  return CUSOLVER_STATUS_SUCCESS;
}
Status cusolverRfGetResetValuesFastMode(cusolverRfHandle_t handle, cusolverRfResetValuesFastMode_t* mode) {
  SOLVER_CALL(handle, mode);
  *mode = handle->fastMode;
  return CUSOLVER_STATUS_SUCCESS;
}
Status cusolverRfGetNumericBoostReport(cusolverRfHandle_t handle, cusolverRfNumericBoostReport_t* report) {
  SOLVER_CALL(handle, report);
  *report = handle->isBoosted ? CUSOLVERRF_NUMERIC_BOOST_USED : CUSOLVERRF_NUMERIC_BOOST_NOT_USED;
  return CUSOLVER_STATUS_SUCCESS;
}

#define FACTOR_ARRAYS \
  int nnzL, int *beginL, int *indexL, double *valueL, int nnzU, int *beginU, int *indexU, double *valueU, int *p, int *q
Status cusolverRfSetupHost(int n, int nnzA, int* begin, int* index, double* value, FACTOR_ARRAYS,
                           cusolverRfHandle_t handle) {
  return setUp(handle, 1, n, {nnzA, begin, index, value}, nullptr, {nnzL, beginL, indexL, valueL},
               {nnzU, beginU, indexU, valueU}, p, q);
}
Status cusolverRfSetupDevice(int n, int nnzA, int* begin, int* index, double* value, FACTOR_ARRAYS,
                             cusolverRfHandle_t handle) {
  SOLVER_CALL(handle, true);
  if (const Status status = waitForDevice()) return status;
  return cusolverRfSetupHost(n, nnzA, begin, index, value, nnzL, beginL, indexL, valueL, nnzU, beginU, indexU, valueU,
                             p, q, handle);
}
Status cusolverRfBatchSetupHost(int count, int n, int nnzA, int* begin, int* index, double** values, FACTOR_ARRAYS,
                                cusolverRfHandle_t handle) {
  return setUp(handle, count, n, {nnzA, begin, index, nullptr}, values, {nnzL, beginL, indexL, valueL},
               {nnzU, beginU, indexU, valueU}, p, q);
}
Status cusolverRfResetValues(int n, int nnzA, int* begin, int* index, double* value, int* p, int* q,
                             cusolverRfHandle_t handle) {
  return resetValues(handle, 1, n, {nnzA, begin, index, value}, nullptr, p, q);
}
Status cusolverRfBatchResetValues(int count, int n, int nnzA, int* begin, int* index, double** values, int* p, int* q,
                                  cusolverRfHandle_t handle) {
  return resetValues(handle, count, n, {nnzA, begin, index, nullptr}, values, p, q);
}
Status cusolverRfAnalyze(cusolverRfHandle_t handle) { return analyse(handle); }
Status cusolverRfBatchAnalyze(cusolverRfHandle_t handle) { return analyse(handle); }
Status cusolverRfRefactor(cusolverRfHandle_t handle) { return refactor(handle); }
/// Of many matrices the answer is asked for with cusolverRfBatchZeroPivot.
Status cusolverRfBatchRefactor(cusolverRfHandle_t handle) {
  const Status status = refactor(handle);
  return status == CUSOLVER_STATUS_ZERO_PIVOT ? CUSOLVER_STATUS_SUCCESS : status;
}
Status cusolverRfBatchZeroPivot(cusolverRfHandle_t handle, int* position) {
  SOLVER_CALL(handle, position);
  std::ranges::copy(handle->zeroPivots, position);
  const bool isSingular = std::ranges::any_of(handle->zeroPivots, [](int row) { return row >= 0; });
  return isSingular ? CUSOLVER_STATUS_ZERO_PIVOT : CUSOLVER_STATUS_SUCCESS;
}
Status cusolverRfSolve(cusolverRfHandle_t handle, int* p, int* q, int count, double*, int, double* x, int leading) {
  return solve(handle, p, q, count, &x, leading);
}
Status cusolverRfBatchSolve(cusolverRfHandle_t handle, int* p, int* q, int count, double*, int, double** x,
                            int leading) {
  return solve(handle, p, q, count, x, leading);
}

/// The factors as they are kept here: the device sees all memory.
Status cusolverRfAccessBundledFactorsDevice(cusolverRfHandle_t handle, int* count, int** begin, int** column,
                                            double** value) {
  if (const Status status = analyse(handle)) return status;
  SOLVER_CHECK(count && begin && column && value);
  if (handle->hasUnitUpper()) return CUSOLVER_STATUS_NOT_SUPPORTED;
  Rows<double>& pattern = handle->setup->pattern;
  *count = pattern.count();
  *begin = pattern.begin.data(), *column = pattern.column.data(), *value = handle->factors.front().value.data();
  return CUSOLVER_STATUS_SUCCESS;
}
Status cusolverRfExtractBundledFactorsHost(cusolverRfHandle_t handle, int* count, int** begin, int** column,
                                           double** value) {
  if (const Status status = analyse(handle)) return status;
  SOLVER_CHECK(count && begin && column && value);
  return give(bundled(*handle), count, begin, column, value) ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_ALLOC_FAILED;
}
Status cusolverRfExtractSplitFactorsHost(cusolverRfHandle_t handle, int* countL, int** beginL, int** columnL,
                                         double** valueL, int* countU, int** beginU, int** columnU, double** valueU) {
  if (const Status status = analyse(handle)) return status;
  SOLVER_CHECK(countL && beginL && columnL && valueL && countU && beginU && columnU && valueU);
  const auto [lower, upper] = splitFactors(*handle);
  const bool areGiven = give(lower, countL, beginL, columnL, valueL) && give(upper, countU, beginU, columnU, valueU);
  return areGiven ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_ALLOC_FAILED;
}

}  // extern "C"
}  // namespace ordito::cusolver
