// Instructions of PTX for which a GPU has no single one.
#pragma once

#include "ir/ir.hpp"

namespace ordito::registers {

/// Registers that the code for the instruction needs beside its operands and results.
unsigned temporariesOf(const ir::Instruction& instruction);

}  // namespace ordito::registers
