// cuFFT with a program's own functions in front of and behind a transform: by pointer, with their parameters, a layout
// with steps, and as code that is linked at run time.
#include <cufftXt.h>
#include <nvrtc.h>

#include <cstring>
#include <vector>

#include "expect.hpp"

constexpr int kSize = 12, kBatch = 3;

struct Window {
  int first;
  float factor;
};

/// What is before the window's first element of a transform is 0.
__device__ cufftComplex loadFrom(void* data, size_t at, void* info, void*) {
  const Window* window = (const Window*)info;
  const cufftComplex zero = {0, 0};
  return (int)(at % kSize) < window->first ? zero : ((cufftComplex*)data)[at];
}
__device__ void storeScaled(void* data, size_t at, cufftComplex element, void* info, void*) {
  const float factor = ((const Window*)info)->factor;
  const cufftComplex scaled = {factor * element.x, factor * element.y};
  ((cufftComplex*)data)[at] = scaled;
}
/// Real numbers come from bytes.
__device__ cufftReal loadByte(void* data, size_t at, void*, void*) { return ((const unsigned char*)data)[at] - 100.0f; }

__device__ cufftCallbackLoadC loadFromPlace = loadFrom;
__device__ cufftCallbackStoreC storeScaledPlace = storeScaled;
__device__ cufftCallbackLoadR loadBytePlace = loadByte;

template <class Pointer>
void* pointerAt(const Pointer& symbol) {
  Pointer value = nullptr;
  EXPECT_OK(cudaMemcpyFromSymbol(&value, symbol, sizeof value));
  return (void*)value;
}

template <class T>
T* managed(size_t count) {
  T* memory = nullptr;
  EXPECT_OK(cudaMallocManaged(&memory, count * sizeof(T)));
  return memory;
}

cufftComplex* numbers(size_t count) {
  cufftComplex* all = managed<cufftComplex>(count);
  for (size_t i = 0; i < count; ++i) all[i] = {(float)((i * 7) % 5) - 2, (float)((i * 3) % 4) - 1};
  return all;
}

void expectNear(const cufftComplex* got, const cufftComplex* wanted, size_t count) {
  for (size_t i = 0; i < count; ++i)
    EXPECT(fabsf(got[i].x - wanted[i].x) < 1e-3f && fabsf(got[i].y - wanted[i].y) < 1e-3f);
}

void byPointer() {
  const size_t count = kSize * kBatch;
  cufftComplex *data = numbers(count), *result = managed<cufftComplex>(count), *wanted = numbers(count);
  Window* window = managed<Window>(1);
  *window = {4, 0.5f};
  cufftHandle plan = 0, plain = 0;
  EXPECT(cufftPlan1d(&plan, kSize, CUFFT_C2C, kBatch) == CUFFT_SUCCESS);
  EXPECT(cufftPlan1d(&plain, kSize, CUFFT_C2C, kBatch) == CUFFT_SUCCESS);
  void *load = pointerAt(loadFromPlace), *store = pointerAt(storeScaledPlace), *info = window;
  EXPECT(cufftXtSetCallback(plan, &load, CUFFT_CB_LD_COMPLEX, &info) == CUFFT_SUCCESS);
  EXPECT(cufftXtSetCallback(plan, &load, CUFFT_CB_LD_COMPLEX_DOUBLE, &info) != CUFFT_SUCCESS);
  EXPECT(cufftXtSetCallback(plan, &store, CUFFT_CB_ST_COMPLEX, &info) == CUFFT_SUCCESS);
  EXPECT(cufftExecC2C(plan, data, result, CUFFT_FORWARD) == CUFFT_SUCCESS);
  for (size_t i = 0; i < count; ++i)
    if (i % kSize < 4) wanted[i] = {0, 0};
  EXPECT(cufftExecC2C(plain, wanted, wanted, CUFFT_FORWARD) == CUFFT_SUCCESS);
  EXPECT_OK(cudaDeviceSynchronize());
  for (size_t i = 0; i < count; ++i) wanted[i] = {0.5f * wanted[i].x, 0.5f * wanted[i].y};
  expectNear(result, wanted, count);
  // In place, and without the store again.
  EXPECT(cufftXtClearCallback(plan, CUFFT_CB_ST_COMPLEX) == CUFFT_SUCCESS);
  EXPECT(cufftExecC2C(plan, data, data, CUFFT_FORWARD) == CUFFT_SUCCESS);
  EXPECT_OK(cudaDeviceSynchronize());
  for (size_t i = 0; i < count; ++i) wanted[i] = {2 * wanted[i].x, 2 * wanted[i].y};
  expectNear(data, wanted, count);
  cufftDestroy(plan), cufftDestroy(plain);
  cudaFree(data), cudaFree(result), cudaFree(wanted), cudaFree(window);
}

/// Two rows of bytes with others between them; the result with steps.
void withSteps() {
  const int n = 8, half = n / 2 + 1;
  unsigned char* bytes = managed<unsigned char>(64);
  float* reals = managed<float>(2 * n);
  cufftComplex *result = managed<cufftComplex>(64), *wanted = managed<cufftComplex>(2 * half);
  for (int i = 0; i < 64; ++i) bytes[i] = (unsigned char)(i * 11);
  for (int row = 0; row < 2; ++row)
    for (int i = 0; i < n; ++i) reals[row * n + i] = bytes[row * 30 + 2 * i] - 100.0f;
  int size = n, inembed = 20, onembed = 7;
  cufftHandle plan = 0, plain = 0;
  EXPECT(cufftPlanMany(&plan, 1, &size, &inembed, 2, 30, &onembed, 3, 20, CUFFT_R2C, 2) == CUFFT_SUCCESS);
  EXPECT(cufftPlan1d(&plain, n, CUFFT_R2C, 2) == CUFFT_SUCCESS);
  void* load = pointerAt(loadBytePlace);
  EXPECT(cufftXtSetCallback(plan, &load, CUFFT_CB_LD_REAL, nullptr) == CUFFT_SUCCESS);
  EXPECT(cufftExecR2C(plan, (cufftReal*)bytes, result) == CUFFT_SUCCESS);
  EXPECT(cufftExecR2C(plain, reals, wanted) == CUFFT_SUCCESS);
  EXPECT_OK(cudaDeviceSynchronize());
  for (int row = 0; row < 2; ++row)
    for (int i = 0; i < half; ++i) expectNear(&result[row * 20 + 3 * i], &wanted[row * half + i], 1);
  cufftDestroy(plan), cufftDestroy(plain);
  cudaFree(bytes), cudaFree(reals), cudaFree(result), cudaFree(wanted);
}

/// Code that the run-time compiler made.
void byCode() {
  const char* text =
      "__device__ float2 turn(void* data, unsigned long long at, void* info, void*) {\n"
      "  const float2 v = static_cast<float2*>(data)[at];\n"
      "  return {-v.y * *static_cast<float*>(info), v.x * *static_cast<float*>(info)};\n"
      "}\n";
  const char* options[] = {"--gpu-architecture=compute_80", "-dlto", "--relocatable-device-code=true"};
  nvrtcProgram program = nullptr;
  size_t bytes = 0;
  EXPECT(nvrtcCreateProgram(&program, text, "turn.cu", 0, nullptr, nullptr) == NVRTC_SUCCESS);
  EXPECT(nvrtcCompileProgram(program, 3, options) == NVRTC_SUCCESS);
  EXPECT(nvrtcGetLTOIRSize(program, &bytes) == NVRTC_SUCCESS);
  std::vector<char> code(bytes);
  EXPECT(nvrtcGetLTOIR(program, code.data()) == NVRTC_SUCCESS);
  cufftHandle plan = 0, plain = 0;
  float* factor = managed<float>(1);
  *factor = 3;
  void* info = factor;
  EXPECT(cufftCreate(&plan) == CUFFT_SUCCESS);
  EXPECT(cufftXtSetJITCallback(plan, "nothing", code.data(), code.size(), CUFFT_CB_LD_COMPLEX, &info) != CUFFT_SUCCESS);
  EXPECT(cufftXtSetJITCallback(plan, "turn", code.data(), code.size(), CUFFT_CB_LD_COMPLEX, &info) == CUFFT_SUCCESS);
  size_t work = 0;
  EXPECT(cufftMakePlan1d(plan, kSize, CUFFT_C2C, 1, &work) == CUFFT_SUCCESS);
  EXPECT(cufftPlan1d(&plain, kSize, CUFFT_C2C, 1) == CUFFT_SUCCESS);
  cufftComplex *data = numbers(kSize), *wanted = numbers(kSize);
  for (int i = 0; i < kSize; ++i) wanted[i] = {-3 * data[i].y, 3 * data[i].x};
  EXPECT(cufftExecC2C(plan, data, data, CUFFT_INVERSE) == CUFFT_SUCCESS);
  EXPECT(cufftExecC2C(plain, wanted, wanted, CUFFT_INVERSE) == CUFFT_SUCCESS);
  EXPECT_OK(cudaDeviceSynchronize());
  expectNear(data, wanted, kSize);
  EXPECT(cufftDestroy(plan) == CUFFT_SUCCESS);
  cufftDestroy(plain), nvrtcDestroyProgram(&program);
  cudaFree(data), cudaFree(wanted), cudaFree(factor);
}

int main() {
  byPointer();
  withSteps();
  byCode();
  return finish();
}
