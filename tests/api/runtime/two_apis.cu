// One program with both interfaces: the driver's, whose calls take a context, a module and a function, and the
// runtime's, which makes these by itself. They share devices, memory and streams.
#include <cuda.h>

#include <cstring>

#include "expect.hpp"

__global__ void twice(int* values) { values[threadIdx.x] *= 2; }

static const char* const kText = R"(
.version 7.0
.target sm_50
.address_size 64
.visible .entry addOne(.param .u64 values)
{
  .reg .b32 %r<3>;
  .reg .b64 %d<4>;
  ld.param.u64 %d0, [values];
  mov.u32 %r0, %tid.x;
  mul.wide.u32 %d1, %r0, 4;
  add.s64 %d2, %d0, %d1;
  ld.global.u32 %r1, [%d2];
  add.u32 %r1, %r1, 1;
  st.global.u32 [%d2], %r1;
  ret;
}
)";

#define EXPECT_DRIVER(call) EXPECT((call) == CUDA_SUCCESS)

int main() {
  int runtime = 0, driver = 0;
  EXPECT_OK(cudaRuntimeGetVersion(&runtime));
  EXPECT_DRIVER(cuInit(0));
  EXPECT_DRIVER(cuDriverGetVersion(&driver));
  EXPECT(driver >= runtime);

  int* values;
  EXPECT_OK(cudaMalloc(&values, 4 * sizeof(int)));  // makes the primary context, and makes it current
  CUcontext context = nullptr, primary = nullptr;
  EXPECT_DRIVER(cuCtxGetCurrent(&context));
  EXPECT_DRIVER(cuDevicePrimaryCtxRetain(&primary, 0));
  EXPECT(context != nullptr && context == primary);

  // The runtime's memory and stream, the driver's module and launch.
  const int in[4] = {1, 2, 3, 4};
  EXPECT_DRIVER(cuMemcpyHtoD(reinterpret_cast<CUdeviceptr>(values), in, sizeof in));
  cudaStream_t stream;
  EXPECT_OK(cudaStreamCreate(&stream));
  CUmodule module;
  CUfunction addOne;
  EXPECT_DRIVER(cuModuleLoadData(&module, kText));
  EXPECT_DRIVER(cuModuleGetFunction(&addOne, module, "addOne"));
  void* arguments[] = {&values};
  EXPECT_DRIVER(cuLaunchKernel(addOne, 1, 1, 1, 4, 1, 1, 0, stream, arguments, nullptr));
  twice<<<1, 4, 0, stream>>>(values);
  EXPECT_DRIVER(cuStreamSynchronize(stream));
  int out[4];
  EXPECT_OK(cudaMemcpy(out, values, sizeof out, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 4; ++i) EXPECT(out[i] == 2 * (in[i] + 1));

  // Each has errors of its own: the driver's know nothing of a last one.
  EXPECT(cuModuleGetFunction(&addOne, module, "none") == CUDA_ERROR_NOT_FOUND);
  EXPECT_OK(cudaGetLastError());
  const char* name = nullptr;
  EXPECT_DRIVER(cuGetErrorName(CUDA_ERROR_NOT_FOUND, &name));
  EXPECT(std::strcmp(name, "CUDA_ERROR_NOT_FOUND") == 0);
  EXPECT_DRIVER(cuModuleUnload(module));
  EXPECT_OK(cudaStreamDestroy(stream));
  EXPECT_DRIVER(cuMemFree(reinterpret_cast<CUdeviceptr>(values)));  // what cudaMalloc gave
  EXPECT_DRIVER(cuDevicePrimaryCtxRelease(0));
  return finish();
}
