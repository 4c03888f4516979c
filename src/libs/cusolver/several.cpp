// cuSOLVER over several GPUs (cusolverMg): matrices whose columns are dealt out to the GPUs in blocks, one after
// another. All virtual GPUs are the same processor, so a call gathers the columns, does LAPACK's work once, and deals
// the result out again. Calls are done when they return.
#include <map>

#include "cusolverMg.h"
#include "libs/cusolver/handle.hpp"
#include "libs/cusolver/lapack.hpp"

struct cusolverMgContext {
  std::vector<int> devices;
};

namespace ordito::cusolver {
namespace {

using Status = cusolverStatus_t;
using Handle = cusolverMgHandle_t;

struct Grid {
  int parts;
};

struct Distribution {
  int64_t rows, columns, block;
  cudaDataType type;
  int parts;

  /// Which GPU has a column, and which of its columns it is there.
  std::pair<int64_t, int64_t> placeOf(int64_t column) const {
    const int64_t number = column / block;
    return {number % parts, number / parts * block + column % block};
  }
};

const Distribution& of(cudaLibMgMatrixDesc_t matrix) { return *static_cast<const Distribution*>(matrix); }

/// A part of a distributed matrix, as a call names it: from row `ia` and column `ja` on, counted from 1.
struct Part {
  void** parts;
  int ia, ja;
  cudaLibMgMatrixDesc_t matrix;

  bool isValid(int m, int n, cudaDataType type) const {
    if (!parts || !matrix || ia < 1 || ja < 1 || m < 0 || n < 0) return false;
    return ia - 1 + m <= of(matrix).rows && ja - 1 + n <= of(matrix).columns && of(matrix).type == type;
  }
};

/// A copy of such a part with room behind it (lapack.hpp), which can be dealt out again.
template <class T>
class Gathered {
 public:
  Gathered(const Part& part, int m, int n) : part_(part), m_(m), n_(n), copy_(room<T>(int64_t{m} * n + 64)) {
    each([](T* there, T* here, int64_t count) { std::copy_n(there, count, here); });
  }
  void dealOut() {
    each([](T* there, const T* here, int64_t count) { std::copy_n(here, count, there); });
  }
  T* data() { return copy_.data(); }
  int leading() const { return std::max(1, m_); }

 private:
  template <class Move>
  void each(const Move& move) {
    const Distribution& matrix = of(part_.matrix);
    for (int64_t j = 0; j < n_; ++j) {
      const auto [device, column] = matrix.placeOf(part_.ja - 1 + j);
      move(static_cast<T*>(part_.parts[device]) + column * matrix.rows + part_.ia - 1, copy_.data() + j * m_, m_);
    }
  }

  const Part part_;
  const int m_, n_;
  std::vector<T> copy_;
};

/// The place of the pivot of a row, which is where the column of the same number is.
int& pivotOf(int** pivots, const Part& a, int64_t row) {
  const auto [device, column] = of(a.matrix).placeOf(a.ja - 1 + row);
  return pivots[device][column];
}

/// Waits for what the GPUs have to do.
Status awaitAll(Handle handle) {
  for (const int number : handle->devices) {
    CUdevice device = 0;
    CUcontext context = nullptr;
    if (cuDeviceGet(&device, number) != CUDA_SUCCESS || cuDevicePrimaryCtxRetain(&context, device) != CUDA_SUCCESS)
      return CUSOLVER_STATUS_EXECUTION_FAILED;
    cuCtxPushCurrent(context);
    const CUresult done = cuCtxSynchronize();
    cuCtxPopCurrent(nullptr);
    cuDevicePrimaryCtxRelease(device);
    if (done != CUDA_SUCCESS) return statusOf(done);
  }
  return CUSOLVER_STATUS_SUCCESS;
}

template <class T>
struct Type {
  using Number = T;
};

/// Runs body(Type<T>()), which gives LAPACK's info, as a task of the current GPU when all of them have come there.
template <class Body>
Status run(Handle handle, const char* name, cudaDataType type, int* info, const Body& body) {
  SOLVER_CHECK(info);
  if (const Status waited = awaitAll(handle)) return waited;
  const auto task = [&] {
    switch (type) {
      case CUDA_R_32F: *info = body(Type<float>()); break;
      case CUDA_R_64F: *info = body(Type<double>()); break;
      case CUDA_C_32F: *info = body(Type<std::complex<float>>()); break;
      default: *info = body(Type<std::complex<double>>());
    }
  };
  const Status submitted = statusOf(libs::enqueue(nullptr, name, task));
  return submitted == CUSOLVER_STATUS_SUCCESS ? statusOf(libs::await(nullptr)) : submitted;
}

bool isType(cudaDataType type) {
  return type == CUDA_R_32F || type == CUDA_R_64F || type == CUDA_C_32F || type == CUDA_C_64F;
}

/// Handle, types and the part of A.
Status check(Handle handle, const Part& a, int m, int n, cudaDataType type, bool isRight = true) {
  SOLVER_CALL(handle, isRight);
  SOLVER_CHECK(!handle->devices.empty() && a.isValid(m, n, type));
  return isType(type) ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_NOT_SUPPORTED;
}
Status tellSize(Status checked, int64_t* size) {
  if (checked != CUSOLVER_STATUS_SUCCESS) return checked;
  SOLVER_CHECK(size);
  *size = 1;  // no area is needed, and some programs do not allocate nothing
  return CUSOLVER_STATUS_SUCCESS;
}

template <class T>
int eigenvalues(cusolverEigMode_t mode, cublasFillMode_t uplo, int n, Gathered<T>& a, void* w) {
  int answer = 0;
  auto* values = static_cast<Real<T>*>(w);
  withWorks<T>([&](T* work, int size, Real<T>* reals, int realSize, int* ints, int intSize) {
    if constexpr (kIsComplex<T>)
      lapack<T, "heevd">(letter(mode), letter(uplo), n, a.data(), a.leading(), values, work, size, reals, realSize,
                         ints, intSize, &answer);
    else
      lapack<T, "syevd">(letter(mode), letter(uplo), n, a.data(), a.leading(), values, work, size, ints, intSize,
                         &answer);
  });
  return answer;
}

/// A routine for a triangle in its place: potrf or potri.
template <Name kRoutine>
Status triangle(const char* name, Handle handle, cublasFillMode_t uplo, int n, const Part& part, cudaDataType type,
                int* info) {
  if (const Status bad = check(handle, part, n, n, type, isFill(uplo))) return bad;
  return run(handle, name, type, info, [=]<class T>(Type<T>) {
    int answer = 0;
    Gathered<T> a(part, n, n);
    lapack<T, kRoutine>(letter(uplo), n, a.data(), a.leading(), &answer);
    a.dealOut();
    return answer;
  });
}

}  // namespace

extern "C" {

Status cusolverMgCreate(Handle* handle) {
  SOLVER_CHECK(handle);
  *handle = nullptr;
  if (!libs::hasContext() || !cublas::loadOpenBlas()) return CUSOLVER_STATUS_NOT_INITIALIZED;
  *handle = new cusolverMgContext;
  return CUSOLVER_STATUS_SUCCESS;
}
Status cusolverMgDestroy(Handle handle) {
  SOLVER_CALL(handle, true);
  delete handle;
  return CUSOLVER_STATUS_SUCCESS;
}
Status cusolverMgDeviceSelect(Handle handle, int count, int* devices) {
  int known = 0;
  SOLVER_CALL(handle, count > 0 && devices && cuDeviceGetCount(&known) == CUDA_SUCCESS);
  for (int i = 0; i < count; ++i) SOLVER_CHECK(devices[i] >= 0 && devices[i] < known);
  handle->devices.assign(devices, devices + count);
  return CUSOLVER_STATUS_SUCCESS;
}

/// Only one row of GPUs is there, as in NVIDIA's library.
Status cusolverMgCreateDeviceGrid(cudaLibMgGrid_t* grid, int32_t rows, int32_t columns, const int32_t* devices,
                                  cusolverMgGridMapping_t) {
  SOLVER_CHECK(grid && rows == 1 && columns > 0 && devices);
  *grid = new Grid{columns};
  return CUSOLVER_STATUS_SUCCESS;
}
Status cusolverMgDestroyGrid(cudaLibMgGrid_t grid) {
  delete static_cast<Grid*>(grid);
  return CUSOLVER_STATUS_SUCCESS;
}
Status cusolverMgCreateMatrixDesc(cudaLibMgMatrixDesc_t* matrix, int64_t rows, int64_t columns, int64_t rowBlock,
                                  int64_t columnBlock, cudaDataType type, const cudaLibMgGrid_t grid) {
  SOLVER_CHECK(matrix && grid && rows >= 0 && columns >= 0 && rowBlock > 0 && columnBlock > 0);
  if (rowBlock < rows) return CUSOLVER_STATUS_NOT_SUPPORTED;  // rows are not dealt out
  *matrix = new Distribution{rows, columns, columnBlock, type, static_cast<const Grid*>(grid)->parts};
  return CUSOLVER_STATUS_SUCCESS;
}
Status cusolverMgDestroyMatrixDesc(cudaLibMgMatrixDesc_t matrix) {
  delete static_cast<Distribution*>(matrix);
  return CUSOLVER_STATUS_SUCCESS;
}

Status cusolverMgSyevd_bufferSize(Handle handle, cusolverEigMode_t mode, cublasFillMode_t uplo, int n, void** a, int ia,
                                  int ja, cudaLibMgMatrixDesc_t matrix, void*, cudaDataType, cudaDataType type,
                                  int64_t* size) {
  return tellSize(check(handle, {a, ia, ja, matrix}, n, n, type, isEigenMode(mode) && isFill(uplo)), size);
}
Status cusolverMgSyevd(Handle handle, cusolverEigMode_t mode, cublasFillMode_t uplo, int n, void** a, int ia, int ja,
                       cudaLibMgMatrixDesc_t matrix, void* w, cudaDataType typeW, cudaDataType type, void**, int64_t,
                       int* info) {
  const Part part{a, ia, ja, matrix};
  const auto real = type == CUDA_C_32F ? CUDA_R_32F : type == CUDA_C_64F ? CUDA_R_64F : type;
  const bool isRight = isEigenMode(mode) && isFill(uplo) && w && typeW == real;
  if (const Status bad = check(handle, part, n, n, type, isRight)) return bad;
  return run(handle, "cusolverMgSyevd", type, info, [=]<class T>(Type<T>) {
    Gathered<T> all(part, n, n);
    const int answer = eigenvalues(mode, uplo, n, all, w);
    all.dealOut();
    return answer;
  });
}

Status cusolverMgGetrf_bufferSize(Handle handle, int m, int n, void** a, int ia, int ja, cudaLibMgMatrixDesc_t matrix,
                                  int**, cudaDataType type, int64_t* size) {
  return tellSize(check(handle, {a, ia, ja, matrix}, m, n, type), size);
}
Status cusolverMgGetrf(Handle handle, int m, int n, void** a, int ia, int ja, cudaLibMgMatrixDesc_t matrix,
                       int** pivots, cudaDataType type, void**, int64_t, int* info) {
  const Part part{a, ia, ja, matrix};
  if (const Status bad = check(handle, part, m, n, type, pivots != nullptr)) return bad;
  return run(handle, "cusolverMgGetrf", type, info, [=]<class T>(Type<T>) {
    int answer = 0;
    Gathered<T> all(part, m, n);
    auto rows = room<int>(std::min(m, n));
    lapack<T, "getrf">(m, n, all.data(), all.leading(), rows.data(), &answer);
    all.dealOut();
    for (int i = 0; i < std::min(m, n); ++i) pivotOf(pivots, part, i) = rows[static_cast<size_t>(i)];
    return answer;
  });
}

Status cusolverMgGetrs_bufferSize(Handle handle, cublasOperation_t op, int n, int columns, void** a, int ia, int ja,
                                  cudaLibMgMatrixDesc_t matrix, int**, void** b, int ib, int jb,
                                  cudaLibMgMatrixDesc_t right, cudaDataType type, int64_t* size) {
  const bool isRight = isOperation(op) && Part{b, ib, jb, right}.isValid(n, columns, type);
  return tellSize(check(handle, {a, ia, ja, matrix}, n, n, type, isRight), size);
}
Status cusolverMgGetrs(Handle handle, cublasOperation_t op, int n, int columns, void** a, int ia, int ja,
                       cudaLibMgMatrixDesc_t matrix, int** pivots, void** b, int ib, int jb,
                       cudaLibMgMatrixDesc_t right, cudaDataType type, void**, int64_t, int* info) {
  const Part left{a, ia, ja, matrix}, side{b, ib, jb, right};
  const bool isRight = isOperation(op) && pivots && side.isValid(n, columns, type);
  if (const Status bad = check(handle, left, n, n, type, isRight)) return bad;
  return run(handle, "cusolverMgGetrs", type, info, [=]<class T>(Type<T>) {
    int answer = 0;
    Gathered<T> factors(left, n, n), sides(side, n, columns);
    auto rows = room<int>(n);
    for (int i = 0; i < n; ++i) rows[static_cast<size_t>(i)] = pivotOf(pivots, left, i);
    lapack<T, "getrs">(letter(op), n, columns, factors.data(), factors.leading(), rows.data(), sides.data(),
                       sides.leading(), &answer);
    sides.dealOut();
    return answer;
  });
}

#define DEFINE(name, routine)                                                                                 \
  Status cusolverMg##name##_bufferSize(Handle handle, cublasFillMode_t uplo, int n, void** a, int ia, int ja, \
                                       cudaLibMgMatrixDesc_t matrix, cudaDataType type, int64_t* size) {      \
    return tellSize(check(handle, {a, ia, ja, matrix}, n, n, type, isFill(uplo)), size);                      \
  }                                                                                                           \
  Status cusolverMg##name(Handle handle, cublasFillMode_t uplo, int n, void** a, int ia, int ja,              \
                          cudaLibMgMatrixDesc_t matrix, cudaDataType type, void**, int64_t, int* info) {      \
    return triangle<routine>("cusolverMg" #name, handle, uplo, n, {a, ia, ja, matrix}, type, info);           \
  }
DEFINE(Potrf, "potrf")
DEFINE(Potri, "potri")
#undef DEFINE

Status cusolverMgPotrs_bufferSize(Handle handle, cublasFillMode_t uplo, int n, int columns, void** a, int ia, int ja,
                                  cudaLibMgMatrixDesc_t matrix, void** b, int ib, int jb, cudaLibMgMatrixDesc_t right,
                                  cudaDataType type, int64_t* size) {
  const bool isRight = isFill(uplo) && Part{b, ib, jb, right}.isValid(n, columns, type);
  return tellSize(check(handle, {a, ia, ja, matrix}, n, n, type, isRight), size);
}
Status cusolverMgPotrs(Handle handle, cublasFillMode_t uplo, int n, int columns, void** a, int ia, int ja,
                       cudaLibMgMatrixDesc_t matrix, void** b, int ib, int jb, cudaLibMgMatrixDesc_t right,
                       cudaDataType type, void**, int64_t, int* info) {
  const Part left{a, ia, ja, matrix}, side{b, ib, jb, right};
  if (const Status bad = check(handle, left, n, n, type, isFill(uplo) && side.isValid(n, columns, type))) return bad;
  return run(handle, "cusolverMgPotrs", type, info, [=]<class T>(Type<T>) {
    int answer = 0;
    Gathered<T> factors(left, n, n), sides(side, n, columns);
    lapack<T, "potrs">(letter(uplo), n, columns, factors.data(), factors.leading(), sides.data(), sides.leading(),
                       &answer);
    sides.dealOut();
    return answer;
  });
}

}  // extern "C"
}  // namespace ordito::cusolver
