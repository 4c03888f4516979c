// The functions of NVIDIA's device runtime by which separately compiled code waits for the whole grid: Numba's
// cooperative groups call them and link libcudadevrt for them. Here the linker adds them to what names them.
#pragma once

namespace ordito::driver {

/// cudaCGGetIntrinsicHandle: the workspace of a cooperative launch, which two registers point to, for the scope of a
/// grid (1); else null. cudaCGSynchronize: the barrier of our cooperative_groups.h: each block adds one to the
/// workspace's counter and block 0 what is missing to 2^31, so the top bit has flipped when all have come.
inline constexpr const char* kGridGroups = R"(
.version 6.3
.target sm_70
.address_size 64

.visible .func (.param .b64 handle) cudaCGGetIntrinsicHandle(.param .b32 scope)
{
  .reg .pred %isGrid;
  .reg .b32 %scope, %high, %low;
  .reg .b64 %workspace;
  ld.param.u32 %scope, [scope];
  mov.u32 %high, %envreg1;
  mov.u32 %low, %envreg2;
  mov.b64 %workspace, {%low, %high};
  setp.eq.u32 %isGrid, %scope, 1;
  selp.b64 %workspace, %workspace, 0, %isGrid;
  st.param.b64 [handle], %workspace;
  ret;
}

.visible .func (.param .b32 error) cudaCGSynchronize(.param .b64 handle, .param .b32 flags)
{
  .reg .pred %isNone, %isOther, %isFirst, %waits;
  .reg .b32 %x, %y, %z, %blocks, %step, %before, %now;
  .reg .b64 %workspace;
  ld.param.u64 %workspace, [handle];
  mov.u32 %x, 1;
  setp.eq.u64 %isNone, %workspace, 0;
  @%isNone bra END;
  bar.sync 0;
  mov.u32 %x, %tid.x;
  mov.u32 %y, %tid.y;
  mov.u32 %z, %tid.z;
  or.b32 %x, %x, %y;
  or.b32 %x, %x, %z;
  setp.ne.u32 %isOther, %x, 0;
  @%isOther bra MET;
  mov.u32 %x, %nctaid.x;
  mov.u32 %y, %nctaid.y;
  mov.u32 %z, %nctaid.z;
  mul.lo.u32 %blocks, %x, %y;
  mul.lo.u32 %blocks, %blocks, %z;
  sub.u32 %step, 0x80000001, %blocks;
  mov.u32 %x, %ctaid.x;
  mov.u32 %y, %ctaid.y;
  mov.u32 %z, %ctaid.z;
  or.b32 %x, %x, %y;
  or.b32 %x, %x, %z;
  setp.eq.u32 %isFirst, %x, 0;
  selp.b32 %step, %step, 1, %isFirst;
  membar.gl;
  atom.add.u32 %before, [%workspace+4], %step;
WAIT:
  nanosleep.u32 100;
  ld.volatile.u32 %now, [%workspace+4];
  xor.b32 %now, %now, %before;
  setp.ge.s32 %waits, %now, 0;
  @%waits bra WAIT;
  membar.gl;
MET:
  bar.sync 0;
  mov.u32 %x, 0;
END:
  st.param.b32 [error], %x;
  ret;
}
)";

}  // namespace ordito::driver
