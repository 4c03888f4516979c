// Small questions about an instruction that accesses memory.
#pragma once

#include <string>

#include "ir/ir.hpp"

namespace ordito::simt {

/// Volatile, relaxed, acquire …: it must neither be moved nor merged.
inline bool isOrdered(const ir::Instruction& i) {
  return i.has(isa::ModifierKind::Semantics) && i.mods.name(isa::ModifierKind::Semantics) != "weak";
}

/// How the plan's text names an instruction: by its line and the word it begins with.
std::string instructionName(const ir::Instruction& i);

}  // namespace ordito::simt
