// Which libraries a program is linked with. Ours are named by their path: a Makefile's -L may lead into another
// toolkit, whose libraries of the same names need a GPU.
#pragma once

#include <string>
#include <vector>

#include "base/error.hpp"
#include "frontend/nvcc_commands.hpp"

namespace ordito::frontend {

/// What the linker gets for an input file, a library (-l) or an option: nothing for the runtime, which is linked
/// anyway; our library in the place of one of the same name; everything else as it is. An error says what is missing.
Expected<std::vector<std::string>> linkerInput(const Toolchain& tools, const NvccOptions& options,
                                               const NvccOptions::Item& item);

/// Every object with relocatable device code defines a symbol of this prefix and a hash. In a static library it is what
/// the linker takes the object for: code of the device refers to it by names that the linker does not see.
inline constexpr char kUnitPrefix[] = "__ordito_unit_";

/// The units in the objects and static libraries among the items, in which the linker would find them.
std::vector<std::string> deviceUnits(const NvccOptions& options);

}  // namespace ordito::frontend
