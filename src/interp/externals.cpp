// One table of names. Mathematics is the host's libm: f32 functions are computed in double and rounded once (within
// 0.51 ulp unless said), f64 functions have libm's own error (below 1 ulp for most). A new name is one line.
#include "interp/externals.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <type_traits>
#include <utility>

#include "interp/numeric.hpp"
#include "machine/device_functions.hpp"
#include "machine/fault.hpp"
#include "machine/special_functions.hpp"

namespace ordito::interp {

using isa::Type;

namespace {

template <class T>
T fromBits(uint64_t bits) {
  if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<float>(uint32_t(bits));
  else if constexpr (std::is_same_v<T, double>)
    return std::bit_cast<double>(bits);
  else if constexpr (std::is_pointer_v<T>)
    return reinterpret_cast<T>(bits);
  else
    return static_cast<T>(bits);
}

template <class T>
uint64_t toBits(T value) {
  if constexpr (std::is_same_v<T, float>)
    return std::isnan(value) ? canonicalNan(Type::f32) : std::bit_cast<uint32_t>(value);
  else if constexpr (std::is_same_v<T, double>)
    return std::bit_cast<uint64_t>(value);
  else if constexpr (std::is_pointer_v<T>)
    return reinterpret_cast<uint64_t>(value);
  else
    return static_cast<uint64_t>(value);
}

/// Wraps a function pointer as a table entry whose run() takes its arguments from bit patterns.
template <auto function>
struct Adapter;

template <class R, class... A, R (*function)(A...)>
struct Adapter<function> {
  template <size_t... i>
  static void invoke([[maybe_unused]] ExternalCall& call, std::index_sequence<i...>) {
    if constexpr (std::is_void_v<R>)
      function(fromBits<A>(call.arguments[i])...);
    else
      call.result = toBits<R>(function(fromBits<A>(call.arguments[i])...));
  }
  static void run(ExternalCall& call) { invoke(call, std::index_sequence_for<A...>{}); }
  static constexpr External entry(std::string_view name) { return {name, sizeof...(A), !std::is_void_v<R>, run}; }
};

template <auto function>
constexpr External external(std::string_view name) {
  return Adapter<function>::entry(name);
}

void assertFail(ExternalCall& call) {
  auto text = [&](int i) { return reinterpret_cast<const char*>(call.arguments[i]); };
  machine::deviceAssert(call.frame, text(0), text(1), uint32_t(call.arguments[2]), text(3), call.tid[0], call.tid[1],
                        call.tid[2]);
}

/// The message has been printed.
void watchAssert(ExternalCall& call) {
  machine::raiseFault(call.frame, machine::FaultKind::Assert, 0, 0, "an assertion");
}

void print(ExternalCall& call) {
  call.result = toBits<int32_t>(machine::devicePrintf(reinterpret_cast<const char*>(call.arguments[0]),
                                                      reinterpret_cast<const std::byte*>(call.arguments[1])));
}

/// Reads what printf would print.
void watchPrint(ExternalCall& call) {
  std::string text;
  call.result = toBits<int32_t>(machine::formatDevicePrintf(text, reinterpret_cast<const char*>(call.arguments[0]),
                                                            reinterpret_cast<const std::byte*>(call.arguments[1])));
}

void nothing(ExternalCall&) {}

/// What the device heap gives back stays there, so that a replay frees nothing.
template <auto function>
constexpr External freeing(std::string_view name) {
  External entry = external<function>(name);
  entry.watch = nothing;
  entry.frees = true;
  return entry;
}

/// Round to nearest in the direction of cvt.rni: ties to even, whatever the host's mode.
template <class To>
To integerOf(double x, Type to, Rounding rounding) {
  return To(convertToInteger(std::bit_cast<uint64_t>(x), Type::f64, to, rounding));
}

float roundedFloat(double x) { return float(x); }

// A function of one, two or three numbers in both precisions: name and namef. The f32 form works on the same expression
// in double.
#define UNARY(name, expression)                                                                             \
  external<+[](double x) -> double { return expression; }>("__nv_" #name), external<+[](float a) -> float { \
    const double x = a;                                                                                     \
    return roundedFloat(expression);                                                                        \
  }>("__nv_" #name "f")
#define BINARY(name, expression)                                                     \
  external<+[](double x, double y) -> double { return expression; }>("__nv_" #name), \
      external<+[](float a, float b) -> float {                                      \
        const double x = a, y = b;                                                   \
        return roundedFloat(expression);                                             \
      }>("__nv_" #name "f")
#define TERNARY(name, expression)                                                              \
  external<+[](double x, double y, double z) -> double { return expression; }>("__nv_" #name), \
      external<+[](float a, float b, float c) -> float {                                       \
        const double x = a, y = b, z = c;                                                      \
        return roundedFloat(expression);                                                       \
      }>("__nv_" #name "f")
#define QUATERNARY(name, expression)                                                                     \
  external<+[](double x, double y, double z, double w) -> double { return expression; }>("__nv_" #name), \
      external<+[](float a, float b, float c, float d) -> float {                                        \
        const double x = a, y = b, z = c, w = d;                                                         \
        return roundedFloat(expression);                                                                 \
      }>("__nv_" #name "f")
// An f32 function that the programmer asked to be fast; here it is merely right.
#define FAST(name, expression)       \
  external<+[](float a) -> float {   \
    const double x = a;              \
    return roundedFloat(expression); \
  }>("__nv_fast_" #name "f")

constexpr External kExternals[] = {
    // Device runtime
    {"vprintf", 2, true, print, watchPrint},
    {"__assertfail", 5, false, assertFail, watchAssert},
    external<machine::deviceMalloc>("malloc"),
    freeing<machine::deviceFree>("free"),
    external<machine::deviceMalloc>("_Znwm"),
    external<machine::deviceMalloc>("_Znam"),
    freeing<machine::deviceFree>("_ZdlPv"),
    freeing<machine::deviceFree>("_ZdaPv"),
    freeing<+[](void* p, uint64_t) { machine::deviceFree(p); }>("_ZdlPvm"),
    freeing<+[](void* p, uint64_t) { machine::deviceFree(p); }>("_ZdaPvm"),
    // Exponentials and logarithms
    UNARY(exp, std::exp(x)),
    UNARY(exp2, std::exp2(x)),
    UNARY(exp10, ::exp10(x)),
    UNARY(expm1, std::expm1(x)),
    UNARY(log, std::log(x)),
    UNARY(log2, std::log2(x)),
    UNARY(log10, std::log10(x)),
    UNARY(log1p, std::log1p(x)),
    UNARY(logb, std::logb(x)),
    BINARY(pow, std::pow(x, y)),
    external<+[](double x, int n) -> double { return std::pow(x, n); }>("__nv_powi"),
    external<+[](float x, int n) -> float { return roundedFloat(std::pow(double(x), n)); }>("__nv_powif"),
    // Trigonometry
    UNARY(sin, std::sin(x)),
    UNARY(cos, std::cos(x)),
    UNARY(tan, std::tan(x)),
    UNARY(asin, std::asin(x)),
    UNARY(acos, std::acos(x)),
    UNARY(atan, std::atan(x)),
    UNARY(sinh, std::sinh(x)),
    UNARY(cosh, std::cosh(x)),
    UNARY(tanh, std::tanh(x)),
    UNARY(asinh, std::asinh(x)),
    UNARY(acosh, std::acosh(x)),
    UNARY(atanh, std::atanh(x)),
    BINARY(atan2, std::atan2(x, y)),
    UNARY(sinpi, machine::sinPi(x)),
    UNARY(cospi, machine::cosPi(x)),
    external<+[](double x, double* s, double* c) { *s = std::sin(x), *c = std::cos(x); }>("__nv_sincos"),
    external<+[](float x, float* s, float* c) {
      *s = roundedFloat(std::sin(double(x))), *c = roundedFloat(std::cos(double(x)));
    }>("__nv_sincosf"),
    external<+[](double x, double* s, double* c) { *s = machine::sinPi(x), *c = machine::cosPi(x); }>("__nv_sincospi"),
    external<+[](float x, float* s, float* c) {
      *s = roundedFloat(machine::sinPi(x)), *c = roundedFloat(machine::cosPi(x));
    }>("__nv_sincospif"),
    // Roots and norms
    UNARY(sqrt, std::sqrt(x)),
    UNARY(rsqrt, 1 / std::sqrt(x)),
    UNARY(cbrt, std::cbrt(x)),
    UNARY(rcbrt, 1 / std::cbrt(x)),
    BINARY(hypot, std::hypot(x, y)),
    BINARY(rhypot, 1 / std::hypot(x, y)),
    TERNARY(norm3d, std::hypot(x, y, z)),
    TERNARY(rnorm3d, 1 / std::hypot(x, y, z)),
    QUATERNARY(norm4d, std::hypot(std::hypot(x, y), std::hypot(z, w))),
    QUATERNARY(rnorm4d, 1 / std::hypot(std::hypot(x, y), std::hypot(z, w))),
    external<+[](int n, const double* v) -> double { return machine::norm(n, v); }>("__nv_norm"),
    external<+[](int n, const double* v) -> double { return 1 / machine::norm(n, v); }>("__nv_rnorm"),
    external<+[](int n, const float* v) -> float { return roundedFloat(machine::norm(n, v)); }>("__nv_normf"),
    external<+[](int n, const float* v) -> float { return roundedFloat(1 / machine::norm(n, v)); }>("__nv_rnormf"),
    external<+[](float x) -> float { return roundedFloat(1 / std::sqrt(double(x))); }>("__nv_frsqrt_rn"),
    // Rounding, remainders and parts of numbers
    UNARY(floor, std::floor(x)),
    UNARY(ceil, std::ceil(x)),
    UNARY(trunc, std::trunc(x)),
    UNARY(round, std::round(x)),
    UNARY(rint, std::rint(x)),
    UNARY(nearbyint, std::nearbyint(x)),
    UNARY(fabs, std::fabs(x)),
    BINARY(fmod, std::fmod(x, y)),
    BINARY(remainder, std::remainder(x, y)),
    BINARY(copysign, std::copysign(x, y)),
    BINARY(fdim, std::fdim(x, y)),
    BINARY(fmax, std::fmax(x, y)),
    BINARY(fmin, std::fmin(x, y)),
    external<+[](double x, double y) -> double { return std::nextafter(x, y); }>("__nv_nextafter"),
    external<+[](float x, float y) -> float { return std::nextafter(x, y); }>("__nv_nextafterf"),
    external<+[](double x, double y, double z) -> double { return std::fma(x, y, z); }>("__nv_fma"),
    external<+[](float x, float y, float z) -> float { return std::fma(x, y, z); }>("__nv_fmaf"),
    external<+[](double x, int* e) -> double { return std::frexp(x, e); }>("__nv_frexp"),
    external<+[](float x, int* e) -> float { return std::frexp(x, e); }>("__nv_frexpf"),
    external<+[](double x, double* whole) -> double { return std::modf(x, whole); }>("__nv_modf"),
    external<+[](float x, float* whole) -> float { return std::modf(x, whole); }>("__nv_modff"),
    external<+[](double x, double y, int* quotient) -> double { return std::remquo(x, y, quotient); }>("__nv_remquo"),
    external<+[](float x, float y, int* quotient) -> float { return std::remquo(x, y, quotient); }>("__nv_remquof"),
    external<+[](double x, int e) -> double { return std::ldexp(x, e); }>("__nv_ldexp"),
    external<+[](float x, int e) -> float { return std::ldexp(x, e); }>("__nv_ldexpf"),
    external<+[](double x, int e) -> double { return std::scalbn(x, e); }>("__nv_scalbn"),
    external<+[](float x, int e) -> float { return std::scalbn(x, e); }>("__nv_scalbnf"),
    external<+[](double x) -> int { return std::ilogb(x); }>("__nv_ilogb"),
    external<+[](float x) -> int { return std::ilogb(x); }>("__nv_ilogbf"),
    external<+[](double x) -> int64_t { return integerOf<int64_t>(x, Type::s64, Rounding::NearestEven); }>(
        "__nv_llrint"),
    external<+[](float x) -> int64_t { return integerOf<int64_t>(x, Type::s64, Rounding::NearestEven); }>(
        "__nv_llrintf"),
    external<+[](double x) -> int64_t { return integerOf<int64_t>(x, Type::s64, Rounding::NearestAway); }>(
        "__nv_llround"),
    external<+[](float x) -> int64_t { return integerOf<int64_t>(x, Type::s64, Rounding::NearestAway); }>(
        "__nv_llroundf"),
    external<+[](double x) -> int { return std::isnan(x); }>("__nv_isnand"),
    external<+[](float x) -> int { return std::isnan(x); }>("__nv_isnanf"),
    external<+[](double x) -> int { return std::isinf(x); }>("__nv_isinfd"),
    external<+[](float x) -> int { return std::isinf(x); }>("__nv_isinff"),
    external<+[](double x) -> int { return std::isfinite(x); }>("__nv_isfinited"),
    external<+[](float x) -> int { return std::isfinite(x); }>("__nv_finitef"),
    external<+[](double x) -> int { return std::signbit(x); }>("__nv_signbitd"),
    external<+[](float x) -> int { return std::signbit(x); }>("__nv_signbitf"),
    external<+[](const char*) -> double { return std::nan(""); }>("__nv_nan"),
    external<+[](const char*) -> float { return std::nanf(""); }>("__nv_nanf"),
    external<+[](float x) -> float { return x > 0 ? std::min(x, 1.0f) : 0.0f; }>("__nv_saturatef"),
    // Special functions
    UNARY(erf, std::erf(x)),
    UNARY(erfc, std::erfc(x)),
    UNARY(erfcx, machine::scaledErfc(x)),
    UNARY(erfinv, machine::inverseErf(x)),
    UNARY(erfcinv, machine::inverseErfc(x)),
    UNARY(normcdf, 0.5 * std::erfc(-x * std::sqrt(0.5))),
    UNARY(normcdfinv, -std::sqrt(2.0) * machine::inverseErfc(2 * x)),
    UNARY(tgamma, std::tgamma(x)),
    UNARY(lgamma, machine::logGamma(x)),
    UNARY(j0, ::j0(x)),
    UNARY(j1, ::j1(x)),
    UNARY(y0, ::y0(x)),
    UNARY(y1, ::y1(x)),
    UNARY(cyl_bessel_i0, std::cyl_bessel_i(0.0, std::fabs(x))),
    UNARY(cyl_bessel_i1, std::copysign(std::cyl_bessel_i(1.0, std::fabs(x)), x)),
    external<+[](int n, double x) -> double { return ::jn(n, x); }>("__nv_jn"),
    external<+[](int n, float x) -> float { return roundedFloat(::jn(n, double(x))); }>("__nv_jnf"),
    external<+[](int n, double x) -> double { return ::yn(n, x); }>("__nv_yn"),
    external<+[](int n, float x) -> float { return roundedFloat(::yn(n, double(x))); }>("__nv_ynf"),
    // Fast forms
    FAST(sin, std::sin(x)),
    FAST(cos, std::cos(x)),
    FAST(tan, std::tan(x)),
    FAST(exp, std::exp(x)),
    FAST(exp10, ::exp10(x)),
    FAST(log, std::log(x)),
    FAST(log2, std::log2(x)),
    FAST(log10, std::log10(x)),
    external<+[](float x, float y) -> float { return roundedFloat(std::pow(double(x), double(y))); }>("__nv_fast_powf"),
    external<+[](float x, float y) -> float { return x / y; }>("__nv_fast_fdividef"),
    external<+[](float x, float* s, float* c) {
      *s = roundedFloat(std::sin(double(x))), *c = roundedFloat(std::cos(double(x)));
    }>("__nv_fast_sincosf"),
    // Integers
    external<+[](int32_t x) -> int32_t { return x < 0 ? int32_t(-uint32_t(x)) : x; }>("__nv_abs"),
    external<+[](int64_t x) -> int64_t { return x < 0 ? int64_t(-uint64_t(x)) : x; }>("__nv_llabs"),
    external<+[](int32_t a, int32_t b) -> int32_t { return std::min(a, b); }>("__nv_min"),
    external<+[](int32_t a, int32_t b) -> int32_t { return std::max(a, b); }>("__nv_max"),
    external<+[](uint32_t a, uint32_t b) -> uint32_t { return std::min(a, b); }>("__nv_umin"),
    external<+[](uint32_t a, uint32_t b) -> uint32_t { return std::max(a, b); }>("__nv_umax"),
    external<+[](int64_t a, int64_t b) -> int64_t { return std::min(a, b); }>("__nv_llmin"),
    external<+[](int64_t a, int64_t b) -> int64_t { return std::max(a, b); }>("__nv_llmax"),
    external<+[](uint64_t a, uint64_t b) -> uint64_t { return std::min(a, b); }>("__nv_ullmin"),
    external<+[](uint64_t a, uint64_t b) -> uint64_t { return std::max(a, b); }>("__nv_ullmax"),
    external<+[](int32_t a, int32_t b) -> int32_t { return int32_t(int64_t(a) * b >> 32); }>("__nv_mulhi"),
    external<+[](uint32_t a, uint32_t b) -> uint32_t { return uint32_t(uint64_t(a) * b >> 32); }>("__nv_umulhi"),
    external<+[](int32_t a, int32_t b) -> int32_t { return int32_t((int64_t(a) + b) >> 1); }>("__nv_hadd"),
    external<+[](int32_t a, int32_t b) -> int32_t { return int32_t((int64_t(a) + b + 1) >> 1); }>("__nv_rhadd"),
    external<+[](uint32_t a, uint32_t b) -> uint32_t { return uint32_t((uint64_t(a) + b) >> 1); }>("__nv_uhadd"),
    external<+[](uint32_t a, uint32_t b) -> uint32_t { return uint32_t((uint64_t(a) + b + 1) >> 1); }>("__nv_urhadd"),
    external<+[](uint32_t x) -> int32_t { return std::popcount(x); }>("__nv_popc"),
    external<+[](uint64_t x) -> int32_t { return std::popcount(x); }>("__nv_popcll"),
    external<+[](uint32_t x) -> int32_t { return std::countl_zero(x); }>("__nv_clz"),
    external<+[](uint64_t x) -> int32_t { return std::countl_zero(x); }>("__nv_clzll"),
    external<+[](uint32_t x) -> int32_t { return x ? std::countr_zero(x) + 1 : 0; }>("__nv_ffs"),
    external<+[](uint64_t x) -> int32_t { return x ? std::countr_zero(x) + 1 : 0; }>("__nv_ffsll"),
};

#undef UNARY
#undef BINARY
#undef TERNARY
#undef QUATERNARY
#undef FAST

}  // namespace

const External* findExternal(std::string_view name) {
  for (const External& entry : kExternals)
    if (entry.name == name) return &entry;
  return nullptr;
}

}  // namespace ordito::interp
