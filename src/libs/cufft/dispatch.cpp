// Which build of the inner loops this processor gets.
#include "libs/cufft/kernels.hpp"

namespace ordito::cufft {

#define ORDITO_BUILD(isa)                \
  namespace isa {                        \
  extern const Kernels<float>& floats;   \
  extern const Kernels<double>& doubles; \
  }
ORDITO_BUILD(baseline)
ORDITO_BUILD(avx2)
ORDITO_BUILD(avx512)
#undef ORDITO_BUILD

namespace {

enum class Isa { Baseline, Avx2, Avx512 };

Isa isaOfProcessor() {
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    return Isa::Avx512;
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? Isa::Avx2 : Isa::Baseline;
}

const Isa kIsa = isaOfProcessor();

}  // namespace

template <>
const Kernels<float>& kernels() {
  return kIsa == Isa::Avx512 ? avx512::floats : kIsa == Isa::Avx2 ? avx2::floats : baseline::floats;
}
template <>
const Kernels<double>& kernels() {
  return kIsa == Isa::Avx512 ? avx512::doubles : kIsa == Isa::Avx2 ? avx2::doubles : baseline::doubles;
}

}  // namespace ordito::cufft
