// Words that lie side by side, at addresses of which nothing is known: a gather costs more than a cycle for each lane,
// and again for each word. One load of 16 bytes for each lane, and a transposition, bring four words in the time of one
// gather; a gather of 8 bytes brings two.
//
// So several loads from one register with offsets in a row (the members of a structure, or an unrolled loop along the
// row of a matrix) become one: the first of them does the work of all. That is allowed where nothing between them
// writes memory or waits: no order is promised among plain loads (PTX ISA, "Memory Consistency Model").
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "simt/facts.hpp"

namespace ordito::simt {

struct MergedLoads {
  /// By the load that does the work: it and the others, in the order of their addresses. Two or four.
  std::map<const Instruction*, std::vector<const Instruction*>> runs;
  std::set<const Instruction*> members;
};

MergedLoads findMergedLoads(const ir::Function& function, const ir::Shapes& shapes, const Facts& facts);

std::string print(const MergedLoads& loads, const ir::Function& function);

}  // namespace ordito::simt
