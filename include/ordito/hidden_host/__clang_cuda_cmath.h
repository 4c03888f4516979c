// See stdint.h. Clang's overloads of <cmath> ask std::numeric_limits which types are numbers, which <limits> defines,
// and so do programs. Here they ask another.
#ifdef __ORDITO_PRELUDE__
#define numeric_limits __ordito_kind_of_number
namespace std {
template <typename T>
struct __ordito_kind_of_number {
  static const bool is_integer = __is_integral(T);
  static const bool is_specialized = __is_arithmetic(T);
};
}  // namespace std
#endif
#include_next <__clang_cuda_cmath.h>
#undef numeric_limits
