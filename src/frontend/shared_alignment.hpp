// `__shared__ alignas(16) float x[4];`: nvcc takes alignas anywhere among the words of a declaration, clang only in
// front of attributes such as that behind __shared__.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/cxx_tokens.hpp"

namespace ordito::frontend {

/// The text with each such alignas moved to the front of its declaration, on unchanged lines; nothing if there is none.
std::optional<std::string> moveSharedAlignment(std::string_view text);

/// Whether there is one, also in text that is not preprocessed.
bool hasSharedAlignment(const std::vector<CxxToken>& tokens);

}  // namespace ordito::frontend
