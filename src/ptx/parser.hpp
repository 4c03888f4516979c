// PTX text -> Module. Hand-written recursive descent over tokens; which instructions, modifiers and operands exist
// comes from isa/ptx.def alone.
#pragma once

#include <string_view>

#include "base/error.hpp"
#include "ptx/module.hpp"

namespace ordito::ptx {

/// Parses and resolves a whole PTX module. Errors name file:line:column, the kernel, what was found and what was
/// expected; an unknown or unsupported instruction is refused by name. Never crashes on any input. `name` stands in
/// messages ("vector.ptx").
Expected<Module> parse(std::string_view text, std::string_view name = "<ptx>");

}  // namespace ordito::ptx
