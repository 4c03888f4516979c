// Which registers a function reads at all, and so which atomic operations need not return what they found.
#pragma once

#include <vector>

#include "ptx/module.hpp"

namespace ordito::ptx {

/// By register of `f`: does some instruction read it, as an operand, in an address or as a guard?
std::vector<char> readRegisters(const Function& f);
/// Is that an atomic operation whose result nobody reads? `isRead`: what readRegisters says of its function.
bool isReduction(const Instruction& i, const std::vector<char>& isRead);

}  // namespace ordito::ptx
