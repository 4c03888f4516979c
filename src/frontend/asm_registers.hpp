// `asm("mov.u64 %0, %globaltimer;" : "=l"(t));`: nvcc takes the name of a special register with one % also where
// operands follow, clang wants two.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/cxx_tokens.hpp"

namespace ordito::frontend {

/// The text with each such % doubled; nothing if there is none.
std::optional<std::string> doubleRegisterPercents(std::string_view text);

/// Whether there is one, also in text that is not preprocessed.
bool hasRegisterPercent(const std::vector<CxxToken>& tokens);

}  // namespace ordito::frontend
