// How many registers a kernel would take on a GPU, roughly: the number that occupancy and cudaFuncGetAttributes answer.
#pragma once

#include <cstdint>

#include "ptx/module.hpp"

namespace ordito::driver {

/// PTX has unlimited virtual registers; a GPU's assembler gives values that live at the same time different 32-bit
/// registers. The estimate is the largest number of 32-bit registers live at once, where a value lives from its first
/// to its last mention, and through every loop that it enters. It honours .maxnreg.
uint32_t estimateRegisters(const ptx::Module& module, const ptx::Function& kernel, uint32_t most);

}  // namespace ordito::driver
