// Dense algebra: cuBLAS beside plain loops. Its matrices lie by columns, its scalars are passed by address, and its
// vectors have strides. `runEightSteps` is the whole course's recipe in one function.
#pragma once

#include "context.hpp"

namespace lab {

inline void axpyLoop(Context& c, Measurement& row) {
  const std::vector<float> x = c.numbers(c.n, 1);
  std::vector<float> y = c.numbers(c.n, 2);
  runOnHost(c, row, [&] {
    for (std::size_t i = 0; i < c.n; ++i) y[i] += 3 * x[i];
  });
}

/// y = 3 x + y, where x has every second element of an array and y every third.
inline void runAxpy(Context& c, Measurement& row) {
  constexpr int kStrideX = 2, kStrideY = 3;
  const std::vector<float> x = c.numbers(c.n, 1), y = c.numbers(c.n, 2);
  std::vector<float> expected(c.n), found(c.n, -1);
  for (std::size_t i = 0; i < c.n; ++i) expected[i] = 3 * x[i] + y[i];
  DeviceArray<float> deviceX(c.n * kStrideX), deviceY(c.n * kStrideY);
  const int n = static_cast<int>(c.n);
  cublasHandle_t handle;
  LIBRARY_CHECK(cublasCreate(&handle));
  const float factor = 3;
  timeRounds(
      c.options.rounds, row,
      [&] {
        LIBRARY_CHECK(cublasSetVector(n, sizeof(float), x.data(), 1, deviceX.get(), kStrideX));
        LIBRARY_CHECK(cublasSetVector(n, sizeof(float), y.data(), 1, deviceY.get(), kStrideY));
      },
      [&] { LIBRARY_CHECK(cublasSaxpy(handle, n, &factor, deviceX.get(), kStrideX, deviceY.get(), kStrideY)); },
      [&] { LIBRARY_CHECK(cublasGetVector(n, sizeof(float), deviceY.get(), kStrideY, found.data(), 1)); });
  LIBRARY_CHECK(cublasDestroy(handle));
  judge(row, found == expected);
}

inline void dotLoop(Context& c, Measurement& row) {
  const std::vector<float> x = c.numbers(c.n, 1), y = c.numbers(c.n, 2);
  volatile float kept = 0;
  runOnHost(c, row, [&] {
    float sum = 0;
    for (std::size_t i = 0; i < c.n; ++i) sum += x[i] * y[i];
    kept = sum;
  });
}

/// The sum of x[i] y[i], where x goes through its array from the end: a negative stride.
inline void runDot(Context& c, Measurement& row) {
  const std::vector<float> x = c.numbers(c.n, 1), y = c.numbers(c.n, 2);
  double expected = 0;
  for (std::size_t i = 0; i < c.n; ++i) expected += static_cast<double>(x[c.n - 1 - i]) * y[i];
  DeviceArray<float> deviceX(c.n), deviceY(c.n);
  deviceX.upload(x.data(), c.n);
  deviceY.upload(y.data(), c.n);
  cublasHandle_t handle;
  LIBRARY_CHECK(cublasCreate(&handle));
  float found = -1;
  timeRounds(
      c.options.rounds, row, [] {},
      [&] { LIBRARY_CHECK(cublasSdot(handle, static_cast<int>(c.n), deviceX.get(), -1, deviceY.get(), 1, &found)); },
      [] {});
  LIBRARY_CHECK(cublasDestroy(handle));
  judge(row, std::abs(found - expected) <= 1e-6 * static_cast<double>(c.n) * 16);
}

/// op(A) x by its definition; A has `rows` rows, by columns, `leading` apart.
inline std::vector<float> timesVector(const std::vector<float>& a, std::size_t rows, std::size_t columns,
                                      std::size_t leading, bool isTransposed, const std::vector<float>& x) {
  std::vector<float> y(isTransposed ? columns : rows, 0);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t col = 0; col < columns; ++col) {
      const float element = a[columnMajor(r, col, leading)];
      if (isTransposed) {
        y[col] += element * x[r];
      } else {
        y[r] += element * x[col];
      }
    }
  }
  return y;
}

/// y = 2 op(A) x, as it is and transposed, in a matrix whose columns lie further apart than they are long. The factor
/// of the old y is 0, so that it may hold anything: here what is no number.
inline void runGemv(Context& c, Measurement& row) {
  const std::size_t rows = c.rows, columns = c.rows / 2, leading = rows + 3;
  const std::vector<float> a = c.numbers(leading * columns, 3), x = c.numbers(rows, 4);
  DeviceArray<float> deviceA(leading * columns), deviceX(rows), deviceY(rows);
  cublasHandle_t handle;
  LIBRARY_CHECK(cublasCreate(&handle));
  deviceA.upload(a.data(), a.size());
  deviceX.upload(x.data(), rows);
  const float factor = 2, none = 0;
  bool isRight = true;
  for (const bool isTransposed : {false, true}) {
    std::vector<float> expected = timesVector(a, rows, columns, leading, isTransposed, x);
    for (float& element : expected) element *= factor;
    std::vector<float> found(expected.size(), -1);
    timeRounds(
        c.options.rounds, row, [&] { deviceY.fillBytes(0xff); },
        [&] {
          LIBRARY_CHECK(cublasSgemv(handle, isTransposed ? CUBLAS_OP_T : CUBLAS_OP_N, static_cast<int>(rows),
                                    static_cast<int>(columns), &factor, deviceA.get(), static_cast<int>(leading),
                                    deviceX.get(), 1, &none, deviceY.get(), 1));
        },
        [&] { deviceY.download(found.data(), found.size()); });
    // Without columns there is nothing to add up, and a GPU's library returns before it looks at y.
    isRight = isRight && (columns == 0 || found == expected);
  }
  LIBRARY_CHECK(cublasDestroy(handle));
  judge(row, isRight);
}

/// C = A B by its definition; all square, by rows.
inline std::vector<float> productByRows(const std::vector<float>& a, const std::vector<float>& b, std::size_t rows) {
  std::vector<float> result(rows * rows, 0);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t k = 0; k < rows; ++k) {
      for (std::size_t j = 0; j < rows; ++j) result[i * rows + j] += a[i * rows + k] * b[k * rows + j];
    }
  }
  return result;
}

inline void gemmLoop(Context& c, Measurement& row) {
  const std::vector<float> a = c.numbers(c.rows * c.rows, 5), b = c.numbers(c.rows * c.rows, 6);
  std::vector<float> result;
  row.flops = 2.0 * static_cast<double>(c.rows * c.rows * c.rows);
  runOnHost(c, row, [&] { result = productByRows(a, b, c.rows); });
}

__global__ void gemmByElement(const float* a, const float* b, float* result, unsigned rows) {
  const unsigned i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows || j >= rows) return;
  float sum = 0;
  for (unsigned k = 0; k < rows; ++k) sum += a[i * rows + k] * b[k * rows + j];
  result[i * rows + j] = sum;
}

/// What a student would write: a thread for each element.
inline void runGemmKernel(Context& c, Measurement& row) {
  const std::vector<float> a = c.numbers(c.rows * c.rows, 5), b = c.numbers(c.rows * c.rows, 6);
  DeviceArray<float> deviceA(a.size()), deviceB(b.size()), deviceC(a.size());
  deviceA.upload(a.data(), a.size());
  deviceB.upload(b.data(), b.size());
  row.kernel = "gemmByElement";
  row.block = dim3(16, 16);
  row.grid = dim3(ceilDiv(c.rows, 16), ceilDiv(c.rows, 16));
  row.flops = 2.0 * static_cast<double>(c.rows * c.rows * c.rows);
  std::vector<float> found(a.size(), -1);
  timeRounds(
      c.options.rounds, row, [] {},
      [&] {
        if (c.rows == 0) return;
        gemmByElement<<<row.grid, row.block>>>(deviceA.get(), deviceB.get(), deviceC.get(),
                                               static_cast<unsigned>(c.rows));
        launched("gemmByElement");
      },
      [&] { deviceC.download(found.data(), found.size()); });
  judge(row, found == productByRows(a, b, c.rows));
}

/// A library in eight steps: C = A B for matrices that lie by rows, as C++ has them.
inline void runEightSteps(Context& c, Measurement& row) {
  const std::size_t elements = c.rows * c.rows;
  const int n = static_cast<int>(c.rows), leading = std::max(n, 1);
  const std::vector<float> a = c.numbers(elements, 5), b = c.numbers(elements, 6);
  std::vector<float> result(elements, -1);
  row.flops = 2.0 * static_cast<double>(c.rows * c.rows * c.rows);

  cublasHandle_t handle;  // 1. a handle, which every call takes
  LIBRARY_CHECK(cublasCreate(&handle));
  DeviceArray<float> deviceA(elements), deviceB(elements), deviceC(elements);  // 2. memory of the device, and
  const std::vector<float> columnsA = byColumns(a, c.rows, c.rows),
                           columnsB = byColumns(b, c.rows, c.rows);                                       // by columns
  LIBRARY_CHECK(cublasSetMatrix(n, n, sizeof(float), columnsA.data(), leading, deviceA.get(), leading));  // 3. fill it
  LIBRARY_CHECK(cublasSetMatrix(n, n, sizeof(float), columnsB.data(), leading, deviceB.get(), leading));
  LIBRARY_CHECK(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST));  // 4. configure: where the scalars are
  const float one = 1, zero = 0;
  timeRounds(  // 5. call
      c.options.rounds, row, [] {},
      [&] {
        LIBRARY_CHECK(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, deviceA.get(), leading,
                                  deviceB.get(), leading, &zero, deviceC.get(), leading));
      },
      [] {});
  std::vector<float> columnsC(elements, -1);  // 6. take the result
  LIBRARY_CHECK(cublasGetMatrix(n, n, sizeof(float), deviceC.get(), leading, columnsC.data(), leading));
  result = byRows(columnsC, c.rows, c.rows);  // 7. by rows again
  LIBRARY_CHECK(cublasDestroy(handle));       // 8. give everything back; the arrays free themselves

  judge(row, result == productByRows(a, b, c.rows));
}

/// op(A) op(B) for the nine pairs of operations, on complex numbers, where conjugating shows. The matrices have no two
/// sides of one length, and lie in larger ones.
inline void runGemmOperations(Context& c, Measurement& row) {
  using Complex = std::complex<float>;
  const int m = 7, n = 5, k = 6, leading = 9;
  const std::vector<float> parts = c.numbers(2 * 2 * leading * leading, 7);
  std::vector<Complex> a, b;
  for (std::size_t i = 0; i < parts.size(); i += 4) {
    a.emplace_back(parts[i], parts[i + 1]);
    b.emplace_back(parts[i + 2], parts[i + 3]);
  }
  auto element = [&](const std::vector<Complex>& matrix, cublasOperation_t operation, int r, int col) {
    if (operation == CUBLAS_OP_N) return matrix[columnMajor(r, col, leading)];
    const Complex across = matrix[columnMajor(col, r, leading)];
    return operation == CUBLAS_OP_C ? std::conj(across) : across;
  };
  DeviceArray<cuComplex> deviceA(a.size()), deviceB(b.size()), deviceC(a.size());
  deviceA.upload(reinterpret_cast<const cuComplex*>(a.data()), a.size());
  deviceB.upload(reinterpret_cast<const cuComplex*>(b.data()), b.size());
  cublasHandle_t handle;
  LIBRARY_CHECK(cublasCreate(&handle));
  bool isRight = true;
  const cuComplex two = {2, 0}, one = {1, 0};
  const cublasOperation_t all[] = {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C};
  timeRounds(
      c.options.rounds, row, [] {},
      [&] {
        for (const cublasOperation_t ofA : all) {
          for (const cublasOperation_t ofB : all) {
            deviceC.upload(reinterpret_cast<const cuComplex*>(a.data()), a.size());
            LIBRARY_CHECK(cublasCgemm(handle, ofA, ofB, m, n, k, &two, deviceA.get(), leading, deviceB.get(), leading,
                                      &one, deviceC.get(), leading));
            std::vector<Complex> found(a.size());
            deviceC.download(reinterpret_cast<cuComplex*>(found.data()), found.size());
            for (int r = 0; r < leading; ++r) {
              for (int col = 0; col < leading; ++col) {  // what lies around the result stays as it is
                Complex sum = 0;
                for (int i = 0; i < k; ++i) sum += element(a, ofA, r, i) * element(b, ofB, i, col);
                const Complex old = a[columnMajor(r, col, leading)];
                const Complex expected = r < m && col < n ? 2.0f * sum + old : old;
                isRight = isRight && found[columnMajor(r, col, leading)] == expected;
              }
            }
          }
        }
      },
      [] {});
  LIBRARY_CHECK(cublasDestroy(handle));
  judge(row, isRight);
}

}  // namespace lab
