// What is not the same for every type: vectors, small types, scalars of the device, graphs, bad arguments.
#include "libs/cublas/test_arrays.hpp"

namespace ordito::cublas::test {
namespace {

TEST_F(Tests, VectorsOfFloats) {
  for (int round = 0; round < kRounds; ++round) {
    const int n = round % 20 == 19 ? 200000 : random(0, 70);
    const int incx = random(1, 3) * (random(0, 1) ? 1 : -1), incy = random(1, 3);
    const Array<float> x(1, n, std::abs(incx));
    Array<float> y(1, n, incy);
    auto at = [&](int i) { return x.get(0, incx > 0 ? i : n - 1 - i).real(); };
    const auto before = y.values();
    double dot = 0, sum = 0, squares = 0;
    int largest = 0;
    for (int i = 0; i < n; ++i) {
      dot += at(i) * before[static_cast<size_t>(i)].real();
      const double v = std::abs(before[static_cast<size_t>(i)].real());
      sum += v, squares += v * v;
      if (v > std::abs(before[static_cast<size_t>(largest)].real())) largest = i;
    }
    float result = -1;
    int index = -1;
    const double close = 1e-5 * (n + 1);
    EXPECT_EQ(cublasSdot(handle, n, x.data(), incx, y.data(), incy, &result), CUBLAS_STATUS_SUCCESS);
    EXPECT_NEAR(result, dot, close);
    EXPECT_EQ(cublasSasum(handle, n, y.data(), incy, &result), CUBLAS_STATUS_SUCCESS);
    EXPECT_NEAR(result, sum, close);
    EXPECT_EQ(cublasSnrm2(handle, n, y.data(), incy, &result), CUBLAS_STATUS_SUCCESS);
    EXPECT_NEAR(result, std::sqrt(squares), close);
    EXPECT_EQ(cublasIsamax(handle, n, y.data(), incy, &index), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(index, n > 0 ? largest + 1 : 0);
    const float alpha = 0.5f;
    EXPECT_EQ(cublasSaxpy(handle, n, &alpha, x.data(), incx, y.data(), incy), CUBLAS_STATUS_SUCCESS);
    expectNear<float>(y, before, 2, [&](int, int i) { return before[static_cast<size_t>(i)] + 0.5 * at(i); }, always);
  }
}

TEST_F(Tests, ComplexVectors) {
  const int n = 50;
  const Array<cuDoubleComplex> x(1, n, 2), y(1, n, 1);
  Wide plain = 0, conjugate = 0;
  for (int i = 0; i < n; ++i) plain += x.get(0, i) * y.get(0, i), conjugate += std::conj(x.get(0, i)) * y.get(0, i);
  cuDoubleComplex result{};
  EXPECT_EQ(cublasZdotu(handle, n, x.data(), 2, y.data(), 1, &result), CUBLAS_STATUS_SUCCESS);
  EXPECT_LE(std::abs(widen(result) - plain), 1e-13);
  EXPECT_EQ(cublasZdotc(handle, n, x.data(), 2, y.data(), 1, &result), CUBLAS_STATUS_SUCCESS);
  EXPECT_LE(std::abs(widen(result) - conjugate), 1e-13);
}

TEST_F(Tests, LengthsOutOfRangeOfTheirSquares) {
  const Array<double> x(1, 2, 1);
  double length = 0;
  x.at(0, 0) = 3e200, x.at(0, 1) = -4e200;
  EXPECT_EQ(cublasDnrm2(handle, 2, x.data(), 1, &length), CUBLAS_STATUS_SUCCESS);
  EXPECT_NEAR(length / 5e200, 1, 1e-14);
  x.at(0, 0) = 3e-200, x.at(0, 1) = 4e-200;
  EXPECT_EQ(cublasDnrm2(handle, 2, x.data(), 1, &length), CUBLAS_STATUS_SUCCESS);
  EXPECT_NEAR(length / 5e-200, 1, 1e-14);
}

TEST_F(Tests, RotationsMakeZeros) {
  for (int round = 0; round < kRounds; ++round) {
    const double a = randomWide(false).real(), b = round % 5 ? randomWide(false).real() : 0;
    double r = a, z = b, c = 0, s = 0;
    EXPECT_EQ(cublasDrotg(handle, &r, &z, &c, &s), CUBLAS_STATUS_SUCCESS);
    EXPECT_NEAR(c * a + s * b, r, 1e-14);
    EXPECT_NEAR(c * b - s * a, 0, 1e-14);
    // The modified one: diag(d) (x, y) becomes something without a second part.
    double d1 = std::abs(randomWide(false).real()) + 0.1, d2 = std::abs(randomWide(false).real()) + 0.1, x1 = a,
           p[5] = {9, 9, 9, 9, 9};
    const double y1 = b, first = d1 * a * a + d2 * b * b;
    EXPECT_EQ(cublasDrotmg(handle, &d1, &d2, &x1, &y1, p), CUBLAS_STATUS_SUCCESS);
    if (p[0] != -2) EXPECT_NEAR(d1 * x1 * x1, first, 1e-12);
    const Array<double> x(1, 1, 1), y(1, 1, 1);
    x.at(0, 0) = a, y.at(0, 0) = b;
    EXPECT_EQ(cublasDrotm(handle, 1, x.data(), 1, y.data(), 1, p), CUBLAS_STATUS_SUCCESS);
    wait();
    EXPECT_NEAR(y.at(0, 0), 0, 1e-12);
    if (p[0] != -2) EXPECT_NEAR(x.at(0, 0), x1, 1e-12);
  }
}

/// The bits of a number as half precision or bfloat16, cut off.
uint16_t bitsOf(float value, bool half) {
  if (!half) return static_cast<uint16_t>(std::bit_cast<uint32_t>(value) >> 16);
  return __half_raw(__half(value)).x;
}
float valueOf(uint16_t bits, bool half) {
  if (!half) return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
  return static_cast<float>(__half(__half_raw{bits}));
}

TEST_F(Tests, SmallTypes) {
  for (int round = 0; round < kRounds; ++round) {
    const bool half = round % 2, toFloat = round % 3 == 0;
    const int m = random(1, 70), n = random(1, 70), k = random(1, 70);
    const Array<float> a(m, k, m), b(k, n, k);
    Array<float> c(m, n, m);
    CUdeviceptr memory = 0;
    ASSERT_EQ(cuMemAllocManaged(&memory, 1 << 16, CU_MEM_ATTACH_GLOBAL), CUDA_SUCCESS);
    uint16_t *smallA = reinterpret_cast<uint16_t*>(memory), *smallB = smallA + 8192, *smallC = smallB + 8192;
    for (int i = 0; i < m * k; ++i) smallA[i] = bitsOf(a.data()[i], half), a.data()[i] = valueOf(smallA[i], half);
    for (int i = 0; i < k * n; ++i) smallB[i] = bitsOf(b.data()[i], half), b.data()[i] = valueOf(smallB[i], half);
    for (int i = 0; i < m * n; ++i) smallC[i] = half ? 0x7e00 : 0x7fc0;  // NaN
    c.fill(NAN);
    const float one = 1, zero = 0;
    const auto type = half ? CUDA_R_16F : CUDA_R_16BF;
    ASSERT_EQ(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, smallA, type, m, smallB, type, k, &zero,
                           toFloat ? static_cast<void*>(c.data()) : smallC, toFloat ? CUDA_R_32F : type, m,
                           CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
              CUBLAS_STATUS_SUCCESS);
    wait();
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < m; ++i) {
        double sum = 0;
        for (int l = 0; l < k; ++l) sum += static_cast<double>(a.at(i, l)) * static_cast<double>(b.at(l, j));
        const double got = toFloat ? c.at(i, j) : valueOf(smallC[i + j * m], half);
        ASSERT_NEAR(got, sum, toFloat ? 1e-4 : (half ? 6e-4 : 5e-3) * (std::abs(sum) + 1));
      }
    cuMemFree(memory);
  }
}

TEST_F(Tests, BytesAreExact) {
  const int m = 12, n = 20, k = 2000;
  CUdeviceptr memory = 0;
  ASSERT_EQ(cuMemAllocManaged(&memory, 1 << 17, CU_MEM_ATTACH_GLOBAL), CUDA_SUCCESS);
  auto *a = reinterpret_cast<int8_t*>(memory), *b = a + m * k;
  int32_t* c = reinterpret_cast<int32_t*>(b + k * n);
  for (int i = 0; i < m * k; ++i) a[i] = static_cast<int8_t>(random(100, 127));
  for (int i = 0; i < k * n; ++i) b[i] = static_cast<int8_t>(random(-128, -100));
  const int32_t one = 1, two = 2;
  for (int i = 0; i < m * n; ++i) c[i] = i;
  ASSERT_EQ(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, a, CUDA_R_8I, m, b, CUDA_R_8I, k, &two, c,
                         CUDA_R_32I, m, CUBLAS_COMPUTE_32I, CUBLAS_GEMM_DEFAULT),
            CUBLAS_STATUS_SUCCESS);
  wait();
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i) {
      int32_t sum = 2 * (i + j * m);
      for (int l = 0; l < k; ++l) sum += a[i + l * m] * b[l + j * k];
      ASSERT_EQ(c[i + j * m], sum);
    }
  EXPECT_EQ(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, 3, n, k, &one, a, CUDA_R_8I, 3, b, CUDA_R_8I, k, &two, c,
                         CUDA_R_32I, 3, CUBLAS_COMPUTE_32I, CUBLAS_GEMM_DEFAULT),
            CUBLAS_STATUS_NOT_SUPPORTED);
  cuMemFree(memory);
}

/// What is never read need not be there, nor the scalar of a sum of nothing.
TEST_F(Tests, NothingToDoNeedsNoPointers) {
  EXPECT_EQ(cublasSaxpy(handle, 0, nullptr, nullptr, 1, nullptr, 1), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cublasDscal(handle, -1, nullptr, nullptr, 1), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cublasSrot(handle, -1, nullptr, 1, nullptr, 1, nullptr, nullptr), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cublasSrotm(handle, 0, nullptr, 1, nullptr, 1, nullptr), CUBLAS_STATUS_SUCCESS);
  const float identity[5] = {-2}, other[5] = {-1};
  EXPECT_EQ(cublasSrotm(handle, 3, nullptr, 1, nullptr, 1, identity), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cublasSrotm(handle, 3, nullptr, 1, nullptr, 1, other), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(cublasStrsmBatched(handle, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N, CUBLAS_DIAG_UNIT, 4, 4,
                               nullptr, nullptr, 4, nullptr, 4, 0),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cublasSaxpy(handle, 1, nullptr, nullptr, 1, nullptr, 1), CUBLAS_STATUS_INVALID_VALUE);
}

TEST_F(Tests, FactorsThatLeaveTheResultNeedNoPointers) {
  const float zero = 0, one = 1;
  const auto lower = CUBLAS_FILL_MODE_LOWER;
  float* none = nullptr;
  for (const int n : {0, 3}) {  // of nothing, not even factors
    const float *alpha = n ? &zero : nullptr, *beta = n ? &one : nullptr;
    EXPECT_EQ(cublasSsbmv(handle, lower, n, 1, alpha, none, 3, none, 1, beta, none, 1), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(cublasSspmv(handle, lower, n, alpha, none, none, 1, beta, none, 1), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(cublasSgbmv(handle, CUBLAS_OP_N, n, n, 1, 1, alpha, none, 3, none, 1, beta, none, 1),
              CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(cublasSsyr(handle, lower, n, alpha, none, 1, none, 3), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(cublasSsyr2(handle, lower, n, alpha, none, 1, none, 1, none, 3), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(cublasSspr(handle, lower, n, alpha, none, 1, none), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(cublasSspr2(handle, lower, n, alpha, none, 1, none, 1, none), CUBLAS_STATUS_SUCCESS);
  }
  const cuComplex zeroC = make_cuComplex(0, 0), oneC = make_cuComplex(1, 0);
  EXPECT_EQ(cublasCsyr2(handle, lower, 0, nullptr, nullptr, 1, nullptr, 1, nullptr, 3), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cublasCsyr2(handle, lower, 3, &zeroC, nullptr, 1, nullptr, 1, nullptr, 3), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cublasCsyr(handle, lower, 3, &zeroC, nullptr, 1, nullptr, 3), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cublasCsyr(handle, lower, 3, &oneC, nullptr, 1, nullptr, 3), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(cublasSsyr(handle, lower, 3, nullptr, none, 1, none, 3), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(cublasSsymv(handle, lower, 3, &zero, none, 3, none, 1, &one, none, 1), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(cublasSgeam(handle, CUBLAS_OP_N, CUBLAS_OP_N, 0, 2, nullptr, nullptr, 2, nullptr, nullptr, 2, nullptr, 2),
            CUBLAS_STATUS_SUCCESS);
}

TEST_F(Tests, BadArgumentsAreRefused) {
  const Array<float> a(4, 4, 4);
  const float one = 1;
  auto gemm = [&](cublasHandle_t h, int m, int lda, const float* alpha, cublasOperation_t op = CUBLAS_OP_N) {
    return cublasSgemm(h, op, CUBLAS_OP_N, m, 4, 4, alpha, a.data(), lda, a.data(), 4, &one, a.data(), 4);
  };
  EXPECT_EQ(gemm(nullptr, 4, 4, &one), CUBLAS_STATUS_NOT_INITIALIZED);
  EXPECT_EQ(gemm(handle, -1, 4, &one), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(gemm(handle, 4, 3, &one), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(gemm(handle, 4, 4, nullptr), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(gemm(handle, 4, 4, &one, static_cast<cublasOperation_t>(7)), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(gemm(handle, 0, 4, &one), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cublasDestroy(nullptr), CUBLAS_STATUS_NOT_INITIALIZED);
  EXPECT_EQ(cublasSgemv(handle, CUBLAS_OP_N, 4, 4, &one, a.data(), 4, a.data(), 0, &one, a.data(), 1),
            CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_STREQ(cublasGetStatusName(CUBLAS_STATUS_INVALID_VALUE), "CUBLAS_STATUS_INVALID_VALUE");
}

TEST_F(Tests, ScalarsOfTheDeviceAreReadWhenItsTurnComes) {
  CUstream stream = nullptr;
  ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  ASSERT_EQ(cublasSetStream(handle, stream), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE), CUBLAS_STATUS_SUCCESS);
  const Array<float> x(1, 3, 1), y(1, 3, 1), scalars(1, 2, 1);
  x.at(0, 0) = x.at(0, 1) = x.at(0, 2) = 1;
  y.at(0, 0) = y.at(0, 1) = y.at(0, 2) = 10;
  // The sum is alpha of what follows.
  EXPECT_EQ(cublasSasum(handle, 3, x.data(), 1, scalars.data()), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cublasSaxpy(handle, 3, scalars.data(), x.data(), 1, y.data(), 1), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(y.at(0, 2), 13);
  cuStreamDestroy(stream);
}

TEST_F(Tests, CapturedCallsRunAtEveryLaunchWithoutTheirHandle) {
  CUstream stream = nullptr;
  CUgraph graph = nullptr;
  CUgraphExec executable = nullptr;
  ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  cublasHandle_t own = nullptr;
  ASSERT_EQ(cublasCreate(&own), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(cublasSetStream(own, stream), CUBLAS_STATUS_SUCCESS);
  const Array<float> x(1, 1, 1), y(1, 1, 1);
  x.at(0, 0) = 1, y.at(0, 0) = 0;
  ASSERT_EQ(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
  {
    const float alpha = 2;  // gone before the first launch
    EXPECT_EQ(cublasSaxpy(own, 1, &alpha, x.data(), 1, y.data(), 1), CUBLAS_STATUS_SUCCESS);
  }
  ASSERT_EQ(cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphInstantiate(&executable, graph, 0), CUDA_SUCCESS);
  cublasDestroy(own);
  for (int launch = 1; launch <= 3; ++launch) {
    x.at(0, 0) = static_cast<float>(launch);
    ASSERT_EQ(cuGraphLaunch(executable, stream), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  }
  EXPECT_EQ(y.at(0, 0), 12);
  cuGraphExecDestroy(executable);
  cuGraphDestroy(graph);
  // A result for the host cannot come during a capture.
  ASSERT_EQ(cublasSetStream(handle, stream), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
  float result = 0;
  EXPECT_NE(cublasSasum(handle, 1, x.data(), 1, &result), CUBLAS_STATUS_SUCCESS);
  EXPECT_NE(cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
  cuStreamDestroy(stream);
}

}  // namespace
}  // namespace ordito::cublas::test
