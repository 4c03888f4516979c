// Module -> PTX text that parses to the same Module; and one instruction as text, for messages, dumps and the profiler.
#pragma once

#include <string>

#include "ptx/module.hpp"

namespace ordito::ptx {

std::string print(const Module& module);
std::string print(const Module& module, const Function& function, const Instruction& instruction);

}  // namespace ordito::ptx
