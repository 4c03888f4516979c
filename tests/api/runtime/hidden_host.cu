// A program of NVRTC has no host's headers in scope: it defines integers of a width, namespace std and functions of C
// itself, or includes the host's headers, with and without the precompiled prelude.
#include <stdlib.h>

#include <filesystem>
#include <string>

#include "compiled_program.hpp"
#include "expect.hpp"

/// `long` is `long long` or `long`, which are of one size and two types.
static std::string integers(const std::string& word) {
  return "typedef char int8_t;\ntypedef short int16_t;\ntypedef int int32_t;\ntypedef " + word +
         " int64_t;\n"
         "typedef unsigned char uint8_t;\ntypedef unsigned short uint16_t;\ntypedef unsigned int uint32_t;\n"
         "typedef unsigned " +
         word + " uint64_t;\ntypedef unsigned int uint;\ntypedef unsigned " + word + " ulong;\ntypedef " + word +
         " intptr_t;\ntypedef unsigned " + word +
         " uintptr_t;\n"
         "extern \"C\" __global__ void k(int* out) {\n"
         "  const uint64_t big = ((uint64_t)1 << 40) + threadIdx.x;\n"
         "  out[threadIdx.x] = (int)(big >> 38) + (uint8_t)261 + (int)sizeof(ulong) + (int16_t)65537;\n}\n";
}

static const char* const kStandardLibrary =
    "namespace std {\n"
    "template <typename T, T V> struct integral_constant { static constexpr T value = V; };\n"
    "template <typename A, typename B> struct is_same : integral_constant<bool, false> {};\n"
    "template <typename A> struct is_same<A, A> : integral_constant<bool, true> {};\n"
    "template <bool, typename T = void> struct enable_if {};\n"
    "template <typename T> struct enable_if<true, T> { typedef T type; };\n"
    "template <typename A, typename B> struct pair { A first; B second; };\n"
    "template <typename T> struct complex { T re, im; };\n"
    "template <typename T> struct numeric_limits;\n"
    "template <> struct numeric_limits<float> { static __device__ float max() { return 96; } };\n"
    "enum float_round_style { round_to_nearest = 1 };\n"
    "}\n"
    "template <typename T> __device__ typename std::enable_if<std::is_same<T, float>::value, T>::type most() {\n"
    "  return std::numeric_limits<T>::max();\n}\n"
    "extern \"C\" __global__ void index(int*) {}\nextern \"C\" __global__ void time(int*) {}\n"
    "extern \"C\" __global__ void remove(int*) {}\nextern \"C\" __global__ void select(int*) {}\n"
    "extern \"C\" __global__ void k(int* out) {\n"
    "  const std::pair<int, int> p = {3, 4};\n"
    "  out[threadIdx.x] = (int)most<float>() + p.first + p.second + (int)pow(2, 3) + (int)sqrt(16);\n}\n";

/// Kernels called as functions of the host's C library are: of stdlib.h, of string.h, and of glibc's math.h.
static std::string namesOfTheHost() {
  std::string text;
  for (const char* name : {"rand", "random", "div", "exit", "atof", "system", "qsort", "bsearch", "strlen", "strcat",
                           "fadd", "fmul", "fdiv", "gamma", "canonicalize", "significand", "roundeven", "totalorder"}) {
    text += std::string("extern \"C\" __global__ void ") + name + "(float* p, int n) { p[threadIdx.x] = n; }\n";
  }
  return text +
         "struct div_t { int q, r; };\n__device__ div_t divided(int a, int b) { return {a / b, a % b}; }\n"
         "extern \"C\" __global__ void k(int* out) {\n"
         "  double s, c;\n  sincos(0.0, &s, &c);\n"
         "  out[threadIdx.x] = divided(7, 2).q + (int)c + (int)exp10(1.0) + (int)j0(0.0) + (int)rsqrt(1.0);\n}\n";
}

static const char* const kIncluded =
    "#include <stdint.h>\n#include <cmath>\n#include <cstdint>\n#include <limits>\n#include <stdio.h>\n"
    "#include <strings.h>\n#include <sys/types.h>\n#include <time.h>\n#include <type_traits>\n"
    "#include <math.h>\n#include <stdlib.h>\n#include <cstdlib>\n#include <string.h>\n#include <cstring>\n"
    "static_assert(sizeof(std::div_t) == 8 && std::is_same<decltype(rand()), int>::value, \"stdlib.h\");\n"
    "static_assert(std::is_same<decltype(std::strlen(\"\")), size_t>::value && M_PI > 3, \"string.h, math.h\");\n"
    "extern \"C\" __global__ void k(int* out) {\n"
    "  static_assert(std::is_same<uint64_t, unsigned long>::value && sizeof(std::intptr_t) == 8, \"integers\");\n"
    "  const clock_t begin = clock();\n"
    "  out[threadIdx.x] = std::numeric_limits<uint8_t>::max() + (int)std::sqrt(16.0f) + (clock() < begin);\n}\n";

static const char* const kUnincluded =
    "extern \"C\" __global__ void k(int* out) {\n"
    "  size_t bytes = sizeof(ptrdiff_t);\n  void* memory = malloc(bytes);\n  memset(memory, 1, bytes);\n"
    "  if (memory == NULL) printf(\"nothing\\n\");\n  assert(bytes == 8);\n"
    "  out[threadIdx.x] = *(char*)memory + abs(-3) + (int)fmaxf(2.0f, 1.0f) + isnan(1.0f) + (clock() == -1);\n"
    "  free(memory);\n}\n";

static void gives(const std::string& text, const char* standard, int expected) {
  const std::string option = std::string("--std=") + standard;
  const Compiled got = compile(text.c_str(), "k.cu", {"--gpu-architecture=compute_80", option.c_str()});
  std::printf("%s", got.log.c_str());
  EXPECT(got.result == NVRTC_SUCCESS && launched(got.ptx, "k") == expected);
}

int main() {
  std::string cache = (std::filesystem::temp_directory_path() / "ordito-test-XXXXXX").string();
  CUdevice device = 0;
  CUcontext context = nullptr;
  EXPECT(mkdtemp(cache.data()) != nullptr && setenv("ORDITO_CACHE", cache.c_str(), 1) == 0);
  EXPECT(cuInit(0) == CUDA_SUCCESS && cuDeviceGet(&device, 0) == CUDA_SUCCESS);
  EXPECT(cuCtxCreate(&context, 0, device) == CUDA_SUCCESS);
  // The prelude is kept from the second compilation of a standard on.
  for (const char* standard : {"c++14", "c++17", "c++20"}) {
    gives(integers("long long"), standard, 4 + 5 + 8 + 1);
    gives(integers("long"), standard, 4 + 5 + 8 + 1);
    gives(kStandardLibrary, standard, 96 + 7 + 8 + 4);
    gives(namesOfTheHost(), standard, 3 + 1 + 10 + 1 + 1);
    gives(kIncluded, standard, 255 + 4);
    gives(kUnincluded, standard, 1 + 3 + 2);
  }
  EXPECT(std::filesystem::remove_all(cache) > 0);
  return finish();
}
