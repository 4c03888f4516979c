// Between the verifier's files.
#pragma once

#include "ptx/operands.hpp"

namespace ordito::ptx {

/// What is wrong with the modifiers and types of `i` taken together, as a sentence; null if nothing is.
const char* modifierProblem(const Instruction& i);

}  // namespace ordito::ptx
