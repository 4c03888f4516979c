// The part of libdevice that is one instruction or a few: integer and conversion intrinsics, explicit roundings,
// classification, the approximate ("fast") functions. Built to LLVM bitcode for nvptx64, which clang links into each
// kernel file by itself.
//
// What is not here (sin, log, pow, erf ...) stays a call in the PTX, and the engine answers it with vector code for the
// CPU. A function of two results is split here into calls of one each, which the engine can vectorise.

typedef long long s64;
typedef unsigned long long u64;
typedef unsigned int u32;

// 1 if the kernel is compiled with denormals flushed to zero; a constant by the time the code is optimised.
#define FTZ __nvvm_reflect("__CUDA_FTZ")

// ---- integers
// -------------------------------------------------------------------------------------------------------------
int __nv_abs(int x) { return x < 0 ? (int)(0u - (u32)x) : x; }
s64 __nv_llabs(s64 x) { return x < 0 ? (s64)(0ull - (u64)x) : x; }
int __nv_min(int a, int b) { return a < b ? a : b; }
int __nv_max(int a, int b) { return a > b ? a : b; }
u32 __nv_umin(u32 a, u32 b) { return a < b ? a : b; }
u32 __nv_umax(u32 a, u32 b) { return a > b ? a : b; }
s64 __nv_llmin(s64 a, s64 b) { return a < b ? a : b; }
s64 __nv_llmax(s64 a, s64 b) { return a > b ? a : b; }
u64 __nv_ullmin(u64 a, u64 b) { return a < b ? a : b; }
u64 __nv_ullmax(u64 a, u64 b) { return a > b ? a : b; }
u32 __nv_brev(u32 x) { return __builtin_bitreverse32(x); }
u64 __nv_brevll(u64 x) { return __builtin_bitreverse64(x); }
int __nv_clz(int x) { return __builtin_clzg((u32)x, 32); }
int __nv_clzll(s64 x) { return __builtin_clzg((u64)x, 64); }
int __nv_ffs(int x) { return __builtin_ctzg((u32)x, -1) + 1; }
int __nv_ffsll(s64 x) { return __builtin_ctzg((u64)x, -1) + 1; }
int __nv_popc(u32 x) { return __builtin_popcount(x); }
int __nv_popcll(u64 x) { return __builtin_popcountll(x); }
// Unlike the instruction, which repeats a sign where the highest bit of a selector is set.
u32 __nv_byte_perm(u32 a, u32 b, u32 s) { return (u32)__nvvm_prmt(a, b, s & 0x7777); }
int __nv_mul24(int a, int b) { return __nvvm_mul24_i(a, b); }
u32 __nv_umul24(u32 a, u32 b) { return (u32)__nvvm_mul24_ui(a, b); }
int __nv_mulhi(int a, int b) { return (int)(((s64)a * b) >> 32); }
u32 __nv_umulhi(u32 a, u32 b) { return (u32)(((u64)a * b) >> 32); }
s64 __nv_mul64hi(s64 a, s64 b) { return (s64)(((__int128)a * b) >> 64); }
u64 __nv_umul64hi(u64 a, u64 b) { return (u64)(((unsigned __int128)a * b) >> 64); }
u32 __nv_sad(int a, int b, u32 c) { return (u32)__nvvm_sad_i(a, b, (int)c); }
u32 __nv_usad(u32 a, u32 b, u32 c) { return (u32)__nvvm_sad_ui(a, b, c); }
int __nv_hadd(int a, int b) { return (int)(((s64)a + b) >> 1); }
int __nv_rhadd(int a, int b) { return (int)(((s64)a + b + 1) >> 1); }
u32 __nv_uhadd(u32 a, u32 b) { return (u32)(((u64)a + b) >> 1); }
u32 __nv_urhadd(u32 a, u32 b) { return (u32)(((u64)a + b + 1) >> 1); }

// ---- bits of a number
// -----------------------------------------------------------------------------------------------------
int __nv_float_as_int(float x) { return __builtin_bit_cast(int, x); }
u32 __nv_float_as_uint(float x) { return __builtin_bit_cast(u32, x); }
float __nv_int_as_float(int x) { return __builtin_bit_cast(float, x); }
float __nv_uint_as_float(u32 x) { return __builtin_bit_cast(float, x); }
s64 __nv_double_as_longlong(double x) { return __builtin_bit_cast(s64, x); }
double __nv_longlong_as_double(s64 x) { return __builtin_bit_cast(double, x); }
int __nv_double2hiint(double x) { return (int)(__builtin_bit_cast(s64, x) >> 32); }
int __nv_double2loint(double x) { return (int)__builtin_bit_cast(s64, x); }
double __nv_hiloint2double(int hi, int lo) { return __builtin_bit_cast(double, (u64)(u32)hi << 32 | (u32)lo); }
int __nv_signbitf(float x) { return __builtin_bit_cast(int, x) < 0; }
int __nv_signbitd(double x) { return __builtin_bit_cast(s64, x) < 0; }
int __nv_isnanf(float x) { return x != x; }
int __nv_isnand(double x) { return x != x; }
int __nv_isinff(float x) { return __builtin_fabsf(x) == __builtin_inff(); }
int __nv_isinfd(double x) { return __builtin_fabs(x) == __builtin_inf(); }
int __nv_finitef(float x) { return __builtin_fabsf(x) < __builtin_inff(); }
int __nv_isfinited(double x) { return __builtin_fabs(x) < __builtin_inf(); }
float __nv_nanf(const signed char* tag) { return (void)tag, __builtin_nanf(""); }
double __nv_nan(const signed char* tag) { return (void)tag, __builtin_nan(""); }
float __nv_copysignf(float x, float s) { return __builtin_copysignf(x, s); }
double __nv_copysign(double x, double s) { return __builtin_copysign(x, s); }
float __nv_fabsf(float x) { return __builtin_fabsf(x); }
double __nv_fabs(double x) { return __builtin_fabs(x); }

// ---- rounding to an integer
// -----------------------------------------------------------------------------------------------
float __nv_ceilf(float x) { return __builtin_ceilf(x); }
double __nv_ceil(double x) { return __builtin_ceil(x); }
float __nv_floorf(float x) { return __builtin_floorf(x); }
double __nv_floor(double x) { return __builtin_floor(x); }
float __nv_truncf(float x) { return __builtin_truncf(x); }
double __nv_trunc(double x) { return __builtin_trunc(x); }
float __nv_rintf(float x) { return __builtin_rintf(x); }
double __nv_rint(double x) { return __builtin_rint(x); }
float __nv_nearbyintf(float x) { return __builtin_rintf(x); }
double __nv_nearbyint(double x) { return __builtin_rint(x); }
// Half goes away from zero. The sum is rounded towards zero: to the nearest, one half and the largest number below it
// would make one. And a rounding that is named is never contracted with the product that x may be (PTX, "add").
float __nv_roundf(float x) {
  const float half = __builtin_copysignf(0.5f, x);
  return __builtin_truncf(FTZ ? __nvvm_add_rz_ftz_f(x, half) : __nvvm_add_rz_f(x, half));
}
double __nv_round(double x) { return __builtin_trunc(__nvvm_add_rz_d(x, __builtin_copysign(0.5, x))); }
s64 __nv_llrintf(float x) { return FTZ ? __nvvm_f2ll_rn_ftz(x) : __nvvm_f2ll_rn(x); }
s64 __nv_llrint(double x) { return __nvvm_d2ll_rn(x); }
s64 __nv_llroundf(float x) { return __nvvm_f2ll_rz(__nv_roundf(x)); }
s64 __nv_llround(double x) { return __nvvm_d2ll_rz(__nv_round(x)); }
float __nv_modff(float x, float* whole) {
  const float t = __builtin_truncf(x);
  *whole = t;
  return __builtin_copysignf(__nv_isinff(x) ? 0.0f : x - t, x);
}
double __nv_modf(double x, double* whole) {
  const double t = __builtin_trunc(x);
  *whole = t;
  return __builtin_copysign(__nv_isinfd(x) ? 0.0 : x - t, x);
}

// ---- arithmetic
// -----------------------------------------------------------------------------------------------------------
float __nv_fminf(float a, float b) { return __builtin_fminf(a, b); }
double __nv_fmin(double a, double b) { return __builtin_fmin(a, b); }
float __nv_fmaxf(float a, float b) { return __builtin_fmaxf(a, b); }
double __nv_fmax(double a, double b) { return __builtin_fmax(a, b); }
float __nv_fdimf(float a, float b) { return a > b || a != a || b != b ? a - b : 0.0f; }
double __nv_fdim(double a, double b) { return a > b || a != a || b != b ? a - b : 0.0; }
float __nv_fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
double __nv_fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
float __nv_sqrtf(float x) { return __builtin_sqrtf(x); }
// What sqrtf is under -prec-sqrt=false.
float __nv_fast_sqrtf(float x) { return FTZ ? __nvvm_sqrt_approx_ftz_f(x) : __nvvm_sqrt_approx_f(x); }
double __nv_sqrt(double x) { return __nvvm_sqrt_rn_d(x); }
float __nv_rsqrtf(float x) { return FTZ ? __nvvm_rsqrt_approx_ftz_f(x) : __nvvm_rsqrt_approx_f(x); }
double __nv_rsqrt(double x) { return __nvvm_rsqrt_approx_d(x); }
float __nv_saturatef(float x) { return FTZ ? __nvvm_saturate_ftz_f(x) : __nvvm_saturate_f(x); }
// In double the quotient's error is far below half a float's ulp.
float __nv_frsqrt_rn(float x) { return (float)(1.0 / __nvvm_sqrt_rn_d(x)); }
float __nv_fdividef(float a, float b) { return FTZ ? __nvvm_div_approx_ftz_f(a, b) : __nvvm_div_approx_f(a, b); }
float __nv_fast_fdividef(float a, float b) { return __nv_fdividef(a, b); }
float __nv_norm3df(float a, float b, float c) {
  return (float)__nvvm_sqrt_rn_d((double)a * a + (double)b * b + (double)c * c);
}
float __nv_norm4df(float a, float b, float c, float d) {
  return (float)__nvvm_sqrt_rn_d((double)a * a + (double)b * b + (double)c * c + (double)d * d);
}
float __nv_rnorm3df(float a, float b, float c) {
  return (float)(1.0 / __nvvm_sqrt_rn_d((double)a * a + (double)b * b + (double)c * c));
}
float __nv_rnorm4df(float a, float b, float c, float d) {
  return (float)(1.0 / __nvvm_sqrt_rn_d((double)a * a + (double)b * b + (double)c * c + (double)d * d));
}

double __nv_norm3d(double a, double b, double c) { return __nvvm_sqrt_rn_d(a * a + b * b + c * c); }
double __nv_norm4d(double a, double b, double c, double d) { return __nvvm_sqrt_rn_d(a * a + b * b + c * c + d * d); }
double __nv_rnorm3d(double a, double b, double c) { return 1.0 / __nvvm_sqrt_rn_d(a * a + b * b + c * c); }
double __nv_rnorm4d(double a, double b, double c, double d) {
  return 1.0 / __nvvm_sqrt_rn_d(a * a + b * b + c * c + d * d);
}

// add, multiply, fused multiply-add, divide, reciprocal and square root with the rounding in the name
#define ROUNDINGS(DEFINE) DEFINE(rn, rn) DEFINE(rz, rz) DEFINE(rd, rm) DEFINE(ru, rp)
#define ARITHMETIC(name, ptx)                                                                                \
  float __nv_fadd_##name(float a, float b) {                                                                 \
    return FTZ ? __nvvm_add_##ptx##_ftz_f(a, b) : __nvvm_add_##ptx##_f(a, b);                                \
  }                                                                                                          \
  float __nv_fsub_##name(float a, float b) {                                                                 \
    return FTZ ? __nvvm_add_##ptx##_ftz_f(a, -b) : __nvvm_add_##ptx##_f(a, -b);                              \
  }                                                                                                          \
  float __nv_fmul_##name(float a, float b) {                                                                 \
    return FTZ ? __nvvm_mul_##ptx##_ftz_f(a, b) : __nvvm_mul_##ptx##_f(a, b);                                \
  }                                                                                                          \
  float __nv_fdiv_##name(float a, float b) {                                                                 \
    return FTZ ? __nvvm_div_##ptx##_ftz_f(a, b) : __nvvm_div_##ptx##_f(a, b);                                \
  }                                                                                                          \
  float __nv_frcp_##name(float a) { return FTZ ? __nvvm_rcp_##ptx##_ftz_f(a) : __nvvm_rcp_##ptx##_f(a); }    \
  float __nv_fsqrt_##name(float a) { return FTZ ? __nvvm_sqrt_##ptx##_ftz_f(a) : __nvvm_sqrt_##ptx##_f(a); } \
  float __nv_fmaf_##name(float a, float b, float c) {                                                        \
    return FTZ ? __nvvm_fma_##ptx##_ftz_f(a, b, c) : __nvvm_fma_##ptx##_f(a, b, c);                          \
  }                                                                                                          \
  float __nv_fmaf_ieee_##name(float a, float b, float c) { return __nvvm_fma_##ptx##_f(a, b, c); }           \
  double __nv_dadd_##name(double a, double b) { return __nvvm_add_##ptx##_d(a, b); }                         \
  double __nv_dsub_##name(double a, double b) { return __nvvm_add_##ptx##_d(a, -b); }                        \
  double __nv_dmul_##name(double a, double b) { return __nvvm_mul_##ptx##_d(a, b); }                         \
  double __nv_ddiv_##name(double a, double b) { return __nvvm_div_##ptx##_d(a, b); }                         \
  double __nv_drcp_##name(double a) { return __nvvm_rcp_##ptx##_d(a); }                                      \
  double __nv_dsqrt_##name(double a) { return __nvvm_sqrt_##ptx##_d(a); }                                    \
  double __nv_fma_##name(double a, double b, double c) { return __nvvm_fma_##ptx##_d(a, b, c); }
ROUNDINGS(ARITHMETIC)

// ---- conversions
// ----------------------------------------------------------------------------------------------------------
#define CONVERSIONS(name, ptx)                                                                                    \
  int __nv_float2int_##name(float x) { return FTZ ? __nvvm_f2i_##ptx##_ftz(x) : __nvvm_f2i_##ptx(x); }            \
  u32 __nv_float2uint_##name(float x) { return (u32)(FTZ ? __nvvm_f2ui_##ptx##_ftz(x) : __nvvm_f2ui_##ptx(x)); }  \
  s64 __nv_float2ll_##name(float x) { return FTZ ? __nvvm_f2ll_##ptx##_ftz(x) : __nvvm_f2ll_##ptx(x); }           \
  u64 __nv_float2ull_##name(float x) { return (u64)(FTZ ? __nvvm_f2ull_##ptx##_ftz(x) : __nvvm_f2ull_##ptx(x)); } \
  int __nv_double2int_##name(double x) { return __nvvm_d2i_##ptx(x); }                                            \
  u32 __nv_double2uint_##name(double x) { return (u32)__nvvm_d2ui_##ptx(x); }                                     \
  s64 __nv_double2ll_##name(double x) { return __nvvm_d2ll_##ptx(x); }                                            \
  u64 __nv_double2ull_##name(double x) { return (u64)__nvvm_d2ull_##ptx(x); }                                     \
  float __nv_double2float_##name(double x) { return FTZ ? __nvvm_d2f_##ptx##_ftz(x) : __nvvm_d2f_##ptx(x); }      \
  float __nv_int2float_##name(int x) { return __nvvm_i2f_##ptx(x); }                                              \
  float __nv_uint2float_##name(u32 x) { return __nvvm_ui2f_##ptx(x); }                                            \
  float __nv_ll2float_##name(s64 x) { return __nvvm_ll2f_##ptx(x); }                                              \
  float __nv_ull2float_##name(u64 x) { return __nvvm_ull2f_##ptx(x); }                                            \
  double __nv_ll2double_##name(s64 x) { return __nvvm_ll2d_##ptx(x); }                                            \
  double __nv_ull2double_##name(u64 x) { return __nvvm_ull2d_##ptx(x); }
ROUNDINGS(CONVERSIONS)
unsigned short __nv_float2half_rn(float x) { return __builtin_bit_cast(unsigned short, (_Float16)x); }
float __nv_half2float(unsigned short x) { return (float)__builtin_bit_cast(_Float16, x); }
double __nv_int2double_rn(int x) { return (double)x; }
double __nv_uint2double_rn(u32 x) { return (double)x; }

// ---- approximate functions: the special function unit
// ---------------------------------------------------------------------
static float exp2Approx(float x) { return FTZ ? __nvvm_ex2_approx_ftz_f(x) : __nvvm_ex2_approx_f(x); }
static float log2Approx(float x) { return FTZ ? __nvvm_lg2_approx_ftz_f(x) : __nvvm_lg2_approx_f(x); }
float __nv_fast_sinf(float x) { return FTZ ? __nvvm_sin_approx_ftz_f(x) : __nvvm_sin_approx_f(x); }
float __nv_fast_cosf(float x) { return FTZ ? __nvvm_cos_approx_ftz_f(x) : __nvvm_cos_approx_f(x); }
float __nv_fast_tanf(float x) { return __nv_fdividef(__nv_fast_sinf(x), __nv_fast_cosf(x)); }
void __nv_fast_sincosf(float x, float* s, float* c) { *s = __nv_fast_sinf(x), *c = __nv_fast_cosf(x); }
float __nv_fast_expf(float x) { return exp2Approx(x * 1.44269504f); }
float __nv_fast_exp10f(float x) { return exp2Approx(x * 3.32192809f); }
float __nv_fast_exp2f(float x) { return exp2Approx(x); }
float __nv_exp2f(float x) { return exp2Approx(x); }  // as on a GPU: the unit is as precise as CUDA says that exp2f is
float __nv_fast_log2f(float x) { return log2Approx(x); }
float __nv_fast_logf(float x) { return log2Approx(x) * 0.693147181f; }
float __nv_fast_log10f(float x) { return log2Approx(x) * 0.301029996f; }
float __nv_fast_powf(float x, float y) { return exp2Approx(y * log2Approx(x)); }
float __nv_fast_tanhf(float x) {  // sm_75 and later
  float y;
  __asm__("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// ---- the exponential function of a float
// --------------------------------------------------------------------------------
// x = j ln 2 + r with |r| <= ln 2 / 2, and e^r by a polynomial fitted to the least largest error. Adding 1.5 * 2^23
// rounds to an integer, which the sum's lowest bits then hold. ln 2 comes in two parts, of which the upper one has few
// enough bits that j times it is exact. The power of two is taken in halves, so that a subnormal result is rounded
// once. The error is 0.902 units in the last place at most, over all floats (tests/api/runtime/exp_error.cu).
float __nv_expf(float x) {
  const float rounding = 0x1.8p23f, ln2Upper = 0.693359375f, ln2Lower = -2.12194440e-4f;
  const float sum = __builtin_fmaf(x, 1.44269504f, rounding), j = sum - rounding;
  const float upper = __builtin_fmaf(j, -ln2Upper, x), lower = j * -ln2Lower, r = upper + lower;
  float p = 0x1.6a23bcp-10f;
  p = __builtin_fmaf(p, r, 0x1.123a2ap-7f);
  p = __builtin_fmaf(p, r, 0x1.5558f4p-5f);
  p = __builtin_fmaf(p, r, 0x1.55549p-3f);
  p = __builtin_fmaf(p, r, 0x1.fffffcp-2f);
  const float power = 1 + (upper + __builtin_fmaf(p * r, r, lower));
  const int whole = (int)(__builtin_bit_cast(u32, sum) - __builtin_bit_cast(u32, rounding)), half = whole >> 1;
  const float result = power * __builtin_bit_cast(float, (u32)(half + 127) << 23) *
                       __builtin_bit_cast(float, (u32)(whole - half + 127) << 23);
  return x > 89 ? __builtin_inff() : x < -104 ? 0 : result;
}

// ---- two results in one call
// ----------------------------------------------------------------------------------------------
float __nv_sinf(float);
float __nv_cosf(float);
float __nv_sinpif(float);
float __nv_cospif(float);
double __nv_sin(double);
double __nv_cos(double);
double __nv_sinpi(double);
double __nv_cospi(double);
void __nv_sincosf(float x, float* s, float* c) { *s = __nv_sinf(x), *c = __nv_cosf(x); }
void __nv_sincos(double x, double* s, double* c) { *s = __nv_sin(x), *c = __nv_cos(x); }
void __nv_sincospif(float x, float* s, float* c) { *s = __nv_sinpif(x), *c = __nv_cospif(x); }
void __nv_sincospi(double x, double* s, double* c) { *s = __nv_sinpi(x), *c = __nv_cospi(x); }

// ---- exponents
// ------------------------------------------------------------------------------------------------------------
// Multiplying by a power of two in up to three steps, each representable, rounds once at most.
float __nv_ldexpf(float x, int n) {
  n = n > 300 ? 300 : n < -300 ? -300 : n;
  // 2^n as a double cannot overflow, and the product is exact there; rounding happens on the way back.
  return (float)((double)x * __builtin_bit_cast(double, (u64)(n + 1023) << 52));
}
double __nv_ldexp(double x, int n) {
  n = n > 2200 ? 2200 : n < -2200 ? -2200 : n;
  // The intermediate steps go down only as far as keeps the value normal: a second rounding would show.
  for (int i = 0; i < 2; ++i) {
    if (n > 1023) x *= 0x1p1023, n -= 1023;
    if (n < -1022) x *= 0x1p-969, n += 969;
  }
  n = n > 1023 ? 1023 : n < -1022 ? -1022 : n;
  return x * __builtin_bit_cast(double, (u64)(n + 1023) << 52);
}
float __nv_scalbnf(float x, int n) { return __nv_ldexpf(x, n); }
double __nv_scalbn(double x, int n) { return __nv_ldexp(x, n); }
float __nv_frexpf(float x, int* e) {
  // A subnormal is scaled into the normal range first.
  const int tiny = __builtin_fabsf(x) < 0x1p-126f;
  const u32 bits = __builtin_bit_cast(u32, tiny ? x * 0x1p24f : x);
  const int exponent = (int)(bits >> 23 & 255);
  if (x == 0.0f || exponent == 255) {
    *e = 0;
    return x;
  }
  *e = exponent - 126 - (tiny ? 24 : 0);
  return __builtin_bit_cast(float, (bits & 0x807fffffu) | 0x3f000000u);
}
double __nv_frexp(double x, int* e) {
  const int tiny = __builtin_fabs(x) < 0x1p-1022;
  const u64 bits = __builtin_bit_cast(u64, tiny ? x * 0x1p54 : x);
  const int exponent = (int)(bits >> 52 & 2047);
  if (x == 0.0 || exponent == 2047) {
    *e = 0;
    return x;
  }
  *e = exponent - 1022 - (tiny ? 54 : 0);
  return __builtin_bit_cast(double, (bits & 0x800fffffffffffffull) | 0x3fe0000000000000ull);
}
int __nv_ilogbf(float x) {
  int e;
  if (x == 0.0f || x != x) return (int)0x80000000;
  if (__nv_isinff(x)) return 0x7fffffff;
  __nv_frexpf(x, &e);
  return e - 1;
}
int __nv_ilogb(double x) {
  int e;
  if (x == 0.0 || x != x) return (int)0x80000000;
  if (__nv_isinfd(x)) return 0x7fffffff;
  __nv_frexp(x, &e);
  return e - 1;
}
float __nv_logbf(float x) {
  if (x == 0.0f) return -__builtin_inff();
  return __nv_finitef(x) ? (float)__nv_ilogbf(x) : x * x;
}
double __nv_logb(double x) {
  if (x == 0.0) return -__builtin_inf();
  return __nv_isfinited(x) ? (double)__nv_ilogb(x) : x * x;
}
// The neighbour of x towards y: one step of the bit pattern, which is ordered like the numbers of one sign.
float __nv_nextafterf(float x, float y) {
  if (x != x || y != y) return x + y;
  if (x == y) return y;
  if (x == 0.0f) return __builtin_copysignf(0x1p-149f, y);
  return __nv_int_as_float(__nv_float_as_int(x) + ((x < y) == (x > 0.0f) ? 1 : -1));
}
double __nv_nextafter(double x, double y) {
  if (x != x || y != y) return x + y;
  if (x == y) return y;
  if (x == 0.0) return __builtin_copysign(0x1p-1074, y);
  return __nv_longlong_as_double(__nv_double_as_longlong(x) + ((x < y) == (x > 0.0) ? 1 : -1));
}
float __nv_powif(float x, int n) {
  float result = 1.0f;
  for (u32 left = n < 0 ? 0u - (u32)n : (u32)n; left; left >>= 1, x *= x)
    if (left & 1) result *= x;
  return n < 0 ? 1.0f / result : result;
}
double __nv_powi(double x, int n) {
  double result = 1.0;
  for (u32 left = n < 0 ? 0u - (u32)n : (u32)n; left; left >>= 1, x *= x)
    if (left & 1) result *= x;
  return n < 0 ? 1.0 / result : result;
}

// ---- assert
// -----------------------------------------------------------------------------------------------------------------
// For programs in which assert's function is declared for both sides (ordito/before_device_functions.h).
void __assertfail(const char* message, const char* file, u32 line, const char* function, u64 charSize);
void __assert_fail(const char* message, const char* file, u32 line, const char* function) {
  __assertfail(message, file, line, function, 1);
}
