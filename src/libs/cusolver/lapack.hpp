// LAPACK's routines by name, from the OpenBLAS that cuBLAS loads.
//
// Fortran passes everything by pointer, and behind the arguments the length of each string, which is 1 for a letter.
// Three such lengths are always passed: whoever expects fewer does not look at the rest.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <type_traits>
#include <vector>

#include "libs/cublas/openblas.hpp"

namespace ordito::cusolver {

using cublas::kIsComplex;
using cublas::Real;

/// A routine's name without the letter of its type, as an argument of a template.
struct Name {
  template <size_t N>
  consteval Name(const char (&text)[N]) {  // NOLINT(google-explicit-constructor): written as a string
    std::copy_n(text, N, letters.begin());
  }
  std::array<char, 12> letters{};
};

template <class T>
constexpr char kLetter = 's';
template <>
inline constexpr char kLetter<double> = 'd';
template <>
inline constexpr char kLetter<std::complex<float>> = 'c';
template <>
inline constexpr char kLetter<std::complex<double>> = 'z';

template <class A>
auto byReference(const A& argument) {
  if constexpr (std::is_pointer_v<A>)
    return argument;
  else
    return &argument;
}

template <class T, Name kReal, Name kComplex = kReal, class... Arguments>
void lapack(const Arguments&... arguments) {
  static void* const routine =
      cublas::openBlasRoutine(kLetter<T> + std::string((kIsComplex<T> ? kComplex : kReal).letters.data()) + "_");
  const size_t one = 1;
  reinterpret_cast<void (*)(decltype(byReference(arguments))..., size_t, size_t, size_t)>(routine)(
      byReference(arguments)..., one, one, one);
}

/// For an array of at least one element: routines look at the first even if they need none.
template <class T>
std::vector<T> room(int64_t count) {
  return std::vector<T>(static_cast<size_t>(std::max<int64_t>(1, count)));
}

/// A copy of a matrix with room behind it, which is written back in the end: some of OpenBLAS's kernels for complex
/// numbers read a few elements past the last one, where a program's memory may end.
template <class T>
class Roomy {
 public:
  Roomy(int m, int n, T* a, int lda) : m_(m), n_(n), lda_(lda), a_(a), copy_(room<T>(int64_t{m} * n + kRoom)) {
    for (int64_t j = 0; j < n_; ++j) std::copy_n(a_ + j * lda_, m_, copy_.begin() + j * m_);
  }
  ~Roomy() {
    for (int64_t j = 0; j < n_; ++j) std::copy_n(copy_.begin() + j * m_, m_, a_ + j * lda_);
  }
  Roomy(const Roomy&) = delete;
  Roomy& operator=(const Roomy&) = delete;

  T* data() { return copy_.data(); }
  int leading() const { return std::max(1, m_); }

 private:
  static constexpr int64_t kRoom = 64;
  const int m_, n_;
  const int64_t lda_;
  T* const a_;
  std::vector<T> copy_;
};

/// Calls the routine twice: what room it needs, and with that. `call(work, size)`.
template <class T, class Call>
void withWork(const Call& call) {
  T wanted{};
  call(&wanted, -1);
  const int size = std::max(1, static_cast<int>(std::real(wanted)));
  auto work = room<T>(size);
  call(work.data(), size);
}

/// `call(work, size, reals, size, ints, size)`: asked once how much room it wants, then with that. Routines for real
/// numbers have no room for `reals`.
template <class T, class Call>
void withWorks(const Call& call) {
  T wanted{};
  Real<T> wantedReals{};
  int wantedInts = 0;
  call(&wanted, -1, &wantedReals, -1, &wantedInts, -1);
  const int size = std::max(1, static_cast<int>(std::real(wanted)));
  const int reals = std::max(1, static_cast<int>(wantedReals)), ints = std::max(1, wantedInts);
  auto work = room<T>(size);
  auto realWork = room<Real<T>>(reals);
  auto intWork = room<int>(ints);
  call(work.data(), size, realWork.data(), reals, intWork.data(), ints);
}

}  // namespace ordito::cusolver
