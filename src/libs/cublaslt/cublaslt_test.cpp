// cuBLASLt: products by random arguments against sums in double, epilogues, eight-bit floats, transformations, search
// for an algorithm, bad arguments, and a captured product.
#include "libs/cublaslt/test_matrices.hpp"

namespace ordito::cublaslt::test {
namespace {

constexpr int kRounds = 60;

struct Types {
  cublasComputeType_t compute;
  cudaDataType scale, ab, cd;
};
constexpr Types kTypes[] = {{CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F},
                            {CUBLAS_COMPUTE_64F, CUDA_R_64F, CUDA_R_64F, CUDA_R_64F},
                            {CUBLAS_COMPUTE_32F, CUDA_C_32F, CUDA_C_32F, CUDA_C_32F},
                            {CUBLAS_COMPUTE_64F, CUDA_C_64F, CUDA_C_64F, CUDA_C_64F},
                            {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16F, CUDA_R_16F},
                            {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16BF, CUDA_R_16BF},
                            {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16BF, CUDA_R_32F},
                            {CUBLAS_COMPUTE_16F, CUDA_R_16F, CUDA_R_16F, CUDA_R_16F},
                            {CUBLAS_COMPUTE_32I, CUDA_R_32I, CUDA_R_8I, CUDA_R_32I},
                            {CUBLAS_COMPUTE_32I, CUDA_R_32F, CUDA_R_8I, CUDA_R_8I},
                            {CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F}};

cublasLtOrder_t randomOrder() { return static_cast<cublasLtOrder_t>(random(0, 4)); }

Wide operated(const Batch& matrix, int op, int i, int j, int k) {
  const Wide value = op == CUBLAS_OP_N ? matrix.get(i, j, k) : matrix.get(j, i, k);
  return op == CUBLAS_OP_C ? std::conj(value) : value;
}

Wide sumOf(const Batch& a, int opA, const Batch& b, int opB, int i, int j, int inner, int k) {
  Wide sum = 0;
  for (int l = 0; l < inner; ++l) sum += operated(a, opA, i, l, k) * operated(b, opB, l, j, k);
  return sum;
}

double tolerance(const Types& types, int inner, Wide value) {
  const bool isRounded = unit(types.cd) > 1e-7;
  const double sums = 40 * (inner + 4) * (types.scale == CUDA_R_64F || types.scale == CUDA_C_64F ? 1.2e-16 : 6e-8);
  if (isInteger(types.cd)) return types.cd == CUDA_R_8I ? 0.501 : 0;
  return sums + (isRounded ? unit(types.cd) * (std::abs(value) + 0.1) : 0);
}

TEST_F(Tests, ProductsOfAllTypesAndOrders) {
  for (int round = 0; round < kRounds * 4; ++round) {
    const Types types = kTypes[round % std::size(kTypes)];
    const int m = random(1, 70), n = random(1, 70), inner = random(0, 70), count = random(1, 3);
    const int opA = random(0, 2), opB = random(0, 2);
    const Batch a(types.ab, randomOrder(), opA ? inner : m, opA ? m : inner, count);
    const Batch b(types.ab, randomOrder(), opB ? n : inner, opB ? inner : n, count);
    const cublasLtOrder_t order = random(0, 1) ? CUBLASLT_ORDER_COL : randomOrder();
    Batch c(types.cd, order, m, n, count), d(types.cd, random(0, 1) ? order : randomOrder(), m, n, count);
    Desc desc(types.compute, types.scale);
    desc.set(CUBLASLT_MATMUL_DESC_TRANSA, opA);
    desc.set(CUBLASLT_MATMUL_DESC_TRANSB, opB);
    // Numbers of the host, of the device, or one for each row.
    const int mode = random(0, 4);
    desc.set(CUBLASLT_MATMUL_DESC_POINTER_MODE, mode);
    const bool isVector = mode >= CUBLASLT_POINTER_MODE_DEVICE_VECTOR;
    Batch alphas(types.scale, CUBLASLT_ORDER_COL, m, 1, 1), betas(types.scale, CUBLASLT_ORDER_COL, m, 1, 1);
    const bool isNone = random(0, 2) == 0 || mode == CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_ZERO;
    if (types.cd == CUDA_R_8I)
      for (int i = 0; i < m; ++i) alphas.set(i, 0, 0, 0.01 * alphas.get(i, 0));
    if (isNone) betas.fill(0);
    if (isNone && !isInteger(types.cd)) c.fill(NAN);
    const bool isInPlace = random(0, 3) == 0;
    Batch& result = isInPlace ? c : d;
    std::vector<Wide> expected;
    for (int k = 0; k < count; ++k)
      for (int j = 0; j < n; ++j)
        for (int i = 0; i < m; ++i) {
          const int row = isVector ? i : 0;
          Wide value = alphas.get(row, 0) * sumOf(a, opA, b, opB, i, j, inner, k);
          if (!isNone) value += betas.get(mode == CUBLASLT_POINTER_MODE_DEVICE_VECTOR ? i : 0, 0) * c.get(i, j, k);
          if (types.cd == CUDA_R_8I) value = std::clamp(value.real(), -128.0, 127.0);
          expected.push_back(value);
        }
    ASSERT_EQ(multiply(desc, alphas.data(), a, b, betas.data(), c, result), CUBLAS_STATUS_SUCCESS);
    wait();
    size_t at = 0;
    for (int k = 0; k < count; ++k)
      for (int j = 0; j < n; ++j)
        for (int i = 0; i < m; ++i, ++at)
          ASSERT_LE(std::abs(result.get(i, j, k) - expected[at]), tolerance(types, inner, expected[at]))
              << "round " << round << ": " << i << "," << j << " of " << k;
  }
}

double gelu(double x) { return x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); }

/// One product with an epilogue: what it may read and must write.
struct Finished {
  Finished(int rows, int columns, int inner, cudaDataType type)
      : m(rows),
        n(columns),
        a(type, CUBLASLT_ORDER_COL, rows, inner, 1),
        b(type, CUBLASLT_ORDER_COL, inner, columns, 1),
        d(type, CUBLASLT_ORDER_COL, rows, columns, 1),
        bias(type, CUBLASLT_ORDER_COL, std::max(rows, columns), 1, 1),
        aux(type, CUBLASLT_ORDER_COL, rows, columns, 1),
        mask(static_cast<size_t>(16 * columns), 0x5a),
        desc(CUBLAS_COMPUTE_32F, CUDA_R_32F),
        inner_(inner) {}

  bool bit(int i, int j) const {
    return (mask.at(16 * static_cast<size_t>(j) + static_cast<size_t>(i / 8)) >> i % 8 & 1) != 0;
  }
  double product(int i, int j) const { return sumOf(a, 0, b, 0, i, j, inner_, 0).real(); }
  void prepare(cublasLtEpilogue_t epilogue, bool isMask) {
    desc.set(CUBLASLT_MATMUL_DESC_EPILOGUE, static_cast<uint32_t>(epilogue));
    desc.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, static_cast<void*>(bias.data()));
    desc.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, isMask ? static_cast<void*>(mask.data()) : aux.data());
    int64_t leading = 128, size = 0;
    if (!isMask)
      cublasLtMatrixLayoutGetAttribute(aux.layout(), CUBLASLT_MATRIX_LAYOUT_LD, &leading, sizeof(leading), nullptr);
    desc.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, leading + size);
  }

  int m, n;
  Batch a, b, d, bias, aux;
  std::vector<uint8_t> mask;
  Desc desc;

 private:
  int inner_;
};

TEST_F(Tests, Epilogues) {
  constexpr cublasLtEpilogue_t kAll[] = {
      CUBLASLT_EPILOGUE_RELU,      CUBLASLT_EPILOGUE_RELU_AUX,      CUBLASLT_EPILOGUE_BIAS,
      CUBLASLT_EPILOGUE_RELU_BIAS, CUBLASLT_EPILOGUE_RELU_AUX_BIAS, CUBLASLT_EPILOGUE_GELU,
      CUBLASLT_EPILOGUE_GELU_AUX,  CUBLASLT_EPILOGUE_GELU_BIAS,     CUBLASLT_EPILOGUE_GELU_AUX_BIAS};
  const float one = 1, zero = 0;
  for (const cudaDataType type : {CUDA_R_32F, CUDA_R_16BF, CUDA_R_16F})
    for (const cublasLtEpilogue_t epilogue : kAll) {
      Finished f(random(1, 70), random(1, 40), random(1, 30), type);
      const bool isRelu = (epilogue & CUBLASLT_EPILOGUE_RELU) != 0, isGelu = (epilogue & CUBLASLT_EPILOGUE_GELU) != 0;
      f.prepare(epilogue, isRelu);
      f.d.fill(NAN);
      ASSERT_EQ(multiply(f.desc, &one, f.a, f.b, &zero, f.d, f.d), CUBLAS_STATUS_SUCCESS) << epilogue;
      wait();
      const double close = 2 * unit(type) + 1e-5;
      for (int j = 0; j < f.n; ++j)
        for (int i = 0; i < f.m; ++i) {
          const double x = f.product(i, j) + ((epilogue & CUBLASLT_EPILOGUE_BIAS) != 0 ? f.bias.get(i, 0).real() : 0);
          const double y = isRelu ? std::max(x, 0.0) : isGelu ? gelu(x) : x;
          ASSERT_NEAR(f.d.get(i, j).real(), y, close * (1 + std::abs(y))) << epilogue;
          if ((epilogue & 128) == 0) continue;
          if (isGelu)
            ASSERT_NEAR(f.aux.get(i, j).real(), x, close * (1 + std::abs(x)));
          else if (std::abs(x) > 1e-4)
            ASSERT_EQ(f.bit(i, j), x > 0);
        }
    }
}

TEST_F(Tests, GradientsOfEpilogues) {
  const float one = 1, zero = 0;
  for (int round = 0; round < kRounds; ++round)
    for (const cublasLtEpilogue_t epilogue :
         {CUBLASLT_EPILOGUE_DRELU, CUBLASLT_EPILOGUE_DRELU_BGRAD, CUBLASLT_EPILOGUE_DGELU,
          CUBLASLT_EPILOGUE_DGELU_BGRAD, CUBLASLT_EPILOGUE_BGRADA, CUBLASLT_EPILOGUE_BGRADB}) {
      const int inner = random(1, 30);
      Finished f(random(1, 70), random(1, 40), inner, CUDA_R_32F);
      const bool isRelu = (epilogue & 8) != 0, isGelu = (epilogue & 64) != 0;
      for (auto& bits : f.mask) bits = static_cast<uint8_t>(random(0, 255));
      f.prepare(epilogue, isRelu);
      ASSERT_EQ(multiply(f.desc, &one, f.a, f.b, &zero, f.d, f.d), CUBLAS_STATUS_SUCCESS) << epilogue;
      wait();
      std::vector<double> sums(static_cast<size_t>(std::max(f.m, f.n)));
      for (int j = 0; j < f.n; ++j)
        for (int i = 0; i < f.m; ++i) {
          double y = f.product(i, j);
          if (isRelu && !f.bit(i, j)) y = 0;
          const double x = f.aux.get(i, j).real(), h = 1e-5;
          if (isGelu) y *= (gelu(x + h) - gelu(x - h)) / (2 * h);
          ASSERT_NEAR(f.d.get(i, j).real(), y, 2e-5 * (1 + std::abs(y))) << epilogue;
          sums[static_cast<size_t>(i)] += y;
        }
      if (epilogue == CUBLASLT_EPILOGUE_BGRADA || epilogue == CUBLASLT_EPILOGUE_BGRADB) {
        const bool isA = epilogue == CUBLASLT_EPILOGUE_BGRADA;
        for (int i = 0; i < (isA ? f.m : f.n); ++i) {
          double& sum = sums[static_cast<size_t>(i)] = 0;
          for (int l = 0; l < inner; ++l) sum += (isA ? f.a.get(i, l) : f.b.get(l, i)).real();
        }
      }
      const bool hasSums = (epilogue & 16) != 0 || !(isRelu || isGelu);
      for (int i = 0; hasSums && i < (epilogue == CUBLASLT_EPILOGUE_BGRADB ? f.n : f.m); ++i)
        ASSERT_NEAR(f.bias.get(i, 0).real(), sums[static_cast<size_t>(i)], 1e-3) << epilogue;
    }
}

TEST_F(Tests, EightBitFloatsWithScales) {
  struct Mixed {
    cudaDataType a, b, c, d;
  };
  for (const Mixed& t : {Mixed{CUDA_R_8F_E4M3, CUDA_R_8F_E4M3, CUDA_R_16BF, CUDA_R_8F_E4M3},
                         Mixed{CUDA_R_8F_E4M3, CUDA_R_8F_E5M2, CUDA_R_16F, CUDA_R_8F_E5M2},
                         Mixed{CUDA_R_8F_E5M2, CUDA_R_8F_E4M3, CUDA_R_32F, CUDA_R_32F},
                         Mixed{CUDA_R_8F_E4M3, CUDA_R_8F_E4M3, CUDA_R_16BF, CUDA_R_16BF}})
    for (const bool isOuter : {false, true}) {
      const int m = 16 * random(1, 4), n = 16 * random(1, 4), inner = 16 * random(1, 4);
      const Batch a(t.a, CUBLASLT_ORDER_COL, inner, m, 1), b(t.b, CUBLASLT_ORDER_COL, inner, n, 1);
      const Batch c(t.c, CUBLASLT_ORDER_COL, m, n, 1), d(t.d, CUBLASLT_ORDER_COL, m, n, 1);
      std::vector<float> scaleA(64), scaleB(64);
      for (auto* scales : {&scaleA, &scaleB})
        for (float& scale : *scales) scale = static_cast<float>(randomNumber() + 2);
      const float scaleD = 0.5f, one = 1, half = 0.5f;
      float largest = -1;
      Desc desc(CUBLAS_COMPUTE_32F, CUDA_R_32F);
      desc.set(CUBLASLT_MATMUL_DESC_TRANSA, int32_t{CUBLAS_OP_T});
      desc.set(CUBLASLT_MATMUL_DESC_FAST_ACCUM, int8_t{1});
      desc.set(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, scaleA.data());
      desc.set(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, scaleB.data());
      desc.set(CUBLASLT_MATMUL_DESC_D_SCALE_POINTER, &scaleD);
      desc.set(CUBLASLT_MATMUL_DESC_AMAX_D_POINTER, &largest);
      if (isOuter) {
        desc.set(CUBLASLT_MATMUL_DESC_A_SCALE_MODE, int32_t{CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F});
        desc.set(CUBLASLT_MATMUL_DESC_B_SCALE_MODE, int32_t{CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F});
      }
      ASSERT_EQ(multiply(desc, &one, a, b, &half, c, d), CUBLAS_STATUS_SUCCESS);
      wait();
      double most = 0;
      for (int j = 0; j < n; ++j)
        for (int i = 0; i < m; ++i) {
          const double scales = static_cast<double>(scaleA[static_cast<size_t>(isOuter ? i : 0)]) *
                                static_cast<double>(scaleB[static_cast<size_t>(isOuter ? j : 0)]);
          const double x = scales * sumOf(a, 1, b, 0, i, j, inner, 0).real() + 0.5 * c.get(i, j).real();
          most = std::max(most, std::abs(x));
          ASSERT_NEAR(d.get(i, j).real(), x / 2, unit(t.d) * (std::abs(x / 2) + 0.02) + 1e-4);
        }
      EXPECT_NEAR(largest, most, 1e-4 * most);
    }
}

TEST_F(Tests, EightBitFloatsNeedADeviceThatHasThem) {
  const float one = 1, zero = 0;
  const Batch a(CUDA_R_8F_E4M3, CUBLASLT_ORDER_COL, 16, 16, 1), d(CUDA_R_16BF, CUBLASLT_ORDER_COL, 16, 16, 1);
  Desc desc(CUBLAS_COMPUTE_32F, CUDA_R_32F);
  // On compute capability 9 only A may and must be transposed.
  EXPECT_EQ(multiply(desc, &one, a, a, &zero, d, d), CUBLAS_STATUS_NOT_SUPPORTED);
  desc.set(CUBLASLT_MATMUL_DESC_TRANSA, int32_t{CUBLAS_OP_T});
  EXPECT_EQ(multiply(desc, &one, a, a, &zero, d, d), CUBLAS_STATUS_SUCCESS);
  wait();
  CUcontext older = nullptr, before = nullptr;
  ASSERT_EQ(cuCtxGetCurrent(&before), CUDA_SUCCESS);
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&older, 1), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSetCurrent(older), CUDA_SUCCESS);
  EXPECT_EQ(multiply(desc, &one, a, a, &zero, d, d), CUBLAS_STATUS_ARCH_MISMATCH);
  ASSERT_EQ(cuCtxSetCurrent(before), CUDA_SUCCESS);
}

TEST_F(Tests, TransformationsOfAllOrders) {
  for (int round = 0; round < kRounds * 2; ++round) {
    const cudaDataType type = round % 3 == 0 ? CUDA_R_8I : round % 3 == 1 ? CUDA_R_32F : CUDA_C_64F;
    const cudaDataType scale = type == CUDA_C_64F ? CUDA_C_64F : CUDA_R_32F;
    const int m = random(1, 90), n = random(1, 90), opA = random(0, 2), opB = random(0, 2), count = random(1, 2);
    const Batch a(type, randomOrder(), opA ? n : m, opA ? m : n, count);
    const Batch b(type, randomOrder(), opB ? n : m, opB ? m : n, count);
    const Batch c(type, randomOrder(), m, n, count), scalars(scale, CUBLASLT_ORDER_COL, 2, 1, 1);
    cublasLtMatrixTransformDesc_t desc = nullptr;
    ASSERT_EQ(cublasLtMatrixTransformDescCreate(&desc, scale), CUBLAS_STATUS_SUCCESS);
    cublasLtMatrixTransformDescSetAttribute(desc, CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSA, &opA, sizeof(opA));
    cublasLtMatrixTransformDescSetAttribute(desc, CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSB, &opB, sizeof(opB));
    const bool hasB = random(0, 1) == 1;
    ASSERT_EQ(
        cublasLtMatrixTransform(handle, desc, scalars.data(), a.data(), a.layout(), scalars.data() + sizeOf(scale),
                                hasB ? b.data() : nullptr, hasB ? b.layout() : nullptr, c.data(), c.layout(), nullptr),
        CUBLAS_STATUS_SUCCESS);
    wait();
    for (int k = 0; k < count; ++k)
      for (int j = 0; j < n; ++j)
        for (int i = 0; i < m; ++i) {
          Wide value = scalars.get(0, 0) * operated(a, opA, i, j, k);
          if (hasB) value += scalars.get(1, 0) * operated(b, opB, i, j, k);
          ASSERT_LE(std::abs(c.get(i, j, k) - value), type == CUDA_R_8I ? 0.501 : 1e-6) << "round " << round;
        }
    cublasLtMatrixTransformDescDestroy(desc);
  }
}

TEST_F(Tests, BatchesByPointers) {
  const float one = 1, zero = 0;
  Desc desc(CUBLAS_COMPUTE_32F, CUDA_R_32F);
  Batch a(CUDA_R_32F, CUBLASLT_ORDER_COL, 8, 8, 3), d(CUDA_R_32F, CUBLASLT_ORDER_COL, 8, 8, 3);
  const auto strideOf = [](const Batch& batch) {
    int64_t stride = 0;
    size_t written = 0;
    EXPECT_EQ(cublasLtMatrixLayoutGetAttribute(batch.layout(), CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride,
                                               sizeof(stride), &written),
              CUBLAS_STATUS_SUCCESS);
    return 4 * stride;
  };
  void *from[3], *to[3];
  for (int k = 0; k < 3; ++k) from[k] = a.data() + (2 - k) * strideOf(a), to[k] = d.data() + k * strideOf(d);
  for (Batch* batch : {&a, &d})
    batch->attribute(CUBLASLT_MATRIX_LAYOUT_BATCH_MODE, uint32_t{CUBLASLT_BATCH_MODE_POINTER_ARRAY});
  ASSERT_EQ(cublasLtMatmul(handle, desc.get(), &one, static_cast<void*>(from), a.layout(), static_cast<void*>(from),
                           a.layout(), &zero, nullptr, d.layout(), static_cast<void*>(to), d.layout(), nullptr, nullptr,
                           0, nullptr),
            CUBLAS_STATUS_SUCCESS);
  wait();
  for (int k = 0; k < 3; ++k) EXPECT_NEAR(d.get(3, 5, k).real(), sumOf(a, 0, a, 0, 3, 5, 8, 2 - k).real(), 1e-5);
}

TEST_F(Tests, TheSearchFindsOneAlgorithm) {
  const Batch a(CUDA_R_32F, CUBLASLT_ORDER_COL, 8, 8, 1);
  const Desc desc(CUBLAS_COMPUTE_32F, CUDA_R_32F), other(CUBLAS_COMPUTE_64F, CUDA_R_64F);
  cublasLtMatmulPreferenceOpaque_t preference{};
  ASSERT_EQ(cublasLtMatmulPreferenceInit(&preference), CUBLAS_STATUS_SUCCESS);
  const uint64_t workspace = 1 << 20;
  EXPECT_EQ(cublasLtMatmulPreferenceSetAttribute(&preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace,
                                                 sizeof(workspace)),
            CUBLAS_STATUS_SUCCESS);
  cublasLtMatmulHeuristicResult_t results[4]{};
  int found = -1;
  const auto search = [&](const Desc& d, int wanted) {
    return cublasLtMatmulAlgoGetHeuristic(handle, d.get(), a.layout(), a.layout(), a.layout(), a.layout(), &preference,
                                          wanted, results, &found);
  };
  EXPECT_EQ(search(desc, 4), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(found, 1);
  EXPECT_EQ(results[0].state, CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(results[0].workspaceSize, 0);
  EXPECT_EQ(search(other, 4), CUBLAS_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(found, 0);
  EXPECT_EQ(search(desc, 0), CUBLAS_STATUS_INVALID_VALUE);
  int ids[2] = {7, 7};
  EXPECT_EQ(cublasLtMatmulAlgoGetIds(handle, CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F,
                                     CUDA_R_32F, 2, ids, &found),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(ids[0], 0);
  cublasLtMatmulAlgo_t algorithm{};
  EXPECT_EQ(cublasLtMatmulAlgoInit(handle, CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F,
                                   CUDA_R_32F, 0, &algorithm),
            CUBLAS_STATUS_SUCCESS);
  const int splits = 3;
  int told = 0;
  size_t written = 0;
  EXPECT_EQ(cublasLtMatmulAlgoConfigSetAttribute(&algorithm, CUBLASLT_ALGO_CONFIG_SPLITK_NUM, &splits, sizeof(splits)),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(
      cublasLtMatmulAlgoConfigGetAttribute(&algorithm, CUBLASLT_ALGO_CONFIG_SPLITK_NUM, &told, sizeof(told), &written),
      CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(told, splits);
  // One that was chosen beforehand by its number, in a stream or not.
  for (const int id : {21, 500})
    EXPECT_EQ(cublasLtMatmulAlgoInit(handle, CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F,
                                     CUDA_R_32F, id, &algorithm),
              id == 21 ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(cublasLtMatmulAlgoConfigGetAttribute(&algorithm, CUBLASLT_ALGO_CONFIG_ID, &told, sizeof(told), &written),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(told, 21);
  EXPECT_EQ(cublasLtMatmulAlgoCheckForStream(handle, desc.get(), a.layout(), a.layout(), a.layout(), a.layout(),
                                             &algorithm, results, nullptr),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(
      cublasLtMatmulAlgoCheck(handle, desc.get(), a.layout(), a.layout(), a.layout(), a.layout(), &algorithm, results),
      CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cublasLtMatmulAlgoCapGetAttribute(&algorithm, CUBLASLT_ALGO_CAP_SPLITK_SUPPORT, nullptr, 0, &written),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(written, 4);
}

TEST_F(Tests, BadArgumentsAreRefused) {
  const float one = 1;
  Desc desc(CUBLAS_COMPUTE_32F, CUDA_R_32F);
  const Batch a(CUDA_R_32F, CUBLASLT_ORDER_COL, 8, 8, 1), wrong(CUDA_R_32F, CUBLASLT_ORDER_COL, 8, 7, 1);
  const Batch half(CUDA_R_16F, CUBLASLT_ORDER_COL, 8, 8, 1), twice(CUDA_R_32F, CUBLASLT_ORDER_COL, 8, 8, 2);
  const Batch result(CUDA_R_32F, CUBLASLT_ORDER_COL, 8, 8, 1);
  EXPECT_EQ(multiply(desc, &one, a, a, &one, a, result), CUBLAS_STATUS_SUCCESS);
  wait();
  EXPECT_EQ(multiply(desc, nullptr, a, a, &one, a, a), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(multiply(desc, &one, wrong, a, &one, a, a), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(multiply(desc, &one, twice, a, &one, a, a), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(multiply(desc, &one, half, a, &one, a, a), CUBLAS_STATUS_INVALID_VALUE);
  const auto plain = [&](cublasLtHandle_t h, cublasLtMatmulDesc_t d, const void* to) {
    return cublasLtMatmul(h, d, &one, a.data(), a.layout(), a.data(), a.layout(), &one, a.data(), a.layout(),
                          const_cast<void*>(to), a.layout(), nullptr, nullptr, 0, nullptr);
  };
  EXPECT_EQ(plain(nullptr, desc.get(), a.data()), CUBLAS_STATUS_NOT_INITIALIZED);
  EXPECT_EQ(plain(handle, nullptr, a.data()), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(plain(handle, desc.get(), nullptr), CUBLAS_STATUS_INVALID_VALUE);
  desc.set(CUBLASLT_MATMUL_DESC_EPILOGUE, uint32_t{CUBLASLT_EPILOGUE_BIAS});
  EXPECT_EQ(multiply(desc, &one, a, a, &one, a, a), CUBLAS_STATUS_INVALID_VALUE);  // no bias
  desc.set(CUBLASLT_MATMUL_DESC_EPILOGUE, uint32_t{77});
  EXPECT_EQ(multiply(desc, &one, a, a, &one, a, a), CUBLAS_STATUS_NOT_SUPPORTED);
  const int64_t wide = 1;
  EXPECT_EQ(cublasLtMatmulDescSetAttribute(desc.get(), CUBLASLT_MATMUL_DESC_TRANSA, &wide, sizeof(wide)),
            CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(cublasLtMatmulDescSetAttribute(desc.get(), static_cast<cublasLtMatmulDescAttributes_t>(999), &wide, 8),
            CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(cublasLtDestroy(nullptr), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_STREQ(cublasLtGetStatusName(CUBLAS_STATUS_NOT_SUPPORTED), "CUBLAS_STATUS_NOT_SUPPORTED");
}

TEST_F(Tests, ACapturedProductRunsAtEveryLaunch) {
  CUstream stream = nullptr;
  CUgraph graph = nullptr;
  CUgraphExec executable = nullptr;
  ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  Batch a(CUDA_R_32F, CUBLASLT_ORDER_COL, 1, 1, 1), d(CUDA_R_32F, CUBLASLT_ORDER_COL, 1, 1, 1);
  d.set(0, 0, 0, 0);
  ASSERT_EQ(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
  {
    const float two = 2, one = 1;  // gone before the first launch, as is the description
    const Desc desc(CUBLAS_COMPUTE_32F, CUDA_R_32F);
    EXPECT_EQ(multiply(desc, &two, a, a, &one, d, d, stream), CUBLAS_STATUS_SUCCESS);
  }
  ASSERT_EQ(cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphInstantiate(&executable, graph, 0), CUDA_SUCCESS);
  for (int launch = 1; launch <= 3; ++launch) {
    a.set(0, 0, 0, launch);
    ASSERT_EQ(cuGraphLaunch(executable, stream), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  }
  EXPECT_EQ(d.get(0, 0), 28.0);
  cuGraphExecDestroy(executable);
  cuGraphDestroy(graph);
  cuStreamDestroy(stream);
}

}  // namespace
}  // namespace ordito::cublaslt::test
