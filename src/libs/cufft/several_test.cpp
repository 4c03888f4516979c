// One plan on several GPUs: data and results are those of one GPU, in whichever parts they lie.
#include <gtest/gtest.h>

#include <complex>
#include <random>
#include <vector>

#include "cuda.h"
#include "cufftXt.h"

namespace ordito::cufft::test {
namespace {

using Complex = std::complex<float>;

struct Several : testing::Test {
  static void SetUpTestSuite() {
    CUcontext context = nullptr;
    ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
  }
  static std::vector<Complex> randomNumbers(size_t count) {
    static std::mt19937 engine(1);
    std::uniform_real_distribution<float> uniform(-1, 1);
    std::vector<Complex> numbers(count);
    for (Complex& number : numbers) number = {uniform(engine), uniform(engine)};
    return numbers;
  }
  static void expectNear(const std::vector<Complex>& got, const std::vector<Complex>& wanted, float scale = 1) {
    ASSERT_EQ(got.size(), wanted.size());
    for (size_t i = 0; i < got.size(); ++i) ASSERT_LE(std::abs(got[i] - scale * wanted[i]), 1e-3f * scale) << i;
  }
  /// A plan that `make` makes, on the first GPU as often as said.
  template <class Make>
  cufftHandle plan(int parts, const Make& make) {
    cufftHandle handle = 0;
    std::vector<int> devices(static_cast<size_t>(parts), 0);
    std::vector<size_t> sizes(static_cast<size_t>(parts), 9);
    EXPECT_EQ(cufftCreate(&handle), CUFFT_SUCCESS);
    if (parts) EXPECT_EQ(cufftXtSetGPUs(handle, parts, devices.data()), CUFFT_SUCCESS);
    size_t one = 9;
    EXPECT_EQ(make(handle, parts ? sizes.data() : &one), CUFFT_SUCCESS);
    return handle;
  }
};

TEST_F(Several, TransformsAreThoseOfOneGpu) {
  for (const int parts : {2, 3, 5})
    for (const int rank : {1, 2, 3}) {
      const auto make = [&](cufftHandle handle, size_t* sizes) {
        return rank == 1   ? cufftMakePlan1d(handle, 60, CUFFT_C2C, 1, sizes)
               : rank == 2 ? cufftMakePlan2d(handle, 7, 12, CUFFT_C2C, sizes)
                           : cufftMakePlan3d(handle, 5, 8, 6, CUFFT_C2C, sizes);
      };
      const size_t count = rank == 1 ? 60 : rank == 2 ? 84 : 240;
      const cufftHandle whole = plan(0, make), several = plan(parts, make);
      auto data = randomNumbers(count), wanted = data, got = data;
      auto* place = reinterpret_cast<cufftComplex*>(wanted.data());
      ASSERT_EQ(cufftExecC2C(whole, place, place, CUFFT_FORWARD), CUFFT_SUCCESS);
      ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
      cudaLibXtDesc *first = nullptr, *second = nullptr;
      ASSERT_EQ(cufftXtMalloc(several, &first, CUFFT_XT_FORMAT_INPLACE), CUFFT_SUCCESS);
      ASSERT_EQ(cufftXtMalloc(several, &second, CUFFT_XT_FORMAT_INPLACE), CUFFT_SUCCESS);
      size_t bytes = 0;
      for (int i = 0; i < parts; ++i) bytes += first->descriptor->size[i];
      EXPECT_EQ(bytes, count * sizeof(Complex));
      ASSERT_EQ(cufftXtMemcpy(several, first, data.data(), CUFFT_COPY_HOST_TO_DEVICE), CUFFT_SUCCESS);
      ASSERT_EQ(cufftXtExecDescriptorC2C(several, first, first, CUFFT_FORWARD), CUFFT_SUCCESS);
      EXPECT_EQ(first->subFormat, CUFFT_XT_FORMAT_INPLACE_SHUFFLED);
      ASSERT_EQ(cufftXtMemcpy(several, got.data(), first, CUFFT_COPY_DEVICE_TO_HOST), CUFFT_SUCCESS);
      expectNear(got, wanted);
      // Columns that are parted: the first GPU's second row is behind its part of the first.
      if (rank == 2 && parts == 3)
        EXPECT_LE(std::abs(static_cast<Complex*>(first->descriptor->data[0])[4] - wanted[12]), 1e-3f);
      ASSERT_EQ(cufftXtMemcpy(several, second, first, CUFFT_COPY_DEVICE_TO_DEVICE), CUFFT_SUCCESS);
      EXPECT_EQ(second->subFormat, CUFFT_XT_FORMAT_INPLACE);
      ASSERT_EQ(cufftXtMemcpy(several, got.data(), second, CUFFT_COPY_DEVICE_TO_HOST), CUFFT_SUCCESS);
      expectNear(got, wanted);
      ASSERT_EQ(cufftXtExecDescriptor(several, first, first, CUFFT_INVERSE), CUFFT_SUCCESS);
      ASSERT_EQ(cufftXtMemcpy(several, got.data(), first, CUFFT_COPY_DEVICE_TO_HOST), CUFFT_SUCCESS);
      expectNear(got, data, static_cast<float>(count));
      EXPECT_EQ(cufftXtFree(first), CUFFT_SUCCESS);
      EXPECT_EQ(cufftXtFree(second), CUFFT_SUCCESS);
      cufftDestroy(whole), cufftDestroy(several);
    }
}

TEST_F(Several, RealNumbersAndBatches) {
  const int n[] = {4, 6, 10};
  const size_t count = 4 * 6 * 6;  // complex numbers, with the padding of real ones
  const auto forward =
      plan(2, [&](cufftHandle h, size_t* s) { return cufftMakePlan3d(h, n[0], n[1], n[2], CUFFT_R2C, s); });
  const auto back =
      plan(2, [&](cufftHandle h, size_t* s) { return cufftMakePlan3d(h, n[0], n[1], n[2], CUFFT_C2R, s); });
  const auto data = randomNumbers(count);
  auto got = data;
  cudaLibXtDesc* parts = nullptr;
  ASSERT_EQ(cufftXtMalloc(forward, &parts, CUFFT_XT_FORMAT_INPLACE), CUFFT_SUCCESS);
  ASSERT_EQ(cufftXtMemcpy(forward, parts, got.data(), CUFFT_COPY_HOST_TO_DEVICE), CUFFT_SUCCESS);
  ASSERT_EQ(cufftXtExecDescriptorR2C(forward, parts, parts), CUFFT_SUCCESS);
  EXPECT_EQ(cufftXtExecDescriptorC2R(forward, parts, parts), CUFFT_INVALID_PLAN);
  ASSERT_EQ(cufftXtExecDescriptorC2R(back, parts, parts), CUFFT_SUCCESS);
  ASSERT_EQ(cufftXtMemcpy(back, got.data(), parts, CUFFT_COPY_DEVICE_TO_HOST), CUFFT_SUCCESS);
  for (size_t row = 0; row < 24; ++row)
    for (size_t k = 0; k < 10; ++k)
      ASSERT_NEAR(reinterpret_cast<float*>(got.data())[12 * row + k],
                  240 * reinterpret_cast<const float*>(data.data())[12 * row + k], 0.05);
  cufftXtFree(parts);
  cufftDestroy(forward), cufftDestroy(back);

  const auto make = [](cufftHandle h, size_t* s) { return cufftMakePlan1d(h, 16, CUFFT_C2C, 7, s); };
  const auto whole = plan(0, make), batches = plan(3, make);
  auto wanted = randomNumbers(16 * 7);
  got = wanted;
  ASSERT_EQ(cufftXtMalloc(batches, &parts, CUFFT_XT_FORMAT_INPLACE), CUFFT_SUCCESS);
  EXPECT_EQ(parts->descriptor->size[0], 3 * 16 * sizeof(Complex));
  ASSERT_EQ(cufftXtMemcpy(batches, parts, got.data(), CUFFT_COPY_HOST_TO_DEVICE), CUFFT_SUCCESS);
  ASSERT_EQ(cufftXtExecDescriptorC2C(batches, parts, parts, CUFFT_FORWARD), CUFFT_SUCCESS);
  ASSERT_EQ(cufftXtMemcpy(batches, got.data(), parts, CUFFT_COPY_DEVICE_TO_HOST), CUFFT_SUCCESS);
  auto* place = reinterpret_cast<cufftComplex*>(wanted.data());
  ASSERT_EQ(cufftExecC2C(whole, place, place, CUFFT_FORWARD), CUFFT_SUCCESS);
  ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  expectNear(got, wanted);
  cufftXtFree(parts);
  cufftDestroy(whole), cufftDestroy(batches);
}

TEST_F(Several, BadArgumentsAreRefused) {
  cufftHandle handle = 0;
  int devices[] = {0, 4711};
  cudaLibXtDesc* parts = nullptr;
  ASSERT_EQ(cufftCreate(&handle), CUFFT_SUCCESS);
  EXPECT_EQ(cufftXtSetGPUs(handle, 2, devices), CUFFT_INVALID_DEVICE);
  EXPECT_EQ(cufftXtSetGPUs(handle, 0, devices), CUFFT_INVALID_VALUE);
  EXPECT_EQ(cufftXtSetGPUs(handle + 1000, 1, devices), CUFFT_INVALID_PLAN);
  EXPECT_EQ(cufftXtMalloc(handle, &parts, CUFFT_XT_FORMAT_INPLACE), CUFFT_INVALID_PLAN);
  EXPECT_EQ(cufftXtFree(nullptr), CUFFT_INVALID_VALUE);
  long long value = 5;
  EXPECT_EQ(cufftSetPlanPropertyInt64(handle, NVFFT_PLAN_PROPERTY_INT64_PATIENT_JIT, 1), CUFFT_SUCCESS);
  EXPECT_EQ(cufftGetPlanPropertyInt64(handle, NVFFT_PLAN_PROPERTY_INT64_PATIENT_JIT, &value), CUFFT_SUCCESS);
  EXPECT_EQ(value, 1);
  cufftDestroy(handle);
}

}  // namespace
}  // namespace ordito::cufft::test
