// PTX assembled at run time by the PTX compiler's library, and what that says of PTX that is wrong.
#include <cuda.h>
#include <nvPTXCompiler.h>

#include <cstring>
#include <string>
#include <vector>

#include "expect.hpp"

static const char* kPtx =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry k(.param .u64 out) {\n"
    ".reg .b32 %r<2>; .reg .b64 %p;\n"
    "ld.param.u64 %p, [out];\nmov.u32 %r0, 42;\nst.global.u32 [%p], %r0;\nret;\n}\n";

static std::string logOf(nvPTXCompilerHandle compiler, bool isOfErrors) {
  size_t bytes = 0;
  EXPECT((isOfErrors ? nvPTXCompilerGetErrorLogSize : nvPTXCompilerGetInfoLogSize)(compiler, &bytes) ==
         NVPTXCOMPILE_SUCCESS);
  std::string log(bytes + 1, '\0');
  EXPECT((isOfErrors ? nvPTXCompilerGetErrorLog : nvPTXCompilerGetInfoLog)(compiler, log.data()) ==
         NVPTXCOMPILE_SUCCESS);
  return log.c_str();
}

static void run(const void* image) {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  CUdeviceptr out = 0;
  int result = 0;
  EXPECT(cuModuleLoadData(&module, image) == CUDA_SUCCESS);
  EXPECT(cuModuleGetFunction(&function, module, "k") == CUDA_SUCCESS);
  EXPECT(cuMemAlloc(&out, sizeof result) == CUDA_SUCCESS);
  void* parameters[] = {&out};
  EXPECT(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr) == CUDA_SUCCESS);
  EXPECT(cuMemcpyDtoH(&result, out, sizeof result) == CUDA_SUCCESS && result == 42);
  EXPECT(cuMemFree(out) == CUDA_SUCCESS && cuModuleUnload(module) == CUDA_SUCCESS);
}

int main() {
  EXPECT_OK(cudaFree(nullptr));
  unsigned major = 0, minor = 0;
  EXPECT(nvPTXCompilerGetVersion(&major, &minor) == NVPTXCOMPILE_SUCCESS && major >= 11);
  nvPTXCompilerHandle compiler = nullptr;
  size_t bytes = 0;
  EXPECT(nvPTXCompilerCreate(&compiler, std::strlen(kPtx), kPtx) == NVPTXCOMPILE_SUCCESS);
  EXPECT(nvPTXCompilerGetCompiledProgramSize(compiler, &bytes) == NVPTXCOMPILE_ERROR_COMPILER_INVOCATION_INCOMPLETE);
  const char* options[] = {"--gpu-name=sm_80", "--verbose"};
  EXPECT(nvPTXCompilerCompile(compiler, 2, options) == NVPTXCOMPILE_SUCCESS);
  EXPECT(nvPTXCompilerGetCompiledProgramSize(compiler, &bytes) == NVPTXCOMPILE_SUCCESS && bytes > 0);
  std::vector<char> image(bytes);
  EXPECT(nvPTXCompilerGetCompiledProgram(compiler, image.data()) == NVPTXCOMPILE_SUCCESS);
  EXPECT(logOf(compiler, false).find("registers") != std::string::npos);
  EXPECT(logOf(compiler, true).empty());
  EXPECT(nvPTXCompilerDestroy(&compiler) == NVPTXCOMPILE_SUCCESS);
  run(image.data());

  std::string wrong = kPtx;
  wrong.replace(wrong.find("st.global"), 9, "st.nowhere");
  EXPECT(nvPTXCompilerCreate(&compiler, wrong.size(), wrong.c_str()) == NVPTXCOMPILE_SUCCESS);
  EXPECT(nvPTXCompilerCompile(compiler, 2, options) == NVPTXCOMPILE_ERROR_COMPILATION_FAILURE);
  EXPECT(logOf(compiler, true).find("nowhere") != std::string::npos);
  EXPECT(nvPTXCompilerGetCompiledProgram(compiler, image.data()) == NVPTXCOMPILE_ERROR_COMPILER_INVOCATION_INCOMPLETE);
  EXPECT(nvPTXCompilerDestroy(&compiler) == NVPTXCOMPILE_SUCCESS);
  return finish();
}
