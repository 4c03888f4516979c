// std::move and std::forward as programs compiled at run time have them without an #include (NVRTC's option
// --builtin-move-forward). A program may define these itself, or include a library's: those are the better match, since
// here std::move has a pack of further parameters, which takes nothing, and std::forward a conversion.
#pragma once

namespace __ordito_std {

template <class T>
struct __ordito_no_reference {
  using type = T;
};
template <class T>
struct __ordito_no_reference<T&> {
  using type = T;
};
template <class T>
struct __ordito_no_reference<T&&> {
  using type = T;
};

template <class T, class... Nothing>
__host__ __device__ constexpr typename __ordito_no_reference<T>::type&& move(T&& x, Nothing...) noexcept {
  static_assert(sizeof...(Nothing) == 0, "std::move takes one argument");
  return static_cast<typename __ordito_no_reference<T>::type&&>(x);
}

/// What std::forward<T> gets.
template <class T>
struct __ordito_forwarded {
  using type = typename __ordito_no_reference<T>::type;
  type* at;
  __host__ __device__ constexpr __ordito_forwarded(type& x) noexcept : at(__builtin_addressof(x)) {}
  __host__ __device__ constexpr __ordito_forwarded(type&& x) noexcept : at(__builtin_addressof(x)) {}
};
template <class T>
__host__ __device__ constexpr T&& forward(__ordito_forwarded<T> x) noexcept {
  return static_cast<T&&>(*x.at);
}

}  // namespace __ordito_std

/// By name only: clang knows what std's own look like.
namespace std {
using __ordito_std::forward;
using __ordito_std::move;
}  // namespace std
