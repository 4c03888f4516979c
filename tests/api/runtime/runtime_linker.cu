// Parts of a program that are compiled at run time and joined by nvJitLink, and what it says about parts that it cannot
// take.
#include <cuda.h>
#include <nvJitLink.h>
#include <nvrtc.h>

#include <string>
#include <vector>

#include "expect.hpp"

static std::string compiled(const char* text) {
  nvrtcProgram program = nullptr;
  const char* options[] = {"--relocatable-device-code=true", "-arch=compute_80"};
  size_t bytes = 0;
  EXPECT(nvrtcCreateProgram(&program, text, "part.cu", 0, nullptr, nullptr) == NVRTC_SUCCESS);
  EXPECT(nvrtcCompileProgram(program, 2, options) == NVRTC_SUCCESS);
  EXPECT(nvrtcGetPTXSize(program, &bytes) == NVRTC_SUCCESS);
  std::string ptx(bytes, '\0');
  EXPECT(nvrtcGetPTX(program, ptx.data()) == NVRTC_SUCCESS);
  EXPECT(nvrtcDestroyProgram(&program) == NVRTC_SUCCESS);
  return ptx;
}

static std::string errorsOf(nvJitLinkHandle linker) {
  size_t bytes = 0;
  EXPECT(nvJitLinkGetErrorLogSize(linker, &bytes) == NVJITLINK_SUCCESS);
  std::string log(bytes, '\0');
  EXPECT(nvJitLinkGetErrorLog(linker, log.data()) == NVJITLINK_SUCCESS);
  return log.c_str();
}

static void link() {
  const std::string caller = compiled(
      "extern __device__ int triple(int); extern __device__ int offset;\n"
      "extern \"C\" __global__ void k(int* out) { out[threadIdx.x] = triple(threadIdx.x) + offset; }\n");
  const std::string callee = compiled("__device__ int offset = 100;\n__device__ int triple(int x) { return 3 * x; }\n");
  const char* option = "-arch=sm_80";
  nvJitLinkHandle linker = nullptr;
  size_t bytes = 0;
  EXPECT(nvJitLinkCreate(&linker, 1, &option) == NVJITLINK_SUCCESS);
  EXPECT(nvJitLinkGetLinkedCubinSize(linker, &bytes) == NVJITLINK_ERROR_INVALID_INPUT);  // not complete
  for (const std::string& part : {caller, callee})
    EXPECT(nvJitLinkAddData(linker, NVJITLINK_INPUT_PTX, part.data(), part.size(), "part") == NVJITLINK_SUCCESS);
  EXPECT(nvJitLinkComplete(linker) == NVJITLINK_SUCCESS);
  EXPECT(nvJitLinkGetLinkedCubinSize(linker, &bytes) == NVJITLINK_SUCCESS && bytes > 0);
  std::vector<char> cubin(bytes);
  EXPECT(nvJitLinkGetLinkedCubin(linker, cubin.data()) == NVJITLINK_SUCCESS);
  EXPECT(nvJitLinkGetLinkedPtxSize(linker, &bytes) == NVJITLINK_ERROR_LTO_NOT_ENABLED);
  EXPECT(nvJitLinkDestroy(&linker) == NVJITLINK_SUCCESS && linker == nullptr);

  CUmodule module = nullptr;
  CUfunction function = nullptr;
  CUdeviceptr out = 0;
  int result[32] = {};
  EXPECT(cuModuleLoadData(&module, cubin.data()) == CUDA_SUCCESS);
  EXPECT(cuModuleGetFunction(&function, module, "k") == CUDA_SUCCESS);
  EXPECT(cuMemAlloc(&out, sizeof result) == CUDA_SUCCESS);
  void* parameters[] = {&out};
  EXPECT(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, nullptr, parameters, nullptr) == CUDA_SUCCESS);
  EXPECT(cuMemcpyDtoH(result, out, sizeof result) == CUDA_SUCCESS);
  EXPECT(result[7] == 121);
  EXPECT(cuMemFree(out) == CUDA_SUCCESS && cuModuleUnload(module) == CUDA_SUCCESS);
}

static void refusals() {
  nvJitLinkHandle linker = nullptr;
  const char* nothing[] = {"-verbose"};
  EXPECT(nvJitLinkCreate(&linker, 1, nothing) == NVJITLINK_ERROR_MISSING_ARCH);
  EXPECT(nvJitLinkDestroy(&linker) == NVJITLINK_SUCCESS);
  const char* unknown[] = {"-arch=sm_80", "-what"};
  EXPECT(nvJitLinkCreate(&linker, 2, unknown) == NVJITLINK_ERROR_UNRECOGNIZED_OPTION);
  EXPECT(errorsOf(linker).find("-what") != std::string::npos);
  EXPECT(nvJitLinkDestroy(&linker) == NVJITLINK_SUCCESS);
  EXPECT(nvJitLinkCreate(&linker, 1, unknown) == NVJITLINK_SUCCESS);
  EXPECT(nvJitLinkComplete(linker) == NVJITLINK_ERROR_INVALID_INPUT);
  EXPECT(nvJitLinkAddData(linker, NVJITLINK_INPUT_PTX, "no ptx", 6, "a.ptx") == NVJITLINK_ERROR_PTX_COMPILE);
  EXPECT(nvJitLinkAddData(linker, NVJITLINK_INPUT_LTOIR, "BC", 2, "b.ltoir") == NVJITLINK_ERROR_INCORRECT_INPUT_TYPE);
  EXPECT(nvJitLinkAddData(linker, NVJITLINK_INPUT_LIBRARY, "!<arch>", 7, "c.a") == NVJITLINK_ERROR_UNRECOGNIZED_INPUT);
  const std::string errors = errorsOf(linker);
  for (const char* name : {"a.ptx", "b.ltoir", "c.a"}) EXPECT(errors.find(name) != std::string::npos);
  EXPECT(nvJitLinkDestroy(&linker) == NVJITLINK_SUCCESS);
  EXPECT(nvJitLinkComplete(nullptr) == NVJITLINK_ERROR_INVALID_INPUT);
}

int main() {
  CUdevice device = 0;
  CUcontext context = nullptr;
  EXPECT(cuInit(0) == CUDA_SUCCESS && cuDeviceGet(&device, 0) == CUDA_SUCCESS);
  EXPECT(cuCtxCreate(&context, 0, device) == CUDA_SUCCESS);
  link();
  refusals();
  return finish();
}
