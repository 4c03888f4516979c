// See math_table.hpp. SLEEF's double functions drop the "f" of the float ones: sinf_u10 and sin_u10.
#include "rt/math_table.hpp"

#include <map>

namespace ordito::rt {
namespace {

using K = MathFunction::Kind;

constexpr MathFunction kFunctions[] = {
#define BOTH(name, bound, n) \
  {"__nv_" #name "f", K::Sleef, #name "f" bound, false, n}, {"__nv_" #name, K::Sleef, #name bound, true, n},
    BOTH(sin, "_u10", 1) BOTH(cos, "_u10", 1) BOTH(tan, "_u10", 1) BOTH(asin, "_u10", 1) BOTH(acos, "_u10", 1)
        BOTH(atan, "_u10", 1) BOTH(atan2, "_u10", 2) BOTH(sinh, "_u10", 1) BOTH(cosh, "_u10", 1) BOTH(tanh, "_u10", 1)
            BOTH(asinh, "_u10", 1) BOTH(acosh, "_u10", 1) BOTH(atanh, "_u10", 1) BOTH(exp, "_u10", 1)
                BOTH(exp2, "_u10", 1) BOTH(exp10, "_u10", 1) BOTH(expm1, "_u10", 1) BOTH(log, "_u10", 1)
                    BOTH(log2, "_u10", 1) BOTH(log10, "_u10", 1) BOTH(log1p, "_u10", 1) BOTH(pow, "_u10", 2)
                        BOTH(cbrt, "_u10", 1) BOTH(erf, "_u10", 1) BOTH(erfc, "_u15", 1) BOTH(tgamma, "_u10", 1)
                            BOTH(lgamma, "_u10", 1) BOTH(hypot, "_u05", 2) BOTH(sinpi, "_u05", 1) BOTH(cospi, "_u05", 1)
                                BOTH(fmod, "_", 2) BOTH(fdim, "_", 2) BOTH(nextafter, "_", 2)
#undef BOTH
                                    {"__nv_fast_sinf", K::Sleef, "sinf_u35", false, 1},
    {"__nv_fast_cosf", K::Sleef, "cosf_u35", false, 1},
    {"__nv_fast_tanf", K::Sleef, "tanf_u35", false, 1},
    {"__nv_fast_expf", K::Sleef, "expf_u10", false, 1},
    {"__nv_fast_exp10f", K::Sleef, "exp10f_u10", false, 1},
    {"__nv_fast_logf", K::Sleef, "logf_u10", false, 1},
    {"__nv_fast_log2f", K::Sleef, "log2f_u10", false, 1},
    {"__nv_fast_log10f", K::Sleef, "log10f_u10", false, 1},
    {"__nv_fast_powf", K::Sleef, "powf_u10", false, 2},
    {"__nv_sincosf", K::SinCos, "", false, 1},
    {"__nv_sincos", K::SinCos, "", true, 1},
    {"__nv_fast_sincosf", K::SinCos, "", false, 1},
};

}  // namespace

const MathFunction* findMath(const std::string& name) {
  static const std::map<std::string, const MathFunction*> table = [] {
    std::map<std::string, const MathFunction*> t;
    for (const MathFunction& f : kFunctions) t[f.name] = &f;
    return t;
  }();
  auto it = table.find(name);
  return it == table.end() ? nullptr : it->second;
}

}  // namespace ordito::rt
