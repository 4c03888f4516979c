// A text compiled by NVRTC, and a kernel of it launched.
#pragma once

#include <cuda.h>
#include <nvrtc.h>

#include <string>
#include <vector>

#include "expect.hpp"

inline std::string logOf(nvrtcProgram program) {
  size_t bytes = 0;
  EXPECT(nvrtcGetProgramLogSize(program, &bytes) == NVRTC_SUCCESS && bytes > 0);
  std::string log(bytes, '?');
  EXPECT(nvrtcGetProgramLog(program, log.data()) == NVRTC_SUCCESS && log.back() == '\0');
  return log.c_str();
}

inline std::string ptxOf(nvrtcProgram program) {
  size_t bytes = 0;
  if (nvrtcGetPTXSize(program, &bytes) != NVRTC_SUCCESS) return "";
  std::string ptx(bytes, '?');
  EXPECT(nvrtcGetPTX(program, ptx.data()) == NVRTC_SUCCESS);
  return ptx.c_str();
}

inline bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

struct Compiled {
  nvrtcResult result;
  std::string ptx, log;
};

inline Compiled compile(const char* text, const char* name, std::vector<const char*> options,
                        const std::vector<const char*>& headers = {}, const std::vector<const char*>& names = {}) {
  nvrtcProgram program = nullptr;
  EXPECT(nvrtcCreateProgram(&program, text, name, static_cast<int>(headers.size()), headers.data(), names.data()) ==
         NVRTC_SUCCESS);
  Compiled out;
  out.result = nvrtcCompileProgram(program, static_cast<int>(options.size()), options.data());
  out.log = logOf(program);
  out.ptx = ptxOf(program);
  EXPECT(nvrtcDestroyProgram(&program) == NVRTC_SUCCESS && program == nullptr);
  return out;
}

/// Runs kernel(int* out) with 32 threads and gives out[5].
inline int launched(const std::string& ptx, const char* kernel) {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  CUdeviceptr out = 0;
  int result[32] = {};
  EXPECT(cuModuleLoadData(&module, ptx.c_str()) == CUDA_SUCCESS);
  EXPECT(cuModuleGetFunction(&function, module, kernel) == CUDA_SUCCESS);
  EXPECT(cuMemAlloc(&out, sizeof result) == CUDA_SUCCESS);
  void* parameters[] = {&out};
  EXPECT(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, nullptr, parameters, nullptr) == CUDA_SUCCESS);
  EXPECT(cuMemcpyDtoH(result, out, sizeof result) == CUDA_SUCCESS);
  EXPECT(cuMemFree(out) == CUDA_SUCCESS);
  EXPECT(cuModuleUnload(module) == CUDA_SUCCESS);
  return result[5];
}
