// cuSPARSE: statuses of bad arguments, and what the manual leaves open (cases.hpp).
#include <cusparse.h>

#include "cases.hpp"

namespace {

const float kOne = 1, kTwo = 2, kZero = 0;
const cusparseOperation_t N = CUSPARSE_OPERATION_NON_TRANSPOSE, T = CUSPARSE_OPERATION_TRANSPOSE;
const auto I32 = CUSPARSE_INDEX_32I;
const auto BASE0 = CUSPARSE_INDEX_BASE_ZERO;

struct Matrix {  // 1 2 0 / 0 3 0 / 4 0 5
  int* offsets = on<int>({0, 2, 3, 5});
  int* columns = on<int>({0, 1, 1, 0, 2});
  float* values = on<float>({1, 2, 3, 4, 5});
  cusparseSpMatDescr_t make(int rows = 3, int columnCount = 3, int entries = 5) const {
    cusparseSpMatDescr_t made = nullptr;
    cusparseCreateCsr(&made, rows, columnCount, entries, offsets, columns, values, I32, I32, BASE0, CUDA_R_32F);
    return made;
  }
};

cusparseDnVecDescr_t vector(float* values, int size = 3, cudaDataType type = CUDA_R_32F) {
  cusparseDnVecDescr_t made = nullptr;
  cusparseCreateDnVec(&made, size, values, type);
  return made;
}

cusparseDnMatDescr_t dense(float* values, int rows, int columns, int ld, cusparseOrder_t order = CUSPARSE_ORDER_COL) {
  cusparseDnMatDescr_t made = nullptr;
  cusparseCreateDnMat(&made, rows, columns, ld, values, CUDA_R_32F, order);
  return made;
}

void descriptors(Cases& cases, cusparseHandle_t h) {
  const Matrix m;
  cusparseSpMatDescr_t made = nullptr;
  cusparseDnVecDescr_t vec = nullptr;
  cusparseSpVecDescr_t sparse = nullptr;
  cusparseDnMatDescr_t mat = nullptr;
  int version = 0;
  CASE("create: null", cusparseCreate(nullptr));
  CASE("destroy: null", cusparseDestroy(nullptr));
  CASE("version: no handle", cusparseGetVersion(nullptr, &version));
  CASE("version: no answer", cusparseGetVersion(h, nullptr));
  CASE("stream: no handle", cusparseSetStream(nullptr, nullptr));
  CASE("pointer mode: 7", cusparseSetPointerMode(h, cusparsePointerMode_t(7)));
  CASE("pointer mode: host", cusparseSetPointerMode(h, CUSPARSE_POINTER_MODE_HOST));
  const auto csr = [&](int rows, int columns, int entries, void* offsets, void* indices, void* values,
                       cusparseIndexType_t type = I32, cusparseIndexBase_t base = BASE0,
                       cudaDataType values_type = CUDA_R_32F) {
    return cusparseCreateCsr(&made, rows, columns, entries, offsets, indices, values, type, type, base, values_type);
  };
  CASE("csr: no place",
       cusparseCreateCsr(nullptr, 3, 3, 5, m.offsets, m.columns, m.values, I32, I32, BASE0, CUDA_R_32F));
  CASE("csr: rows -1", csr(-1, 3, 5, m.offsets, m.columns, m.values));
  CASE("csr: rows 0", csr(0, 3, 0, m.offsets, nullptr, nullptr));
  CASE("csr: rows 0, nothing there", csr(0, 0, 0, nullptr, nullptr, nullptr));
  CASE("csr: columns -1", csr(3, -1, 5, m.offsets, m.columns, m.values));
  CASE("csr: entries -1", csr(3, 3, -1, m.offsets, m.columns, m.values));
  CASE("csr: entries 10 of 9", csr(3, 3, 10, m.offsets, m.columns, m.values));
  CASE("csr: no offsets", csr(3, 3, 5, nullptr, m.columns, m.values));
  CASE("csr: no columns", csr(3, 3, 5, m.offsets, nullptr, m.values));
  CASE("csr: no values", csr(3, 3, 5, m.offsets, m.columns, nullptr));
  CASE("csr: no entries, no arrays", csr(3, 3, 0, m.offsets, nullptr, nullptr));
  CASE("csr: index type 9", csr(3, 3, 5, m.offsets, m.columns, m.values, cusparseIndexType_t(9)));
  CASE("csr: index type 16", csr(3, 3, 5, m.offsets, m.columns, m.values, CUSPARSE_INDEX_16U));
  CASE("csr: base 5", csr(3, 3, 5, m.offsets, m.columns, m.values, I32, cusparseIndexBase_t(5)));
  CASE("csr: values 999", csr(3, 3, 5, m.offsets, m.columns, m.values, I32, BASE0, cudaDataType(999)));
  CASE("csr: values int8", csr(3, 3, 5, m.offsets, m.columns, m.values, I32, BASE0, CUDA_R_8I));
  CASE("csr: destroy none", cusparseDestroySpMat(nullptr));
  CASE("coo: rows -1", cusparseCreateCoo(&made, -1, 3, 5, m.columns, m.columns, m.values, I32, BASE0, CUDA_R_32F));
  CASE("coo: no rows", cusparseCreateCoo(&made, 3, 3, 5, nullptr, m.columns, m.values, I32, BASE0, CUDA_R_32F));
  CASE("vector: no place", cusparseCreateDnVec(nullptr, 3, m.values, CUDA_R_32F));
  CASE("vector: -1", cusparseCreateDnVec(&vec, -1, m.values, CUDA_R_32F));
  CASE("vector: 0", cusparseCreateDnVec(&vec, 0, nullptr, CUDA_R_32F));
  CASE("vector: no values", cusparseCreateDnVec(&vec, 3, nullptr, CUDA_R_32F));
  CASE("vector: destroy none", cusparseDestroyDnVec(nullptr));
  CASE("sparse vector: 4 entries of 3",
       cusparseCreateSpVec(&sparse, 3, 4, m.columns, m.values, I32, BASE0, CUDA_R_32F));
  CASE("sparse vector: -1", cusparseCreateSpVec(&sparse, 3, -1, m.columns, m.values, I32, BASE0, CUDA_R_32F));
  CASE("sparse vector: no indices", cusparseCreateSpVec(&sparse, 3, 2, nullptr, m.values, I32, BASE0, CUDA_R_32F));
  CASE("dense: ld 2 of 3", cusparseCreateDnMat(&mat, 3, 2, 2, m.values, CUDA_R_32F, CUSPARSE_ORDER_COL));
  CASE("dense: by rows, ld 1 of 2", cusparseCreateDnMat(&mat, 3, 2, 1, m.values, CUDA_R_32F, CUSPARSE_ORDER_ROW));
  CASE("dense: rows -1", cusparseCreateDnMat(&mat, -1, 2, 3, m.values, CUDA_R_32F, CUSPARSE_ORDER_COL));
  CASE("dense: rows 0", cusparseCreateDnMat(&mat, 0, 2, 0, nullptr, CUDA_R_32F, CUSPARSE_ORDER_COL));
  CASE("dense: order 9", cusparseCreateDnMat(&mat, 3, 2, 3, m.values, CUDA_R_32F, cusparseOrder_t(9)));
  CASE("dense: no values", cusparseCreateDnMat(&mat, 3, 2, 3, nullptr, CUDA_R_32F, CUSPARSE_ORDER_COL));
  made = m.make();
  int64_t rows = 0, columns = 0, entries = 0;
  CASE("size: no rows", cusparseSpMatGetSize(made, nullptr, &columns, &entries));
  CASE("size: no matrix", cusparseSpMatGetSize(nullptr, &rows, &columns, &entries));
  cusparseFillMode_t fill = CUSPARSE_FILL_MODE_LOWER;
  CASE("attribute: 9", cusparseSpMatSetAttribute(made, cusparseSpMatAttribute_t(9), &fill, sizeof fill));
  CASE("attribute: size 1", cusparseSpMatSetAttribute(made, CUSPARSE_SPMAT_FILL_MODE, &fill, 1));
  CASE("attribute: none", cusparseSpMatSetAttribute(made, CUSPARSE_SPMAT_FILL_MODE, nullptr, sizeof fill));
  cusparseMatDescr_t old = nullptr;
  CASE("old description: no place", cusparseCreateMatDescr(nullptr));
  CASE("old description", cusparseCreateMatDescr(&old));
  CASE("old description: type 9", cusparseSetMatType(old, cusparseMatrixType_t(9)));
  CASE("old description: base 9", cusparseSetMatIndexBase(old, cusparseIndexBase_t(9)));
  CASE("old description: fill 9", cusparseSetMatFillMode(old, cusparseFillMode_t(9)));
  CASE("old description: destroy none", cusparseDestroyMatDescr(nullptr));
}

cusparseStatus_t spmv(cusparseHandle_t h, cusparseOperation_t op, const float* alpha, cusparseSpMatDescr_t a,
                      cusparseDnVecDescr_t x, const float* beta, cusparseDnVecDescr_t y,
                      cudaDataType compute = CUDA_R_32F, int algorithm = CUSPARSE_SPMV_ALG_DEFAULT) {
  static char* const room = zeros<char>(1 << 16);
  size_t size = 0;
  const auto asked = cusparseSpMV_bufferSize(h, op, alpha, a, x, beta, y, compute, cusparseSpMVAlg_t(algorithm), &size);
  if (asked != CUSPARSE_STATUS_SUCCESS) return cusparseStatus_t(100 + asked);
  return cusparseSpMV(h, op, alpha, a, x, beta, y, compute, cusparseSpMVAlg_t(algorithm), room);
}

void products(Cases& cases, cusparseHandle_t h) {
  const Matrix m;
  const auto a = m.make(), empty = m.make(3, 3, 0);
  float *xs = on<float>({1, 2, 3}), *ys = nullptr, *nans = on<float>({NAN, NAN, NAN});
  const auto x = vector(xs), y = vector(zeros<float>(3)), two = vector(xs, 2);
  size_t size = 0;
  const auto fresh = [&](std::initializer_list<float> values) { return vector(ys = on<float>(values)); };
  CASE("spmv", spmv(h, N, &kOne, a, x, &kZero, fresh({7, 7, 7})), shown(ys, 3));
  CASE("spmv: no handle", spmv(nullptr, N, &kOne, a, x, &kZero, y));
  CASE("spmv: no matrix", spmv(h, N, &kOne, nullptr, x, &kZero, y));
  CASE("spmv: no x", spmv(h, N, &kOne, a, nullptr, &kZero, y));
  CASE("spmv: no alpha", spmv(h, N, nullptr, a, x, &kZero, y));
  CASE("spmv: no beta", spmv(h, N, &kOne, a, x, nullptr, y));
  CASE("spmv: x too short", spmv(h, N, &kOne, a, two, &kZero, y));
  CASE("spmv: y too short", spmv(h, N, &kOne, a, x, &kZero, two));
  CASE("spmv: operation 9", spmv(h, cusparseOperation_t(9), &kOne, a, x, &kZero, y));
  CASE("spmv: algorithm 99", spmv(h, N, &kOne, a, x, &kZero, y, CUDA_R_32F, 99));
  CASE("spmv: algorithm of COO", spmv(h, N, &kOne, a, x, &kZero, y, CUDA_R_32F, CUSPARSE_SPMV_COO_ALG1));
  CASE("spmv: computed in double", spmv(h, N, &kOne, a, x, &kZero, y, CUDA_R_64F));
  CASE("spmv: computed in int", spmv(h, N, &kOne, a, x, &kZero, y, CUDA_R_32I));
  CASE("spmv: x double", spmv(h, N, &kOne, a, vector(zeros<float>(6), 3, CUDA_R_64F), &kZero, y));
  CASE("spmv: size without a place",
       cusparseSpMV_bufferSize(h, N, &kOne, a, x, &kZero, y, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, nullptr));
  CASE("spmv: no buffer", cusparseSpMV(h, N, &kOne, a, x, &kZero, y, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, nullptr));
  CASE("spmv: beta 0, y NaN", spmv(h, N, &kOne, a, x, &kZero, fresh({NAN, NAN, NAN})), shown(ys, 3));
  CASE("spmv: alpha 0, x NaN", spmv(h, N, &kZero, a, vector(nans), &kTwo, fresh({1, 2, 3})), shown(ys, 3));
  CASE("spmv: no entries, beta 2", spmv(h, N, &kOne, empty, x, &kTwo, fresh({1, 2, 3})), shown(ys, 3));
  CASE("spmv: no entries, beta 0, y NaN", spmv(h, N, &kOne, empty, x, &kZero, fresh({NAN, NAN, NAN})), shown(ys, 3));
  CASE("spmv: conjugate of real",
       spmv(h, CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE, &kOne, a, x, &kZero, fresh({7, 7, 7})), shown(ys, 3));
  CASE("spmv: turned", spmv(h, T, &kOne, a, x, &kZero, fresh({7, 7, 7})), shown(ys, 3));
  const auto spmm = [&](cusparseOperation_t opB, cusparseDnMatDescr_t b, cusparseDnMatDescr_t c, int algorithm) {
    return cusparseSpMM_bufferSize(h, N, opB, &kOne, a, b, &kZero, c, CUDA_R_32F, cusparseSpMMAlg_t(algorithm), &size);
  };
  float* room = zeros<float>(64);
  CASE("spmm", spmm(N, dense(room, 3, 2, 3), dense(room, 3, 2, 3), CUSPARSE_SPMM_ALG_DEFAULT));
  CASE("spmm: orders differ",
       spmm(N, dense(room, 3, 2, 2, CUSPARSE_ORDER_ROW), dense(room, 3, 2, 3), CUSPARSE_SPMM_ALG_DEFAULT));
  CASE("spmm: B too short", spmm(N, dense(room, 2, 2, 2), dense(room, 3, 2, 3), CUSPARSE_SPMM_ALG_DEFAULT));
  CASE("spmm: C too wide", spmm(N, dense(room, 3, 2, 3), dense(room, 3, 3, 3), CUSPARSE_SPMM_ALG_DEFAULT));
  CASE("spmm: B turned", spmm(T, dense(room, 2, 3, 2), dense(room, 3, 2, 3), CUSPARSE_SPMM_ALG_DEFAULT));
  CASE("spmm: algorithm 99", spmm(N, dense(room, 3, 2, 3), dense(room, 3, 2, 3), 99));
  CASE("spmm: no B", spmm(N, nullptr, dense(room, 3, 2, 3), CUSPARSE_SPMM_ALG_DEFAULT));
}

void solves(Cases& cases, cusparseHandle_t h) {
  const Matrix m;
  float *xs = on<float>({1, 2, 3}), *ys = zeros<float>(3);
  cusparseSpSVDescr_t state = nullptr;
  size_t size = 0;
  CASE("spsv: no place", cusparseSpSV_createDescr(nullptr));
  cusparseSpSV_createDescr(&state);
  const auto prepare = [&](cusparseSpMatDescr_t a, cusparseDnVecDescr_t x, cusparseSpSVDescr_t s) {
    return cusparseSpSV_bufferSize(h, N, &kOne, a, x, vector(ys), CUDA_R_32F, CUSPARSE_SPSV_ALG_DEFAULT, s, &size);
  };
  CASE("spsv: not square", prepare(m.make(3, 4, 5), vector(xs, 4), state));
  CASE("spsv: x too short", prepare(m.make(), vector(xs, 2), state));
  CASE("spsv: no state", prepare(m.make(), vector(xs), nullptr));
  CASE("spsv: solve before analysis",
       cusparseSpSV_solve(h, N, &kOne, m.make(), vector(xs), vector(ys), CUDA_R_32F, CUSPARSE_SPSV_ALG_DEFAULT, state));
  CASE("spsv: destroy none", cusparseSpSV_destroyDescr(nullptr));
  cusparseSpGEMMDescr_t product = nullptr;
  cusparseSpGEMM_createDescr(&product);
  cusparseSpMatDescr_t c = nullptr;
  cusparseCreateCsr(&c, 3, 3, 0, zeros<int>(4), nullptr, nullptr, I32, I32, BASE0, CUDA_R_32F);
  const auto spgemm = [&](cusparseOperation_t op, cusparseSpMatDescr_t a, cusparseSpMatDescr_t b) {
    return cusparseSpGEMM_workEstimation(h, op, N, &kOne, a, b, &kZero, c, CUDA_R_32F, CUSPARSE_SPGEMM_DEFAULT, product,
                                         &size, nullptr);
  };
  CASE("spgemm", spgemm(N, m.make(), m.make()));
  CASE("spgemm: sizes differ", spgemm(N, m.make(), m.make(4, 3, 5)));
  CASE("spgemm: turned", spgemm(T, m.make(), m.make()));
  CASE("spgemm: no A", spgemm(N, nullptr, m.make()));
}

void older(Cases& cases, cusparseHandle_t h) {
  const Matrix m;
  size_t size = 0;
  int *rows = zeros<int>(8), *offsets = zeros<int>(8), *order = zeros<int>(8);
  CASE("coo2csr: none", cusparseXcoo2csr(h, rows, 0, 3, offsets, BASE0), shown(offsets, 4));
  CASE("coo2csr: none, no rows", cusparseXcoo2csr(h, nullptr, 0, 3, offsets, BASE0), shown(offsets, 4));
  CASE("coo2csr: -1", cusparseXcoo2csr(h, rows, -1, 3, offsets, BASE0));
  CASE("coo2csr: no handle", cusparseXcoo2csr(nullptr, rows, 3, 3, offsets, BASE0));
  CASE("coo2csr: base 5", cusparseXcoo2csr(h, rows, 3, 3, offsets, cusparseIndexBase_t(5)));
  CASE("csr2coo: rows 0", cusparseXcsr2coo(h, m.offsets, 0, 0, rows, BASE0));
  CASE("csr2coo: rows -1", cusparseXcsr2coo(h, m.offsets, 5, -1, rows, BASE0));
  CASE("identity: 0", cusparseCreateIdentityPermutation(h, 0, nullptr));
  CASE("identity: -1", cusparseCreateIdentityPermutation(h, -1, order));
  CASE("coosort: size of none", cusparseXcoosort_bufferSizeExt(h, 3, 3, 0, rows, rows, &size));
  CASE("coosort: size of -1", cusparseXcoosort_bufferSizeExt(h, 3, 3, -1, rows, rows, &size));
  CASE("coosort: no place", cusparseXcoosort_bufferSizeExt(h, 3, 3, 3, rows, rows, nullptr));
  cusparseMatDescr_t description = nullptr;
  cusparseCreateMatDescr(&description);
  csrilu02Info_t info = nullptr;
  cusparseCreateCsrilu02Info(&info);
  float* values = on<float>({0, 2, 3, 4, 5});
  char* room = zeros<char>(1 << 16);
  int position = 7, bytes = 0;
  CASE("ilu: size", cusparseScsrilu02_bufferSize(h, 3, 5, description, values, m.offsets, m.columns, info, &bytes));
  CASE("ilu: rows -1", cusparseScsrilu02_bufferSize(h, -1, 5, description, values, m.offsets, m.columns, info, &bytes));
  CASE("ilu: rows 0", cusparseScsrilu02_bufferSize(h, 0, 0, description, values, m.offsets, m.columns, info, &bytes));
  CASE("ilu: no info",
       cusparseScsrilu02_bufferSize(h, 3, 5, description, values, m.offsets, m.columns, nullptr, &bytes));
  CASE("ilu: analysis", cusparseScsrilu02_analysis(h, 3, 5, description, values, m.offsets, m.columns, info,
                                                   CUSPARSE_SOLVE_POLICY_USE_LEVEL, room));
  CASE("ilu: a pivot of 0",
       cusparseScsrilu02(h, 3, 5, description, values, m.offsets, m.columns, info, CUSPARSE_SOLVE_POLICY_USE_LEVEL,
                         room),
       std::to_string(cusparseXcsrilu02_zeroPivot(h, info, &position)), shown(position), shown(values, 5));
  const double* none = nullptr;
  CASE("gtsv2: 2 rows", cusparseDgtsv2_bufferSizeExt(h, 2, 1, none, none, none, none, 2, &size));
  CASE("gtsv2: 3 rows", cusparseDgtsv2_bufferSizeExt(h, 3, 1, none, none, none, none, 3, &size));
  CASE("gtsv2: ldb 1 of 3", cusparseDgtsv2_bufferSizeExt(h, 3, 1, none, none, none, none, 1, &size));
  CASE("gtsv2: no columns", cusparseDgtsv2_bufferSizeExt(h, 3, 0, none, none, none, none, 3, &size));
  CASE("csr2csc: none",
       cusparseCsr2cscEx2_bufferSize(h, 3, 3, 0, nullptr, m.offsets, nullptr, nullptr, offsets, nullptr, CUDA_R_32F,
                                     CUSPARSE_ACTION_NUMERIC, BASE0, CUSPARSE_CSR2CSC_ALG_DEFAULT, &size));
  CASE("csr2csc: rows -1",
       cusparseCsr2cscEx2_bufferSize(h, -1, 3, 5, m.values, m.offsets, m.columns, values, offsets, rows, CUDA_R_32F,
                                     CUSPARSE_ACTION_NUMERIC, BASE0, CUSPARSE_CSR2CSC_ALG_DEFAULT, &size));
  CASE("csr2csc: action 9",
       cusparseCsr2cscEx2_bufferSize(h, 3, 3, 5, m.values, m.offsets, m.columns, values, offsets, rows, CUDA_R_32F,
                                     cusparseAction_t(9), BASE0, CUSPARSE_CSR2CSC_ALG_DEFAULT, &size));
}

void sparseVectors(Cases& cases, cusparseHandle_t h) {
  cusparseSpVecDescr_t x = nullptr;
  cusparseCreateSpVec(&x, 3, 2, on<int>({0, 2}), on<float>({2, 3}), I32, BASE0, CUDA_R_32F);
  const cusparseDnVecDescr_t y = vector(on<float>({10, 20, 30}));
  float result = 7;
  size_t size = 0;
  void* buffer = zeros<char>(4096);
  CASE("spvv: no handle", cusparseSpVV(nullptr, N, x, y, &result, CUDA_R_32F, buffer));
  CASE("spvv: no sparse vector", cusparseSpVV(h, N, nullptr, y, &result, CUDA_R_32F, buffer));
  CASE("spvv: no dense vector", cusparseSpVV(h, N, x, nullptr, &result, CUDA_R_32F, buffer));
  CASE("spvv: no result", cusparseSpVV(h, N, x, y, nullptr, CUDA_R_32F, buffer));
  CASE("spvv: size, no answer", cusparseSpVV_bufferSize(h, N, x, y, &result, CUDA_R_32F, nullptr));
  CASE("spvv: size, no result", cusparseSpVV_bufferSize(h, N, x, y, nullptr, CUDA_R_32F, &size));
  CASE("spvv: no buffer", cusparseSpVV(h, N, x, y, &result, CUDA_R_32F, nullptr));
  CASE("spvv", cusparseSpVV(h, N, x, y, &result, CUDA_R_32F, buffer), std::to_string(result));
  CASE("gather: no sparse vector", cusparseGather(h, y, nullptr));
  CASE("gather: no dense vector", cusparseGather(h, nullptr, x));
  CASE("scatter: no sparse vector", cusparseScatter(h, nullptr, y));
  CASE("axpby: no alpha", cusparseAxpby(h, nullptr, x, &kOne, y));
  CASE("axpby: no sparse vector", cusparseAxpby(h, &kOne, nullptr, &kOne, y));
}

void texts(Cases& cases) {
  CASE("name: 1", 0, std::string(cusparseGetErrorName(CUSPARSE_STATUS_NOT_INITIALIZED)));
  CASE("name: 99", 0, std::string(cusparseGetErrorName(cusparseStatus_t(99))));
  CASE("text: 99", 0, std::string(cusparseGetErrorString(cusparseStatus_t(99))));
  CASE("text: 3", 0, std::string(cusparseGetErrorString(CUSPARSE_STATUS_INVALID_VALUE)));
}

}  // namespace

int main(int count, char** arguments) {
  Cases cases(count, arguments);
  cusparseHandle_t handle;
  if (cusparseCreate(&handle) != CUSPARSE_STATUS_SUCCESS) return 2;
  descriptors(cases, handle);
  products(cases, handle);
  solves(cases, handle);
  older(cases, handle);
  sparseVectors(cases, handle);
  texts(cases);
}
