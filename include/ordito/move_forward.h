// std::move and std::forward as programs compiled at run time have them without an #include (NVRTC's option
// --builtin-move-forward). The further parameters take nothing: they make a program's own or its library's functions of
// these names, which have none, the better match beside them.
#pragma once

namespace std {

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

template <class T, class... Nothing>
__host__ __device__ constexpr T&& forward(typename __ordito_no_reference<T>::type& x, Nothing...) noexcept {
  return static_cast<T&&>(x);
}
template <class T, class... Nothing>
__host__ __device__ constexpr T&& forward(typename __ordito_no_reference<T>::type&& x, Nothing...) noexcept {
  return static_cast<T&&>(x);
}

}  // namespace std
