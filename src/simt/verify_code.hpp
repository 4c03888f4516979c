// What holds of SIMT code behind every pass:
//   * a block ends with its only terminator, and leads to blocks that exist; every block can be reached from an entry
//   * a mask has one definition, which dominates its uses
//   * what a block inherits is there: the block that it inherits from dominates it, and nothing runs in between
//   * what it names is there: blocks of the kernel that the region has, values of the kernel, resume points
#pragma once

#include <optional>
#include <string>

#include "simt/build_code.hpp"

namespace ordito::simt {

/// The first violation, or nothing.
std::optional<std::string> verify(const Code& code, const CodeInputs& inputs);

}  // namespace ordito::simt
