// Kernels compiled at run time (NVRTC), loaded by the driver and launched: names, headers given as text, options,
// errors by the lines of the text, several threads at once, and no files left.
#include <cuda.h>
#include <nvrtc.h>
#include <stdlib.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "compiled_program.hpp"
#include "expect.hpp"

static void headersAndMacros() {
  const Compiled got = compile(
      "#include \"scale.h\"\n#include <deep/er.h>\n#include <cstdint>\n"
      "extern \"C\" __global__ void k(int* out) {\n"
      "  out[threadIdx.x] = scale(threadIdx.x) + DEEPER + N + (int)sizeof(std::uint8_t);\n}\n",
      "k.cu", {"--gpu-architecture=compute_80", "-DN=1000", "--std=c++17"},
      {"#include \"factor.h\"\n__device__ inline int scale(int x) { return x * FACTOR; }\n", "#define FACTOR 7\n",
       "#include \"er2.h\"\n", "#define DEEPER 100000\n", "#error this one would hide the language's own\n"},
      {"scale.h", "factor.h", "deep/er.h", "deep/er2.h", "cstdint"});
  EXPECT(got.result == NVRTC_SUCCESS);
  std::printf("%s", got.log.c_str());
  EXPECT(launched(got.ptx, "k") == 35 + 100000 + 1000 + 1);
  EXPECT(has(got.ptx, "k.cu") && !has(got.ptx, "ordito-source"));
}

/// Errors are found and names are told, but there is no code.
static void syntaxOnly() {
  const Compiled good = compile("extern \"C\" __global__ void k(int* out) { *out = 1; }", "k.cu",
                                {"-arch=sm_90", "--fdevice-syntax-only"});
  EXPECT(good.result == NVRTC_SUCCESS && has(good.ptx, ".target sm_90") && !has(good.ptx, ".entry"));
  const Compiled bad = compile("__global__ void k(int* out) { *out = missing; }", "k.cu", {"-fdevice-syntax-only"});
  EXPECT(bad.result == NVRTC_ERROR_COMPILATION && has(bad.log, "missing"));
}

/// A text that declares CUDA's language itself where the compiler says that it is clang, as Warp's does.
static void languageOfItsOwn() {
  const char* const text =
      "#ifdef __clang__\nstruct Place { unsigned x; };\nextern const __attribute__((device)) Place threadIdx;\n#endif\n"
      "extern \"C\" __global__ void k(int* out) { out[threadIdx.x] = FACTOR * (int)threadIdx.x; }\n";
  for (const char* factor : {"-DFACTOR=3", "-DFACTOR=4"}) {  // the second knows from the first
    const Compiled good = compile(text, "k.cu", {"-arch=sm_80", factor});
    EXPECT(good.result == NVRTC_SUCCESS);
    EXPECT(launched(good.ptx, "k") == 5 * (factor[9] - '0'));
  }
  const Compiled bad = compile(text, "k.cu", {"-arch=sm_80"});
  EXPECT(bad.result == NVRTC_ERROR_COMPILATION && has(bad.log, "FACTOR") && has(bad.log, "k.cu(5)"));
  const Compiled other = compile("#ifndef __clang__\n#error no\n#endif\n", "k.cu", {"-arch=sm_80"});
  EXPECT(other.result == NVRTC_SUCCESS);
}

/// The host finds static variables of the text by their plain names, and what it writes there is read.
static void staticVariables() {
  const Compiled got = compile(
      "static __constant__ struct { int first, second; } settings[2];\n"
      "static __device__ int offset = 3;\n"
      "static const int table[2] = {4, 5};\n"
      "extern \"C\" __global__ void k(int* out) {\n"
      "  out[threadIdx.x] = settings[1].second * (int)threadIdx.x + offset + table[1];\n}\n",
      "k.cu", {"--gpu-architecture=compute_80"});
  EXPECT(got.result == NVRTC_SUCCESS);
  std::printf("%s", got.log.c_str());
  EXPECT(!has(got.ptx, "table") && !has(got.ptx, "names_for_host"));
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  CUdeviceptr settings = 0, offset = 0, out = 0;
  size_t bytes = 0;
  EXPECT(cuModuleLoadData(&module, got.ptx.c_str()) == CUDA_SUCCESS);
  EXPECT(cuModuleGetFunction(&function, module, "k") == CUDA_SUCCESS);
  EXPECT(cuModuleGetGlobal(&settings, &bytes, module, "settings") == CUDA_SUCCESS && bytes == 4 * sizeof(int));
  EXPECT(cuModuleGetGlobal(&offset, &bytes, module, "offset") == CUDA_SUCCESS && bytes == sizeof(int));
  EXPECT(cuMemAlloc(&out, 32 * sizeof(int)) == CUDA_SUCCESS);
  const int values[] = {0, 0, 0, 100};
  EXPECT(cuMemcpyHtoD(settings, values, sizeof values) == CUDA_SUCCESS);
  int result[32] = {}, was = 0;
  EXPECT(cuMemcpyDtoH(&was, offset, sizeof was) == CUDA_SUCCESS && was == 3);
  void* parameters[] = {&out};
  EXPECT(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, nullptr, parameters, nullptr) == CUDA_SUCCESS);
  EXPECT(cuMemcpyDtoH(result, out, sizeof result) == CUDA_SUCCESS);
  EXPECT(result[5] == 508);
  EXPECT(cuMemFree(out) == CUDA_SUCCESS && cuModuleUnload(module) == CUDA_SUCCESS);
}

/// Wheels bring NVIDIA's headers of halves along, whose functions have no bodies for a compiler at run time: ours are
/// taken. Placement new needs no header.
static void broughtHeaders(const std::filesystem::path& temporary) {
  const std::filesystem::path header = temporary / "cuda_fp16.h";
  std::ofstream(header) << "struct __half { short x; };\n__device__ __half __habs(__half);\n";
  const std::string folder = "-I" + temporary.string();
  const Compiled got = compile(
      "#include <cuda_fp16.h>\n"
      "extern \"C\" __global__ void k(int* out) {\n"
      "  __half h;\n  new (&h) __half(-2.5f * threadIdx.x);\n  out[threadIdx.x] = __habs(h) < __half(12.0f) ? 1 : "
      "(int)(2 * __half2float(__habs(h)));\n}\n",
      "k.cu", {"--gpu-architecture=compute_80", folder.c_str()});
  std::filesystem::remove(header);
  EXPECT(got.result == NVRTC_SUCCESS);
  std::printf("%s", got.log.c_str());
  EXPECT(launched(got.ptx, "k") == 25);
  EXPECT(has(got.ptx, "abs.f16"));
}

/// bfloat16's header brings halves along, and the approximate tangent is there for GPUs without the instruction, too.
static void halvesAndBfloats() {
  for (const char* gpu : {"--gpu-architecture=compute_70", "--gpu-architecture=compute_90"}) {
    const Compiled got = compile(
        "#include <cuda_bf16.h>\n"
        "extern \"C\" __global__ void k(int* out) {\n"
        "  const __half h = 0.25f * threadIdx.x;\n"
        "  out[threadIdx.x] = (int)(1000 * (float)htanh_approx(__nv_bfloat16(h))) / 10 + (int)(100 * "
        "(float)htanh_approx(h));\n}\n",
        "k.cu", {gpu});
    EXPECT(got.result == NVRTC_SUCCESS);
    std::printf("%s", got.log.c_str());
    EXPECT(launched(got.ptx, "k") == 84 + 84);
  }
}

static void loweredNames() {
  nvrtcProgram program = nullptr;
  const char* text =
      "template <typename T, int N> __global__ void fill(T* out) { out[threadIdx.x] = N + threadIdx.x; }\n"
      "namespace deep { __constant__ int table[4]; template <class T> struct In {}; }\n"
      "template <typename T> __global__ void wide(deep::In<T>*, int) {}\n";
  EXPECT(nvrtcCreateProgram(&program, text, nullptr, 0, nullptr, nullptr) == NVRTC_SUCCESS);
  const char* name = "";
  EXPECT(nvrtcGetLoweredName(program, "fill<int, 3>", &name) == NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION);
  for (const char* expression : {"fill<int, 3>", "&deep::table", "wide<deep::In<float> >"})
    EXPECT(nvrtcAddNameExpression(program, expression) == NVRTC_SUCCESS);
  for (const char* standard : {"--std=c++11", "--std=c++17"}) {
    EXPECT(nvrtcCompileProgram(program, 1, &standard) == NVRTC_SUCCESS);
    std::printf("%s", logOf(program).c_str());
    EXPECT(nvrtcGetLoweredName(program, "fill<int, 3>", &name) == NVRTC_SUCCESS);
    EXPECT(launched(ptxOf(program), name) == 8);
    EXPECT(nvrtcGetLoweredName(program, "&deep::table", &name) == NVRTC_SUCCESS);
    EXPECT(std::strcmp(name, "_ZN4deep5tableE") == 0);
    EXPECT(nvrtcGetLoweredName(program, "wide<deep::In<float> >", &name) == NVRTC_SUCCESS && has(name, "wide"));
    EXPECT(!has(ptxOf(program), "__ordito_name"));
  }
  EXPECT(nvrtcGetLoweredName(program, "fill<int, 4>", &name) == NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID);
  EXPECT(nvrtcAddNameExpression(program, "fill<int, 4>") == NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION);
  EXPECT(nvrtcDestroyProgram(&program) == NVRTC_SUCCESS);
}

static void errors() {
  Compiled got = compile("__global__ void k(int* out) {\n  *out = 1;\n  *out = unknown;\n}\n", "faulty.cu", {});
  EXPECT(got.result == NVRTC_ERROR_COMPILATION && got.ptx.empty());
  EXPECT(has(got.log, "faulty.cu(3): error: identifier \"unknown\" is undefined"));
  got = compile("#include \"h.h\"\n__global__ void k() {}\n", "a.cu", {}, {"\nint broken = ;\n"}, {"h.h"});
  EXPECT(has(got.log, "h.h(2): error:") && has(got.log, "included from a.cu:1:"));
  got = compile("__global__ void k() {}", nullptr, {"--what-is-this"});
  EXPECT(got.result == NVRTC_ERROR_INVALID_OPTION && has(got.log, "--what-is-this"));
  got = compile("#include \"missing.h\"\n", nullptr, {});
  EXPECT(got.result == NVRTC_ERROR_COMPILATION &&
         has(got.log, "default_program(1): catastrophic error: cannot open source file \"missing.h\""));
  got = compile("__global__ void k(int* out) {\n  int idle;\n  *out = 1;\n}\n", "warns.cu", {});
  EXPECT(got.result == NVRTC_SUCCESS && has(got.log, "warns.cu(2): warning: variable \"idle\" was declared but never"));
  nvrtcProgram program = nullptr;
  EXPECT(nvrtcCreateProgram(&program, nullptr, nullptr, 0, nullptr, nullptr) == NVRTC_ERROR_INVALID_INPUT);
  EXPECT(nvrtcCompileProgram(program, 0, nullptr) == NVRTC_ERROR_INVALID_PROGRAM);
  EXPECT(std::strcmp(nvrtcGetErrorString(NVRTC_ERROR_COMPILATION), "NVRTC_ERROR_COMPILATION") == 0);
}

/// Without an #include; what a program defines itself is taken instead.
static void moveAndForward() {
  const char* uses =
      "struct Owner { int* at; __device__ Owner(int* p) : at(p) {} __device__ Owner(Owner&& o) : at(o.at) { o.at = 0; "
      "} };\n"
      "template <class T> __device__ int count(T&& x) { return sizeof(std::forward<T>(x)); }\n"
      "extern \"C\" __global__ void k(int* out) {\n"
      "  Owner a(out), b(std::move(a));\n"
      "  out[threadIdx.x] = (a.at == 0) + count(2.0) * (b.at == out);\n}\n";
  const char* own =
      "namespace std { template <class T> __device__ int move(T&&) { return 5; } }\n"
      "extern \"C\" __global__ void k(int* out) { out[threadIdx.x] = std::move(3); }\n";
  EXPECT(launched(compile(uses, "moves.cu", {}).ptx, "k") == 9);
  EXPECT(launched(compile((std::string("#include <utility>\n") + uses).c_str(), "moves.cu", {}).ptx, "k") == 9);
  EXPECT(launched(compile(own, "own.cu", {}).ptx, "k") == 5);
  EXPECT(compile(uses, "moves.cu", {"--builtin-move-forward=false"}).result == NVRTC_ERROR_COMPILATION);
}

static void defaultDevice() {
  const char* text =
      "#include <iterator>\n#include <utility>\n"  // the host's functions in them stay so
      "int twice(int x) { return 2 * x; }\nextern \"C\" __global__ void k(int* out) { out[threadIdx.x] = "
      "twice(threadIdx.x); }\n";
  EXPECT(compile(text, "d.cu", {}).result == NVRTC_ERROR_COMPILATION);
  const Compiled got = compile(text, "d.cu", {"--device-as-default-execution-space"});
  std::printf("%s", got.log.c_str());
  EXPECT(got.result == NVRTC_SUCCESS && launched(got.ptx, "k") == 10);
}

static void machineCode() {
  nvrtcProgram program = nullptr;
  const char* text = "extern \"C\" __global__ void k(int* out) { out[threadIdx.x] = __CUDA_ARCH__; }\n";
  EXPECT(nvrtcCreateProgram(&program, text, "m.cu", 0, nullptr, nullptr) == NVRTC_SUCCESS);
  const char *virtualGpu = "--gpu-architecture=compute_75", *realGpu = "--gpu-architecture=sm_75";
  size_t bytes = 1;
  EXPECT(nvrtcCompileProgram(program, 1, &virtualGpu) == NVRTC_SUCCESS);
  EXPECT(nvrtcGetCUBINSize(program, &bytes) == NVRTC_SUCCESS && bytes == 0);
  EXPECT(nvrtcCompileProgram(program, 1, &realGpu) == NVRTC_SUCCESS);
  EXPECT(nvrtcGetCUBINSize(program, &bytes) == NVRTC_SUCCESS && bytes > 0);
  std::string cubin(bytes, '\0');
  EXPECT(nvrtcGetCUBIN(program, cubin.data()) == NVRTC_SUCCESS && launched(cubin, "k") == 750);
  EXPECT(nvrtcGetLTOIRSize(program, &bytes) == NVRTC_SUCCESS && bytes == 0);
  EXPECT(nvrtcDestroyProgram(&program) == NVRTC_SUCCESS);
}

static void threads() {
  std::vector<std::thread> all;
  std::vector<Compiled> got(4);
  for (int i = 0; i < 4; ++i)
    all.emplace_back([i, &got] {
      const std::string value = "#define VALUE " + std::to_string(i);
      got[i] = compile("#include \"value.h\"\nextern \"C\" __global__ void k(int* out) { out[threadIdx.x] = VALUE; }\n",
                       "thread.cu", {"-arch=compute_70"}, {value.c_str()}, {"value.h"});
    });
  for (auto& thread : all) thread.join();
  for (int i = 0; i < 4; ++i) EXPECT(got[i].result == NVRTC_SUCCESS && launched(got[i].ptx, "k") == i);
}

int main() {
  std::string temporary = (std::filesystem::temp_directory_path() / "ordito-test-XXXXXX").string();
  EXPECT(mkdtemp(temporary.data()) != nullptr && setenv("TMPDIR", temporary.c_str(), 1) == 0);
  CUdevice device = 0;
  CUcontext context = nullptr;
  int major = 0, minor = 0, count = 0;
  EXPECT(cuInit(0) == CUDA_SUCCESS && cuDeviceGet(&device, 0) == CUDA_SUCCESS);
  EXPECT(cuCtxCreate(&context, 0, device) == CUDA_SUCCESS);
  EXPECT(nvrtcVersion(&major, &minor) == NVRTC_SUCCESS && major >= 12);
  EXPECT(nvrtcGetNumSupportedArchs(&count) == NVRTC_SUCCESS && count > 0);
  headersAndMacros();
  syntaxOnly();
  languageOfItsOwn();
  staticVariables();
  broughtHeaders(temporary);
  halvesAndBfloats();
  loweredNames();
  errors();
  moveAndForward();
  defaultDevice();
  machineCode();
  threads();
  EXPECT(std::filesystem::is_empty(temporary) && std::filesystem::remove(temporary));
  return finish();
}
