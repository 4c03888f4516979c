// What nvcc takes and clang refuses, mended where clang says that it is. A program that compiles pays nothing for it:
// only when clang has refused one with such a message is the preprocessed text changed, and compiled once more.
//
//   __shared__ T x;            T has a constructor that does something. CUDA never runs it (nvcc warns), so storage
//   that
//                              is not constructed takes its place, and x is a reference to it.
//   f in host code             the address of a __device__ function. It means nothing to the host, but programs compare
//                              it and hand it on: a pointer of that type that is the same wherever f is named.
//   double a[n] = {1, 2};      an array of variable size, with an initialiser, in host code: g++ takes it.
//   __device__ [[nodiscard]]   a standard attribute behind one of CUDA's, which is an attribute of GNU's to clang.
//   asm("" ::"r"(a) "l"(b));   operands without a comma between them.
//   typename T::f<int>         without `template` in front of the f of a type that is not known yet.
//   x = T::f(y);               without `typename`, where the f of a type that is not known yet turns out to be a type.
//   if constexpr (this->n)     with a static n: constant to g++ and nvcc (and by C++23), to clang from version 20.
//   value.operator()<n>(x)     without `template` in front of the operator of a type that is not known yet.
//   constexpr int f() {        of a template's, with a variable that no constant can have: it is no longer constexpr.
//   if (0) f();                in device code, with an f of the host's: it has no code (Thrust 1.17 in kernels).
//   pair(A, B) -> pair<A, B>;  a deduction guide without __device__, used in device code: it has no code of its own.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ordito::frontend {

/// Whether the messages of a failed compilation name something that mended() may mend.
bool mayBeMended(std::string_view messages);

/// The preprocessed text in a form whose lines and columns are its own: without the lines that say where it comes from.
std::string withoutLineMarkers(std::string_view text);

/// The text with what the messages about withoutLineMarkers(text) name changed, on unchanged lines; nothing if there is
/// nothing to mend.
std::optional<std::string> mended(std::string_view text, std::string_view messages);

}  // namespace ordito::frontend
