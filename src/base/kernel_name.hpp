// How messages name a kernel.
#pragma once

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <string>

namespace ordito {

/// The demangled name, without what clang puts behind the name of what is static in a unit (-rdc=true); as it is if it
/// is no C++ name.
inline std::string kernelName(const std::string& symbol) {
  const std::string plain = symbol.substr(0, std::min(symbol.rfind("__static__"), symbol.rfind("__intern__")));
  int status = 0;
  char* const text = abi::__cxa_demangle(plain.c_str(), nullptr, nullptr, &status);
  std::string result = status == 0 && text != nullptr ? text : plain;
  std::free(text);
  return result;
}

}  // namespace ordito
