// See math_error.hpp. SLEEF's names end in their bound (https://sleef.org, "Naming conventions": u10 is 1.0 ulp). The
// other f32 functions are computed in double and rounded once; of the other f64 functions the C library states nothing.
#include "rt/math_error.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "rt/math_functions.hpp"
#include "rt/math_table.hpp"

namespace ordito::rt {
namespace {

/// Without "__nv_" and, in f32, "f": functions whose values have to be rounded.
constexpr std::string_view kRounded[] = {
    "erfcx",  "erfinv",  "erfcinv", "normcdf", "normcdfinv",    "rcbrt",         "j0",       "j1",
    "jn",     "y0",      "y1",      "yn",      "cyl_bessel_i0", "cyl_bessel_i1", "rhypot",   "powi",
    "norm3d", "rnorm3d", "norm4d",  "rnorm4d", "norm",          "rnorm",         "sincospi", "rsqrt",
};
constexpr double kRoundedOnce = 0.51;

MathError errorOfVector(const MathFunction& f) {
  if (f.kind == MathFunction::Kind::SinCos) return {false, 1.0};
  const std::string_view name = f.implementation;
  const size_t mark = name.rfind("_u");
  if (mark == std::string_view::npos) return {};  // fmod and the like
  return {false, (name[mark + 2] - '0') + (name[mark + 3] - '0') / 10.0};
}

bool isRounded(std::string_view base) { return std::ranges::find(kRounded, base) != std::end(kRounded); }

}  // namespace

MathError mathError(const std::string& name) {
  if (const MathFunction* vector = findMath(name)) return errorOfVector(*vector);
  constexpr std::string_view kPrefix = "__nv_";
  if (!name.starts_with(kPrefix)) return {};
  std::string_view base = name;
  base.remove_prefix(kPrefix.size());
  if (isRounded(base)) return {false, std::nullopt};
  if (base == "frsqrt_rn") return {false, 1.5};  // the root is rounded, and the quotient again
  if (!base.ends_with('f')) return {};
  base.remove_suffix(1);
  if (base == "rsqrt") return {false, 1.5};
  return isRounded(base) ? MathError{false, kRoundedOnce} : MathError{};
}

}  // namespace ordito::rt
