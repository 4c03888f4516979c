// NVRTC: statuses of bad arguments (cases.hpp).
#include <nvrtc.h>

#include "cases.hpp"

namespace {

const char* const kKernel =
    "template <int N> __global__ void k(int* p) { *p = N; } __global__ void plain(int* p) { *p = 1; }";

nvrtcProgram program(const char* source) {
  nvrtcProgram made = nullptr;
  nvrtcCreateProgram(&made, source, "kernel.cu", 0, nullptr, nullptr);
  return made;
}

nvrtcResult compile(const char* source, const char* option) {
  return nvrtcCompileProgram(program(source), option == nullptr ? 0 : 1, &option);
}

}  // namespace

int main(int count, char** arguments) {
  Cases cases(count, arguments);
  int major = 0;
  size_t size = 0;
  nvrtcProgram made = nullptr, none = nullptr;
  const char* lowered = nullptr;
  CASE("version: null", nvrtcVersion(&major, nullptr));
  CASE("architectures: null", nvrtcGetNumSupportedArchs(nullptr));
  CASE("create: no place", nvrtcCreateProgram(nullptr, kKernel, "k", 0, nullptr, nullptr));
  CASE("create: no source", nvrtcCreateProgram(&made, nullptr, "k", 0, nullptr, nullptr));
  CASE("create: no name", nvrtcCreateProgram(&made, kKernel, nullptr, 0, nullptr, nullptr));
  CASE("create: -1 headers", nvrtcCreateProgram(&made, kKernel, "k", -1, nullptr, nullptr));
  CASE("create: a header that there is not", nvrtcCreateProgram(&made, kKernel, "k", 1, nullptr, nullptr));
  CASE("destroy: no place", nvrtcDestroyProgram(nullptr));
  CASE("destroy: none", nvrtcDestroyProgram(&none));
  CASE("compile: none", nvrtcCompileProgram(nullptr, 0, nullptr));
  CASE("compile", compile(kKernel, nullptr));
  CASE("compile: nothing", compile("", nullptr));
  CASE("compile: what is wrong", compile("__global__ void k() { x = 1; }", nullptr));
  CASE("compile: a file that there is not", compile("#include \"nothing.h\"\n", nullptr));
  CASE("compile: an unknown option", compile(kKernel, "--nothing"));
  CASE("compile: architecture compute_1", compile(kKernel, "--gpu-architecture=compute_1"));
  CASE("compile: architecture compute_90", compile(kKernel, "--gpu-architecture=compute_90"));
  CASE("compile: architecture sm_90", compile(kKernel, "-arch=sm_90"));
  CASE("compile: C++ 98", compile(kKernel, "-std=c++98"));
  CASE("compile: C++ 20", compile(kKernel, "-std=c++20"));
  CASE("compile: -1 options", nvrtcCompileProgram(program(kKernel), -1, nullptr));
  const nvrtcProgram fresh = program(kKernel);
  CASE("ptx size: before", nvrtcGetPTXSize(fresh, &size));
  CASE("ptx size: none", nvrtcGetPTXSize(nullptr, &size));
  CASE("ptx size: no place", nvrtcGetPTXSize(fresh, nullptr));
  CASE("cubin size: before", nvrtcGetCUBINSize(fresh, &size));
  CASE("log size: before", nvrtcGetProgramLogSize(fresh, &size), shown(size));
  CASE("log: no place", nvrtcGetProgramLog(fresh, nullptr));
  CASE("name: before", nvrtcGetLoweredName(fresh, "plain", &lowered));
  CASE("add name: none", nvrtcAddNameExpression(fresh, nullptr));
  CASE("add name", nvrtcAddNameExpression(fresh, "k<3>"));
  CASE("compile: with a name", nvrtcCompileProgram(fresh, 0, nullptr));
  CASE("name: added", nvrtcGetLoweredName(fresh, "k<3>", &lowered), std::string(lowered == nullptr ? "" : lowered));
  CASE("name: not added", nvrtcGetLoweredName(fresh, "plain", &lowered));
  CASE("add name: after", nvrtcAddNameExpression(fresh, "k<4>"));
  CASE("compile: again", nvrtcCompileProgram(fresh, 0, nullptr));
  CASE("cubin size: of virtual code", nvrtcGetCUBINSize(fresh, &size));
  CASE("lto size: without lto", nvrtcGetLTOIRSize(fresh, &size));
  const nvrtcProgram wrong = program(kKernel);
  nvrtcAddNameExpression(wrong, "nothing<3>");
  CASE("compile: a name that there is not", nvrtcCompileProgram(wrong, 0, nullptr));
  CASE("ptx size: after an error", nvrtcGetPTXSize(wrong, &size));
  CASE("text: 99", 0, std::string(nvrtcGetErrorString(nvrtcResult(99))));
  CASE("text: 6", 0, std::string(nvrtcGetErrorString(NVRTC_ERROR_COMPILATION)));
}
