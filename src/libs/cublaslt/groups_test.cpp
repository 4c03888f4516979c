// cuBLASLt's products beside the plain ones: groups of matrices of different sizes, factors for blocks, complex numbers
// in two planes, and the settings of an emulation that there is not.
#include "libs/cublaslt/test_matrices.hpp"

namespace ordito::cublaslt::test {
namespace {

/// Matrices of different sizes with the arrays that a layout of groups names.
class Group {
 public:
  Group(cudaDataType type, const std::vector<int>& rows, const std::vector<int>& columns, bool isWide) : type_(type) {
    for (size_t i = 0; i < rows.size(); ++i) {
      const int length = (rows[i] + random(0, 3) * 16 + 15) / 16 * 16 + 16;
      memory_.emplace_back(static_cast<size_t>(length) * static_cast<size_t>(columns[i] + 1) * sizeOf(type) + 16);
      places_.push_back(memory_.back().data());
      add(rows_, rows[i], isWide), add(columns_, columns[i], isWide), add(leading_, length, isWide);
      lengths_.push_back(length);
      for (int j = 0; j < columns[i]; ++j)
        for (int k = 0; k < rows[i]; ++k) set(static_cast<int>(i), k, j, randomNumber());
    }
    EXPECT_EQ(cublasLtGroupedMatrixLayoutCreate(&layout_, type, static_cast<int>(rows.size()), rows_.data(),
                                                columns_.data(), leading_.data()),
              CUBLAS_STATUS_SUCCESS);
    const cublasLtIntegerWidth_t width = isWide ? CUBLASLT_INTEGER_WIDTH_64 : CUBLASLT_INTEGER_WIDTH_32;
    for (const auto attribute : {CUBLASLT_GROUPED_MATRIX_LAYOUT_ROWS_COLS_ARRAY_INTEGER_WIDTH,
                                 CUBLASLT_GROUPED_MATRIX_LAYOUT_LD_ARRAY_INTEGER_WIDTH})
      EXPECT_EQ(cublasLtMatrixLayoutSetAttribute(layout_, attribute, &width, sizeof(width)), CUBLAS_STATUS_SUCCESS);
  }
  ~Group() { cublasLtMatrixLayoutDestroy(layout_); }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  double get(int group, int i, int j) const { return read(type_, place(group, i, j)).real(); }
  void set(int group, int i, int j, double value) { write(type_, place(group, i, j), Wide(value)); }
  void** data() { return places_.data(); }
  cublasLtMatrixLayout_t layout() const { return layout_; }

 private:
  static void add(std::vector<char>& array, int64_t value, bool isWide) {
    const int32_t narrow = static_cast<int32_t>(value);
    const auto* bytes = isWide ? reinterpret_cast<const char*>(&value) : reinterpret_cast<const char*>(&narrow);
    array.insert(array.end(), bytes, bytes + (isWide ? 8 : 4));
  }
  char* place(int group, int i, int j) const {
    const auto index = static_cast<size_t>(group);
    return static_cast<char*>(places_[index]) + static_cast<size_t>(i + j * lengths_[index]) * sizeOf(type_);
  }

  cudaDataType type_;
  std::vector<std::vector<char>> memory_;
  std::vector<char> rows_, columns_, leading_;
  std::vector<int> lengths_;
  std::vector<void*> places_;
  cublasLtMatrixLayout_t layout_ = nullptr;
};

struct Groups : Tests {
  cublasStatus_t multiplyGroups(const Desc& desc, const void* alpha, Group& a, Group& b, const void* beta, Group& c) {
    return cublasLtMatmul(handle, desc.get(), alpha, a.data(), a.layout(), b.data(), b.layout(), beta, c.data(),
                          c.layout(), c.data(), c.layout(), nullptr, nullptr, 0, nullptr);
  }
};

TEST_F(Groups, ProductsOfDifferentSizes) {
  struct Types {
    cublasComputeType_t compute;
    cudaDataType scale, factors, result;
  };
  for (const Types types : {Types{CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F},
                            Types{CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16F, CUDA_R_16F},
                            Types{CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16BF, CUDA_R_32F},
                            Types{CUBLAS_COMPUTE_64F, CUDA_R_64F, CUDA_R_64F, CUDA_R_64F}}) {
    for (int round = 0; round < 8; ++round) {
      const bool isWide = round % 2 == 1, areOwn = round % 4 < 2, hasBias = round >= 4;
      const auto opA = random(0, 1) ? CUBLAS_OP_T : CUBLAS_OP_N, opB = random(0, 1) ? CUBLAS_OP_T : CUBLAS_OP_N;
      const size_t count = static_cast<size_t>(random(1, 6));
      std::vector<int> m(count), n(count), k(count);
      for (size_t i = 0; i < count; ++i) m[i] = random(0, 40), n[i] = random(0, 40), k[i] = random(0, 40);
      Group a(types.factors, opA == CUBLAS_OP_N ? m : k, opA == CUBLAS_OP_N ? k : m, isWide);
      Group b(types.factors, opB == CUBLAS_OP_N ? k : n, opB == CUBLAS_OP_N ? n : k, isWide);
      Group c(types.result, m, n, isWide), old(types.result, m, n, isWide);
      std::vector<std::vector<double>> bias(count);
      std::vector<std::vector<char>> biasMemory(count);
      std::vector<void*> biasPlaces;
      for (size_t g = 0; g < count; ++g) {
        biasMemory[g].resize(static_cast<size_t>(m[g] + 1) * sizeOf(types.result));
        for (int i = 0; i < m[g]; ++i) {
          char* place = biasMemory[g].data() + static_cast<size_t>(i) * sizeOf(types.result);
          write(types.result, place, Wide(randomNumber()));
          bias[g].push_back(hasBias ? read(types.result, place).real() : 0);
          for (int j = 0; j < n[g]; ++j) old.set(static_cast<int>(g), i, j, c.get(static_cast<int>(g), i, j));
        }
        biasPlaces.push_back(biasMemory[g].data());
      }
      // Numbers of the scale type, in pairs: alpha and beta.
      std::vector<double> wide(2 * count);
      std::vector<float> narrow(2 * count);
      std::vector<void*> alphas, betas;
      for (size_t i = 0; i < wide.size(); ++i) {
        narrow[i] = static_cast<float>(randomNumber()), wide[i] = narrow[i];
        void* place = types.scale == CUDA_R_64F ? static_cast<void*>(&wide[i]) : &narrow[i];
        (i % 2 ? betas : alphas).push_back(place);
      }
      Desc desc(types.compute, types.scale);
      desc.set(CUBLASLT_MATMUL_DESC_TRANSA, opA), desc.set(CUBLASLT_MATMUL_DESC_TRANSB, opB);
      if (areOwn) {
        desc.set(CUBLASLT_MATMUL_DESC_POINTER_MODE, CUBLASLT_POINTER_MODE_DEVICE);
        desc.set(CUBLASLT_MATMUL_DESC_ALPHA_BATCH_STRIDE, int64_t{1});
        desc.set(CUBLASLT_MATMUL_DESC_BETA_BATCH_STRIDE, int64_t{1});
      }
      if (hasBias) {
        desc.set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
        desc.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, biasPlaces.data());
        desc.set(CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, int64_t{1});
      }
      ASSERT_EQ(multiplyGroups(desc, areOwn ? alphas.data() : alphas[0], a, b, areOwn ? betas.data() : betas[0], c),
                CUBLAS_STATUS_SUCCESS);
      wait();
      for (size_t g = 0; g < count; ++g) {
        const int group = static_cast<int>(g);
        const double alpha = wide[areOwn ? 2 * g : 0], beta = wide[areOwn ? 2 * g + 1 : 1];
        for (int i = 0; i < m[g]; ++i)
          for (int j = 0; j < n[g]; ++j) {
            double sum = 0;
            for (int l = 0; l < k[g]; ++l)
              sum += (opA == CUBLAS_OP_N ? a.get(group, i, l) : a.get(group, l, i)) *
                     (opB == CUBLAS_OP_N ? b.get(group, l, j) : b.get(group, j, l));
            const double wanted = alpha * sum + beta * old.get(group, i, j) + bias[g][static_cast<size_t>(i)];
            ASSERT_NEAR(c.get(group, i, j), wanted, (std::abs(wanted) + 10) * 2 * unit(types.result) + 1e-14);
          }
      }
    }
  }
}

TEST_F(Groups, EightBitFloatsHaveAFactorForEachMatrix) {
  const std::vector<int> m{16, 48, 0}, n{32, 16, 16}, k{64, 16, 32};
  Group a(CUDA_R_8F_E4M3, k, m, false), b(CUDA_R_8F_E4M3, k, n, false), c(CUDA_R_16BF, m, n, false);
  float factors[] = {2, 0.5f, 4, 3, 0.25f, 1};
  std::vector<float*> placesA{&factors[0], &factors[1], &factors[2]}, placesB{&factors[3], &factors[4], &factors[5]};
  const float one = 1, zero = 0;
  Desc desc(CUBLAS_COMPUTE_32F, CUDA_R_32F);
  desc.set(CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T);
  desc.set(CUBLASLT_MATMUL_DESC_A_SCALE_MODE, CUBLASLT_MATMUL_MATRIX_SCALE_PER_BATCH_SCALAR_32F);
  desc.set(CUBLASLT_MATMUL_DESC_B_SCALE_MODE, CUBLASLT_MATMUL_MATRIX_SCALE_PER_BATCH_SCALAR_32F);
  desc.set(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, placesA.data());
  desc.set(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, placesB.data());
  ASSERT_EQ(multiplyGroups(desc, &one, a, b, &zero, c), CUBLAS_STATUS_SUCCESS);
  wait();
  for (int g = 0; g < 3; ++g)
    for (int i = 0; i < m[static_cast<size_t>(g)]; ++i)
      for (int j = 0; j < n[static_cast<size_t>(g)]; ++j) {
        double sum = 0;
        for (int l = 0; l < k[static_cast<size_t>(g)]; ++l) sum += a.get(g, l, i) * b.get(g, l, j);
        sum *= factors[g] * factors[g + 3];
        ASSERT_NEAR(c.get(g, i, j), sum, std::abs(sum) * unit(CUDA_R_16BF) + 1e-4);
      }
}

TEST_F(Groups, BadGroupsAreRefused) {
  const std::vector<int> sizes{8, 8};
  Group a(CUDA_R_32F, sizes, sizes, false), b(CUDA_R_32F, sizes, sizes, false), c(CUDA_R_32F, sizes, sizes, false);
  Group three(CUDA_R_32F, {8, 8, 8}, {8, 8, 8}, false);
  Batch plain(CUDA_R_32F, CUBLASLT_ORDER_COL, 8, 8, 2);
  const float one = 1;
  Desc desc(CUBLAS_COMPUTE_32F, CUDA_R_32F);
  EXPECT_EQ(multiplyGroups(desc, &one, a, b, &one, three), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(cublasLtMatmul(handle, desc.get(), &one, plain.data(), plain.layout(), b.data(), b.layout(), &one, c.data(),
                           c.layout(), c.data(), c.layout(), nullptr, nullptr, 0, nullptr),
            CUBLAS_STATUS_INVALID_VALUE);
  desc.set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_DGELU);
  EXPECT_EQ(multiplyGroups(desc, &one, a, b, &one, c), CUBLAS_STATUS_NOT_SUPPORTED);
  cublasLtMatrixLayout_t layout = nullptr;
  ASSERT_EQ(cublasLtGroupedMatrixLayoutCreate(&layout, CUDA_R_32F, 2, nullptr, nullptr, nullptr),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cublasLtMatmul(handle, desc.get(), &one, a.data(), layout, b.data(), b.layout(), &one, c.data(), c.layout(),
                           c.data(), c.layout(), nullptr, nullptr, 0, nullptr),
            CUBLAS_STATUS_INVALID_VALUE);
  cublasLtMatrixLayoutDestroy(layout);
}

TEST_F(Tests, EightBitFloatsWithFactorsForBlocks) {
  const auto row = CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F, square = CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F;
  using Modes = std::pair<cublasLtMatmulMatrixScale_t, cublasLtMatmulMatrixScale_t>;
  for (const auto& [modeA, modeB] : {Modes{row, row}, Modes{row, square}, Modes{square, row}}) {
    const int m = 160, n = 144, k = 400;
    Batch a(CUDA_R_8F_E4M3, CUBLASLT_ORDER_COL, k, m, 1), b(CUDA_R_8F_E4M3, CUBLASLT_ORDER_COL, k, n, 1);
    Batch c(CUDA_R_32F, CUBLASLT_ORDER_COL, m, n, 1);
    const int sums = (k + 127) / 128, sumsWithRoom = (sums + 3) / 4 * 4;
    const auto factorsFor = [&](cublasLtMatmulMatrixScale_t mode, int others) {
      std::vector<float> factors(
          static_cast<size_t>(mode == row ? sums * others : sumsWithRoom * ((others + 127) / 128)));
      for (float& factor : factors) factor = static_cast<float>(randomNumber());
      return factors;
    };
    const auto factorsA = factorsFor(modeA, m), factorsB = factorsFor(modeB, n);
    const auto factor = [&](const std::vector<float>& factors, cublasLtMatmulMatrixScale_t mode, int others, int other,
                            int l) {
      return factors[static_cast<size_t>(mode == row ? l / 128 * others + other
                                                     : other / 128 * sumsWithRoom + l / 128)];
    };
    Desc desc(CUBLAS_COMPUTE_32F, CUDA_R_32F);
    desc.set(CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T);
    desc.set(CUBLASLT_MATMUL_DESC_A_SCALE_MODE, modeA), desc.set(CUBLASLT_MATMUL_DESC_B_SCALE_MODE, modeB);
    desc.set(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, factorsA.data());
    desc.set(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, factorsB.data());
    const float one = 1, zero = 0;
    ASSERT_EQ(multiply(desc, &one, a, b, &zero, c, c), CUBLAS_STATUS_SUCCESS);
    wait();
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        double sum = 0;
        for (int l = 0; l < k; ++l)
          sum += a.get(l, i).real() * b.get(l, j).real() * factor(factorsA, modeA, m, i, l) *
                 factor(factorsB, modeB, n, j, l);
        ASSERT_NEAR(c.get(i, j).real(), sum, 1e-4);
      }
  }
  // Squares in both are not among the manual's combinations, nor is one kind alone.
  Batch a(CUDA_R_8F_E4M3, CUBLASLT_ORDER_COL, 16, 16, 1), c(CUDA_R_32F, CUBLASLT_ORDER_COL, 16, 16, 1);
  const float one = 1;
  for (const auto modeB : {square, CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F}) {
    Desc desc(CUBLAS_COMPUTE_32F, CUDA_R_32F);
    desc.set(CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T);
    desc.set(CUBLASLT_MATMUL_DESC_A_SCALE_MODE, square), desc.set(CUBLASLT_MATMUL_DESC_B_SCALE_MODE, modeB);
    EXPECT_EQ(multiply(desc, &one, a, a, &one, c, c), CUBLAS_STATUS_NOT_SUPPORTED);
  }
}

/// A complex matrix whose real parts come before its imaginary ones.
struct Planes {
  Planes(cudaDataType complexType, cudaDataType partType, int rows, int columns)
      : type(partType),
        leading(rows + random(0, 5)),
        size(static_cast<size_t>(leading) * static_cast<size_t>(columns)) {
    memory.resize(2 * size * sizeOf(type) + 16);
    for (int j = 0; j < columns; ++j)
      for (int i = 0; i < rows; ++i) set(i, j, {randomNumber(), randomNumber()});
    EXPECT_EQ(cublasLtMatrixLayoutCreate(&layout, complexType, static_cast<uint64_t>(rows),
                                         static_cast<uint64_t>(columns), std::max(1, leading)),
              CUBLAS_STATUS_SUCCESS);
    const int64_t offset = static_cast<int64_t>(size * sizeOf(type));
    EXPECT_EQ(cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET, &offset, sizeof(offset)),
              CUBLAS_STATUS_SUCCESS);
  }
  ~Planes() { cublasLtMatrixLayoutDestroy(layout); }
  Planes(const Planes&) = delete;
  Planes& operator=(const Planes&) = delete;
  char* place(int i, int j) { return memory.data() + static_cast<size_t>(i + j * leading) * sizeOf(type); }
  Wide get(int i, int j) {
    return {read(type, place(i, j)).real(), read(type, place(i, j) + size * sizeOf(type)).real()};
  }
  void set(int i, int j, Wide value) {
    write(type, place(i, j), Wide(value.real())), write(type, place(i, j) + size * sizeOf(type), Wide(value.imag()));
  }

  cudaDataType type;
  int leading;
  size_t size;
  std::vector<char> memory;
  cublasLtMatrixLayout_t layout = nullptr;
};

TEST_F(Tests, ComplexNumbersInTwoPlanes) {
  struct Types {
    cudaDataType factors, factorParts, result, resultParts;
  };
  for (const Types types :
       {Types{CUDA_C_16F, CUDA_R_16F, CUDA_C_16F, CUDA_R_16F}, Types{CUDA_C_16F, CUDA_R_16F, CUDA_C_32F, CUDA_R_32F},
        Types{CUDA_C_16BF, CUDA_R_16BF, CUDA_C_16BF, CUDA_R_16BF},
        Types{CUDA_C_32F, CUDA_R_32F, CUDA_C_32F, CUDA_R_32F}})
    for (const auto opA : {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C}) {
      const int m = random(1, 20), n = random(1, 20), k = random(1, 20);
      Planes a(types.factors, types.factorParts, opA == CUBLAS_OP_N ? m : k, opA == CUBLAS_OP_N ? k : m);
      Planes b(types.factors, types.factorParts, k, n), c(types.result, types.resultParts, m, n);
      std::vector<Wide> old;
      for (int j = 0; j < n; ++j)
        for (int i = 0; i < m; ++i) old.push_back(c.get(i, j));
      const std::complex<float> alpha(0.5f, -1), beta(0.25f, 2);
      Desc desc(CUBLAS_COMPUTE_32F, CUDA_C_32F);
      desc.set(CUBLASLT_MATMUL_DESC_TRANSA, opA);
      ASSERT_EQ(cublasLtMatmul(handle, desc.get(), &alpha, a.memory.data(), a.layout, b.memory.data(), b.layout, &beta,
                               c.memory.data(), c.layout, c.memory.data(), c.layout, nullptr, nullptr, 0, nullptr),
                CUBLAS_STATUS_SUCCESS);
      wait();
      for (int j = 0; j < n; ++j)
        for (int i = 0; i < m; ++i) {
          Wide sum = 0;
          for (int l = 0; l < k; ++l) {
            const Wide left = opA == CUBLAS_OP_N ? a.get(i, l) : a.get(l, i);
            sum += (opA == CUBLAS_OP_C ? std::conj(left) : left) * b.get(l, j);
          }
          sum = Wide(alpha) * sum + Wide(beta) * old[i + j * m];
          ASSERT_LE(std::abs(c.get(i, j) - sum), (std::abs(sum) + 10) * 2 * unit(types.resultParts));
        }
      // Into one plane and back.
      Batch together(types.result == CUDA_C_32F ? CUDA_C_32F : CUDA_C_64F, CUBLASLT_ORDER_COL, n, m, 1);
      cublasLtMatrixTransformDesc_t transform = nullptr;
      const auto turned = CUBLAS_OP_T;
      const std::complex<float> one(1, 0);
      ASSERT_EQ(cublasLtMatrixTransformDescCreate(&transform, CUDA_C_32F), CUBLAS_STATUS_SUCCESS);
      cublasLtMatrixTransformDescSetAttribute(transform, CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSA, &turned,
                                              sizeof(turned));
      ASSERT_EQ(cublasLtMatrixTransform(handle, transform, &one, c.memory.data(), c.layout, nullptr, nullptr, nullptr,
                                        together.data(), together.layout(), nullptr),
                CUBLAS_STATUS_SUCCESS);
      wait();
      for (int j = 0; j < n; ++j)
        for (int i = 0; i < m; ++i) ASSERT_EQ(together.get(j, i), c.get(i, j));
      cublasLtMatrixTransformDescDestroy(transform);
    }
  // Half precision has no complex numbers side by side, and no matrix alone has planes.
  Batch one(CUDA_C_32F, CUBLASLT_ORDER_COL, 4, 4, 1);
  Planes half(CUDA_C_16F, CUDA_R_16F, 4, 4);
  const std::complex<float> alpha(1, 0);
  Desc desc(CUBLAS_COMPUTE_32F, CUDA_C_32F);
  EXPECT_EQ(cublasLtMatmul(handle, desc.get(), &alpha, half.memory.data(), half.layout, half.memory.data(), half.layout,
                           &alpha, one.data(), one.layout(), one.data(), one.layout(), nullptr, nullptr, 0, nullptr),
            CUBLAS_STATUS_NOT_SUPPORTED);
}

TEST_F(Tests, EmulationIsDescribedAndNotUsed) {
  cublasLtEmulationDesc_t emulation = nullptr;
  ASSERT_EQ(cublasLtEmulationDescCreate(&emulation), CUBLAS_STATUS_SUCCESS);
  int bits = 7, *place = &bits, offset = -3, told = 0;
  size_t written = 0;
  EXPECT_EQ(cublasLtEmulationDescSetAttribute(emulation, CUBLASLT_EMULATION_DESC_FIXEDPOINT_MANTISSA_BIT_OFFSET,
                                              &offset, sizeof(offset)),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cublasLtEmulationDescSetAttribute(emulation, CUBLASLT_EMULATION_DESC_FIXEDPOINT_MANTISSA_BIT_COUNT_POINTER,
                                              &place, sizeof(place)),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cublasLtEmulationDescGetAttribute(emulation, CUBLASLT_EMULATION_DESC_FIXEDPOINT_MANTISSA_BIT_OFFSET, &told,
                                              sizeof(told), &written),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(told, offset);
  EXPECT_EQ(written, sizeof(told));
  Batch a(CUDA_R_64F, CUBLASLT_ORDER_COL, 5, 6, 1), b(CUDA_R_64F, CUBLASLT_ORDER_COL, 6, 7, 1);
  Batch c(CUDA_R_64F, CUBLASLT_ORDER_COL, 5, 7, 1);
  Desc desc(CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT, CUDA_R_64F);
  desc.set(CUBLASLT_MATMUL_DESC_EMULATION_DESCRIPTOR, emulation);
  const double one = 1, zero = 0;
  ASSERT_EQ(multiply(desc, &one, a, b, &zero, c, c), CUBLAS_STATUS_SUCCESS);
  wait();
  EXPECT_EQ(bits, -1);
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 7; ++j) {
      double sum = 0;
      for (int l = 0; l < 6; ++l) sum += a.get(i, l).real() * b.get(l, j).real();
      ASSERT_NEAR(c.get(i, j).real(), sum, 1e-14);
    }
  EXPECT_EQ(cublasLtEmulationDescDestroy(emulation), CUBLAS_STATUS_SUCCESS);
}

TEST_F(Tests, EnumerationsAreKeptInAByte) {
  Desc desc(CUBLAS_COMPUTE_32F, CUDA_R_32F);
  int32_t value = 300, told = 0;
  EXPECT_EQ(cublasLtMatmulDescSetAttribute(desc.get(), CUBLASLT_MATMUL_DESC_A_SCALE_MODE, &value, sizeof(value)),
            CUBLAS_STATUS_INVALID_VALUE);
  desc.set(CUBLASLT_MATMUL_DESC_FILL_MODE, CUBLAS_FILL_MODE_UPPER);
  size_t written = 0;
  EXPECT_EQ(cublasLtMatmulDescGetAttribute(desc.get(), CUBLASLT_MATMUL_DESC_FILL_MODE, &told, sizeof(told), &written),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(told, CUBLAS_FILL_MODE_UPPER);
  EXPECT_EQ(written, sizeof(told));
  // Before CUDA 13 the structure of preferences was smaller.
  uint64_t opaque[8];
  EXPECT_EQ(cublasLtMatmulPreferenceInit_internal(reinterpret_cast<cublasLtMatmulPreference_t>(opaque), 64),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cublasLtMatmulPreferenceInit_internal(reinterpret_cast<cublasLtMatmulPreference_t>(opaque), 56),
            CUBLAS_STATUS_INVALID_VALUE);
}

}  // namespace
}  // namespace ordito::cublaslt::test
