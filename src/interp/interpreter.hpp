// The reference engine: executes PTX one lane at a time, in the way the manual describes each instruction. It shares
// the table of instructions with the JIT and nothing else, so that each can catch the other's mistakes. Slow on
// purpose: when in doubt, the shorter text wins.
#pragma once

#include <memory>

#include "machine/kernel.hpp"

namespace ordito::interp {

std::unique_ptr<machine::Engine> makeInterpreter();

}  // namespace ordito::interp
