// Small PTX modules for the tests: a header, one kernel with registers of every type, and the given lines as its body.
#pragma once

#include <fmt/format.h>

#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include "ptx/module.hpp"

namespace ordito::ptx::test {

inline std::string module(std::string_view text) {
  return fmt::format(".version 8.8\n.target sm_90a\n.address_size 64\n{}\n", text);
}

/// The body's first line is line 8 of the module.
inline std::string kernel(std::string_view body) {
  return module(
      fmt::format(".global .u32 gv[4];\n.const .u32 cv[4];\n.entry foo(.param .u64 p) {{\n.reg .pred %p<9>; .reg .b16 "
                  "%rs<9>; .reg .b32 %r<9>; "
                  ".reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .f64 %fd<9>; .shared .b8 sv[64];\n{}\n}}",
                  body));
}

/// One of the files under tests/ptx/inputs.
inline std::string input(std::string_view name) {
  std::ifstream file(fmt::format("{}/{}", ORDITO_PTX_INPUTS, name));
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

inline const char* const kInputs[] = {"handmade.ptx", "language_O2.ptx", "language_debug.ptx"};

/// The module without the line numbers of its text, which printing changes.
inline Module withoutLines(Module m) {
  for (Variable& v : m.variables) v.line = 0;
  for (Function& f : m.functions) {
    f.line = 0;
    for (Variable& v : f.variables) v.line = 0;
    for (Instruction& i : f.instructions) i.line = 0;
  }
  return m;
}

}  // namespace ordito::ptx::test
