// See versions.hpp.
#include "simt/versions.hpp"

#include <fmt/format.h>

namespace ordito::simt {
namespace {

/// Masks cost little where all is arithmetic on one or two blocks.
bool isWorthCopy(const ir::Function& f, const std::vector<BlockId>& influence) {
  size_t size = 0;
  bool gains = influence.size() > cost::kFewBlocks;
  for (BlockId n : influence) {
    size += f.blocks[n].code.size();
    for (const Instruction& i : f.blocks[n].code) gains |= i.info().unit == isa::Unit::Lsu;
  }
  return !influence.empty() && gains && size <= cost::kLongestVersion;
}

}  // namespace

Versions findVersions(const ir::Function& f, const ir::Shapes& shapes) {
  Versions v;
  v.influence.resize(f.blocks.size());
  v.isWorthCopy.assign(f.blocks.size(), 0);
  for (BlockId b = 0; b < f.blocks.size(); ++b) {
    if (!shapes.isDivergent(b)) continue;
    v.influence[b].assign(f.blocks.size(), 0);
    const auto blocks = shapes.influence(b);
    for (BlockId n : blocks) v.influence[b][n] = 1;
    v.isWorthCopy[b] = isWorthCopy(f, blocks);
  }
  return v;
}

std::string print(const Versions& v) {
  std::string text;
  for (BlockId b = 0; b < v.influence.size(); ++b) {
    if (v.influence[b].empty()) continue;
    text += fmt::format("B{}: {}, over", b, v.isWorthCopy[b] ? "a version where all lanes agree" : "masks only");
    for (BlockId n = 0; n < v.influence[b].size(); ++n)
      if (v.influence[b][n]) text += fmt::format(" B{}", n);
    text += "\n";
  }
  return text.empty() ? "no divergent branches\n" : text;
}

}  // namespace ordito::simt
