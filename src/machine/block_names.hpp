// How messages name blocks of a grid: the first few, and how many more there are.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "machine/kernel.hpp"

namespace ordito::machine {

inline std::string blockName(const Dim3& grid, uint64_t number) {
  return fmt::format("({},{},{})", number % grid.x, number / grid.x % grid.y, number / grid.x / grid.y);
}

/// `blocks` are numbers as of BlockFrame::block().
inline std::string blockNames(const Dim3& grid, const std::vector<uint64_t>& blocks) {
  constexpr size_t kMostNamed = 8;
  std::string text;
  for (size_t k = 0; k < blocks.size() && k < kMostNamed; ++k) text += (k ? ", " : "") + blockName(grid, blocks[k]);
  return blocks.size() > kMostNamed ? text + fmt::format(" and {} more", blocks.size() - kMostNamed) : text;
}

}  // namespace ordito::machine
