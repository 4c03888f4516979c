// Functions of the runtime that compiled code calls by name.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

namespace ordito::rt {

/// Name and address of every helper.
std::vector<std::pair<std::string_view, void*>> helperTable();
/// Those of textures and surfaces; helperTable has them too.
std::vector<std::pair<std::string_view, void*>> imageHelperTable();
/// Those of matrix products, likewise.
std::vector<std::pair<std::string_view, void*>> matrixHelperTable();

/// Those of arithmetic with directed rounding, likewise.
std::vector<std::pair<std::string_view, void*>> directedHelperTable();

}  // namespace ordito::rt
