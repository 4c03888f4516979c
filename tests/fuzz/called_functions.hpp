// What random kernels call.
#pragma once

namespace ordito::fuzz {

/// Functions of a structure and a number that find their parameters and results at computed addresses: by ld.param, in
/// a copy of their own that they change, and through activations of themselves.
inline constexpr const char* kCalledFunctions = R"(
.func (.param .align 4 .b8 r[16]) picked(.param .align 4 .b8 p[32], .param .b32 i)
{
  .reg .b32 %i, %w, %v;
  .reg .b64 %p, %r, %o;
  ld.param.u32 %i, [i];
  st.param.b32 [r], %i;
  st.param.b32 [r+4], %i;
  st.param.b32 [r+8], %i;
  st.param.b32 [r+12], %i;
  and.b32 %w, %i, 7;
  mul.wide.u32 %o, %w, 4;
  mov.b64 %p, p;
  add.s64 %p, %p, %o;
  ld.param.u32 %v, [%p];
  and.b32 %w, %i, 3;
  mul.wide.u32 %o, %w, 4;
  mov.b64 %r, r;
  add.s64 %r, %r, %o;
  st.param.b32 [%r], %v;
  ret;
}
.func (.param .align 4 .b8 r[16]) changed(.param .align 4 .b8 p[32], .param .b32 i)
{
  .reg .b32 %i, %v, %w, %x, %y;
  .reg .b64 %p, %q, %o;
  ld.param.u32 %i, [i];
  and.b32 %i, %i, 7;
  mul.wide.u32 %o, %i, 4;
  mov.b64 %p, p;
  add.s64 %q, %p, %o;
  st.local.b32 [%q], %i;
  cvta.local.u64 %p, %p;
  ld.b32 %v, [%p];
  ld.b32 %w, [%p+12];
  ld.param.b32 %x, [p+16];
  ld.param.b32 %y, [%q];
  st.param.b32 [r], %v;
  st.param.b32 [r+4], %w;
  st.param.b32 [r+8], %x;
  st.param.b32 [r+12], %y;
  ret;
}
.func (.param .align 4 .b8 r[16]) repeated(.param .align 4 .b8 p[32], .param .b32 i)
{
  .reg .b32 %i, %v, %w;
  .reg .b64 %p, %o;
  .reg .pred %ends;
  ld.param.u32 %i, [i];
  and.b32 %i, %i, 3;
  mul.wide.u32 %o, %i, 8;
  mov.b64 %p, p;
  add.s64 %p, %p, %o;
  ld.param.u32 %v, [%p];
  mov.u32 %w, 0;
  setp.eq.u32 %ends, %i, 0;
  @%ends bra Ends;
  sub.u32 %i, %i, 1;
  {
    .param .align 4 .b8 a[32];
    .param .b32 b;
    .param .align 4 .b8 x[16];
    st.param.b32 [a], %v;
    st.param.b32 [a+8], %i;
    ld.param.u32 %w, [p+4];
    st.param.b32 [a+4], %w;
    ld.param.u32 %w, [p+28];
    st.param.b32 [a+16], %w;
    st.param.b32 [a+24], %v;
    st.param.b32 [b], %i;
    call (x), repeated, (a, b);
    ld.param.u32 %w, [x+4];
  }
Ends:
  add.u32 %w, %w, %v;
  st.param.b32 [r], %v;
  st.param.b32 [r+4], %w;
  st.param.b32 [r+8], %i;
  st.param.b32 [r+12], 5;
  ret;
}
)";

}  // namespace ordito::fuzz
