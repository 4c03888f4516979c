// Functions of the runtime that compiled code calls by name.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

namespace ordito::jit {

/// Name and address of every helper.
std::vector<std::pair<std::string_view, void*>> helperTable();

}  // namespace ordito::jit
