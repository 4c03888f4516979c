// CUDA's complex numbers as C++'s, which have the same layout.
#pragma once

#include <type_traits>

#include "cuComplex.h"
#include "libs/cublas/openblas.hpp"

namespace ordito::cublas {

/// CUDA's types as C++'s.
template <class T>
struct InnerOf {
  using Type = T;
};
template <>
struct InnerOf<cuComplex> {
  using Type = ComplexFloat;
};
template <>
struct InnerOf<cuDoubleComplex> {
  using Type = ComplexDouble;
};
template <class T>
using Inner = typename InnerOf<T>::Type;
template <class T>
auto in(T* pointer) {
  using Plain = Inner<std::remove_const_t<T>>;
  if constexpr (std::is_const_v<T>)
    return reinterpret_cast<const Plain*>(pointer);
  else
    return reinterpret_cast<Plain*>(pointer);
}
/// An array of pointers to matrices.
template <class T>
auto inArray(T* const* pointers) {
  using Plain = Inner<std::remove_const_t<T>>;
  using To = std::conditional_t<std::is_const_v<T>, const Plain, Plain>;
  return reinterpret_cast<To* const*>(pointers);
}

}  // namespace ordito::cublas
