// Parts of a program that are compiled at run time and joined by nvJitLink, and what it says about parts that it cannot
// take.
#include <cuda.h>
#include <nvJitLink.h>
#include <nvrtc.h>

#include <string>
#include <vector>

#include "expect.hpp"

static std::string compiled(const char* text, bool isForLto = false) {
  nvrtcProgram program = nullptr;
  const char* options[] = {isForLto ? "--dlink-time-opt" : "--relocatable-device-code=true", "-arch=compute_80"};
  size_t bytes = 0, others = 0;
  EXPECT(nvrtcCreateProgram(&program, text, "part.cu", 0, nullptr, nullptr) == NVRTC_SUCCESS);
  EXPECT(nvrtcCompileProgram(program, 2, options) == NVRTC_SUCCESS);
  EXPECT((isForLto ? nvrtcGetLTOIRSize : nvrtcGetPTXSize)(program, &bytes) == NVRTC_SUCCESS && bytes > 1);
  EXPECT(nvrtcGetCUBINSize(program, &others) == NVRTC_SUCCESS && others == 0);
  EXPECT(nvrtcGetLTOIRSize(program, &others) == NVRTC_SUCCESS && others == (isForLto ? bytes : 0));
  std::string ptx(bytes, '\0');
  EXPECT((isForLto ? nvrtcGetLTOIR : nvrtcGetPTX)(program, ptx.data()) == NVRTC_SUCCESS);
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

static const char* kCaller =
    "extern __device__ int triple(int); extern __device__ int offset;\n"
    "extern \"C\" __global__ void k(int* out) { out[threadIdx.x] = triple(threadIdx.x) + offset + triple(0); }\n";
static const char* kCallee =
    "__device__ int offset = 100;\n"
    // Known without an #include:
    "__device__ int sum(std::initializer_list<int> all) { int s = 0; for (int each : all) s += each; return s; }\n"
    // A local array, which two copies of the function have.
    "__device__ int triple(int x) {\n"
    "int parts[3]; for (int i = 0; i < 3; ++i) parts[(i + x) % 3] = x;\n"
    "NV_IF_TARGET(NV_IS_DEVICE, (return sum({parts[0], parts[1], parts[2]});), (return 0;))\n}\n";

/// Loads a linker's product and runs its kernel; how many registers it takes.
static int runLinked(const void* image) {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  CUdeviceptr out = 0;
  int result[32] = {}, registers = 0;
  EXPECT(cuModuleLoadData(&module, image) == CUDA_SUCCESS);
  EXPECT(cuModuleGetFunction(&function, module, "k") == CUDA_SUCCESS);
  EXPECT(cuMemAlloc(&out, sizeof result) == CUDA_SUCCESS);
  void* parameters[] = {&out};
  EXPECT(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, nullptr, parameters, nullptr) == CUDA_SUCCESS);
  EXPECT(cuMemcpyDtoH(result, out, sizeof result) == CUDA_SUCCESS);
  EXPECT(result[7] == 121);
  EXPECT(cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, function) == CUDA_SUCCESS);
  EXPECT(cuMemFree(out) == CUDA_SUCCESS && cuModuleUnload(module) == CUDA_SUCCESS);
  return registers;
}

static void link() {
  const char* option = "-arch=sm_80";
  nvJitLinkHandle linker = nullptr;
  size_t bytes = 0;
  EXPECT(nvJitLinkCreate(&linker, 1, &option) == NVJITLINK_SUCCESS);
  EXPECT(nvJitLinkGetLinkedCubinSize(linker, &bytes) == NVJITLINK_ERROR_INVALID_INPUT);  // not complete
  for (const std::string& part : {compiled(kCaller), compiled(kCallee)})
    EXPECT(nvJitLinkAddData(linker, NVJITLINK_INPUT_PTX, part.data(), part.size(), "part") == NVJITLINK_SUCCESS);
  EXPECT(nvJitLinkAddData(linker, NVJITLINK_INPUT_LIBRARY, "!<arch>\n", 8, "libcudadevrt.a") == NVJITLINK_SUCCESS);
  EXPECT(nvJitLinkComplete(linker) == NVJITLINK_SUCCESS);
  EXPECT(nvJitLinkGetLinkedCubinSize(linker, &bytes) == NVJITLINK_SUCCESS && bytes > 0);
  std::vector<char> cubin(bytes);
  EXPECT(nvJitLinkGetLinkedCubin(linker, cubin.data()) == NVJITLINK_SUCCESS);
  EXPECT(nvJitLinkGetLinkedPtxSize(linker, &bytes) == NVJITLINK_ERROR_LTO_NOT_ENABLED);
  EXPECT(nvJitLinkDestroy(&linker) == NVJITLINK_SUCCESS && linker == nullptr);
  runLinked(cubin.data());
}

/// A program of nothing.
static void linkNothing() {
  const char* options[] = {"-arch=sm_80", "-split-compile-extended=1"};
  nvJitLinkHandle linker = nullptr;
  size_t bytes = 0;
  EXPECT(nvJitLinkCreate(&linker, 2, options) == NVJITLINK_SUCCESS);
  EXPECT(nvJitLinkComplete(linker) == NVJITLINK_SUCCESS);
  EXPECT(nvJitLinkGetLinkedCubinSize(linker, &bytes) == NVJITLINK_SUCCESS && bytes > 0);
  EXPECT(nvJitLinkDestroy(&linker) == NVJITLINK_SUCCESS);
}

/// Link-time optimisation: functions of other parts are inlined, and the parts may come out as one PTX.
static void linkToPtx() {
  const char* options[] = {"-arch=sm_80", "-lto", "-ptx"};
  nvJitLinkHandle linker = nullptr;
  size_t bytes = 0;
  EXPECT(nvJitLinkCreate(&linker, 3, options) == NVJITLINK_SUCCESS);
  for (const std::string& part : {compiled(kCaller, true), compiled(kCallee, true)}) {
    EXPECT(part.compare(0, 4, "\xed\x43\x4e\x7f") == 0);
    EXPECT(nvJitLinkAddData(linker, NVJITLINK_INPUT_LTOIR, part.data(), part.size(), "part") == NVJITLINK_SUCCESS);
  }
  EXPECT(nvJitLinkComplete(linker) == NVJITLINK_SUCCESS);
  EXPECT(nvJitLinkGetLinkedCubinSize(linker, &bytes) == NVJITLINK_ERROR_INVALID_INPUT);
  EXPECT(nvJitLinkGetLinkedPtxSize(linker, &bytes) == NVJITLINK_SUCCESS);
  std::string ptx(bytes, '\0');
  EXPECT(nvJitLinkGetLinkedPtx(linker, ptx.data()) == NVJITLINK_SUCCESS);
  EXPECT(nvJitLinkDestroy(&linker) == NVJITLINK_SUCCESS);
  EXPECT(ptx.find("call") == std::string::npos);
  runLinked(ptx.c_str());
}

/// One part is to be optimised with others and has none; the other is PTX.
static void linkMixture() {
  const char* options[] = {"-arch=sm_80", "-lto", "-ftz=false", "-lineinfo"};
  nvJitLinkHandle linker = nullptr;
  size_t bytes = 0;
  const std::string caller = compiled(kCaller, true), callee = compiled(kCallee);
  EXPECT(nvJitLinkCreate(&linker, 4, options) == NVJITLINK_SUCCESS);
  EXPECT(nvJitLinkAddData(linker, NVJITLINK_INPUT_LTOIR, caller.data(), caller.size(), "a") == NVJITLINK_SUCCESS);
  EXPECT(nvJitLinkAddData(linker, NVJITLINK_INPUT_PTX, callee.data(), callee.size(), "b") == NVJITLINK_SUCCESS);
  EXPECT(nvJitLinkComplete(linker) == NVJITLINK_SUCCESS);
  EXPECT(nvJitLinkGetLinkedCubinSize(linker, &bytes) == NVJITLINK_SUCCESS && bytes > 0);
  std::vector<char> cubin(bytes);
  EXPECT(nvJitLinkGetLinkedCubin(linker, cubin.data()) == NVJITLINK_SUCCESS);
  EXPECT(nvJitLinkDestroy(&linker) == NVJITLINK_SUCCESS);
  runLinked(cubin.data());
}

/// A kernel with more values alive than the limit has registers for.
static const char* kLarge = R"(
.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
  .reg .b64 %a;
  .reg .b32 %t, %v<40>;
  ld.param.u64 %a, [out];
  mov.u32 %t, %tid.x;
  mul.wide.u32 %a, %t, 4;
)";

static std::string large() {
  std::string text = kLarge;
  text += "  ld.param.u64 %b, [out];\n  add.u64 %a, %a, %b;\n  mad.lo.u32 %t, %t, 3, 100;\n  st.global.u32 [%a], %t;\n";
  text.replace(text.find("%a;"), 3, "%a, %b;");
  for (int i = 0; i < 40; ++i) text += "  ld.volatile.global.u32 %v" + std::to_string(i) + ", [%b];\n";
  for (int i = 0; i < 40; ++i) text += "  st.volatile.global.u32 [%b+4], %v" + std::to_string(i) + ";\n";
  return text + "  st.global.u32 [%a], %t;\n  ret;\n}\n";
}

static void limits() {
  const std::string part = large();
  for (const int most : {0, 32}) {
    CUlinkState state = nullptr;
    CUjit_option names[] = {CU_JIT_MAX_REGISTERS};
    void *values[] = {reinterpret_cast<void*>(static_cast<uintptr_t>(most))}, *image = nullptr;
    EXPECT(cuLinkCreate(most ? 1 : 0, names, values, &state) == CUDA_SUCCESS);
    EXPECT(cuLinkAddData(state, CU_JIT_INPUT_PTX, const_cast<char*>(part.data()), part.size(), "part", 0, nullptr,
                         nullptr) == CUDA_SUCCESS);
    EXPECT(cuLinkComplete(state, &image, nullptr) == CUDA_SUCCESS);
    const int registers = runLinked(image);
    EXPECT(most ? registers <= most : registers > 32);
    EXPECT(cuLinkDestroy(state) == CUDA_SUCCESS);
  }
  const char* options[] = {"-arch=sm_80", "-maxrregcount=32"};
  nvJitLinkHandle linker = nullptr;
  size_t bytes = 0;
  EXPECT(nvJitLinkCreate(&linker, 2, options) == NVJITLINK_SUCCESS);
  EXPECT(nvJitLinkAddData(linker, NVJITLINK_INPUT_PTX, part.data(), part.size(), "part") == NVJITLINK_SUCCESS);
  EXPECT(nvJitLinkComplete(linker) == NVJITLINK_SUCCESS);
  EXPECT(nvJitLinkGetLinkedCubinSize(linker, &bytes) == NVJITLINK_SUCCESS);
  std::vector<char> cubin(bytes);
  EXPECT(nvJitLinkGetLinkedCubin(linker, cubin.data()) == NVJITLINK_SUCCESS);
  EXPECT(runLinked(cubin.data()) <= 32);
  EXPECT(nvJitLinkDestroy(&linker) == NVJITLINK_SUCCESS);
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
  const char* withoutLto[] = {"-arch=sm_80", "-ptx"};
  EXPECT(nvJitLinkCreate(&linker, 2, withoutLto) == NVJITLINK_ERROR_UNRECOGNIZED_OPTION);
  EXPECT(nvJitLinkDestroy(&linker) == NVJITLINK_SUCCESS);
  EXPECT(nvJitLinkCreate(&linker, 1, unknown) == NVJITLINK_SUCCESS);
  const unsigned empty[] = {0xBA55ED50, 0x00100001, 0, 0};  // a fat binary of no images
  EXPECT(nvJitLinkAddData(linker, NVJITLINK_INPUT_FATBIN, empty, sizeof empty, "none") ==
         NVJITLINK_ERROR_UNRECOGNIZED_INPUT);
  EXPECT(nvJitLinkAddData(linker, NVJITLINK_INPUT_PTX, "no ptx", 6, "a.ptx") == NVJITLINK_ERROR_PTX_COMPILE);
  EXPECT(nvJitLinkAddData(linker, NVJITLINK_INPUT_LTOIR, "BC", 2, "b.ltoir") == NVJITLINK_ERROR_INCORRECT_INPUT_TYPE);
  EXPECT(nvJitLinkAddData(linker, NVJITLINK_INPUT_LTOIR, "\xed\x43\x4e\x7f of another", 15, "d.ltoir") ==
         NVJITLINK_ERROR_INCORRECT_INPUT_TYPE);
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
  linkNothing();
  linkToPtx();
  linkMixture();
  limits();
  refusals();
  return finish();
}
