// Errors as values. A function that can fail on its input returns Expected<T>; the Error says what is wrong, where, and
// what to do. Asserts are for our own mistakes, never for the user's.
#pragma once

#include <fmt/format.h>

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace ordito {

/// Why an operation on user input failed. `code` is the CUDA result that a real runtime would answer (CUresult
/// numbering), 0 if none applies.
struct Error {
  std::string message;
  int code = 0;
};

template <class T = void>
using Expected = tl::expected<T, Error>;

/// An unexpected value with a formatted message: `return fail("{}: unknown instruction", line);`
template <class... Args>
tl::unexpected<Error> fail(fmt::format_string<Args...> format, Args&&... args) {
  return tl::unexpected(Error{fmt::format(format, std::forward<Args>(args)...)});
}

/// The same with the CUDA result that the caller reports.
template <class... Args>
tl::unexpected<Error> failWith(int code, fmt::format_string<Args...> format, Args&&... args) {
  return tl::unexpected(Error{fmt::format(format, std::forward<Args>(args)...), code});
}

}  // namespace ordito
