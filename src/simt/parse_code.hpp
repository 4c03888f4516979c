// Text -> SIMT code: what `print` writes, or a test wrote by hand.
#pragma once

#include <string_view>

#include "base/error.hpp"
#include "simt/build_code.hpp"

namespace ordito::simt {

/// Reads the regions of one kernel. Errors name file and line, which `name` and `firstLine` stand for. What is read is
/// verified (verify_code.hpp).
Expected<Code> parseCode(std::string_view text, std::string_view name, uint32_t firstLine, const CodeInputs& inputs);

}  // namespace ordito::simt
