// What was measured, as a page of documentation.
#pragma once

#include <string>
#include <vector>

#include "isa/isa.hpp"

namespace ordito::bench {

struct Cost {
  std::string name;  // of the form
  double nanoseconds = 0;
};

/// What became of one row of the table.
struct RowCosts {
  isa::Op op{};
  std::vector<Cost> costs;
  std::string why;  // empty, or why nothing, or not everything, was measured
};

/// What the kernel of add.s32 takes, which all others are compared with.
struct Addition {
  double nanoseconds = 0;
  double inMemory = 0;  // where each thread of a million adds two words of arrays in memory
};

/// An instruction whose kernel takes this many times as long as an addition's stands out.
constexpr double kLimit = 40;

/// Markdown: the table, the rows with forms above kLimit, and what was not measured. `addition`: nanoseconds of
/// add.s32.
std::string page(const std::vector<RowCosts>& rows, const Addition& addition, const std::string& machine);

}  // namespace ordito::bench
