// Texture and surface references of the driver API. Texture objects, which runtime programs use as well, are tested in
// tests/api/runtime/mipmaps.cu.
#include <gtest/gtest.h>

#include "cuda.h"

namespace {

constexpr const char* kPtx = R"(.version 7.0
.target sm_60
.address_size 64
.global .texref picture;
.global .surfref canvas;
.visible .entry look(.param .u64 to)
{
  .reg .b64 %rd<3>;
  .reg .b32 %r<2>;
  .reg .f32 %f<6>;
  ld.param.u64 %rd1, [to];
  mov.u32 %r1, %tid.x;
  cvt.rn.f32.u32 %f1, %r1;
  tex.1d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [picture, {%f1}];
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd1, %rd1, %rd2;
  st.global.f32 [%rd1], %f2;
  ret;
}
.visible .entry draw()
{
  .reg .b32 %r<3>;
  mov.u32 %r1, %tid.x;
  shl.b32 %r2, %r1, 2;
  sust.b.1d.b32.trap [canvas, {%r2}], %r1;
  ret;
}
)";

class References : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&context_, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxSetCurrent(context_), CUDA_SUCCESS);
    ASSERT_EQ(cuModuleLoadData(&module_, kPtx), CUDA_SUCCESS);
    ASSERT_EQ(cuModuleGetTexRef(&reference_, module_, "picture"), CUDA_SUCCESS);
    ASSERT_EQ(cuMemAllocManaged(&out_, 64, CU_MEM_ATTACH_GLOBAL), CUDA_SUCCESS);
  }
  void TearDown() override {
    cuMemFree(out_);
    cuModuleUnload(module_);
    cuDevicePrimaryCtxReset(0);
  }
  void run(const char* kernel, unsigned threads) {
    CUfunction function = nullptr;
    ASSERT_EQ(cuModuleGetFunction(&function, module_, kernel), CUDA_SUCCESS);
    void* parameters[] = {&out_};
    ASSERT_EQ(cuLaunchKernel(function, 1, 1, 1, threads, 1, 1, 0, nullptr, parameters, nullptr), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  }
  const float* out() const { return reinterpret_cast<const float*>(out_); }

  CUcontext context_ = nullptr;
  CUmodule module_ = nullptr;
  CUtexref reference_ = nullptr;
  CUdeviceptr out_ = 0;
};

TEST_F(References, ReadAnArray) {
  CUarray array = nullptr;
  const CUDA_ARRAY_DESCRIPTOR shape = {4, 0, CU_AD_FORMAT_FLOAT, 1};
  ASSERT_EQ(cuArrayCreate(&array, &shape), CUDA_SUCCESS);
  const float texels[4] = {10, 20, 30, 40};
  ASSERT_EQ(cuMemcpyHtoA(array, 0, texels, sizeof texels), CUDA_SUCCESS);
  ASSERT_EQ(cuTexRefSetAddressMode(reference_, 0, CU_TR_ADDRESS_MODE_CLAMP), CUDA_SUCCESS);
  ASSERT_EQ(cuTexRefSetArray(reference_, array, CU_TRSA_OVERRIDE_FORMAT), CUDA_SUCCESS);
  run("look", 6);
  const float expected[6] = {10, 20, 30, 40, 40, 40};
  for (int k = 0; k < 6; ++k) EXPECT_EQ(out()[k], expected[k]);
  // What is said later counts from then on.
  ASSERT_EQ(cuTexRefSetFilterMode(reference_, CU_TR_FILTER_MODE_LINEAR), CUDA_SUCCESS);
  run("look", 2);
  EXPECT_EQ(out()[1], 15);
  CUarray asked = nullptr;
  EXPECT_EQ(cuTexRefGetArray(&asked, reference_), CUDA_SUCCESS);
  EXPECT_EQ(asked, array);
  EXPECT_EQ(cuArrayDestroy(array), CUDA_SUCCESS);
  EXPECT_EQ(cuArrayDestroy(array), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(References, AreTheSameEachTime) {
  CUtexref again = nullptr;
  EXPECT_EQ(cuModuleGetTexRef(&again, module_, "picture"), CUDA_SUCCESS);
  EXPECT_EQ(again, reference_);
  EXPECT_EQ(cuModuleGetTexRef(&again, module_, "nothing"), CUDA_ERROR_NOT_FOUND);
}

TEST_F(References, WriteThroughASurface) {
  CUarray array = nullptr;
  const CUDA_ARRAY3D_DESCRIPTOR shape = {4, 0, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1, CUDA_ARRAY3D_SURFACE_LDST};
  ASSERT_EQ(cuArray3DCreate(&array, &shape), CUDA_SUCCESS);
  CUsurfref canvas = nullptr;
  ASSERT_EQ(cuModuleGetSurfRef(&canvas, module_, "canvas"), CUDA_SUCCESS);
  ASSERT_EQ(cuSurfRefSetArray(canvas, array, 0), CUDA_SUCCESS);
  run("draw", 4);
  unsigned texels[4] = {};
  ASSERT_EQ(cuMemcpyAtoH(texels, array, 0, sizeof texels), CUDA_SUCCESS);
  for (unsigned k = 0; k < 4; ++k) EXPECT_EQ(texels[k], k);
  EXPECT_EQ(cuArrayDestroy(array), CUDA_SUCCESS);
}

}  // namespace
