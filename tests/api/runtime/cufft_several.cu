// One plan of cuFFT on two GPUs, whose kernels work on its parts before and after the transform without waiting for it:
// the streams of the second one know nothing of the plan's.
#include <cufftXt.h>

#include <chrono>
#include <cmath>
#include <thread>
#include <vector>

#include "expect.hpp"

constexpr int kRows = 8, kColumns = 6, kGpus = 2, kHeld = kRows * kColumns / kGpus;

__global__ void scale(cufftComplex* numbers, float factor) {
  numbers[threadIdx.x].x *= factor;
  numbers[threadIdx.x].y *= factor;
}

void CUDART_CB beLate(void*) { std::this_thread::sleep_for(std::chrono::milliseconds(50)); }

void scaleParts(const cudaLibXtDesc& parts, float factor) {
  for (int gpu = 0; gpu < kGpus; ++gpu) {
    EXPECT_OK(cudaSetDevice(gpu));
    EXPECT_OK(cudaLaunchHostFunc(nullptr, beLate, nullptr));
    scale<<<1, kHeld>>>(static_cast<cufftComplex*>(parts.descriptor->data[gpu]), factor);
  }
  EXPECT_OK(cudaSetDevice(0));
}

int main() {
  int gpus[kGpus] = {0, 1};
  size_t sizes[kGpus];
  cudaStream_t stream = nullptr;
  cufftHandle plan = 0;
  cudaLibXtDesc* parts = nullptr;
  EXPECT_OK(cudaStreamCreate(&stream));
  EXPECT(cufftCreate(&plan) == CUFFT_SUCCESS);
  EXPECT(cufftSetStream(plan, stream) == CUFFT_SUCCESS);
  EXPECT(cufftXtSetGPUs(plan, kGpus, gpus) == CUFFT_SUCCESS);
  EXPECT(cufftMakePlan2d(plan, kRows, kColumns, CUFFT_C2C, sizes) == CUFFT_SUCCESS);
  EXPECT(cufftXtMalloc(plan, &parts, CUFFT_XT_FORMAT_INPLACE) == CUFFT_SUCCESS);
  std::vector<cufftComplex> numbers(kRows * kColumns), result(numbers.size());
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = {static_cast<float>(i % 7), static_cast<float>(i % 5)};
  EXPECT(cufftXtMemcpy(plan, parts, numbers.data(), CUFFT_COPY_HOST_TO_DEVICE) == CUFFT_SUCCESS);
  EXPECT_OK(cudaLaunchHostFunc(stream, beLate, nullptr));
  EXPECT(cufftXtExecDescriptorC2C(plan, parts, parts, CUFFT_FORWARD) == CUFFT_SUCCESS);
  scaleParts(*parts, 0.5f);
  EXPECT(cufftXtExecDescriptorC2C(plan, parts, parts, CUFFT_INVERSE) == CUFFT_SUCCESS);
  scaleParts(*parts, 2.0f / (kRows * kColumns));
  EXPECT(cufftXtMemcpy(plan, result.data(), parts, CUFFT_COPY_DEVICE_TO_HOST) == CUFFT_SUCCESS);
  for (size_t i = 0; i < numbers.size(); ++i)
    EXPECT(std::fabs(result[i].x - numbers[i].x) < 1e-4f && std::fabs(result[i].y - numbers[i].y) < 1e-4f);
  EXPECT(cufftXtFree(parts) == CUFFT_SUCCESS);
  EXPECT(cufftDestroy(plan) == CUFFT_SUCCESS);
  return finish();
}
