// Which values must be known where control enters a block.
#pragma once

#include <vector>

#include "ir/ir.hpp"

namespace ordito::ir {

/// For each block of `at`: its phis, and the values that it or a block behind it reads and that are defined elsewhere.
std::vector<std::vector<ValueId>> liveIns(const Function& function, const std::vector<BlockId>& at);

/// By value: does anything read it?
std::vector<char> readValues(const Function& function);

}  // namespace ordito::ir
