// f32 functions are computed in double and rounded once. What has vector code is in math_table.cpp and not here.
#include "rt/math_functions.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <type_traits>

#include "machine/special_functions.hpp"

namespace ordito::rt {
namespace {

template <class T>
constexpr char code() {
  if constexpr (std::is_void_v<T>)
    return 'v';
  else if constexpr (std::is_same_v<T, float>)
    return 'f';
  else if constexpr (std::is_same_v<T, double>)
    return 'd';
  else
    return sizeof(T) == 8 ? 'l' : 'i';
}

template <class R, class... A>
ScalarFunction scalar(std::string_view name, R (*f)(A...)) {
  return {name, reinterpret_cast<void*>(f), std::string{code<R>(), code<A>()...}};
}

/// Rounds as cvt does: out of range saturates, a NaN gives the number with only the top bit set.
int64_t toInteger(double rounded) {
  if (!(rounded < 0x1p63)) return std::isnan(rounded) ? INT64_MIN : INT64_MAX;
  return rounded < -0x1p63 ? INT64_MIN : static_cast<int64_t>(rounded);
}

// A function in both precisions, name and namef; the f32 form works on the same expression in double.
#define UNARY(name, expression)                                       \
  scalar(                                                             \
      "__nv_" #name, +[](double x) -> double { return expression; }), \
      scalar(                                                         \
          "__nv_" #name "f", +[](float a) -> float {                  \
            const double x = a;                                       \
            return static_cast<float>(expression);                    \
          })
#define BINARY(name, expression)                                                \
  scalar(                                                                       \
      "__nv_" #name, +[](double x, double y) -> double { return expression; }), \
      scalar(                                                                   \
          "__nv_" #name "f", +[](float a, float b) -> float {                   \
            const double x = a, y = b;                                          \
            return static_cast<float>(expression);                              \
          })

std::vector<ScalarFunction> makeFunctions() {
  return {
      // Functions of one and two numbers
      UNARY(erfcx, machine::scaledErfc(x)),
      UNARY(erfinv, machine::inverseErf(x)),
      UNARY(erfcinv, machine::inverseErfc(x)),
      UNARY(normcdf, 0.5 * std::erfc(-x * std::sqrt(0.5))),
      UNARY(normcdfinv, -std::sqrt(2.0) * machine::inverseErfc(2 * x)),
      UNARY(rcbrt, 1 / std::cbrt(x)),
      UNARY(logb, std::logb(x)),
      UNARY(j0, ::j0(x)),
      UNARY(j1, ::j1(x)),
      UNARY(y0, ::y0(x)),
      UNARY(y1, ::y1(x)),
      UNARY(cyl_bessel_i0, std::cyl_bessel_i(0.0, std::fabs(x))),
      UNARY(cyl_bessel_i1, std::copysign(std::cyl_bessel_i(1.0, std::fabs(x)), x)),
      BINARY(rhypot, 1 / std::hypot(x, y)),
      BINARY(remainder, std::remainder(x, y)),
      scalar(
          "__nv_jn", +[](int n, double x) -> double { return ::jn(n, x); }),
      scalar(
          "__nv_jnf", +[](int n, float x) -> float { return static_cast<float>(::jn(n, double{x})); }),
      scalar(
          "__nv_yn", +[](int n, double x) -> double { return ::yn(n, x); }),
      scalar(
          "__nv_ynf", +[](int n, float x) -> float { return static_cast<float>(::yn(n, double{x})); }),
      scalar(
          "__nv_powi", +[](double x, int n) -> double { return std::pow(x, n); }),
      scalar(
          "__nv_powif", +[](float x, int n) -> float { return static_cast<float>(std::pow(double{x}, n)); }),
      // Norms
      scalar(
          "__nv_norm3d", +[](double x, double y, double z) -> double { return std::hypot(x, y, z); }),
      scalar(
          "__nv_norm3df",
          +[](float x, float y, float z) -> float {
            return static_cast<float>(std::hypot(double{x}, double{y}, double{z}));
          }),
      scalar(
          "__nv_rnorm3d", +[](double x, double y, double z) -> double { return 1 / std::hypot(x, y, z); }),
      scalar(
          "__nv_rnorm3df",
          +[](float x, float y, float z) -> float {
            return static_cast<float>(1 / std::hypot(double{x}, double{y}, double{z}));
          }),
      scalar(
          "__nv_norm4d",
          +[](double x, double y, double z, double w) -> double {
            return std::hypot(std::hypot(x, y), std::hypot(z, w));
          }),
      scalar(
          "__nv_norm4df",
          +[](float x, float y, float z, float w) -> float {
            return static_cast<float>(std::hypot(std::hypot(double{x}, double{y}), std::hypot(double{z}, double{w})));
          }),
      scalar(
          "__nv_rnorm4d",
          +[](double x, double y, double z, double w) -> double {
            return 1 / std::hypot(std::hypot(x, y), std::hypot(z, w));
          }),
      scalar(
          "__nv_rnorm4df",
          +[](float x, float y, float z, float w) -> float {
            return static_cast<float>(1 /
                                      std::hypot(std::hypot(double{x}, double{y}), std::hypot(double{z}, double{w})));
          }),
      scalar(
          "__nv_norm", +[](int n, const double* v) -> double { return machine::norm(n, v); }),
      scalar(
          "__nv_normf", +[](int n, const float* v) -> float { return static_cast<float>(machine::norm(n, v)); }),
      scalar(
          "__nv_rnorm", +[](int n, const double* v) -> double { return 1 / machine::norm(n, v); }),
      scalar(
          "__nv_rnormf", +[](int n, const float* v) -> float { return static_cast<float>(1 / machine::norm(n, v)); }),
      // Results through pointers
      scalar(
          "__nv_frexp", +[](double x, int* e) -> double { return std::frexp(x, e); }),
      scalar(
          "__nv_frexpf", +[](float x, int* e) -> float { return std::frexp(x, e); }),
      scalar(
          "__nv_modf", +[](double x, double* whole) -> double { return std::modf(x, whole); }),
      scalar(
          "__nv_modff", +[](float x, float* whole) -> float { return std::modf(x, whole); }),
      scalar(
          "__nv_remquo", +[](double x, double y, int* quotient) -> double { return std::remquo(x, y, quotient); }),
      scalar(
          "__nv_remquof", +[](float x, float y, int* quotient) -> float { return std::remquo(x, y, quotient); }),
      scalar(
          "__nv_sincospi", +[](double x, double* s, double* c) { *s = machine::sinPi(x), *c = machine::cosPi(x); }),
      scalar(
          "__nv_sincospif",
          +[](float x, float* s, float* c) {
            *s = static_cast<float>(machine::sinPi(x)), *c = static_cast<float>(machine::cosPi(x));
          }),
      // Exponents and integers
      scalar(
          "__nv_ldexp", +[](double x, int e) -> double { return std::ldexp(x, e); }),
      scalar(
          "__nv_ldexpf", +[](float x, int e) -> float { return std::ldexp(x, e); }),
      scalar(
          "__nv_scalbn", +[](double x, int e) -> double { return std::scalbn(x, e); }),
      scalar(
          "__nv_scalbnf", +[](float x, int e) -> float { return std::scalbn(x, e); }),
      scalar(
          "__nv_ilogb", +[](double x) -> int { return std::ilogb(x); }),
      scalar(
          "__nv_ilogbf", +[](float x) -> int { return std::ilogb(x); }),
      scalar(
          "__nv_llrint", +[](double x) -> int64_t { return toInteger(std::nearbyint(x)); }),
      scalar(
          "__nv_llrintf", +[](float x) -> int64_t { return toInteger(std::nearbyint(x)); }),
      scalar(
          "__nv_llround", +[](double x) -> int64_t { return toInteger(std::round(x)); }),
      scalar(
          "__nv_llroundf", +[](float x) -> int64_t { return toInteger(std::round(x)); }),
      scalar(
          "__nv_isnand", +[](double x) -> int { return std::isnan(x); }),
      scalar(
          "__nv_isnanf", +[](float x) -> int { return std::isnan(x); }),
      scalar(
          "__nv_isinfd", +[](double x) -> int { return std::isinf(x); }),
      scalar(
          "__nv_isinff", +[](float x) -> int { return std::isinf(x); }),
      scalar(
          "__nv_isfinited", +[](double x) -> int { return std::isfinite(x); }),
      scalar(
          "__nv_finitef", +[](float x) -> int { return std::isfinite(x); }),
      scalar(
          "__nv_signbitd", +[](double x) -> int { return std::signbit(x); }),
      scalar(
          "__nv_signbitf", +[](float x) -> int { return std::signbit(x); }),
      scalar(
          "__nv_nan", +[](const char*) -> double { return std::numeric_limits<double>::quiet_NaN(); }),
      scalar(
          "__nv_nanf", +[](const char*) -> float { return std::numeric_limits<float>::quiet_NaN(); }),
      scalar(
          "__nv_saturatef", +[](float x) -> float { return x > 0 ? std::min(x, 1.0f) : 0.0f; }),
      scalar(
          "__nv_fast_fdividef", +[](float x, float y) -> float { return x / y; }),
      // Integers
      scalar(
          "__nv_abs",
          +[](int32_t x) -> int32_t { return x < 0 ? static_cast<int32_t>(-static_cast<uint32_t>(x)) : x; }),
      scalar(
          "__nv_llabs",
          +[](int64_t x) -> int64_t { return x < 0 ? static_cast<int64_t>(-static_cast<uint64_t>(x)) : x; }),
      scalar(
          "__nv_min", +[](int32_t a, int32_t b) -> int32_t { return std::min(a, b); }),
      scalar(
          "__nv_max", +[](int32_t a, int32_t b) -> int32_t { return std::max(a, b); }),
      scalar(
          "__nv_umin", +[](uint32_t a, uint32_t b) -> uint32_t { return std::min(a, b); }),
      scalar(
          "__nv_umax", +[](uint32_t a, uint32_t b) -> uint32_t { return std::max(a, b); }),
      scalar(
          "__nv_llmin", +[](int64_t a, int64_t b) -> int64_t { return std::min(a, b); }),
      scalar(
          "__nv_llmax", +[](int64_t a, int64_t b) -> int64_t { return std::max(a, b); }),
      scalar(
          "__nv_ullmin", +[](uint64_t a, uint64_t b) -> uint64_t { return std::min(a, b); }),
      scalar(
          "__nv_ullmax", +[](uint64_t a, uint64_t b) -> uint64_t { return std::max(a, b); }),
      scalar(
          "__nv_mulhi", +[](int32_t a, int32_t b) -> int32_t { return static_cast<int32_t>(int64_t{a} * b >> 32); }),
      scalar(
          "__nv_umulhi",
          +[](uint32_t a, uint32_t b) -> uint32_t { return static_cast<uint32_t>(uint64_t{a} * b >> 32); }),
      scalar(
          "__nv_hadd", +[](int32_t a, int32_t b) -> int32_t { return static_cast<int32_t>((int64_t{a} + b) >> 1); }),
      scalar(
          "__nv_rhadd",
          +[](int32_t a, int32_t b) -> int32_t { return static_cast<int32_t>((int64_t{a} + b + 1) >> 1); }),
      scalar(
          "__nv_uhadd",
          +[](uint32_t a, uint32_t b) -> uint32_t { return static_cast<uint32_t>((uint64_t{a} + b) >> 1); }),
      scalar(
          "__nv_urhadd",
          +[](uint32_t a, uint32_t b) -> uint32_t { return static_cast<uint32_t>((uint64_t{a} + b + 1) >> 1); }),
      scalar(
          "__nv_popc", +[](uint32_t x) -> int32_t { return std::popcount(x); }),
      scalar(
          "__nv_popcll", +[](uint64_t x) -> int32_t { return std::popcount(x); }),
      scalar(
          "__nv_clz", +[](uint32_t x) -> int32_t { return std::countl_zero(x); }),
      scalar(
          "__nv_clzll", +[](uint64_t x) -> int32_t { return std::countl_zero(x); }),
      scalar(
          "__nv_ffs", +[](uint32_t x) -> int32_t { return x ? std::countr_zero(x) + 1 : 0; }),
      scalar(
          "__nv_ffsll", +[](uint64_t x) -> int32_t { return x ? std::countr_zero(x) + 1 : 0; }),
  };
}

#undef UNARY
#undef BINARY

}  // namespace

const std::vector<ScalarFunction>& scalarFunctions() {
  static const std::vector<ScalarFunction> functions = makeFunctions();
  return functions;
}

const ScalarFunction* findScalar(std::string_view name) {
  static const std::map<std::string_view, const ScalarFunction*> table = [] {
    std::map<std::string_view, const ScalarFunction*> t;
    for (const ScalarFunction& f : scalarFunctions()) t[f.name] = &f;
    return t;
  }();
  auto it = table.find(name);
  return it == table.end() ? nullptr : it->second;
}

}  // namespace ordito::rt
