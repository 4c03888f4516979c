// What is static in a program of the run-time compiler: its names, with and without -rdc=true, and that the host finds
// kernels and variables by them. Two linked programs may both have the same.
#include <cuda.h>
#include <nvrtc.h>

#include <string>
#include <utility>
#include <vector>

#include "expect.hpp"

static const char* const kText =
    "static __device__ int count = 5;\n"
    "namespace { struct Tag {}; __device__ int hidden = 7; }\n"
    "namespace app { static __device__ int depth = 9; }\n"
    "static __global__ void quiet(int* p) { *p = count; }\n"
    "namespace { __global__ void unnamed(int* p) { *p = hidden; } }\n"
    "template <typename T> __global__ void tagged(int* p) { *p = app::depth; }\n";

struct Program {
  std::string ptx;
  std::vector<std::string> names;
};

static const std::vector<const char*> kExpressions = {"quiet",  "unnamed", "tagged<Tag>",
                                                      "&count", "&hidden", "&app::depth"};

static Program compile(const char* relocatable, bool isNamed) {
  nvrtcProgram program = nullptr;
  Program out;
  EXPECT(nvrtcCreateProgram(&program, kText, "k.cu", 0, nullptr, nullptr) == NVRTC_SUCCESS);
  for (const char* expression : kExpressions)
    if (isNamed) EXPECT(nvrtcAddNameExpression(program, expression) == NVRTC_SUCCESS);
  EXPECT(nvrtcCompileProgram(program, 1, &relocatable) == NVRTC_SUCCESS);
  for (const char* expression : kExpressions) {
    const char* name = "";
    if (isNamed) EXPECT(nvrtcGetLoweredName(program, expression, &name) == NVRTC_SUCCESS);
    out.names.emplace_back(name);
  }
  size_t bytes = 0;
  EXPECT(nvrtcGetPTXSize(program, &bytes) == NVRTC_SUCCESS);
  out.ptx.resize(bytes);
  EXPECT(nvrtcGetPTX(program, out.ptx.data()) == NVRTC_SUCCESS);
  EXPECT(nvrtcDestroyProgram(&program) == NVRTC_SUCCESS);
  return out;
}

static int launched(CUmodule module, const std::string& kernel) {
  CUfunction function = nullptr;
  CUdeviceptr out = 0;
  int result = 0;
  EXPECT(cuModuleGetFunction(&function, module, kernel.c_str()) == CUDA_SUCCESS);
  EXPECT(cuMemAlloc(&out, sizeof result) == CUDA_SUCCESS);
  void* parameters[] = {&out};
  EXPECT(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr) == CUDA_SUCCESS);
  EXPECT(cuMemcpyDtoH(&result, out, sizeof result) == CUDA_SUCCESS);
  EXPECT(cuMemFree(out) == CUDA_SUCCESS);
  return result;
}

static void set(CUmodule module, const std::string& variable, int value) {
  CUdeviceptr place = 0;
  size_t bytes = 0;
  EXPECT(cuModuleGetGlobal(&place, &bytes, module, variable.c_str()) == CUDA_SUCCESS && bytes == sizeof value);
  EXPECT(cuMemcpyHtoD(place, &value, sizeof value) == CUDA_SUCCESS);
}

static bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

static void named(const char* relocatable) {
  const Program program = compile(relocatable, true);
  EXPECT(program.names[0] == "_Z5quietPi" && program.names[3] == "count");
  for (const int i : {1, 2, 4}) EXPECT(has(program.names[i], "_GLOBAL__N__00000000_4_k_cu_"));
  EXPECT(has(program.names[4], "_INTERNAL_00000000_4_k_cu_"));
  EXPECT(has(program.names[5], "_INTERNAL_00000000_4_k_cu_") && has(program.names[5], "3app5depthE"));
  CUmodule module = nullptr;
  EXPECT(cuModuleLoadData(&module, program.ptx.c_str()) == CUDA_SUCCESS);
  for (int i = 0; i < 3; ++i) {
    EXPECT(launched(module, program.names[i]) == 5 + 2 * i);
    set(module, program.names[3 + i], 100 + i);
    EXPECT(launched(module, program.names[i]) == 100 + i);
  }
  EXPECT(cuModuleUnload(module) == CUDA_SUCCESS);
}

static void linked() {
  Program program = compile("-rdc=true", false);
  CUlinkState state = nullptr;
  void* image = nullptr;
  size_t bytes = 0;
  CUmodule module = nullptr;
  EXPECT(cuLinkCreate(0, nullptr, nullptr, &state) == CUDA_SUCCESS);
  for (int i = 0; i < 2; ++i)
    EXPECT(cuLinkAddData(state, CU_JIT_INPUT_PTX, program.ptx.data(), program.ptx.size(), "part", 0, nullptr,
                         nullptr) == CUDA_SUCCESS);
  EXPECT(cuLinkComplete(state, &image, &bytes) == CUDA_SUCCESS);
  EXPECT(cuModuleLoadData(&module, image) == CUDA_SUCCESS);
  EXPECT(launched(module, "_Z5quietPi") == 5);
  EXPECT(cuModuleUnload(module) == CUDA_SUCCESS && cuLinkDestroy(state) == CUDA_SUCCESS);
}

int main() {
  CUdevice device = 0;
  CUcontext context = nullptr;
  EXPECT(cuInit(0) == CUDA_SUCCESS && cuDeviceGet(&device, 0) == CUDA_SUCCESS);
  EXPECT(cuCtxCreate(&context, 0, device) == CUDA_SUCCESS);
  for (const char* relocatable : {"-rdc=false", "-rdc=true"}) named(relocatable);
  linked();
  return finish();
}
