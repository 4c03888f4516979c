// Module -> PTX text that parses to the same Module; and one instruction as text, for messages, dumps and the profiler.
#pragma once

#include <string>

#include "ptx/module.hpp"

namespace ordito::ptx {

std::string print(const Module& module);
std::string print(const Module& module, const Function& function, const Instruction& instruction);

/// All of the module but the bodies of its functions.
std::string printDeclarations(const Module& module);
/// `.visible .entry k(...)` with its directives, without a body.
std::string printHeader(const Module& module, const Function& function);
/// The declaration of a variable, of the module or of `function`, up to its semicolon.
std::string print(const Module& module, const Function& function, const Variable& variable);

}  // namespace ordito::ptx
