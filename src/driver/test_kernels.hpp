// What the driver's tests share: a context per test, and PTX kernels small enough to read.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "cuda.h"

namespace ordito::driver {

inline constexpr const char* kKernels = R"(
.version 7.0
.target sm_50
.address_size 64

.visible .global .align 4 .u32 counter = 41;
.visible .const .align 4 .f32 table[4] = {0f3F800000, 0f40000000, 0f40400000, 0f40800000};
.visible .global .align 8 .u64 pointer = counter;

// out[i] = i for i < n
.visible .entry iota(.param .u64 out, .param .u32 n) {
  .reg .pred %p;
  .reg .u32 %r<6>;
  .reg .u64 %a<4>;
  ld.param.u64 %a0, [out];
  ld.param.u32 %r0, [n];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.u32 %r4, %r1, %r2, %r3;
  setp.ge.u32 %p, %r4, %r0;
  @%p bra done;
  mul.wide.u32 %a1, %r4, 4;
  add.u64 %a2, %a0, %a1;
  st.global.u32 [%a2], %r4;
done:
  ret;
}

// out[0] += 1, without an atomic: only ordered launches add up
.visible .entry increment(.param .u64 out) {
  .reg .u32 %r<2>;
  .reg .u64 %a;
  ld.param.u64 %a, [out];
  ld.global.u32 %r0, [%a];
  add.u32 %r1, %r0, 1;
  st.global.u32 [%a], %r1;
  ret;
}

// out[tid] = table[tid % 4] + counter
.visible .entry variables(.param .u64 out) {
  .reg .u32 %r<3>;
  .reg .u64 %a<5>;
  .reg .f32 %f<4>;
  ld.param.u64 %a0, [out];
  mov.u32 %r0, %tid.x;
  mul.wide.u32 %a1, %r0, 4;
  add.u64 %a2, %a0, %a1;
  and.b32 %r1, %r0, 3;
  mul.wide.u32 %a3, %r1, 4;
  mov.u64 %a4, table;
  add.u64 %a3, %a3, %a4;
  ld.const.f32 %f0, [%a3];
  ld.global.u32 %r2, [counter];
  cvt.rn.f32.u32 %f1, %r2;
  add.f32 %f2, %f0, %f1;
  st.global.f32 [%a2], %f2;
  ret;
}

.visible .entry bounded(.param .u64 out) .maxntid 64, 1, 1 { ret; }
.visible .entry exact(.param .u64 out) .reqntid 64, 1, 1 { ret; }

// out[tid] = the value of thread ntid - 1 - tid, through dynamic shared memory
.extern .shared .align 4 .b8 dynamic[];
.visible .entry reverse(.param .u64 out) {
  .reg .u32 %r<6>;
  .reg .u64 %a<3>;
  .reg .u32 %s<4>;
  ld.param.u64 %a0, [out];
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, %ntid.x;
  mov.u32 %s0, dynamic;
  shl.b32 %s1, %r0, 2;
  add.u32 %s1, %s0, %s1;
  st.shared.u32 [%s1], %r0;
  bar.sync 0;
  sub.u32 %r2, %r1, %r0;
  sub.u32 %r2, %r2, 1;
  shl.b32 %s2, %r2, 2;
  add.u32 %s2, %s0, %s2;
  ld.shared.u32 %r3, [%s2];
  mul.wide.u32 %a1, %r0, 4;
  add.u64 %a2, %a0, %a1;
  st.global.u32 [%a2], %r3;
  ret;
}

.visible .entry trapped() { trap; }
)";

class DriverTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&context_, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxSetCurrent(context_), CUDA_SUCCESS);
    ASSERT_EQ(cuModuleLoadData(&module_, kKernels), CUDA_SUCCESS);
  }
  void TearDown() override { cuDevicePrimaryCtxReset(0); }

  CUfunction kernel(const char* name) {
    CUfunction function = nullptr;
    EXPECT_EQ(cuModuleGetFunction(&function, module_, name), CUDA_SUCCESS) << name;
    return function;
  }
  CUdeviceptr allocate(size_t bytes) {
    CUdeviceptr pointer = 0;
    EXPECT_EQ(cuMemAlloc(&pointer, bytes), CUDA_SUCCESS);
    EXPECT_EQ(cuMemsetD8(pointer, 0, bytes), CUDA_SUCCESS);
    return pointer;
  }
  template <class... Args>
  static CUresult start(CUfunction function, unsigned grid, unsigned block, unsigned shared, CUstream stream,
                        Args... args) {
    void* parameters[] = {&args..., nullptr};
    return cuLaunchKernel(function, grid, 1, 1, block, 1, 1, shared, stream, parameters, nullptr);
  }
  static std::vector<unsigned> read(CUdeviceptr from, size_t count) {
    std::vector<unsigned> host(count);
    EXPECT_EQ(cuMemcpyDtoH(host.data(), from, count * 4), CUDA_SUCCESS);
    return host;
  }

  CUcontext context_ = nullptr;
  CUmodule module_ = nullptr;
};

}  // namespace ordito::driver
