// Text -> the IR: what `print` writes, or a test wrote by hand (docs/ir.md).
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "ir/ir.hpp"

namespace ordito::ir {

/// Functions and the module that they are of.
struct Document {
  std::unique_ptr<const ptx::Module> module;
  std::vector<Function> functions;
};

/// Reads PTX declarations and any number of kernels in the IR. Errors name file and line. `name` stands in messages.
Expected<Document> parse(std::string_view text, std::string_view name = "<ir>");

}  // namespace ordito::ir
