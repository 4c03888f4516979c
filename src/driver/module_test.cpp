// Modules: variables and their initial values, linking, and images that are none.
#include <cstring>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "driver/extensions.hpp"
#include "driver/fatbin.hpp"
#include "driver/test_kernels.hpp"

namespace ordito::driver {
namespace {

using Modules = DriverTest;

TEST_F(Modules, VariablesHaveTheirInitialValues) {
  CUdeviceptr out = allocate(32 * 4);
  ASSERT_EQ(start(kernel("variables"), 1, 32, 0, nullptr, out), CUDA_SUCCESS);
  float host[32];
  ASSERT_EQ(cuMemcpyDtoH(host, out, sizeof host), CUDA_SUCCESS);
  for (int i = 0; i < 32; ++i) EXPECT_EQ(host[i], static_cast<float>(i % 4 + 1 + 41));
}

TEST_F(Modules, VariablesCanBeWritten) {
  CUdeviceptr counter = 0, pointer = 0, value = 0;
  size_t bytes = 0;
  ASSERT_EQ(cuModuleGetGlobal(&counter, &bytes, module_, "counter"), CUDA_SUCCESS);
  EXPECT_EQ(bytes, 4u);
  ASSERT_EQ(cuModuleGetGlobal(&pointer, nullptr, module_, "pointer"), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpyDtoH(&value, pointer, 8), CUDA_SUCCESS);
  EXPECT_EQ(value, counter) << "the initialiser is an address";
  ASSERT_EQ(cuMemsetD32(counter, 100, 1), CUDA_SUCCESS);
  CUdeviceptr out = allocate(4);
  ASSERT_EQ(start(kernel("variables"), 1, 1, 0, nullptr, out), CUDA_SUCCESS);
  float host = 0;
  ASSERT_EQ(cuMemcpyDtoH(&host, out, 4), CUDA_SUCCESS);
  EXPECT_EQ(host, 101.0f);
  EXPECT_EQ(cuModuleGetGlobal(&counter, nullptr, module_, "nothing"), CUDA_ERROR_NOT_FOUND);
}

TEST_F(Modules, AVariableCanBeBoundToHostMemory) {
  unsigned host = 0;
  CUmodule bound = nullptr;
  ASSERT_EQ(orditoModuleLoadStatic(&bound, kKernels, "test"), CUDA_SUCCESS);
  ASSERT_EQ(orditoModuleBindVariable(bound, "counter", &host), CUDA_SUCCESS);
  CUdeviceptr address = 0;
  ASSERT_EQ(cuModuleGetGlobal(&address, nullptr, bound, "counter"), CUDA_SUCCESS);
  EXPECT_EQ(address, reinterpret_cast<CUdeviceptr>(&host));
  EXPECT_EQ(host, 41u);
  EXPECT_EQ(orditoModuleBindVariable(bound, "table", &host), CUDA_ERROR_ILLEGAL_STATE);
}

std::string fatbinOf(const std::string& text, uint32_t arch) {
  const FatbinImage image{FatbinEntry::Kind::Ptx, arch, "k.cu", text, FatbinPacking::Plain};
  const std::vector<std::byte> bytes = writeFatbin({&image, 1});
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST_F(Modules, BadImagesAreTold) {
  CUmodule bad = nullptr;
  EXPECT_EQ(cuModuleLoadData(&bad, "garbage"), CUDA_ERROR_INVALID_IMAGE);
  EXPECT_EQ(cuModuleLoadData(&bad, ""), CUDA_ERROR_INVALID_IMAGE);
  EXPECT_EQ(cuModuleLoadData(&bad, ".version 6.0\n.target sm_50\nfoo"), CUDA_ERROR_INVALID_PTX);
  alignas(8) unsigned char truncated[316] = {0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0, 0xff};
  EXPECT_EQ(cuModuleLoadFatBinary(&bad, truncated), CUDA_ERROR_INVALID_IMAGE);
  EXPECT_EQ(cuModuleUnload(nullptr), CUDA_ERROR_INVALID_HANDLE);
  CUfunction function = nullptr;
  EXPECT_EQ(cuModuleGetFunction(&function, module_, "nothing"), CUDA_ERROR_NOT_FOUND);
}

/// Code for an sm_90 on a younger and on an older GPU than that.
TEST_F(Modules, TargetsAboveTheGpuAreRefusedOnRequest) {
  const char* text = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n";
  const std::string container = fatbinOf(text, 90);
  CUmodule loaded = nullptr;
  CUfunction function = nullptr;
  EXPECT_EQ(cuModuleLoadData(&loaded, text), CUDA_SUCCESS);
  setenv("ORDITO_TARGETS", "strict", 1);
  EXPECT_EQ(cuModuleLoadData(&loaded, text), CUDA_ERROR_INVALID_PTX);
  CUresult result = cuModuleLoadFatBinary(&loaded, container.data());
  if (result == CUDA_SUCCESS) result = cuModuleGetFunction(&function, loaded, "k");
  EXPECT_EQ(result, CUDA_ERROR_NO_BINARY_FOR_GPU);
  unsetenv("ORDITO_TARGETS");
  EXPECT_EQ(cuModuleLoadFatBinary(&loaded, container.data()), CUDA_SUCCESS);
  EXPECT_EQ(cuModuleGetFunction(&function, loaded, "k"), CUDA_SUCCESS);
}

TEST_F(Modules, TheMessageReachesTheErrorLog) {
  char log[256] = "";
  CUjit_option names[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  CUmodule bad = nullptr;
  EXPECT_EQ(cuModuleLoadDataEx(&bad, ".version 6.0\n.target sm_50\nfoo", 2, names, values), CUDA_ERROR_INVALID_PTX);
  EXPECT_NE(std::string(log), "");
}

/// What a kernel that computes a·b + c makes of (1 + 2^-12)² - (1 + 2^-11): 2^-24 if it rounds once, else 0.
float productAndSum(const std::vector<std::pair<CUjit_option, uintptr_t>>& options) {
  constexpr const char* kText = R"(
.version 7.0
.target sm_50
.address_size 64
.visible .entry k(.param .u64 io) {
  .reg .f32 %f<4>;
  .reg .u64 %p;
  ld.param.u64 %p, [io];
  ld.global.v2.f32 {%f0, %f1}, [%p];
  mul.f32 %f2, %f0, %f0;
  sub.f32 %f3, %f2, %f1;
  st.global.f32 [%p], %f3;
  ret;
}
)";
  std::vector<CUjit_option> names;
  std::vector<void*> values;
  for (const auto& [name, value] : options) names.push_back(name), values.push_back(reinterpret_cast<void*>(value));
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  CUdeviceptr memory = 0;
  float numbers[] = {1 + 0x1p-12f, 1 + 0x1p-11f};
  EXPECT_EQ(cuModuleLoadDataEx(&module, kText, static_cast<unsigned>(names.size()), names.data(), values.data()),
            CUDA_SUCCESS);
  EXPECT_EQ(cuModuleGetFunction(&function, module, "k"), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAlloc(&memory, sizeof numbers), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyHtoD(memory, numbers, sizeof numbers), CUDA_SUCCESS);
  void* arguments[] = {&memory};
  EXPECT_EQ(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyDtoH(numbers, memory, sizeof numbers), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(memory), CUDA_SUCCESS);
  return numbers[0];
}

/// Each as an H100's driver does it.
TEST_F(Modules, ProductsAreFusedUnlessNothingIsOptimised) {
  EXPECT_EQ(productAndSum({}), 0x1p-24f);
  EXPECT_EQ(productAndSum({{CU_JIT_OPTIMIZATION_LEVEL, 1}}), 0x1p-24f);
  EXPECT_EQ(productAndSum({{CU_JIT_OPTIMIZATION_LEVEL, 0}}), 0);
  EXPECT_EQ(productAndSum({{CU_JIT_GENERATE_DEBUG_INFO, 1}}), 0);
  EXPECT_EQ(productAndSum({{CU_JIT_FMA, 0}}), 0x1p-24f);
}

constexpr const char* kCaller = R"(
.version 7.0
.target sm_50
.address_size 64
.extern .global .align 4 .u32 shared_counter;
.extern .func (.param .b32 result) twice(.param .b32 x);
.visible .entry caller(.param .u64 out) {
  .reg .u32 %r<3>;
  .reg .u64 %a;
  ld.param.u64 %a, [out];
  ld.global.u32 %r0, [shared_counter];
  {
    .param .b32 argument;
    .param .b32 answer;
    st.param.b32 [argument], %r0;
    call (answer), twice, (argument);
    ld.param.b32 %r1, [answer];
  }
  st.global.u32 [%a], %r1;
  ret;
}
)";

constexpr const char* kCallee = R"(
.version 7.0
.target sm_50
.address_size 64
.visible .global .align 4 .u32 unrelated = 7;
.visible .global .align 4 .u32 shared_counter = 21;
.visible .func (.param .b32 result) twice(.param .b32 x) {
  .reg .u32 %r<2>;
  ld.param.b32 %r0, [x];
  add.u32 %r1, %r0, %r0;
  st.param.b32 [result], %r1;
  ret;
}
)";

/// Joins the parts and loads the product.
CUresult linkParts(std::initializer_list<const char*> parts, CUmodule* linked) {
  CUlinkState state = nullptr;
  CUresult bad = cuLinkCreate(0, nullptr, nullptr, &state);
  for (const char* part : parts)
    if (!bad)
      bad = cuLinkAddData(state, CU_JIT_INPUT_PTX, const_cast<char*>(part), std::strlen(part) + 1, "part", 0, nullptr,
                          nullptr);
  void* image = nullptr;
  size_t bytes = 0;
  if (!bad) bad = cuLinkComplete(state, &image, &bytes);
  if (!bad) bad = cuModuleLoadData(linked, image);
  return bad ? bad : cuLinkDestroy(state);
}

TEST_F(Modules, SeparatePartsAreLinkedByName) {
  CUmodule linked = nullptr;
  ASSERT_EQ(linkParts({kCaller, kCallee}, &linked), CUDA_SUCCESS);
  CUfunction caller = nullptr;
  ASSERT_EQ(cuModuleGetFunction(&caller, linked, "caller"), CUDA_SUCCESS);
  CUdeviceptr out = allocate(4);
  ASSERT_EQ(start(caller, 1, 1, 0, nullptr, out), CUDA_SUCCESS);
  EXPECT_EQ(read(out, 1)[0], 42u);
}

// Linkers of PTX look at names only: Numba declares a result also for functions that it is told to have none.
TEST_F(Modules, AResultThatTheOtherPartDoesNotHaveIsNotSet) {
  constexpr const char* kWithout = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .global .align 4 .u32 shared_counter = 21;
.visible .func twice(.param .b32 x) {
  .reg .u32 %r;
  ld.param.u32 %r, [x];
  add.u32 %r, %r, %r;
  st.global.u32 [shared_counter], %r;
  ret;
}
)";
  CUmodule linked = nullptr;
  ASSERT_EQ(linkParts({kCaller, kWithout}, &linked), CUDA_SUCCESS);
  CUfunction caller = nullptr;
  ASSERT_EQ(cuModuleGetFunction(&caller, linked, "caller"), CUDA_SUCCESS);
  EXPECT_EQ(start(caller, 1, 1, 0, nullptr, allocate(4)), CUDA_SUCCESS);
  CUdeviceptr counter = 0;
  ASSERT_EQ(cuModuleGetGlobal(&counter, nullptr, linked, "shared_counter"), CUDA_SUCCESS);
  EXPECT_EQ(read(counter, 1)[0], 42u);
}

// As Numba's cooperative groups do: block 0 reads what the other blocks wrote before the barrier.
constexpr const char* kGridWaiter = R"(
.version 7.0
.target sm_70
.address_size 64
.extern .func (.param .b64 handle) cudaCGGetIntrinsicHandle(.param .b32 scope);
.extern .func (.param .b32 error) cudaCGSynchronize(.param .b64 handle, .param .b32 flags);
.visible .entry waiter(.param .u64 out) {
  .reg .pred %p;
  .reg .u32 %b, %n, %sum, %r;
  .reg .u64 %a, %at, %h;
  ld.param.u64 %a, [out];
  mov.u32 %b, %ctaid.x;
  mad.wide.u32 %at, %b, 4, %a;
  add.u32 %r, %b, 1;
  st.global.u32 [%at], %r;
  {
    .param .b32 scope;
    .param .b64 handle;
    st.param.b32 [scope], 1;
    call (handle), cudaCGGetIntrinsicHandle, (scope);
    ld.param.b64 %h, [handle];
  }
  {
    .param .b64 handle;
    .param .b32 flags;
    .param .b32 error;
    st.param.b64 [handle], %h;
    st.param.b32 [flags], 0;
    call (error), cudaCGSynchronize, (handle, flags);
    ld.param.b32 %r, [error];
  }
  setp.ne.u32 %p, %b, 0;
  @%p ret;
  ld.global.u32 %sum, [%a+4];
  ld.global.u32 %n, [%a+8];
  add.u32 %sum, %sum, %n;
  add.u32 %sum, %sum, %r;
  st.global.u32 [%a], %sum;
  ret;
}
)";

TEST_F(Modules, TheLinkerBringsGridGroups) {
  CUlinkState link = nullptr;
  ASSERT_EQ(cuLinkCreate(0, nullptr, nullptr, &link), CUDA_SUCCESS);
  char archive[] = "!<arch>\n";
  EXPECT_EQ(cuLinkAddData(link, CU_JIT_INPUT_LIBRARY, archive, 8, "libcudadevrt.a", 0, nullptr, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuLinkAddData(link, CU_JIT_INPUT_LIBRARY, archive, 7, "broken.a", 0, nullptr, nullptr),
            CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT_EQ(cuLinkAddData(link, CU_JIT_INPUT_PTX, const_cast<char*>(kGridWaiter), std::strlen(kGridWaiter) + 1, "w", 0,
                          nullptr, nullptr),
            CUDA_SUCCESS);
  void* image = nullptr;
  ASSERT_EQ(cuLinkComplete(link, &image, nullptr), CUDA_SUCCESS);
  CUmodule linked = nullptr;
  ASSERT_EQ(cuModuleLoadData(&linked, image), CUDA_SUCCESS) << orditoLastErrorMessage();
  ASSERT_EQ(cuLinkDestroy(link), CUDA_SUCCESS);
  CUfunction waiter = nullptr;
  ASSERT_EQ(cuModuleGetFunction(&waiter, linked, "waiter"), CUDA_SUCCESS);
  CUdeviceptr out = allocate(12);
  void* arguments[] = {&out};
  ASSERT_EQ(cuLaunchCooperativeKernel(waiter, 3, 1, 1, 32, 1, 1, 0, nullptr, arguments), CUDA_SUCCESS);
  EXPECT_EQ(read(out, 1)[0], 5u);
  ASSERT_EQ(cuLaunchKernel(waiter, 3, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr), CUDA_SUCCESS);
  EXPECT_GE(read(out, 1)[0], 1u) << "not cooperative: an error is answered, and nobody waits";
}

// As XLA's conditionals do: the driver brings what sets a condition of a graph, the number that its handle points to.
TEST_F(Modules, ConditionsAreSetByWhatTheDriverBrings) {
  const char* text = R"(
.version 8.0
.target sm_50
.address_size 64
.extern .func cudaGraphSetConditional(.param .b64 condition, .param .b32 value);
.visible .entry set(.param .u64 condition) {
  .param .b64 first;
  .param .b32 second;
  .reg .b64 %a;
  ld.param.u64 %a, [condition];
  st.param.b64 [first], %a;
  st.param.b32 [second], 7;
  call cudaGraphSetConditional, (first, second);
  ret;
}
)";
  CUmodule module = nullptr;
  ASSERT_EQ(cuModuleLoadData(&module, text), CUDA_SUCCESS) << orditoLastErrorMessage();
  CUfunction set = nullptr;
  ASSERT_EQ(cuModuleGetFunction(&set, module, "set"), CUDA_SUCCESS);
  CUdeviceptr number = allocate(4);
  ASSERT_EQ(start(set, 1, 1, 0, nullptr, number), CUDA_SUCCESS) << orditoLastErrorMessage();
  EXPECT_EQ(read(number, 1)[0], 7u);
}

TEST_F(Modules, AnUnresolvedVariableIsNamed) {
  CUmodule alone = nullptr;
  EXPECT_NE(cuModuleLoadData(&alone, kCaller), CUDA_SUCCESS);
  EXPECT_NE(std::string(orditoLastErrorMessage()).find("shared_counter"), std::string::npos)
      << orditoLastErrorMessage();
}

}  // namespace
}  // namespace ordito::driver
