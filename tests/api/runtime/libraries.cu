// Kernels and variables of a library that is loaded at run time, from PTX.
#include <cstring>

#include "expect.hpp"

static const char* const kCode = R"(
.version 7.0
.target sm_50
.address_size 64
.visible .global .u32 factor = 3;
.visible .entry scale(.param .u64 out)
{
  .reg .u64 %p<3>;
  .reg .u32 %r<4>;
  ld.param.u64 %p1, [out];
  cvta.to.global.u64 %p2, %p1;
  mov.u32 %r1, %tid.x;
  ld.global.u32 %r2, [factor];
  mul.lo.u32 %r3, %r1, %r2;
  mad.wide.u32 %p2, %r1, 4, %p2;
  st.global.u32 [%p2], %r3;
  ret;
}
)";

int main() {
  cudaLibrary_t library = nullptr;
  EXPECT_OK(cudaLibraryLoadData(&library, kCode, nullptr, nullptr, 0, nullptr, nullptr, 0));
  unsigned int count = 0;
  EXPECT_OK(cudaLibraryGetKernelCount(&count, library));
  EXPECT(count == 1);
  cudaKernel_t kernel = nullptr, listed = nullptr;
  EXPECT_OK(cudaLibraryGetKernel(&kernel, library, "scale"));
  EXPECT_OK(cudaLibraryEnumerateKernels(&listed, 1, library));
  EXPECT(kernel == listed);
  unsigned int* factor = nullptr;
  size_t bytes = 0;
  EXPECT_OK(cudaLibraryGetGlobal(reinterpret_cast<void**>(&factor), &bytes, library, "factor"));
  EXPECT(bytes == 4);
  const unsigned int five = 5;
  EXPECT_OK(cudaMemcpy(factor, &five, 4, cudaMemcpyHostToDevice));
  unsigned int* out = nullptr;
  EXPECT_OK(cudaMallocManaged(&out, 32 * sizeof(unsigned int)));
  void* arguments[] = {&out};
  EXPECT_OK(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(1), dim3(32), arguments, 0, nullptr));
  EXPECT_OK(cudaDeviceSynchronize());
  for (unsigned int i = 0; i < 32; ++i) EXPECT(out[i] == 5 * i);
  EXPECT_OK(cudaLibraryUnload(library));
  return finish();
}
