// The headers that come before every source (CompileOptions::prelude, and those that clang brings for CUDA), read once:
// clang needs three times as long for them as for a small kernel. They are kept as a precompiled header of clang's in
// CompileOptions::preludeFolder, by the command that makes it, the compiler and the toolkit.
#pragma once

#include <string>

#include "frontend/nvcc_commands.hpp"

namespace ordito::frontend {

/// The file with the prelude for `options`. Empty if there is none: options that are new are only remembered, and the
/// file is made when they come again.
std::string precompiledPrelude(const Toolchain& tools, const CompileOptions& options);

/// Did clang refuse a precompiled header, because a header of it has changed, say?
bool refusesPrecompiled(const std::string& messages);

}  // namespace ordito::frontend
