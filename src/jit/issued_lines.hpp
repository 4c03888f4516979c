// Which instructions of a block are issued to a warp that comes to it.
#pragma once

#include <vector>

#include "ir/ir.hpp"

namespace ordito::jit {

/// By their lines.
struct IssuedLines {
  std::vector<uint32_t> all;
  std::vector<uint32_t> unguarded;  // those that all its lanes execute; a conditional branch is none
};

inline IssuedLines issuedLines(const ir::Block& block) {
  IssuedLines lines;
  for (const ir::Instruction& i : block.code) {
    if (i.raisesIssue) lines.all.push_back(i.line);
    if (i.raisesIssue && !i.guard) lines.unguarded.push_back(i.line);
  }
  if (!block.end.isInstruction) return lines;
  lines.all.push_back(block.end.line);
  if (block.end.kind != ir::Terminator::Kind::Branch) lines.unguarded.push_back(block.end.line);
  return lines;
}

}  // namespace ordito::jit
